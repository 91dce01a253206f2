/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A policy image out of one text, and users for it; for targets alone, which may not depend on the
 * users of the machine.  It checks nothing: that is what the parser is there for.
 */
#include "tests/fuzz/policy-image.h"

#include "service/policy/image.h"

#include <string.h>

/* --- users: whoever is named exists --- */

static GPtrArray *people;

guint
people_number (void)
{
  return people != NULL ? people->len : 0;
}

const char *
people_name (guint i)
{
  return g_ptr_array_index (people, i);
}

void
people_forget (void)
{
  g_clear_pointer (&people, g_ptr_array_unref);
}

static gboolean
user_by_name (const char *name, uid_t *out_uid)
{
  guint i = 0;

  if (people == NULL)
    people = g_ptr_array_new_with_free_func (g_free);
  if (g_str_has_prefix (name, "absent"))
    return FALSE;
  if (strcmp (name, "nobody") == 0 || strcmp (name, "twin") == 0)
    {
      *out_uid = strcmp (name, "twin") == 0 ? 1000 : 65534;
      return TRUE;
    }
  while (i < people->len && strcmp (g_ptr_array_index (people, i), name) != 0)
    i++;
  if (i == people->len)
    g_ptr_array_add (people, g_strdup (name));
  *out_uid = strcmp (name, "root") == 0 ? 0 : 1000 + i;
  return TRUE;
}

static gboolean
user_by_uid (uid_t uid, char **out_name)
{
  if (uid == 65534)
    {
      *out_name = g_strdup ("nobody");
      return TRUE;
    }
  if (uid != 0 && (uid < 1000 || uid - 1000 >= people_number ()))
    return FALSE;
  *out_name = g_strdup (uid == 0 ? "root" : g_ptr_array_index (people, uid - 1000));
  return TRUE;
}

static gboolean
user_in_group (const char *user, const char *group)
{
  return TRUE;
}

const PolicyNames people_names = { user_by_name, user_by_uid, user_in_group };

/* --- the image --- */

typedef struct
{
  char *folder, *name;
  char mark; /* '+' or '-', 0 for none */
  const char *text;
  gsize len;
} Part;

static void
part_free (gpointer data)
{
  Part *part = data;

  g_free (part->folder);
  g_free (part->name);
  g_free (part);
}

static int
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *left = *(const Part *const *) a;
  const Part *right = *(const Part *const *) b;
  int order = strcmp (left->folder, right->folder);

  return order != 0 ? order : strcmp (left->name, right->name);
}

/* @line: "@rules/x.rule", not ended; NULL for anything else */
static Part *
part_new (const char *line, gsize len)
{
  g_autofree char *text = g_strndup (line, len);
  g_auto (GStrv) halves = len > 0 && text[0] == '@' ? g_strsplit (text + 1, "/", 2) : NULL;
  char *dot =
      halves != NULL && halves[0] != NULL && halves[1] != NULL ? strrchr (halves[1], '.') : NULL;
  Part *part;

  if (dot == NULL || !g_utf8_validate (text, -1, NULL))
    return NULL;
  *dot = '\0';
  part = g_new0 (Part, 1);
  part->mark = *halves[0] == '+' || *halves[0] == '-' ? *halves[0] : 0;
  part->folder = g_strdup (halves[0] + (part->mark != 0 ? 1 : 0));
  part->name = g_strdup (halves[1]);
  return part;
}

static GPtrArray *
split (const char *text, gsize len)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (part_free);
  Part *last = NULL;

  while (len > 0)
    {
      const char *end = memchr (text, '\n', len);
      gsize line = end != NULL ? (gsize) (end - text) + 1 : len;
      Part *part = part_new (text, end != NULL ? line - 1 : line);

      if (part != NULL)
        {
          part->text = text + line;
          g_ptr_array_add (parts, part);
          last = part;
        }
      else if (last != NULL)
        last->len += line;
      text += line;
      len -= line;
    }
  g_ptr_array_sort (parts, compare_parts);
  return parts;
}

GBytes *
policy_image (const char *text, gsize len)
{
  g_autoptr (GPtrArray) parts = split (text, len);
  g_autoptr (GVariant) root = NULL;
  GVariantBuilder files, modules;

  g_variant_builder_init (&files, G_VARIANT_TYPE ("a" IMAGE_FILE_TYPE));
  g_variant_builder_init (&modules, G_VARIANT_TYPE ("a" IMAGE_MODULE_TYPE));
  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = g_ptr_array_index (parts, i);
      gboolean module = strcmp (part->folder, "modules") == 0;
      g_autofree char *path = g_strdup_printf ("/%s/%s", part->folder, part->name);

      g_variant_builder_add (
          &files, "(ssbs@ay)", part->folder, part->name, module || part->mark == '+', path,
          g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, part->text, part->len, 1));
      if (module && part->mark != '-')
        g_variant_builder_add (&modules, "(ss@ay)", part->name, "/m",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "", 0, 1));
    }
  root = g_variant_ref_sink (g_variant_new ("(s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")",
                                            IMAGE_FORMAT, g_variant_builder_end (&files),
                                            g_variant_builder_end (&modules)));
  return g_variant_get_data_as_bytes (root);
}
