/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs: what an agent is at.  A run belongs to (agent uid, label, part) and outlives processes, since
 * bridges are started for each call; it ends when it is closed or was not used for a day.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define RUN_LABEL_MAX 200
#define RUN_LABEL_DEFAULT "default" /* where the agent gives none */
#define RUN_IDLE_MAX (24 * 60 * 60) /* seconds */
#define RUNS_MAX 100                /* open runs of one agent of its own, and of each initiator */

typedef struct
{
  char *id;
  uid_t uid;
  char *label, *part;
  char *initiator;     /* user name, "" where the agent opened it */
  uid_t initiator_uid; /* 0 there */
  gint64 used;         /* wall time */
  gint64 saved;        /* the same as it is kept, which is not each time */
} Run;

void run_free (Run *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Run, run_free)

typedef struct
{
  gboolean (*save) (const Run *run, gpointer data, GError **error);
  gboolean (*drop) (const char *id, gpointer data, GError **error);
  gpointer data;
} RunHooks;

typedef struct Runs Runs;

/* runs_new: @hooks must outlive it. */
Runs *runs_new (const RunHooks *hooks);
void runs_free (Runs *runs);
/* runs_restore: (transfer full): one that was kept. */
void runs_restore (Runs *runs, Run *run);

/*
 * runs_open:
 * @initiator: (nullable): who opens it for the agent; NULL is the agent itself, which then gets a
 *   run of this label and part whoever opened it
 *
 * Returns: the run's id, borrowed; NULL with reason bad-value, limit, wrong-state or internal.
 */
const char *runs_open (Runs *runs,
                       uid_t uid,
                       const char *label,
                       const char *part,
                       const char *initiator,
                       uid_t initiator_uid,
                       gint64 now,
                       GError **error);

/* runs_use: an open run of this uid, which is used now; NULL with reason not-found. */
const Run *runs_use (Runs *runs, uid_t uid, const char *id, gint64 now, GError **error);

/* runs_has_opener: whether @uid opened a run for an agent that is open still. */
gboolean runs_has_opener (const Runs *runs, uid_t uid);

/* runs_close: a run of the agent @uid, or one that @uid opened for an agent; FALSE with reason
 * not-found for any other. */
gboolean runs_close (Runs *runs, uid_t uid, const char *id, GError **error);
/* runs_expire: closes what was not used for a day. */
void runs_expire (Runs *runs, gint64 now);

G_END_DECLS
