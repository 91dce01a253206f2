/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the JSON reader refuses, what its getters do not convert, and what the writer writes. */
#include "service/base/json.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static const JsonLimits limits = { .bytes = 4096, .depth = 4, .string = 16, .items = 3 };

static JsonTree *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  JsonTree *tree = json_tree_parse (text, strlen (text), &limits, &error);

  g_assert_no_error (error);
  g_assert_nonnull (tree);
  return tree;
}

static const struct
{
  const char *text;
  gsize len; /* 0: up to NUL */
  const char *why;
} refused[] = {
  { "{\"to\":\"a\",\"to\":\"b\"}", 0, "byte 14: a name is used twice" },
  { "{\"to\":\"a\",\"t\\u006f\":\"b\"}", 0, "a name is used twice" },
  { "{\"a\":1,\"b\":2,\"a\":1}", 0, "a name is used twice" },
  { "{\"\\ud83d\\ude02\":1,\"\360\237\230\202\":2}", 0, "a name is used twice" },
  { "[\"\\ud83d\"]", 0, "a high surrogate without a low one" },
  { "[\"\\ud83dabc\"]", 0, "a high surrogate without a low one" },
  { "[\"\\ud83d\\n\"]", 0, "a high surrogate without a low one" },
  { "[\"\\ud83d\\ud83d\"]", 0, "a high surrogate without a low one" },
  { "[\"\\ude02\"]", 0, "a low surrogate without a high one" },
  { "[\"\\ude02\\ud83d\"]", 0, "a low surrogate without a high one" },
  { "[\"\355\240\275\"]", 0, "byte 2: not UTF-8" },
  { "[\"\300\200\"]", 0, "not UTF-8" },
  { "[\"\377\"]", 0, "not UTF-8" },
  { "[\"\303", 0, "not UTF-8" },
  { "[\"a\\u0000b\"]", 0, "U+0000 in a string" },
  { "{\"a\\u0000b\":1}", 0, "U+0000 in a string" },
  { "[1]\0", 4, "byte 3: U+0000 in the text" },
  { "[\"a\0b\"]", 7, "U+0000 in the text" },
  { "\357\273\277{}", 0, "a byte order mark" },
  { "\357\273\277", 0, "a byte order mark" },
  { "", 0, "expected a value" },
  { " \n", 0, "expected a value" },
  { "{}{}", 0, "byte 2: something after the value" },
  { "1 2", 0, "something after the value" },
  { "{} x", 0, "something after the value" },
  { "[1,]", 0, "a number needs a digit" },
  { "{\"a\":1,}", 0, "expected a string" },
  { "{a:1}", 0, "expected a string" },
  { "{\"a\" 1}", 0, "expected a colon" },
  { "[1 2]", 0, "expected a comma" },
  { "[1}", 0, "expected a comma" },
  { "[1", 0, "expected a comma" },
  { "[", 0, "expected a value" },
  { "{", 0, "expected a string" },
  { "[\"a", 0, "the string does not end" },
  { "[\"a\\", 0, "unknown escape" },
  { "[\"\\x41\"]", 0, "unknown escape" },
  { "[\"\\U0041\"]", 0, "unknown escape" },
  { "[\"\\u00g1\"]", 0, "four hexadecimal digits" },
  { "[\"\\u00", 0, "four hexadecimal digits" },
  { "[\"\t\"]", 0, "a control character" },
  { "[\"\001\"]", 0, "a control character" },
  { "[01]", 0, "expected a comma" },
  { "[-]", 0, "a number needs a digit" },
  { "[+1]", 0, "a number needs a digit" },
  { "[.5]", 0, "a number needs a digit" },
  { "[1.]", 0, "a fraction needs a digit" },
  { "[1e]", 0, "an exponent needs a digit" },
  { "[0x10]", 0, "expected a comma" },
  { "[NaN]", 0, "a number needs a digit" },
  { "[True]", 0, "a number needs a digit" },
  { "[tru]", 0, "no value starts like this" },
  { "[nul", 0, "no value starts like this" },
  { "[/*x*/1]", 0, "a number needs a digit" },
  { "['a']", 0, "a number needs a digit" },
  /* over the limits, never cut */
  { "[[[[[]]]]]", 0, "nested too deep" },
  { "{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}", 0, "nested too deep" },
  { "[1,2,3,4]", 0, "too many items" },
  { "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}", 0, "too many items" },
  { "[\"12345678901234567\"]", 0, "the string is too long" },
  { "[\"123456789012345\303\244\"]", 0, "the string is too long" },
  { "[\"12345678901234\\u20ac\"]", 0, "the string is too long" },
  { "{\"12345678901234567\":1}", 0, "the string is too long" },
  { "[12345678901234567]", 0, "the number is too long" },
};

