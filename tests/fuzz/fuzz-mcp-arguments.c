/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a model wrote of a tool's call.  The first line of the input is what the action declares,
 * "NAME:SIGNATURE" and so on; the second is the message.  What passes is submitted as the types that
 * were declared, each value as it was written, and a file as a sealed copy.
 */
#include "agentlib/lib/submission.h"
#include "agentlib/mcp/arguments.h"
#include "agentlib/mcp/identity.h"
#include "agentlib/mcp/message.h"
#include "tests/fuzz/refusal.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define DECLARED_MAX 20
#define CALL_MAX 200

/* What DescribeAction() replies, as far as it is read here. */
static GVariant *
description_of (const char *line)
{
  g_auto (GVariantBuilder) list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("aa{sv}"));
  g_auto (GVariantDict) description = G_VARIANT_DICT_INIT (NULL);
  g_auto (GStrv) words = g_strsplit (line, " ", DECLARED_MAX);

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_auto (GVariantDict) argument = G_VARIANT_DICT_INIT (NULL);
      char *colon = strchr (words[i], ':');

      if (colon != NULL)
        {
          *colon = '\0';
          g_variant_dict_insert (&argument, "signature", "s", colon + 1);
        }
      g_variant_dict_insert (&argument, "name", "s", words[i]);
      g_variant_builder_add_value (&list, g_variant_dict_end (&argument));
    }
  g_variant_dict_insert_value (&description, "arguments", g_variant_builder_end (&list));
  return g_variant_ref_sink (g_variant_dict_end (&description));
}

/* Names alone: a path could lead anywhere. */
static gboolean
has_path (const JsonTree *tree)
{
  const char *text = json_tree_string (tree);

  if (json_tree_kind (tree) == JSON_TREE_ARRAY)
    for (guint i = 0; i < json_tree_length (tree); i++)
      if (has_path (json_tree_item (tree, i)))
        return TRUE;
  if (json_tree_kind (tree) == JSON_TREE_OBJECT)
    for (guint i = 0; i < json_tree_length (tree); i++)
      if (has_path (json_tree_member_at (tree, i)))
        return TRUE;
  return text != NULL && strchr (text, '/') != NULL;
}

static void
check_file (GVariant *value, const JsonTree *written, GUnixFDList *fds)
{
  int count = 0, handle = -1;
  const int *all = g_unix_fd_list_peek_fds (fds, &count);
  const char *name = NULL;

  g_variant_get (value, "(&sh)", &name, &handle);
  g_assert (strcmp (name, json_tree_string (written)) == 0);
  g_assert (handle >= 0 && handle < count);
  g_assert ((fcntl (all[handle], F_GET_SEALS) & F_SEAL_WRITE) != 0);
}

static void
check_value (GVariant *value, const JsonTree *written, GUnixFDList *fds)
{
  gboolean boolean = FALSE;

  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    g_assert (strcmp (g_variant_get_string (value, NULL), json_tree_string (written)) == 0);
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    g_assert (json_tree_boolean (written, &boolean) && boolean == g_variant_get_boolean (value));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE ("(sh)")))
    check_file (value, written, fds);
  else
    {
      g_assert (json_tree_kind (written) == JSON_TREE_ARRAY);
      g_assert (g_variant_n_children (value) == json_tree_length (written));
      for (guint i = 0; i < json_tree_length (written); i++)
        {
          g_autoptr (GVariant) item = g_variant_get_child_value (value, i);

          check_value (item, json_tree_item (written, i), fds);
        }
    }
}

/* Nothing is left out, nothing is there besides, and each is of the type that was declared. */
static void
check_submission (UsSubmission *submission, const char *line, const JsonTree *arguments)
{
  g_autofree char *declared = g_strdup_printf (" %s ", line);
  g_autoptr (GVariant) body = NULL;
  g_autoptr (GVariant) given = NULL;
  g_autoptr (GUnixFDList) fds = NULL;
  GVariantIter iter;
  GVariant *value;
  const char *name;

  g_assert (submission_body (submission, "/run", &body, &fds, NULL));
  given = g_variant_get_child_value (body, 2);
  g_assert (g_variant_n_children (given) == json_tree_length (arguments));
  g_variant_iter_init (&iter, given);
  while (g_variant_iter_loop (&iter, "{&sv}", &name, &value))
    {
      g_autofree char *word =
          g_strdup_printf (" %s:%s ", name, g_variant_get_type_string (value));

      g_assert (strstr (declared, word) != NULL);
      check_value (value, json_tree_member (arguments, name), fds);
    }
}

static void
check_arguments (const char *line, const JsonTree *arguments)
{
  g_autoptr (GVariant) description = description_of (line);
  g_autoptr (UsSubmission) submission = us_submission_new ("test.action");
  g_autoptr (GError) error = NULL;
  gboolean ok = arguments_add (submission, description, arguments, &error);

  g_assert (ok == (error == NULL));
  refusal_seen (error);
  if (ok)
    check_submission (submission, line, arguments);
}

/* Who asks is what _meta says, or else the program's own words; no argument is read for it. */
static void
check_identity (const Message *message)
{
  static const Options options = { .part = (char *) "part", .call = (char *) "call" };
  const JsonTree *meta = meta_of (message);
  g_autoptr (GError) error = NULL;
  g_autofree char *claim = NULL;
  Identity identity = { 0 };
  const char *part = json_tree_get_string (meta, META_OWN "part");
  gboolean ok = identity_read (meta, &options, &identity, &error);

  g_assert (ok == (error == NULL));
  refusal_seen (error);
  if (!ok)
    return;
  g_assert (strcmp (identity.part, part != NULL ? part : "part") == 0);
  g_assert (identity.run == json_tree_get_string (meta, META_OWN "run"));
  g_assert (strlen (identity.call) <= CALL_MAX);
  claim = identity_claim (&identity, meta);
  g_assert (claim == NULL || (claim[0] != '\0' && g_utf8_validate (claim, -1, NULL)));
  if (identity.call[0] != '\0')
    g_assert (g_str_has_prefix (claim, "call ") && g_str_has_prefix (claim + 5, identity.call));
}

/* The files are those of a folder that is the same everywhere: "comm" is one, "task" is none. */
static void
check_call (const char *line, const Message *message)
{
  const JsonTree *arguments = json_tree_member (message->params, "arguments");
  int before = open (".", O_PATH | O_DIRECTORY | O_CLOEXEC);

  check_identity (message);
  if (has_path (arguments))
    arguments = NULL;
  g_assert (before >= 0 && chdir ("/proc/self") == 0);
  check_arguments (line, arguments);
  g_assert (fchdir (before) == 0);
  close (before);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup (size > 0 ? (const char *) data : "", size);
  g_auto (GStrv) lines = g_strsplit (text, "\n", 3);
  g_autoptr (JsonTree) id = NULL;
  g_autoptr (Message) message = NULL;
  JsonTree *tree = NULL;

  if (lines[0] == NULL || lines[1] == NULL || !g_utf8_validate (lines[0], -1, NULL))
    return 0;
  tree = message_tree (lines[1], strlen (lines[1]), NULL);
  message = tree != NULL ? message_read (tree, &id, NULL) : NULL;
  if (message != NULL)
    check_call (lines[0], message);
  return 0;
}
