/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attestation objects: whatever the bytes, a registration fails with a reason or gives a passkey
 * that is whole, with a maker to hold it against and without.  The relying party is that of the W3C
 * vectors, so that those seeds get far; the seeds packed-x5c* were signed by the root below.
 */
#include "service/passkey/passkey.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/starve.h"

#include "dbus/error.h"

#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define CLIENT_DATA                                                                                \
  "{\"type\":\"webauthn.create\",\"challenge\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","   \
  "\"origin\":\"https://example.org\"}"

/* Its key is lost; it ends in the year 9999. */
static const char root[] = "-----BEGIN CERTIFICATE-----\n"
                           "MIIBfTCCASSgAwIBAgIBATAKBggqhkjOPQQDAjA9MQswCQYDVQQGEwJYWDEYMBYG\n"
                           "A1UECgwPVW5kZXJzaWduIHRlc3RzMRQwEgYDVQQDDAtGdXp6ZWQgUm9vdDAgFw0y\n"
                           "MDAxMDEwMDAwMDBaGA85OTk5MTIzMTIzNTk1OVowPTELMAkGA1UEBhMCWFgxGDAW\n"
                           "BgNVBAoMD1VuZGVyc2lnbiB0ZXN0czEUMBIGA1UEAwwLRnV6emVkIFJvb3QwWTAT\n"
                           "BgcqhkjOPQIBBggqhkjOPQMBBwNCAARZsrNpFfdfzdE8wKgbIvDW35r28jUs6ERb\n"
                           "MbW6WdKKDOyNGtlqnRRYaWnie1V7hzVcU7yRio459okPJIDPVjnFoxMwETAPBgNV\n"
                           "HRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIA2zNTG7aZoAAAoNhlRPjF4G\n"
                           "BxHFTBbrR6gnkDN5MwFGAiBgLjJhCzJTYKNjHJX1jz89tclI1vfe4a1GYbaxzOPT\n"
                           "Mg==\n"
                           "-----END CERTIFICATE-----\n";

/* That of the seeds maker-*, likewise. */
static const char second_root[] = "-----BEGIN CERTIFICATE-----\n"
                                 "MIIBjDCCATKgAwIBAgIBAjAKBggqhkjOPQQDAjBEMQswCQYDVQQGEwJYWDEYMBYG\n"
                                 "A1UECgwPVW5kZXJzaWduIHRlc3RzMRswGQYDVQQDDBJTZWNvbmQgRnV6emVkIFJv\n"
                                 "b3QwIBcNMjAwMTAxMDAwMDAwWhgPOTk5OTEyMzEyMzU5NTlaMEQxCzAJBgNVBAYT\n"
                                 "AlhYMRgwFgYDVQQKDA9VbmRlcnNpZ24gdGVzdHMxGzAZBgNVBAMMElNlY29uZCBG\n"
                                 "dXp6ZWQgUm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABA7Mo3/yvPi/nbKC\n"
                                 "AzkJ7IVRS78AGoPhTVmdcY6tGj/744dnjgu0FRiToM2ucWKlIY2CPqg0T2qCepgA\n"
                                 "95YNOHajEzARMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgdnx6\n"
                                 "TwFT4u+J1hNc+OXtqCBuuYfNw9xf664vDez3LwgCIQDjUe9KWuXAYCpXkr5tZf3g\n"
                                 "IUR4nRJo/NnO0KtsGf7SrA==\n"
                                 "-----END CERTIFICATE-----\n";

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static AttestationRoots *
roots_make (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("undersign-fuzz-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "root.pem", NULL);
  g_autofree char *both = g_strconcat (root, second_root, NULL);
  AttestationRoots *roots = NULL;

  g_file_set_contents_full (file, both, -1, G_FILE_SET_CONTENTS_NONE, 0644, &error);
  g_assert_no_error (error);
  roots = attestation_roots_load (folder, getuid (), &error);
  g_assert_no_error (error);
  g_unlink (file);
  g_rmdir (folder);
  return roots;
}

static gboolean
attempt (gpointer data)
{
  g_autoptr (Passkey) passkey = passkey_register (data, NULL);

  return passkey != NULL;
}

static void
enrol (GBytes *attestation, const AttestationRoots *roots)
{
  g_autoptr (GBytes) client_data = g_bytes_new_static (CLIENT_DATA, strlen (CLIENT_DATA));
  Registration registration = { .rp = "example.org",
                                .origin = "https://example.org",
                                .client_data = client_data,
                                .attestation = attestation,
                                .roots = roots };
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = passkey_register (&registration, &error);

  g_assert ((passkey == NULL) == (error != NULL));
  refusal_seen (error);
  g_assert (passkey != NULL || g_error_matches (error, US_ERROR, US_ERROR_WRONG_ASSERTION));
  g_assert (passkey == NULL || (passkey->credential != NULL && passkey->public_key != NULL));
  starve (attempt, &registration);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static AttestationRoots *roots;
  g_autoptr (GBytes) attestation = g_bytes_new (data, size);

  if (roots == NULL)
    roots = roots_make ();
  enrol (attestation, NULL);
  enrol (attestation, roots);
  return 0;
}
