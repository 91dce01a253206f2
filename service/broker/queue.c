/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The SQLite file of the broker.  Every statement is prepared from a constant text and every value
 * is bound.  A function here must never make up a request: what can't be read is an error.
 */
#include "service/broker/queue.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/row.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#define APPLICATION_ID 1433626483 /* "Usgs" */
#define SCHEMA_VERSION 1
#define TAKE_BACK_AGAIN 1 /* second */

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id = " G_STRINGIFY (APPLICATION_ID) ";"
    "PRAGMA user_version = " G_STRINGIFY (SCHEMA_VERSION) ";"
    "CREATE TABLE requests ("
    " id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, state TEXT NOT NULL,"
    " live INTEGER NOT NULL, close_due INTEGER NOT NULL, key TEXT, key_digest TEXT,"
    " key_names_id INTEGER NOT NULL,"
    " run TEXT NOT NULL, action TEXT NOT NULL, summary TEXT NOT NULL,"
    " created INTEGER NOT NULL, ended INTEGER NOT NULL, body BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX requests_key ON requests (uid, key) WHERE key IS NOT NULL;"
    "CREATE INDEX requests_uid ON requests (uid, created);"
    "CREATE INDEX requests_live ON requests (id) WHERE live;"
    "CREATE INDEX requests_close_due ON requests (id) WHERE close_due;"
    "CREATE TABLE runs ("
    " id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, label TEXT NOT NULL, part TEXT NOT NULL,"
    " initiator TEXT NOT NULL, initiator_uid INTEGER NOT NULL, used INTEGER NOT NULL) STRICT;"
    "CREATE TABLE pauses ("
    " uid INTEGER NOT NULL, by INTEGER NOT NULL, until INTEGER NOT NULL,"
    " PRIMARY KEY (uid, by)) STRICT;"
    "COMMIT;";

/* The statements, prepared once. */
enum
{
  SAVE,
  LOAD,
  LIVE,
  CLOSE_DUE,
  REFUSE,
  FIND_KEY,
  ADOPTED_KEYS,
  LIST,
  HISTORY,
  PURGE,
  PURGE_KEYED,
  TRIM,
  TRIM_KEYED,
  SAVE_RUN,
  DROP_RUN,
  ALL_RUNS,
  SAVE_PAUSE,
  DROP_PAUSE,
  ALL_PAUSES,
  N_STATEMENTS
};

/* Of one agent, all that ended but the last few; what has no body any more takes no room. */
#define OLDER                                                                                      \
  "(SELECT rowid FROM requests WHERE uid = ?1 AND NOT live AND length (body) > 0"                  \
  " ORDER BY ended DESC, rowid DESC LIMIT -1 OFFSET ?2)"

