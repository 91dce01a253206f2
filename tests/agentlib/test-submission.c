/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may go into a submission, and that a file in it can no longer change. */
#include "agentlib/lib/submission.h"

#include "dbus/reason.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct
{
  char *dir;
  UsSubmission *submission;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->dir = g_dir_make_tmp ("undersign-XXXXXX", NULL);
  g_assert_nonnull (fixture->dir);
  fixture->submission = us_submission_new ("mail.send");
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->dir, 0, NULL);

  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_autofree char *path = g_build_filename (fixture->dir, name, NULL);

      g_unlink (path);
    }
  g_rmdir (fixture->dir);
  g_free (fixture->dir);
  g_object_unref (fixture->submission);
}

static char *
make_file (Fixture *fixture, const char *name, const char *content)
{
  char *path = g_build_filename (fixture->dir, name, NULL);

  g_assert_true (g_file_set_contents (path, content, -1, NULL));
  return path;
}

/* A file of holes: large without a disk. */
static char *
make_large (Fixture *fixture, const char *name, gsize size)
{
  char *path = make_file (fixture, name, "");

  g_assert_cmpint (truncate (path, (off_t) size), ==, 0);
  return path;
}

static char *
body_text (Fixture *fixture, GUnixFDList **out_fds)
{
  g_autoptr (GVariant) body = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (submission_body (fixture->submission, "run", &body, out_fds, &error));
  g_assert_no_error (error);
  return g_variant_print (body, TRUE);
}

static void
test_body (Fixture *fixture, gconstpointer data)
{
  UsSubmission *submission = fixture->submission;
  const char *const items[] = { "a@example.com", "b@example.com", NULL };
  const char *const none[] = { NULL };
  g_autoptr (GUnixFDList) fds = NULL;
  g_autofree char *text = NULL;

  g_assert_true (us_submission_add_strings (submission, "to", items, NULL));
  g_assert_true (us_submission_add_strings (submission, "bcc", none, NULL));
  g_assert_true (us_submission_add_string (submission, "subject", "", NULL));
  g_assert_true (us_submission_add_boolean (submission, "urgent", 3, NULL));
  us_submission_set_claim (submission, "as agreed");
  us_submission_set_idempotency_key (submission, "k1");
  us_submission_set_supersedes (submission, "/org/undersign1/request/1");
  text = body_text (fixture, &fds);
  g_assert_null (fds);
  g_assert_cmpstr (text, ==,
                   "('run', 'mail.send', {'to': <['a@example.com', 'b@example.com']>,"
                   " 'bcc': <@as []>, 'subject': <''>, 'urgent': <true>},"
                   " {'claim': <'as agreed'>, 'idempotency-key': <'k1'>,"
                   " 'supersedes': <objectpath '/org/undersign1/request/1'>})");
}

