/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Enrols and uses passkeys on security keys.  Called through key.h.  User verification is demanded
 * of the device each time, here as by the service; a PIN is asked for anew at each use, lives in
 * locked memory and is never sent twice.  Must never fall back to a ceremony without it.
 */
#include "module/card/key/security.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/key/ceremony.h"
#include "module/card/key/device.h"
#include "service/base/signer.h"

#include <string.h>

#define USER_ID_MAX 64
#define RP_NAME "Undersign"
#define CBOR_BYTES_8 0x58 /* a byte string with a length of one byte */

typedef struct
{
  Key parent;
  SecurityKeyOptions options;
} SecurityKey;

/* One use of a device, shared with the thread that waits for it. */
typedef struct
{
  fido_cred_t *cred;        /* of an enrolment */
  fido_assert_t *assertion; /* or of a signature */
  Secret *pin;              /* (nullable) */
} Use;

static void
use_clear (gpointer data)
{
  Use *use = data;

  fido_cred_free (&use->cred);
  fido_assert_free (&use->assertion);
  g_clear_pointer (&use->pin, secret_free);
}

static void
use_unref (gpointer data)
{
  g_atomic_rc_box_release_full (data, use_clear);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Use, use_unref)

static int
use_run (Device *device, gpointer data)
{
  Use *use = data;
  const char *pin = use->pin != NULL ? (const char *) secret_data (use->pin) : NULL;

  if (use->cred != NULL)
    return fido_dev_make_cred (device_fido (device), use->cred, pin);
  return fido_dev_get_assert (device_fido (device), use->assertion, pin);
}

/* --- which device --- */

static gboolean
absent (GError **error)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_KEY_ABSENT,
                       "no security key is plugged in");
}

static gboolean
check_verifies (Device *device, GError **error)
{
  fido_dev_t *fido = device_fido (device);

  if (fido_dev_has_pin (fido) || fido_dev_has_uv (fido))
    return TRUE;
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_KEY_UNFIT,
                       "the security key %s cannot tell its person from another: set a PIN first",
                       device_name (device));
}

static Device *
open_only (SecurityKey *security, GError **error)
{
  g_autoptr (GPtrArray) names = devices_find (security->options.devices, error);
  g_autoptr (Device) device = NULL;

  if (names == NULL)
    return NULL;
  if (names->len == 0)
    absent (error);
  else if (names->len > 1)
    us_error_set (error, US_ERROR_REFUSED, US_REASON_KEY_SEVERAL,
                  "%u security keys are plugged in: leave one, or name one by --device",
                  names->len);
  else
    device = device_open (g_ptr_array_index (names, 0), security->options.touch_ms, error);
  if (device == NULL || !check_verifies (device, error))
    return NULL;
  return g_steal_pointer (&device);
}

gboolean
security_key_ready (Key *key, GError **error)
{
  g_autoptr (Device) device = open_only ((SecurityKey *) key, error);

  return device != NULL;
}

/* --- the person --- */

static Secret *
ask_pin (SecurityKey *security, Device *device, gboolean again, GError **error)
{
  KeyInfo info = { .label = (char *) device_name (device), .place = (char *) "security key" };
  g_autoptr (Secret) pin = NULL;
  int tries = -1;
  int code = fido_dev_get_retry_count (device_fido (device), &tries);

  if (code != FIDO_OK)
    {
      device_error (error, device, code);
      return NULL;
    }
  if (tries <= 0)
    {
      device_error (error, device, FIDO_ERR_PIN_BLOCKED);
      return NULL;
    }
  pin = security->options.ask (again ? KEY_PROMPT_PIN_AGAIN : KEY_PROMPT_PIN, &info, tries,
                               security->options.data, error);
  if (pin == NULL)
    return NULL;
  if (secret_size (pin) == 0 || secret_size (pin) > SECURITY_KEY_PIN_MAX)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_ANSWER, "no PIN was given");
      return NULL;
    }
  return g_steal_pointer (&pin);
}

