/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One command of an agent, from the call that wants it to the unmounting of its shares.  It lives
 * for as long as its unit and whoever had it started: the one that ends first ends the other.
 */
#pragma once

#include "service/launcher/launcher.h"
#include "service/launcher/order.h"
#include "service/mechanism/mechanism.h"

G_BEGIN_DECLS

typedef struct Launch Launch;

Launch *launch_ref (Launch *launch);
void launch_unref (Launch *launch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Launch, launch_unref)

/* All that there are, and the systemd that runs them. */
typedef struct
{
  const LauncherConfig *config;
  GDBusConnection *bus;
  GHashTable *all;   /* (element-type utf8 Launch): by id */
  gboolean has_news; /* systemd says what becomes of units */
  gboolean no_systemd;
  gboolean is_ending;
} Launches;

/*
 * launch_begin: answers @call, which it owns from now on, when the command runs, or with an error.
 * @order: (transfer full)
 */
void launch_begin (Launches *launches, MechanismCall *call, Order *order);

const char *launch_agent (const Launch *launch);
uid_t launch_uid (const Launch *launch); /* who had it started */
GPtrArray *launch_shares (const Launch *launch);

/* launch_stop: has its unit stopped; it ends when that has. */
void launch_stop (Launch *launch);

/* launches_job: systemd is done with a job of @unit, which may be one of these. */
void launches_job (Launches *launches, const char *unit, const char *result);

/* launches_look: what has become of each, after systemd was away or is there at last. */
void launches_look (Launches *launches);

/* launches_answer: those that wait to be started are not, and are answered; no other begins. */
void launches_answer (Launches *launches);

/* launches_end: forgets them all and unmounts; systemd stops their units with ours. */
void launches_end (Launches *launches);

G_END_DECLS
