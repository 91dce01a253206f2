/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the broker keeps: read back as it was written, and never made up where it can't be read. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/queue.h"
#include "service/broker/row.h"
#include "tests/broker/disk.h"
#include "tests/broker/sample.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What SQLite asks of the disk, counted: these take the place of the C library's. */
static guint syncs;

int
fsync (int fd)
{
  syncs++;
  return (int) syscall (SYS_fsync, fd);
}

int
fdatasync (int fd)
{
  syncs++;
  return (int) syscall (SYS_fdatasync, fd);
}

typedef struct
{
  char *dir, *path;
  Expiry *expiry;
  Queue *queue;
  SampleHooks hooks;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  fixture->dir = g_dir_make_tmp ("undersign-queue-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->path = g_build_filename (fixture->dir, "queue.db", NULL);
  fixture->expiry = expiry_new (&error);
  g_assert_no_error (error);
  fixture->queue = queue_open (fixture->dir, fixture->expiry, &error);
  g_assert_no_error (error);
  sample_hooks_init (&fixture->hooks);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "queue.db",         "queue.db-wal",         "queue.db-shm",
                                       "queue.db.damaged", "queue.db.damaged-wal", NULL };

  queue_close (fixture->queue);
  g_assert_cmpuint (expiry_count (fixture->expiry), ==, 0);
  expiry_free (fixture->expiry);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (fixture->dir, names[i], NULL);

      g_unlink (path);
    }
  g_assert_cmpint (g_rmdir (fixture->dir), ==, 0);
  g_free (fixture->path);
  g_free (fixture->dir);
}

static void
reopen (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  queue_close (fixture->queue);
  fixture->queue = queue_open (fixture->dir, fixture->expiry, &error);
  g_assert_no_error (error);
}

