/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other people's ceremonies against the verdicts of tests/vectors/webauthn: the attested key, the
 * signature alone, and the whole policy.  Each sample has one verdict and each verdict a sample.
 */
#include "service/passkey/assertion.h"
#include "service/passkey/auth-data.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/json.h"

#include <string.h>

static const JsonLimits limits = { 1024 * 1024, 16, 65536, 1000 };

typedef struct
{
  const char *rp, *origin;
  GBytes *create_challenge, *create_data, *attestation;
  GBytes *get_challenge;
  Assertion assertion;
} Sample;

static void
sample_clear (Sample *sample)
{
  g_clear_pointer (&sample->create_challenge, g_bytes_unref);
  g_clear_pointer (&sample->create_data, g_bytes_unref);
  g_clear_pointer (&sample->attestation, g_bytes_unref);
  g_clear_pointer (&sample->get_challenge, g_bytes_unref);
  assertion_clear (&sample->assertion);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sample, sample_clear)

static char *
data_path (const char *name)
{
  return g_test_build_filename (G_TEST_DIST, "vectors", "webauthn", name, NULL);
}

static JsonTree *
read_json (const char *name)
{
  g_autofree char *path = data_path (name);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  JsonTree *tree;
  gsize len;

  g_file_get_contents (path, &text, &len, &error);
  g_assert_no_error (error);
  tree = json_tree_parse (text, len, &limits, &error);
  g_assert_no_error (error);
  return tree;
}

static GBytes *
from_hex (const JsonTree *object, const char *name)
{
  const char *text = json_tree_get_string (object, name);
  gsize len = strlen (text) / 2;
  guint8 *data = g_malloc (len);

  g_assert_true (hex_decode (text, data, len));
  return g_bytes_new_take (data, len);
}

static GBytes *
from_base64url (const JsonTree *object, const char *name)
{
  GBytes *bytes = base64url_decode (json_tree_get_string (object, name), 65536);

  g_assert_nonnull (bytes);
  return bytes;
}

static Sample
read_w3c (const JsonTree *file, const JsonTree *vector)
{
  const JsonTree *create = json_tree_member (vector, "registration");
  const JsonTree *get = json_tree_member (vector, "authentication");
  Sample sample = {
    .rp = json_tree_get_string (file, "rpId"),
    .origin = json_tree_get_string (file, "origin"),
    .create_challenge = from_hex (create, "challenge"),
    .create_data = from_hex (create, "clientDataJSON"),
    .attestation = from_hex (create, "attestationObject"),
    .get_challenge = from_hex (get, "challenge"),
    .assertion = { from_hex (get, "clientDataJSON"), from_hex (get, "authenticatorData"),
                   from_hex (get, "signature") },
  };

  return sample;
}

static Sample
read_browser (const JsonTree *entry)
{
  const JsonTree *create = json_tree_member (json_tree_member (entry, "registration"), "response");
  const JsonTree *get = json_tree_member (json_tree_member (entry, "assertion"), "response");
  Sample sample = {
    .rp = json_tree_get_string (entry, "rpId"),
    .origin = json_tree_get_string (entry, "origin"),
    .create_challenge = from_base64url (entry, "registrationChallenge"),
    .create_data = from_base64url (create, "clientDataJSON"),
    .attestation = from_base64url (create, "attestationObject"),
    .get_challenge = from_base64url (entry, "assertionChallenge"),
    .assertion = { from_base64url (get, "clientDataJSON"),
                   from_base64url (get, "authenticatorData"), from_base64url (get, "signature") },
  };

  return sample;
}

/* authData is the last member of every sample here, of whatever attestation. */
static const guint8 *
find_auth_data (GBytes *attestation, gsize *out_len)
{
  static const guint8 name[] = "\x68"
                               "authData";
  gsize len, width;
  const guint8 *data = g_bytes_get_data (attestation, &len);
  const guint8 *at = memmem (data, len, name, sizeof name - 1);

  g_assert_nonnull (at);
  at += sizeof name - 1;
  g_assert_true (at[0] == 0x58 || at[0] == 0x59);
  width = at[0] == 0x58 ? 1 : 2;
  *out_len = width == 1 ? at[1] : (gsize) at[1] << 8 | at[2];
  g_assert_true (at + 1 + width + *out_len == data + len);
  return at + 1 + width;
}

static char *
verdict_of (gboolean ok, const GError *error)
{
  if (ok)
    {
      g_assert_no_error (error);
      return g_strdup ("ok");
    }
  g_assert_error (error, US_ERROR, US_ERROR_WRONG_ASSERTION);
  return g_strndup (error->message, strcspn (error->message, ":"));
}

/* A challenge of another size can't be asked for; an all-zero one stands in for it. */
static void
challenge_of (GBytes *bytes, guint8 out[PAE_DIGEST_SIZE])
{
  memset (out, 0, PAE_DIGEST_SIZE);
  if (g_bytes_get_size (bytes) == PAE_DIGEST_SIZE)
    memcpy (out, g_bytes_get_data (bytes, NULL), PAE_DIGEST_SIZE);
}

