/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Manifests of modules, the image they come in, and what stays out of policy for good. */
#include "service/policy/image.h"
#include "tests/policy/set.h"

#include "dbus/error.h"

static const struct
{
  const char *text;
  guint line;
  const char *says;
} refused[] = {
  { "[Setting a]\nLabel=A\nType=line\n", 0, "lacks a section [Module]" },
  { "[Module]\n", 1, "[Module] lacks Summary=" },
  { "[Module]\nSummary=M\nDescribe=true\n", 3, "Describe= takes yes or no, not 'true'" },
  { "[Module]\nSummary=M\nCredential=yes\n", 3, "Credential= is not a key of [Module]" },
  { "[Module]\nSummary=M\n[Setting]\nLabel=A\nType=line\n", 3, "needs a name" },
  { "[Module]\nSummary=M\n[Setting a_b]\nLabel=A\nType=line\n", 3, "'a_b' is not a name" },
  { "[Module]\nSummary=M\n[Argument]\nTypes=line\n", 3, "needs a name" },
  { "[Module]\nSummary=M\n[Argument a]\n", 3, "[Argument a] lacks Types=" },
  { "[Module]\nSummary=M\n[Argument a]\nTypes=line string\n", 4, "there is no type 'string'" },
  { "[Module]\nSummary=M\n[Argument a]\nTypes=line line\n", 4, "'line' stands twice" },
  { "[Module]\nSummary=M\n[Argument a]\nTypes=line\nRequired=1\n", 5, "takes yes or no" },
  { "[Module]\nSummary=M\n[Argument a]\nTypes=line\nLabel=A\n", 5, "not a key of [Argument]" },
  { "[Module]\nSummary=M\n[Argument a]\nTypes=line\nOneOf=a b\n", 5, "'a b' is not a name" },
  { "[Module]\nSummary=M\n[Argument a]\nTypes=line boolean\nOneOf=a\n", 5, "not for an argument" },
  { "[Module]\nSummary=M\n[Setting a]\nType=line\n", 3, "[Setting a] lacks Label=" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\n", 3, "[Setting a] lacks Type=" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=string\n", 5, "there is no type 'string'" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=file\n", 5, "cannot be of type file" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=boolean\n", 5, "cannot be of type boolean" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=email-list\n", 5, "cannot be of type" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=choice\n", 5, "cannot be of type choice" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=email\nRequired=yes\nDefault=a@example.com\n",
    7, "exclude each other" },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=email\nDefault=a\n", 6, "a: " },
  { "[Module]\nSummary=M\n[Setting a]\nLabel=A\nType=email\nDefault=a@EXAMPLE.com\n", 6,
    "the canonical spelling is \"a@example.com\"" },
  { "[Module]\nSummary=M\n[Setting module]\nLabel=A\nType=line\n", 3, "Module= has a meaning" },
  { "[Module]\nSummary=M\n[Setting credential]\nLabel=A\nType=line\n", 3,
    "Credential= has a meaning" },
  { "[Module]\nSummary=M\n[Setting describe-credential]\nLabel=A\nType=line\n", 3,
    "DescribeCredential= has a meaning" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autofree char *where = set_where ("modules/null.module", refused[i].line);

      set_put (set, "modules/null.module", refused[i].text);
      set_assert_fault (set, where, refused[i].says);
    }
}

/* An image of two files, of which one thing is not as our own snapshot would have written it. */
static void
assert_no_image (
    const char *format, const char *folder, const char *first, const char *second, gboolean shipped)
{
  const char *const names[] = { first, second };
  GVariantBuilder files, modules;
  g_autoptr (GVariant) root = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_variant_builder_init (&files, G_VARIANT_TYPE ("a" IMAGE_FILE_TYPE));
  g_variant_builder_init (&modules, G_VARIANT_TYPE ("a" IMAGE_MODULE_TYPE));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_variant_builder_add (&files, "(ssbs@ay)", folder, names[i], shipped, "/x",
                           g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "#", 1, 1));
  root = g_variant_ref_sink (g_variant_new ("(s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")",
                                            format, g_variant_builder_end (&files),
                                            g_variant_builder_end (&modules)));
  bytes = g_variant_get_data_as_bytes (root);
  g_assert_null (image_decode (bytes, &error));
  g_assert_true (us_error_has_reason (error, "policy-invalid"));
}

/* The same of the modules' digests. */
static void
assert_no_module (const char *name, const char *path, gsize digest_len, guint times)
{
  static const guint8 digest[64];
  g_autoptr (GVariant) root = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GVariantBuilder modules;

  g_variant_builder_init (&modules, G_VARIANT_TYPE ("a" IMAGE_MODULE_TYPE));
  for (guint i = 0; i < times; i++)
    g_variant_builder_add (&modules, "(ss@ay)", name, path,
                           g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, digest, digest_len, 1));
  root = g_variant_ref_sink (
      g_variant_new ("(s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")", IMAGE_FORMAT,
                     g_variant_new_array (G_VARIANT_TYPE (IMAGE_FILE_TYPE), NULL, 0),
                     g_variant_builder_end (&modules)));
  bytes = g_variant_get_data_as_bytes (root);
  g_assert_null (image_decode (bytes, NULL));
}

static void
test_image (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (GBytes) image = set_image (set);
  g_autoptr (GBytes) cut = g_bytes_new_from_bytes (image, 0, g_bytes_get_size (image) - 1);
  g_autoptr (GBytes) empty = g_bytes_new (NULL, 0);
  g_autoptr (GError) error = NULL;

  g_assert_null (policy_parse (cut, &set_names, &error));
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  g_assert_null (policy_parse (empty, &set_names, NULL));
  assert_no_image ("undersign.policy/2", "rules", "a", "b", FALSE);
  assert_no_image (IMAGE_FORMAT, "rules", "b", "a", FALSE);
  assert_no_image (IMAGE_FORMAT, "rules", "a", "a", FALSE);
  assert_no_image (IMAGE_FORMAT, "rules", "a", "b.c", FALSE);
  assert_no_image (IMAGE_FORMAT, "rules", "../a", "b", FALSE);
  assert_no_image (IMAGE_FORMAT, "rule", "a", "b", FALSE);
  assert_no_image (IMAGE_FORMAT, "rule", "a", "b", TRUE);
  assert_no_image (IMAGE_FORMAT, "modules", "a", "b", FALSE);
  assert_no_module ("a", "/a.so", 31, 1);
  assert_no_module ("a", "/a.so", 33, 1);
  assert_no_module ("a", "", 32, 1);
  assert_no_module ("../a", "/a.so", 32, 1);
  assert_no_module ("a", "/a.so", 32, 2);
}

static void
test_settings (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);
  const PolicyAction *action = policy_action (policy, "mail.send");
  const PolicySetting *setting;

  g_assert_cmpuint (action->settings->len, ==, 3);
  setting = g_ptr_array_index (action->settings, 0);
  g_assert_cmpstr (setting->name, ==, "server");
  g_assert_cmpstr (setting->label, ==, "Server");
  g_assert_cmpstr (type_name (setting->type), ==, "hostport");
  g_assert_cmpstr (json_tree_string (setting->value), ==, "smtp.example.com:587");
  setting = g_ptr_array_index (action->settings, 2);
  g_assert_cmpstr (setting->name, ==, "reply-to");
  g_assert_cmpstr (json_tree_string (setting->value), ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/load-module/refused", test_refused);
  g_test_add_func ("/policy/load-module/image", test_image);
  g_test_add_func ("/policy/load-module/settings", test_settings);
  return g_test_run ();
}
