/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often policy is read before polkit was asked: the clock is the test's. */
#include "service/launcher/known.h"

#include "dbus/error.h"

#include <glib/gstdio.h>
#include <unistd.h>

typedef struct
{
  char *top, *folder, *file;
  PolicySource source;
  Known *known;
} Fixture;

static void
write_agent (Fixture *fixture, const char *summary)
{
  g_autofree char *text = g_strdup_printf ("[Agent]\nSummary=%s\nUser=games\nOwner=man\n", summary);

  g_assert_true (
      g_file_set_contents_full (fixture->file, text, -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *agents = NULL;

  fixture->top = g_dir_make_tmp ("undersign-known-XXXXXX", NULL);
  fixture->folder = g_build_filename (fixture->top, "config", NULL);
  agents = g_build_filename (fixture->folder, "agents", NULL);
  fixture->file = g_build_filename (agents, "x.agent", NULL);
  g_assert_cmpint (g_mkdir_with_parents (agents, 0755), ==, 0);
  fixture->source = (PolicySource){ .data_dir = fixture->top,
                                    .config_dir = fixture->folder,
                                    .module_dir = fixture->top,
                                    .owner = getuid () };
  fixture->known = known_new (&fixture->source);
  write_agent (fixture, "first");
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autofree char *agents = g_path_get_dirname (fixture->file);

  known_free (fixture->known);
  g_unlink (fixture->file);
  g_rmdir (agents);
  g_rmdir (fixture->folder);
  g_rmdir (fixture->top);
  g_free (fixture->file);
  g_free (fixture->folder);
  g_free (fixture->top);
}

static void
assert_known (Fixture *fixture, uid_t uid, gint64 now, const char *summary)
{
  g_autoptr (GError) error = NULL;
  const Policy *policy = known_policy (fixture->known, uid, now, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (policy_agent_by_name (policy, "x")->summary, ==, summary);
}

/* Once in a second for each uid; whoever has not called sees it as it is. */
static void
test_period (Fixture *fixture, gconstpointer data)
{
  assert_known (fixture, 1, 0, "first");
  write_agent (fixture, "second");
  assert_known (fixture, 1, 0, "first");
  assert_known (fixture, 1, KNOWN_PERIOD - 1, "first");
  assert_known (fixture, 1, KNOWN_PERIOD, "second");
  write_agent (fixture, "third");
  assert_known (fixture, 1, KNOWN_PERIOD + 1, "second");
  assert_known (fixture, 2, KNOWN_PERIOD + 1, "third");
  assert_known (fixture, 1, KNOWN_PERIOD + 2, "third");
  /* A file that is not there any more, too. */
  g_assert_cmpint (g_unlink (fixture->file), ==, 0);
  assert_known (fixture, 2, 2 * KNOWN_PERIOD, "third");
}

/* That there is none is known as long. */
static void
test_invalid (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  write_agent (fixture, "");
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (known_policy (fixture->known, 1, 0, &error));
      g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
      g_clear_error (&error);
      write_agent (fixture, "first");
    }
  assert_known (fixture, 2, 1, "first");
  assert_known (fixture, 1, 1, "first");
}

/* Many callers take no more room than those of a second. */
static void
test_many (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 600; i++)
    assert_known (fixture, i, i * KNOWN_PERIOD / 100, "first");
  write_agent (fixture, "second");
  assert_known (fixture, 599, 600 * KNOWN_PERIOD / 100, "first");
  assert_known (fixture, 0, 600 * KNOWN_PERIOD / 100, "second");
}

#define add(name, function)                                                                        \
  g_test_add ("/launcher-known/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("period", test_period);
  add ("invalid", test_invalid);
  add ("many", test_many);
  return g_test_run ();
}