static char *
judge_key (const Sample *sample, Passkey *passkey)
{
  g_autoptr (GError) error = NULL;
  gsize len;
  const guint8 *data = find_auth_data (sample->attestation, &len);
  gboolean ok = auth_data_read_attested (data, len, passkey, &error);

  passkey->rp = g_strdup (sample->rp);
  passkey->origin = g_strdup (sample->origin);
  return verdict_of (ok, error);
}

static char *
judge_registration (const Sample *sample)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = NULL;
  Registration registration = { .rp = sample->rp,
                                .origin = sample->origin,
                                .client_data = sample->create_data,
                                .attestation = sample->attestation };

  challenge_of (sample->create_challenge, registration.challenge);
  passkey = passkey_register (&registration, &error);
  return verdict_of (passkey != NULL, error);
}

static char *
judge_assertion (const Sample *sample, const Passkey *passkey)
{
  g_autoptr (GError) error = NULL;
  guint8 challenge[PAE_DIGEST_SIZE];
  guint32 counter;
  gboolean ok;

  challenge_of (sample->get_challenge, challenge);
  ok = passkey_verify (passkey, challenge, &sample->assertion, &counter, &error);
  return verdict_of (ok, error);
}

static char *
judge (const Sample *sample)
{
  g_autoptr (Passkey) passkey = g_new0 (Passkey, 1);
  g_autofree char *key = judge_key (sample, passkey);
  g_autofree char *registration = judge_registration (sample);
  g_autofree char *signature = NULL, *assertion = NULL;
  g_autoptr (GError) error = NULL;
  gboolean ok;

  if (strcmp (key, "ok") != 0)
    return g_strdup_printf ("%s - %s -", key, registration);
  ok = assertion_check_signature (passkey, &sample->assertion, &error);
  signature = verdict_of (ok, error);
  assertion = judge_assertion (sample, passkey);
  return g_strdup_printf ("%s %s %s %s", key, signature, registration, assertion);
}

/* "FILE SAMPLE" → "KEY SIGNATURE REGISTRATION ASSERTION" */
static GHashTable *
read_verdicts (void)
{
  g_autofree char *path = data_path ("verdicts");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  GHashTable *verdicts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i], " ", 6);

      if (lines[i][0] == '#')
        continue;
      g_assert_cmpuint (g_strv_length (words), ==, 6);
      g_assert_true (
          g_hash_table_insert (verdicts, g_strconcat (words[0], " ", words[5], NULL),
                               g_strjoin (" ", words[1], words[2], words[3], words[4], NULL)));
    }
  return verdicts;
}

static void
check (GHashTable *verdicts, const char *file, const char *name, const char *got)
{
  g_autofree char *key = g_strconcat (file, " ", name, NULL);

  g_test_message ("%s: %s", key, got);
  g_assert_cmpstr (got, ==, g_hash_table_lookup (verdicts, key));
  g_assert_true (g_hash_table_remove (verdicts, key));
}

static void
check_browser (GHashTable *verdicts, const char *file, const char *path)
{
  g_autoptr (JsonTree) tree = read_json (path);
  const JsonTree *samples = json_tree_member (tree, "samples");

  g_assert_cmpuint (json_tree_length (samples), >, 0);
  for (guint i = 0; i < json_tree_length (samples); i++)
    {
      const JsonTree *entry = json_tree_item (samples, i);
      g_auto (Sample) sample = { 0 };
      g_autofree char *got = NULL;

      if (json_tree_member (entry, "registration") == NULL)
        got = g_strdup ("- - - -");
      else
        {
          sample = read_browser (entry);
          got = judge (&sample);
        }
      check (verdicts, file, json_tree_get_string (entry, "name"), got);
    }
}

static void
test_vectors (void)
{
  g_autoptr (GHashTable) verdicts = read_verdicts ();
  g_autoptr (JsonTree) w3c = read_json ("webauthn-vectors.json");
  const JsonTree *vectors = json_tree_member (w3c, "vectors");

  g_assert_cmpuint (json_tree_length (vectors), ==, 15);
  for (guint i = 0; i < json_tree_length (vectors); i++)
    {
      const JsonTree *vector = json_tree_item (vectors, i);
      g_auto (Sample) sample = read_w3c (w3c, vector);
      g_autofree char *got = judge (&sample);

      check (verdicts, "w3c", json_tree_get_string (vector, "anchor"), got);
    }
  check_browser (verdicts, "chromium", "chromium-webauthn-sample.json");
  check_browser (verdicts, "nid", "nid-webauthn-sample.json");
  g_assert_cmpuint (g_hash_table_size (verdicts), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passkey/vectors", test_vectors);
  return g_test_run ();
}
