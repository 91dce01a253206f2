/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Assertions and registrations where memory runs out, in libfido2 and libcbor at each of their
 * allocations: a refusal with a reason, or the very passkey; never a wrong one taken, never an end of
 * the process.  What the libraries lose of their own on the way is theirs.
 */
#include "tests/lib/scarce.h"
#include "tests/passkey/maker.h"

#include "dbus/error.h"
#include "service/passkey/roots.h"

#include <openssl/err.h>
#include <string.h>
#include <unistd.h>

#define FLAGS (TEST_FLAGS | 0x40)
#define COUNTER 7

/* Points of all allocations, of which there are thousands; $SCARCE_POINTS may say how many. */
#define SOME 24

const char *__lsan_default_suppressions (void);

const char *
__lsan_default_suppressions (void)
{
  return "leak:libfido2\nleak:libcbor\nleak:libcrypto\n";
}

/* A refusal is a typed error; of what is taken all is right. */
static gboolean
verdict_of (gboolean taken, gboolean right, const GError *error)
{
  g_assert_true (taken == (error == NULL));
  g_assert_true (taken || error->domain == US_ERROR || error->domain == G_FILE_ERROR);
  g_assert_true (!taken || right);
  ERR_clear_error ();
  return taken;
}

static void
run_dry (ScarceAttempt attempt, gpointer data, gboolean fido)
{
  const char *wanted = g_getenv ("SCARCE_POINTS");
  guint points = wanted != NULL ? (guint) g_ascii_strtoull (wanted, NULL, 10) : SOME;
  guint count = scarce_run (attempt, data, SCARCE_FOR_FIDO, G_MAXUINT);

  g_assert_true (!fido || count >= 5);
  count = scarce_run (attempt, data, SCARCE_FOR_ALL, points);
  g_assert_cmpuint (count, >, 0);
}

/* --- assertions --- */

typedef struct
{
  TestKey *key;
  Assertion assertion;
} Asserted;

static gboolean
attempt_verify (gpointer data)
{
  Asserted *asserted = data;
  g_autoptr (GError) error = NULL;
  guint32 counter = 0;
  gboolean ok = passkey_verify (asserted->key->passkey, asserted->key->challenge,
                                &asserted->assertion, &counter, &error);

  return verdict_of (ok, counter == COUNTER, error);
}

static GBytes *
flip_last (GBytes *bytes)
{
  gsize len;
  guint8 *copy = g_memdup2 (g_bytes_get_data (bytes, &len), g_bytes_get_size (bytes));

  copy[len - 1] ^= 1;
  return g_bytes_new_take (copy, len);
}

static void
test_verify (gconstpointer data)
{
  const PasskeyAlgorithm algorithm = GPOINTER_TO_INT (data);
  g_autoptr (TestKey) key = test_key_new (algorithm);
  g_autoptr (TestKey) other = test_key_new (algorithm);
  g_autoptr (GBytes) client_data = test_client_data ("webauthn.get", key->challenge,
                                                     PAE_DIGEST_SIZE, TEST_RP, "");
  g_autoptr (GBytes) auth_data = test_auth_data (TEST_RP, TEST_FLAGS, COUNTER, NULL);
  g_autoptr (GBytes) signature = test_sign (key->key, client_data, auth_data);
  g_autoptr (GBytes) others = test_sign (other->key, client_data, auth_data);
  g_autoptr (GBytes) broken = flip_last (signature);
  GBytes *const signatures[] = { signature, others, broken };

  for (guint i = 0; i < G_N_ELEMENTS (signatures); i++)
    {
      Asserted asserted = { key, { client_data, auth_data, signatures[i] } };

      g_assert_true (attempt_verify (&asserted) == (i == 0));
      run_dry (attempt_verify, &asserted, TRUE);
    }
}

/* --- registrations --- */

typedef struct
{
  TestKey *key;
  GBytes *client_data, *attestation;
  const char *folder; /* (nullable): of roots, which are read each time */
} Registered;

