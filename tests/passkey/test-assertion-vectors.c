/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The assertions of tests/vectors/record against their hand-written verdicts, each its own. */
#include "service/passkey/passkey.h"

#include "service/base/encode.h"
#include "service/passkey/public-key.h"
#include "tests/record/vectors.h"

#include <string.h>

static GBytes *
bytes_of (const JsonTree *entry, const char *name)
{
  GBytes *bytes = base64url_decode (vectors_text (entry, name), 65536);

  g_assert_nonnull (bytes);
  return bytes;
}

/* The numbers of COSE for the words of the vectors. */
static PasskeyAlgorithm
algorithm_of (const char *word)
{
  static const struct
  {
    const char *word;
    int number;
  } algorithms[] = { { "ES256", -7 },  { "EdDSA", -8 },    { "ESP256", -9 },
                     { "ES384", -35 }, { "Ed25519", -19 }, { "RS256", -257 } };

  for (gsize i = 0; i < G_N_ELEMENTS (algorithms); i++)
    if (strcmp (algorithms[i].word, word) == 0)
      return (PasskeyAlgorithm) algorithms[i].number;
  g_error ("no algorithm %s", word);
}

static Passkey *
passkey_of (const JsonTree *entry)
{
  Passkey *passkey = g_new0 (Passkey, 1);

  passkey->credential = bytes_of (entry, "credential");
  passkey->name = g_strdup ("it.lead");
  passkey->kind = g_strdup ("software");
  passkey->algorithm = algorithm_of (vectors_text (entry, "algorithm"));
  passkey->public_key = bytes_of (entry, "public_key");
  passkey->rp = g_strdup (vectors_text (entry, "rp"));
  passkey->origin = g_strdup (vectors_text (entry, "origin"));
  passkey->label = g_strdup ("");
  passkey->counter = (guint32) g_ascii_strtoull (vectors_text (entry, "counter"), NULL, 10);
  passkey->active = TRUE;
  g_assert_true (
      json_tree_boolean (json_tree_member (entry, "backup_eligible"), &passkey->backup_eligible));
  return passkey;
}

static void
check (const JsonTree *passkeys,
       const JsonTree *statements,
       const JsonTree *entry,
       const JsonTree *verdict)
{
  const JsonTree *statement = vectors_find (statements, vectors_text (entry, "statement"));
  g_autoptr (Passkey) passkey =
      passkey_of (vectors_find (passkeys, vectors_text (entry, "passkey")));
  g_auto (Assertion) assertion = { bytes_of (entry, "client_data"), bytes_of (entry, "auth_data"),
                                   bytes_of (entry, "signature") };
  g_autoptr (GError) error = NULL;
  guint8 challenge[PAE_DIGEST_SIZE];
  guint32 counter = 0;

  g_assert_true (hex_decode (vectors_text (statement, "challenge"), challenge, sizeof challenge));
  if (passkey_verify (passkey, challenge, &assertion, &counter, &error))
    passkey_check_counter (passkey, counter, &error);
  vectors_assert_verdict (verdict, error);
}

static void
test_verdicts (void)
{
  g_autoptr (JsonTree) statements = vectors_read ("statements.json");
  g_autoptr (JsonTree) file = vectors_read ("assertions.json");
  g_autoptr (JsonTree) verdicts = vectors_read ("assertion-verdicts.json");
  const JsonTree *assertions = json_tree_member (file, "assertions");
  const JsonTree *passkeys = json_tree_member (file, "passkeys");
  guint n = json_tree_length (assertions);

  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (n + json_tree_length (passkeys), ==, json_tree_length (verdicts));
  for (guint i = 0; i < n; i++)
    {
      const JsonTree *entry = json_tree_item (assertions, i);

      check (passkeys, statements, entry, vectors_find (verdicts, vectors_text (entry, "id")));
    }
}

/* What may be enrolled: the key alone. */
static void
test_keys (void)
{
  g_autoptr (JsonTree) file = vectors_read ("assertions.json");
  g_autoptr (JsonTree) verdicts = vectors_read ("assertion-verdicts.json");
  const JsonTree *passkeys = json_tree_member (file, "passkeys");

  for (guint i = 0; i < json_tree_length (passkeys); i++)
    {
      const JsonTree *entry = json_tree_item (passkeys, i);
      g_autoptr (Passkey) passkey = passkey_of (entry);
      g_autoptr (GError) error = NULL;
      g_autoptr (EVP_PKEY) key = public_key_new (passkey->algorithm, passkey->public_key, &error);

      vectors_assert_verdict (vectors_find (verdicts, vectors_text (entry, "id")), error);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assertion-vectors/verdicts", test_verdicts);
  g_test_add_func ("/assertion-vectors/keys", test_keys);
  return g_test_run ();
}
