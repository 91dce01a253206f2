/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The action record as everyone reads it: its bytes, its digests and its members.  A Record exists
 * only for bytes that passed every check; nothing here can change one.
 */
#include "service/record/record.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/record/record-private.h"
#include "service/record/type.h"

#include <string.h>

#define INTENT_FORMAT "undersign.intent/1"
#define INTENT_FIRST 2048 /* bytes; most are no longer */

struct Record
{
  gatomicrefcount references;
  GBytes *bytes;
  JsonTree *tree;
  guint8 digest[PAE_DIGEST_SIZE];
  guint8 intent[PAE_DIGEST_SIZE];
};

/* append_member: @lead is what stands before the value, its name included. */
static void
append_member (GString *out, const char *lead, const JsonTree *object, const char *name)
{
  g_string_append (out, lead);
  json_tree_write_to (json_tree_member (object, name), out);
}

/* Name, type and value of each entry: what a label says does not change what is meant. */
static void
append_entries (GString *out, const JsonTree *list)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_item (list, i);

      append_member (out, i == 0 ? "{\"name\":" : ",{\"name\":", entry, "name");
      append_member (out, ",\"type\":", entry, "type");
      append_member (out, ",\"value\":", entry, "value");
      g_string_append_c (out, '}');
    }
  g_string_append_c (out, ']');
}

/*
 * The intent as undersign-record(7) has it, in canonical form: the names stand here in their order.
 * It is written from the record's own tree, whose shape was checked, without a copy of its values.
 */
static void
compute_intent (const JsonTree *tree, guint8 out_intent[PAE_DIGEST_SIZE])
{
  const JsonTree *agent = json_tree_member (tree, "agent");
  const JsonTree *executor = json_tree_member (tree, "executor");
  GString *out = g_string_sized_new (INTENT_FIRST);
  g_autoptr (GBytes) bytes = NULL;

  append_member (out, "{\"action\":", json_tree_member (tree, "action"), "id");
  append_member (out, ",\"agent\":{\"name\":", agent, "name");
  append_member (out, ",\"uid\":", agent, "uid");
  g_string_append (out, "},\"arguments\":");
  append_entries (out, json_tree_member (tree, "arguments"));
  append_member (out, ",\"executor\":{\"credential\":", executor, "credential");
  append_member (out, ",\"module\":", executor, "module");
  g_string_append (out, ",\"settings\":");
  append_entries (out, json_tree_member (executor, "settings"));
  g_string_append (out, "},\"format\":\"" INTENT_FORMAT "\"}");

  bytes = g_string_free_to_bytes (out);
  pae_sha256 (PAE_TYPE_INTENT, bytes, out_intent);
}

Record *
record_decode (GBytes *bytes, GError **error)
{
  static const JsonLimits limits = {
    .bytes = RECORD_MAX_BYTES,
    .depth = RECORD_MAX_DEPTH,
    .string = RECORD_MAX_STRING,
    .items = RECORD_MAX_ITEMS,
  };
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (GBytes) again = NULL;
  Record *record;
  gsize len;
  const char *text = g_bytes_get_data (bytes, &len);

  if (len > RECORD_MAX_BYTES)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                    "the record is longer than %d bytes", RECORD_MAX_BYTES);
      return NULL;
    }
  tree = json_tree_parse (text, len, &limits, error);
  if (tree == NULL || !record_check_shape (tree, error))
    return NULL;
  again = json_tree_write (tree);
  if (again == NULL || !g_bytes_equal (again, bytes))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_RECORD,
                    "not in canonical form (RFC 8785)");
      return NULL;
    }

  record = g_new0 (Record, 1);
  g_atomic_ref_count_init (&record->references);
  record->bytes = g_bytes_ref (bytes);
  record->tree = g_steal_pointer (&tree);
  pae_sha256 (PAE_TYPE_RECORD, record->bytes, record->digest);
  compute_intent (record->tree, record->intent);
  return record;
}

