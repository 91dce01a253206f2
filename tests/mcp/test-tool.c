/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that no client refuses and that never come to mean something else; schemas; annotations. */
#include "agentlib/mcp/schema.h"
#include "agentlib/mcp/text.h"
#include "agentlib/mcp/tool.h"

#include <string.h>

static GVariant *
actions_of (const char *const *ids)
{
  GVariantBuilder builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a{sa{sv}}"));

  for (guint i = 0; ids[i] != NULL; i++)
    g_variant_builder_add_parsed (&builder,
                                  "{%s, {'summary': <'Do it'>, 'effect': <'read'>, "
                                  "'needs-approval': <'always'>}}",
                                  ids[i]);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

static void
check_name (const char *name)
{
  gsize len = strlen (name);

  g_assert_cmpuint (len, >, 0);
  g_assert_cmpuint (len, <=, TOOL_NAME_MAX);
  g_assert_cmpuint (strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_"), ==, len);
  g_assert_cmpstr (name, !=, TOOL_STATUS);
  g_assert_cmpstr (name, !=, TOOL_CANCEL);
}

static const char *
name_of (GPtrArray *tools, const char *action)
{
  for (guint i = 0; i < tools->len; i++)
    {
      const Tool *tool = g_ptr_array_index (tools, i);

      if (strcmp (tool->action, action) == 0)
        return tool->name;
    }
  g_assert_not_reached ();
}

static void
test_names (void)
{
  static const char *const ids[] = {
    "mail.send", "a.b-c", "a.b.c", "request.status", "request.cancel", "x.y-z",
    "a.very-long-name-of-an-action-that-goes-on.and-on", "b.very-long-name-of-an-action-that-goes-on",
    NULL
  };
  static const char *const turned[] = { "x.y-z", "a.b.c", "mail.send", "a.b-c", NULL };
  static const char *const alone[] = { "a.b-c", NULL };
  g_autoptr (GVariant) actions = actions_of (ids);
  g_autoptr (GVariant) other = actions_of (turned);
  g_autoptr (GVariant) one = actions_of (alone);
  g_autoptr (GPtrArray) tools = tools_read (actions);
  g_autoptr (GPtrArray) again = tools_read (other);
  g_autoptr (GPtrArray) single = tools_read (one);

  g_assert_cmpuint (tools->len, ==, g_strv_length ((char **) ids));
  for (guint i = 0; i < tools->len; i++)
    {
      const Tool *tool = g_ptr_array_index (tools, i);

      check_name (tool->name);
      g_assert_true (tools_find (tools, tool->name) == tool);
      if (i > 0)
        g_assert_cmpstr (((Tool *) g_ptr_array_index (tools, i - 1))->action, <, tool->action);
    }
  g_assert_cmpstr (name_of (tools, "mail.send"), ==, "mail_send");
  g_assert_cmpstr (name_of (tools, "x.y-z"), ==, "x_y_z_0826a39aa");
  /* Each has its own, whichever others there are. */
  g_assert_cmpstr (name_of (tools, "a.b.c"), ==, "a_b_c");
  g_assert_cmpstr (name_of (again, "a.b-c"), ==, name_of (tools, "a.b-c"));
  g_assert_cmpstr (name_of (single, "a.b-c"), ==, name_of (tools, "a.b-c"));
  g_assert_null (tools_find (single, "a_b_c"));
  g_assert_null (tools_find (tools, "mail.send"));
  g_assert_null (tools_find (tools, ""));
}

static GVariant *
description_of (const char *arguments)
{
  g_autofree char *text = g_strdup_printf ("{'id': <'mail.send'>, 'arguments': <@aa{sv} [%s]>}",
                                           arguments);

  return g_variant_ref_sink (g_variant_new_parsed (text));
}

static void
test_schema (void)
{
  g_autoptr (GVariant) description = description_of (
      "{'name': <'to'>, 'label': <'To'>, 'signature': <'as'>, 'required': <true>, 'max-items': "
      "<uint32 20>, 'schema': <'{\"description\":\"addresses\",\"type\":\"array\",\"items\":"
      "{\"type\":\"string\"}}'>},"
      "{'name': <'amount'>, 'label': <'Amount'>, 'signature': <'s'>, 'required': <false>,"
      " 'schema': <'{\"type\":\"string\"}'>, 'default': <<'1.00 EUR'>>, 'maximum': <'5.00 EUR'>},"
      "{'name': <'sure'>, 'label': <'Sure'>, 'signature': <'b'>, 'required': <false>,"
      " 'schema': <'{\"type\":\"boolean\"}'>, 'default': <<false>>},"
      "{'name': <'fixed'>, 'label': <'Fixed'>, 'signature': <'s'>, 'required': <true>,"
      " 'schema': <'{}'>, 'constant': <<'x'>>},"
      "{'name': <'paper'>, 'label': <'Paper'>, 'signature': <'(sh)'>, 'required': <true>,"
      " 'schema': <'{}'>},"
      "{'name': <'papers'>, 'label': <'Papers'>, 'signature': <'a(sh)'>, 'required': <false>,"
      " 'schema': <'{}'>, 'default': <<@a(sh) []>>},"
      "{'name': <'odd'>, 'label': <'Odd'>, 'signature': <'s'>, 'schema': <'no json'>}");
  g_autoptr (JsonTree) schema = schema_input (description);
  g_autofree char *text = tree_text (schema);

  g_assert_cmpstr (
      text, ==,
      "{\"type\":\"object\",\"properties\":{"
      "\"to\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"To: addresses.\","
      "\"maxItems\":20},"
      "\"amount\":{\"type\":\"string\",\"description\":\"Amount At most 5.00 EUR.\","
      "\"default\":\"1.00 EUR\"},"
      "\"sure\":{\"type\":\"boolean\",\"description\":\"Sure\",\"default\":false},"
      "\"paper\":{\"type\":\"string\",\"description\":\"Paper: path of a regular file, which is copied "
      "at once.\"},"
      "\"papers\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Papers: paths "
      "of regular files, which are copied at once.\"},"
      "\"odd\":{\"description\":\"Odd\"}},"
      "\"required\":[\"to\",\"paper\"],\"additionalProperties\":false}");
}

/* No client need understand more of a schema for it: it is said in words. */
static void
test_one_of (void)
{
  static const struct
  {
    const char *one_of, *says; /* NULL: nothing */
  } rows[] = {
    { "", NULL },
    { "'one-of': <@aas []>", NULL },
    { "'one-of': <@aas [[]]>", NULL },
    { "'one-of': <'to'>", NULL },
    { "'one-of': <[['to']]>", "Do it. to must not be empty." },
    { "'one-of': <[['to', 'cc', 'bcc']]>",
      "Do it. At least one of to, cc, bcc must be given and not be empty." },
    { "'one-of': <[['to', 'cc'], ['why']]>",
      "Do it. At least one of to, cc must be given and not be empty. why must not be empty." },
  };
  Tool tool = { (char *) "a_b", (char *) "a.b", (char *) "Do it", (char *) "read",
                (char *) "never" };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *source = g_strdup_printf ("@a{sv} {%s}", rows[i].one_of);
      g_autoptr (GVariant) description = g_variant_ref_sink (g_variant_new_parsed (source));
      g_autoptr (JsonTree) tree = tool_describe (&tool, description, REVISION_2025_11_25);
      g_autofree char *text = tree_text (tree);

      g_assert_cmpstr (json_tree_get_string (tree, "description"), ==,
                       rows[i].says != NULL ? rows[i].says : "Do it.");
      g_assert_null (strstr (text, "anyOf"));
      g_assert_null (strstr (text, "oneOf"));
    }
}

static gboolean
hint (const JsonTree *tool, const char *name)
{
  gboolean value = FALSE;

  g_assert_true (json_tree_boolean (json_tree_member (json_tree_member (tool, "annotations"), name),
                                    &value));
  return value;
}

static void
test_annotations (void)
{
  static const struct
  {
    const char *effect;
    gboolean read_only, destructive, idempotent;
  } rows[] = {
    { "irreversible", FALSE, TRUE, FALSE }, { "", FALSE, TRUE, FALSE },
    { "no-such-effect", FALSE, TRUE, FALSE }, { "reversible", FALSE, FALSE, FALSE },
    { "read", TRUE, FALSE, TRUE },
  };
  g_autoptr (GVariant) description = description_of ("");

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Tool tool = { (char *) "mail_send", (char *) "mail.send", (char *) "Send an e-mail",
                    (char *) rows[i].effect, (char *) "always" };
      g_autoptr (JsonTree) tree = tool_describe (&tool, description, REVISION_2025_06_18);

      g_assert_cmpint (hint (tree, "readOnlyHint"), ==, rows[i].read_only);
      g_assert_cmpint (hint (tree, "destructiveHint"), ==, rows[i].destructive);
      g_assert_cmpint (hint (tree, "idempotentHint"), ==, rows[i].idempotent);
      g_assert_cmpint (hint (tree, "openWorldHint"), ==, TRUE);
    }
}

