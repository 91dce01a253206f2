/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks of clientDataJSON.  Members may stand in any order and unknown ones are ignored, as
 * the standard wants; a name used twice, a NUL or anything that is not strict JSON is refused by
 * the reader.  Must never compare a challenge with anything but what the caller worked out.
 */
#include "service/passkey/client-data.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/json.h"
#include "service/passkey/passkey.h"

#include <string.h>

static const JsonLimits limits = {
  .bytes = PASSKEY_CLIENT_DATA_MAX,
  .depth = 4,
  .string = PASSKEY_CLIENT_DATA_MAX,
  .items = 64,
};

static JsonTree *
read_object (GBytes *client_data, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonTree) tree = NULL;
  gsize len;
  const char *text = g_bytes_get_data (client_data, &len);

  tree = json_tree_parse (text, len, &limits, &local);
  if (tree == NULL)
    us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_CLIENT_DATA, "%s", local->message);
  else if (json_tree_kind (tree) != JSON_TREE_OBJECT)
    us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_CLIENT_DATA,
                  "the client data is not a JSON object");
  else
    return g_steal_pointer (&tree);
  return NULL;
}

static gboolean
challenge_is (const char *text, const guint8 challenge[PAE_DIGEST_SIZE])
{
  g_autoptr (GBytes) bytes = NULL;

  if (text == NULL)
    return FALSE;
  bytes = base64url_decode (text, PAE_DIGEST_SIZE);
  if (bytes == NULL || g_bytes_get_size (bytes) != PAE_DIGEST_SIZE)
    return FALSE;
  return digest_equal (g_bytes_get_data (bytes, NULL), challenge);
}

/* Absent is the same as false; any other value is not. */
static gboolean
cross_origin_is_false (const JsonTree *tree)
{
  const JsonTree *member = json_tree_member (tree, "crossOrigin");
  gboolean value = TRUE;

  if (member == NULL)
    return TRUE;
  return json_tree_boolean (member, &value) && !value;
}

gboolean
client_data_check (GBytes *client_data,
                   const char *type,
                   const guint8 challenge[PAE_DIGEST_SIZE],
                   const char *origin,
                   GError **error)
{
  g_autoptr (JsonTree) tree = read_object (client_data, error);

  if (tree == NULL)
    return FALSE;
  if (g_strcmp0 (json_tree_get_string (tree, "type"), type) != 0)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_CLIENT_TYPE,
                         "the client data is not of type %s", type);
  if (!challenge_is (json_tree_get_string (tree, "challenge"), challenge))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_CHALLENGE,
                         "the client data answers another challenge");
  if (g_strcmp0 (json_tree_get_string (tree, "origin"), origin) != 0)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ORIGIN,
                         "the client data is not of origin %s", origin);
  if (!cross_origin_is_false (tree))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_CROSS_ORIGIN,
                         "the ceremony ran inside a page of another origin");
  if (json_tree_member (tree, "topOrigin") != NULL)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_TOP_ORIGIN,
                         "the client data names a top origin");
  return TRUE;
}
