/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree that JSON text is read into and written from, and the canonical writer.  Every layer may
 * use it.  A getter never converts: what is of another kind is not there.  An object keeps its
 * members in the order in which they came, and beside it their canonical order.
 */
#include "service/base/json-private.h"

#include <string.h>

#define WRITE_FIRST 2048 /* bytes; most of what is written is a record or an entry of the log */

/* Of an array or an object. */
typedef struct
{
  char *name; /* NULL in an array */
  JsonTree *value;
  guint place; /* of an object: which item is the one that comes here by its name */
} Item;

struct JsonTree
{
  JsonTreeKind kind;
  gboolean boolean;
  Item *items;
  guint n, room;
  char text[]; /* of a string or a number */
};

JsonTree *
tree_new (JsonTreeKind kind, const char *text, gsize len)
{
  JsonTree *tree = g_malloc (sizeof (JsonTree) + len + 1);

  *tree = (JsonTree){ .kind = kind };
  memcpy (tree->text, text, len);
  tree->text[len] = '\0';
  return tree;
}

JsonTree *
json_tree_new_null (void)
{
  return tree_new (JSON_TREE_NULL, "", 0);
}

JsonTree *
json_tree_new_boolean (gboolean value)
{
  JsonTree *tree = tree_new (JSON_TREE_BOOLEAN, "", 0);

  tree->boolean = value != FALSE;
  return tree;
}

JsonTree *
json_tree_new_number (const char *text)
{
  return tree_new (JSON_TREE_NUMBER, text, strlen (text));
}

JsonTree *
json_tree_new_string (const char *value)
{
  g_assert (g_utf8_validate (value, -1, NULL));
  return tree_new (JSON_TREE_STRING, value, strlen (value));
}

JsonTree *
json_tree_new_array (void)
{
  return tree_new (JSON_TREE_ARRAY, "", 0);
}

JsonTree *
json_tree_new_object (void)
{
  return tree_new (JSON_TREE_OBJECT, "", 0);
}

