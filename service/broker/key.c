/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a key stands for.  The digest only says whether two calls with one key are the same call; it
 * never stands in for a record.
 */
#include "service/broker/key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/pae.h"

#include <string.h>

#define TYPE_ID "application/vnd.undersign.idempotency-key.v2"
#define TYPE_CALL "application/vnd.undersign.call.v1"

gboolean
key_check (const char *key, GError **error)
{
  gsize len = strlen (key);
  gboolean ok = len >= 1 && len <= KEY_MAX;

  for (gsize i = 0; ok && i < len; i++)
    ok = g_ascii_isgraph (key[i]);
  if (!ok)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "idempotency-key is not 1 to %d printable ASCII characters without "
                         "spaces",
                         KEY_MAX);
  return TRUE;
}

char *
key_request_id (Secret *id_key, uid_t uid, const char *key)
{
  g_autofree char *text = g_strdup_printf ("%u %s", (guint) uid, key);
  g_autoptr (GBytes) body = g_bytes_new (text, strlen (text));
  guint8 digest[PAE_DIGEST_SIZE];

  pae_hmac (secret_data (id_key), secret_size (id_key), TYPE_ID, body, digest);
  return hex_encode (digest, 16);
}

static void
add_bytes (GByteArray *text, gconstpointer data, gsize len)
{
  guint64 size = GUINT64_TO_LE (len);

  g_byte_array_append (text, (const guint8 *) &size, sizeof size);
  g_byte_array_append (text, data, (guint) len);
}

static void
add_text (GByteArray *text, const char *string)
{
  add_bytes (text, string, strlen (string));
}

static gboolean
add_file (GByteArray *text,
          GVariant *file,
          const guint8 (*digests)[32],
          guint n,
          GError **error)
{
  const char *name = NULL;
  gint32 handle = -1;

  g_variant_get (file, "(&sh)", &name, &handle);
  if (handle < 0 || (guint) handle >= n)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                         "handle %d is not of one of the %u files", handle, n);
  add_text (text, name);
  add_bytes (text, digests[handle], 32);
  return TRUE;
}

static gboolean
add_value (GByteArray *text,
           GVariant *value,
           const guint8 (*digests)[32],
           guint n,
           GError **error)
{
  g_autoptr (GVariant) normal = NULL;

  if (g_variant_is_of_type (value, G_VARIANT_TYPE ("(sh)")))
    return add_file (text, value, digests, n, error);
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE ("a(sh)")))
    {
      normal = g_variant_get_normal_form (value);
      add_bytes (text, g_variant_get_data (normal), g_variant_get_size (normal));
      return TRUE;
    }

  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) file = g_variant_get_child_value (value, i);

      if (!add_file (text, file, digests, n, error))
        return FALSE;
    }
  return TRUE;
}

static int
compare_arguments (gconstpointer a, gconstpointer b)
{
  const char *name_a = NULL;
  const char *name_b = NULL;

  g_variant_get_child (*(GVariant *const *) a, 0, "&s", &name_a);
  g_variant_get_child (*(GVariant *const *) b, 0, "&s", &name_b);
  return strcmp (name_a, name_b);
}

char *
key_digest (const char *action,
            const char *supersedes,
            GVariant *arguments,
            const guint8 (*digests)[32],
            guint n,
            GError **error)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  g_autoptr (GByteArray) text = g_byte_array_new ();
  g_autoptr (GBytes) body = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  for (gsize i = 0; i < g_variant_n_children (arguments); i++)
    g_ptr_array_add (sorted, g_variant_get_child_value (arguments, i));
  g_ptr_array_sort (sorted, compare_arguments);

  add_text (text, action);
  for (guint i = 0; i < sorted->len; i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *name = NULL;

      g_variant_get (sorted->pdata[i], "(&sv)", &name, &value);
      add_text (text, name);
      add_text (text, g_variant_get_type_string (value));
      if (!add_value (text, value, digests, n, error))
        return NULL;
    }
  /* An argument is three texts, so that one more cannot be taken for one. */
  if (supersedes != NULL)
    add_text (text, supersedes);

  body = g_byte_array_free_to_bytes (g_steal_pointer (&text));
  pae_sha256 (TYPE_CALL, body, digest);
  return digest_to_string (digest);
}
