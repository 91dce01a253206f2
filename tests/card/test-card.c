/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The card as data: what the service says is checked against the record's bytes, each reason why a
 * card can only be denied is told, and a statement that says anything else is not signed.
 */
#include "module/card/model/card.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "tests/card/details.h"
#include "tests/record/sample.h"

#include <string.h>

#define WALL G_GINT64_CONSTANT (1796030000) /* 2026-11-30 */

typedef struct
{
  Record *record;
  GBytes *credential;
  GVariantDict *details;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->record = sample_record ();
  fixture->credential = g_bytes_new ("0123456789abcdef", 16);
  fixture->details = test_details (fixture->record, fixture->credential, "software");
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  record_unref (fixture->record);
  g_bytes_unref (fixture->credential);
  g_variant_dict_unref (fixture->details);
}

static Card *
make (Fixture *fixture, GError **error)
{
  g_autoptr (GVariant) details = g_variant_ref_sink (g_variant_dict_end (fixture->details));
  Card *card = card_new (TEST_REQUEST, record_bytes (fixture->record), details, SAMPLE_HOST, error);

  g_variant_dict_init (fixture->details, details);
  return card;
}

static Card *
make_good (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  Card *card = make (fixture, &error);

  g_assert_no_error (error);
  return card;
}

static void
add_superseded (Fixture *fixture, const Record *record)
{
  GBytes *bytes = record_bytes (record);

  g_variant_dict_insert (fixture->details, "supersedes", "o",
                         "/org/undersign1/request/" TEST_SUPERSEDED);
  g_variant_dict_insert_value (fixture->details, "superseded",
                               g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE));
}

static void
test_plain (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Card) card = make_good (fixture);
  g_autofree char *fingerprint = record_fingerprint (fixture->record);
  const CardCredential *credential;
  guint counted, needed, rows = 0;

  g_assert_null (card_deny_only (card));
  g_assert_cmpstr (card_fingerprint (card), ==, fingerprint);
  g_assert_cmpstr (card_request (card), ==, TEST_REQUEST);
  card_answers (card, &counted, &needed);
  g_assert_cmpuint (counted, ==, 0);
  g_assert_cmpuint (needed, ==, 1);
  g_assert_cmpuint (card_seconds_left (card, 0), ==, 1000);
  g_assert_cmpuint (card_seconds_left (card, G_MAXUINT64), ==, 0);
  g_assert_cmpuint (card_history (card)->len, ==, 1);
  credential = g_ptr_array_index (card_credentials (card), 0);
  g_assert_true (g_bytes_equal (credential->id, fixture->credential));

  /* every row of the record layer is in one section */
  {
    Rows *all = rows_new (fixture->record, NULL);

    for (RowSection section = ROW_SUMMARY; section <= ROW_CLAIM; section++)
      rows += card_rows (card, section)->len;
    g_assert_cmpuint (rows, ==, all->rows->len);
    rows_free (all);
  }
  g_assert_cmpuint (card_rows (card, ROW_ARGUMENT)->len, ==, 5);
  g_assert_cmpuint (card_rows (card, ROW_CHANGE)->len, ==, 0);
}

/* The digest is worked out here and must be the one that the service names. */
static void
test_tampered_record (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) changed = sample_replace ("security@example.com", "security@example.org");
  g_autoptr (GVariant) details = g_variant_ref_sink (g_variant_dict_end (fixture->details));
  g_autoptr (GError) error = NULL;

  g_assert_null (card_new (TEST_REQUEST, changed, details, SAMPLE_HOST, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_RECORD_CHANGED));
  g_variant_dict_init (fixture->details, NULL);
}

static void
test_broken_record (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GVariant) details = g_variant_ref_sink (g_variant_dict_end (fixture->details));
  gsize len;
  const char *text = g_bytes_get_data (record_bytes (fixture->record), &len);
  g_autoptr (GBytes) cut = g_bytes_new (text, len - 1);
  g_autoptr (GError) error = NULL;

  g_assert_null (card_new (TEST_REQUEST, cut, details, SAMPLE_HOST, &error));
  g_assert_nonnull (error);
  g_variant_dict_init (fixture->details, NULL);
}

/* A member that is missing or of another type is no card. */
static void
test_details_form (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "state",    "digest",      "expires", "deadline",
                                       "answered", "answers",     "needed",  "attempts",
                                       "again",    "credentials", "history" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (guint wrong = 0; wrong < 2; wrong++)
      {
        g_autoptr (GError) error = NULL;

        g_variant_dict_unref (fixture->details);
        fixture->details = test_details (fixture->record, fixture->credential, "software");
        if (wrong)
          g_variant_dict_insert (fixture->details, names[i], "d", 1.0);
        else
          g_assert_true (g_variant_dict_remove (fixture->details, names[i]));
        g_assert_null (make (fixture, &error));
        g_test_message ("%s: %s", names[i], error->message);
        g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
      }
}