void
json_tree_free (JsonTree *tree)
{
  if (tree == NULL)
    return;
  for (guint i = 0; i < tree->n; i++)
    {
      g_free (tree->items[i].name);
      json_tree_free (tree->items[i].value);
    }
  g_free (tree->items);
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

/* The item that is the @place-th by its name. */
static const Item *
item_by_name (const JsonTree *object, guint place)
{
  return &object->items[object->items[place].place];
}

guint
object_search (const JsonTree *object, const char *name, gboolean *out_found)
{
  guint low = 0, high = object->n;

  *out_found = FALSE;
  /* canonical text comes in order */
  if (high > 0)
    {
      int order = name_compare (name, item_by_name (object, high - 1)->name);

      if (order > 0)
        return high;
      *out_found = order == 0;
      high--;
    }
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      int order = name_compare (name, item_by_name (object, middle)->name);

      if (order == 0)
        *out_found = TRUE;
      if (order > 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
items_add (JsonTree *tree, guint place, char *name, JsonTree *value)
{
  if (tree->n == tree->room)
    {
      tree->room = tree->room > 0 ? tree->room * 2 : 4;
      tree->items = g_renew (Item, tree->items, tree->room);
    }
  for (guint i = tree->n; i > place; i--)
    tree->items[i].place = tree->items[i - 1].place;
  tree->items[place].place = tree->n;
  tree->items[tree->n].name = name;
  tree->items[tree->n].value = value;
  tree->n++;
}

JsonTree *
json_tree_add (JsonTree *object, const char *name, JsonTree *value)
{
  gboolean found;
  guint place;

  g_assert (json_tree_kind (object) == JSON_TREE_OBJECT && value != NULL);
  g_assert (g_utf8_validate (name, -1, NULL));
  place = object_search (object, name, &found);
  g_assert (!found);
  items_add (object, place, g_strdup (name), value);
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
  items_add (array, array->n, NULL, value);
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
  JsonTree *copy = tree_new (tree->kind, tree->text, strlen (tree->text));

  copy->boolean = tree->boolean;
  copy->n = copy->room = tree->n;
  copy->items = g_new (Item, tree->n);
  for (guint i = 0; i < tree->n; i++)
    copy->items[i] = (Item){ .name = g_strdup (tree->items[i].name),
                             .value = json_tree_copy (tree->items[i].value),
                             .place = tree->items[i].place };
  return copy;
}

/* The order of members does not matter; the text of a number does. */
gboolean
json_tree_equal (const JsonTree *a, const JsonTree *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  if (a->kind != b->kind || a->boolean != b->boolean || strcmp (a->text, b->text) != 0 ||
      a->n != b->n)
    return FALSE;

  for (guint i = 0; i < a->n; i++)
    {
      const JsonTree *other = a->kind == JSON_TREE_ARRAY ? json_tree_item (b, i)
                                                         : json_tree_member (b, a->items[i].name);

      if (!json_tree_equal (a->items[i].value, other))
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
  return tree == NULL ? 0 : tree->n;
}

/* The item of a tree of @kind, or NULL. */
static const Item *
item_at (const JsonTree *tree, JsonTreeKind kind, guint i)
{
  return json_tree_kind (tree) == kind && i < tree->n ? &tree->items[i] : NULL;
}

const JsonTree *
json_tree_item (const JsonTree *array, guint i)
{
  const Item *item = item_at (array, JSON_TREE_ARRAY, i);

  return item != NULL ? item->value : NULL;
}

const char *
json_tree_name (const JsonTree *object, guint i)
{
  const Item *item = item_at (object, JSON_TREE_OBJECT, i);

  return item != NULL ? item->name : NULL;
}

const JsonTree *
json_tree_member_at (const JsonTree *object, guint i)
{
  const Item *item = item_at (object, JSON_TREE_OBJECT, i);

  return item != NULL ? item->value : NULL;
}

const JsonTree *
json_tree_member (const JsonTree *object, const char *name)
{
  gboolean found;
  guint place;

  if (json_tree_kind (object) != JSON_TREE_OBJECT)
    return NULL;
  place = object_search (object, name, &found);
  return found ? item_by_name (object, place)->value : NULL;
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

const guint8 json_needs_escape[256] = {
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,         1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ['"'] = 1, ['\\'] = 1,
};

/* g_string_append_len() costs several times as much, and this is done twice for each member. */
static void
write_bytes (GString *out, const char *text, gsize len)
{
  gsize at = out->len;

  g_string_set_size (out, at + len);
  memcpy (out->str + at, text, len);
}

static void
write_escape (GString *out, guint8 byte)
{
  static const char shorts[] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
  };

  if (byte >= 0x20)
    g_string_append_printf (out, "\\%c", byte);
  else if (byte < sizeof shorts && shorts[byte] != '\0')
    g_string_append_printf (out, "\\%c", shorts[byte]);
  else
    g_string_append_printf (out, "\\u%04x", byte);
}

static void
write_string (GString *out, const char *text)
{
  const char *plain = text; /* from here on nothing needs an escape */
  const char *c = text;

  g_string_append_c (out, '"');
  for (;;)
    {
      while (json_needs_escape[(guint8) *c] == 0)
        c++;
      write_bytes (out, plain, (gsize) (c - plain));
      if (*c == '\0')
        break;
      write_escape (out, (guint8) *c);
      plain = ++c;
    }
  g_string_append_c (out, '"');
}

gboolean
json_tree_write_to (const JsonTree *tree, GString *out)
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
      for (guint i = 0; i < tree->n; i++)
        {
          if (i > 0)
            g_string_append_c (out, ',');
          if (!json_tree_write_to (tree->items[i].value, out))
            return FALSE;
        }
      g_string_append_c (out, ']');
      return TRUE;
    case JSON_TREE_OBJECT:
      g_string_append_c (out, '{');
      for (guint i = 0; i < tree->n; i++)
        {
          const Item *item = item_by_name (tree, i);

          if (i > 0)
            g_string_append_c (out, ',');
          write_string (out, item->name);
          g_string_append_c (out, ':');
          if (!json_tree_write_to (item->value, out))
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
  GString *out = g_string_sized_new (WRITE_FIRST);

  if (tree == NULL || !json_tree_write_to (tree, out))
    {
      g_string_free (out, TRUE);
      return NULL;
    }
  return g_string_free_to_bytes (out);
}
