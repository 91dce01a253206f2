/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign.conf: a fault is an error and changes nothing; absent is the default. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/config-file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD "[Limits]\n"

static gboolean
parse (const char *text, LimitsConfig *config, GError **error)
{
  g_autoptr (GBytes) content = g_bytes_new_static (text, strlen (text));

  return config_parse ("undersign.conf", content, config, error);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *text;
    guint line;
  } cases[] = {
    { HEAD "Pending=8\nPending=9\n", 3 },
    { HEAD "Pendng=8\n", 2 },
    { HEAD "pending=8\n", 2 },
    { HEAD HEAD, 2 },
    { "[Limit]\nPending=8\n", 1 },
    { "Pending=8\n", 1 },
    { HEAD "Pending=\n", 2 },
    { HEAD "Pending=0\n", 2 },
    { HEAD "Pending=-1\n", 2 },
    { HEAD "Pending=+1\n", 2 },
    { HEAD "Pending=08\n", 2 },
    { HEAD "Pending=8 \n", 2 },
    { HEAD "Pending=8K\n", 2 },
    { HEAD "Pending=0x8\n", 2 },
    { HEAD "Pending=1001\n", 2 },
    { HEAD "Pending=18446744073709551617\n", 2 },
    { HEAD "Pending=4294967297\n", 2 },
    { HEAD "PendingAll=7\n", 1 },
    { HEAD "SpoolBytes=1T\n", 2 },
    { HEAD "SpoolBytes=1.5G\n", 2 },
    { HEAD "SpoolBytes=M\n", 2 },
    { HEAD "SpoolBytes=9223372036854775807G\n", 2 },
    { HEAD "DenialPause=10\n", 2 },
    { HEAD "DenialPause=0s\n", 2 },
    { HEAD "DenialPause=8d\n", 2 },
    { HEAD "Denials=never\n", 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      LimitsConfig config = limits_default;
      g_autofree char *where = g_strdup_printf ("undersign.conf:%u: ", cases[i].line);
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", cases[i].text);
      g_assert_false (parse (cases[i].text, &config, &error));
      g_assert_nonnull (strstr (error->message, where));
      g_assert_cmpmem (&config, sizeof config, &limits_default, sizeof limits_default);
    }
}

static void
test_read (void)
{
  LimitsConfig config = limits_default;
  g_autoptr (GError) error = NULL;

  g_assert_true (parse ("# nothing\n", &config, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (&config, sizeof config, &limits_default, sizeof limits_default);

  g_assert_true (parse (HEAD "Pending=1\nPendingAll=2\nPendingReserve=0\nSubmitsPerMinute=3\n"
                             "RunsPerMinute=4\n"
                             "SpoolBytes=4K\nSpoolBytesAll=5M\nDiskReserve=6G\nDenials=0\n"
                             "DenialPeriod=7s\nDenialPause=2h\n",
                        &config, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (config.pending, ==, 1);
  g_assert_cmpuint (config.pending_all, ==, 2);
  g_assert_cmpuint (config.pending_reserve, ==, 0);
  g_assert_cmpuint (config.submits_per_minute, ==, 3);
  g_assert_cmpuint (config.runs_per_minute, ==, 4);
  g_assert_cmpuint (config.spool_bytes, ==, 4096);
  g_assert_cmpuint (config.spool_bytes_all, ==, 5 * 1024 * 1024);
  g_assert_cmpuint (config.disk_reserve, ==, G_GUINT64_CONSTANT (6) * 1024 * 1024 * 1024);
  g_assert_cmpuint (config.denials, ==, 0);
  g_assert_cmpuint (config.denial_period, ==, 7);
  g_assert_cmpuint (config.denial_pause, ==, 7200);
}

static void
test_load (void)
{
  g_autofree char *dir = g_dir_make_tmp ("undersign-config-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, CONFIG_NAME, NULL);
  LimitsConfig config = limits_default;
  g_autoptr (GError) error = NULL;

  g_assert_true (config_load (dir, getuid (), &config, &error));
  g_assert_no_error (error);

  g_assert_true (g_file_set_contents (path, HEAD "Pending=2\n", -1, NULL));
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
  g_assert_true (config_load (dir, getuid (), &config, &error));
  g_assert_cmpuint (config.pending, ==, 2);

  g_assert_false (config_load (dir, getuid () + 1, &config, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));
  g_clear_error (&error);
  g_assert_cmpint (g_chmod (path, 0664), ==, 0);
  g_assert_false (config_load (dir, getuid (), &config, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));

  g_unlink (path);
  g_rmdir (dir);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/config-file/refused", test_refused);
  g_test_add_func ("/config-file/read", test_read);
  g_test_add_func ("/config-file/load", test_load);
  return g_test_run ();
}
