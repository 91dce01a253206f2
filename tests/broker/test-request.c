/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a request: no edge but those of the design, kept before it acts, never half moved. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "tests/broker/sample.h"

#include <string.h>

/* Every edge there is, written out by hand; each other pair must be refused. */
static const RequestState edges[][2] = {
  { REQUEST_NEW, REQUEST_PENDING },
  { REQUEST_NEW, REQUEST_APPROVED },
  { REQUEST_PENDING, REQUEST_APPROVED },
  { REQUEST_PENDING, REQUEST_DENIED },
  { REQUEST_PENDING, REQUEST_EXPIRED },
  { REQUEST_PENDING, REQUEST_WITHDRAWN },
  { REQUEST_PENDING, REQUEST_SUPERSEDED },
  { REQUEST_PENDING, REQUEST_UNREACHABLE },
  { REQUEST_PENDING, REQUEST_REFUSED },
  { REQUEST_APPROVED, REQUEST_EXECUTING },
  { REQUEST_APPROVED, REQUEST_REFUSED },
  { REQUEST_EXECUTING, REQUEST_DONE },
  { REQUEST_EXECUTING, REQUEST_FAILED },
  { REQUEST_EXECUTING, REQUEST_UNKNOWN },
  { REQUEST_UNKNOWN, REQUEST_DONE },
  { REQUEST_UNKNOWN, REQUEST_FAILED },
};

static gboolean
is_edge (RequestState from, RequestState to)
{
  for (guint i = 0; i < G_N_ELEMENTS (edges); i++)
    if (edges[i][0] == from && edges[i][1] == to)
      return TRUE;
  return FALSE;
}

static void
test_every_pair (void)
{
  for (guint from = 0; from < REQUEST_STATE_N; from++)
    for (guint to = 0; to < REQUEST_STATE_N; to++)
      {
        SampleHooks hooks;
        g_autoptr (Request) request = NULL;
        g_autoptr (GError) error = NULL;
        gboolean moved = FALSE;

        sample_hooks_init (&hooks);
        request = sample_request (SAMPLE_ID, &hooks.hooks);
        sample_put (request, (RequestState) from);
        moved = request_move (request, (RequestState) to, NULL, &error);

        if (is_edge ((RequestState) from, (RequestState) to))
          {
            g_assert_no_error (error);
            g_assert_true (moved);
            g_assert_cmpint (request->state, ==, to);
            g_assert_cmpuint (hooks.persisted, ==, 1);
            g_assert_cmpuint (hooks.moved, ==, 1);
            g_assert_cmpint (hooks.from, ==, from);
          }
        else
          {
            g_assert_false (moved);
            g_assert_error (error, US_ERROR, US_ERROR_WRONG_STATE);
            g_assert_cmpint (request->state, ==, from);
            g_assert_cmpuint (hooks.persisted + hooks.moved, ==, 0);
          }
      }
  g_assert_false (request_state_may_follow (REQUEST_PENDING, REQUEST_STATE_N));
  g_assert_false (request_state_may_follow (REQUEST_STATE_N, REQUEST_DONE));
}

/* Of what is handed over only the ledger says that it was denied, and it says nothing else of it. */
static void
test_in_ledger (void)
{
  static const RequestChange change = { .in_ledger = TRUE };

  for (guint to = 0; to < REQUEST_STATE_N; to++)
    {
      SampleHooks hooks;
      g_autoptr (Request) request = NULL;
      g_autoptr (GError) error = NULL;
      gboolean moved = FALSE;

      sample_hooks_init (&hooks);
      request = sample_request (SAMPLE_ID, &hooks.hooks);
      sample_put (request, REQUEST_APPROVED);
      moved = request_move (request, (RequestState) to, &change, &error);
      g_assert_cmpint (moved, ==,
                       to == REQUEST_DENIED || is_edge (REQUEST_APPROVED, (RequestState) to));
      g_assert_cmpint (request->state, ==, moved ? to : REQUEST_APPROVED);
    }
}

