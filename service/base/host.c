/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name of this machine in records and statements: what machine-id(5) asks applications to do
 * instead of showing the id.  It must never fall back to a host name or a constant: two machines
 * with one name could use each other's approvals.
 */
#include "service/base/host.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define MACHINE_ID_PATH "/etc/machine-id"
#define MACHINE_ID_DIGITS 32
#define MACHINE_ID_BYTES (MACHINE_ID_DIGITS / 2)
#define HOST_MESSAGE "org.undersign1 host"

static gboolean
machine_id_decode (GBytes *content, guint8 out_id[MACHINE_ID_BYTES])
{
  gsize len = 0;
  const char *digits = g_bytes_get_data (content, &len);
  g_autofree char *text = NULL;
  guint8 any = 0;

  if (len == MACHINE_ID_DIGITS + 1 && digits[MACHINE_ID_DIGITS] == '\n')
    len = MACHINE_ID_DIGITS;
  if (len != MACHINE_ID_DIGITS)
    return FALSE;

  text = g_strndup (digits, len);
  if (!hex_decode (text, out_id, MACHINE_ID_BYTES))
    return FALSE;
  for (guint i = 0; i < MACHINE_ID_BYTES; i++)
    any |= out_id[i];
  return any != 0;
}

char *
host_id_derive (GBytes *machine_id, GError **error)
{
  guint8 key[MACHINE_ID_BYTES];
  guint8 tag[EVP_MAX_MD_SIZE];
  unsigned int tag_len = 0;

  if (!machine_id_decode (machine_id, key))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "the machine id is not 32 lower-case hex digits, or is zero");
      return NULL;
    }
  if (HMAC (EVP_sha256 (), key, sizeof key, (const guint8 *) HOST_MESSAGE, strlen (HOST_MESSAGE),
            tag, &tag_len) == NULL)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot derive the host id");
      return NULL;
    }

  return hex_encode (tag, MACHINE_ID_BYTES);
}

char *
host_id (GError **error)
{
  g_autoptr (GBytes) machine_id = file_read_trusted (AT_FDCWD, MACHINE_ID_PATH, 0, 256, error);

  return machine_id != NULL ? host_id_derive (machine_id, error) : NULL;
}
