/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One value as lines, by its type.  Only the rows ask.  Two different values of one type never give
 * the same lines: what a person compares is what was hashed.  Nothing is left out or shortened.
 */
#include "service/record/rows-private.h"

#include <string.h>

#define COUNTED_ITEMS 10 /* a longer list is counted in a note */
#define HOST_PREFIX "host: "

/* Groups of three digits before the point: 12500.00 EUR is 12 500.00 EUR. */
static char *
group_digits (const char *number)
{
  GString *out = g_string_new (NULL);
  gsize sign = number[0] == '-' ? 1 : 0;
  gsize digits = strspn (number + sign, "0123456789");

  g_string_append_len (out, number, (gssize) sign);
  for (gsize i = 0; i < digits; i++)
    {
      if (i > 0 && (digits - i) % 3 == 0)
        g_string_append_c (out, ' ');
      g_string_append_c (out, number[sign + i]);
    }
  g_string_append (out, number + sign + digits);
  return g_string_free (out, FALSE);
}

static void
add_size (Row *row, const char *size)
{
  g_autofree char *grouped = group_digits (size);
  g_autofree char *line =
      g_strdup_printf ("%s byte%s", grouped, strcmp (size, "1") == 0 ? "" : "s");

  row_add_line (row, line);
}

/* What is worth a word about a domain, or about all of a list. */
static void
note_domains (Row *row, const JsonTree *value)
{
  g_autoptr (GHashTable) domains = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = json_tree_length (value);
  g_autofree char *note = NULL;
  const char *domain = "";

  for (guint i = 0; i < n; i++)
    {
      domain = strchr (json_tree_string (json_tree_item (value, i)), '@') + 1;
      g_hash_table_add (domains, (gpointer) domain);
    }
  if (n <= COUNTED_ITEMS)
    return;
  if (g_hash_table_size (domains) == 1)
    note = g_strdup_printf ("%u addresses, all at %s", n, domain);
  else
    note = g_strdup_printf ("%u addresses at %u domains", n, g_hash_table_size (domains));
  row_add_note (row, note);
}

/* Whether a label of the domain in a line is an A-label.  Of a URL this is the line of its host. */
static gboolean
has_a_label (const char *line)
{
  const char *at = strchr (line, '@');
  const char *domain = at != NULL ? at + 1 : line;

  if (g_str_has_prefix (line, HOST_PREFIX))
    domain = line + strlen (HOST_PREFIX);
  return g_str_has_prefix (domain, "xn--") || strstr (domain, ".xn--") != NULL;
}

static void
set_string (Row *row, const char *text, EscapeMode mode, Notes *notes, EscapeCount *count)
{
  g_autofree char *line = escape_value (text, mode, count);

  notes_read (notes, text);
  row_add_line (row, line);
}

static void
set_text (Row *row, const char *text, Notes *notes, EscapeCount *count)
{
  g_autoptr (GPtrArray) lines = escape_lines (text, count);

  notes_read (notes, text);
  for (guint i = 0; i < lines->len; i++)
    row_add_line (row, g_ptr_array_index (lines, i));
}

/* The host on a line of its own: the rest of a URL is whatever its author liked. */
static void
set_url (Row *row, const char *url)
{
  const char *authority = strstr (url, "://") + 3;
  g_autofree char *host = g_strdup_printf ("host: %.*s", (int) strcspn (authority, "/"), authority);

  row_add_line (row, url);
  row_add_line (row, host);
}

/* Letters outside ASCII stay readable; beside them stands the spelling that can't be mistaken. */
static void
note_ascii (Row *row, const char *name)
{
  g_autofree char *ascii = NULL;
  g_autofree char *note = NULL;

  if (g_str_is_ascii (name))
    return;
  ascii = escape_value (name, ESCAPE_ASCII, NULL);
  note = g_strdup_printf ("characters outside ASCII: %s", ascii);
  row_add_note (row, note);
}

/* @escaped in quotes, where it can't end them: a backslash of its own is doubled already. */
static char *
in_quotes (const char *escaped)
{
  g_auto (GStrv) parts = g_strsplit (escaped, "\"", -1);
  g_autofree char *joined = g_strjoinv ("\\\"", parts);

  return g_strdup_printf ("\"%s\"", joined);
}

/* Three lines: name in quotes, size, digest; @number is 0 where there is one file alone. */
static void
set_file (Row *row, const JsonTree *file, guint number, Notes *notes, EscapeCount *count)
{
  const char *name = json_tree_get_string (file, "name");
  g_autofree char *escaped = escape_value (name, ESCAPE_NAME, count);
  g_autofree char *prefix = number > 0 ? g_strdup_printf ("%u: ", number) : g_strdup ("");
  g_autofree char *quoted = in_quotes (escaped);
  g_autofree char *line = g_strconcat (prefix, quoted, NULL);
  g_autofree char *digest = g_strdup_printf ("sha256 %s", json_tree_get_string (file, "sha256"));

  notes_read (notes, name);
  row_add_line (row, line);
  add_size (row, json_tree_get_string (file, "size"));
  row_add_line (row, digest);
  note_ascii (row, name);
}