static const char *const statements[N_STATEMENTS] = {
  /* Not OR REPLACE: that would drop another row with the same key. */
  [SAVE] = "INSERT INTO requests (id, uid, state, live, close_due, key, key_digest,"
           " key_names_id, run, action, summary, created, ended, body)"
           " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
           " ON CONFLICT (id) DO UPDATE SET state = ?3, live = ?4, close_due = ?5, key = ?6,"
           " key_digest = ?7, key_names_id = ?8, summary = ?11, ended = ?13, body = ?14"
           " WHERE uid = ?2",
  [LOAD] = "SELECT body FROM requests WHERE id = ?1 AND (live OR length (body) > 0)",
  [LIVE] = "SELECT id FROM requests WHERE live ORDER BY created, rowid",
  [CLOSE_DUE] = "SELECT id FROM requests WHERE close_due ORDER BY created, rowid",
  [REFUSE] = "UPDATE requests SET state = 'refused', live = 0, close_due = 0,"
             " ended = unixepoch () WHERE id = ?1",
  [FIND_KEY] = "SELECT id, key_digest FROM requests WHERE uid = ?1 AND key = ?2",
  [ADOPTED_KEYS] = "SELECT count(*) FROM requests WHERE uid = ?1 AND key IS NOT NULL"
                   " AND NOT key_names_id",
  [LIST] = "SELECT id, action, state FROM requests WHERE uid = ?1"
           " ORDER BY created DESC, rowid DESC LIMIT ?2",
  [HISTORY] = "SELECT summary, state FROM (SELECT summary, state, created, rowid AS r FROM requests"
              " WHERE uid = ?1 AND run = ?2 AND id <> ?3 ORDER BY created DESC, r DESC LIMIT ?4)"
              " ORDER BY created, r",
  /* A key is remembered for good: by the ledger where the id follows from it, else here. */
  [PURGE] = "DELETE FROM requests WHERE NOT live AND NOT close_due AND state <> 'unknown'"
            " AND ended < ?1 AND (key IS NULL OR key_names_id)",
  [PURGE_KEYED] = "UPDATE requests SET body = x'' WHERE NOT live AND NOT close_due"
                  " AND state <> 'unknown' AND ended < ?1",
  [TRIM] = "DELETE FROM requests WHERE NOT close_due AND state <> 'unknown'"
           " AND (key IS NULL OR key_names_id) AND rowid IN " OLDER,
  [TRIM_KEYED] = "UPDATE requests SET body = x'' WHERE NOT close_due AND state <> 'unknown'"
                 " AND rowid IN " OLDER,
  [SAVE_RUN] = "INSERT OR REPLACE INTO runs (id, uid, label, part, initiator, initiator_uid, used)"
               " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
  [DROP_RUN] = "DELETE FROM runs WHERE id = ?1",
  [ALL_RUNS] = "SELECT id, uid, label, part, initiator, initiator_uid, used FROM runs",
  [SAVE_PAUSE] = "INSERT OR REPLACE INTO pauses (uid, by, until) VALUES (?1, ?2, ?3)",
  [DROP_PAUSE] = "DELETE FROM pauses WHERE uid = ?1 AND by = ?2",
  [ALL_PAUSES] = "SELECT uid, by, until FROM pauses ORDER BY uid, by",
};

struct Queue
{
  sqlite3 *db;
  sqlite3_stmt *statements[N_STATEMENTS];
  Expiry *expiry;
  ExpiryTimer *take_back_timer;
};

static gboolean
set_failed (GError **error, Queue *queue, const char *doing)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot %s the queue: %s",
                       doing, sqlite3_errmsg (queue->db));
}

/* read_to_end: after the last row, whether it was. */
static gboolean
read_to_end (Queue *queue, int rc, GError **error)
{
  if (rc == SQLITE_DONE)
    return TRUE;
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                       "the queue could not be read: %s", sqlite3_errmsg (queue->db));
}

/* --- opening --- */

