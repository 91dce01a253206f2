/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A strict reader of key files.  It takes untrusted bytes and a table of what may stand in them;
 * what the table does not name, or names once and finds twice, is a fault.  Nothing is continued,
 * trimmed, expanded or defaulted.  undersign-policy(5), section SYNTAX, is the specification.
 */
#pragma once

#include "service/policy/fault.h"

#include <glib.h>

G_BEGIN_DECLS

#define KEY_FILE_MAX_BYTES (256 * 1024)
#define KEY_FILE_MAX_LINE (8 * 1024)

typedef enum
{
  KEY_PLAIN = 0,
  KEY_REQUIRED = 1 << 0,
  KEY_REPEATABLE = 1 << 1,
  KEY_MAY_BE_EMPTY = 1 << 2,
} KeyFlags;

typedef struct
{
  const char *name;
  KeyFlags flags;
} KeySpec;

typedef enum
{
  SECTION_PLAIN = 0,
  SECTION_REQUIRED = 1 << 0,
  /* further keys are allowed, once each; the caller checks their names */
  SECTION_OPEN = 1 << 1,
} SectionFlags;

typedef struct
{
  const char *kind;                             /* "Rule" of [Rule mail] */
  gboolean (*name_is_valid) (const char *name); /* NULL: a section without a name */
  SectionFlags flags;
  const KeySpec *keys; /* ends with a NULL name */
} SectionSpec;

typedef struct
{
  char *key, *value;
  guint line;
} KeyEntry;

typedef struct
{
  const SectionSpec *spec;
  char *name; /* NULL where the kind has none */
  guint line;
  GPtrArray *entries; /* KeyEntry, in file order */
  gboolean is_faulty;
} KeySection;

typedef struct
{
  char *path;
  GPtrArray *sections; /* KeySection, in file order */
  gboolean is_faulty;  /* lines or sections are left out */
} KeyFile;

/*
 * key_file_parse:
 * @path: for messages alone
 * @schema: ends with a NULL kind; must outlive the result
 *
 * Returns: (transfer full) (nullable): NULL where a fault was added.
 */
KeyFile *
key_file_parse (const char *path, GBytes *content, const SectionSpec *schema, Faults *faults);

/*
 * key_file_parse_rest: the same for who reports every fault there is: where there was one, what is
 * left are the sections without.
 * Returns: (transfer full) (nullable): NULL where the file is no text at all.
 */
KeyFile *
key_file_parse_rest (const char *path, GBytes *content, const SectionSpec *schema, Faults *faults);
void key_file_free (KeyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KeyFile, key_file_free)

/* key_file_section: the first of this kind, or NULL, also for a required one that has a fault. */
const KeySection *key_file_section (const KeyFile *file, const char *kind);

/* key_section_entry: the first of this key, or NULL. */
const KeyEntry *key_section_entry (const KeySection *section, const char *key);
const char *key_section_value (const KeySection *section, const char *key);
/* key_section_line: of the key, or of the section where it does not have it. */
guint key_section_line (const KeySection *section, const char *key);

/*
 * key_entry_words: the value split at spaces; a word that stands twice or a list of more than
 * @max words is a fault.
 * Returns: (transfer full) (nullable): each word once, or NULL where there are none or too many.
 */
char **key_entry_words (const KeyFile *file, const KeyEntry *entry, guint max, Faults *faults);

/* key_section_yes_no: "yes" or "no", @fallback where absent; anything else is a fault. */
gboolean key_section_yes_no (const KeyFile *file,
                             const KeySection *section,
                             const char *key,
                             gboolean fallback,
                             Faults *faults);

G_END_DECLS