static void
test_not_kept (void)
{
  static const RequestChange change = {
    .reason = "reason", .result = "result", .by = "by", .successor = SAMPLE_OTHER_ID
  };
  SampleHooks hooks;
  g_autoptr (Request) request = NULL;
  g_autoptr (GError) error = NULL;

  sample_hooks_init (&hooks);
  request = sample_request (SAMPLE_ID, &hooks.hooks);
  sample_put (request, REQUEST_PENDING);
  hooks.fails = TRUE;
  g_assert_false (request_move (request, REQUEST_DENIED, &change, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_cmpint (request->state, ==, REQUEST_PENDING);
  g_assert_cmpuint (hooks.moved, ==, 0);
  g_assert_cmpstr (request->reason, ==, "");
  g_assert_cmpstr (request->result, ==, "");
  g_assert_cmpstr (request->by, ==, "");
  g_assert_cmpstr (request->successor, ==, "");
  g_assert_false (request->close_is_due);
  g_assert_cmpint (request->ended, ==, 0);

  hooks.fails = FALSE;
  g_clear_error (&error);
  g_assert_true (request_move (request, REQUEST_DENIED, &change, &error));
  g_assert_cmpstr (request->reason, ==, "reason");
  g_assert_cmpstr (request->by, ==, "by");
  g_assert_true (request->close_is_due);
  g_assert_cmpint (request->ended, >, 0);
}

static Request *
sample_keyed (const SampleHooks *hooks)
{
  Request *request = sample_request (SAMPLE_ID, &hooks->hooks);

  sample_put (request, REQUEST_REFUSED);
  g_free (request->key);
  g_free (request->key_digest);
  request->key = g_strdup ("key");
  request->key_digest = g_strdup ("digest");
  request->key_names_id = TRUE;
  return request;
}

static void
assert_has_key (const Request *request, gboolean has, gboolean names_id)
{
  g_assert_cmpstr (request->key, ==, has ? "key" : "");
  g_assert_cmpstr (request->key_digest, ==, has ? "digest" : "");
  g_assert_cmpint (request->key_names_id, ==, names_id);
}

/* The key goes on with the wish, and both are kept at once or everything is as it was. */
static void
test_in_place (void)
{
  SampleHooks hooks;
  g_autoptr (Request) refused = NULL;
  g_autoptr (Request) successor = NULL;
  g_autoptr (GError) error = NULL;
  RequestChange change = { 0 };

  sample_hooks_init (&hooks);
  refused = sample_keyed (&hooks);
  successor = sample_request (SAMPLE_OTHER_ID, &hooks.hooks);
  change.in_place_of = refused;
  hooks.fails = TRUE;
  g_assert_false (request_move (successor, REQUEST_PENDING, &change, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_true (hooks.with == refused);
  assert_has_key (refused, TRUE, TRUE);
  assert_has_key (successor, FALSE, FALSE);
  g_assert_cmpstr (refused->successor, ==, "");
  g_assert_cmpint (successor->state, ==, REQUEST_NEW);

  hooks.fails = FALSE;
  g_clear_error (&error);
  g_assert_true (request_move (successor, REQUEST_PENDING, &change, &error));
  g_assert_true (hooks.with == refused);
  g_assert_cmpuint (hooks.persisted, ==, 1);
  assert_has_key (refused, FALSE, FALSE);
  assert_has_key (successor, TRUE, FALSE);
  g_assert_cmpstr (refused->successor, ==, SAMPLE_OTHER_ID);
  g_assert_cmpint (refused->state, ==, REQUEST_REFUSED);

  /* Any other move is of one alone. */
  g_assert_true (request_move (successor, REQUEST_WITHDRAWN, NULL, &error));
  g_assert_null (hooks.with);
  assert_has_key (successor, TRUE, FALSE);
}

/* What the agent reads of each state. */
static void
test_words (void)
{
  static const struct
  {
    RequestState state;
    const char *name, *executed;
    gboolean ended, closed;
  } words[] = {
    { REQUEST_PENDING, "pending", "no", FALSE, FALSE },
    { REQUEST_APPROVED, "approved", "unknown", FALSE, FALSE },
    { REQUEST_EXECUTING, "executing", "unknown", FALSE, FALSE },
    { REQUEST_DONE, "done", "yes", TRUE, FALSE },
    { REQUEST_FAILED, "failed", "no", TRUE, FALSE },
    { REQUEST_UNKNOWN, "unknown", "unknown", TRUE, FALSE },
    { REQUEST_DENIED, "denied", "no", TRUE, TRUE },
    { REQUEST_EXPIRED, "expired", "no", TRUE, TRUE },
    { REQUEST_WITHDRAWN, "withdrawn", "no", TRUE, TRUE },
    { REQUEST_SUPERSEDED, "superseded", "no", TRUE, TRUE },
    { REQUEST_UNREACHABLE, "unreachable", "no", TRUE, TRUE },
    { REQUEST_REFUSED, "refused", "no", TRUE, FALSE },
  };
  RequestState state = REQUEST_NEW;

  g_assert_cmpuint (G_N_ELEMENTS (words), ==, REQUEST_STATE_N - 1);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_assert_cmpstr (request_state_name (words[i].state), ==, words[i].name);
      g_assert_cmpstr (request_state_executed (words[i].state), ==, words[i].executed);
      g_assert_cmpint (request_state_has_ended (words[i].state), ==, words[i].ended);
      g_assert_cmpint (request_state_was_closed (words[i].state), ==, words[i].closed);
      g_assert_true (request_state_parse (words[i].name, &state));
      g_assert_cmpint (state, ==, words[i].state);
    }
  g_assert_false (request_state_parse ("new", &state));
  g_assert_false (request_state_parse ("", &state));
  g_assert_false (request_state_parse ("Pending", &state));
}

static void
assert_prepared_refused (const char *id, uid_t uid, GVariant *prepared)
{
  SampleHooks hooks;
  g_autoptr (Request) request = NULL;
  g_autoptr (GVariant) owned = g_variant_ref_sink (prepared);
  g_autoptr (GVariant) requirements = g_variant_ref_sink (sample_requirements ());
  g_autoptr (GError) error = NULL;

  sample_hooks_init (&hooks);
  request = request_new (id, uid, &hooks.hooks);
  g_assert_false (request_set_prepared (request, owned, requirements, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  g_assert_null (request->record);
}

/* A record of another request, agent or run is not taken for this one's. */
static void
test_foreign_record (void)
{
  assert_prepared_refused (SAMPLE_OTHER_ID, SAMPLE_AGENT, sample_prepared (SAMPLE_ID, SAMPLE_RUN));
  assert_prepared_refused (SAMPLE_ID, SAMPLE_AGENT + 1, sample_prepared (SAMPLE_ID, SAMPLE_RUN));
}

static void
test_paths (void)
{
  static const char *const bad[] = {
    "/org/undersign1",
    "/org/undersign1/request",
    "/org/undersign1/request/",
    "/org/undersign1/request/0123456789abcdef0123456789abcde",
    "/org/undersign1/request/0123456789abcdef0123456789abcdeff",
    "/org/undersign1/request/0123456789ABCDEF0123456789abcdef",
    "/org/undersign1/request/0123456789abcdef0123456789abcdef/x",
    "/org/undersign2/request/0123456789abcdef0123456789abcdef",
  };
  g_autofree char *path = request_path_of (SAMPLE_ID);

  g_assert_cmpstr (request_id_of (path), ==, SAMPLE_ID);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_null (request_id_of (bad[i]));
}

static void
test_approvers (void)
{
  SampleHooks hooks;
  g_autoptr (Request) request = NULL;
  g_autofree char *name = NULL;
  g_autoptr (GVariant) none = NULL;
  g_autoptr (GVariant) own = NULL;
  g_autoptr (GVariant) others = NULL;
  static const guint8 first[] = { 1, 2 };
  static const guint8 second[] = { 3 };
  g_autoptr (GBytes) id = g_bytes_new_static (first, sizeof first);
  g_autoptr (GBytes) foreign = g_bytes_new_static (second, sizeof second);

  sample_hooks_init (&hooks);
  request = sample_request (SAMPLE_ID, &hooks.hooks);
  g_assert_cmpuint (request->needed, ==, 1);
  g_assert_true (request_approver (request, SAMPLE_PERSON, &name));
  g_assert_cmpstr (name, ==, "hr.jones");
  g_assert_false (request_approver (request, SAMPLE_AGENT, NULL));
  g_assert_false (request_approver (request, 0, NULL));

  none = request_credentials (request, SAMPLE_AGENT);
  g_assert_cmpuint (g_variant_n_children (none), ==, 0);
  own = request_credential (request, SAMPLE_PERSON, id);
  g_assert_nonnull (own);
  others = request_credential (request, SAMPLE_PERSON, foreign);
  g_assert_null (others);
}

static void
add_statement (Request *request, uid_t uid, gboolean approves, const char *text)
{
  IssuedStatement *statement = g_new0 (IssuedStatement, 1);

  statement->uid = uid;
  statement->approves = approves;
  statement->credential = g_bytes_new_static ("c", 1);
  statement->bytes = g_bytes_new (text, strlen (text));
  request_add_statement (request, statement);
}

static gboolean
has_statement (const Request *request, uid_t uid, gboolean approves, const char *text)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

  return request_find_statement (request, uid, approves, bytes) != NULL;
}

/* A statement is found by its person, decision and bytes together, and the oldest one goes. */
static void
test_statements (void)
{
  SampleHooks hooks;
  g_autoptr (Request) request = NULL;

  sample_hooks_init (&hooks);
  request = sample_request (SAMPLE_ID, &hooks.hooks);
  add_statement (request, 1, TRUE, "a");
  add_statement (request, 2, TRUE, "z");
  g_assert_true (has_statement (request, 1, TRUE, "a"));
  g_assert_false (has_statement (request, 2, TRUE, "a"));
  g_assert_false (has_statement (request, 1, FALSE, "a"));
  g_assert_false (has_statement (request, 1, TRUE, "aa"));

  add_statement (request, 1, TRUE, "b");
  add_statement (request, 1, FALSE, "c");
  add_statement (request, 1, TRUE, "d");
  g_assert_true (has_statement (request, 1, TRUE, "a"));
  add_statement (request, 1, TRUE, "e");
  g_assert_false (has_statement (request, 1, TRUE, "a"));
  g_assert_true (has_statement (request, 1, TRUE, "b"));
  g_assert_true (has_statement (request, 1, TRUE, "e"));
  g_assert_true (has_statement (request, 2, TRUE, "z"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/request/every-pair", test_every_pair);
  g_test_add_func ("/request/in-ledger", test_in_ledger);
  g_test_add_func ("/request/not-kept", test_not_kept);
  g_test_add_func ("/request/in-place", test_in_place);
  g_test_add_func ("/request/words", test_words);
  g_test_add_func ("/request/foreign-record", test_foreign_record);
  g_test_add_func ("/request/paths", test_paths);
  g_test_add_func ("/request/approvers", test_approvers);
  g_test_add_func ("/request/statements", test_statements);
  return g_test_run ();
}