static int
read_number (Queue *queue, const char *pragma)
{
  sqlite3_stmt *statement = NULL;
  int value = -1;

  if (sqlite3_prepare_v2 (queue->db, pragma, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW)
    value = sqlite3_column_int (statement, 0);
  sqlite3_finalize (statement);
  return value;
}

/* Makes the tables in a new file; in an old one, says whether it is ours. */
static gboolean
queue_check_schema (Queue *queue, GError **error)
{
  int id = read_number (queue, "PRAGMA application_id");
  int version = read_number (queue, "PRAGMA user_version");
  int tables = read_number (queue, "SELECT count(*) FROM sqlite_schema");

  if (id < 0 || version < 0 || tables < 0)
    return set_failed (error, queue, "read");
  if (tables == 0 && id == 0)
    {
      if (sqlite3_exec (queue->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return set_failed (error, queue, "begin");
      return TRUE;
    }
  if (id != APPLICATION_ID || version != SCHEMA_VERSION)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the queue is of another program or version");
  return TRUE;
}

static gboolean
queue_prepare (Queue *queue, GError **error)
{
  if (sqlite3_exec (queue->db,
                    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
                    NULL, NULL, NULL) != SQLITE_OK)
    return set_failed (error, queue, "open");
  if (!queue_check_schema (queue, error))
    return FALSE;

  for (guint i = 0; i < N_STATEMENTS; i++)
    if (sqlite3_prepare_v3 (queue->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                            &queue->statements[i], NULL) != SQLITE_OK)
      return set_failed (error, queue, "read");
  return TRUE;
}

/* @out_damaged: whether it is the file, not the system, that is at fault. */
static Queue *
queue_try (const char *path, gboolean *out_damaged, GError **error)
{
  g_autoptr (Queue) queue = g_new0 (Queue, 1);
  int rc = sqlite3_open_v2 (path, &queue->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
                            NULL);

  if (queue->db == NULL)
    g_error ("out of memory");
  if (rc != SQLITE_OK)
    set_failed (error, queue, "open");
  else if (queue_prepare (queue, error))
    return g_steal_pointer (&queue);
  rc = sqlite3_errcode (queue->db);
  *out_damaged = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB;
  return NULL;
}

/* A journal of the damaged file must not be played into the new one. */
static gboolean
put_aside (const char *path)
{
  static const char *const suffixes[] = { "", "-wal", "-shm" };
  gboolean ok = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *from = g_strconcat (path, suffixes[i], NULL);
      g_autofree char *to = g_strconcat (path, ".damaged", suffixes[i], NULL);

      if (rename (from, to) < 0 && errno != ENOENT)
        ok = FALSE;
    }
  return ok;
}

Queue *
queue_open (const char *dir, Expiry *expiry, GError **error)
{
  g_autofree char *path = g_build_filename (dir, "queue.db", NULL);
  g_autoptr (GError) local = NULL;
  gboolean damaged = FALSE;
  Queue *queue = queue_try (path, &damaged, &local);

  if (queue == NULL && damaged && put_aside (path))
    {
      g_warning ("%s: it is put aside as %s.damaged", local->message, path);
      g_clear_error (&local);
      queue = queue_try (path, &damaged, &local);
    }
  if (queue == NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  else
    queue->expiry = expiry;
  return queue;
}

static gboolean
write_over (Queue *queue)
{
  return sqlite3_exec (queue->db, "PRAGMA user_version = " G_STRINGIFY (SCHEMA_VERSION), NULL, NULL,
                       NULL) == SQLITE_OK;
}

void
queue_close (Queue *queue)
{
  if (queue == NULL)
    return;
  if (queue->take_back_timer != NULL)
    {
      expiry_cancel (queue->expiry, queue->take_back_timer);
      if (!write_over (queue))
        g_warning ("what the queue could not keep may be there at the next start: %s",
                   sqlite3_errmsg (queue->db));
    }
  for (guint i = 0; i < N_STATEMENTS; i++)
    sqlite3_finalize (queue->statements[i]);
  sqlite3_close (queue->db);
  g_free (queue);
}

/* --- statements --- */

/* A statement that is reset when its variable goes out of scope. */
static void
statement_reset (sqlite3_stmt **statement)
{
  sqlite3_reset (*statement);
  sqlite3_clear_bindings (*statement);
}

#define autostatement __attribute__ ((cleanup (statement_reset))) sqlite3_stmt

static void
bind_text (sqlite3_stmt *statement, int i, const char *text)
{
  sqlite3_bind_text (statement, i, text, -1, SQLITE_TRANSIENT);
}

static const char *
column_text (sqlite3_stmt *statement, int i)
{
  const unsigned char *text = sqlite3_column_text (statement, i);

  return text != NULL ? (const char *) text : "";
}

/*
 * must_outlast_power: not what the ledger tells anyway after a power cut: that the request runs, or
 * that a person approved it.  Used, the ledger has its row; unused, the cut has made it void, and it
 * is pending again.  What the agent was told at first is in no ledger yet.
 */
static gboolean
must_outlast_power (const Request *request)
{
  return request->state != REQUEST_EXECUTING &&
         (request->state != REQUEST_APPROVED || request->needed == 0);
}

static void
set_synchronous (Queue *queue, const char *pragma)
{
  if (sqlite3_exec (queue->db, pragma, NULL, NULL, NULL) != SQLITE_OK)
    g_error ("the queue can't be told what to sync: %s", sqlite3_errmsg (queue->db));
}

static void take_back_again (gpointer data);

/*
 * take_back: makes sure of what a write that failed has said.  Where it was the sync of its commit, the
 * write is undone here, but the commit stands in the log, and who opens the file after a crash takes it
 * for kept.  The next commit writes over it: here one that sets what is set.
 */
static gboolean
take_back (Queue *queue)
{
  if (write_over (queue))
    return TRUE;
  if (queue->take_back_timer == NULL)
    queue->take_back_timer =
        expiry_add_seconds (queue->expiry, TAKE_BACK_AGAIN, take_back_again, queue);
  return FALSE;
}

static void
take_back_again (gpointer data)
{
  Queue *queue = data;

  queue->take_back_timer = NULL;
  take_back (queue);
}

static gboolean
write_failed (Queue *queue, GError **error)
{
  set_failed (error, queue, "write to");
  /* Inside of a transaction its rollback comes first. */
  if (sqlite3_get_autocommit (queue->db) && !take_back (queue))
    g_warning ("what the queue could not keep may be there after a crash: %s",
               sqlite3_errmsg (queue->db));
  return FALSE;
}

static gboolean
statement_run (Queue *queue, sqlite3_stmt *statement, GError **error)
{
  return sqlite3_step (statement) == SQLITE_DONE || write_failed (queue, error);
}

/* --- requests --- */

static gboolean
save_row (Queue *queue, const Request *request, GError **error)
{
  autostatement *save = queue->statements[SAVE];
  g_autoptr (GBytes) body = row_encode (request);

  bind_text (save, 1, request->id);
  sqlite3_bind_int64 (save, 2, request->uid);
  bind_text (save, 3, request_state_name (request->state));
  sqlite3_bind_int (save, 4, !request_state_has_ended (request->state));
  sqlite3_bind_int (save, 5, request->close_is_due);
  if (request->key[0] != '\0')
    {
      bind_text (save, 6, request->key);
      bind_text (save, 7, request->key_digest);
    }
  sqlite3_bind_int (save, 8, request->key_names_id);
  bind_text (save, 9, record_run_id (request->record));
  bind_text (save, 10, record_action_id (request->record));
  bind_text (save, 11, record_action_summary (request->record));
  sqlite3_bind_int64 (save, 12, request->created);
  sqlite3_bind_int64 (save, 13, request->ended);
  sqlite3_bind_blob64 (save, 14, g_bytes_get_data (body, NULL), g_bytes_get_size (body),
                       SQLITE_STATIC);
  return statement_run (queue, save, error);
}

gboolean
queue_save (Queue *queue, const Request *request, GError **error)
{
  gboolean saved = FALSE;

  if (must_outlast_power (request))
    return save_row (queue, request, error);
  set_synchronous (queue, "PRAGMA synchronous = NORMAL");
  saved = save_row (queue, request, error);
  set_synchronous (queue, "PRAGMA synchronous = FULL");
  return saved;
}

static gboolean
transact (Queue *queue, const char *word, GError **error)
{
  return sqlite3_exec (queue->db, word, NULL, NULL, NULL) == SQLITE_OK ||
         set_failed (error, queue, "write to");
}

gboolean
queue_save_successor (Queue *queue,
                      const Request *refused,
                      const Request *successor,
                      GError **error)
{
  if (!transact (queue, "BEGIN IMMEDIATE", error))
    return FALSE;
  /* In this order: two rows never have one key. */
  if (save_row (queue, refused, error) && save_row (queue, successor, error) &&
      transact (queue, "COMMIT", error))
    return TRUE;
  /* A fault of the disk may have ended it already.  Nothing may be taken for kept inside of it. */
  transact (queue, "ROLLBACK", NULL);
  if (!sqlite3_get_autocommit (queue->db))
    g_error ("the queue can't leave a transaction: %s", sqlite3_errmsg (queue->db));
  return write_failed (queue, NULL);
}

Request *
queue_load (Queue *queue, const char *id, const RequestHooks *hooks, GError **error)
{
  autostatement *load = queue->statements[LOAD];
  g_autoptr (GBytes) body = NULL;
  g_autoptr (Request) request = NULL;
  int rc = 0;

  bind_text (load, 1, id);
  rc = sqlite3_step (load);
  if (rc == SQLITE_DONE)
    {
      us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, "there is no such request");
      return NULL;
    }
  if (rc != SQLITE_ROW)
    {
      read_to_end (queue, rc, error);
      return NULL;
    }

  body = g_bytes_new (sqlite3_column_blob (load, 0), (gsize) sqlite3_column_bytes (load, 0));
  request = row_decode (body, hooks, error);
  if (request != NULL && !g_str_equal (request->id, id))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "a stored request stands under another id");
      return NULL;
    }
  if (request != NULL)
    request->is_doubtful = request->state == REQUEST_PENDING;
  return g_steal_pointer (&request);
}