/* Whether a device that was to verify its person by itself wants the PIN now. */
static gboolean
wants_pin (Device *device, const Use *use, int code)
{
  return use->pin == NULL && fido_dev_has_pin (device_fido (device)) &&
         (code == FIDO_ERR_PIN_REQUIRED || code == FIDO_ERR_UV_BLOCKED ||
          code == FIDO_ERR_UV_INVALID);
}

/* The whole of it: verification, touch, and as many PINs as the device takes. */
static gboolean
use_device (SecurityKey *security, Device *device, Use *use, GError **error)
{
  gboolean by_pin = !fido_dev_has_uv (device_fido (device)), again = FALSE;

  for (;;)
    {
      int code = FIDO_ERR_INTERNAL;

      g_clear_pointer (&use->pin, secret_free);
      if (by_pin)
        {
          use->pin = ask_pin (security, device, again, error);
          if (use->pin == NULL)
            return FALSE;
        }
      security->options.touch (security->options.data);
      code = device_run (device, use_run, g_atomic_rc_box_acquire (use), use_unref,
                         security->options.left, security->options.data);
      if (code == FIDO_OK)
        return TRUE;
      again = by_pin && (code == FIDO_ERR_PIN_INVALID || code == FIDO_ERR_PIN_AUTH_INVALID);
      if (!again && !wants_pin (device, use, code))
        return device_error (error, device, code);
      by_pin = TRUE;
    }
}

/* --- enrolment --- */

static gboolean
fill_cred (fido_cred_t *cred, const KeyEnrolment *enrolment, GBytes *client_data)
{
  gsize client_len, id_len;
  const guint8 *client = g_bytes_get_data (client_data, &client_len);
  const guint8 *id = g_bytes_get_data (enrolment->user_id, &id_len);
  gboolean ok =
      fido_cred_set_type (cred, COSE_ES256) == FIDO_OK &&
      fido_cred_set_clientdata (cred, client, client_len) == FIDO_OK &&
      fido_cred_set_rp (cred, enrolment->rp, RP_NAME) == FIDO_OK &&
      fido_cred_set_user (cred, id, id_len, enrolment->user, enrolment->label, NULL) == FIDO_OK &&
      fido_cred_set_uv (cred, FIDO_OPT_TRUE) == FIDO_OK;

  for (guint i = 0; ok && enrolment->exclude != NULL && i < enrolment->exclude->len; i++)
    {
      gsize len;
      const guint8 *known = g_bytes_get_data (g_ptr_array_index (enrolment->exclude, i), &len);

      ok = fido_cred_exclude (cred, known, len) == FIDO_OK;
    }
  return ok;
}

/* Where no maker is to be named, nothing that could name one leaves this computer. */
static GBytes *
attestation_make (SecurityKey *security, Device *device, const fido_cred_t *cred, GError **error)
{
  g_autoptr (GBytes) auth_data =
      g_bytes_new (fido_cred_authdata_raw_ptr (cred), fido_cred_authdata_raw_len (cred));
  g_autoptr (GBytes) statement = NULL;

  if (!security->options.attested)
    return ceremony_attestation_object (NULL, NULL, auth_data);
  if (g_strcmp0 (fido_cred_fmt (cred), "packed") != 0 || fido_cred_x5c_len (cred) == 0)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_ATTESTATION_CHAIN,
                    "the maker of the security key %s does not attest it", device_name (device));
      return NULL;
    }
  statement = g_bytes_new (fido_cred_attstmt_ptr (cred), fido_cred_attstmt_len (cred));
  return ceremony_attestation_object ("packed", statement, auth_data);
}

/* public_key_id: of the key that it made just now; x and y one behind the other. */
static char *
public_key_id (const fido_cred_t *cred)
{
  g_auto (Signer) signer = { SIGNER_ES256, g_bytes_new (fido_cred_pubkey_ptr (cred),
                                                        fido_cred_pubkey_len (cred)) };

  return signer_id_text (&signer);
}

