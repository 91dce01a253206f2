/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a tree is an action record: exactly the members of undersign-record(7), each of its
 * spelling, each value of its type.  Only the decoder calls this, for every record that anyone
 * reads or makes; there is no other way to a Record.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/record/record-private.h"
#include "service/record/record.h"
#include "service/record/type.h"

#include <string.h>

static const char *const no_names[] = { NULL };

/* The arrays of entries. */
typedef struct
{
  const char *name;
  gboolean has_recheck;
  gboolean has_files; /* files come with a request, so only arguments are of their types */
} Section;

static const Section arguments_section = { "arguments", FALSE, TRUE };
static const Section facts_section = { "facts", TRUE, FALSE };
static const Section settings_section = { "settings", FALSE, FALSE };

static gboolean
bad_record (const char *where, const char *rule, GError **error)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_RECORD, "%s: %s", where,
                       rule);
}

static gboolean
is_format (const char *text)
{
  return strcmp (text, RECORD_FORMAT) == 0;
}

static gboolean
is_uid (const char *text)
{
  return member_parse_uid (text, NULL);
}

static gboolean
is_label_or_empty (const char *text)
{
  return text[0] == '\0' || member_is_label (text);
}

static gboolean
is_credential_or_empty (const char *text)
{
  return text[0] == '\0' || member_is_credential (text);
}

/* The members that are one string; those of `run.initiator` are checked where it is there. */
static const struct
{
  const char *object; /* "" for the record itself */
  const char *name;
  gboolean (*is_valid) (const char *text);
} members[] = {
  { "", "format", is_format },
  { "", "host", id_is_valid },
  { "", "policy", member_is_digest },
  { "agent", "name", member_is_name },
  { "agent", "uid", is_uid },
  { "agent", "owner", member_is_user },
  { "agent", "part", member_is_name },
  { "run", "id", id_is_valid },
  { "run", "label", is_label_or_empty },
  { "action", "id", member_is_action },
  { "action", "summary", member_is_label },
  { "action", "effect", member_is_effect },
  { "executor", "module", member_is_name },
  { "executor", "credential", is_credential_or_empty },
};

static gboolean
check_strings (const JsonTree *tree, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const char *in = members[i].object;
      const JsonTree *object = in[0] != '\0' ? json_tree_member (tree, in) : tree;
      const char *text = json_tree_get_string (object, members[i].name);

      if (text == NULL || !members[i].is_valid (text))
        {
          g_autofree char *where =
              g_strconcat (in, in[0] != '\0' ? "." : "", members[i].name, NULL);

          return bad_record (where, "not of its form", error);
        }
    }
  return TRUE;
}

/* The one string that is no identifier: capped, and spelled as a text. */
static gboolean
check_claim (const JsonTree *tree, GError **error)
{
  const JsonTree *claim = json_tree_member (tree, "claim");
  const char *text = json_tree_string (claim);

  if (claim == NULL)
    return TRUE;
  if (text == NULL || text[0] == '\0')
    return bad_record ("claim", "a claim that is there is a string and not empty", error);
  if (strlen (text) > RECORD_MAX_CLAIM)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "claim: longer than %d bytes", RECORD_MAX_CLAIM);
  return type_check (type_find ("text"), "claim", claim, error);
}

static gboolean
check_run (const JsonTree *run, GError **error)
{
  static const char *const required[] = { "id", "label", NULL };
  static const char *const optional[] = { "initiator", NULL };
  static const char *const of_initiator[] = { "name", "uid", NULL };
  const JsonTree *initiator = json_tree_member (run, "initiator");
  const char *name = json_tree_get_string (initiator, "name");
  const char *uid = json_tree_get_string (initiator, "uid");

  if (!member_check_names (run, "run", required, optional, US_REASON_BAD_RECORD, error))
    return FALSE;
  if (initiator == NULL)
    return TRUE;
  if (!member_check_names (initiator, "run.initiator", of_initiator, no_names, US_REASON_BAD_RECORD,
                           error))
    return FALSE;
  if (name == NULL || !member_is_user (name) || uid == NULL || !is_uid (uid))
    return bad_record ("run.initiator", "not of its form", error);
  return TRUE;
}

static gboolean
is_file_type (const Type *type)
{
  return type_wire (type) == TYPE_WIRE_FILE || type_wire (type) == TYPE_WIRE_FILES;
}