static char **
list_ids (Queue *queue, guint which, GError **error)
{
  autostatement *list = queue->statements[which];
  g_autoptr (GStrvBuilder) ids = g_strv_builder_new ();
  int rc = 0;

  while ((rc = sqlite3_step (list)) == SQLITE_ROW)
    g_strv_builder_add (ids, column_text (list, 0));
  return read_to_end (queue, rc, error) ? g_strv_builder_end (ids) : NULL;
}

char **
queue_live (Queue *queue, GError **error)
{
  return list_ids (queue, LIVE, error);
}

char **
queue_close_due (Queue *queue, GError **error)
{
  return list_ids (queue, CLOSE_DUE, error);
}

gboolean
queue_refuse_unreadable (Queue *queue, const char *id)
{
  autostatement *refuse = queue->statements[REFUSE];

  bind_text (refuse, 1, id);
  return statement_run (queue, refuse, NULL);
}

gboolean
queue_find_key (Queue *queue,
                uid_t uid,
                const char *key,
                char **out_id,
                char **out_digest,
                GError **error)
{
  autostatement *find = queue->statements[FIND_KEY];
  int rc = 0;

  sqlite3_bind_int64 (find, 1, uid);
  bind_text (find, 2, key);
  rc = sqlite3_step (find);
  if (rc != SQLITE_ROW)
    {
      read_to_end (queue, rc, error);
      return FALSE;
    }
  *out_id = g_strdup (column_text (find, 0));
  *out_digest = g_strdup (column_text (find, 1));
  return TRUE;
}