static gboolean
attempt_register (gpointer data)
{
  Registered *registered = data;
  Registration registration = { .rp = TEST_RP, .origin = "", .client_data = registered->client_data,
                                .attestation = registered->attestation };
  g_autoptr (AttestationRoots) roots = NULL;
  g_autoptr (Passkey) passkey = NULL;
  g_autoptr (GError) error = NULL;

  memcpy (registration.challenge, registered->key->challenge, PAE_DIGEST_SIZE);
  if (registered->folder != NULL)
    {
      roots = attestation_roots_load (registered->folder, getuid (), &error);
      if (roots == NULL)
        return verdict_of (FALSE, FALSE, error);
    }
  registration.roots = roots;
  passkey = passkey_register (&registration, &error);
  return verdict_of (passkey != NULL,
                     passkey != NULL && g_bytes_equal (passkey->public_key,
                                                       registered->key->passkey->public_key),
                     error);
}

static void
check_register (TestKey *key, GBytes *client_data, GBytes *attestation, const char *folder,
                gboolean good)
{
  Registered registered = { key, client_data, attestation, folder };

  g_assert_true (attempt_register (&registered) == good);
  run_dry (attempt_register, &registered, FALSE);
}

static void
test_registration (gconstpointer data)
{
  const PasskeyAlgorithm algorithm = GPOINTER_TO_INT (data);
  g_autoptr (TestKey) key = test_key_new (algorithm);
  g_autoptr (TestKey) other = test_key_new (algorithm);
  g_autoptr (GBytes) client_data = test_client_data ("webauthn.create", key->challenge,
                                                     PAE_DIGEST_SIZE, TEST_RP, "");
  g_autoptr (GByteArray) attested = test_attested (key, 32);
  g_autoptr (GBytes) auth_data = test_auth_data (TEST_RP, FLAGS, 3, attested);
  g_autoptr (GBytes) signature = test_sign (key->key, client_data, auth_data);
  g_autoptr (GBytes) others = test_sign (other->key, client_data, auth_data);
  g_autoptr (GBytes) none = test_attestation (auth_data, 0, NULL);
  g_autoptr (GBytes) self = test_attestation (auth_data, algorithm, signature);
  g_autoptr (GBytes) forged = test_attestation (auth_data, algorithm, others);

  check_register (key, client_data, none, NULL, TRUE);
  check_register (key, client_data, self, NULL, TRUE);
  check_register (key, client_data, forged, NULL, FALSE);
}

static void
test_chain (void)
{
  static const CertificatePlan root_plan = { .name = "Root" };
  static const CertificatePlan leaf_plan = { .name = "Key", .leaf = TRUE };
  static const CertificatePlan between_plan = { .name = "Between" };
  g_autoptr (TestKey) key = test_key_new (PASSKEY_ES256);
  g_autoptr (GBytes) client_data = test_client_data ("webauthn.create", key->challenge,
                                                     PAE_DIGEST_SIZE, TEST_RP, "");
  g_autofree char *folder = maker_folder ();
  g_autoptr (Issuer) root = issuer_new (&root_plan, NULL);
  g_autoptr (Issuer) between = issuer_new (&between_plan, root);
  g_autoptr (Issuer) stranger = issuer_new (&root_plan, NULL);
  const Issuer *const along[] = { between };
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, between);
  g_autoptr (Issuer) strange = issuer_new (&leaf_plan, stranger);
  g_autoptr (GBytes) good =
      maker_attestation (key, client_data, FLAGS, leaf, along, 1, PASSKEY_ES256);
  g_autoptr (GBytes) bad =
      maker_attestation (key, client_data, FLAGS, strange, NULL, 0, PASSKEY_ES256);

  issuer_write_pem (root, folder, "root.pem");
  check_register (key, client_data, good, folder, TRUE);
  check_register (key, client_data, bad, folder, FALSE);
  maker_folder_remove (g_steal_pointer (&folder));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/scarce/assertion/es256", GINT_TO_POINTER (PASSKEY_ES256), test_verify);
  g_test_add_data_func ("/scarce/assertion/eddsa", GINT_TO_POINTER (PASSKEY_EDDSA), test_verify);
  g_test_add_data_func ("/scarce/registration/es256", GINT_TO_POINTER (PASSKEY_ES256),
                        test_registration);
  g_test_add_data_func ("/scarce/registration/eddsa", GINT_TO_POINTER (PASSKEY_EDDSA),
                        test_registration);
  g_test_add_func ("/scarce/chain", test_chain);
  return g_test_run ();
}
