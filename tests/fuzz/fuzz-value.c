/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of every type, from the bus and from text, through the builder, the bytes and back.  The
 * input is lines: the first letter of each says the type, the rest is the value or an item of it; a
 * capital letter says that it comes from the bus as another type than that.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/record/type.h"
#include "tests/fuzz/check-record.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define HOST "00112233445566778899aabbccddeeff"
#define DIGEST "sha256:" HOST HOST

/* The spelling that a refusal names is never refused, and is the last word. */
static void
check_named (const Type *type, const GError *error)
{
  static const char before[] = ": the canonical spelling is \"";
  const char *named = strstr (error->message, before);
  g_autofree char *spelling = NULL;
  g_autoptr (JsonTree) value = NULL;

  if (!us_error_has_reason (error, US_REASON_NOT_CANONICAL) || named == NULL ||
      type_wire (type) != TYPE_WIRE_STRING)
    return;
  named += strlen (before);
  spelling = g_strndup (named, strlen (named) - 1);
  value = json_tree_new_string (spelling);
  g_assert (type_check (type, "value", value, NULL));
}

static GVariant *
variant_of (const Type *type, const char *text)
{
  switch (type_wire (type))
    {
    case TYPE_WIRE_BOOLEAN:
      return g_variant_new_boolean (text[0] == '1');
    case TYPE_WIRE_STRINGS:
      {
        g_auto (GStrv) items = g_strsplit (text, "\v", -1);

        return g_variant_new_strv ((const char *const *) items, -1);
      }
    case TYPE_WIRE_FILE:
      return g_variant_new ("(sh)", text, text[0] % 3);
    case TYPE_WIRE_FILES:
      return g_variant_new_parsed ("[(%s, %h), ('b', handle 1)]", text, text[0] % 3);
    case TYPE_WIRE_STRING:
    default:
      return g_variant_new_string (text);
    }
}

/* What the type says of itself holds for its empty value too. */
static void
check_type (const Type *type)
{
  g_autoptr (JsonTree) schema = type_schema (type);
  g_autoptr (JsonTree) empty = type_empty (type);

  g_assert (type_find (type_name (type)) == type && json_tree_get_string (schema, "type") != NULL);
  g_assert (empty == NULL || type_check (type, "empty", empty, NULL));
  g_assert (empty == NULL || type_is_empty (type, empty) == (type_wire (type) != TYPE_WIRE_BOOLEAN));
}

static void
check_wrong (const Type *type, const char *text)
{
  gboolean used[] = { FALSE };
  g_autoptr (GVariant) variant = g_variant_ref_sink (g_variant_new_bytestring (text));
  g_autoptr (GError) error = NULL;

  g_assert (type_from_variant (type, "value", variant, NULL, 0, used, &error) == NULL);
  g_assert (us_error_has_reason (error, US_REASON_WRONG_TYPE));
  refusal_seen (error);
}

static JsonTree *
value_of (const Type *type, const char *text)
{
  static const TypeFile files[] = { { 5, { 1 } }, { 1024, { 2 } } };
  gboolean used[] = { FALSE, FALSE };
  g_autoptr (GVariant) variant = g_variant_ref_sink (variant_of (type, text));
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) text_error = NULL;
  g_autoptr (JsonTree) from_text = type_from_text (type, "value", text, &text_error);
  JsonTree *value = type_from_variant (type, "value", variant, files, 2, used, &error);

  g_assert ((value == NULL) == (error != NULL));
  g_assert ((from_text == NULL) == (text_error != NULL));
  refusal_seen (error);
  refusal_seen (text_error);
  if (error != NULL)
    check_named (type, error);
  if (from_text != NULL)
    g_assert (type_check (type, "value", from_text, NULL));
  if (value != NULL)
    g_assert (type_check (type, "value", value, NULL));
  return value;
}

static RecordBuilder *
new_builder (void)
{
  RecordBuilder *builder = record_builder_new (HOST);

  record_builder_agent (builder, "a", 1000, "b", "main");
  record_builder_run (builder, HOST, "", NULL, 0);
  record_builder_action (builder, "null.run", "Do nothing", "read");
  record_builder_executor (builder, "null", "");
  record_builder_policy (builder, DIGEST);
  return builder;
}

/* Two values of one type that pass are in order, whichever way they are asked. */
static void
check_order (const Type *type, const JsonTree *a, const JsonTree *b)
{
  const char *x = json_tree_string (a), *y = json_tree_string (b);
  int order = 0, back = 0;

  if (x == NULL || y == NULL || !type_compare (type, x, y, &order))
    return;
  g_assert (type_compare (type, y, x, &back) && order == -back);
  g_assert ((order == 0) == (strcmp (x, y) == 0));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_auto (GStrv) lines = g_strsplit (text, "\n", 9);
  g_autoptr (RecordBuilder) builder = new_builder ();
  g_autoptr (JsonTree) last = NULL;
  g_autoptr (Record) record = NULL;
  const Type *last_type = NULL;

  if (!g_utf8_validate (text, -1, NULL))
    return 0;
  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      g_autofree char *name = g_strdup_printf ("v%u", i);
      const Type *type = type_at ((guint) (guchar) g_ascii_tolower (lines[i][0]) - 'a');
      gboolean wrong = type != NULL && g_ascii_isupper (lines[i][0]);
      JsonTree *value = type != NULL && !wrong ? value_of (type, lines[i] + 1) : NULL;

      if (type != NULL)
        check_type (type);
      if (wrong)
        check_wrong (type, lines[i] + 1);
      if (value == NULL)
        continue;
      if (type == last_type)
        check_order (type, last, value);
      json_tree_free (last);
      last = json_tree_copy (value);
      last_type = type;
      record_builder_argument (builder, name, "Value", type_name (type), value);
    }

  record = record_builder_end (builder, NULL);
  if (record != NULL)
    check_record (record);
  return 0;
}
