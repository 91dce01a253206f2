/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Enrols and signs as the terminal card does, and judges as the executor does.  For tests only. */
#include "tests/card/software.h"

#include "service/base/encode.h"
#include "service/record/statement.h"

#include <string.h>

#define REQUEST "00112233445566778899aabbccddeeff"

Passkey *
test_key_enrol (Key *key, GPtrArray *exclude, GError **error)
{
  KeyEnrolment enrolment = { .rp = TEST_KEY_RP, .label = "Laptop", .exclude = exclude };
  g_auto (KeyRegistration) made = { 0 };
  Registration registration = { .rp = TEST_KEY_RP, .origin = "" };
  g_autoptr (GError) local = NULL;
  Passkey *passkey = NULL;

  memset (enrolment.challenge, 7, PAE_DIGEST_SIZE);
  memset (registration.challenge, 7, PAE_DIGEST_SIZE);
  if (!key_enrol (key, &enrolment, &made, error))
    return NULL;
  registration.client_data = made.client_data;
  registration.attestation = made.attestation;
  passkey = passkey_register (&registration, &local);
  g_assert_no_error (local);
  g_assert_true (g_bytes_equal (passkey->credential, made.credential));
  return passkey;
}

GBytes *
test_key_statement (const Passkey *passkey, const char *rp)
{
  g_autofree char *zeros = g_strnfill (43, 'A');
  gsize len;
  const guint8 *id = g_bytes_get_data (passkey->credential, &len);
  g_autofree char *credential = base64url_encode (id, len);
  Statement statement = { .decision = (char *) "approve",
                          .request = (char *) REQUEST,
                          .record = (char *) "sha256:"
                                             "000000000000000000000000000000000000000000000000"
                                             "0000000000000000",
                          .approver_name = (char *) "it.lead",
                          .approver_uid = 1001,
                          .credential = credential,
                          .rp = (char *) rp,
                          .seal = zeros,
                          .nonce = zeros,
                          .issued = (char *) "2026-11-30T09:00:00Z",
                          .expires = (char *) "2026-11-30T09:10:00Z" };
  g_autoptr (GError) error = NULL;
  GBytes *bytes = statement_encode (&statement, &error);

  g_assert_no_error (error);
  return bytes;
}

guint32
test_key_sign (Key *key, Passkey *passkey, GError **error)
{
  g_autoptr (GBytes) statement = test_key_statement (passkey, TEST_KEY_RP);
  g_auto (KeyAssertion) made = { 0 };
  g_autoptr (GError) local = NULL;
  guint8 challenge[PAE_DIGEST_SIZE];
  guint32 counter = 0;

  if (!key_sign (key, passkey->credential, statement, &made, error))
    {
      g_assert_null (made.signature);
      return 0;
    }
  statement_challenge (statement, challenge);
  {
    Assertion assertion = { made.client_data, made.auth_data, made.signature };

    passkey_verify (passkey, challenge, &assertion, &counter, &local);
    g_assert_no_error (local);
  }
  passkey_check_counter (passkey, counter, &local);
  g_assert_no_error (local);
  passkey->counter = counter;
  return counter;
}
