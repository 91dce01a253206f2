/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The envelope of a signature by the host key.  Reading is verifying: there is no way to get at the
 * body of one whose signature is wrong.
 */
#include "service/base/signed.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/ed25519.h"
#include "service/base/encode.h"
#include "service/base/shape.h"

#include <string.h>

static const char *const members[] = { "body", "format", "key", "signature", "type", NULL };

void
signed_clear (Signed *sealed)
{
  g_clear_pointer (&sealed->body, g_bytes_unref);
  g_clear_pointer (&sealed->signature, g_bytes_unref);
  signer_clear (&sealed->signer);
}

JsonTree *
signed_tree (const Signed *sealed, const char *type)
{
  JsonTree *tree = json_tree_new_object ();
  gsize len = 0;
  const char *text = g_bytes_get_data (sealed->body, &len);
  g_autofree char *body = g_strndup (text, len);
  g_autofree char *signature = base64url_encode (g_bytes_get_data (sealed->signature, NULL),
                                                 g_bytes_get_size (sealed->signature));

  json_tree_add_string (tree, "body", body);
  json_tree_add_string (tree, "format", SIGNED_FORMAT);
  json_tree_add (tree, "key", signer_tree (&sealed->signer));
  json_tree_add_string (tree, "signature", signature);
  json_tree_add_string (tree, "type", type);
  return tree;
}

static gboolean
signed_check (const JsonTree *tree, const char *type, GError **error)
{
  static const char *const strings[] = { "body", "format", "signature", "type" };

  if (!shape_check (tree, members, US_REASON_BAD_SIGNED, "something signed", error))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (strings); i++)
    if (json_tree_get_string (tree, strings[i]) == NULL)
      return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_SIGNED,
                           "the member \"%s\" of something signed is a string", strings[i]);
  if (strcmp (json_tree_get_string (tree, "format"), SIGNED_FORMAT) != 0 ||
      strcmp (json_tree_get_string (tree, "type"), type) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_SIGNED,
                         "what is expected here is %s of type %s", SIGNED_FORMAT, type);
  return TRUE;
}

gboolean
signed_read (const JsonTree *tree, const char *type, Signed *out_signed, GError **error)
{
  g_auto (Signed) sealed = { 0 };
  const char *body = NULL;

  if (!signed_check (tree, type, error) ||
      !signer_read (json_tree_member (tree, "key"), &sealed.signer, error))
    return FALSE;
  sealed.signature =
      base64url_decode (json_tree_get_string (tree, "signature"), ED25519_SIGNATURE_SIZE);
  if (strcmp (sealed.signer.algorithm, SIGNER_EDDSA) != 0 || sealed.signature == NULL ||
      g_bytes_get_size (sealed.signature) != ED25519_SIGNATURE_SIZE)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_SIGNED,
                         "a host key is of EdDSA, its signatures have %d bytes",
                         ED25519_SIGNATURE_SIZE);
  body = json_tree_get_string (tree, "body");
  sealed.body = g_bytes_new (body, strlen (body));
  if (!ed25519_verify (g_bytes_get_data (sealed.signer.public_key, NULL), type, sealed.body,
                       g_bytes_get_data (sealed.signature, NULL)))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_SIGNATURE,
                         "the signature is not by the key beside it over this");
  *out_signed = sealed;
  memset (&sealed, 0, sizeof sealed);
  return TRUE;
}
