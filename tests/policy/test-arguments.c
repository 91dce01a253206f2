/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder of an agent's arguments: refusals first, then that every argument has one value. */
#include "tests/policy/set.h"

#include "dbus/error.h"

#include <string.h>

#define ACTION                                                                                     \
  "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n"                                    \
  "[Argument to]\nLabel=T\nType=email-list\nRequired=yes\nMaxItems=2\nPattern=.*@example\\.com\n"  \
  "[Argument amount]\nLabel=A\nType=money\nMinimum=1.00 EUR\nMaximum=9.00 EUR\n"                   \
  "[Argument mode]\nLabel=M\nType=choice\nChoices=fast slow\nDefault=slow\n"                       \
  "[Argument fixed]\nLabel=F\nType=line\nValue=as is\n"                                            \
  "[Argument sure]\nLabel=S\nType=boolean\nRequired=yes\n"                                         \
  "[Argument file]\nLabel=F\nType=file\nRequired=yes\n"                                            \
  "[Argument files]\nLabel=F\nType=file-list\n"

#define TO "('to', <['a@example.com']>)"
#define SURE "('sure', <false>)"
#define FILE0 "('file', <('f', handle 0)>)"

/* One file comes with each. */
static const struct
{
  const char *arguments;
  const char *reason;
} refused[] = {
  { "[" TO ", " SURE ", " FILE0 ", ('bcc', <['b@example.com']>)]", "unknown-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('To', <['b@example.com']>)]", "unknown-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('', <''>)]", "unknown-argument" },
  { "[" TO ", " SURE ", " FILE0 ", " TO "]", "duplicate-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('to', <['b@example.com']>)]", "duplicate-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('mode', <'fast'>), ('mode', <'slow'>)]", "duplicate-argument" },
  { "[" SURE ", " FILE0 "]", "missing-argument" },
  { "[" TO ", " FILE0 "]", "missing-argument" },
  { "[" TO ", " SURE "]", "missing-argument" },
  { "[('to', <@as []>), " SURE ", " FILE0 "]", "missing-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('fixed', <'other'>)]", "constant-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('fixed', <'as is'>)]", "constant-argument" },
  { "[" TO ", " SURE ", " FILE0 ", ('fixed', <''>)]", "constant-argument" },
  { "[('to', <'a@example.com'>), " SURE ", " FILE0 "]", "wrong-type" },
  { "[" TO ", ('sure', <'no'>), " FILE0 "]", "wrong-type" },
  { "[" TO ", ('sure', <0>), " FILE0 "]", "wrong-type" },
  { "[" TO ", " SURE ", ('file', <'f'>)]", "wrong-type" },
  { "[" TO ", " SURE ", " FILE0 ", ('amount', <5>)]", "wrong-type" },
  { "[" TO ", " SURE ", " FILE0 ", ('mode', <@ms nothing>)]", "wrong-type" },
  { "[('to', <['a@EXAMPLE.com']>), " SURE ", " FILE0 "]", "not-canonical" },
  { "[('to', <['a@example.org']>), " SURE ", " FILE0 "]", "bad-value" },
  { "[('to', <['a@example.com.evil.org']>), " SURE ", " FILE0 "]", "bad-value" },
  { "[('to', <['a@example.com', 'b@example.com', 'c@example.com']>), " SURE ", " FILE0 "]",
    "bad-value" },
  { "[" TO ", " SURE ", " FILE0 ", ('amount', <'0.99 EUR'>)]", "bad-value" },
  { "[" TO ", " SURE ", " FILE0 ", ('amount', <'9.01 EUR'>)]", "bad-value" },
  { "[" TO ", " SURE ", " FILE0 ", ('amount', <'5.00 USD'>)]", "bad-value" },
  { "[" TO ", " SURE ", " FILE0 ", ('mode', <'medium'>)]", "bad-value" },
  { "[" TO ", " SURE ", ('file', <('f', handle 1)>)]", "bad-handle" },
  { "[" TO ", " SURE ", ('file', <('f', handle -1)>)]", "bad-handle" },
  { "[" TO ", " SURE ", " FILE0 ", ('files', <[('g', handle 0)]>)]", "bad-handle" },
  { "[" TO ", " SURE ", ('file', <('', handle 0)>)]", "bad-value" },
};

static Policy *
test_policy (void)
{
  g_autoptr (Set) set = set_new ();

  set_put (set, "actions/x.y.action", ACTION);
  return set_parse (set);
}

static void
test_refused (void)
{
  g_autoptr (Policy) policy = test_policy ();
  const TypeFile files[1] = { { 3, { 1 } } };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) parse_error = NULL, error = NULL;
      g_autoptr (GVariant) arguments = g_variant_parse (
          G_VARIANT_TYPE ("a(sv)"), refused[i].arguments, NULL, NULL, &parse_error);
      g_autoptr (GPtrArray) values = NULL;

      g_assert_no_error (parse_error);
      values = policy_bind_arguments (policy_action (policy, "x.y"), arguments, files, 1, &error);
      if (values != NULL || !us_error_has_reason (error, refused[i].reason))
        g_error ("row %u: got %s, want %s", i, error != NULL ? error->message : "values",
                 refused[i].reason);
      g_assert_error (error, US_ERROR, US_ERROR_INVALID_ARGUMENT);
    }
}

