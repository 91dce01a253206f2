/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values off the bus and out of policy files: a wrong D-Bus type or handle is never "absent". */
#include "service/record/type.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static const TypeFile files[] = { { 5, { 0xab } }, { 7, { 0xcd } } };

/* The value as JSON, or the reason of the refusal. */
static const struct
{
  const char *type;
  const char *variant;
  const char *json;
  const char *reason;
} variants[] = {
  { "line", "'a'", "\"a\"", NULL },
  { "line", "''", "\"\"", NULL },
  { "line", "true", NULL, US_REASON_WRONG_TYPE },
  { "line", "@o '/a'", NULL, US_REASON_WRONG_TYPE },
  { "line", "@g 's'", NULL, US_REASON_WRONG_TYPE },
  { "line", "<'a'>", NULL, US_REASON_WRONG_TYPE },
  { "line", "b'a'", NULL, US_REASON_WRONG_TYPE },
  { "line", "['a']", NULL, US_REASON_WRONG_TYPE },
  { "line", "'a\\nb'", NULL, US_REASON_BAD_VALUE },
  { "integer", "5", NULL, US_REASON_WRONG_TYPE },
  { "integer", "uint64 5", NULL, US_REASON_WRONG_TYPE },
  { "integer", "'05'", NULL, US_REASON_NOT_CANONICAL },
  { "boolean", "true", "true", NULL },
  { "boolean", "'true'", NULL, US_REASON_WRONG_TYPE },
  { "boolean", "1", NULL, US_REASON_WRONG_TYPE },
  { "email-list", "@as []", "[]", NULL },
  { "email-list", "['a@x.org', 'b@x.org']", "[\"a@x.org\",\"b@x.org\"]", NULL },
  { "email-list", "'a@x.org'", NULL, US_REASON_WRONG_TYPE },
  { "email-list", "@av []", NULL, US_REASON_WRONG_TYPE },
  { "email-list", "[<'a@x.org'>]", NULL, US_REASON_WRONG_TYPE },
  { "file", "('a', handle 0)",
    "{\"name\":\"a\",\"sha256\":"
    "\"ab00000000000000000000000000000000000000000000000000000000000000\","
    "\"size\":\"5\"}",
    NULL },
  { "file", "('a', handle 2)", NULL, US_REASON_BAD_HANDLE },
  { "file", "('a', handle -1)", NULL, US_REASON_BAD_HANDLE },
  { "file", "('a', 0)", NULL, US_REASON_WRONG_TYPE },
  { "file", "'a'", NULL, US_REASON_WRONG_TYPE },
  { "file", "('', handle 0)", NULL, US_REASON_BAD_VALUE },
  { "file", "('a/b', handle 0)", NULL, US_REASON_BAD_VALUE },
  { "file-list", "@a(sh) []", "[]", NULL },
  { "file-list", "[('a', handle 0), ('b', handle 0)]", NULL, US_REASON_BAD_HANDLE },
  { "file-list", "[('a', handle 0), ('a', handle 1)]", NULL, US_REASON_BAD_VALUE },
};

static void
test_variants (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (variants); i++)
    {
      gboolean used[] = { FALSE, FALSE };
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) variant =
          g_variant_parse (NULL, variants[i].variant, NULL, NULL, &error);
      g_autoptr (JsonTree) value = NULL;
      g_autoptr (GBytes) bytes = NULL;

      g_assert_no_error (error);
      g_test_message ("%s %s", variants[i].type, variants[i].variant);
      value = type_from_variant (type_find (variants[i].type), "arg", variant, files,
                                 G_N_ELEMENTS (files), used, &error);
      g_assert_true ((value == NULL) == (error != NULL));
      if (variants[i].reason != NULL)
        {
          g_assert_true (us_error_has_reason (error, variants[i].reason));
          g_assert_nonnull (strstr (error->message, ": arg"));
          continue;
        }
      g_assert_no_error (error);
      bytes = json_tree_write (value);
      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), variants[i].json,
                       strlen (variants[i].json));
    }
}

/* A handle that one argument used is gone for the next. */
static void
test_handle_once (void)
{
  gboolean used[] = { FALSE, FALSE };
  g_autoptr (GVariant) variant = g_variant_ref_sink (g_variant_new_parsed ("('a', handle 1)"));
  g_autoptr (JsonTree) first = NULL;
  g_autoptr (JsonTree) second = NULL;
  g_autoptr (GError) error = NULL;

  first = type_from_variant (type_find ("file"), "a", variant, files, 2, used, NULL);
  g_assert_nonnull (first);
  g_assert_true (!used[0] && used[1]);
  second = type_from_variant (type_find ("file"), "b", variant, files, 2, used, &error);
  g_assert_null (second);
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_HANDLE));
}

static void
test_many_items (void)
{
  g_auto (GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("as"));
  g_autoptr (GVariant) variant = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i <= RECORD_MAX_ITEMS; i++)
    g_variant_builder_add (&builder, "s", "x");
  variant = g_variant_ref_sink (g_variant_builder_end (&builder));
  g_assert_null (type_from_variant (type_find ("argv"), "arg", variant, NULL, 0, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
}

static const struct
{
  const char *type, *text, *json, *reason;
} texts[] = {
  { "line", "a b", "\"a b\"", NULL },
  { "line", "", "\"\"", NULL },
  { "hostport", "smtp.example.com:587", "\"smtp.example.com:587\"", NULL },
  { "hostport", "SMTP.example.com:587", NULL, US_REASON_NOT_CANONICAL },
  { "boolean", "yes", "true", NULL },
  { "boolean", "no", "false", NULL },
  { "boolean", "", "false", NULL },
  { "boolean", "true", NULL, US_REASON_BAD_VALUE },
  { "boolean", "Yes", NULL, US_REASON_BAD_VALUE },
  { "email-list", "a@x.org b@x.org", "[\"a@x.org\",\"b@x.org\"]", NULL },
  { "email-list", "", "[]", NULL },
  { "email-list", "a@x.org  b@x.org", NULL, US_REASON_BAD_VALUE },
  { "email-list", "a@x.org,b@x.org", NULL, US_REASON_BAD_VALUE },
  { "email-list", "a@x.org ", NULL, US_REASON_BAD_VALUE },
  { "argv", "ls;-l;a b", "[\"ls\",\"-l\",\"a b\"]", NULL },
  { "argv", "", "[]", NULL },
  { "argv", "ls; -l", NULL, US_REASON_BAD_VALUE },
  { "argv", "ls;;-l", NULL, US_REASON_BAD_VALUE },
  { "line-list", "a b;c", "[\"a b\",\"c\"]", NULL },
  { "file", "a.pdf", NULL, US_REASON_WRONG_TYPE },
  { "file-list", "", NULL, US_REASON_WRONG_TYPE },
  { "line", "a\377", NULL, US_REASON_BAD_VALUE },
};

static void
test_texts (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonTree) value =
          type_from_text (type_find (texts[i].type), "Default", texts[i].text, &error);
      g_autoptr (GBytes) bytes = NULL;

      g_assert_true ((value == NULL) == (error != NULL));
      if (texts[i].reason != NULL)
        {
          g_assert_true (us_error_has_reason (error, texts[i].reason));
          continue;
        }
      g_assert_no_error (error);
      bytes = json_tree_write (value);
      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), texts[i].json,
                       strlen (texts[i].json));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/type-wire/variants", test_variants);
  g_test_add_func ("/type-wire/handle-once", test_handle_once);
  g_test_add_func ("/type-wire/many-items", test_many_items);
  g_test_add_func ("/type-wire/texts", test_texts);
  return g_test_run ();
}