/* Changes the file behind the queue's back. */
static void
meddle (Fixture *fixture, const char *sql)
{
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (fixture->path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

static Request *
keep (Fixture *fixture, const char *id, RequestState state, const char *key)
{
  Request *request = sample_request (id, &fixture->hooks.hooks);
  g_autoptr (GError) error = NULL;

  sample_put (request, state);
  request->created = 1000;
  if (key != NULL)
    {
      g_free (request->key);
      request->key = g_strdup (key);
      g_free (request->key_digest);
      request->key_digest = g_strdup ("digest");
    }
  queue_save (fixture->queue, request, &error);
  g_assert_no_error (error);
  return request;
}

static void
test_round_trip (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) request = sample_request (SAMPLE_ID, &fixture->hooks.hooks);
  g_autoptr (Request) loaded = NULL;
  g_autoptr (GBytes) before = NULL;
  g_autoptr (GBytes) after = NULL;
  g_autoptr (GError) error = NULL;
  uid_t uid = SAMPLE_PERSON;

  sample_put (request, REQUEST_PENDING);
  request->created = 1;
  request->ended = 2;
  request->attempts = 3;
  request->answers = 4;
  request->again = TRUE;
  request->key_names_id = TRUE;
  request->deadline = 5;
  g_array_append_val (request->answered, uid);
  g_free (request->by);
  request->by = g_strdup ("hr.jones");
  g_free (request->cause);
  request->cause = g_strdup ("limit: too many");
  g_free (request->successor);
  request->successor = g_strdup (SAMPLE_OTHER_ID);
  queue_save (fixture->queue, request, &error);
  g_assert_no_error (error);
  reopen (fixture);

  loaded = queue_load (fixture->queue, SAMPLE_ID, &fixture->hooks.hooks, &error);
  g_assert_no_error (error);
  before = row_encode (request);
  after = row_encode (loaded);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (loaded->deadline, ==, 5);
  g_assert_cmpuint (loaded->needed, ==, 1);
  g_assert_true (request_has_answered (loaded, SAMPLE_PERSON));
  g_assert_cmpuint (fixture->hooks.moved, ==, 0);

  g_assert_null (queue_load (fixture->queue, SAMPLE_OTHER_ID, &fixture->hooks.hooks, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
}

static guint
count_refused (Fixture *fixture)
{
  g_autoptr (GVariant) list = g_variant_ref_sink (queue_list (fixture->queue, SAMPLE_AGENT, NULL));
  g_autofree char *text = g_variant_print (list, FALSE);

  return strstr (text, "'refused'") != NULL ? (guint) g_variant_n_children (list) : 0;
}

/* A row that was changed on the disk is not read as something else. */
static void
test_unreadable (Fixture *fixture, gconstpointer data)
{
  static const char *const changes[] = {
    "UPDATE requests SET body = x''",
    "UPDATE requests SET body = substr (body, 1, length (body) - 1)",
    "UPDATE requests SET body = CAST (body || x'00' AS BLOB)",
    "UPDATE requests SET body = zeroblob (9000000)",
    "UPDATE requests SET body = x'70656e64696e67'",
    "UPDATE requests SET id = 'fedcba9876543210fedcba9876543210'",
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (Request) request = keep (fixture, SAMPLE_ID, REQUEST_PENDING, NULL);
      g_autoptr (Request) loaded = NULL;
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) live = NULL;
      g_auto (GStrv) left = NULL;

      meddle (fixture, changes[i]);
      live = queue_live (fixture->queue, NULL);
      g_assert_cmpuint (g_strv_length (live), ==, 1);
      loaded = queue_load (fixture->queue, live[0], &fixture->hooks.hooks, &error);
      g_assert_null (loaded);
      g_assert_nonnull (error);
      g_assert_true (queue_refuse_unreadable (fixture->queue, live[0]));
      left = queue_live (fixture->queue, NULL);
      g_assert_cmpuint (g_strv_length (left), ==, 0);
      /* It is listed as refused as long as others that ended just now. */
      queue_purge (fixture->queue, 1000);
      g_assert_cmpuint (count_refused (fixture), ==, 1);
      meddle (fixture, "DELETE FROM requests");
    }
}

static void
test_rows (void)
{
  static const struct
  {
    const char *find, *put;
  } changes[] = {
    { "undersign.queue/1", "undersign.queue/2" },
    { "pending", "Pending" },
    { SAMPLE_OTHER_ID, "fedcba9876543210fedcba987654321g" },
    { "note.write", "mote.write" },
  };
  SampleHooks hooks;
  g_autoptr (Request) request = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize size = 0;
  const guint8 *data = NULL;

  sample_hooks_init (&hooks);
  request = sample_request (SAMPLE_ID, &hooks.hooks);
  sample_put (request, REQUEST_PENDING);
  g_free (request->supersedes);
  request->supersedes = g_strdup (SAMPLE_OTHER_ID);
  bytes = row_encode (request);
  data = g_bytes_get_data (bytes, &size);

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autofree guint8 *copy = g_memdup2 (data, size);
      g_autoptr (GBytes) changed = NULL;
      g_autoptr (GError) error = NULL;
      guint8 *place = memmem (copy, size, changes[i].find, strlen (changes[i].find));

      g_assert_nonnull (place);
      memcpy (place, changes[i].put, strlen (changes[i].put));
      changed = g_bytes_new (copy, size);
      g_assert_null (row_decode (changed, &hooks.hooks, &error));
      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
    }
}

static void
test_live (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) pending = keep (fixture, SAMPLE_ID, REQUEST_PENDING, NULL);
  g_autoptr (Request) done = keep (fixture, SAMPLE_OTHER_ID, REQUEST_DONE, NULL);
  g_auto (GStrv) live = queue_live (fixture->queue, NULL);
  g_auto (GStrv) after = NULL;
  g_auto (GStrv) due = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (g_strv_length (live), ==, 1);
  g_assert_cmpstr (live[0], ==, SAMPLE_ID);

  sample_put (pending, REQUEST_DENIED);
  pending->close_is_due = TRUE;
  g_assert_true (queue_save (fixture->queue, pending, &error));
  after = queue_live (fixture->queue, NULL);
  due = queue_close_due (fixture->queue, NULL);
  g_assert_cmpuint (g_strv_length (after), ==, 0);
  g_assert_cmpuint (g_strv_length (due), ==, 1);
  g_assert_cmpstr (due[0], ==, SAMPLE_ID);
}