Record *
record_ref (Record *record)
{
  g_atomic_ref_count_inc (&record->references);
  return record;
}

void
record_unref (Record *record)
{
  if (record == NULL || !g_atomic_ref_count_dec (&record->references))
    return;
  g_bytes_unref (record->bytes);
  json_tree_free (record->tree);
  g_free (record);
}

GBytes *
record_bytes (const Record *record)
{
  return record->bytes;
}

const guint8 *
record_digest (const Record *record)
{
  return record->digest;
}

const JsonTree *
record_tree (const Record *record)
{
  return record->tree;
}

const guint8 *
record_intent (const Record *record)
{
  return record->intent;
}

char *
record_fingerprint (const Record *record)
{
  const guint8 *d = record->digest;

  return g_strdup_printf ("%02x%02x-%02x%02x-%02x%02x", d[0], d[1], d[2], d[3], d[4], d[5]);
}

/* The string at @object.@name, or "" where it is not in the record. */
static const char *
string_at (const Record *record, const char *object, const char *name)
{
  const char *text = json_tree_get_string (json_tree_member (record->tree, object), name);

  return text != NULL ? text : "";
}

const char *
record_host (const Record *record)
{
  return json_tree_get_string (record->tree, "host");
}

const char *
record_agent_name (const Record *record)
{
  return string_at (record, "agent", "name");
}

guint32
record_agent_uid (const Record *record)
{
  guint32 uid = G_MAXUINT32; /* nobody, but it was checked when the record was decoded */

  member_parse_uid (string_at (record, "agent", "uid"), &uid);
  return uid;
}

const char *
record_agent_owner (const Record *record)
{
  return string_at (record, "agent", "owner");
}

const char *
record_agent_part (const Record *record)
{
  return string_at (record, "agent", "part");
}

const char *
record_run_id (const Record *record)
{
  return string_at (record, "run", "id");
}

const char *
record_run_label (const Record *record)
{
  return string_at (record, "run", "label");
}

gboolean
record_initiator (const Record *record, const char **out_name, guint32 *out_uid)
{
  const JsonTree *initiator =
      json_tree_member (json_tree_member (record->tree, "run"), "initiator");

  if (initiator == NULL || !member_parse_uid (json_tree_get_string (initiator, "uid"), out_uid))
    return FALSE;
  *out_name = json_tree_get_string (initiator, "name");
  return TRUE;
}

const char *
record_action_id (const Record *record)
{
  return string_at (record, "action", "id");
}

const char *
record_action_summary (const Record *record)
{
  return string_at (record, "action", "summary");
}

const char *
record_action_effect (const Record *record)
{
  return string_at (record, "action", "effect");
}

const char *
record_claim (const Record *record)
{
  const char *claim = json_tree_get_string (record->tree, "claim");

  return claim != NULL ? claim : "";
}

const char *
record_policy (const Record *record)
{
  return json_tree_get_string (record->tree, "policy");
}

const char *
record_module (const Record *record)
{
  return string_at (record, "executor", "module");
}

const char *
record_credential (const Record *record)
{
  return string_at (record, "executor", "credential");
}

static const JsonTree *
entry_value (const JsonTree *list, const char *name, const char **out_type)
{
  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_item (list, i);

      if (strcmp (json_tree_get_string (entry, "name"), name) != 0)
        continue;
      if (out_type != NULL)
        *out_type = json_tree_get_string (entry, "type");
      return json_tree_member (entry, "value");
    }
  return NULL;
}

const JsonTree *
record_argument (const Record *record, const char *name, const char **out_type)
{
  return entry_value (json_tree_member (record->tree, "arguments"), name, out_type);
}

const JsonTree *
record_fact (const Record *record, const char *name, const char **out_type)
{
  return entry_value (json_tree_member (record->tree, "facts"), name, out_type);
}

const JsonTree *
record_setting (const Record *record, const char *name, const char **out_type)
{
  return entry_value (json_tree_member (json_tree_member (record->tree, "executor"), "settings"),
                      name, out_type);
}