static gboolean
check_enrolment (const KeyEnrolment *enrolment, GError **error)
{
  if (!ceremony_rp_is_valid (enrolment->rp))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "a passkey is made for undersign:HOST alone");
  if (enrolment->user_id == NULL || g_bytes_get_size (enrolment->user_id) == 0 ||
      g_bytes_get_size (enrolment->user_id) > USER_ID_MAX || enrolment->user == NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "a user has a handle of 1 to %d bytes and a name", USER_ID_MAX);
  return TRUE;
}

static gboolean
security_enrol (Key *key,
                const KeyEnrolment *enrolment,
                KeyRegistration *out_registration,
                GError **error)
{
  SecurityKey *security = (SecurityKey *) key;
  g_autoptr (Device) device = NULL;
  g_autoptr (Use) use = g_atomic_rc_box_new0 (Use);
  g_autoptr (GBytes) client_data = NULL, attestation = NULL;

  if (!check_enrolment (enrolment, error))
    return FALSE;
  device = open_only (security, error);
  if (device == NULL)
    return FALSE;
  client_data = ceremony_client_data (CEREMONY_CREATE, enrolment->challenge, enrolment->rp);
  use->cred = fido_cred_new ();
  if (use->cred == NULL || !fill_cred (use->cred, enrolment, client_data))
    return device_error (error, device, FIDO_ERR_INTERNAL);
  if (!use_device (security, device, use, error))
    return FALSE;
  attestation = attestation_make (security, device, use->cred, error);
  if (attestation == NULL)
    return FALSE;

  out_registration->credential =
      g_bytes_new (fido_cred_id_ptr (use->cred), fido_cred_id_len (use->cred));
  out_registration->key = public_key_id (use->cred);
  out_registration->client_data = g_steal_pointer (&client_data);
  out_registration->attestation = g_steal_pointer (&attestation);
  return TRUE;
}

/* --- signatures --- */

static gboolean
fill_assertion (fido_assert_t *assertion, GBytes *credential, const char *rp, GBytes *client_data)
{
  gsize client_len, id_len;
  const guint8 *client = g_bytes_get_data (client_data, &client_len);
  const guint8 *id = g_bytes_get_data (credential, &id_len);

  return fido_assert_set_clientdata (assertion, client, client_len) == FIDO_OK &&
         fido_assert_set_rp (assertion, rp) == FIDO_OK &&
         fido_assert_allow_cred (assertion, id, id_len) == FIDO_OK;
}

/* Asks a device, without its person, whether it holds a passkey; what it answers is thrown away. */
static int
probe (Device *device, GBytes *credential, const char *rp)
{
  static const guint8 nothing[PAE_DIGEST_SIZE];
  g_autoptr (GBytes) client_data = ceremony_client_data (CEREMONY_GET, nothing, rp);
  g_autoptr (Use) use = g_atomic_rc_box_new0 (Use);

  use->assertion = fido_assert_new ();
  if (use->assertion == NULL || !fill_assertion (use->assertion, credential, rp, client_data) ||
      fido_assert_set_up (use->assertion, FIDO_OPT_FALSE) != FIDO_OK)
    return FIDO_ERR_INTERNAL;
  return fido_dev_get_assert (device_fido (device), use->assertion, NULL);
}

/* The first device that holds the first of @credentials that any of them holds. */
static Device *
find_holder (
    SecurityKey *security, GPtrArray *credentials, const char *rp, guint *out_index, GError **error)
{
  g_autoptr (GPtrArray) names = devices_find (security->options.devices, error);
  g_autoptr (GError) failed = NULL;

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      g_autoptr (Device) device =
          device_open (g_ptr_array_index (names, i), security->options.touch_ms,
                       failed == NULL ? &failed : NULL);

      for (guint j = 0; device != NULL && j < credentials->len; j++)
        {
          int code = probe (device, g_ptr_array_index (credentials, j), rp);

          if (code == FIDO_OK)
            {
              *out_index = j;
              return g_steal_pointer (&device);
            }
          if (code != FIDO_ERR_NO_CREDENTIALS && code != FIDO_ERR_INVALID_CREDENTIAL &&
              failed == NULL)
            device_error (&failed, device, code);
        }
    }
  if (names != NULL && names->len == 0)
    absent (error);
  else if (names != NULL && failed != NULL)
    g_propagate_error (error, g_steal_pointer (&failed));
  else if (names != NULL)
    us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_KEY_ABSENT,
                  "no security key that is plugged in holds a passkey that is accepted here");
  return NULL;
}