static void
test_details_values (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *name, *value;
  } cases[] = {
    { "expires", "'tomorrow'" },
    { "digest", "'sha256:00'" },
    { "refused", "true" },
    { "supersedes", "'/org/undersign1/request/" TEST_SUPERSEDED "'" },
    { "supersedes", "objectpath '/org/undersign1/request/" TEST_SUPERSEDED "'" },
    { "superseded", "b'x'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_variant_dict_unref (fixture->details);
      fixture->details = test_details (fixture->record, fixture->credential, "software");
      g_variant_dict_insert_value (fixture->details, cases[i].name,
                                   g_variant_new_parsed (cases[i].value));
      g_assert_null (make (fixture, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
    }
}

static void
assert_barred (Fixture *fixture, const char *name, const char *value, const char *why)
{
  g_autoptr (Card) card = NULL;

  g_variant_dict_unref (fixture->details);
  fixture->details = test_details (fixture->record, fixture->credential, "software");
  g_variant_dict_insert_value (fixture->details, name, g_variant_new_parsed (value));
  card = make_good (fixture);
  g_assert_nonnull (card_deny_only (card));
  g_assert_nonnull (strstr (card_deny_only (card), why));
  g_assert_nonnull (strstr (g_ptr_array_index (card_warnings (card), 0), why));
}

static void
test_deny_only (Fixture *fixture, gconstpointer data)
{
  assert_barred (fixture, "state", "'executing'", "no longer pending");
  assert_barred (fixture, "answered", "true", "has been counted");
  assert_barred (fixture, "attempts", "uint32 0", "no attempts");
}

static void
test_deny_only_record (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GVariant) details = g_variant_ref_sink (g_variant_dict_end (fixture->details));
  g_autoptr (GError) error = NULL;
  g_autoptr (Card) card = card_new (TEST_REQUEST, record_bytes (fixture->record), details,
                                    "ffffffffffffffffffffffffffffffff", &error);

  g_assert_no_error (error);
  g_assert_nonnull (strstr (card_deny_only (card), "another machine"));
  g_variant_dict_init (fixture->details, NULL);
}

/* What the service says beside the record is escaped too. */
static void
test_escapes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Card) card = NULL;
  const CardHistory *history;

  g_variant_dict_insert_value (fixture->details, "history",
                               g_variant_new_parsed ("[('safe\\u202etxt', '\\u001b[2Jdone')]"));
  g_variant_dict_insert (fixture->details, "refused", "s", "a\nb");
  card = make_good (fixture);
  history = g_ptr_array_index (card_history (card), 0);
  g_assert_cmpstr (history->summary, ==, "safe\\u{202E}txt");
  g_assert_cmpstr (history->state, ==, "\\u{001B}[2Jdone");
  g_assert_nonnull (strstr (g_ptr_array_index (card_warnings (card), 0), "a\\u{000A}b"));
}

static void
test_superseded (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) bytes = sample_replace ("security@example.com", "security@example.org");
  g_autoptr (Record) older = record_decode (bytes, NULL);
  g_autoptr (Card) plain = make_good (fixture), card = NULL;

  add_superseded (fixture, older);
  card = make_good (fixture);
  g_assert_cmpuint (card_rows (card, ROW_CHANGE)->len, ==, 1);
  g_assert_false (card_same (plain, card));
}

static void
test_same (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Card) card = make_good (fixture), again = make_good (fixture);
  g_autoptr (Card) counted = NULL;

  g_assert_true (card_same (card, again));
  g_variant_dict_insert (fixture->details, "answers", "u", 1);
  counted = make_good (fixture);
  g_assert_false (card_same (card, counted));
}

static void
test_json (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Card) card = make_good (fixture);
  g_autoptr (JsonTree) tree = card_to_tree (card);
  g_autoptr (GBytes) bytes = json_tree_write (tree);

  g_assert_nonnull (bytes);
  g_assert_cmpstr (json_tree_get_string (tree, "request"), ==, TEST_REQUEST);
  g_assert_cmpuint (json_tree_length (json_tree_member (tree, "rows")), >, 5);
}

/* --- the statement --- */

