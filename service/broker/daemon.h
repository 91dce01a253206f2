/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon, put together, and what a test can put in the place of its surroundings.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

typedef struct
{
  const char *bus_address;     /* (nullable): NULL for the system bus */
  const char *executor_socket;
  const char *state_dir;
  const char *config_dir;      /* of undersign.conf, which may be absent */
  uid_t config_owner;
  const PolicyNames *names;
  guint reach_period;          /* seconds between looks of reach.c */
  guint register_wait;         /* seconds that Register() waits for cards, at most */
  IdentityMap identity_map;    /* (nullable): of a test alone */
  gpointer identity_data;
} DaemonParameters;

/*
 * daemon_new: opens everything, takes up what was going on before a restart, and owns the name.
 * @stopped: called when the daemon can't go on
 */
Broker *daemon_new (const DaemonParameters *parameters,
                    void (*stopped) (gpointer data),
                    gpointer data,
                    GError **error);
void daemon_free (Broker *broker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Broker, daemon_free)


G_END_DECLS
