/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What differs between two records.  The card of a request that supersedes another shows it, and
 * the executor names it when a record changed.  Two records without a difference are the same
 * bytes.
 */
#include "service/record/diff.h"

#include <string.h>

static void
difference_free (Difference *difference)
{
  if (difference == NULL)
    return;
  g_free (difference->path);
  g_free (difference->label);
  g_free (difference->old_type);
  g_free (difference->new_type);
  json_tree_free (difference->old_value);
  json_tree_free (difference->new_value);
  g_free (difference);
}

static gboolean
is_same (const JsonTree *a, const JsonTree *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return json_tree_equal (a, b);
}

/* Adds a difference where there is one and returns it; a value is NULL where it is not there. */
static Difference *
compare (GPtrArray *out,
         const char *path,
         const char *label,
         const char *type,
         const JsonTree *old_value,
         const JsonTree *new_value)
{
  Difference *difference;

  if (is_same (old_value, new_value))
    return NULL;
  difference = g_new0 (Difference, 1);
  difference->path = g_strdup (path);
  difference->label = g_strdup (label);
  difference->old_type = g_strdup (old_value != NULL ? type : "");
  difference->new_type = g_strdup (new_value != NULL ? type : "");
  difference->old_value = old_value != NULL ? json_tree_copy (old_value) : NULL;
  difference->new_value = new_value != NULL ? json_tree_copy (new_value) : NULL;
  g_ptr_array_add (out, difference);
  return difference;
}

/* The members that are one string, in the order of the card. */
static const struct
{
  const char *path; /* up to three names, joined by slashes */
  const char *label;
  const char *type;
} members[] = {
  { "action/summary", "Action", "line" },
  { "action/id", "Action id", "line" },
  { "action/effect", "Effect", "line" },
  { "agent/name", "Agent", "line" },
  { "agent/uid", "Agent uid", "line" },
  { "agent/part", "Part", "line" },
  { "agent/owner", "Acting for", "line" },
  { "run/label", "Run", "line" },
  { "run/id", "Run id", "line" },
  { "run/initiator/name", "Started by", "line" },
  { "run/initiator/uid", "Started by uid", "line" },
  { "host", "Host", "line" },
};

static const JsonTree *
member_at (const JsonTree *tree, const char *path)
{
  g_auto (GStrv) names = g_strsplit (path, "/", -1);

  for (guint i = 0; names[i] != NULL; i++)
    tree = json_tree_member (tree, names[i]);
  return tree;
}

static const JsonTree *
entry_named (const JsonTree *list, const char *name)
{
  for (guint i = 0; i < json_tree_length (list); i++)
    if (strcmp (json_tree_get_string (json_tree_item (list, i), "name"), name) == 0)
      return json_tree_item (list, i);
  return NULL;
}

/* One entry of a section; @old_entry or @new_entry is NULL where it is not there. */
static void
compare_entry (GPtrArray *out,
               const char *section,
               const JsonTree *old_entry,
               const JsonTree *new_entry)
{
  static const struct
  {
    const char *name;
    const char *type;
  } parts[] = { { "label", "line" }, { "type", "line" }, { "recheck", "boolean" } };
  const JsonTree *entry = new_entry != NULL ? new_entry : old_entry;
  const char *label = json_tree_get_string (entry, "label");
  g_autofree char *path = g_strdup_printf ("%s/%s", section, json_tree_get_string (entry, "name"));
  Difference *difference =
      compare (out, path, label, json_tree_get_string (entry, "type"),
               json_tree_member (old_entry, "value"), json_tree_member (new_entry, "value"));

  if (old_entry == NULL || new_entry == NULL)
    return;
  if (difference != NULL)
    {
      g_free (difference->old_type);
      difference->old_type = g_strdup (json_tree_get_string (old_entry, "type"));
    }
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *part_path = g_strdup_printf ("%s/%s", path, parts[i].name);
      g_autofree char *part_label = g_strdup_printf ("%s, its %s", label, parts[i].name);

      compare (out, part_path, part_label, parts[i].type,
               json_tree_member (old_entry, parts[i].name),
               json_tree_member (new_entry, parts[i].name));
    }
}

/* The names of @list that @other has too, in the order of @list. */
static JsonTree *
common_names (const JsonTree *list, const JsonTree *other)
{
  JsonTree *names = json_tree_new_array ();

  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const char *name = json_tree_get_string (json_tree_item (list, i), "name");

      if (entry_named (other, name) != NULL)
        json_tree_append_string (names, name);
    }
  return names;
}

static void
compare_entries (GPtrArray *out,
                 const char *section,
                 const JsonTree *old_list,
                 const JsonTree *new_list)
{
  g_autoptr (JsonTree) old_order = common_names (old_list, new_list);
  g_autoptr (JsonTree) new_order = common_names (new_list, old_list);
  g_autofree char *label = g_strdup_printf ("Order of %s", section);

  for (guint i = 0; i < json_tree_length (new_list); i++)
    {
      const JsonTree *entry = json_tree_item (new_list, i);

      compare_entry (out, section, entry_named (old_list, json_tree_get_string (entry, "name")),
                     entry);
    }
  for (guint i = 0; i < json_tree_length (old_list); i++)
    {
      const JsonTree *entry = json_tree_item (old_list, i);

      if (entry_named (new_list, json_tree_get_string (entry, "name")) == NULL)
        compare_entry (out, section, entry, NULL);
    }
  compare (out, section, label, "line-list", old_order, new_order);
}

GPtrArray *
record_diff (const Record *older, const Record *newer)
{
  const JsonTree *a = record_tree (older);
  const JsonTree *b = record_tree (newer);
  GPtrArray *out = g_ptr_array_new_with_free_func ((GDestroyNotify) difference_free);

  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    compare (out, members[i].path, members[i].label, members[i].type,
             member_at (a, members[i].path), member_at (b, members[i].path));
  compare_entries (out, "arguments", member_at (a, "arguments"), member_at (b, "arguments"));
  compare_entries (out, "facts", member_at (a, "facts"), member_at (b, "facts"));
  compare (out, "executor/module", "Module", "line", member_at (a, "executor/module"),
           member_at (b, "executor/module"));
  compare (out, "executor/credential", "Credential", "line", member_at (a, "executor/credential"),
           member_at (b, "executor/credential"));
  compare_entries (out, "settings", member_at (a, "executor/settings"),
                   member_at (b, "executor/settings"));
  compare (out, "policy", "Policy", "line", member_at (a, "policy"), member_at (b, "policy"));
  compare (out, "claim", "The agent says", "text", member_at (a, "claim"), member_at (b, "claim"));
  return out;
}
