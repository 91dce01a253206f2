/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records, statements, hostile values and cards against tests/vectors/record. */
#include "tests/record/vectors.h"

#include "service/base/encode.h"
#include "service/record/rows.h"
#include "service/record/statement.h"
#include "service/record/type.h"
#include "tests/record/sample.h"

#include <string.h>

static void
assert_bytes_are (const JsonTree *entry, GBytes *bytes, const char *text)
{
  if (g_bytes_get_size (bytes) != strlen (text) ||
      memcmp (g_bytes_get_data (bytes, NULL), text, strlen (text)) != 0)
    g_error ("%s: %.*s is not %s", vectors_text (entry, "id"), (int) g_bytes_get_size (bytes),
             (const char *) g_bytes_get_data (bytes, NULL), text);
}

static void
assert_digest_is (const JsonTree *entry, const guint8 *digest, const char *name)
{
  g_autofree char *text = digest_to_string (digest);

  g_assert_cmpstr (text, ==, vectors_text (entry, name));
}

static void
check_good_record (const JsonTree *entry, const Record *record)
{
  g_autoptr (GBytes) canonical = json_tree_write (json_tree_member (entry, "input"));
  g_autofree char *fingerprint = record_fingerprint (record);

  assert_bytes_are (entry, canonical, vectors_text (entry, "record"));
  assert_digest_is (entry, record_digest (record), "digest");
  assert_digest_is (entry, record_intent (record), "intent");
  g_assert_cmpstr (fingerprint, ==, vectors_text (entry, "fingerprint"));
}

static void
test_records (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("records.json");
  g_autoptr (GHashTable) intents = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);
      const char *same = json_tree_get_string (entry, "same_intent");
      g_autoptr (GBytes) bytes = vectors_bytes (entries, entry, "record");
      g_autoptr (GError) error = NULL;
      g_autoptr (Record) record = record_decode (bytes, &error);

      vectors_assert_verdict (entry, error);
      if (json_tree_member (entry, "input") == NULL)
        continue;
      check_good_record (entry, record);
      if (same != NULL)
        g_assert_cmpstr (vectors_text (entry, "intent"), ==,
                         vectors_text (vectors_find (entries, same), "intent"));
      else
        g_assert_true (g_hash_table_add (intents, (gpointer) vectors_text (entry, "intent")));
    }
}

static void
test_statements (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("statements.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);
      g_autoptr (GBytes) bytes = vectors_bytes (entries, entry, "statement");
      g_autoptr (GError) error = NULL;
      g_autoptr (Statement) statement = statement_decode (bytes, &error);
      g_autoptr (GBytes) again = NULL;
      g_autofree char *hex = NULL;
      guint8 challenge[PAE_DIGEST_SIZE];

      vectors_assert_verdict (entry, error);
      if (statement == NULL)
        continue;
      again = statement_encode (statement, &error);
      g_assert_no_error (error);
      g_assert_true (g_bytes_equal (bytes, again));
      if (json_tree_member (entry, "input") == NULL)
        continue;
      statement_challenge (bytes, challenge);
      hex = hex_encode (challenge, sizeof challenge);
      g_assert_cmpstr (hex, ==, vectors_text (entry, "challenge"));
    }
}

static void
test_policy (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("policy.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);
      g_autoptr (GBytes) body = json_tree_write (json_tree_member (entry, "files"));
      guint8 digest[PAE_DIGEST_SIZE];

      assert_bytes_are (entry, body, vectors_text (entry, "preimage"));
      pae_sha256 (PAE_TYPE_POLICY, body, digest);
      assert_digest_is (entry, digest, "digest");
    }
}

/* Those of one section, where a vector gives no others. */
static JsonTree *
rows_of_section (const Rows *rows, const char *section)
{
  g_autoptr (JsonTree) all = rows_to_tree (rows);
  JsonTree *some = json_tree_new_array ();

  for (guint i = 0; i < json_tree_length (all); i++)
    if (section == NULL ||
        g_strcmp0 (json_tree_get_string (json_tree_item (all, i), "section"), section) == 0)
      json_tree_append (some, json_tree_copy (json_tree_item (all, i)));
  return some;
}

static void
check_rows (const JsonTree *entry, const Rows *rows)
{
  const JsonTree *expected = json_tree_member (entry, "rows");
  g_autoptr (JsonTree) tree = rows_of_section (rows, json_tree_get_string (entry, "section"));

  g_test_message ("%s", vectors_text (entry, "id"));
  g_assert_cmpstr (rows->deny_only, ==, json_tree_get_string (entry, "deny_only"));
  if (expected != NULL && !json_tree_equal (tree, expected))
    {
      g_autoptr (GBytes) got = json_tree_write (tree);

      g_error ("%s: got %.*s", vectors_text (entry, "id"), (int) g_bytes_get_size (got),
               (const char *) g_bytes_get_data (got, NULL));
    }
}

static void
test_rows (void)
{
  g_autoptr (JsonTree) records = vectors_read ("records.json");
  g_autoptr (JsonTree) entries = vectors_read ("rows.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);
      const char *old_id = json_tree_get_string (entry, "superseded");
      g_autoptr (GBytes) bytes =
          vectors_bytes (records, vectors_find (records, vectors_text (entry, "record")), "record");
      g_autoptr (GBytes) old_bytes =
          old_id != NULL ? vectors_bytes (records, vectors_find (records, old_id), "record") : NULL;
      g_autoptr (Record) record = record_decode (bytes, NULL);
      g_autoptr (Record) superseded = old_bytes != NULL ? record_decode (old_bytes, NULL) : NULL;
      g_autoptr (Rows) rows = NULL;

      g_assert_nonnull (record);
      g_assert_true ((old_id != NULL) == (superseded != NULL));
      rows = rows_new (record, superseded);
      check_rows (entry, rows);
    }
}

