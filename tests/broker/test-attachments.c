/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of a request, from the agent's hands to those of the person who looks at them. */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <string.h>

static GVariant *
mail_with_files (const char *run, guint n, const char *options)
{
  GVariantBuilder arguments;
  GVariantBuilder list;
  const char *const to[] = { "a@example.com", NULL };

  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(sh)"));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u.txt", i);

      g_variant_builder_add (&list, "(sh)", name, n - 1 - i);
    }
  g_variant_builder_init (&arguments, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&arguments, "{sv}", "to", g_variant_new_strv (to, -1));
  g_variant_builder_add (&arguments, "{sv}", "subject", g_variant_new_string ("Report"));
  g_variant_builder_add (&arguments, "{sv}", "attachment", g_variant_builder_end (&list));
  return g_variant_new ("(ssa{sv}@a{sv})", run, "mail.send", &arguments,
                        vardict (options != NULL ? options : "{}"));
}

static void
assert_file (Caller *caller, const char *path, guint index, const char *text)
{
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GError) error = NULL;
  autofd fd = -1;
  char buffer[64] = "";

  reply =
      caller_call_with_fds (caller, US_OBJECT_PATH, US_INTERFACE_APPROVER, "OpenFile",
                            g_variant_new ("(osu)", path, "attachment", index), NULL, &fds, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_unix_fd_list_get_length (fds), ==, 1);
  fd = g_unix_fd_list_get (fds, 0, NULL);
  g_assert_cmpint (read (fd, buffer, sizeof buffer - 1), ==, (gssize) strlen (text));
  g_assert_cmpstr (buffer, ==, text);
  g_assert_cmpint (write (fd, "x", 1), ==, -1);
}

static guint
count_spooled (Bed *bed)
{
  g_autofree char *spool = g_build_filename (bed->dir, "state", "spool", NULL);
  g_autoptr (GDir) dir = g_dir_open (spool, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static char *
submit_files (Caller *agent, const char *run, guint n, GError **error)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) reply = NULL;
  char *path = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("content %u", i);
      autofd fd = memfd_new_sealed ("test", text, strlen (text), NULL);

      g_unix_fd_list_append (fds, fd, NULL);
    }
  reply = caller_call_with_fds (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                                mail_with_files (run, n, NULL), fds, NULL, error);
  if (reply != NULL)
    g_variant_get (reply, "(os)", &path, NULL);
  return path;
}

static void
test_files (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = submit_files (agent, run, 3, &error);

  g_assert_no_error (error);
  /* By the argument's own order, not that of the descriptors. */
  assert_file (jones, path, 0, "content 2");
  assert_file (jones, path, 2, "content 0");
  assert_fails (
      caller_approver (jones, "OpenFile", g_variant_new ("(osu)", path, "attachment", 3), &error),
      &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (
      caller_approver (jones, "OpenFile", g_variant_new ("(osu)", path, "subject", 0), &error),
      &error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  assert_fails (
      caller_approver (jones, "OpenFile", g_variant_new ("(osu)", path, "../x", 0), &error), &error,
      US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND);
  g_assert_cmpuint (count_spooled (bed), ==, 1);

  /* They survive a restart, and go when the request ends. */
  bed_stop (bed);
  bed_start (bed);
  wait_again (jones, path);
  assert_file (jones, path, 1, "content 1");
  g_assert_true (caller_approve (jones, path, "hr.jones", "good", NULL, &error));
  wait_state (agent, path, "done");
  g_assert_cmpuint (count_spooled (bed), ==, 0);
}

/* A file that was changed on the disk makes another request, which nobody asked for. */
static void
test_files_changed (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = submit_files (agent, run, 1, &error);
  g_autofree char *copy = NULL;
  g_autofree char *reason = NULL;
  g_autoptr (GVariant) details = NULL;

  g_assert_no_error (error);
  copy = g_build_filename (bed->dir, "state", "spool", request_id_of (path), "0", NULL);
  bed_stop (bed);
  g_assert_true (g_file_set_contents (copy, "content 9", -1, NULL));
  bed_start (bed);
  wait_state (agent, path, "refused");
  g_free (caller_state (agent, path, &details));
  reason = details_get (details, "reason");
  g_assert_true (g_str_has_prefix (reason, US_REASON_RECORD_CHANGED ":"));
  g_assert_cmpuint (count_spooled (bed), ==, 0);
}

/* One sealed file of this size. */
static GUnixFDList *
large_file (gsize size)
{
  GUnixFDList *fds = g_unix_fd_list_new ();
  g_autofree char *text = g_strnfill (size, 'x');
  autofd fd = memfd_new_sealed ("test", text, size, NULL);

  g_unix_fd_list_append (fds, fd, NULL);
  return fds;
}

static const char one_fits[] = "[Limits]\nSpoolBytes=100K\nSpoolBytesAll=100K\nPending=1\n";

static void
begin_sized (
    Caller *agent, const char *run, gsize size, const char *options, Pending *pending)
{
  g_autoptr (GUnixFDList) fds = large_file (size);

  caller_begin_submit (agent, mail_with_files (run, 1, options), fds, pending);
}

static void
begin_large (Caller *agent, const char *run, const char *key, Pending *pending)
{
  g_autofree char *options = g_strdup_printf ("{'idempotency-key': <'%s'>}", key);

  begin_sized (agent, run, 60 * 1024, options, pending);
}

static char *
end_large (Pending *pending)
{
  char *path = NULL;

  pending_wait (pending);
  g_assert_no_error (pending->error);
  g_variant_get (pending->reply, "(os)", &path, NULL);
  pending_clear (pending);
  *pending = (Pending){ 0 };
  return path;
}

/* Where there is no room for it, not a byte of a file is hashed: what is wrong with the call beside
 * that, and is only seen with the hash, is never said. */
static void
test_room_first (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *waits = caller_submit (agent, run, "b@example.com", NULL);
  g_auto (Pending) pending = { 0 };
  g_autoptr (GUnixFDList) one = large_file (100);

  /* Three handles, of one file. */
  caller_begin_submit (agent, mail_with_files (run, 3, "{'idempotency-key': <'k'>}"), one,
                       &pending);
  pending_wait (&pending);
  assert_fails (pending.reply, &pending.error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 1);
}

/* What is there already needs no room: the same again is the same, with its files, without a key or
 * with one.  What only looks the same is told by its files, and finds no room. */
static void
test_repeat_needs_no_room (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *elsewhere = caller_open_run (agent, "other");
  g_autofree char *first = NULL;
  Pending pending = { 0 };
  static const struct
  {
    gboolean in_run;
    gsize size;
    const char *options;
    gboolean same;
  } calls[] = {
    { TRUE, 60 * 1024, NULL, TRUE },
    { TRUE, 60 * 1024 - 1, NULL, FALSE },
    { FALSE, 60 * 1024, NULL, FALSE },
    { TRUE, 60 * 1024, "{'idempotency-key': <'k1'>}", TRUE },
    { TRUE, 60 * 1024, "{'idempotency-key': <'k1'>}", TRUE },
    { TRUE, 60 * 1024, "{'idempotency-key': <'k2'>}", FALSE },
    { TRUE, 60 * 1024, NULL, TRUE },
  };

  begin_sized (agent, run, 60 * 1024, NULL, &pending);
  first = end_large (&pending);
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_test_message ("call %u", i);
      begin_sized (agent, calls[i].in_run ? run : elsewhere, calls[i].size, calls[i].options,
                   &pending);
      if (calls[i].same)
        {
          g_autofree char *path = end_large (&pending);

          g_assert_cmpstr (path, ==, first);
          continue;
        }
      pending_wait (&pending);
      assert_fails (pending.reply, &pending.error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);
      pending_clear (&pending);
      pending = (Pending){ 0 };
    }
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 1);
  g_assert_cmpuint (count_spooled (bed), ==, 1);
}

