/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-launcher, the mechanism that starts commands as agents' users: it owns
 * org.undersign1.Launcher, asks polkit for each call, maps shares, makes a terminal and has systemd
 * start a transient unit.  It runs as root, is started by the bus and ends when idle.
 */
#pragma once

#include "service/policy/policy.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  const char *address;     /* (nullable): of the bus; NULL is the system bus */
  const char *unit;        /* its own: what it starts is stopped with it */
  const char *user_prefix; /* of the user of an agent, before its name */
  const char *runtime_dir; /* where shares are mounted; made, 0700 */
  PolicySource policy;
  guint authorise_seconds;   /* how long polkit may take without a person */
  guint interactive_seconds; /* and with one */
  guint look_seconds;        /* without a word of homes, shares or users: look.h */
  guint start_seconds;       /* how long systemd may take */
  guint again_seconds;       /* after which it is told once more what it has not answered */
  guint idle_seconds;
} LauncherConfig;

/* launcher_run: serves until idle, SIGTERM, or the name is lost.  Returns the exit status. */
int launcher_run (const LauncherConfig *config);

G_END_DECLS
