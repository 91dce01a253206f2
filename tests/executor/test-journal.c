/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the journal is told: ids and fields that do not change, and nothing of a record or of what a
 * person wrote; and no name can add anything. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/executor/journal.h"
#include "tests/executor/bench.h"

#include <string.h>

#define PATIENCE 10 /* seconds */

static Bench *stuck;        /* its journal reads nothing until an outcome is known, */
static char *stuck_request; /* that of this */
static GPtrArray *told;     /* (element-type utf8): "ID STATE SOURCE PERSON REASON[ BY]" */

static const char *
field_of (const GLogField *fields, gsize n, const char *key)
{
  for (gsize i = 0; i < n; i++)
    if (strcmp (fields[i].key, key) == 0)
      return fields[i].value;
  return NULL;
}

/* Waits for the outcome in the ledger; for a while, so that who waits for the journal is found out. */
static gboolean
outcome_comes (void)
{
  g_autoptr (Ledger) ledger = bench_ledger (stuck);
  gint64 end = g_get_monotonic_time () + PATIENCE * G_USEC_PER_SEC;

  while (g_get_monotonic_time () < end)
    {
      g_auto (LedgerStatus) status = { 0 };

      g_assert_true (ledger_query (ledger, stuck_request, &status, NULL));
      if (status.state == LEDGER_DONE)
        return TRUE;
      g_usleep (1000);
    }
  return FALSE;
}

static GLogWriterOutput
writer (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  const char *id = field_of (fields, n, "MESSAGE_ID");
  const char *message = field_of (fields, n, "MESSAGE");

  if (id == NULL)
    return g_log_writer_default (level, fields, n, data);
  if (stuck != NULL && strcmp (id, JOURNAL_CONSUMED) == 0)
    g_assert_true (outcome_comes ());
  g_assert_null (strstr (message, "example"));
  g_assert_null (strstr (message, "because"));
  for (const char *c = message; *c != '\0'; c++)
    g_assert_false (g_ascii_iscntrl (*c));
  g_assert_true (strstr (message, field_of (fields, n, "UNDERSIGN_REQUEST")) != NULL);
  g_ptr_array_add (told, g_strjoin (" ", id, field_of (fields, n, "UNDERSIGN_STATE"),
                                    field_of (fields, n, "UNDERSIGN_SOURCE"),
                                    field_of (fields, n, "UNDERSIGN_PERSON"),
                                    field_of (fields, n, "UNDERSIGN_REASON"),
                                    field_of (fields, n, "UNDERSIGN_BY"), NULL));
  return G_LOG_WRITER_HANDLED;
}

static void
assert_told (guint i, const char *line)
{
  g_assert_cmpuint (told->len, >, i);
  g_assert_cmpstr (told->pdata[i], ==, line);
}

static const char deny[] = "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n";

static void
test_told (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (GError) error = NULL;
  g_auto (Prepare) prepare = { 0 };
  g_autofree char *said = NULL;

  g_ptr_array_set_size (told, 0);
  g_assert_true (client_prepare (&bench->client, request, &prepare, &error));
  assert_good (client_approve (&bench->client, kim, request, &prepare, &error), &error);
  bench_policy (bench, "rules/deny.rule", deny);
  for (guint i = 0; i < 3; i++)
    assert_refused (client_execute (&bench->client, request, &prepare, NULL, &error), &error,
                    US_REASON_RECORD_CHANGED);
  bench_policy (bench, "rules/deny.rule", NULL);
  assert_good (client_execute (&bench->client, request, &prepare, &said, &error), &error);
  g_assert_true (
      client_close (&bench->client, "00000000000000000000000000000001", "expired", NULL));
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

/* A journal that does not read holds up no module and no outcome; and is told, still. */
static void
test_stuck (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) kim = client_enrol (&bench->client, "hr.kim", 3002);
  g_autoptr (Request) request = bench_mail (bench);
  g_autoptr (GError) error = NULL;
  g_auto (Prepare) prepare = { 0 };
  g_autofree char *said = NULL;

  assert_good (client_prepare (&bench->client, request, &prepare, &error), &error);
  assert_good (client_approve (&bench->client, kim, request, &prepare, &error), &error);
  g_ptr_array_set_size (told, 0);
  stuck_request = request->id;
  stuck = bench;
  assert_good (client_execute (&bench->client, request, &prepare, &said, &error), &error);
  stuck = NULL;
  g_assert_cmpstr (said, ==, "done");
  g_assert_cmpuint (bench_executed (bench), ==, 1);
  assert_told (0, JOURNAL_CONSUMED " executing executor  ");
  assert_told (1, JOURNAL_OUTCOME " done executor  ");
  g_assert_cmpuint (told->len, ==, 2);
}

