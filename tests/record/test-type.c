/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of types and its limits; test-vectors.c holds each type against what it must refuse. */
#include "service/record/type.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/record/sample.h"
#include "tests/record/vectors.h"

#include <string.h>

static void
assert_refused (const GError *error, const char *reason, const char *text, const char *about)
{
  if (!us_error_has_reason (error, reason) ||
      (text != NULL && strstr (error->message, text) == NULL))
    g_error ("%s: expected %s with \"%s\", got: %s", about, reason, text != NULL ? text : "",
             error != NULL ? error->message : "accepted");
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_INVALID_ARGUMENT));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}

/* A refusal does not change what it refuses, and names the argument. */
static void
test_never_rewritten (void)
{
  g_autoptr (JsonTree) value = json_tree_new_string ("a@EXAMPLE.com");
  g_autoptr (JsonTree) before = json_tree_copy (value);
  g_autoptr (GError) error = NULL;

  g_assert_false (type_check (type_find ("email"), "reply-to", value, &error));
  assert_refused (error, US_REASON_NOT_CANONICAL,
                  "not-canonical: reply-to: the canonical spelling is \"a@example.com\"", "email");
  g_assert_true (json_tree_equal (value, before));
}

static void
test_absent (void)
{
  const Type *type;

  for (guint i = 0; (type = type_at (i)) != NULL; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (type_check (type, "arg", NULL, &error));
      assert_refused (error, US_REASON_WRONG_TYPE, "arg", type_name (type));
    }
}

static void
test_limits (void)
{
  g_autofree char *longest = g_strnfill (RECORD_MAX_STRING, 'a');
  g_autofree char *longer = g_strnfill (RECORD_MAX_STRING + 1, 'a');
  g_autoptr (JsonTree) fits = json_tree_new_string (longest);
  g_autoptr (JsonTree) over = json_tree_new_string (longer);
  g_autoptr (JsonTree) items = json_tree_new_array ();
  g_autoptr (JsonTree) files = json_tree_new_array ();
  g_autoptr (GError) error = NULL;

  g_assert_true (type_check (type_find ("text"), "body", fits, NULL));
  g_assert_false (type_check (type_find ("text"), "body", over, &error));
  assert_refused (error, US_REASON_TOO_LARGE, "body: longer than 65536 bytes", "text");
  g_clear_error (&error);

  for (guint i = 0; i < RECORD_MAX_ITEMS; i++)
    json_tree_append_string (items, "x");
  g_assert_true (type_check (type_find ("argv"), "list", items, NULL));
  json_tree_append_string (items, "x");
  g_assert_false (type_check (type_find ("argv"), "list", items, &error));
  assert_refused (error, US_REASON_TOO_LARGE, "list: more than 1000 items", "argv");
  g_clear_error (&error);

  for (guint i = 0; i <= RECORD_MAX_FILES; i++)
    {
      g_autofree char *file =
          g_strdup_printf ("{\"name\":\"%u\",\"size\":\"1\",\"sha256\":\"" SAMPLE_SHA256 "\"}", i);

      if (i == RECORD_MAX_FILES)
        g_assert_true (type_check (type_find ("file-list"), "files", files, NULL));
      json_tree_append (files, sample_json (file));
    }
  g_assert_false (type_check (type_find ("file-list"), "files", files, &error));
  assert_refused (error, US_REASON_TOO_LARGE, "files: more than 16 items", "file-list");
}