static gboolean
check (Fixture *fixture,
       const Record *superseded,
       void (*change) (Statement *statement),
       gint64 wall,
       guint64 boottime,
       GError **error)
{
  g_autoptr (Card) card = make_good (fixture);
  g_autoptr (GBytes) bytes =
      test_statement (fixture->record, superseded, fixture->credential, "it.lead", 1001, change);

  return card_check_statement (card, bytes, "approve",
                               g_ptr_array_index (card_credentials (card), 0), "it.lead", 1001,
                               wall, boottime, error);
}

static void
put (char **member, const char *value)
{
  g_free (*member);
  *member = g_strdup (value);
}

static void
change_decision (Statement *statement)
{
  put (&statement->decision, "deny");
}

static void
change_request (Statement *statement)
{
  put (&statement->request, TEST_SUPERSEDED);
}

static void
change_record (Statement *statement)
{
  statement->record[10] = statement->record[10] == '0' ? '1' : '0';
}

static void
change_name (Statement *statement)
{
  put (&statement->approver_name, "hr.jones");
}

static void
change_uid (Statement *statement)
{
  statement->approver_uid++;
}

static void
change_credential (Statement *statement)
{
  put (&statement->credential, "AAAA");
}

static void
change_rp (Statement *statement)
{
  put (&statement->rp, "undersign:ffffffffffffffffffffffffffffffff");
}

static void
change_expires (Statement *statement)
{
  put (&statement->expires, "2026-11-30T09:00:01Z");
}

static void
add_supersedes (Statement *statement)
{
  put (&statement->supersedes_request, TEST_SUPERSEDED);
  put (&statement->supersedes_digest, statement->record);
}

static void
test_statement_good (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (check (fixture, NULL, NULL, WALL, 0, &error));
  g_assert_no_error (error);
}

static void
test_statement_changed (Fixture *fixture, gconstpointer data)
{
  static void (*const changes[]) (Statement * statement) = {
    change_decision, change_request,    change_record, change_name,
    change_uid,      change_credential, change_rp,     add_supersedes,
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (check (fixture, NULL, changes[i], WALL, 0, &error));
      g_test_message ("%s", error->message);
      g_assert_true (us_error_has_reason (error, US_REASON_STATEMENT_CHANGED));
    }
}

static void
test_statement_expired (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) by_wall = NULL, by_boottime = NULL;

  g_assert_false (check (fixture, NULL, change_expires, WALL, 0, &by_wall));
  g_assert_true (us_error_has_reason (by_wall, US_REASON_DEADLINE_PASSED));
  g_assert_false (check (fixture, NULL, NULL, WALL, 1000000000, &by_boottime));
  g_assert_true (us_error_has_reason (by_boottime, US_REASON_DEADLINE_PASSED));
}

static void
test_statement_superseded (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GBytes) bytes = sample_replace ("security@example.com", "security@example.org");
  g_autoptr (Record) older = record_decode (bytes, NULL);
  g_autoptr (GError) error = NULL, absent = NULL, other = NULL;

  add_superseded (fixture, older);
  g_assert_true (check (fixture, older, NULL, WALL, 0, &error));
  g_assert_no_error (error);
  /* the statement does not name it, or names another record */
  g_assert_false (check (fixture, NULL, NULL, WALL, 0, &absent));
  g_assert_true (us_error_has_reason (absent, US_REASON_STATEMENT_CHANGED));
  g_assert_false (check (fixture, fixture->record, NULL, WALL, 0, &other));
  g_assert_true (us_error_has_reason (other, US_REASON_STATEMENT_CHANGED));
}

static void
test_statement_garbage (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Card) card = make_good (fixture);
  const CardCredential *credential = g_ptr_array_index (card_credentials (card), 0);
  static const char *const texts[] = { "", "{}", "approve", "[\"approve\"]" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (texts[i], strlen (texts[i]));
      g_autoptr (GError) error = NULL;

      g_assert_false (card_check_statement (card, bytes, "approve", credential, "it.lead", 1001,
                                            WALL, 0, &error));
      g_assert_nonnull (error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) g_test_add ("/card/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("plain", test_plain);
  ADD ("tampered-record", test_tampered_record);
  ADD ("broken-record", test_broken_record);
  ADD ("details-form", test_details_form);
  ADD ("details-values", test_details_values);
  ADD ("deny-only", test_deny_only);
  ADD ("deny-only-record", test_deny_only_record);
  ADD ("escapes", test_escapes);
  ADD ("superseded", test_superseded);
  ADD ("same", test_same);
  ADD ("json", test_json);
  ADD ("statement/good", test_statement_good);
  ADD ("statement/changed", test_statement_changed);
  ADD ("statement/expired", test_statement_expired);
  ADD ("statement/superseded", test_statement_superseded);
  ADD ("statement/garbage", test_statement_garbage);
  return g_test_run ();
}
