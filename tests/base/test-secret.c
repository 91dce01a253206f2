/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The secret buffer: its limits, and that its pages are locked and left out of dumps. */
#include "service/base/secret.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int
file_with (const char *data, gsize len)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);

  g_assert_cmpint (write (fd, data, len), ==, (gssize) len);
  g_assert_cmpint (lseek (fd, 0, SEEK_SET), ==, 0);
  return fd;
}

static void
test_read_limit (void)
{
  g_autoptr (GError) error = NULL;
  autofd fd = file_with ("12345", 5);

  g_assert_null (secret_new_read (fd, 4, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_assert_null (strstr (error->message, "1234"));
}

static void
test_read_failure (void)
{
  g_autoptr (GError) error = NULL;
  autofd fd = open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  g_assert_null (secret_new_read (fd, 100, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
}

static void
test_cannot_lock (void)
{
  g_autoptr (GError) error = NULL;
  autofd fd = file_with ("1", 1);

  g_assert_null (secret_new (G_MAXSIZE));
  g_assert_null (secret_new (G_MAXSIZE / 2));
  g_assert_null (secret_new_read (fd, G_MAXSIZE, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
}

static void
test_read (void)
{
  static const gsize sizes[] = { 0, 1, 5, 4095, 4096, 8192 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *data = g_strnfill (sizes[i], 's');
      g_autoptr (GError) error = NULL;
      g_autoptr (Secret) secret = NULL;
      autofd fd = file_with (data, sizes[i]);

      secret = secret_new_read (fd, sizes[i], &error);
      g_assert_no_error (error);
      g_assert_cmpmem (secret_data (secret), secret_size (secret), data, sizes[i]);
      g_assert_cmpuint (secret_data (secret)[sizes[i]], ==, 0);
    }
}

static void
test_copy (void)
{
  g_autoptr (Secret) secret = secret_new_from ("a\0b", 3);
  g_autoptr (Secret) zero = secret_new (3);

  g_assert_cmpmem (secret_data (secret), secret_size (secret), "a\0b", 3);
  g_assert_cmpmem (secret_data (zero), secret_size (zero), "\0\0\0", 3);
  secret_free (NULL);
}

/* AddressSanitizer replaces mlock(2) by nothing. */
static gboolean
mlock_is_real (void)
{
#if defined(__SANITIZE_ADDRESS__)
  return FALSE;
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
  return FALSE;
#  else
  return TRUE;
#  endif
#else
  return TRUE;
#endif
}

static void
test_no_locked_memory (void)
{
  if (geteuid () == 0 || !mlock_is_real ())
    {
      g_test_skip ("root, or a sanitizer: mlock(2) does not fail here");
      return;
    }
  if (g_test_subprocess ())
    {
      struct rlimit none = { 0 };

      g_assert_cmpint (setrlimit (RLIMIT_MEMLOCK, &none), ==, 0);
      g_assert_null (secret_new (1));
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
}

/* smaps_flags: what the kernel says of the mapping that holds @address. */
static char *
smaps_flags (const void *address)
{
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  gboolean inside = FALSE;

  if (!g_file_get_contents ("/proc/self/smaps", &content, NULL, NULL))
    return NULL;
  lines = g_strsplit (content, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *end = NULL;
      guint64 from = g_ascii_strtoull (lines[i], &end, 16);

      if (*end == '-')
        inside =
            from <= (guintptr) address && (guintptr) address < g_ascii_strtoull (end + 1, NULL, 16);
      else if (inside && g_str_has_prefix (lines[i], "VmFlags:"))
        return g_strconcat (lines[i], " ", NULL);
    }
  return NULL;
}

static void
test_pages (void)
{
  g_autoptr (Secret) secret = secret_new_from ("secret", 6);
  g_autofree char *flags = smaps_flags (secret_data (secret));

  if (flags == NULL)
    {
      g_test_skip ("no smaps here");
      return;
    }
  if (mlock_is_real ())
    g_assert_nonnull (strstr (flags, " lo ")); /* locked */
  g_assert_nonnull (strstr (flags, " dd "));   /* do not dump */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/secret/read-limit", test_read_limit);
  g_test_add_func ("/base/secret/read-failure", test_read_failure);
  g_test_add_func ("/base/secret/cannot-lock", test_cannot_lock);
  g_test_add_func ("/base/secret/no-locked-memory", test_no_locked_memory);
  g_test_add_func ("/base/secret/read", test_read);
  g_test_add_func ("/base/secret/copy", test_copy);
  g_test_add_func ("/base/secret/pages", test_pages);
  return g_test_run ();
}
