/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys, signatures and checkpoints: what is read is what was signed, by the key that is named. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/checkpoint.h"
#include "service/base/ed25519.h"
#include "service/base/encode.h"
#include "service/base/given-keys.h"

#include <string.h>

#define HOST "0123456789abcdef0123456789abcdef"
#define LEDGER "fedcba9876543210fedcba9876543210"

static GBytes *
text_bytes (const char *text)
{
  return g_bytes_new (text, strlen (text));
}

/* RFC 8032, section 7.1, test 1: the public key of a seed. */
static void
test_public (void)
{
  guint8 seed[ED25519_SEED_SIZE], public[ED25519_PUBLIC_SIZE];
  g_autoptr (Secret) secret = NULL;
  g_autoptr (Secret) shorter = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *hex = NULL;

  g_assert_true (hex_decode ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                             seed, sizeof seed));
  secret = secret_new_from (seed, sizeof seed);
  g_assert_true (ed25519_public (secret, public, &error));
  hex = hex_encode (public, sizeof public);
  g_assert_cmpstr (hex, ==, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");

  shorter = secret_new_from (seed, sizeof seed - 1);
  g_assert_false (ed25519_public (shorter, public, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
}

static void
test_sign (void)
{
  guint8 signature[ED25519_SIGNATURE_SIZE], public[ED25519_PUBLIC_SIZE];
  g_autoptr (Secret) seed = secret_new (ED25519_SEED_SIZE);
  g_autoptr (GBytes) body = text_bytes ("body");
  g_autoptr (GBytes) other = text_bytes ("bodx");

  g_assert_true (ed25519_public (seed, public, NULL));
  g_assert_true (ed25519_sign (seed, PAE_TYPE_CHECKPOINT, body, signature, NULL));
  g_assert_true (ed25519_verify (public, PAE_TYPE_CHECKPOINT, body, signature));
  g_assert_false (ed25519_verify (public, PAE_TYPE_OUTCOME, body, signature));
  g_assert_false (ed25519_verify (public, PAE_TYPE_CHECKPOINT, other, signature));
  signature[3] ^= 1;
  g_assert_false (ed25519_verify (public, PAE_TYPE_CHECKPOINT, body, signature));
  signature[3] ^= 1;
  public[3] ^= 1;
  g_assert_false (ed25519_verify (public, PAE_TYPE_CHECKPOINT, body, signature));
}

static void
test_keys (void)
{
  static const char *const bad[] = {
    "", "{}", "[]", "null",
    "{\"algorithm\":\"EdDSA\",\"format\":\"undersign.key/1\",\"public_key\":\"AAAA\"}",
    "{\"algorithm\":\"RS256\",\"format\":\"undersign.key/1\",\"public_key\":"
    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"algorithm\":\"EdDSA\",\"format\":\"undersign.key/2\",\"public_key\":"
    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"algorithm\":\"EdDSA\",\"format\":\"undersign.key/1\",\"more\":\"\",\"public_key\":"
    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"algorithm\":\"EdDSA\",\"format\":\"undersign.key/1\",\"public_key\":true}",
    "{\"algorithm\": \"EdDSA\",\"format\":\"undersign.key/1\",\"public_key\":"
    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
  };
  g_autoptr (GBytes) good =
      text_bytes ("{\"algorithm\":\"EdDSA\",\"format\":\"undersign.key/1\",\"public_key\":"
                  "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}\n");
  g_auto (Signer) signer = { 0 };
  g_autofree char *id = NULL;
  char *words[] = { NULL, NULL };
  g_autoptr (GPtrArray) keys = NULL;
  g_autoptr (GError) unreadable = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GBytes) bytes = text_bytes (bad[i]);
      g_autoptr (GError) error = NULL;
      Signer none = { 0 };

      g_assert_false (signer_parse (bytes, &none, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_KEY) ||
                     us_error_has_reason (error, US_REASON_BAD_JSON));
    }
  g_assert_true (signer_parse (good, &signer, NULL));
  id = signer_id_text (&signer);

  words[0] = id;
  keys = given_keys_load (words, NULL);
  g_assert_true (given_keys_have (keys, id));
  words[0] = (char *) "sha256:00";
  g_assert_null (given_keys_load (words, NULL));
  words[0] = (char *) "/dev/null";
  g_assert_null (given_keys_load (words, &unreadable));
  g_assert_true (g_str_has_prefix (unreadable->message, US_REASON_BAD_JSON ": /dev/null: "));
}

