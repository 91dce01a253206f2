/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the queue said that it could not keep is not there after a crash: whoever was told so was told
 * the truth. */
#include "service/broker/queue.h"
#include "tests/broker/disk.h"
#include "tests/broker/sample.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

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
  queue_close (fixture->queue);
  g_assert_cmpuint (expiry_count (fixture->expiry), ==, 0);
  expiry_free (fixture->expiry);
  g_assert_cmpint (g_unlink (fixture->path), ==, 0);
  g_assert_cmpint (g_rmdir (fixture->dir), ==, 0);
  g_free (fixture->path);
  g_free (fixture->dir);
}

static Request *
keep (Fixture *fixture)
{
  Request *request = sample_request (SAMPLE_ID, &fixture->hooks.hooks);
  g_autoptr (GError) error = NULL;

  sample_put (request, REQUEST_PENDING);
  queue_save (fixture->queue, request, &error);
  g_assert_no_error (error);
  return request;
}

static int
add_row (void *data, int n, char **values, char **names)
{
  g_string_append_printf (data, "%s %s\n", values[0], values[1]);
  return 0;
}

/* What is there for who opens the files as they are now, as after kill -9. */
static char *
kept_after_crash (Fixture *fixture)
{
  static const char *const suffixes[] = { "", "-wal" };
  g_autofree char *crashed = g_build_filename (fixture->dir, "crashed.db", NULL);
  GString *rows = g_string_new (NULL);
  sqlite3 *db = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *from = g_strconcat (fixture->path, suffixes[i], NULL);
      g_autofree char *to = g_strconcat (crashed, suffixes[i], NULL);
      g_autofree char *data = NULL;
      gsize len = 0;

      g_assert_true (g_file_get_contents (from, &data, &len, NULL));
      g_assert_true (g_file_set_contents (to, data, (gssize) len, NULL));
    }
  g_assert_cmpint (sqlite3_open_v2 (crashed, &db, SQLITE_OPEN_READWRITE, "unix"), ==,
                   SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db,
                                 "SELECT id, state FROM requests UNION SELECT id, label FROM runs"
                                 " UNION SELECT uid, until FROM pauses ORDER BY 1",
                                 add_row, rows, NULL),
                   ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK); /* takes the log along */
  g_assert_cmpint (g_unlink (crashed), ==, 0);
  return g_string_free (rows, FALSE);
}

static gboolean
save_new (Fixture *fixture, Request *request)
{
  g_autoptr (Request) new = sample_request (SAMPLE_OTHER_ID, &fixture->hooks.hooks);

  sample_put (new, REQUEST_PENDING);
  return queue_save (fixture->queue, new, NULL);
}

static gboolean
save_moved (Fixture *fixture, Request *request)
{
  gboolean saved = FALSE;

  sample_put (request, REQUEST_WITHDRAWN);
  saved = queue_save (fixture->queue, request, NULL);
  sample_put (request, REQUEST_PENDING);
  return saved;
}

static gboolean
save_both (Fixture *fixture, Request *request)
{
  g_autoptr (Request) successor = sample_request (SAMPLE_OTHER_ID, &fixture->hooks.hooks);
  gboolean saved = FALSE;

  sample_put (request, REQUEST_REFUSED);
  sample_put (successor, REQUEST_PENDING);
  saved = queue_save_successor (fixture->queue, request, successor, NULL);
  sample_put (request, REQUEST_PENDING);
  return saved;
}

static gboolean
save_run (Fixture *fixture, Request *request)
{
  Run run = { .id = (char *) SAMPLE_RUN,
              .label = (char *) "ticket",
              .part = (char *) "main",
              .initiator = (char *) "" };

  return queue_save_run (fixture->queue, &run, NULL);
}

static gboolean
drop_pause (Fixture *fixture, Request *request)
{
  return queue_save_pause (fixture->queue, 2001, 3001, 0, NULL);
}

/* What was said not to be kept is not there after a crash, whatever it was: not where only the sync of
 * its commit failed, and not where the sync of what takes it back fails as well. */
static void
test_unsynced (Fixture *fixture, gconstpointer data)
{
  static gboolean (*const writers[]) (Fixture *, Request *) = { save_new, save_moved, save_both,
                                                                save_run, drop_pause };
  g_autoptr (Request) request = keep (fixture);
  g_autofree char *before = NULL;

  g_assert_true (queue_save_pause (fixture->queue, 2001, 3001, 100, NULL));
  before = kept_after_crash (fixture);
  g_assert_nonnull (strstr (before, SAMPLE_ID " pending\n"));
  for (guint i = 0; i < 2 * G_N_ELEMENTS (writers); i++)
    {
      g_autofree char *after = NULL;

      disk_fail (DISK_UNSYNCED, 0, i % 2 == 0);
      g_assert_false (writers[i / 2](fixture, request));
      g_assert_true (disk_heal ());
      after = kept_after_crash (fixture);
      g_assert_cmpstr (after, ==, before);
    }
}

static gboolean
is_as_before (Fixture *fixture, const char *before)
{
  g_autofree char *now = kept_after_crash (fixture);

  return strcmp (now, before) == 0;
}

/* Where the disk takes nothing at all any more, it is taken back as soon as it does. */
static void
test_read_only (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) request = keep (fixture);
  g_autofree char *before = kept_after_crash (fixture);
  guint warned = sample_warnings ();

  disk_fail (DISK_READ_ONLY, 0, FALSE);
  g_assert_false (save_new (fixture, request));
  g_assert_false (is_as_before (fixture, before)); /* else this would show nothing */
  g_assert_cmpuint (expiry_count (fixture->expiry), ==, 1);
  g_main_context_iteration (NULL, TRUE); /* it is tried while that lasts, too */
  g_assert_cmpuint (expiry_count (fixture->expiry), ==, 1);
  g_assert_true (disk_heal ());
  while (expiry_count (fixture->expiry) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (is_as_before (fixture, before));
  g_assert_cmpuint (sample_warnings (), ==, warned + 1);
}

/* Where the disk takes nothing to the end, nobody can help it, and a warning says so. */
static void
test_closed_read_only (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) request = keep (fixture);
  g_autoptr (GError) error = NULL;
  guint warned = 0;

  disk_fail (DISK_READ_ONLY, 0, FALSE);
  g_assert_false (save_new (fixture, request));
  warned = sample_warnings ();
  queue_close (fixture->queue);
  g_assert_cmpuint (sample_warnings (), ==, warned + 1);
  g_assert_true (disk_heal ());
  fixture->queue = queue_open (fixture->dir, fixture->expiry, &error);
  g_assert_no_error (error);
}

/* Nor where it is closed before. */
static void
test_closed (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Request) request = keep (fixture);
  g_autoptr (Request) found = NULL;
  g_autoptr (GError) error = NULL;

  disk_fail (DISK_READ_ONLY, 0, FALSE);
  g_assert_false (save_new (fixture, request));
  g_assert_true (disk_heal ());
  queue_close (fixture->queue);
  g_assert_cmpuint (expiry_count (fixture->expiry), ==, 0);
  fixture->queue = queue_open (fixture->dir, fixture->expiry, &error);
  g_assert_no_error (error);
  found = queue_load (fixture->queue, SAMPLE_OTHER_ID, &fixture->hooks.hooks, &error);
  g_assert_null (found);
}

#define ADD(path, function) g_test_add (path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  disk_install ();
  ADD ("/unkept/unsynced", test_unsynced);
  ADD ("/unkept/read-only", test_read_only);
  ADD ("/unkept/closed", test_closed);
  ADD ("/unkept/closed-read-only", test_closed_read_only);
  return g_test_run ();
}