static void
test_keys (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) first = keep (fixture, SAMPLE_ID, REQUEST_PENDING, "key");
  g_autoptr (Request) second = sample_request (SAMPLE_OTHER_ID, &fixture->hooks.hooks);
  g_autofree char *id = NULL;
  g_autofree char *digest = NULL;
  g_autoptr (Request) still = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (queue_find_key (fixture->queue, SAMPLE_AGENT, "key", &id, &digest, NULL));
  g_assert_cmpstr (id, ==, SAMPLE_ID);
  g_assert_cmpstr (digest, ==, "digest");
  g_assert_false (queue_find_key (fixture->queue, SAMPLE_AGENT + 1, "key", &id, &digest, NULL));
  g_assert_false (queue_find_key (fixture->queue, SAMPLE_AGENT, "Key", &id, &digest, NULL));

  /* A second request under one key is not kept, and does not push the first one out. */
  sample_put (second, REQUEST_PENDING);
  g_free (second->key);
  second->key = g_strdup ("key");
  g_assert_false (queue_save (fixture->queue, second, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
  still = queue_load (fixture->queue, SAMPLE_ID, &fixture->hooks.hooks, NULL);
  g_assert_nonnull (still);
}

static void
test_lists (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) first = keep (fixture, SAMPLE_ID, REQUEST_DONE, NULL);
  g_autoptr (Request) second = keep (fixture, SAMPLE_OTHER_ID, REQUEST_PENDING, NULL);
  g_autoptr (GVariant) list = g_variant_ref_sink (queue_list (fixture->queue, SAMPLE_AGENT, NULL));
  g_autoptr (GVariant) foreign = g_variant_ref_sink (queue_list (fixture->queue, 1, NULL));
  g_autoptr (GVariant) history = g_variant_ref_sink (
      queue_history (fixture->queue, SAMPLE_AGENT, SAMPLE_RUN, SAMPLE_OTHER_ID, NULL));
  g_autoptr (GVariant) other_run = g_variant_ref_sink (
      queue_history (fixture->queue, SAMPLE_AGENT, SAMPLE_ID, SAMPLE_OTHER_ID, NULL));
  g_autofree char *text = g_variant_print (list, FALSE);
  g_autofree char *history_text = g_variant_print (history, FALSE);

  g_assert_cmpstr (text, ==,
                   "[('/org/undersign1/request/" SAMPLE_OTHER_ID "', 'note.write', 'pending'), "
                   "('/org/undersign1/request/" SAMPLE_ID "', 'note.write', 'done')]");
  g_assert_cmpuint (g_variant_n_children (foreign), ==, 0);
  g_assert_cmpstr (history_text, ==, "[('Write a note', 'done')]");
  g_assert_cmpuint (g_variant_n_children (other_run), ==, 0);
}

static gboolean
is_kept (Fixture *fixture, const char *id)
{
  g_autoptr (Request) request = queue_load (fixture->queue, id, &fixture->hooks.hooks, NULL);

  return request != NULL;
}

static void
test_purge (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) old = keep (fixture, SAMPLE_ID, REQUEST_DONE, NULL);
  g_autoptr (Request) unknown = keep (fixture, SAMPLE_OTHER_ID, REQUEST_UNKNOWN, NULL);
  g_autoptr (Request) live = keep (fixture, SAMPLE_RUN, REQUEST_PENDING, NULL);
  g_autofree char *id = NULL;
  g_autofree char *digest = NULL;
  g_autoptr (GError) error = NULL;

  old->ended = 50;
  g_assert_true (queue_save (fixture->queue, old, NULL));
  queue_purge (fixture->queue, 50);
  g_assert_true (is_kept (fixture, SAMPLE_ID));
  queue_purge (fixture->queue, 51);
  g_assert_false (is_kept (fixture, SAMPLE_ID));
  g_assert_true (is_kept (fixture, SAMPLE_OTHER_ID));
  g_assert_true (is_kept (fixture, SAMPLE_RUN));

  /* A key outlives its request, where the ledger does not know it by the id. */
  request_unref (keep (fixture, SAMPLE_ID, REQUEST_DONE, "key"));
  queue_purge (fixture->queue, 51);
  g_assert_false (is_kept (fixture, SAMPLE_ID));
  g_assert_true (queue_find_key (fixture->queue, SAMPLE_AGENT, "key", &id, &digest, NULL));
  g_assert_null (queue_load (fixture->queue, SAMPLE_ID, &fixture->hooks.hooks, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
}

/* A move is on the disk before anything follows from it: a denial that a person was told of must not
 * be gone after a power cut.  What the ledger tells by then is not synced here. */
static void
test_durable (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    RequestState state;
    guint needed;
    gboolean synced;
  } saves[] = {
    { REQUEST_PENDING, 1, TRUE },   { REQUEST_APPROVED, 1, FALSE }, { REQUEST_APPROVED, 0, TRUE },
    { REQUEST_EXECUTING, 1, FALSE }, { REQUEST_EXECUTING, 0, FALSE }, { REQUEST_DONE, 1, TRUE },
    { REQUEST_REFUSED, 1, TRUE },   { REQUEST_DENIED, 1, TRUE },    { REQUEST_EXPIRED, 1, TRUE },
    { REQUEST_WITHDRAWN, 1, TRUE },
  };
  g_autoptr (Request) request = keep (fixture, SAMPLE_ID, REQUEST_PENDING, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (saves); i++)
    {
      guint before = syncs;
      g_autoptr (Request) kept = NULL;

      sample_put (request, saves[i].state);
      request->needed = saves[i].needed;
      g_assert_true (queue_save (fixture->queue, request, NULL));
      g_assert_cmpint (syncs > before, ==, saves[i].synced);
      kept = queue_load (fixture->queue, SAMPLE_ID, &fixture->hooks.hooks, NULL);
      g_assert_cmpint (kept->state, ==, saves[i].state);

      before = syncs;
      g_assert_true (queue_save_pause (fixture->queue, SAMPLE_AGENT, i, 100, NULL));
      g_assert_cmpuint (syncs, >, before);
    }
}