static void
test_table (void)
{
  static const char *const names[] = { "line",     "text",    "boolean", "integer",    "decimal",
                                       "money",    "account", "email",   "email-list", "hostname",
                                       "hostport", "url",     "path",    "choice",     "timestamp",
                                       "duration", "size",    "file",    "file-list",  "line-list",
                                       "argv" };
  guint n = 0;

  for (const Type *type = type_at (n); type != NULL; type = type_at (++n))
    {
      g_autoptr (JsonTree) empty = type_empty (type);
      g_autoptr (JsonTree) schema = type_schema (type);
      g_autoptr (GBytes) bytes = json_tree_write (schema);

      g_assert_cmpstr (type_name (type), ==, names[n]);
      g_assert_true (type_find (names[n]) == type);
      g_assert_true (g_variant_type_string_is_valid (type_signature (type)));
      g_assert_nonnull (bytes);
      g_assert_nonnull (json_tree_get_string (schema, "type"));
      if (empty == NULL)
        g_assert_cmpint (type_wire (type), ==, TYPE_WIRE_FILE);
      else
        {
          g_assert_true (type_check (type, "arg", empty, NULL));
          g_assert_true (type_is_empty (type, empty) == (type_wire (type) != TYPE_WIRE_BOOLEAN));
        }
      g_assert_false (type_is_empty (type, NULL));
    }
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (names));
  g_assert_null (type_find ("Line"));
  g_assert_null (type_find (""));
}

/* A value that the type accepts matches the schema that agents are given. */
static void
test_schema_accepts_values (void)
{
  g_autoptr (JsonTree) entries = vectors_read ("values.json");

  for (guint i = 0; i < json_tree_length (entries); i++)
    {
      const JsonTree *entry = json_tree_item (entries, i);
      g_autoptr (JsonTree) schema = type_schema (type_find (vectors_text (entry, "type")));
      const char *pattern = json_tree_get_string (schema, "pattern");
      const char *value = json_tree_get_string (entry, "value");

      if (pattern != NULL && value != NULL && value[0] != '\0' &&
          strcmp (vectors_text (entry, "verdict"), "ok") == 0)
        g_assert_true (g_regex_match_simple (pattern, value, 0, 0));
    }
}

static const struct
{
  const char *type, *a, *b;
  int order; /* 9: cannot be compared */
} compared[] = {
  { "integer", "5", "5", 0 },
  { "integer", "5", "10", -1 },
  { "integer", "-5", "-10", 1 },
  { "integer", "-5", "5", -1 },
  { "integer", "0", "-1", 1 },
  { "integer", "18446744073709551616", "18446744073709551615", 1 },
  { "integer", "5", "", 9 },
  { "integer", "5", "05", 9 },
  { "decimal", "1.5", "1.25", 1 },
  { "decimal", "1.5", "1.55", -1 },
  { "decimal", "1", "1.01", -1 },
  { "decimal", "-1", "-1.01", 1 },
  { "decimal", "9.9", "10", -1 },
  { "money", "9.50 EUR", "10.00 EUR", -1 },
  { "money", "10.00 EUR", "10.00 EUR", 0 },
  { "money", "10.00 EUR", "1.00 USD", 9 },
  { "size", "100", "99", 1 },
  { "duration", "90s", "1min", 1 },
  { "duration", "1d", "23h", 1 },
  { "timestamp", "2026-11-30T09:00:00Z", "2026-11-30T09:00:01Z", -1 },
  { "timestamp", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", -1 },
  { "line", "a", "b", 9 },
  { "email", "a@x.org", "b@x.org", 9 },
  { "boolean", "true", "false", 9 },
};

static void
test_compare (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (compared); i++)
    {
      const Type *type = type_find (compared[i].type);
      int order = 9, reverse = 9;

      g_assert_true (type_compare (type, compared[i].a, compared[i].b, &order) ==
                     (compared[i].order != 9));
      type_compare (type, compared[i].b, compared[i].a, &reverse);
      g_assert_cmpint (order, ==, compared[i].order);
      g_assert_cmpint (reverse, ==, order == 9 ? 9 : -order);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/type/never-rewritten", test_never_rewritten);
  g_test_add_func ("/type/absent", test_absent);
  g_test_add_func ("/type/limits", test_limits);
  g_test_add_func ("/type/table", test_table);
  g_test_add_func ("/type/schema-accepts-values", test_schema_accepts_values);
  g_test_add_func ("/type/compare", test_compare);
  return g_test_run ();
}
