/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which files the runner loads.  Each bad object ends the process that loads it, so a test that
 * goes on is one where nothing of the file has run.
 */
#include "service/runner/module.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/runner/runner.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct
{
  char *dir;
} Fixture;

static char *
object_path (const char *name)
{
  return g_build_filename (g_getenv ("MODULES"), name, NULL);
}

static char *
object_content (const char *name, gsize *out_len)
{
  g_autofree char *path = object_path (name);
  g_autoptr (GError) error = NULL;
  char *content = NULL;

  g_file_get_contents (path, &content, out_len, &error);
  g_assert_no_error (error);
  return content;
}

static void
put (Fixture *fixture, const char *name, const char *data, gsize len, mode_t mode)
{
  g_autofree char *path = g_build_filename (fixture->dir, name, NULL);

  g_assert_true (g_file_set_contents (path, data, (gssize) len, NULL));
  g_assert_cmpint (chmod (path, mode), ==, 0);
}

static void
install (Fixture *fixture, const char *object, const char *name, mode_t mode)
{
  gsize len = 0;
  g_autofree char *content = object_content (object, &len);

  put (fixture, name, content, len, mode);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->dir = g_dir_make_tmp ("undersign-test-XXXXXX", NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  GDir *dir = g_dir_open (fixture->dir, 0, NULL);
  const char *name = NULL;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->dir, name, NULL);

      (void) g_remove (path);
    }
  g_dir_close (dir);
  g_assert_cmpint (rmdir (fixture->dir), ==, 0);
  g_free (fixture->dir);
}

static void
check_refused_as (Fixture *fixture, const char *name, uid_t owner, const char *reason)
{
  g_autoptr (GError) error = NULL;

  g_test_message ("%s", name);
  g_assert_null (module_open (fixture->dir, name, owner, &error));
  g_assert_nonnull (error);
  if (reason != NULL)
    g_assert_true (us_error_has_reason (error, reason));
}

static void
check_refused (Fixture *fixture, const char *name, const char *reason)
{
  check_refused_as (fixture, name, getuid (), reason);
}

static void
test_bad_objects (Fixture *fixture, gconstpointer data)
{
  for (guint i = 1; i <= 9; i++)
    {
      g_autofree char *object = g_strdup_printf ("bad-%u.so", i);
      g_autofree char *name = g_strdup_printf ("bad-%u", i);

      install (fixture, object, object, 0644);
      check_refused (fixture, name, US_REASON_BAD_MODULE);
    }
}

static void
test_bad_files (Fixture *fixture, gconstpointer data)
{
  gsize len = 0;
  g_autofree char *good = object_content ("probe.so", &len);
  g_autofree char *class = g_memdup2 (good, len);
  g_autofree char *order = g_memdup2 (good, len);
  g_autofree char *type = g_memdup2 (good, len);
  g_autofree char *machine = g_memdup2 (good, len);

  class[4] ^= 3;
  order[5] ^= 3;
  type[16] = 2;
  machine[18] = 1;
  put (fixture, "nothing.so", "", 0, 0644);
  put (fixture, "text.so", "#!/bin/sh\n", 10, 0644);
  put (fixture, "short.so", good, 63, 0644);
  put (fixture, "header.so", good, 64, 0644);
  put (fixture, "half.so", good, len / 2, 0644);
  put (fixture, "class.so", class, len, 0644);
  put (fixture, "order.so", order, len, 0644);
  put (fixture, "type.so", type, len, 0644);
  put (fixture, "machine.so", machine, len, 0644);
  check_refused (fixture, "nothing", US_REASON_BAD_MODULE);
  check_refused (fixture, "text", US_REASON_BAD_MODULE);
  check_refused (fixture, "short", US_REASON_BAD_MODULE);
  check_refused (fixture, "header", US_REASON_BAD_MODULE);
  check_refused (fixture, "half", US_REASON_BAD_MODULE);
  check_refused (fixture, "class", US_REASON_BAD_MODULE);
  check_refused (fixture, "order", US_REASON_BAD_MODULE);
  check_refused (fixture, "type", US_REASON_BAD_MODULE);
  check_refused (fixture, "machine", US_REASON_BAD_MODULE);
}

