/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of types: what there is, how each travels and how it is described.  Everyone may look
 * up; the checks themselves stand in type-*.c.  A type that is not here does not exist, and no
 * caller may treat it as text.
 */
#include "service/record/type-private.h"

#include <string.h>

#define NUMBER "(0|-?[1-9][0-9]*)"

static const Type types[] = {
  { "line", TYPE_WIRE_STRING, fault_line, NULL, NULL,
    "one line, without control or format characters" },
  { "text", TYPE_WIRE_STRING, fault_text, respell_text, NULL,
    "text of any number of lines, each but the last ended by a line feed alone" },
  { "boolean", TYPE_WIRE_BOOLEAN, NULL, NULL, NULL, "true or false" },
  { "integer", TYPE_WIRE_STRING, fault_integer, respell_integer, "^" NUMBER "$",
    "an integer in decimal digits, as a string: -5" },
  { "decimal", TYPE_WIRE_STRING, fault_decimal, respell_decimal,
    "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$",
    "a decimal number as a string, without zeros at the end: 12.5" },
  { "money", TYPE_WIRE_STRING, fault_money, respell_money,
    "^-?(0|[1-9][0-9]*)(\\.[0-9]+)? [A-Z]{3}$",
    "an amount with all digits of its minor unit and an ISO 4217 code: 12.50 EUR" },
  { "account", TYPE_WIRE_STRING, fault_account, NULL, "^[A-Za-z0-9_][A-Za-z0-9_.@+$-]*$",
    "the name of an account: j.smith" },
  { "email", TYPE_WIRE_STRING, fault_email, respell_email, "^[^@ ]+@[a-z0-9.-]+$",
    "one bare e-mail address with its domain in lower case: j.smith@example.com" },
  { "email-list", TYPE_WIRE_STRINGS, fault_email, respell_email, "^[^@ ]+@[a-z0-9.-]+$",
    "bare e-mail addresses with their domains in lower case, each once" },
  { "hostname", TYPE_WIRE_STRING, fault_hostname, respell_hostname, "^[a-z0-9.:-]+$",
    "a host name in lower case, or an IP address: www.example.com" },
  { "hostport", TYPE_WIRE_STRING, fault_hostport, respell_hostport,
    "^([a-z0-9.-]+|\\[[0-9a-f:]+\\]):[1-9][0-9]*$", "a host and a port: smtp.example.com:587" },
  { "url", TYPE_WIRE_STRING, fault_url, respell_url, "^[a-z][a-z0-9+.-]*://[^ @/]+/",
    "an absolute URL in normal form, without user name: https://example.com/" },
  { "path", TYPE_WIRE_STRING, fault_path, respell_path, "^/",
    "an absolute path without // and without . or .. components: /srv/data" },
  { "choice", TYPE_WIRE_STRING, fault_choice, NULL, "^[!-~]+$",
    "one of the words that the action lists" },
  { "timestamp", TYPE_WIRE_STRING, fault_timestamp, respell_timestamp,
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
    "a time in UTC, in whole seconds: 2026-11-30T09:00:00Z" },
  { "duration", TYPE_WIRE_STRING, fault_duration, respell_duration, "^[1-9][0-9]*(s|min|h|d)$",
    "one number and the largest unit of d, h, min and s that keeps it whole: 90min" },
  { "size", TYPE_WIRE_STRING, fault_size, respell_size, "^(0|[1-9][0-9]*)$",
    "a number of bytes in decimal digits, as a string, without unit: 18233" },
  { "file", TYPE_WIRE_FILE, fault_file_name, respell_file_name, NULL,
    "the path of a file whose content is sent" },
  { "file-list", TYPE_WIRE_FILES, fault_file_name, respell_file_name, NULL,
    "the paths of the files whose content is sent" },
  { "line-list", TYPE_WIRE_STRINGS, fault_line, NULL, NULL,
    "lines, each without control or format characters and not empty" },
  { "argv", TYPE_WIRE_STRINGS, fault_argv_item, NULL, NULL,
    "the words of a command line, one an item, no shell" },
};

const Type *
type_find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].name, name) == 0)
      return &types[i];
  return NULL;
}

const Type *
type_at (guint i)
{
  return i < G_N_ELEMENTS (types) ? &types[i] : NULL;
}

const char *
type_name (const Type *type)
{
  return type->name;
}

TypeWire
type_wire (const Type *type)
{
  return type->wire;
}

const char *
type_signature (const Type *type)
{
  switch (type->wire)
    {
    case TYPE_WIRE_STRING:
      return "s";
    case TYPE_WIRE_BOOLEAN:
      return "b";
    case TYPE_WIRE_STRINGS:
      return "as";
    case TYPE_WIRE_FILE:
      return "(sh)";
    case TYPE_WIRE_FILES:
      return "a(sh)";
    default:
      g_assert_not_reached ();
    }
}

JsonTree *
type_empty (const Type *type)
{
  switch (type->wire)
    {
    case TYPE_WIRE_STRING:
      return json_tree_new_string ("");
    case TYPE_WIRE_BOOLEAN:
      return json_tree_new_boolean (FALSE);
    case TYPE_WIRE_STRINGS:
    case TYPE_WIRE_FILES:
      return json_tree_new_array ();
    case TYPE_WIRE_FILE:
      return NULL;
    default:
      g_assert_not_reached ();
    }
}

gboolean
type_is_empty (const Type *type, const JsonTree *value)
{
  switch (type->wire)
    {
    case TYPE_WIRE_STRING:
      return json_tree_string (value) != NULL && json_tree_string (value)[0] == '\0';
    case TYPE_WIRE_STRINGS:
    case TYPE_WIRE_FILES:
      return json_tree_kind (value) == JSON_TREE_ARRAY && json_tree_length (value) == 0;
    case TYPE_WIRE_BOOLEAN:
    case TYPE_WIRE_FILE:
      return FALSE;
    default:
      g_assert_not_reached ();
    }
}

JsonTree *
type_schema (const Type *type)
{
  g_autoptr (JsonTree) schema = json_tree_new_object ();
  JsonTree *item = schema;

  json_tree_add_string (schema, "description", type->help);
  if (type->wire == TYPE_WIRE_BOOLEAN)
    {
      json_tree_add_string (schema, "type", "boolean");
      return g_steal_pointer (&schema);
    }
  if (type->wire == TYPE_WIRE_STRINGS || type->wire == TYPE_WIRE_FILES)
    {
      json_tree_add_string (schema, "type", "array");
      item = json_tree_add (schema, "items", json_tree_new_object ());
    }
  json_tree_add_string (item, "type", "string");
  if (type->pattern != NULL)
    json_tree_add_string (item, "pattern", type->pattern);
  return g_steal_pointer (&schema);
}