/* checkpoint_line: signed with a seed of zeros; @edit changes the body before it is signed. */
static char *
checkpoint_line (const char *from, const char *to)
{
  g_autoptr (Secret) seed = secret_new (ED25519_SEED_SIZE);
  g_auto (Signed) sealed = { .signer.algorithm = SIGNER_EDDSA };
  g_auto (Checkpoint) checkpoint = { .seq = 7 };
  g_autoptr (GBytes) body = NULL, line = NULL;
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (GString) text = NULL;
  guint8 public[ED25519_PUBLIC_SIZE], signature[ED25519_SIGNATURE_SIZE];

  g_assert_true (ed25519_public (seed, public, NULL));
  sealed.signer.public_key = g_bytes_new (public, sizeof public);
  checkpoint.host = g_strdup (HOST);
  checkpoint.ledger = g_strdup (LEDGER);
  checkpoint.key = signer_id_text (&sealed.signer);
  checkpoint.time = g_strdup ("2026-11-30T09:00:00Z");
  body = checkpoint_encode (&checkpoint);
  text = g_string_new_len (g_bytes_get_data (body, NULL), (gssize) g_bytes_get_size (body));
  if (from != NULL)
    g_assert_cmpuint (g_string_replace (text, from, to, 1), ==, 1);
  sealed.body = g_bytes_new (text->str, text->len);
  g_assert_true (ed25519_sign (seed, PAE_TYPE_CHECKPOINT, sealed.body, signature, NULL));
  sealed.signature = g_bytes_new (signature, sizeof signature);
  tree = signed_tree (&sealed, PAE_TYPE_CHECKPOINT);
  line = json_tree_write (tree);
  return g_strndup (g_bytes_get_data (line, NULL), g_bytes_get_size (line));
}

static void
test_checkpoint (void)
{
  static const struct
  {
    const char *from, *to;
  } cases[] = {
    { "\"seq\":\"7\"", "\"seq\":\"07\"" },
    { "\"seq\":\"7\"", "\"seq\":\"0\"" },
    { "\"seq\":\"7\"", "\"seq\":\"-7\"" },
    { "\"seq\":\"7\"", "\"seq\":\"9223372036854775808\"" },
    { "checkpoint/1", "checkpoint/2" },
    { HOST, "x" },
    { LEDGER, "x" },
    { "\"key\":\"sha256:", "\"key\":\"sha256:0" },
    { "T09:00:00Z", "T25:00:00Z" },
    { "\"head\":\"sha256:0", "\"head\":\"sha256:" },
    { "{", "{ " },
    { "{", "{\"a\":\"\"," },
  };
  g_autofree char *good = checkpoint_line (NULL, NULL);
  g_autoptr (GBytes) good_bytes = text_bytes (good);
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (checkpoint_parse (good_bytes, &checkpoint, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (checkpoint.seq, ==, 7);
  g_assert_cmpstr (checkpoint.ledger, ==, LEDGER);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *line = checkpoint_line (cases[i].from, cases[i].to);
      g_autoptr (GBytes) bytes = text_bytes (line);
      g_autoptr (GError) local = NULL;
      Checkpoint none = { 0 };

      g_assert_false (checkpoint_parse (bytes, &none, &local));
      g_assert_true (us_error_has_reason (local, US_REASON_BAD_SIGNED));
    }
}

/* Around the body: every member matters. */
static void
test_envelope (void)
{
  static const struct
  {
    const char *from, *to, *reason;
  } cases[] = {
    { "\\\"seq\\\":\\\"7\\\"", "\\\"seq\\\":\\\"8\\\"", US_REASON_SIGNATURE },
    { "\"signature\":\"", "\"signature\":\"AAAA", US_REASON_BAD_SIGNED },
    { "undersign.signed/1", "undersign.signed/2", US_REASON_BAD_SIGNED },
    { "vnd.undersign.checkpoint.v1", "vnd.undersign.outcome.v1", US_REASON_BAD_SIGNED },
    { "\"type\":", "\"typo\":", US_REASON_BAD_SIGNED },
    { "\"type\":", "\"more\":true,\"type\":", US_REASON_BAD_SIGNED },
    { "EdDSA", "ES256", US_REASON_BAD_KEY },
    { "\"format\":", "\"format\":1,\"format\":", US_REASON_BAD_JSON },
  };
  g_autofree char *good = checkpoint_line (NULL, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) text = g_string_new (good);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      Checkpoint none = { 0 };

      g_assert_cmpuint (g_string_replace (text, cases[i].from, cases[i].to, 1), ==, 1);
      bytes = text_bytes (text->str);
      g_assert_false (checkpoint_parse (bytes, &none, &error));
      g_assert_true (us_error_has_reason (error, cases[i].reason));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/ed25519/public", test_public);
  g_test_add_func ("/base/ed25519/sign", test_sign);
  g_test_add_func ("/base/signer/keys", test_keys);
  g_test_add_func ("/base/signed/checkpoint", test_checkpoint);
  g_test_add_func ("/base/signed/envelope", test_envelope);
  return g_test_run ();
}