/* Many calls with one key are one request, however little room there is beside it: at once, later,
 * and when it has ended.  Another key finds none. */
static void
test_large_with_key (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *first = NULL;
  g_autofree char *after = NULL;
  g_auto (Pending) refused = { 0 };
  g_autoptr (GError) error = NULL;
  Pending pending[6] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    begin_large (agent, run, "k1", &pending[i]);
  first = end_large (&pending[0]);
  for (guint i = 1; i < G_N_ELEMENTS (pending); i++)
    {
      g_autofree char *path = end_large (&pending[i]);

      g_assert_cmpstr (path, ==, first);
    }
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 1);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 1);
  g_assert_cmpuint (count_spooled (bed), ==, 1);

  begin_large (agent, run, "k2", &refused);
  pending_wait (&refused);
  assert_fails (refused.reply, &refused.error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT);

  g_assert_true (caller_approve (jones, first, "hr.jones", "good", NULL, &error));
  wait_state (agent, first, "done");
  begin_large (agent, run, "k1", &pending[0]);
  after = end_large (&pending[0]);
  g_assert_cmpstr (after, ==, first);
  g_assert_cmpuint (fake_ran (bed->fake), ==, 1);
}

static gboolean
has_prepared_five (gpointer bed)
{
  return fake_prepared (((Bed *) bed)->fake) >= 5;
}

/* Each of those that wait for the first is answered where that one fails, and when all ends. */
static void
test_key_fails (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  Pending pending[4] = { 0 };

  fake_refuse (bed->fake, US_ERROR_REFUSED, US_REASON_NO_RULE);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    begin_large (agent, run, "k1", &pending[i]);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    {
      pending_wait (&pending[i]);
      assert_fails (pending[i].reply, &pending[i].error, US_ERROR_REFUSED, US_REASON_NO_RULE);
      pending_clear (&pending[i]);
      pending[i] = (Pending){ 0 };
    }
  g_assert_cmpuint (limits_pending_all (bed->broker->limits), ==, 0);

  fake_refuse (bed->fake, 0, NULL);
  fake_hold (bed->fake);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    begin_large (agent, run, "k2", &pending[i]);
  bed_wait (has_prepared_five, bed);
  bed_stop (bed);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    {
      pending_wait (&pending[i]);
      g_assert_nonnull (pending[i].error);
      pending_clear (&pending[i]);
    }
  bed_start (bed);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/attachments/files", NULL, test_files);
  bed_test ("/attachments/files-changed", NULL, test_files_changed);
  bed_test ("/attachments/room-first", one_fits, test_room_first);
  bed_test ("/attachments/repeat-needs-no-room", one_fits, test_repeat_needs_no_room);
  bed_test ("/attachments/large-with-key", one_fits, test_large_with_key);
  bed_test ("/attachments/key-fails", NULL, test_key_fails);
  return g_test_run ();
}