static void
test_refused (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;
      gsize len = refused[i].len != 0 ? refused[i].len : strlen (refused[i].text);
      /* A copy of the exact size lets the sanitizer see a read beyond the end. */
      g_autofree char *copy = g_memdup2 (refused[i].text, len);
      g_autofree char *shown = g_strescape (refused[i].text, NULL);

      g_test_message ("%s", shown);
      g_assert_null (json_tree_parse (copy, len, &limits, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_JSON));
      g_assert_nonnull (strstr (error->message, refused[i].why));
    }
}

static void
test_size (void)
{
  JsonLimits small = { .bytes = 6, .depth = 0, .string = 4, .items = 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = json_tree_parse ("\"1234\"", 6, &small, &error);

  g_assert_cmpstr (json_tree_string (tree), ==, "1234");
  g_assert_null (json_tree_parse ("\"1234\" ", 7, &small, &error));
  g_assert_nonnull (strstr (error->message, "larger than 6 bytes"));
  g_clear_error (&error);
  g_assert_null (json_tree_parse ("[]", 2, &small, &error));
  g_assert_nonnull (strstr (error->message, "nested too deep"));
}

/* Whatever depth a caller allows, a hostile text can't exhaust the stack. */
static void
test_depth_bound (void)
{
  JsonLimits wide = { G_MAXSIZE, G_MAXUINT, G_MAXSIZE, G_MAXUINT };
  g_autofree char *open = g_strnfill (100000, '[');
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (JsonTree) copy = NULL;

  g_assert_null (json_tree_parse (open, 100000, &wide, &error));
  g_assert_nonnull (strstr (error->message, "nested too deep"));
  g_clear_error (&error);

  g_string_append_len (text, open, JSON_MAX_DEPTH);
  for (guint i = 0; i < JSON_MAX_DEPTH; i++)
    g_string_append_c (text, ']');
  tree = json_tree_parse (text->str, text->len, &wide, &error);
  g_assert_no_error (error);
  copy = json_tree_copy (tree);
  g_assert_true (json_tree_equal (tree, copy));
}

static void
test_accepted (void)
{
  g_autoptr (JsonTree) tree =
      parse (" {\"s\" : \"\\u0041\\ud83d\\ude02\\/\\n\", \"n\":-1.50E+2,\r\n\t\"b\":[true,false,null]} ");
  gboolean value = FALSE;

  g_assert_cmpint (json_tree_kind (tree), ==, JSON_TREE_OBJECT);
  g_assert_cmpuint (json_tree_length (tree), ==, 3);
  g_assert_cmpstr (json_tree_name (tree, 0), ==, "s");
  g_assert_cmpstr (json_tree_name (tree, 1), ==, "n");
  g_assert_null (json_tree_name (tree, 3));
  g_assert_cmpstr (json_tree_get_string (tree, "s"), ==, "A\360\237\230\202/\n");
  g_assert_cmpstr (json_tree_number (json_tree_member (tree, "n")), ==, "-1.50E+2");
  g_assert_true (json_tree_member_at (tree, 1) == json_tree_member (tree, "n"));
  g_assert_true (json_tree_boolean (json_tree_item (json_tree_member (tree, "b"), 0), &value));
  g_assert_true (value);
  g_assert_cmpint (json_tree_kind (json_tree_item (json_tree_member (tree, "b"), 2)), ==,
                   JSON_TREE_NULL);
}

/* A value of another kind is absent, never converted. */
static void
test_getters (void)
{
  g_autoptr (JsonTree) tree = parse ("{\"s\":\"1\",\"n\":1,\"o\":{}}");
  const JsonTree *string = json_tree_member (tree, "s"), *number = json_tree_member (tree, "n");
  gboolean value = TRUE;

  g_assert_null (json_tree_number (string));
  g_assert_null (json_tree_string (number));
  g_assert_null (json_tree_get_string (tree, "n"));
  g_assert_null (json_tree_get_string (tree, "absent"));
  g_assert_null (json_tree_get_string (string, "s"));
  g_assert_false (json_tree_boolean (number, &value));
  g_assert_true (value);
  g_assert_null (json_tree_item (tree, 0));
  g_assert_null (json_tree_member_at (string, 0));
  g_assert_null (json_tree_name (NULL, 0));
  g_assert_null (json_tree_member (NULL, "s"));
  g_assert_cmpuint (json_tree_length (NULL), ==, 0);
  g_assert_cmpuint (json_tree_length (string), ==, 0);
  g_assert_cmpint (json_tree_kind (NULL), ==, JSON_TREE_NULL);
}

static void
assert_written (const JsonTree *tree, const char *expected)
{
  g_autoptr (GBytes) bytes = json_tree_write (tree);

  g_assert_nonnull (bytes);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                   strlen (expected));
}