static void
act (Bench *bench, HandoverKind kind, GVariant *body, const char *type)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;

  assert_good (client_call (&bench->client, TRUE, kind, body, NULL, 0, type, &reply, &error),
               &error);
}

static void
test_acts (Bench *bench, gconstpointer data)
{
  g_autoptr (TestKey) key = NULL;
  g_autoptr (Request) request = bench_mail (bench);
  g_auto (Prepare) prepare = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;

  g_ptr_array_set_size (told, 0);
  key = client_enrol (&bench->client, "hr.kim", 3002);
  assert_told (0, JOURNAL_ENROLLED " enrolled admin hr.kim  0");
  act (bench, HANDOVER_HALT, g_variant_new ("(us)", 7u, "because"), WIRE_EMPTY);
  assert_told (1, JOURNAL_HALTED " halted admin   7");
  act (bench, HANDOVER_RESUME, g_variant_new ("(us)", 7u, "because"), WIRE_EMPTY);
  assert_told (2, JOURNAL_RESUMED " resumed admin   7");

  g_assert_true (client_prepare (&bench->client, request, &prepare, &error));
  assert_good (client_approve (&bench->client, key, request, &prepare, &error), &error);
  bench_behave (bench, "unknown");
  assert_good (client_execute (&bench->client, request, &prepare, &said, &error), &error);
  g_ptr_array_set_size (told, 3);
  act (bench, HANDOVER_RESOLVE, g_variant_new ("(sssu)", request->id, "done", "because", 7u),
       WIRE_EMPTY);
  assert_told (3, JOURNAL_RESOLVED " resolved admin   7");

  act (bench, HANDOVER_REVOKE,
       g_variant_new (
           "(@ayu)",
           g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, key->passkey->credential, TRUE),
           8u),
       WIRE_EMPTY);
  assert_told (4, JOURNAL_REVOKED " revoked admin hr.kim  8");
  /* what removes nothing is not told */
  act (bench, HANDOVER_PRUNE, g_variant_new (WIRE_PRUNE, clock_wall () - 60, 9u), WIRE_PRUNE_REPLY);
  g_assert_cmpuint (told->len, ==, 5);
  for (gint64 now = clock_wall (); clock_wall () <= now;)
    g_usleep (10000); /* until all of it was in a second that has passed */
  act (bench, HANDOVER_PRUNE, g_variant_new (WIRE_PRUNE, clock_wall (), 9u), WIRE_PRUNE_REPLY);
  assert_told (5, JOURNAL_PRUNED " pruned admin   9");
  g_assert_cmpuint (told->len, ==, 6);
}

/* A name from a directory of others, with whatever is in it. */
static void
test_hostile_names (void)
{
  static const char name[] = "hr.kim\nMESSAGE_ID=x\n\x1b[2J\xe2\x80\xae\xff";

  g_ptr_array_set_size (told, 0);
  journal_event (JOURNAL_DENIED, "signed", "1", "denied", name, "a\nb");
  journal_act (JOURNAL_ENROLLED, "enrolled", 0, NULL, name);
  for (guint i = 0; i < 2; i++)
    {
      const char *line = told->pdata[i];

      g_assert_nonnull (strstr (line, "hr.kim\\u{000A}MESSAGE_ID=x\\u{000A}\\u{001B}[2J\\u{202E}"));
      g_assert_true (g_utf8_validate (line, -1, NULL));
      for (const char *c = line; *c != '\0'; c++)
        g_assert_false (g_ascii_iscntrl (*c));
    }
  g_assert_nonnull (strstr (told->pdata[0], "a\\u{000A}b"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  told = g_ptr_array_new_with_free_func (g_free);
  g_log_set_writer_func (writer, NULL, NULL);
  bench_test ("/executor/journal/told", test_told);
  bench_test ("/executor/journal/not-told", test_not_told);
  bench_test ("/executor/journal/stuck", test_stuck);
  bench_test ("/executor/journal/acts", test_acts);
  g_test_add_func ("/executor/journal/hostile-names", test_hostile_names);
  return g_test_run ();
}
