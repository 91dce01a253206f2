/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks of authenticatorData.  An assertion's is a fixed 37 bytes, so none of it is parsed; a
 * registration's is read by the strict CBOR reader.  Called by assertion.c and register.c.  Must
 * never overlook a flag: each bit is required, forbidden or compared.
 */
#include "service/passkey/auth-data.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/cbor.h"
#include "service/passkey/cose.h"

#include <openssl/sha.h>
#include <string.h>

#define FLAG_USER_PRESENT 0x01
#define FLAG_RESERVED_1 0x02
#define FLAG_USER_VERIFIED 0x04
#define FLAG_BACKUP_ELIGIBLE 0x08
#define FLAG_BACKED_UP 0x10
#define FLAG_RESERVED_2 0x20
#define FLAG_ATTESTED 0x40
#define FLAG_EXTENSIONS 0x80

#define OFFSET_FLAGS 32
#define OFFSET_COUNTER 33
#define OFFSET_AAGUID 37
#define OFFSET_ID_LEN 53
#define OFFSET_ID 55

static guint32
read_counter (const guint8 *data)
{
  const guint8 *at = data + OFFSET_COUNTER;

  return (guint32) at[0] << 24 | (guint32) at[1] << 16 | (guint32) at[2] << 8 | at[3];
}

/* The checks that both ceremonies share; @forbidden and @required are the flags that differ. */
static gboolean
check_header (const guint8 *data, const char *rp, guint8 forbidden, guint8 required, GError **error)
{
  guint8 flags = data[OFFSET_FLAGS];
  guint8 expected[PAE_DIGEST_SIZE];

  if (SHA256 ((const guint8 *) rp, strlen (rp), expected) == NULL || !digest_equal (data, expected))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_RP_ID,
                         "the authenticator was asked for another relying party than %s", rp);
  if (!(flags & FLAG_USER_PRESENT))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_USER_PRESENCE,
                         "the authenticator did not see a person");
  if (!(flags & FLAG_USER_VERIFIED))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_USER_VERIFICATION,
                         "the authenticator did not verify the person");
  if ((flags & (forbidden | FLAG_RESERVED_1 | FLAG_RESERVED_2)) || (flags & required) != required)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_FLAGS,
                         "flags 0x%02x are not of this ceremony", flags);
  if ((flags & FLAG_BACKED_UP) && !(flags & FLAG_BACKUP_ELIGIBLE))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_BACKUP_FLAGS,
                         "a passkey that can't be backed up says that it is");
  return TRUE;
}

gboolean
auth_data_check_assertion (GBytes *auth_data,
                           const char *rp,
                           gboolean backup_eligible,
                           guint32 *out_counter,
                           GError **error)
{
  gsize len;
  const guint8 *data = g_bytes_get_data (auth_data, &len);

  if (len != PASSKEY_AUTH_DATA_SIZE)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_AUTH_DATA_SIZE,
                         "authenticator data of %" G_GSIZE_FORMAT " bytes, not %d", len,
                         PASSKEY_AUTH_DATA_SIZE);
  if (!check_header (data, rp, FLAG_ATTESTED | FLAG_EXTENSIONS, 0, error))
    return FALSE;
  if (!!(data[OFFSET_FLAGS] & FLAG_BACKUP_ELIGIBLE) != !!backup_eligible)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_BACKUP_FLAGS,
                         "the passkey was enrolled as %s",
                         backup_eligible ? "one that is backed up" : "bound to its device");

  *out_counter = read_counter (data);
  return TRUE;
}

gboolean
auth_data_check_registration (const guint8 *data, gsize len, const char *rp, GError **error)
{
  if (len < PASSKEY_AUTH_DATA_SIZE)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_AUTH_DATA_SIZE,
                         "authenticator data of %" G_GSIZE_FORMAT " bytes", len);
  return check_header (data, rp, 0, FLAG_ATTESTED, error);
}

static gboolean
read_credential (const guint8 *data, gsize len, Passkey *passkey, gsize *out_end, GError **error)
{
  gsize id_len;

  if (len < OFFSET_ID)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_AUTH_DATA_SIZE,
                         "authenticator data of %" G_GSIZE_FORMAT " bytes holds no credential",
                         len);
  id_len = (gsize) data[OFFSET_ID_LEN] << 8 | data[OFFSET_ID_LEN + 1];
  if (id_len == 0 || id_len > PASSKEY_CREDENTIAL_MAX || id_len > len - OFFSET_ID)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION,
                         "a credential id of %" G_GSIZE_FORMAT " bytes", id_len);

  memcpy (passkey->aaguid, data + OFFSET_AAGUID, sizeof passkey->aaguid);
  g_clear_pointer (&passkey->credential, g_bytes_unref);
  passkey->credential = g_bytes_new (data + OFFSET_ID, id_len);
  *out_end = OFFSET_ID + id_len;
  return TRUE;
}

gboolean
auth_data_read_attested (const guint8 *data, gsize len, Passkey *passkey, GError **error)
{
  g_autoptr (GBytes) key = NULL;
  guint8 flags;
  gsize end = 0;
  Cbor cbor;

  if (len < PASSKEY_AUTH_DATA_SIZE)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_AUTH_DATA_SIZE,
                         "authenticator data of %" G_GSIZE_FORMAT " bytes", len);
  flags = data[OFFSET_FLAGS];
  if (!(flags & FLAG_ATTESTED))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_FLAGS,
                         "flags 0x%02x tell of no credential", flags);
  if (!read_credential (data, len, passkey, &end, error))
    return FALSE;

  cbor_init (&cbor, data + end, len - end);
  if (!cose_read_key (&cbor, &passkey->algorithm, &key, error))
    return FALSE;
  if ((flags & FLAG_EXTENSIONS) && !cbor_skip_map (&cbor))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION,
                         "the extensions are not a strict CBOR map");
  if (!cbor_at_end (&cbor))
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTESTATION,
                         "bytes are left over after the authenticator data");

  g_clear_pointer (&passkey->public_key, g_bytes_unref);
  passkey->public_key = g_steal_pointer (&key);
  passkey->backup_eligible = !!(flags & FLAG_BACKUP_ELIGIBLE);
  passkey->counter = read_counter (data);
  return TRUE;
}
