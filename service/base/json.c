/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree that JSON text is read into and written from, and the canonical writer.  Every layer may
 * use it.  A getter never converts: what is of another kind is not there.  An object keeps its
 * members in the order in which they came, and beside it their canonical order.
 */
#include "service/base/json.h"

#include <string.h>

struct JsonTree
{
  JsonTreeKind kind;
  gboolean boolean;
  char *text;       /* of a string or a number */
  GPtrArray *items; /* of an array or an object: trees */
  GPtrArray *names; /* of an object: the name of each item */
  GArray *order;    /* of an object: guint indices of its items, sorted by name */
};

static JsonTree *
tree_new (JsonTreeKind kind)
{
  JsonTree *tree = g_new0 (JsonTree, 1);

  tree->kind = kind;
  return tree;
}

JsonTree *
json_tree_new_null (void)
{
  return tree_new (JSON_TREE_NULL);
}

JsonTree *
json_tree_new_boolean (gboolean value)
{
  JsonTree *tree = tree_new (JSON_TREE_BOOLEAN);

  tree->boolean = value != FALSE;
  return tree;
}

JsonTree *
json_tree_new_number (const char *text)
{
  JsonTree *tree = tree_new (JSON_TREE_NUMBER);

  tree->text = g_strdup (text);
  return tree;
}

JsonTree *
json_tree_new_string (const char *value)
{
  JsonTree *tree = tree_new (JSON_TREE_STRING);

  g_assert (g_utf8_validate (value, -1, NULL));
  tree->text = g_strdup (value);
  return tree;
}

JsonTree *
json_tree_new_array (void)
{
  JsonTree *tree = tree_new (JSON_TREE_ARRAY);

  tree->items = g_ptr_array_new_with_free_func ((GDestroyNotify) json_tree_free);
  return tree;
}

JsonTree *
json_tree_new_object (void)
{
  JsonTree *tree = tree_new (JSON_TREE_OBJECT);

  tree->items = g_ptr_array_new_with_free_func ((GDestroyNotify) json_tree_free);
  tree->names = g_ptr_array_new_with_free_func (g_free);
  tree->order = g_array_new (FALSE, FALSE, sizeof (guint));
  return tree;
}

void
json_tree_free (JsonTree *tree)
{
  if (tree == NULL)
    return;
  g_free (tree->text);
  g_clear_pointer (&tree->items, g_ptr_array_unref);
  g_clear_pointer (&tree->names, g_ptr_array_unref);
  g_clear_pointer (&tree->order, g_array_unref);
  g_free (tree);
}

/*
 * Compares as UTF-16 code units.  UTF-8 sorts as code points do; the two differ only in that the
 * surrogates of a supplementary character (lead byte F0 and up) sort before U+E000 (lead byte EE).
 */
static int
name_compare (const char *a, const char *b)
{
  guint8 x, y;

  while (*a != '\0' && *a == *b)
    {
      a++;
      b++;
    }
  x = (guint8) *a;
  y = (guint8) *b;
  if (x == 0xee || x == 0xef)
    x += 0x10;
  if (y == 0xee || y == 0xef)
    y += 0x10;
  return (int) x - (int) y;
}

