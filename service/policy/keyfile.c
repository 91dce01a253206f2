/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The strict key-file reader: bytes to lines, lines to sections and keys, both checked against the
 * caller's table.  It needs GLib alone.  GKeyFile is not used, since it lets the last of two equal
 * keys win without a word.
 */
#include "service/policy/keyfile.h"

#include <string.h>

typedef struct
{
  const char *path;
  const SectionSpec *schema;
  Faults *faults;
  KeyFile *file;
  KeySection *current; /* NULL before the first section */
  gboolean skipping;   /* in a section that was a fault itself */
  GHashTable *seen;    /* "KIND NAME" and "KIND NAME\nKEY" → line */
  guint line;
} Reader;

static void
key_entry_free (gpointer data)
{
  KeyEntry *entry = data;

  g_free (entry->key);
  g_free (entry->value);
  g_free (entry);
}

static void
key_section_free (gpointer data)
{
  KeySection *section = data;

  g_free (section->name);
  g_ptr_array_unref (section->entries);
  g_free (section);
}

void
key_file_free (KeyFile *file)
{
  if (file == NULL)
    return;
  g_free (file->path);
  g_ptr_array_unref (file->sections);
  g_free (file);
}

static KeyFile *
key_file_new (const char *path)
{
  KeyFile *file = g_new0 (KeyFile, 1);

  file->path = g_strdup (path);
  file->sections = g_ptr_array_new_with_free_func (key_section_free);
  return file;
}

static void
add_fault (Reader *reader, const char *format, const char *text)
{
  g_autofree char *quoted = quote_text (text);

  faults_add (reader->faults, reader->path, reader->line, "%s%s", quoted, format);
}

/* see_once: remembers @seen (transfer full); where it stood before is a fault and FALSE. */
static gboolean
see_once (Reader *reader, char *seen, const char *name, const char *mark)
{
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (reader->seen, seen));

  if (first == 0)
    {
      g_hash_table_insert (reader->seen, seen, GUINT_TO_POINTER (reader->line));
      return TRUE;
    }
  g_free (seen);
  faults_add (reader->faults, reader->path, reader->line, "%s%s stands twice, first in line %u",
              name, mark, first);
  return FALSE;
}

/* --- bytes --- */

static guint
line_at (const char *text, gsize offset)
{
  guint line = 1;

  for (gsize i = 0; i < offset; i++)
    if (text[i] == '\n')
      line++;
  return line;
}

static gboolean
check_bytes (const char *path, const char *text, gsize len, Faults *faults)
{
  const char *bad;

  if (len > KEY_FILE_MAX_BYTES)
    {
      faults_add (faults, path, 0, "the file is larger than %d bytes", KEY_FILE_MAX_BYTES);
      return FALSE;
    }
  bad = len > 0 ? memchr (text, '\0', len) : NULL;
  if (bad != NULL)
    {
      faults_add (faults, path, line_at (text, (gsize) (bad - text)), "a NUL byte");
      return FALSE;
    }
  if (!g_utf8_validate_len (text, len, &bad))
    {
      faults_add (faults, path, line_at (text, (gsize) (bad - text)), "not valid UTF-8");
      return FALSE;
    }
  return TRUE;
}

