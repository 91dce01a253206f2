/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the journal is told: ids and fields that do not change, and nothing of a record. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/executor/journal.h"
#include "tests/executor/bench.h"

#include <string.h>

static GPtrArray *told; /* (element-type utf8): "ID STATE SOURCE PERSON REASON" */

static const char *
field_of (const GLogField *fields, gsize n, const char *key)
{
  for (gsize i = 0; i < n; i++)
    if (strcmp (fields[i].key, key) == 0)
      return fields[i].value;
  return NULL;
}

static GLogWriterOutput
writer (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  const char *id = field_of (fields, n, "MESSAGE_ID");
  const char *message = field_of (fields, n, "MESSAGE");

  if (id == NULL)
    return g_log_writer_default (level, fields, n, data);
  g_assert_null (strstr (message, "example"));
  g_assert_true (strstr (message, field_of (fields, n, "UNDERSIGN_REQUEST")) != NULL);
  g_ptr_array_add (told, g_strjoin (" ", id, field_of (fields, n, "UNDERSIGN_STATE"),
                                    field_of (fields, n, "UNDERSIGN_SOURCE"),
                                    field_of (fields, n, "UNDERSIGN_PERSON"),
                                    field_of (fields, n, "UNDERSIGN_REASON"), NULL));
  return G_LOG_WRITER_HANDLED;
}

static void
assert_told (guint i, const char *line)
{
  g_assert_cmpuint (told->len, >, i);
  g_assert_cmpstr (told->pdata[i], ==, line);
}

static const char deny[] =
    "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n";

static void
test_told (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (GError) error = NULL;
  g_auto (Prepare) prepare = { 0 };
  g_autofree char *said = NULL;

  g_assert_true (client_prepare (&bench->client, request, &prepare, &error));
  assert_good (client_approve (&bench->client, kim, request, &prepare, &error), &error);
  bench_policy (bench, "rules/deny.rule", deny);
  for (guint i = 0; i < 3; i++)
    assert_refused (client_execute (&bench->client, request, &prepare, NULL, &error), &error,
                    US_REASON_RECORD_CHANGED);
  bench_policy (bench, "rules/deny.rule", NULL);
  assert_good (client_execute (&bench->client, request, &prepare, &said, &error), &error);
  g_assert_true (client_close (&bench->client, "00000000000000000000000000000001", "expired", NULL));
  g_assert_true (client_close (&bench->client, "00000000000000000000000000000002", "denied", NULL));

  assert_told (0, JOURNAL_APPROVED " approved signed hr.kim ");
  assert_told (1, JOURNAL_REFUSED " refused executor  record-changed");
  assert_told (2, JOURNAL_CONSUMED " executing executor  ");
  assert_told (3, JOURNAL_OUTCOME " done executor  ");
  g_assert_true (g_str_has_prefix (told->pdata[4], JOURNAL_ENDED " expired broker "));
  g_assert_true (g_str_has_prefix (told->pdata[5], JOURNAL_DENIED " denied broker "));
  g_assert_cmpuint (told->len, ==, 6);
}

/* What was refused once more after it had run is not in the ledger, and not in the journal. */
static void
test_not_told (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (GError) error = NULL;
  g_auto (Prepare) prepare = { 0 };

  g_ptr_array_set_size (told, 0);
  g_assert_true (client_prepare (&bench->client, request, &prepare, &error));
  assert_good (client_approve (&bench->client, kim, request, &prepare, &error), &error);
  assert_good (client_execute (&bench->client, request, &prepare, NULL, &error), &error);
  g_assert_cmpuint (told->len, ==, 3);
  bench_policy (bench, "rules/deny.rule", deny);
  assert_refused (client_execute (&bench->client, request, &prepare, NULL, &error), &error,
                  US_REASON_RECORD_CHANGED);
  g_assert_cmpuint (told->len, ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  told = g_ptr_array_new_with_free_func (g_free);
  g_log_set_writer_func (writer, NULL, NULL);
  bench_test ("/executor/journal/told", test_told);
  bench_test ("/executor/journal/not-told", test_not_told);
  return g_test_run ();
}