/* The place in the order where @name is, or where it belongs. */
static guint
object_search (const JsonTree *object, const char *name, gboolean *out_found)
{
  guint low = 0, high = object->order->len;

  *out_found = FALSE;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      guint index = g_array_index (object->order, guint, middle);
      int order = name_compare (name, g_ptr_array_index (object->names, index));

      if (order == 0)
        *out_found = TRUE;
      if (order > 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

JsonTree *
json_tree_add (JsonTree *object, const char *name, JsonTree *value)
{
  guint place, index = json_tree_length (object);
  gboolean found;

  g_assert (json_tree_kind (object) == JSON_TREE_OBJECT && value != NULL);
  g_assert (g_utf8_validate (name, -1, NULL));
  place = object_search (object, name, &found);
  g_assert (!found);
  g_array_insert_val (object->order, place, index);
  g_ptr_array_add (object->names, g_strdup (name));
  g_ptr_array_add (object->items, value);
  return value;
}

void
json_tree_add_string (JsonTree *object, const char *name, const char *value)
{
  json_tree_add (object, name, json_tree_new_string (value));
}

void
json_tree_add_boolean (JsonTree *object, const char *name, gboolean value)
{
  json_tree_add (object, name, json_tree_new_boolean (value));
}

JsonTree *
json_tree_append (JsonTree *array, JsonTree *value)
{
  g_assert (json_tree_kind (array) == JSON_TREE_ARRAY && value != NULL);
  g_ptr_array_add (array->items, value);
  return value;
}

void
json_tree_append_string (JsonTree *array, const char *value)
{
  json_tree_append (array, json_tree_new_string (value));
}

JsonTree *
json_tree_copy (const JsonTree *tree)
{
  JsonTree *copy;

  switch (tree->kind)
    {
    case JSON_TREE_ARRAY:
      copy = json_tree_new_array ();
      for (guint i = 0; i < tree->items->len; i++)
        json_tree_append (copy, json_tree_copy (g_ptr_array_index (tree->items, i)));
      return copy;
    case JSON_TREE_OBJECT:
      copy = json_tree_new_object ();
      for (guint i = 0; i < tree->items->len; i++)
        json_tree_add (copy, json_tree_name (tree, i),
                       json_tree_copy (g_ptr_array_index (tree->items, i)));
      return copy;
    case JSON_TREE_NULL:
    case JSON_TREE_BOOLEAN:
    case JSON_TREE_NUMBER:
    case JSON_TREE_STRING:
    default:
      copy = tree_new (tree->kind);
      copy->boolean = tree->boolean;
      copy->text = g_strdup (tree->text);
      return copy;
    }
}

/* The order of members does not matter; the text of a number does. */
gboolean
json_tree_equal (const JsonTree *a, const JsonTree *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  if (a->kind != b->kind || a->boolean != b->boolean || g_strcmp0 (a->text, b->text) != 0 ||
      json_tree_length (a) != json_tree_length (b))
    return FALSE;

  for (guint i = 0; i < json_tree_length (a); i++)
    {
      const JsonTree *other =
          a->kind == JSON_TREE_ARRAY ? json_tree_item (b, i)
                                     : json_tree_member (b, json_tree_name (a, i));

      if (!json_tree_equal (g_ptr_array_index (a->items, i), other))
        return FALSE;
    }
  return TRUE;
}

JsonTreeKind
json_tree_kind (const JsonTree *tree)
{
  return tree == NULL ? JSON_TREE_NULL : tree->kind;
}

guint
json_tree_length (const JsonTree *tree)
{
  return tree == NULL || tree->items == NULL ? 0 : tree->items->len;
}

const JsonTree *
json_tree_item (const JsonTree *array, guint i)
{
  if (json_tree_kind (array) != JSON_TREE_ARRAY || i >= array->items->len)
    return NULL;
  return g_ptr_array_index (array->items, i);
}

const char *
json_tree_name (const JsonTree *object, guint i)
{
  if (json_tree_kind (object) != JSON_TREE_OBJECT || i >= object->names->len)
    return NULL;
  return g_ptr_array_index (object->names, i);
}

const JsonTree *
json_tree_member_at (const JsonTree *object, guint i)
{
  if (json_tree_kind (object) != JSON_TREE_OBJECT || i >= object->items->len)
    return NULL;
  return g_ptr_array_index (object->items, i);
}

const JsonTree *
json_tree_member (const JsonTree *object, const char *name)
{
  gboolean found;
  guint place;

  if (json_tree_kind (object) != JSON_TREE_OBJECT)
    return NULL;
  place = object_search (object, name, &found);
  if (!found)
    return NULL;
  return json_tree_member_at (object, g_array_index (object->order, guint, place));
}

const char *
json_tree_string (const JsonTree *tree)
{
  return json_tree_kind (tree) == JSON_TREE_STRING ? tree->text : NULL;
}

const char *
json_tree_number (const JsonTree *tree)
{
  return json_tree_kind (tree) == JSON_TREE_NUMBER ? tree->text : NULL;
}

gboolean
json_tree_boolean (const JsonTree *tree, gboolean *out_value)
{
  if (json_tree_kind (tree) != JSON_TREE_BOOLEAN)
    return FALSE;
  *out_value = tree->boolean;
  return TRUE;
}

const char *
json_tree_get_string (const JsonTree *object, const char *name)
{
  return json_tree_string (json_tree_member (object, name));
}

static void
write_string (GString *out, const char *text)
{
  static const char shorts[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                 ['\r'] = 'r' };

  g_string_append_c (out, '"');
  for (const char *c = text; *c != '\0'; c++)
    {
      guint8 byte = (guint8) *c;

      if (byte == '"' || byte == '\\')
        g_string_append_printf (out, "\\%c", *c);
      else if (byte < sizeof shorts && shorts[byte] != '\0')
        g_string_append_printf (out, "\\%c", shorts[byte]);
      else if (byte < 0x20)
        g_string_append_printf (out, "\\u%04x", byte);
      else
        g_string_append_c (out, *c);
    }
  g_string_append_c (out, '"');
}

static gboolean
write_tree (GString *out, const JsonTree *tree)
{
  switch (tree->kind)
    {
    case JSON_TREE_NULL:
      g_string_append (out, "null");
      return TRUE;
    case JSON_TREE_BOOLEAN:
      g_string_append (out, tree->boolean ? "true" : "false");
      return TRUE;
    case JSON_TREE_STRING:
      write_string (out, tree->text);
      return TRUE;
    case JSON_TREE_ARRAY:
      g_string_append_c (out, '[');
      for (guint i = 0; i < tree->items->len; i++)
        {
          if (i > 0)
            g_string_append_c (out, ',');
          if (!write_tree (out, g_ptr_array_index (tree->items, i)))
            return FALSE;
        }
      g_string_append_c (out, ']');
      return TRUE;
    case JSON_TREE_OBJECT:
      g_string_append_c (out, '{');
      for (guint i = 0; i < tree->items->len; i++)
        {
          guint index = g_array_index (tree->order, guint, i);

          if (i > 0)
            g_string_append_c (out, ',');
          write_string (out, g_ptr_array_index (tree->names, index));
          g_string_append_c (out, ':');
          if (!write_tree (out, g_ptr_array_index (tree->items, index)))
            return FALSE;
        }
      g_string_append_c (out, '}');
      return TRUE;
    case JSON_TREE_NUMBER:
    default:
      return FALSE;
    }
}

GBytes *
json_tree_write (const JsonTree *tree)
{
  GString *out = g_string_new (NULL);

  if (tree == NULL || !write_tree (out, tree))
    {
      g_string_free (out, TRUE);
      return NULL;
    }
  return g_string_free_to_bytes (out);
}