/* An agent that ends its requests as fast as it makes them can't fill the disk with them. */
static void
test_trim (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) old = keep (fixture, SAMPLE_ID, REQUEST_WITHDRAWN, NULL);
  g_autoptr (Request) last = keep (fixture, SAMPLE_OTHER_ID, REQUEST_WITHDRAWN, NULL);
  g_autoptr (Request) live = keep (fixture, SAMPLE_RUN, REQUEST_PENDING, NULL);

  old->ended = 50;
  last->ended = 60;
  old->close_is_due = TRUE;
  last->close_is_due = FALSE;
  g_assert_true (queue_save (fixture->queue, old, NULL));
  g_assert_true (queue_save (fixture->queue, last, NULL));
  queue_trim (fixture->queue, SAMPLE_AGENT, 1);
  g_assert_true (is_kept (fixture, SAMPLE_ID)); /* the ledger has not heard of its end */

  old->close_is_due = FALSE;
  g_assert_true (queue_save (fixture->queue, old, NULL));
  queue_trim (fixture->queue, SAMPLE_AGENT + 1, 0);
  queue_trim (fixture->queue, SAMPLE_AGENT, 2);
  g_assert_true (is_kept (fixture, SAMPLE_ID));
  queue_trim (fixture->queue, SAMPLE_AGENT, 1);
  g_assert_false (is_kept (fixture, SAMPLE_ID));
  g_assert_true (is_kept (fixture, SAMPLE_OTHER_ID));
  queue_trim (fixture->queue, SAMPLE_AGENT, 0);
  g_assert_false (is_kept (fixture, SAMPLE_OTHER_ID));
  g_assert_true (is_kept (fixture, SAMPLE_RUN));
}

/* The key is of the one or of the other, whatever became of the write, and of the other only with its
 * row. */
static void
assert_one_has_key (Fixture *fixture, gboolean moved)
{
  g_autofree char *id = NULL;
  g_autofree char *digest = NULL;

  reopen (fixture);
  g_assert_true (queue_find_key (fixture->queue, SAMPLE_AGENT, "key", &id, &digest, NULL));
  g_assert_cmpstr (id, ==, moved ? SAMPLE_OTHER_ID : SAMPLE_ID);
  g_assert_true (is_kept (fixture, SAMPLE_ID));
  g_assert_cmpint (is_kept (fixture, SAMPLE_OTHER_ID), ==, moved);
}

