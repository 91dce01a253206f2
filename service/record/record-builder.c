/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a record.  Only the executor and tests do: everyone else has bytes.  The builder trusts
 * nothing that it was given: what it encoded is a record only once the decoder has read it.
 */
#include "service/record/record.h"

struct RecordBuilder
{
  JsonTree *tree;
  JsonTree *arguments; /* borrowed from the tree, as are the next three */
  JsonTree *facts;
  JsonTree *executor;
  JsonTree *settings;
};

RecordBuilder *
record_builder_new (const char *host)
{
  RecordBuilder *builder = g_new0 (RecordBuilder, 1);

  builder->tree = json_tree_new_object ();
  json_tree_add_string (builder->tree, "format", RECORD_FORMAT);
  json_tree_add_string (builder->tree, "host", host);
  builder->arguments = json_tree_add (builder->tree, "arguments", json_tree_new_array ());
  builder->facts = json_tree_add (builder->tree, "facts", json_tree_new_array ());
  builder->executor = json_tree_add (builder->tree, "executor", json_tree_new_object ());
  builder->settings = json_tree_add (builder->executor, "settings", json_tree_new_array ());
  return builder;
}

void
record_builder_free (RecordBuilder *builder)
{
  if (builder == NULL)
    return;
  json_tree_free (builder->tree);
  g_free (builder);
}

static void
add_uid (JsonTree *object, guint32 uid)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT32_FORMAT, uid);

  json_tree_add_string (object, "uid", text);
}

void
record_builder_agent (
    RecordBuilder *builder, const char *name, guint32 uid, const char *owner, const char *part)
{
  JsonTree *agent = json_tree_add (builder->tree, "agent", json_tree_new_object ());

  json_tree_add_string (agent, "name", name);
  add_uid (agent, uid);
  json_tree_add_string (agent, "owner", owner);
  json_tree_add_string (agent, "part", part);
}

void
record_builder_run (RecordBuilder *builder,
                    const char *id,
                    const char *label,
                    const char *initiator_name,
                    guint32 initiator_uid)
{
  JsonTree *run = json_tree_add (builder->tree, "run", json_tree_new_object ());
  JsonTree *initiator;

  json_tree_add_string (run, "id", id);
  json_tree_add_string (run, "label", label);
  if (initiator_name == NULL)
    return;
  initiator = json_tree_add (run, "initiator", json_tree_new_object ());
  json_tree_add_string (initiator, "name", initiator_name);
  add_uid (initiator, initiator_uid);
}

void
record_builder_action (RecordBuilder *builder,
                       const char *id,
                       const char *summary,
                       const char *effect)
{
  JsonTree *action = json_tree_add (builder->tree, "action", json_tree_new_object ());

  json_tree_add_string (action, "id", id);
  json_tree_add_string (action, "summary", summary);
  json_tree_add_string (action, "effect", effect);
}

/* Returns: the entry, borrowed. */
static JsonTree *
add_entry (JsonTree *list, const char *name, const char *label, const char *type, JsonTree *value)
{
  JsonTree *entry = json_tree_append (list, json_tree_new_object ());

  json_tree_add_string (entry, "name", name);
  json_tree_add_string (entry, "label", label);
  json_tree_add_string (entry, "type", type);
  json_tree_add (entry, "value", value);
  return entry;
}

void
record_builder_argument (
    RecordBuilder *builder, const char *name, const char *label, const char *type, JsonTree *value)
{
  add_entry (builder->arguments, name, label, type, value);
}

void
record_builder_fact (RecordBuilder *builder,
                     const char *name,
                     const char *label,
                     const char *type,
                     JsonTree *value,
                     gboolean recheck)
{
  JsonTree *fact = add_entry (builder->facts, name, label, type, value);

  json_tree_add_boolean (fact, "recheck", recheck);
}

void
record_builder_executor (RecordBuilder *builder, const char *module, const char *credential)
{
  json_tree_add_string (builder->executor, "module", module);
  json_tree_add_string (builder->executor, "credential", credential);
}

void
record_builder_setting (
    RecordBuilder *builder, const char *name, const char *label, const char *type, JsonTree *value)
{
  add_entry (builder->settings, name, label, type, value);
}

/* An empty claim is no member: there is one spelling of "the agent said nothing". */
void
record_builder_claim (RecordBuilder *builder, const char *claim)
{
  if (claim[0] != '\0')
    json_tree_add_string (builder->tree, "claim", claim);
}

void
record_builder_policy (RecordBuilder *builder, const char *digest)
{
  json_tree_add_string (builder->tree, "policy", digest);
}

Record *
record_builder_end (RecordBuilder *builder, GError **error)
{
  g_autoptr (GBytes) bytes = json_tree_write (builder->tree);

  /* The writer refuses numbers alone, and a value with one fails type_check() all the same. */
  if (bytes == NULL)
    bytes = g_bytes_new_static ("", 0);
  return record_decode (bytes, error);
}
