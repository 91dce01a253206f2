/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An authenticator for the tests: it signs whatever it is told to, so that each wrong assertion is
 * wrong in one thing and right in its signature.
 */
#pragma once

#include "service/passkey/passkey.h"

#include <glib.h>
#include <openssl/evp.h>

#define TEST_RP "undersign:0123456789abcdef0123456789abcdef"
#define TEST_FLAGS 0x05 /* user present and verified */

typedef struct
{
  EVP_PKEY *key;
  Passkey *passkey;
  guint8 challenge[PAE_DIGEST_SIZE];
} TestKey;

TestKey *test_key_new (PasskeyAlgorithm algorithm);
void test_key_free (TestKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TestKey, test_key_free)

/* test_client_data: @extra is put before the closing brace, e.g. ",\"topOrigin\":\"…\"". */
GBytes *test_client_data (const char *type,
                          const guint8 *challenge,
                          gsize challenge_len,
                          const char *origin,
                          const char *extra);

/* test_auth_data: @tail (nullable) is appended. */
GBytes *test_auth_data (const char *rp, guint8 flags, guint32 counter, GByteArray *tail);

/* test_sign: the signature over @auth_data and the hash of @client_data. */
GBytes *test_sign (EVP_PKEY *key, GBytes *client_data, GBytes *auth_data);

/* test_assertion: takes both and adds the signature. */
Assertion test_assertion (TestKey *key, GBytes *client_data, GBytes *auth_data);

/* CBOR, as an authenticator writes it. */
void cbor_put_head (GByteArray *out, guint major, guint64 value);
void cbor_put_int (GByteArray *out, gint64 value);
void cbor_put_text (GByteArray *out, const char *text);
void cbor_put_bytes (GByteArray *out, const void *data, gsize len);

/* test_attested: aaguid, credential id of @id_len bytes and COSE key of @key. */
GByteArray *test_attested (TestKey *key, gsize id_len);

/* test_attestation: (nullable) @signature makes it packed self of @algorithm. */
GBytes *test_attestation (GBytes *auth_data, int algorithm, GBytes *signature);
