/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A broker in hostile hands, against the executor of this process. */
#include "tests/executor/bench.h"
#include "tests/executor/hostile.h"

#include <glib/gstdio.h>

/* As the real one. */
static const char null_module[] = "[Module]\nSummary=Do nothing: for rehearsals\nDescribe=yes\n"
                                  "[Setting marker]\nLabel=Marker file\nType=path\nDefault=\n"
                                  "[Setting fact]\nLabel=Fact\nType=line\nDefault=\n";

static guint
executed (gpointer data)
{
  return bench_executed (data);
}

static void
copy (Bench *bench, const char *from_folder, const char *to_folder)
{
  g_autofree char *from = g_build_filename (from_folder, "ledger.db", NULL);
  g_autofree char *to = g_build_filename (to_folder, "ledger.db", NULL);
  g_autofree char *content = NULL;
  gsize len = 0;

  g_assert_true (g_file_get_contents (from, &content, &len, NULL));
  g_unlink (to);
  g_assert_true (
      g_file_set_contents_full (to, content, (gssize) len, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
backup (gpointer data)
{
  Bench *bench = data;

  copy (bench, bench->state, bench->root);
}

static void
restore (gpointer data)
{
  Bench *bench = data;

  copy (bench, bench->root, bench->state);
}

static void
test_case (Bench *bench, gconstpointer data)
{
  g_autofree char *action = hostile_action ("/nonexistent/marker");
  g_autoptr (TestKey) lead = NULL;
  Hostile hostile = { .client = &bench->client,
                      .other_uid = 2002,
                      .owner_uid = 3001,
                      .initiator_uid = 3002,
                      .executed = executed,
                      .backup = backup,
                      .restore = restore,
                      .data = bench };

  g_free (bench->known);
  bench->known = g_strdup ("yes");
  set_put (bench->set, "modules/null.module", null_module);
  set_put (bench->set, "actions/" HOSTILE_ACTION ".action", action);
  bench_policy (bench, "rules/hostile.rule", hostile_rules);
  hostile.lead = lead = client_enrol (&bench->client, "it.lead", 3003);
  hostile_run (&hostile, GPOINTER_TO_UINT (data));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < hostile_count (); i++)
    {
      g_autofree char *path = g_strconcat ("/executor/hostile/", hostile_name (i), NULL);

      g_test_add (path, Bench, GUINT_TO_POINTER (i), bench_set_up, test_case, bench_tear_down);
    }
  return g_test_run ();
}