guint
queue_adopted_keys (Queue *queue, uid_t uid)
{
  autostatement *count = queue->statements[ADOPTED_KEYS];

  sqlite3_bind_int64 (count, 1, uid);
  if (sqlite3_step (count) != SQLITE_ROW)
    return G_MAXUINT;
  return (guint) sqlite3_column_int64 (count, 0);
}

GVariant *
queue_list (Queue *queue, uid_t uid, GError **error)
{
  autostatement *list = queue->statements[LIST];
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(oss)"));
  int rc = 0;

  sqlite3_bind_int64 (list, 1, uid);
  sqlite3_bind_int (list, 2, QUEUE_LIST_MAX);
  while ((rc = sqlite3_step (list)) == SQLITE_ROW)
    {
      g_autofree char *path = request_path_of (column_text (list, 0));

      if (g_variant_is_object_path (path))
        g_variant_builder_add (&builder, "(oss)", path, column_text (list, 1),
                               column_text (list, 2));
    }
  return read_to_end (queue, rc, error) ? g_variant_builder_end (&builder) : NULL;
}

GVariant *
queue_history (Queue *queue, uid_t uid, const char *run, const char *except, GError **error)
{
  autostatement *list = queue->statements[HISTORY];
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(ss)"));
  int rc = 0;

  sqlite3_bind_int64 (list, 1, uid);
  bind_text (list, 2, run);
  bind_text (list, 3, except);
  sqlite3_bind_int (list, 4, QUEUE_HISTORY_MAX);
  while ((rc = sqlite3_step (list)) == SQLITE_ROW)
    g_variant_builder_add (&builder, "(ss)", column_text (list, 0), column_text (list, 1));
  return read_to_end (queue, rc, error) ? g_variant_builder_end (&builder) : NULL;
}