static void
set_items (Row *row, const JsonTree *value, Notes *notes, EscapeCount *count)
{
  const gboolean words = strcmp (row->type, "argv") == 0;
  guint n = json_tree_length (value);

  for (guint i = 0; i < n; i++)
    {
      const char *item = json_tree_string (json_tree_item (value, i));
      g_autofree char *escaped = escape_value (item, ESCAPE_LINE, count);
      g_autofree char *quoted = in_quotes (escaped);
      g_autofree char *word = g_strdup_printf ("%u: %s", i + 1, quoted);

      notes_read (notes, item);
      row_add_line (row, words ? word : escaped);
    }
  if (strcmp (row->type, "email-list") == 0)
    note_domains (row, value);
  else if (n > COUNTED_ITEMS)
    {
      g_autofree char *note = g_strdup_printf ("%u items", n);

      row_add_note (row, note);
    }
}

static void
set_plain (Row *row, const char *text, Notes *notes, EscapeCount *count)
{
  const char *const numbers[] = { "integer", "decimal", "money", NULL };

  if (g_strv_contains (numbers, row->type))
    {
      g_autofree char *grouped = group_digits (text);

      row_add_line (row, grouped);
    }
  else if (strcmp (row->type, "size") == 0)
    add_size (row, text);
  else if (strcmp (row->type, "text") == 0)
    set_text (row, text, notes, count);
  else if (strcmp (row->type, "url") == 0)
    set_url (row, text);
  else if (strcmp (row->type, "path") == 0)
    {
      set_string (row, text, ESCAPE_NAME, notes, count);
      note_ascii (row, text);
    }
  else
    set_string (row, text, ESCAPE_LINE, notes, count);
}

static void
note_a_labels (Row *row)
{
  const char *const domains[] = { "email", "email-list", "hostname", "hostport", "url", NULL };

  if (!g_strv_contains (domains, row->type))
    return;
  for (guint i = strcmp (row->type, "url") == 0 ? 1 : 0; i < row->lines->len; i++)
    if (has_a_label (g_ptr_array_index (row->lines, i)))
      {
        row_add_note (row, "an internationalised domain name (xn--)");
        return;
      }
}

static void
set_by_wire (Row *row, const Type *type, const JsonTree *value, Notes *notes, EscapeCount *count)
{
  gboolean truth = FALSE;

  switch (type_wire (type))
    {
    case TYPE_WIRE_BOOLEAN:
      json_tree_boolean (value, &truth);
      row_add_line (row, truth ? "yes" : "no");
      break;
    case TYPE_WIRE_FILE:
      set_file (row, value, 0, notes, count);
      break;
    case TYPE_WIRE_FILES:
      for (guint i = 0; i < json_tree_length (value); i++)
        set_file (row, json_tree_item (value, i), i + 1, notes, count);
      break;
    case TYPE_WIRE_STRINGS:
      set_items (row, value, notes, count);
      break;
    case TYPE_WIRE_STRING:
    default:
      set_plain (row, json_tree_string (value), notes, count);
      break;
    }
}

gboolean
row_says (const Row *row, const char *words)
{
  gboolean found = words[0] == '\0';

  for (guint i = 0; i < row->lines->len; i++)
    {
      g_autofree char *line = g_strdup (g_ptr_array_index (row->lines, i));

      g_strstrip (line);
      if (line[0] == '\0')
        continue;
      if (found || g_ascii_strcasecmp (line, words) != 0)
        return FALSE;
      found = TRUE;
    }
  return found;
}

/* The card says "none" of an empty value; a value that says it itself, or nothing, is told apart.
 */
static void
note_not_empty (Row *row)
{
  if (row_says (row, "none"))
    row_add_note (row, "the word none: the value is not empty");
  if (row_says (row, ""))
    row_add_note (row, "blank lines alone: the value is not empty");
}

static void
end_value (Row *row, const Notes *notes, const EscapeCount *count, RowsSum *sum)
{
  note_not_empty (row);
  note_a_labels (row);
  notes_write (notes, count, row->notes);
  if (escape_is_mostly_hidden (count) && sum->why == NULL)
    sum->why = g_strdup_printf ("%s: too much of it cannot be shown", row->label);
}

void
row_set_words (Row *row, const char *text, RowsSum *sum)
{
  g_autoptr (Notes) notes = notes_new ();
  EscapeCount count = { 0 };

  set_string (row, text, ESCAPE_LINE, notes, &count);
  end_value (row, notes, &count, sum);
}

void
row_set_value (Row *row, const JsonTree *value, RowsSum *sum)
{
  const Type *type = type_find (row->type);
  g_autoptr (Notes) notes = notes_new ();
  EscapeCount count = { 0 };

  if (type_is_empty (type, value))
    {
      row_set_empty (row);
      return;
    }
  set_by_wire (row, type, value, notes, &count);
  end_value (row, notes, &count, sum);
}