static GPtrArray *
bind (const Policy *policy, GVariant *arguments, guint n_files, GError **error)
{
  const TypeFile files[3] = { { 3, { 1 } }, { 4, { 2 } }, { 5, { 3 } } };
  g_autoptr (GVariant) sunk = g_variant_ref_sink (arguments);

  return policy_bind_arguments (policy_action (policy, "x.y"), sunk, files, n_files, error);
}

static void
test_unused_file (void)
{
  g_autoptr (Policy) policy = test_policy ();
  g_autoptr (GError) error = NULL;

  g_assert_null (bind (policy, g_variant_new_parsed ("[" TO ", " SURE ", " FILE0 "]"), 2, &error));
  g_assert_true (us_error_has_reason (error, "bad-handle"));
}

static void
test_wrong_container (void)
{
  g_autoptr (Policy) policy = test_policy ();
  g_autoptr (GError) error = NULL;

  g_assert_null (bind (policy, g_variant_new_parsed ("@a{ss} {}"), 0, &error));
  g_assert_true (us_error_has_reason (error, "wrong-type"));
}

static void
test_too_many (void)
{
  g_autoptr (Policy) policy = test_policy ();
  g_autoptr (GError) error = NULL;
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sv)"));
  for (guint i = 0; i < 257; i++)
    g_variant_builder_add (&builder, "(sv)", "x", g_variant_new_string (""));
  g_assert_null (bind (policy, g_variant_builder_end (&builder), 0, &error));
  g_assert_true (us_error_has_reason (error, "too-large"));
}

/* Terminal control characters of an agent's argument name never reach a log. */
static void
test_hostile_name (void)
{
  g_autoptr (Policy) policy = test_policy ();
  g_autoptr (GError) error = NULL;

  g_assert_null (bind (policy, g_variant_new_parsed ("[('a\\u001b[2J\\nb', <''>)]"), 0, &error));
  g_assert_nonnull (strstr (error->message, "'a\\x1b[2J\\x0ab'"));
}

static void
assert_filled (const Policy *policy, GPtrArray *values)
{
  const PolicyAction *action = policy_action (policy, "x.y");
  gboolean sure = TRUE;

  g_assert_nonnull (values);
  g_assert_cmpuint (values->len, ==, action->arguments->len);
  g_assert_cmpuint (json_tree_length (g_ptr_array_index (values, 0)), ==, 1);
  g_assert_cmpstr (json_tree_string (g_ptr_array_index (values, 1)), ==, "");
  g_assert_cmpstr (json_tree_string (g_ptr_array_index (values, 2)), ==, "slow");
  g_assert_cmpstr (json_tree_string (g_ptr_array_index (values, 3)), ==, "as is");
  g_assert_true (json_tree_boolean (g_ptr_array_index (values, 4), &sure));
  g_assert_false (sure);
  g_assert_cmpstr (json_tree_get_string (g_ptr_array_index (values, 5), "size"), ==, "3");
  g_assert_cmpuint (json_tree_length (g_ptr_array_index (values, 6)), ==, 0);
}

static void
test_filled_in (void)
{
  g_autoptr (Policy) policy = test_policy ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) pairs =
      bind (policy, g_variant_new_parsed ("[" FILE0 ", " SURE ", " TO "]"), 1, &error);
  g_autoptr (GPtrArray) dict = NULL;

  g_assert_no_error (error);
  assert_filled (policy, pairs);
  dict = bind (policy,
               g_variant_new_parsed ("{'to': <['a@example.com']>, 'sure': <false>, 'file': <('f', "
                                     "handle 0)>, 'amount': <''>}"),
               1, &error);
  g_assert_no_error (error);
  assert_filled (policy, dict);
}

static void
test_given (void)
{
  g_autoptr (Policy) policy = test_policy ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) values = bind (
      policy,
      g_variant_new_parsed ("[" TO ", " SURE ", ('file', <('f', handle 2)>), ('files', <[('g', "
                            "handle 0), ('h', handle 1)]>), ('amount', <'9.00 EUR'>), ('mode', "
                            "<'fast'>)]"),
      3, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (json_tree_string (g_ptr_array_index (values, 1)), ==, "9.00 EUR");
  g_assert_cmpstr (json_tree_string (g_ptr_array_index (values, 2)), ==, "fast");
  g_assert_cmpstr (json_tree_get_string (g_ptr_array_index (values, 5), "size"), ==, "5");
  g_assert_cmpuint (json_tree_length (g_ptr_array_index (values, 6)), ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/arguments/refused", test_refused);
  g_test_add_func ("/policy/arguments/unused-file", test_unused_file);
  g_test_add_func ("/policy/arguments/wrong-container", test_wrong_container);
  g_test_add_func ("/policy/arguments/too-many", test_too_many);
  g_test_add_func ("/policy/arguments/hostile-name", test_hostile_name);
  g_test_add_func ("/policy/arguments/filled-in", test_filled_in);
  g_test_add_func ("/policy/arguments/given", test_given);
  return g_test_run ();
}