void
queue_purge (Queue *queue, gint64 before)
{
  for (guint which = PURGE; which <= PURGE_KEYED; which++)
    {
      autostatement *purge = queue->statements[which];

      sqlite3_bind_int64 (purge, 1, before);
      statement_run (queue, purge, NULL);
    }
}

void
queue_trim (Queue *queue, uid_t uid, guint keep)
{
  for (guint which = TRIM; which <= TRIM_KEYED; which++)
    {
      autostatement *trim = queue->statements[which];

      sqlite3_bind_int64 (trim, 1, uid);
      sqlite3_bind_int64 (trim, 2, keep);
      statement_run (queue, trim, NULL);
    }
}

/* --- runs and pauses --- */

gboolean
queue_save_run (Queue *queue, const Run *run, GError **error)
{
  autostatement *save = queue->statements[SAVE_RUN];

  bind_text (save, 1, run->id);
  sqlite3_bind_int64 (save, 2, run->uid);
  bind_text (save, 3, run->label);
  bind_text (save, 4, run->part);
  bind_text (save, 5, run->initiator);
  sqlite3_bind_int64 (save, 6, run->initiator_uid);
  sqlite3_bind_int64 (save, 7, run->used);
  return statement_run (queue, save, error);
}

gboolean
queue_drop_run (Queue *queue, const char *id, GError **error)
{
  autostatement *drop = queue->statements[DROP_RUN];

  bind_text (drop, 1, id);
  return statement_run (queue, drop, error);
}

gboolean
queue_foreach_run (Queue *queue, QueueRun callback, gpointer data, GError **error)
{
  autostatement *all = queue->statements[ALL_RUNS];
  int rc = 0;

  while ((rc = sqlite3_step (all)) == SQLITE_ROW)
    {
      Run *run = g_new0 (Run, 1);

      run->id = g_strdup (column_text (all, 0));
      run->uid = (uid_t) sqlite3_column_int64 (all, 1);
      run->label = g_strdup (column_text (all, 2));
      run->part = g_strdup (column_text (all, 3));
      run->initiator = g_strdup (column_text (all, 4));
      run->initiator_uid = (uid_t) sqlite3_column_int64 (all, 5);
      run->used = sqlite3_column_int64 (all, 6);
      callback (run, data);
    }
  return read_to_end (queue, rc, error);
}

gboolean
queue_save_pause (Queue *queue, uid_t uid, uid_t by, gint64 until, GError **error)
{
  autostatement *save = queue->statements[until != 0 ? SAVE_PAUSE : DROP_PAUSE];

  sqlite3_bind_int64 (save, 1, uid);
  sqlite3_bind_int64 (save, 2, by);
  if (until != 0)
    sqlite3_bind_int64 (save, 3, until);
  return statement_run (queue, save, error);
}

gboolean
queue_foreach_pause (Queue *queue, QueuePause callback, gpointer data, GError **error)
{
  autostatement *all = queue->statements[ALL_PAUSES];
  int rc = 0;

  while ((rc = sqlite3_step (all)) == SQLITE_ROW)
    callback ((uid_t) sqlite3_column_int64 (all, 0), (uid_t) sqlite3_column_int64 (all, 1),
              sqlite3_column_int64 (all, 2), data);
  return read_to_end (queue, rc, error);
}