static gboolean
security_pick (Key *key, GPtrArray *credentials, const char *rp, guint *out_index, GError **error)
{
  g_autoptr (Device) device = find_holder ((SecurityKey *) key, credentials, rp, out_index, error);

  return device != NULL;
}

/* libfido2 gives authenticator data as the byte string in which it came. */
static GBytes *
auth_data_unwrap (const fido_assert_t *assertion)
{
  const guint8 *data = fido_assert_authdata_ptr (assertion, 0);
  gsize len = fido_assert_authdata_len (assertion, 0);

  if (data == NULL || len < 2 || data[0] != CBOR_BYTES_8 || data[1] != len - 2)
    return NULL;
  return g_bytes_new (data + 2, len - 2);
}

static gboolean
security_sign (Key *key,
               GBytes *credential,
               const char *rp,
               const guint8 challenge[PAE_DIGEST_SIZE],
               KeyAssertion *out_assertion,
               GError **error)
{
  SecurityKey *security = (SecurityKey *) key;
  g_autoptr (GPtrArray) wanted = g_ptr_array_new ();
  g_autoptr (Device) device = NULL;
  g_autoptr (Use) use = g_atomic_rc_box_new0 (Use);
  g_autoptr (GBytes) client_data = NULL, auth_data = NULL;
  guint index = 0;

  if (!ceremony_rp_is_valid (rp))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_STATEMENT,
                         "the statement is for another relying party than undersign:HOST");
  g_ptr_array_add (wanted, credential);
  device = find_holder (security, wanted, rp, &index, error);
  if (device == NULL || !check_verifies (device, error))
    return FALSE;
  client_data = ceremony_client_data (CEREMONY_GET, challenge, rp);
  use->assertion = fido_assert_new ();
  if (use->assertion == NULL || !fill_assertion (use->assertion, credential, rp, client_data) ||
      fido_assert_set_uv (use->assertion, FIDO_OPT_TRUE) != FIDO_OK)
    return device_error (error, device, FIDO_ERR_INTERNAL);
  if (!use_device (security, device, use, error))
    return FALSE;
  if (fido_assert_count (use->assertion) == 1)
    auth_data = auth_data_unwrap (use->assertion);
  if (auth_data == NULL)
    return device_error (error, device, FIDO_ERR_RX_INVALID_CBOR);

  out_assertion->client_data = g_steal_pointer (&client_data);
  out_assertion->auth_data = g_steal_pointer (&auth_data);
  out_assertion->signature = g_bytes_new (fido_assert_sig_ptr (use->assertion, 0),
                                          fido_assert_sig_len (use->assertion, 0));
  return TRUE;
}

/* --- the rest --- */

/* What is on a device is not listed: it tells nobody but its person, and one at a time. */
static GPtrArray *
security_list (Key *key, GError **error)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) key_info_free);
}

/* The device gave its passkey away as the credential id and keeps nothing of it. */
static gboolean
security_forget (Key *key, GBytes *credential, GError **error)
{
  return TRUE;
}

static void
security_free (Key *key)
{
  g_free (key);
}

static const KeyClass attested_class = {
  .kind = SECURITY_KEY_KIND_ATTESTED,
  .list = security_list,
  .pick = security_pick,
  .enrol = security_enrol,
  .sign = security_sign,
  .forget = security_forget,
  .free = security_free,
};

static const KeyClass unattested_class = {
  .kind = SECURITY_KEY_KIND_UNATTESTED,
  .list = security_list,
  .pick = security_pick,
  .enrol = security_enrol,
  .sign = security_sign,
  .forget = security_forget,
  .free = security_free,
};

Key *
security_key_new (const SecurityKeyOptions *options)
{
  SecurityKey *security = g_new0 (SecurityKey, 1);

  security->parent.klass = options->attested ? &attested_class : &unattested_class;
  security->options = *options;
  return &security->parent;
}
