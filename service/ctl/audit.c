/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersignctl audit show, and the table of the group. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/ctl/audit.h"
#include "service/ctl/log.h"
#include "service/ctl/output.h"
#include "service/record/rows.h"

#include <stdio.h>
#include <string.h>

static gint64 show_from = 1;
static gint64 show_count = 0;

static const GOptionEntry show_options[] = {
  { "from", 0, 0, G_OPTION_ARG_INT64, &show_from, "The first entry to show", "NUMBER" },
  { "count", 0, 0, G_OPTION_ARG_INT64, &show_count, "How many at most", "NUMBER" },
  G_OPTION_ENTRY_NULL,
};

/* One member of an entry, however deep: "details/request: …". */
static void
print_member (const char *prefix, const char *name, const JsonTree *value)
{
  g_autofree char *path =
      prefix[0] != '\0' ? g_strdup_printf ("%s/%s", prefix, name) : g_strdup (name);
  gboolean flag = FALSE;

  switch (json_tree_kind (value))
    {
    case JSON_TREE_OBJECT:
      for (guint i = 0; i < json_tree_length (value); i++)
        print_member (path, json_tree_name (value, i), json_tree_member_at (value, i));
      break;
    case JSON_TREE_ARRAY:
      for (guint i = 0; i < json_tree_length (value); i++)
        {
          g_autofree char *number = g_strdup_printf ("%u", i);

          print_member (path, number, json_tree_item (value, i));
        }
      break;
    case JSON_TREE_STRING:
      output_field (path, json_tree_string (value));
      break;
    case JSON_TREE_BOOLEAN:
      json_tree_boolean (value, &flag);
      output_field (path, flag ? "true" : "false");
      break;
    case JSON_TREE_NUMBER:
      output_field (path, json_tree_number (value));
      break;
    case JSON_TREE_NULL:
    default:
      output_field (path, "null");
      break;
    }
}

static void
print_entry (const JsonTree *tree)
{
  static const char *const heading[] = { "format", "seq", "time", "source", "event", "previous" };
  const char *time = json_tree_get_string (tree, "time");
  const char *source = json_tree_get_string (tree, "source");
  const char *event = json_tree_get_string (tree, "event");
  g_autofree char *shown_time = escape_line (time != NULL ? time : "?");
  g_autofree char *shown_source = escape_line (source != NULL ? source : "?");
  g_autofree char *shown_event = escape_line (event != NULL ? event : "?");
  const JsonTree *details = json_tree_member (tree, "details");

  printf ("%s  %s  %s  %s\n", json_tree_get_string (tree, "seq"), shown_time, shown_source, shown_event);
  for (guint i = 0; i < json_tree_length (details); i++)
    print_member ("", json_tree_name (details, i), json_tree_member_at (details, i));
  for (guint i = 0; i < json_tree_length (tree); i++)
    {
      const char *name = json_tree_name (tree, i);
      gboolean known = strcmp (name, "details") == 0;

      for (gsize j = 0; j < G_N_ELEMENTS (heading); j++)
        known = known || strcmp (name, heading[j]) == 0;
      if (!known)
        print_member ("", name, json_tree_member_at (tree, i));
    }
}

typedef struct
{
  Ctl *ctl;
  guint64 left; /* 0: all */
} Show;

static gboolean
show_entry (const LogEntry *entry, gpointer data, GError **error)
{
  Show *show = data;
  g_autoptr (JsonTree) tree = chain_entry_parse (entry->bytes, error);

  if (tree == NULL)
    return FALSE;
  if (show->ctl->json)
    output_entry (tree);
  else
    print_entry (tree);
  return show->left == 0 || --show->left > 0;
}

static gboolean
run_show (Ctl *ctl, char **arguments, GError **error)
{
  static const LogFuncs funcs = { show_entry, NULL };
  Show show = { .ctl = ctl, .left = (guint64) show_count };

  if (show_from < 1)
    return ctl_bad_word (ctl, error, "the first entry is 1, not %" G_GINT64_FORMAT, show_from);
  if (show_count < 0)
    return ctl_bad_word (ctl, error, "a count is not negative, as %" G_GINT64_FORMAT " is",
                         show_count);
  return log_walk (ctl, (guint64) show_from, &funcs, &show, error);
}

const CtlVerb audit_verbs[] = {
  { "audit show", "", "Show the audit log", 0, 0, show_options, run_show },
  { "audit verify", "", "Compute the audit log's chain anew", 0, 0, verify_options, run_verify },
  { "audit checkpoint", "", "Have the service sign how far the log goes", 0, 0, NULL,
    run_checkpoint },
  { "audit export", "", "Print the log so that it can be verified elsewhere", 0, 0, NULL,
    run_export },
  { "audit prune", "--before=DATE", "Remove the oldest entries", 0, 0, prune_options, run_prune },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
