/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the broker keeps: one SQLite file with requests, runs and pauses.  It is no authority on what
 * ran: the ledger is.  Each commit is synced all the same: a denial that a person was told of, before
 * the ledger has heard of it, a key that a waiting request was given, and a pause are in no other
 * place, and must not be undone by a power cut.  Nor must what failed be there after a crash: whoever
 * asked for it was told that nothing was kept.
 */
#pragma once

#include "service/broker/expiry.h"
#include "service/broker/request.h"
#include "service/broker/run.h"

#include <glib.h>

G_BEGIN_DECLS

#define QUEUE_LIST_MAX 200
#define QUEUE_HISTORY_MAX 50
#define QUEUE_KEEP (30 * 24 * 60 * 60) /* seconds that an ended request is kept */
#define QUEUE_KEEP_MAX 500             /* of one agent: it may end them as fast as it submits */

#define QUEUE_ADOPTED_MAX 1000         /* keys of one agent, see queue_adopted_keys() */

typedef struct Queue Queue;

/*
 * queue_open:
 * @dir: holds queue.db, made on first use
 * @expiry: outlives the queue
 *
 * A file that is no database of ours is put aside as queue.db.damaged and a new one is begun: what
 * it held does not run.
 */
Queue *queue_open (const char *dir, Expiry *expiry, GError **error);
void queue_close (Queue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Queue, queue_close)

/* --- requests --- */

gboolean queue_save (Queue *queue, const Request *request, GError **error);
/* queue_save_successor: what was refused and what takes its place and has its key, in one
 * transaction: both are kept, or nothing changes. */
gboolean queue_save_successor (Queue *queue,
                               const Request *refused,
                               const Request *successor,
                               GError **error);

/*
 * What only reads fails with reason unreachable where the disk fails, or seems damaged: another time
 * the answer may be had.  It is never taken for "there is none".
 */

/*
 * queue_load: (transfer full) (nullable): NULL with reason not-found, also where no more than its key
 *   is kept; or reason internal where the row is not readable, now and later.
 */
Request *queue_load (Queue *queue, const char *id, const RequestHooks *hooks, GError **error);

/* queue_live: ids of all that have not ended, oldest first. */
char **queue_live (Queue *queue, GError **error);
/* queue_close_due: ids of those of whose end the ledger has not yet heard. */
char **queue_close_due (Queue *queue, GError **error);

/* queue_refuse_unreadable: marks a row that can't be read as refused, so that it is left alone. */
gboolean queue_refuse_unreadable (Queue *queue, const char *id);

/* queue_find_key: what was asked under an idempotency key; FALSE, without an error, where nothing
 * was. */
gboolean queue_find_key (Queue *queue,
                         uid_t uid,
                         const char *key,
                         char **out_id,
                         char **out_digest,
                         GError **error);

/* queue_adopted_keys: of one agent, how many keys were given to requests that waited already, or went
 * on to a successor.  Their ids do not follow from the keys, so that the queue keeps them for good.
 * G_MAXUINT on error. */
guint queue_adopted_keys (Queue *queue, uid_t uid);

/* queue_list: a(oss): path, action, state of the requests of an agent, newest first. */
GVariant *queue_list (Queue *queue, uid_t uid, GError **error);
/* queue_history: a(ss): summary and state of the other requests of a run, oldest first. */
GVariant *queue_history (
    Queue *queue, uid_t uid, const char *run, const char *except, GError **error);

/* queue_purge: forgets what ended before @before, wall time. */
void queue_purge (Queue *queue, gint64 before);
/* queue_trim: forgets, of one agent, what ended before its last @keep. */
void queue_trim (Queue *queue, uid_t uid, guint keep);

/* --- runs and pauses --- */

gboolean queue_save_run (Queue *queue, const Run *run, GError **error);
gboolean queue_drop_run (Queue *queue, const char *id, GError **error);
typedef void (*QueueRun) (Run *run, gpointer data); /* (transfer full) */
gboolean queue_foreach_run (Queue *queue, QueueRun callback, gpointer data, GError **error);

/* @until: wall time; 0 ends it */
gboolean
queue_save_pause (Queue *queue, uid_t uid, uid_t by, gint64 until, GError **error);
typedef void (*QueuePause) (uid_t uid, uid_t by, gint64 until, gpointer data);
gboolean queue_foreach_pause (Queue *queue, QueuePause callback, gpointer data, GError **error);

G_END_DECLS
