/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading --key options.  A key that cannot be read is an error, never one key less. */
#include "service/base/given-keys.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/file.h"
#include "service/base/pae.h"
#include "service/base/signer.h"

#include <string.h>

#define KEY_FILE_MAX 4096

static char *
key_of_file (const char *path, GError **error)
{
  g_auto (Signer) signer = { 0 };
  g_autoptr (GBytes) bytes = file_read_given (path, KEY_FILE_MAX, error);

  if (bytes == NULL)
    return NULL;
  if (!signer_parse (bytes, &signer, error))
    {
      us_error_about (error, path);
      return NULL;
    }
  return signer_id_text (&signer);
}

GPtrArray *
given_keys_load (char **words, GError **error)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  guint8 digest[PAE_DIGEST_SIZE];

  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    {
      char *id = NULL;

      if (digest_from_string (words[i], digest))
        id = g_strdup (words[i]);
      else if (g_str_has_prefix (words[i], "sha256:"))
        us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                      "the id of a key is sha256: and 64 lower-case hex digits, not \"%s\"",
                      words[i]);
      else
        id = key_of_file (words[i], error);
      if (id == NULL)
        return NULL;
      g_ptr_array_add (keys, id);
    }
  return g_steal_pointer (&keys);
}

gboolean
given_keys_have (GPtrArray *keys, const char *id)
{
  return g_ptr_array_find_with_equal_func (keys, id, g_str_equal, NULL);
}
