/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-admin, the mechanism for administrators: it owns org.undersign1.Admin, asks polkit for
 * each call and has the executor do it.  It runs as root, is started by the bus and ends when idle.
 */
#pragma once

#include "service/policy/policy.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  const char *address;           /* (nullable): of the bus; NULL is the system bus */
  const char *executor;          /* the executor's socket */
  const char *credential_dir;    /* where systemd finds encrypted credentials */
  const char *unit_dir;          /* where drop-ins of units go */
  const char *encrypt;           /* systemd-creds */
  const char *relying_party_dir; /* relying parties of browsers and phones */
  PolicySource policy;           /* also the owner that files must have, and the modules' folder */
  guint authorise_seconds;       /* how long polkit may take without a person */
  guint interactive_seconds;     /* and with one */
  guint enrolment_seconds;       /* how long an enrolment stays open */
  guint encrypt_seconds;         /* how long systemd-creds may take */
  guint idle_seconds;
} AdminConfig;

/* admin_run: serves until idle, SIGTERM, or the name is lost.  Returns the exit status. */
int admin_run (const AdminConfig *config);

G_END_DECLS