/* One entry; the section is its place until its name is known. */
static gboolean
check_entry (const JsonTree *entry, const Section *section, GHashTable *names, GError **error)
{
  static const char *const required[] = { "label", "name", "type", "value", NULL };
  static const char *const of_fact[] = { "label", "name", "recheck", "type", "value", NULL };
  const char *name = json_tree_get_string (entry, "name");
  const char *label = json_tree_get_string (entry, "label");
  const char *type_word = json_tree_get_string (entry, "type");
  const Type *type = type_word != NULL ? type_find (type_word) : NULL;
  gboolean recheck;

  if (!member_check_names (entry, section->name, section->has_recheck ? of_fact : required,
                           no_names, US_REASON_BAD_RECORD, error))
    return FALSE;
  if (name == NULL || !member_is_name (name))
    return bad_record (section->name, "its name is not of its form", error);
  if (!g_hash_table_add (names, (gpointer) name))
    return bad_record (name, "the name is there twice", error);
  if (label == NULL || !member_is_label (label))
    return bad_record (name, "its label is not one line of 1 to 200 bytes", error);
  if (type == NULL)
    return bad_record (name, "there is no such type", error);
  if (is_file_type (type) && !section->has_files)
    return bad_record (name, "only arguments hold files", error);
  if (section->has_recheck && !json_tree_boolean (json_tree_member (entry, "recheck"), &recheck))
    return bad_record (name, "recheck is not a boolean", error);
  return type_check (type, name, json_tree_member (entry, "value"), error);
}

static gboolean
check_entries (const JsonTree *list, const Section *section, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  if (json_tree_kind (list) != JSON_TREE_ARRAY)
    return bad_record (section->name, "not an array", error);
  if (json_tree_length (list) > RECORD_MAX_ARGUMENTS)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "%s: more than %d entries", section->name, RECORD_MAX_ARGUMENTS);
  for (guint i = 0; i < json_tree_length (list); i++)
    if (!check_entry (json_tree_item (list, i), section, names, error))
      return FALSE;
  return TRUE;
}

/* What all files of a record together may be. */
static gboolean
check_files (const JsonTree *list, GError **error)
{
  guint count = 0;
  guint64 size = 0;

  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_item (list, i);
      const JsonTree *value = json_tree_member (entry, "value");
      const Type *type = type_find (json_tree_get_string (entry, "type"));
      TypeWire wire = type_wire (type);
      guint n = wire == TYPE_WIRE_FILES ? json_tree_length (value) : 1;

      if (!is_file_type (type))
        continue;
      for (guint j = 0; j < n; j++)
        {
          const JsonTree *file = wire == TYPE_WIRE_FILES ? json_tree_item (value, j) : value;

          size += g_ascii_strtoull (json_tree_get_string (file, "size"), NULL, 10);
        }
      count += n;
    }
  if (count > RECORD_MAX_FILES || size > RECORD_MAX_FILES_SIZE)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "arguments: more than %d files or %d bytes of files", RECORD_MAX_FILES,
                         RECORD_MAX_FILES_SIZE);
  return TRUE;
}

gboolean
record_check_shape (const JsonTree *tree, GError **error)
{
  static const char *const of_record[] = { "action", "agent", "arguments", "executor", "facts",
                                           "format", "host",  "policy",    "run",      NULL };
  static const char *const of_record_too[] = { "claim", NULL };
  static const char *const of_agent[] = { "name", "owner", "part", "uid", NULL };
  static const char *const of_action[] = { "effect", "id", "summary", NULL };
  static const char *const of_executor[] = { "credential", "module", "settings", NULL };
  const char *const reason = US_REASON_BAD_RECORD;
  const JsonTree *executor = json_tree_member (tree, "executor");
  const JsonTree *arguments = json_tree_member (tree, "arguments");
  const JsonTree *facts = json_tree_member (tree, "facts");
  const JsonTree *settings = json_tree_member (executor, "settings");

  return member_check_names (tree, "the record", of_record, of_record_too, reason, error) &&
         member_check_names (json_tree_member (tree, "agent"), "agent", of_agent, no_names, reason,
                             error) &&
         member_check_names (json_tree_member (tree, "action"), "action", of_action, no_names,
                             reason, error) &&
         member_check_names (executor, "executor", of_executor, no_names, reason, error) &&
         check_run (json_tree_member (tree, "run"), error) && check_strings (tree, error) &&
         check_claim (tree, error) && check_entries (arguments, &arguments_section, error) &&
         check_entries (facts, &facts_section, error) &&
         check_entries (settings, &settings_section, error) && check_files (arguments, error);
}