static void
test_write (void)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *list;

  json_tree_add_string (tree, "\357\254\263", "U+FB33 sorts after the smiley");
  json_tree_add_string (tree, "\360\237\230\202", "by UTF-16 code units");
  json_tree_add_boolean (tree, "b", 42);
  list = json_tree_add (tree, "a", json_tree_new_array ());
  json_tree_append_string (list, "\b\t\n\f\r\"\\/\001\037\177\342\200\250");
  json_tree_append (list, json_tree_new_null ());
  json_tree_append (list, json_tree_new_object ());
  json_tree_add_boolean (tree, "aa", FALSE);
  json_tree_add_string (tree, "", "");
  assert_written (tree, "{\"\":\"\","
                        "\"a\":[\"\\b\\t\\n\\f\\r\\\"\\\\/\\u0001\\u001f\177\342\200\250\",null,{}],"
                        "\"aa\":false,\"b\":true,"
                        "\"\360\237\230\202\":\"by UTF-16 code units\","
                        "\"\357\254\263\":\"U+FB33 sorts after the smiley\"}");
}

static void
test_write_refuses_numbers (void)
{
  g_autoptr (JsonTree) tree = parse ("{\"a\":[{\"b\":1}]}");

  g_assert_null (json_tree_write (tree));
  g_assert_null (json_tree_write (NULL));
}

static void
test_equal (void)
{
  static const struct
  {
    const char *a, *b;
    gboolean equal;
  } rows[] = {
    { "{\"a\":\"1\",\"b\":[true]}", "{\"b\":[true],\"a\":\"1\"}", TRUE },
    { "[\"a\",\"b\"]", "[\"b\",\"a\"]", FALSE },
    { "[\"a\"]", "[\"a\",\"a\"]", FALSE },
    { "{\"a\":null}", "{\"b\":null}", FALSE },
    { "{\"a\":\"\"}", "{}", FALSE },
    { "[\"1\"]", "[1]", FALSE },
    { "[1]", "[1.0]", FALSE },
    { "true", "false", FALSE },
    { "false", "null", FALSE },
    { "[]", "{}", FALSE },
    { "\"\303\251\"", "\"e\314\201\"", FALSE }, /* no normalisation */
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonTree) a = parse (rows[i].a);
      g_autoptr (JsonTree) b = parse (rows[i].b);
      g_autoptr (JsonTree) copy = json_tree_copy (a);

      g_test_message ("%s %s", rows[i].a, rows[i].b);
      g_assert_cmpint (json_tree_equal (a, b), ==, rows[i].equal);
      g_assert_cmpint (json_tree_equal (b, a), ==, rows[i].equal);
      g_assert_true (json_tree_equal (a, copy));
      g_assert_false (json_tree_equal (a, NULL));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/refused", test_refused);
  g_test_add_func ("/json/size", test_size);
  g_test_add_func ("/json/depth-bound", test_depth_bound);
  g_test_add_func ("/json/accepted", test_accepted);
  g_test_add_func ("/json/getters-do-not-convert", test_getters);
  g_test_add_func ("/json/write", test_write);
  g_test_add_func ("/json/write-refuses-numbers", test_write_refuses_numbers);
  g_test_add_func ("/json/equal", test_equal);
  return g_test_run ();
}