static void
test_revisions (void)
{
  static const struct
  {
    const char *member;
    Revision first, last;
  } rows[] = {
    { "name", REVISION_2024_11_05, REVISION_2026_07_28 },
    { "inputSchema", REVISION_2024_11_05, REVISION_2026_07_28 },
    { "annotations", REVISION_2025_03_26, REVISION_2026_07_28 },
    { "title", REVISION_2025_06_18, REVISION_2026_07_28 },
    { "outputSchema", REVISION_2025_06_18, REVISION_2026_07_28 },
    { "_meta", REVISION_2025_06_18, REVISION_2026_07_28 },
    { "execution", REVISION_2025_11_25, REVISION_2025_11_25 },
  };
  Tool tool = { (char *) "a_b", (char *) "a.b", (char *) "Do", (char *) "read", (char *) "never" };
  g_autoptr (GVariant) description = description_of ("");

  for (guint r = 0; r < REVISION_N; r++)
    {
      g_autoptr (JsonTree) tree = tool_describe (&tool, description, (Revision) r);
      g_autoptr (JsonTree) status = tool_describe_status ((Revision) r, 4000);
      g_autofree char *text = tree_text (tree);

      for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
        g_assert_true ((json_tree_member (tree, rows[i].member) != NULL) ==
                       (r >= rows[i].first && r <= rows[i].last));
      g_assert_null (strstr (text, "$ref"));
      g_assert_null (strstr (text, "oneOf"));
      g_assert_null (strstr (text, "anyOf"));
      g_assert_null (json_tree_member (status, "execution"));
      if (r >= REVISION_2025_03_26)
        g_assert_true (hint (status, "readOnlyHint") && !hint (status, "destructiveHint") &&
                       hint (status, "idempotentHint") && !hint (status, "openWorldHint"));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/tool/names", test_names);
  g_test_add_func ("/mcp/tool/schema", test_schema);
  g_test_add_func ("/mcp/tool/one-of", test_one_of);
  g_test_add_func ("/mcp/tool/annotations", test_annotations);
  g_test_add_func ("/mcp/tool/revisions", test_revisions);
  return g_test_run ();
}