/* The row of one value: a record with it alone, labelled "Value". */
static void
check_shown (const JsonTree *entry)
{
  g_autoptr (RecordBuilder) builder = sample_envelope ();
  g_autoptr (Record) record = NULL;
  g_autoptr (Rows) rows = NULL;
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (GError) error = NULL;
  const JsonTree *deny_only = json_tree_member (entry, "deny_only");
  gboolean empty = FALSE, expected_empty = FALSE;

  record_builder_executor (builder, "null", "");
  record_builder_argument (builder, "value", "Value", vectors_text (entry, "type"),
                           json_tree_copy (json_tree_member (entry, "value")));
  record = record_builder_end (builder, &error);
  g_assert_no_error (error);
  rows = rows_new (record, NULL);
  tree = rows_to_tree (rows);

  for (guint i = 0; i < json_tree_length (tree); i++)
    {
      const JsonTree *row = json_tree_item (tree, i);

      if (strcmp (json_tree_get_string (row, "section"), "argument") != 0)
        continue;
      json_tree_boolean (json_tree_member (row, "empty"), &empty);
      json_tree_boolean (json_tree_member (entry, "empty"), &expected_empty);
      if (!json_tree_equal (json_tree_member (row, "lines"), json_tree_member (entry, "lines")) ||
          !json_tree_equal (json_tree_member (row, "notes"), json_tree_member (entry, "notes")))
        {
          g_autoptr (GBytes) got = json_tree_write (row);

          g_error ("%s: got %.*s", vectors_text (entry, "id"), (int) g_bytes_get_size (got),
                   (const char *) g_bytes_get_data (got, NULL));
        }
      g_assert_true (empty == expected_empty);
    }
  g_assert_cmpstr (rows->deny_only, ==, json_tree_string (deny_only));
}

static void
check_value (const JsonTree *entry)
{
  const Type *type = type_find (vectors_text (entry, "type"));
  g_autoptr (JsonTree) value = vectors_value (entry);
  g_autoptr (GError) error = NULL;

  type_check (type, "value", value, &error);
  vectors_assert_verdict (entry, error);
  if (json_tree_member (entry, "canonical") != NULL)
    {
      g_autofree char *named = g_strdup_printf ("\"%s\"", vectors_text (entry, "canonical"));

      g_assert_nonnull (strstr (error->message, named));
    }
  if (json_tree_member (entry, "says") != NULL &&
      strstr (error->message, vectors_text (entry, "says")) == NULL)
    g_error ("%s: %s", vectors_text (entry, "id"), error->message);
}

/* The canonical spelling that an error names is accepted: an agent can simply use it. */
static void
check_canonical (const JsonTree *entry)
{
  const Type *type = type_find (vectors_text (entry, "type"));
  g_autoptr (JsonTree) value = NULL;

  if (json_tree_member (entry, "canonical") == NULL || type_wire (type) != TYPE_WIRE_STRING)
    return;
  value = json_tree_new_string (vectors_text (entry, "canonical"));
  g_assert_true (type_check (type, "value", value, NULL));
}

static void
test_values (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("values.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      check_value (json_tree_item (entries, i));
      check_canonical (json_tree_item (entries, i));
    }
}

static void
check_json (const JsonTree *entry)
{
  static const JsonLimits limits = { 4096, 4, 4096, 100 };
  g_autoptr (GBytes) bytes = vectors_bytes (NULL, entry, "json");
  g_autoptr (GError) error = NULL;
  gsize len;
  const char *text = g_bytes_get_data (bytes, &len);
  g_autoptr (JsonTree) tree = json_tree_parse (text, len, &limits, &error);

  vectors_assert_verdict (entry, error);
}

static void
check_record (const JsonTree *records, const JsonTree *entry)
{
  g_autoptr (GBytes) bytes = vectors_bytes (records, entry, "record");
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = record_decode (bytes, &error);

  vectors_assert_verdict (entry, error);
}

static void
test_hostile (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("hostile.json");
  g_autoptr (JsonTree) records = vectors_read ("records.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);

      if (json_tree_member (entry, "type") == NULL)
        {
          if (json_tree_member (entry, "of") != NULL)
            check_record (records, entry);
          else
            check_json (entry);
          continue;
        }
      check_value (entry);
      if (strcmp (vectors_text (entry, "verdict"), "ok") == 0)
        check_shown (entry);
    }
}

static void
test_shown (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("shown.json");

  g_assert_cmpuint (json_tree_length (entries), >, 0);
  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      check_value (json_tree_item (entries, i));
      check_shown (json_tree_item (entries, i));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vectors/values", test_values);
  g_test_add_func ("/vectors/policy", test_policy);
  g_test_add_func ("/vectors/records", test_records);
  g_test_add_func ("/vectors/statements", test_statements);
  g_test_add_func ("/vectors/rows", test_rows);
  g_test_add_func ("/vectors/hostile", test_hostile);
  g_test_add_func ("/vectors/shown", test_shown);
  return g_test_run ();
}
