/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types whose values are words for people or names of things: line, text, choice, account, path and
 * the name of a file.  Only the type table calls these.  What a name refuses is what a screen could
 * not show; what a text accepts, the rows escape.
 */
#include "service/record/type-private.h"
#include "service/record/unicode.h"

#include <string.h>

#define CHOICE_MAX 256
#define ACCOUNT_MAX 256
#define PATH_MAX_BYTES 4095
#define FILE_NAME_MAX 255

/* Says which character of @value is the fault, for an agent that can't see it. */
static char *
fault_at (const char *value, const char *c, const char *rule)
{
  return g_strdup_printf ("U+%04X at byte %" G_GSIZE_FORMAT " %s", g_utf8_get_char (c),
                          (gsize) (c - value), rule);
}

char *
fault_line (const char *value)
{
  for (const char *c = value; *c != '\0'; c = g_utf8_next_char (c))
    if (!g_ascii_isprint (*c) && (char_flags (g_utf8_get_char (c), NULL) & CHAR_CONTROL))
      return fault_at (value, c, "is a control or format character");
  return NULL;
}

char *
fault_text (const char *value)
{
  const char *c = strchr (value, '\r');

  return c != NULL ? fault_at (value, c, "is there: a line of text ends with U+000A alone") : NULL;
}

char *
respell_text (const char *value)
{
  GString *out = g_string_new (value);

  g_string_replace (out, "\r\n", "\n", 0);
  return g_string_free (out, FALSE);
}

char *
fault_argv_item (const char *value)
{
  return NULL;
}

char *
fault_choice (const char *value)
{
  for (const char *c = value; *c != '\0'; c++)
    if (!g_ascii_isgraph (*c))
      return g_strdup ("not a choice: it is printable ASCII without spaces");
  if (strlen (value) > CHOICE_MAX)
    return g_strdup_printf ("not a choice: it is longer than %d bytes", CHOICE_MAX);
  return NULL;
}

char *
fault_account (const char *value)
{
  if (strlen (value) > ACCOUNT_MAX)
    return g_strdup_printf ("not an account: it is longer than %d bytes", ACCOUNT_MAX);
  if (!g_ascii_isalnum (value[0]) && value[0] != '_')
    return g_strdup ("not an account: it starts with an ASCII letter, a digit or _");
  for (const char *c = value; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("_.@+$-", *c) == NULL)
      return g_strdup ("not an account: it is ASCII letters, digits and _ . @ + $ -");
  return NULL;
}

/* What names on a disk have in common: every character has a glyph, and the spelling is NFC. */
static char *
fault_name (const char *value)
{
  g_autofree char *composed = NULL;

  for (const char *c = value; *c != '\0'; c = g_utf8_next_char (c))
    if (!(char_flags (g_utf8_get_char (c), NULL) & (CHAR_SHOWN | CHAR_MARK)))
      return fault_at (value, c, "has no glyph of its own and may not be in a name");

  composed = g_utf8_normalize (value, -1, G_NORMALIZE_NFC);
  if (g_strcmp0 (composed, value) != 0)
    return g_strdup ("the name is not in Unicode normal form C");
  return NULL;
}

char *
fault_file_name (const char *value)
{
  if (strlen (value) > FILE_NAME_MAX)
    return g_strdup_printf ("the file name is longer than %d bytes", FILE_NAME_MAX);
  if (strcmp (value, ".") == 0 || strcmp (value, "..") == 0 || strchr (value, '/') != NULL)
    return g_strdup ("not a file name: it has no / and is neither . nor ..");
  return fault_name (value);
}

char *
respell_file_name (const char *value)
{
  if (strlen (value) > FILE_NAME_MAX)
    return NULL;
  return g_utf8_normalize (value, -1, G_NORMALIZE_NFC);
}

char *
fault_path (const char *value)
{
  g_auto (GStrv) parts = NULL;

  if (value[0] != '/')
    return g_strdup ("not a path: it starts with /");
  if (strlen (value) > PATH_MAX_BYTES)
    return g_strdup_printf ("the path is longer than %d bytes", PATH_MAX_BYTES);
  if (value[1] == '\0')
    return NULL;

  parts = g_strsplit (value + 1, "/", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      if (parts[i][0] == '\0')
        return g_strdup ("not a path: it has // or ends with /");
      if (strcmp (parts[i], ".") == 0 || strcmp (parts[i], "..") == 0)
        return g_strdup ("not a path: it has a component . or ..");
      if (strlen (parts[i]) > FILE_NAME_MAX)
        return g_strdup_printf ("the path has a component longer than %d bytes", FILE_NAME_MAX);
    }
  return fault_name (value);
}

/* Leaves ".." alone: where it leads depends on symbolic links, so no spelling is the same path. */
char *
respell_path (const char *value)
{
  g_auto (GStrv) parts = NULL;
  g_autoptr (GString) out = NULL;

  if (value[0] != '/' || strlen (value) > PATH_MAX_BYTES)
    return NULL;
  out = g_string_new (NULL);
  parts = g_strsplit (value, "/", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] != '\0' && strcmp (parts[i], ".") != 0)
      g_string_append_printf (out, "/%s", parts[i]);
  if (out->len == 0)
    g_string_append_c (out, '/');
  return g_utf8_normalize (out->str, -1, G_NORMALIZE_NFC);
}