/* A disk with room for no transaction, or for one. */
static void
test_successor (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) refused = keep (fixture, SAMPLE_ID, REQUEST_REFUSED, "key");
  g_autoptr (Request) successor = sample_request (SAMPLE_OTHER_ID, &fixture->hooks.hooks);

  sample_put (successor, REQUEST_PENDING);
  g_free (successor->key);
  g_free (successor->key_digest);
  successor->key = g_steal_pointer (&refused->key);
  successor->key_digest = g_steal_pointer (&refused->key_digest);
  refused->key = g_strdup ("");
  refused->key_digest = g_strdup ("");
  for (guint room = 0; room < 2; room++)
    {
      g_autoptr (GError) error = NULL;
      guint before = syncs;
      gboolean kept = FALSE;

      disk_fail (DISK_FULL, room, FALSE);
      kept = queue_save_successor (fixture->queue, refused, successor, &error);
      g_assert_cmpint (disk_heal (), ==, !kept);
      g_assert_cmpint (kept, ==, room == 1);
      if (!kept)
        g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
      else
        g_assert_cmpuint (syncs, >, before);
      assert_one_has_key (fixture, kept);
    }
}

/* Nothing is half written where the disk says no. */
static void
test_write_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) request = keep (fixture, SAMPLE_ID, REQUEST_PENDING, NULL);
  g_autoptr (Request) loaded = NULL;
  g_autoptr (GError) error = NULL;
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (fixture->path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  sample_put (request, REQUEST_APPROVED);
  g_assert_false (queue_save (fixture->queue, request, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
  g_assert_false (queue_save_pause (fixture->queue, 1, 2, 3, NULL));
  g_assert_cmpint (sqlite3_exec (db, "COMMIT", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);

  loaded = queue_load (fixture->queue, SAMPLE_ID, &fixture->hooks.hooks, NULL);
  g_assert_cmpint (loaded->state, ==, REQUEST_PENDING);
  g_assert_true (queue_save (fixture->queue, request, NULL));
}

static void
test_damaged (Fixture *fixture, gconstpointer data)
{
  g_autofree char *aside = g_strconcat (fixture->path, ".damaged", NULL);
  g_auto (GStrv) live = NULL;
  guint before = 0;

  request_unref (keep (fixture, SAMPLE_ID, REQUEST_PENDING, NULL));
  g_clear_pointer (&fixture->queue, queue_close);
  g_assert_true (g_file_set_contents (fixture->path, "this is not a database at all, but long "
                                                     "enough to be taken for one at first",
                                      -1, NULL));
  before = sample_warnings ();
  fixture->queue = queue_open (fixture->dir, fixture->expiry, NULL);
  g_assert_cmpuint (sample_warnings (), ==, before + 1);
  g_assert_nonnull (fixture->queue);
  g_assert_true (g_file_test (aside, G_FILE_TEST_EXISTS));
  live = queue_live (fixture->queue, NULL);
  g_assert_cmpuint (g_strv_length (live), ==, 0);
}

/* Another program's file, and a version of the future, are left alone. */
static void
test_foreign_file (Fixture *fixture, gconstpointer data)
{
  static const char *const changes[] = {
    "PRAGMA user_version = 2",
    "PRAGMA user_version = 1; PRAGMA application_id = 7",
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GError) error = NULL;
      Queue *queue = NULL;

      meddle (fixture, changes[i]);
      queue = queue_open (fixture->dir, fixture->expiry, &error);
      g_assert_null (queue);
      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
    }
}

static void
add_run (Run *run, gpointer data)
{
  g_ptr_array_add (data, run);
}

static void
add_pause (uid_t uid, uid_t by, gint64 until, gpointer data)
{
  g_string_append_printf (data, "%u %u %" G_GINT64_FORMAT "\n", (guint) uid, (guint) by, until);
}

static void
test_runs_and_pauses (Fixture *fixture, gconstpointer data)
{
  Run run = { .id = (char *) SAMPLE_RUN,
              .uid = 2001,
              .label = (char *) "ticket",
              .part = (char *) "main",
              .initiator = (char *) "hr.kim",
              .initiator_uid = 3002,
              .used = 77 };
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  g_autoptr (GString) pauses = g_string_new (NULL);
  const Run *kept = NULL;

  g_assert_true (queue_save_run (fixture->queue, &run, NULL));
  g_assert_true (queue_save_pause (fixture->queue, 2001, (uid_t) -1, 10, NULL));
  g_assert_true (queue_save_pause (fixture->queue, 2001, 3001, 20, NULL));
  g_assert_true (queue_save_pause (fixture->queue, 2001, 3001, 30, NULL));
  g_assert_true (queue_save_pause (fixture->queue, 2001, 3002, 40, NULL));
  g_assert_true (queue_save_pause (fixture->queue, 2001, 3002, 0, NULL));
  reopen (fixture);

  g_assert_true (queue_foreach_run (fixture->queue, add_run, runs, NULL));
  g_assert_cmpuint (runs->len, ==, 1);
  kept = runs->pdata[0];
  g_assert_cmpstr (kept->id, ==, SAMPLE_RUN);
  g_assert_cmpstr (kept->label, ==, "ticket");
  g_assert_cmpstr (kept->part, ==, "main");
  g_assert_cmpstr (kept->initiator, ==, "hr.kim");
  g_assert_cmpuint (kept->initiator_uid, ==, 3002);
  g_assert_cmpint (kept->used, ==, 77);
  g_assert_true (queue_foreach_pause (fixture->queue, add_pause, pauses, NULL));
  g_assert_cmpstr (pauses->str, ==, "2001 3001 30\n2001 4294967295 10\n");
  g_assert_true (queue_drop_run (fixture->queue, SAMPLE_RUN, NULL));
  g_ptr_array_set_size (runs, 0);
  g_assert_true (queue_foreach_run (fixture->queue, add_run, runs, NULL));
  g_assert_cmpuint (runs->len, ==, 0);
}

/* --- a disk that does not give what it has --- */

static void
read_live (Queue *queue, GError **error)
{
  g_auto (GStrv) ids = queue_live (queue, error);

  g_assert_null (ids);
}

static void
read_close_due (Queue *queue, GError **error)
{
  g_auto (GStrv) ids = queue_close_due (queue, error);

  g_assert_null (ids);
}

static void
read_one (Queue *queue, GError **error)
{
  g_autoptr (Request) request = queue_load (queue, SAMPLE_ID, NULL, error);

  g_assert_null (request);
}

static void
read_key (Queue *queue, GError **error)
{
  g_autofree char *id = NULL;
  g_autofree char *digest = NULL;

  g_assert_false (queue_find_key (queue, SAMPLE_AGENT, "key", &id, &digest, error));
}

static void
read_list (Queue *queue, GError **error)
{
  g_assert_null (queue_list (queue, SAMPLE_AGENT, error));
}

static void
read_history (Queue *queue, GError **error)
{
  g_assert_null (queue_history (queue, SAMPLE_AGENT, SAMPLE_RUN, SAMPLE_OTHER_ID, error));
}

static void
read_runs (Queue *queue, GError **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);

  g_assert_false (queue_foreach_run (queue, add_run, runs, error));
}

static void
read_pauses (Queue *queue, GError **error)
{
  g_autoptr (GString) pauses = g_string_new (NULL);

  g_assert_false (queue_foreach_pause (queue, add_pause, pauses, error));
}

/* What could not be read is never taken for what is not there. */
static void
test_read_fails (Fixture *fixture, gconstpointer data)
{
  static void (*const readers[]) (Queue *, GError **) = { read_live, read_close_due, read_one,
                                                          read_key,  read_list,      read_history,
                                                          read_runs, read_pauses };

  request_unref (keep (fixture, SAMPLE_ID, REQUEST_PENDING, "key"));
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      g_autoptr (GError) error = NULL;

      reopen (fixture); /* nothing is cached */
      disk_fail (DISK_BROKEN, 0, FALSE);
      readers[i](fixture->queue, &error);
      g_assert_true (disk_heal ());
      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
      g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
    }
  reopen (fixture);
  g_assert_true (is_kept (fixture, SAMPLE_ID));
}

#define ADD(path, function) g_test_add (path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  disk_install ();
  ADD ("/queue/round-trip", test_round_trip);
  ADD ("/queue/unreadable", test_unreadable);
  g_test_add_func ("/queue/rows", test_rows);
  ADD ("/queue/live", test_live);
  ADD ("/queue/keys", test_keys);
  ADD ("/queue/lists", test_lists);
  ADD ("/queue/purge", test_purge);
  ADD ("/queue/durable", test_durable);
  ADD ("/queue/trim", test_trim);
  ADD ("/queue/successor", test_successor);
  ADD ("/queue/write-fails", test_write_fails);
  ADD ("/queue/read-fails", test_read_fails);
  ADD ("/queue/damaged", test_damaged);
  ADD ("/queue/foreign-file", test_foreign_file);
  ADD ("/queue/runs-and-pauses", test_runs_and_pauses);
  return g_test_run ();
}
