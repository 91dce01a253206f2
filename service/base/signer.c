/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Public keys as JSON and their ids.  A leaf of the formats that carry a signature. */
#include "service/base/signer.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/shape.h"

#include <string.h>

#define SIGNER_MAX 512

static const char *const members[] = { "algorithm", "format", "public_key", NULL };

static const struct
{
  const char *algorithm;
  gsize size;
} algorithms[] = { { SIGNER_ES256, 64 }, { SIGNER_EDDSA, 32 } };

void
signer_clear (Signer *signer)
{
  g_clear_pointer (&signer->public_key, g_bytes_unref);
}

JsonTree *
signer_tree (const Signer *signer)
{
  JsonTree *tree = json_tree_new_object ();
  gsize len = 0;
  const guint8 *data = g_bytes_get_data (signer->public_key, &len);
  g_autofree char *text = base64url_encode (data, len);

  json_tree_add_string (tree, "algorithm", signer->algorithm);
  json_tree_add_string (tree, "format", SIGNER_FORMAT);
  json_tree_add_string (tree, "public_key", text);
  return tree;
}

void
signer_id (const Signer *signer, guint8 out_id[PAE_DIGEST_SIZE])
{
  g_autoptr (JsonTree) tree = signer_tree (signer);
  g_autoptr (GBytes) bytes = json_tree_write (tree);

  pae_sha256 (PAE_TYPE_KEY, bytes, out_id);
}

char *
signer_id_text (const Signer *signer)
{
  guint8 id[PAE_DIGEST_SIZE];

  signer_id (signer, id);
  return digest_to_string (id);
}

gboolean
signer_read (const JsonTree *tree, Signer *out_signer, GError **error)
{
  g_autoptr (GBytes) key = NULL;
  const char *algorithm = NULL;

  if (!shape_check_strings (tree, members, US_REASON_BAD_KEY, "a key", error))
    return FALSE;
  if (strcmp (json_tree_get_string (tree, "format"), SIGNER_FORMAT) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_KEY,
                         "a key is of the format " SIGNER_FORMAT);
  algorithm = json_tree_get_string (tree, "algorithm");
  key = base64url_decode (json_tree_get_string (tree, "public_key"), SIGNER_MAX);
  for (gsize i = 0; key != NULL && i < G_N_ELEMENTS (algorithms); i++)
    if (strcmp (algorithm, algorithms[i].algorithm) == 0 &&
        g_bytes_get_size (key) == algorithms[i].size)
      {
        out_signer->algorithm = algorithms[i].algorithm;
        out_signer->public_key = g_steal_pointer (&key);
        return TRUE;
      }
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_KEY,
                       "a public key has 64 bytes for ES256, 32 bytes for EdDSA");
}

gboolean
signer_parse (GBytes *bytes, Signer *out_signer, GError **error)
{
  static const JsonLimits limits = { SIGNER_MAX, 1, SIGNER_MAX, 8 };
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (GBytes) line = NULL;
  gsize len = 0;
  const char *text = g_bytes_get_data (bytes, &len);

  if (len > 0 && text[len - 1] == '\n')
    len--;
  line = g_bytes_new_from_bytes (bytes, 0, len);
  tree = shape_parse (line, &limits, US_REASON_BAD_KEY, "a key", error);
  return tree != NULL && signer_read (tree, out_signer, error);
}