/* What a reader of the file could not see, or would see where it is not. */
static gboolean
is_invisible (gunichar c)
{
  if (c < 0x80)
    return c < 0x20 || c == 0x7f;
  switch ((int) g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
check_line (Reader *reader, const char *text, gsize len)
{
  gboolean comment = text[0] == '#' || text[0] == ';';

  if (len > KEY_FILE_MAX_LINE)
    {
      faults_add (reader->faults, reader->path, reader->line, "the line is longer than %d bytes",
                  KEY_FILE_MAX_LINE);
      return FALSE;
    }
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (is_invisible (c) && !(comment && c == '\t'))
        {
          faults_add (reader->faults, reader->path, reader->line,
                      "an invisible character, U+%04X, at byte %u", c, (guint) (p - text) + 1);
          return FALSE;
        }
    }
  return TRUE;
}

/* --- lines --- */

static const SectionSpec *
find_section_spec (const SectionSpec *schema, const char *kind, gsize len)
{
  for (; schema->kind != NULL; schema++)
    if (strlen (schema->kind) == len && strncmp (schema->kind, kind, len) == 0)
      return schema;
  return NULL;
}

static const KeySpec *
find_key_spec (const KeySpec *keys, const char *name)
{
  for (; keys->name != NULL; keys++)
    if (strcmp (keys->name, name) == 0)
      return keys;
  return NULL;
}

/* What stands between the brackets; adds a fault and returns FALSE unless it may stand there. */
static gboolean
check_section (Reader *reader,
               const char *inner,
               const SectionSpec **out_spec,
               const char **out_name)
{
  gsize kind_len = strcspn (inner, " ");
  const char *name = inner[kind_len] == ' ' ? inner + kind_len + 1 : NULL;
  const SectionSpec *spec = find_section_spec (reader->schema, inner, kind_len);

  if (spec == NULL)
    {
      add_fault (reader, " is not a section of this kind of file", inner);
      return FALSE;
    }
  if (spec->name_is_valid == NULL && name != NULL)
    {
      faults_add (reader->faults, reader->path, reader->line, "section [%s] takes no name",
                  spec->kind);
      return FALSE;
    }
  if (spec->name_is_valid != NULL && name == NULL)
    {
      faults_add (reader->faults, reader->path, reader->line, "section [%s] needs a name",
                  spec->kind);
      return FALSE;
    }
  if (name != NULL && !spec->name_is_valid (name))
    {
      add_fault (reader, " is not a name that such a section may have", name);
      return FALSE;
    }
  *out_spec = spec;
  *out_name = name;
  return TRUE;
}

static void
read_section (Reader *reader, const char *text)
{
  g_autofree char *inner = g_strdup (text + 1);
  const SectionSpec *spec;
  const char *name;
  char *end = strchr (inner, ']');
  KeySection *section;

  reader->current = NULL;
  reader->skipping = TRUE;
  if (end == NULL || end[1] != '\0')
    {
      add_fault (reader, " is not a section: one [ at the start, one ] at the end", text);
      return;
    }
  *end = '\0';
  if (!check_section (reader, inner, &spec, &name) ||
      !see_once (reader, g_strdup (inner), text, ""))
    return;

  section = g_new0 (KeySection, 1);
  section->spec = spec;
  section->name = g_strdup (name);
  section->line = reader->line;
  section->entries = g_ptr_array_new_with_free_func (key_entry_free);
  g_ptr_array_add (reader->file->sections, section);
  reader->current = section;
  reader->skipping = FALSE;
}

static gboolean
is_key (const char *text, gsize len)
{
  if (len == 0 || !g_ascii_isupper (text[0]))
    return FALSE;
  for (gsize i = 0; i < len; i++)
    if (!g_ascii_isalnum (text[i]))
      return FALSE;
  return TRUE;
}

/* Whether @key with @value may stand in the current section. */
static gboolean
check_key (Reader *reader, const char *key, const char *value)
{
  const KeySection *section = reader->current;
  const KeySpec *spec = find_key_spec (section->spec->keys, key);
  char *seen;

  if (spec == NULL && !(section->spec->flags & SECTION_OPEN))
    {
      faults_add (reader->faults, reader->path, reader->line, "%s= is not a key of [%s]", key,
                  section->spec->kind);
      return FALSE;
    }
  if (*value == '\0' && spec != NULL && !(spec->flags & KEY_MAY_BE_EMPTY))
    {
      faults_add (reader->faults, reader->path, reader->line, "%s= has no value", key);
      return FALSE;
    }
  if (spec != NULL && (spec->flags & KEY_REPEATABLE))
    return TRUE;
  seen = g_strconcat (section->spec->kind, " ", section->name != NULL ? section->name : "", "\n",
                      key, NULL);
  return see_once (reader, seen, key, "=");
}

static void
read_key (Reader *reader, const char *text)
{
  const char *equals = strchr (text, '=');
  g_autofree char *key = NULL;
  KeyEntry *entry;

  if (equals == NULL || !is_key (text, (gsize) (equals - text)))
    {
      add_fault (reader, " is not a section, a key with its value, or a comment", text);
      return;
    }
  key = g_strndup (text, (gsize) (equals - text));
  if (reader->skipping)
    return;
  if (reader->current == NULL)
    {
      faults_add (reader->faults, reader->path, reader->line, "%s= stands before any section", key);
      return;
    }
  if (equals[1] == ' ')
    {
      faults_add (reader->faults, reader->path, reader->line, "white space after %s=", key);
      return;
    }
  if (!check_key (reader, key, equals + 1))
    return;
  entry = g_new0 (KeyEntry, 1);
  entry->key = g_steal_pointer (&key);
  entry->value = g_strdup (equals + 1);
  entry->line = reader->line;
  g_ptr_array_add (reader->current->entries, entry);
}

static void
read_line (Reader *reader, const char *text, gsize len)
{
  if (len == 0 || !check_line (reader, text, len) || text[0] == '#' || text[0] == ';')
    return;
  if (text[0] == ' ')
    faults_add (reader->faults, reader->path, reader->line,
                "white space at the start of the line (nothing is continued)");
  else if (text[len - 1] == ' ')
    faults_add (reader->faults, reader->path, reader->line, "white space at the end of the line");
  else if (text[len - 1] == '\\')
    faults_add (reader->faults, reader->path, reader->line,
                "a backslash at the end of the line (nothing is continued)");
  else if (text[0] == '[')
    read_section (reader, text);
  else
    read_key (reader, text);
}

/* --- the whole --- */

static void
check_required_keys (const KeyFile *file, const KeySection *section, Faults *faults)
{
  for (const KeySpec *key = section->spec->keys; key->name != NULL; key++)
    if ((key->flags & KEY_REQUIRED) && key_section_entry (section, key->name) == NULL)
      faults_add (faults, file->path, section->line, "[%s%s%s] lacks %s=", section->spec->kind,
                  section->name != NULL ? " " : "", section->name != NULL ? section->name : "",
                  key->name);
}

static void
check_required (const KeyFile *file, const SectionSpec *schema, Faults *faults)
{
  for (; schema->kind != NULL; schema++)
    if ((schema->flags & SECTION_REQUIRED) && key_file_section (file, schema->kind) == NULL)
      faults_add (faults, file->path, 0, "the file lacks a section [%s%s]", schema->kind,
                  schema->name_is_valid != NULL ? " NAME" : "");
}

/* A line with a fault may be the one that a section seems to lack. */
static void
check_sections (const KeyFile *file, Faults *faults)
{
  for (guint i = file->sections->len; i > 0; i--)
    {
      KeySection *section = g_ptr_array_index (file->sections, i - 1);
      guint before = faults_count (faults);

      if (!section->is_faulty)
        check_required_keys (file, section, faults);
      if (section->is_faulty || faults_count (faults) != before)
        g_ptr_array_remove_index (file->sections, i - 1);
    }
}

KeyFile *
key_file_parse_rest (const char *path, GBytes *content, const SectionSpec *schema, Faults *faults)
{
  g_autoptr (KeyFile) file = key_file_new (path);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reader reader = { .path = path, .schema = schema, .faults = faults, .file = file, .seen = seen };
  guint before = faults_count (faults);
  gsize len, start = 0;
  const char *text = g_bytes_get_data (content, &len);

  if (!check_bytes (path, text, len, faults))
    return NULL;
  while (start < len)
    {
      const char *end = memchr (text + start, '\n', len - start);
      gsize line_len = end != NULL ? (gsize) (end - text) - start : len - start;
      g_autofree char *line = g_strndup (text + start, line_len);

      guint so_far = faults_count (faults);

      reader.line++;
      read_line (&reader, line, line_len);
      if (faults_count (faults) != so_far && reader.current != NULL)
        reader.current->is_faulty = TRUE;
      start += line_len + 1;
    }
  if (faults_count (faults) == before)
    check_required (file, schema, faults);
  check_sections (file, faults);
  file->is_faulty = faults_count (faults) != before;
  return g_steal_pointer (&file);
}

KeyFile *
key_file_parse (const char *path, GBytes *content, const SectionSpec *schema, Faults *faults)
{
  guint before = faults_count (faults);
  g_autoptr (KeyFile) file = key_file_parse_rest (path, content, schema, faults);

  return faults_count (faults) == before ? g_steal_pointer (&file) : NULL;
}

const KeySection *
key_file_section (const KeyFile *file, const char *kind)
{
  for (guint i = 0; i < file->sections->len; i++)
    {
      const KeySection *section = g_ptr_array_index (file->sections, i);

      if (strcmp (section->spec->kind, kind) == 0)
        return section;
    }
  return NULL;
}

const KeyEntry *
key_section_entry (const KeySection *section, const char *key)
{
  for (guint i = 0; i < section->entries->len; i++)
    {
      const KeyEntry *entry = g_ptr_array_index (section->entries, i);

      if (strcmp (entry->key, key) == 0)
        return entry;
    }
  return NULL;
}

const char *
key_section_value (const KeySection *section, const char *key)
{
  const KeyEntry *entry = key_section_entry (section, key);

  return entry != NULL ? entry->value : NULL;
}

guint
key_section_line (const KeySection *section, const char *key)
{
  const KeyEntry *entry = key_section_entry (section, key);

  return entry != NULL ? entry->line : section->line;
}

char **
key_entry_words (const KeyFile *file, const KeyEntry *entry, guint max, Faults *faults)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) split = g_strsplit (entry->value, " ", -1);

  for (guint i = 0; split[i] != NULL; i++)
    {
      if (*split[i] == '\0')
        continue;
      if (!g_hash_table_add (seen, split[i]))
        {
          g_autofree char *quoted = quote_text (split[i]);

          faults_add (faults, file->path, entry->line, "%s stands twice in %s=", quoted,
                      entry->key);
          continue;
        }
      g_ptr_array_add (words, g_strdup (split[i]));
    }
  if (words->len == 0 || words->len > max)
    {
      faults_add (faults, file->path, entry->line, "%s= takes 1 to %u words", entry->key, max);
      return NULL;
    }
  g_ptr_array_add (words, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&words), FALSE);
}

gboolean
key_section_yes_no (const KeyFile *file,
                    const KeySection *section,
                    const char *key,
                    gboolean fallback,
                    Faults *faults)
{
  const KeyEntry *entry = key_section_entry (section, key);
  g_autofree char *quoted = NULL;

  if (entry == NULL)
    return fallback;
  if (strcmp (entry->value, "yes") == 0)
    return TRUE;
  if (strcmp (entry->value, "no") == 0)
    return FALSE;
  quoted = quote_text (entry->value);
  faults_add (faults, file->path, entry->line, "%s= takes yes or no, not %s", key, quoted);
  return fallback;
}
