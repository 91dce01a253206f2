/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An option dictionary: unknown, twice, of another type or missing is an error, never "absent". */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/options.h"

typedef struct
{
  GVariant *name, *size, *path;
} Values;

static gboolean
read_text (const char *text, Values *values, GError **error)
{
  g_autoptr (GVariant) dictionary =
      g_variant_parse (G_VARIANT_TYPE_VARDICT, text, NULL, NULL, error);
  const Option options[] = {
    { "name", "s", TRUE, &values->name },
    { "size", "u", FALSE, &values->size },
    { "path", "o", FALSE, &values->path },
    { NULL, NULL, FALSE, NULL },
  };

  g_assert_no_error (*error);
  return options_read (dictionary, options, error);
}

static void
values_clear (Values *values)
{
  g_clear_pointer (&values->name, g_variant_unref);
  g_clear_pointer (&values->size, g_variant_unref);
  g_clear_pointer (&values->path, g_variant_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Values, values_clear)

static void
test_refused (void)
{
  static const struct
  {
    const char *text, *reason;
  } cases[] = {
    { "{}", US_REASON_MISSING_ARGUMENT },
    { "{'size': <uint32 1>}", US_REASON_MISSING_ARGUMENT },
    { "{'name': <'a'>, 'other': <'b'>}", US_REASON_UNKNOWN_OPTION },
    { "{'Name': <'a'>}", US_REASON_UNKNOWN_OPTION },
    { "{'name': <'a'>, '': <'b'>}", US_REASON_UNKNOWN_OPTION },
    { "{'name': <'a'>, 'name': <'a'>}", US_REASON_DUPLICATE_ARGUMENT },
    { "{'name': <'a'>, 'size': <uint32 1>, 'name': <'b'>}", US_REASON_DUPLICATE_ARGUMENT },
    { "{'name': <1>}", US_REASON_WRONG_TYPE },
    { "{'name': <<'a'>>}", US_REASON_WRONG_TYPE },
    { "{'name': <'a'>, 'size': <1>}", US_REASON_WRONG_TYPE },
    { "{'name': <'a'>, 'path': <'/a'>}", US_REASON_WRONG_TYPE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Values) values = { 0 };
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", cases[i].text);
      g_assert_false (read_text (cases[i].text, &values, &error));
      g_assert_error (error, US_ERROR, US_ERROR_INVALID_ARGUMENT);
      g_assert_true (us_error_has_reason (error, cases[i].reason));
    }
}

static void
test_read (void)
{
  g_auto (Values) values = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (read_text ("{'path': <objectpath '/a'>, 'name': <''>}", &values, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (g_variant_get_string (values.name, NULL), ==, "");
  g_assert_cmpstr (g_variant_get_string (values.path, NULL), ==, "/a");
  g_assert_null (values.size);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/options/refused", test_refused);
  g_test_add_func ("/options/read", test_read);
  return g_test_run ();
}