static void
test_untrusted (Fixture *fixture, gconstpointer data)
{
  g_autofree char *link = g_build_filename (fixture->dir, "link.so", NULL);
  g_autofree char *fifo = g_build_filename (fixture->dir, "fifo.so", NULL);
  g_autofree char *dir = g_build_filename (fixture->dir, "dir.so", NULL);

  install (fixture, "bad-1.so", "good.so", 0644);
  install (fixture, "bad-1.so", "group.so", 0664);
  install (fixture, "bad-1.so", "world.so", 0646);
  g_assert_cmpint (symlink ("good.so", link), ==, 0);
  g_assert_cmpint (mkfifo (fifo, 0644), ==, 0);
  g_assert_cmpint (mkdir (dir, 0755), ==, 0);
  check_refused (fixture, "group", US_REASON_UNTRUSTED_FILE);
  check_refused (fixture, "world", US_REASON_UNTRUSTED_FILE);
  check_refused (fixture, "fifo", US_REASON_UNTRUSTED_FILE);
  check_refused (fixture, "dir", US_REASON_UNTRUSTED_FILE);
  check_refused (fixture, "link", NULL);
  check_refused (fixture, "absent", NULL);
  check_refused_as (fixture, "good", getuid () + 1, US_REASON_UNTRUSTED_FILE);

  g_assert_cmpint (chmod (fixture->dir, 0777), ==, 0);
  check_refused (fixture, "good", US_REASON_UNTRUSTED_FILE);
  g_assert_cmpint (chmod (fixture->dir, 0700), ==, 0);
}

static void
test_names (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = {
    "",   "../probe", "a/b", "/a",  ".probe", "probe.so", "Probe",
    "-a", "1",        "a b", "a_b", "a\nb",   "\xc3\xbc", "a123456789012345678901234567890123",
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_false (module_name_is_valid (names[i]));
      check_refused (fixture, names[i], US_REASON_BAD_MODULE);
    }
  g_assert_true (module_name_is_valid ("mail"));
  g_assert_true (module_name_is_valid ("a1-b"));
}

/* Each byte of a small object's front and end changed: none is loaded with another version. */
static void
test_flipped_bytes (Fixture *fixture, gconstpointer data)
{
  gsize len = 0;
  g_autofree char *good = object_content ("empty.so", &len);
  g_autofree char *path = g_build_filename (fixture->dir, "flipped", NULL);

  for (gsize i = 0; i < len; i += i < 1024 ? 1 : 97)
    {
      guint32 version = US_SM_ABI_VERSION;
      gboolean ok = FALSE;
      autofd fd = -1;

      good[i] = (char) (good[i] ^ 0x41);
      g_assert_true (g_file_set_contents (path, good, (gssize) len, NULL));
      fd = open (path, O_RDONLY | O_CLOEXEC);
      ok = elf_read_version (fd, &version, NULL);
      g_assert_true (ok || version == US_SM_ABI_VERSION);
      good[i] = (char) (good[i] ^ 0x41);
    }
}

static void
test_good (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Module) module = NULL;

  install (fixture, "empty.so", "empty.so", 0444);
  module = module_open (fixture->dir, "empty", getuid (), &error);
  g_assert_no_error (error);
  g_assert_null (module_entry (module, "us_sm_execute"));
  g_assert_null (module_entry (module, "us_sm_describe"));
}

#define ADD(name, function)                                                                        \
  g_test_add ("/runner/module/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("bad-objects", test_bad_objects);
  ADD ("bad-files", test_bad_files);
  ADD ("untrusted", test_untrusted);
  ADD ("names", test_names);
  ADD ("flipped-bytes", test_flipped_bytes);
  ADD ("good", test_good);
  return g_test_run ();
}