static void
test_refused_values (Fixture *fixture, gconstpointer data)
{
  UsSubmission *submission = fixture->submission;
  const char *const wrong[] = { "ok", "\xff", NULL };
  g_autoptr (GError) error = NULL;

  g_assert_false (us_submission_add_string (submission, "a", "\xed\xa0\xbd", &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
  g_clear_error (&error);
  g_assert_false (us_submission_add_strings (submission, "a", wrong, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
  g_clear_error (&error);
  g_assert_false (us_submission_add_boolean (submission, "\xff", TRUE, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
  g_clear_error (&error);

  g_assert_true (us_submission_add_string (submission, "a", "1", &error));
  g_assert_false (us_submission_add_boolean (submission, "a", TRUE, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_DUPLICATE_ARGUMENT));
}

static void
test_file_is_sealed (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = make_file (fixture, "report.pdf", "before");
  g_autofree char *link = g_build_filename (fixture->dir, "link", NULL);
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  char content[16] = { 0 };
  int fd;

  g_assert_cmpint (symlink (path, link), ==, 0);
  g_assert_true (us_submission_add_file (fixture->submission, "letter", path, &error));
  g_assert_true (us_submission_add_files (fixture->submission, "attachment",
                                          (const char *const[]){ link, path, NULL }, &error));
  g_assert_true (g_file_set_contents (path, "after!", -1, NULL));
  text = body_text (fixture, &fds);
  g_assert_cmpstr (text, ==,
                   "('run', 'mail.send', {'letter': <('report.pdf', handle 0)>,"
                   " 'attachment': <[('link', handle 1), ('report.pdf', 2)]>}, @a{sv} {})");
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 3);
  fd = g_unix_fd_list_peek_fds (fds, NULL)[2];
  g_assert_cmpint (pread (fd, content, sizeof content, 0), ==, 6);
  g_assert_cmpstr (content, ==, "before");
  g_assert_cmpint (pwrite (fd, "x", 1, 0), ==, -1);
  g_assert_cmpint (pwrite (fd, "x", 1, 6), ==, -1);
  g_assert_cmpint (ftruncate (fd, 0), ==, -1);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE), ==, -1);
}

/* O-71: nothing but a regular file is read, and a FIFO doesn't block. */
static void
test_not_regular (Fixture *fixture, gconstpointer data)
{
  g_autofree char *fifo = g_build_filename (fixture->dir, "fifo", NULL);
  const char *const paths[] = { fifo, fixture->dir, "/dev/null", "/dev/zero" };

  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", paths[i]);
      g_assert_false (us_submission_add_file (fixture->submission, "letter", paths[i], &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
    }
}

static void
test_missing (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->dir, "none", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GUnixFDList) fds = NULL;
  g_autofree char *good = make_file (fixture, "good", "x");
  g_autofree char *text = NULL;

  g_assert_false (us_submission_add_files (fixture->submission, "attachment",
                                           (const char *const[]){ good, path, NULL }, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_assert_nonnull (strstr (error->message, path));
  /* nothing of it was added */
  text = body_text (fixture, &fds);
  g_assert_null (fds);
  g_assert_cmpstr (text, ==, "('run', 'mail.send', @a{sv} {}, @a{sv} {})");
}

static void
test_sizes (Fixture *fixture, gconstpointer data)
{
  g_autofree char *most = make_large (fixture, "most", US_MAX_FILE_SIZE);
  g_autofree char *more = make_large (fixture, "more", US_MAX_FILE_SIZE + 1);
  g_autofree char *rest = make_large (fixture, "rest", US_MAX_FILES_SIZE - 2 * US_MAX_FILE_SIZE);
  g_autofree char *one = make_file (fixture, "one", "1");
  g_autofree char *empty = make_file (fixture, "empty", "");
  g_autoptr (GError) error = NULL;

  g_assert_false (us_submission_add_file (fixture->submission, "a", more, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_clear_error (&error);
  g_assert_true (us_submission_add_file (fixture->submission, "a", most, &error));
  g_assert_true (us_submission_add_file (fixture->submission, "b", most, &error));
  g_assert_false (us_submission_add_file (fixture->submission, "c", most, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
  g_clear_error (&error);
  g_assert_true (us_submission_add_file (fixture->submission, "c", rest, &error));
  g_assert_true (us_submission_add_file (fixture->submission, "d", empty, &error));
  g_assert_false (us_submission_add_file (fixture->submission, "e", one, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
}

static void
test_count (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = make_file (fixture, "file", "1");
  const char *paths[US_MAX_FILES + 1] = { NULL };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < US_MAX_FILES; i++)
    paths[i] = path;
  g_assert_true (us_submission_add_files (fixture->submission, "a", paths, &error));
  g_assert_no_error (error);
  g_assert_false (us_submission_add_file (fixture->submission, "b", path, &error));
  g_assert_error (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
  g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } rows[] = {
    { "/submission/body", test_body },
    { "/submission/refused-values", test_refused_values },
    { "/submission/file-is-sealed", test_file_is_sealed },
    { "/submission/not-regular", test_not_regular },
    { "/submission/missing", test_missing },
    { "/submission/sizes", test_sizes },
    { "/submission/count", test_count },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_test_add (rows[i].name, Fixture, NULL, set_up, rows[i].test, tear_down);
  return g_test_run ();
}
