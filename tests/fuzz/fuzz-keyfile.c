/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The key-file reader: what it takes has nothing twice that may be there once, nothing unknown and
 * nothing invisible, and can be written again line by line from what was read.
 */
#include "service/policy/keyfile.h"
#include "service/policy/load.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_section (const KeySection *section)
{
  g_assert ((section->name != NULL) == (section->spec->name_is_valid != NULL));
  g_assert (section->name == NULL || section->spec->name_is_valid (section->name));
  for (guint i = 0; i < section->entries->len; i++)
    {
      const KeyEntry *entry = g_ptr_array_index (section->entries, i);
      const KeySpec *spec = section->spec->keys;

      while (spec->name != NULL && strcmp (spec->name, entry->key) != 0)
        spec++;
      g_assert (spec->name != NULL || (section->spec->flags & SECTION_OPEN));
      g_assert (g_utf8_validate (entry->value, -1, NULL));
      g_assert (strpbrk (entry->value, "\n\r\t\x1b") == NULL);
      if (spec->name == NULL || !(spec->flags & KEY_REPEATABLE))
        g_assert (key_section_entry (section, entry->key) == entry);
    }
}

static GBytes *
write_again (const KeyFile *file)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < file->sections->len; i++)
    {
      const KeySection *section = g_ptr_array_index (file->sections, i);

      g_string_append_printf (text, "[%s%s%s]\n", section->spec->kind,
                              section->name != NULL ? " " : "",
                              section->name != NULL ? section->name : "");
      for (guint j = 0; j < section->entries->len; j++)
        {
          const KeyEntry *entry = g_ptr_array_index (section->entries, j);

          g_string_append_printf (text, "%s=%s\n", entry->key, entry->value);
        }
    }
  return g_string_free_to_bytes (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const SectionSpec *const schemas[] = { action_schema, rule_schema };
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);

  for (guint i = 0; i < G_N_ELEMENTS (schemas); i++)
    {
      g_autoptr (Faults) faults = faults_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (KeyFile) file = key_file_parse ("x", bytes, schemas[i], faults);
      g_autoptr (KeyFile) back = NULL;
      g_autoptr (GBytes) once = NULL, twice = NULL;

      g_assert (faults_report (faults, &error) == (file != NULL));
      refusal_seen (error);
      if (file == NULL)
        continue;
      for (guint j = 0; j < file->sections->len; j++)
        check_section (g_ptr_array_index (file->sections, j));
      once = write_again (file);
      if (g_bytes_get_size (once) > KEY_FILE_MAX_BYTES)
        continue; /* the last line had no line feed */
      back = key_file_parse ("x", once, schemas[i], faults);
      g_assert (back != NULL);
      twice = write_again (back);
      g_assert (g_bytes_equal (once, twice));
    }
  return 0;
}
