/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attestation of hardware keys: who may vouch for a key, and everyone who may not. */
#include "tests/passkey/maker.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/passkey/roots.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define FLAGS (TEST_FLAGS | 0x40)

/* A maker with a root and an intermediate, and a folder of roots. */
typedef struct
{
  TestKey *key;
  GBytes *client_data;
  char *folder;
  Issuer *root, *intermediate, *other;
} Shop;

static const CertificatePlan root_plan = { .name = "Root" };
static const CertificatePlan intermediate_plan = { .name = "Intermediate" };
static const CertificatePlan leaf_plan = { .name = "Key", .leaf = TRUE };

static void
shop_open (Shop *shop, gconstpointer data)
{
  shop->key = test_key_new (PASSKEY_ES256);
  shop->client_data =
      test_client_data ("webauthn.create", shop->key->challenge, PAE_DIGEST_SIZE, TEST_RP, "");
  shop->folder = maker_folder ();
  shop->root = issuer_new (&root_plan, NULL);
  shop->intermediate = issuer_new (&intermediate_plan, shop->root);
  shop->other = issuer_new (&root_plan, NULL);
}

static void
shop_close (Shop *shop, gconstpointer data)
{
  test_key_free (shop->key);
  g_bytes_unref (shop->client_data);
  maker_folder_remove (shop->folder);
  issuer_free (shop->root);
  issuer_free (shop->intermediate);
  issuer_free (shop->other);
}

static Passkey *
enrol (Shop *shop, GBytes *attestation, GError **error)
{
  g_autoptr (AttestationRoots) roots = attestation_roots_load (shop->folder, getuid (), error);
  Registration registration = { .rp = TEST_RP,
                                .origin = "",
                                .client_data = shop->client_data,
                                .attestation = attestation,
                                .roots = roots };

  if (roots == NULL)
    return NULL;
  memcpy (registration.challenge, shop->key->challenge, PAE_DIGEST_SIZE);
  return passkey_register (&registration, error);
}

static void
assert_enrol (Shop *shop, GBytes *attestation, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = enrol (shop, attestation, &error);

  if (error != NULL)
    g_test_message ("%s", error->message);
  if (reason == NULL)
    {
      g_assert_no_error (error);
      g_assert_nonnull (passkey);
      g_assert_cmpuint (passkey->aaguid[0], ==, 0xaa);
      return;
    }
  g_assert_null (passkey);
  g_assert_error (error, US_ERROR, US_ERROR_WRONG_ASSERTION);
  g_assert_true (us_error_has_reason (error, reason));
}

/* A leaf of @plan, signed by @by; with the intermediate along where @along. */
static void
assert_leaf (
    Shop *shop, const CertificatePlan *plan, const Issuer *by, gboolean along, const char *reason)
{
  g_autoptr (Issuer) leaf = issuer_new (plan, by);
  const Issuer *const chain[] = { shop->intermediate };
  g_autoptr (GBytes) attestation =
      maker_attestation (shop->key, shop->client_data, FLAGS, leaf, chain, along, PASSKEY_ES256);

  assert_enrol (shop, attestation, reason);
}

static void
test_chains (Shop *shop, gconstpointer data)
{
  /* nobody is trusted yet */
  assert_leaf (shop, &leaf_plan, shop->root, FALSE, US_REASON_ATTESTATION_CHAIN);

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  assert_leaf (shop, &leaf_plan, shop->root, FALSE, NULL);
  assert_leaf (shop, &leaf_plan, shop->intermediate, TRUE, NULL);
  assert_leaf (shop, &leaf_plan, shop->intermediate, FALSE, US_REASON_ATTESTATION_CHAIN);
  assert_leaf (shop, &leaf_plan, shop->other, FALSE, US_REASON_ATTESTATION_CHAIN);

  /* libfido2 1.12 hands over the leaf alone: the intermediate may be in the folder */
  issuer_write_pem (shop->intermediate, shop->folder, "root.pem");
  assert_leaf (shop, &leaf_plan, shop->intermediate, FALSE, NULL);
}

/* Whoever trusts one line of products need not trust all of the maker's. */
static void
test_intermediate_alone (Shop *shop, gconstpointer data)
{
  issuer_write_pem (shop->intermediate, shop->folder, "products.pem");
  assert_leaf (shop, &leaf_plan, shop->intermediate, FALSE, NULL);
  assert_leaf (shop, &leaf_plan, shop->root, FALSE, US_REASON_ATTESTATION_CHAIN);
}

/* What comes along is never an anchor, not even when it signed itself. */
static void
test_own_root_along (Shop *shop, gconstpointer data)
{
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, shop->other);
  const Issuer *const chain[] = { shop->other };
  g_autoptr (GBytes) attestation =
      maker_attestation (shop->key, shop->client_data, FLAGS, leaf, chain, 1, PASSKEY_ES256);

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  assert_enrol (shop, attestation, US_REASON_ATTESTATION_CHAIN);
}

static void
test_leaves (Shop *shop, gconstpointer data)
{
  static const CertificatePlan refused[] = {
    { .name = "an authority", .leaf = TRUE, .wrong_constraint = TRUE },
    { .name = "no constraints", .leaf = TRUE, .no_constraints = TRUE },
    { .name = "version 1", .leaf = TRUE, .version_1 = TRUE },
    { .name = "no unit", .leaf = TRUE, .no_unit = TRUE },
    { .name = "no country", .leaf = TRUE, .no_country = TRUE },
    { .name = "no aaguid", .leaf = TRUE, .aaguid = AAGUID_ABSENT },
    { .name = "other aaguid", .leaf = TRUE, .aaguid = AAGUID_OTHER },
    { .name = "bare aaguid", .leaf = TRUE, .aaguid = AAGUID_BARE },
    { .name = "long aaguid", .leaf = TRUE, .aaguid = AAGUID_LONG },
    { .name = "critical aaguid", .leaf = TRUE, .aaguid = AAGUID_CRITICAL },
    { .name = "aaguid twice", .leaf = TRUE, .aaguid = AAGUID_TWICE },
    { .name = "over", .leaf = TRUE, .from = -9, .until = -1 },
    { .name = "not yet", .leaf = TRUE, .from = 1, .until = 9 },
    { .name = "sha-1", .leaf = TRUE, .sha1 = TRUE },
    { .name = "unknown critical", .leaf = TRUE, .unknown_critical = TRUE },
  };

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_test_message ("%s", refused[i].name);
      assert_leaf (shop, &refused[i], shop->root, FALSE, US_REASON_ATTESTATION_CHAIN);
    }
}

static void
assert_intermediate (Shop *shop, const CertificatePlan *plan, const char *reason)
{
  g_autoptr (Issuer) intermediate = issuer_new (plan, shop->root);
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, intermediate);
  const Issuer *const chain[] = { intermediate };
  g_autoptr (GBytes) attestation =
      maker_attestation (shop->key, shop->client_data, FLAGS, leaf, chain, 1, PASSKEY_ES256);

  g_test_message ("%s", plan->name);
  assert_enrol (shop, attestation, reason);
}

static void
test_intermediates (Shop *shop, gconstpointer data)
{
  static const CertificatePlan good = { .name = "good", .path_len = "0" };
  static const CertificatePlan refused[] = {
    { .name = "no authority", .wrong_constraint = TRUE },
    { .name = "no constraints", .no_constraints = TRUE },
    { .name = "version 1", .version_1 = TRUE },
    { .name = "over", .from = -9, .until = -1 },
    { .name = "sha-1", .sha1 = TRUE },
    { .name = "another key's", .leaf = TRUE },
  };

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  assert_intermediate (shop, &good, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    assert_intermediate (shop, &refused[i], US_REASON_ATTESTATION_CHAIN);
}

static void
test_path_length (Shop *shop, gconstpointer data)
{
  static const CertificatePlan plan = { .name = "Root", .path_len = "0" };
  g_autoptr (Issuer) root = issuer_new (&plan, NULL);
  g_autoptr (Issuer) intermediate = issuer_new (&intermediate_plan, root);
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, intermediate);
  const Issuer *const chain[] = { intermediate };
  g_autoptr (GBytes) attestation =
      maker_attestation (shop->key, shop->client_data, FLAGS, leaf, chain, 1, PASSKEY_ES256);

  issuer_write_pem (root, shop->folder, "root.pem");
  assert_enrol (shop, attestation, US_REASON_ATTESTATION_CHAIN);
  assert_leaf (shop, &leaf_plan, root, FALSE, NULL);
}

static void
test_root_over (Shop *shop, gconstpointer data)
{
  static const CertificatePlan plan = { .name = "Root", .from = -9, .until = -1 };
  g_autoptr (Issuer) root = issuer_new (&plan, NULL);

  issuer_write_pem (root, shop->folder, "root.pem");
  assert_leaf (shop, &leaf_plan, root, FALSE, US_REASON_ATTESTATION_CHAIN);
}

static void
test_signatures (Shop *shop, gconstpointer data)
{
  static const CertificatePlan p384 = { .name = "Key", .leaf = TRUE, .algorithm = "P-384" };
  static const CertificatePlan ed25519 = { .name = "Key", .leaf = TRUE, .algorithm = "ED25519" };
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, shop->root);
  g_autoptr (Issuer) big = issuer_new (&p384, shop->root);
  g_autoptr (Issuer) edwards = issuer_new (&ed25519, shop->root);
  g_autoptr (GBytes) other =
      test_client_data ("webauthn.create", shop->key->challenge, PAE_DIGEST_SIZE, "other", "");
  const struct
  {
    GBytes *attestation;
    const char *reason;
  } cases[] = {
#define MADE(client_data, by, algorithm)                                                           \
  maker_attestation (shop->key, client_data, FLAGS, by, NULL, 0, algorithm)
    { MADE (shop->client_data, leaf, PASSKEY_ES256), NULL },
    { MADE (shop->client_data, edwards, PASSKEY_EDDSA), NULL },
    { MADE (other, leaf, PASSKEY_ES256), US_REASON_SIGNATURE },
    { MADE (shop->client_data, edwards, PASSKEY_ES256), US_REASON_ALGORITHM },
    { MADE (shop->client_data, leaf, PASSKEY_EDDSA), US_REASON_ALGORITHM },
    { MADE (shop->client_data, leaf, -257), US_REASON_ALGORITHM },
    { MADE (shop->client_data, big, PASSKEY_ES256), US_REASON_ALGORITHM },
    { MADE (shop->client_data, big, -35), US_REASON_ALGORITHM },
#undef MADE
  };

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) attestation = cases[i].attestation;

      assert_enrol (shop, attestation, cases[i].reason);
    }
}

/* Where a maker is asked for, nothing else will do. */
static void
test_no_chain (Shop *shop, gconstpointer data)
{
  g_autoptr (GByteArray) attested = test_attested (shop->key, 32);
  g_autoptr (GBytes) auth_data = test_auth_data (TEST_RP, FLAGS, 3, attested);
  g_autoptr (GBytes) signature = test_sign (shop->key->key, shop->client_data, auth_data);
  g_autoptr (GBytes) none = test_attestation (auth_data, 0, NULL);
  g_autoptr (GBytes) self = test_attestation (auth_data, PASSKEY_ES256, signature);
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, shop->root);
  g_autoptr (GBytes) synced =
      maker_attestation (shop->key, shop->client_data, FLAGS | 0x08, leaf, NULL, 0, PASSKEY_ES256);
  g_autoptr (GBytes) unverified =
      maker_attestation (shop->key, shop->client_data, 0x41, leaf, NULL, 0, PASSKEY_ES256);

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  assert_enrol (shop, none, US_REASON_ATTESTATION_CHAIN);
  assert_enrol (shop, self, US_REASON_ATTESTATION_CHAIN);
  assert_enrol (shop, synced, US_REASON_BACKUP_FLAGS);
  assert_enrol (shop, unverified, US_REASON_USER_VERIFICATION);
}

/* The same without roots: a chain that nobody verified is not taken at all. */
static void
test_no_roots (Shop *shop, gconstpointer data)
{
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, shop->root);
  g_autoptr (GBytes) attestation =
      maker_attestation (shop->key, shop->client_data, FLAGS, leaf, NULL, 0, PASSKEY_ES256);
  g_autoptr (GError) error = NULL;
  Registration registration = {
    .rp = TEST_RP, .origin = "", .client_data = shop->client_data, .attestation = attestation
  };

  memcpy (registration.challenge, shop->key->challenge, PAE_DIGEST_SIZE);
  g_assert_null (passkey_register (&registration, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_ATTESTATION));
}

/* Every byte of the object, cut off or changed, is noticed. */
static void
test_damage (Shop *shop, gconstpointer data)
{
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, shop->root);
  g_autoptr (GBytes) attestation =
      maker_attestation (shop->key, shop->client_data, FLAGS, leaf, NULL, 0, PASSKEY_ES256);
  gsize len;
  const guint8 *bytes = g_bytes_get_data (attestation, &len);

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  for (gsize i = 1; i < len; i += 7)
    {
      g_autoptr (GBytes) cut = g_bytes_new (bytes, i);
      g_autofree guint8 *copy = g_memdup2 (bytes, len);
      g_autoptr (GBytes) changed = NULL;
      g_autoptr (GError) error = NULL;

      assert_enrol (shop, cut, US_REASON_ATTESTATION);
      copy[i] ^= 0x01;
      changed = g_bytes_new (copy, len);
      g_assert_null (enrol (shop, changed, &error));
    }
}

/* --- the folder --- */

static void
assert_folder (Shop *shop, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AttestationRoots) roots = attestation_roots_load (shop->folder, getuid (), &error);

  g_assert_null (roots);
  g_test_message ("%s", error->message);
  g_assert_true (us_error_has_reason (error, reason));
}

static void
write_file (Shop *shop, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (shop->folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static void
remove_file (Shop *shop, const char *name)
{
  g_autofree char *path = g_build_filename (shop->folder, name, NULL);

  g_assert_cmpint (g_remove (path), ==, 0);
}

static void
test_folder_files (Shop *shop, gconstpointer data)
{
  static const char damaged[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  static const CertificatePlan version_1 = { .name = "Root", .version_1 = TRUE };
  g_autoptr (Issuer) leaf = issuer_new (&leaf_plan, shop->root);
  g_autoptr (Issuer) old = issuer_new (&version_1, NULL);

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  for (guint i = 0; i < 4; i++)
    {
      static const struct
      {
        const char *name, *text;
      } files[] = { { "README", "" },
                    { "empty.pem", "" },
                    { "text.pem", "no certificate\n" },
                    { "damaged.pem", damaged } };

      write_file (shop, files[i].name, files[i].text);
      assert_folder (shop, US_REASON_BAD_VALUE);
      remove_file (shop, files[i].name);
    }
  issuer_write_pem (leaf, shop->folder, "leaf.pem");
  assert_folder (shop, US_REASON_BAD_VALUE);
  remove_file (shop, "leaf.pem");
  issuer_write_pem (old, shop->folder, "old.pem");
  assert_folder (shop, US_REASON_BAD_VALUE);
  remove_file (shop, "old.pem");
  /* good, and then bad, in one file */
  issuer_write_pem (shop->other, shop->folder, "mixed.pem");
  issuer_write_pem (leaf, shop->folder, "mixed.pem");
  assert_folder (shop, US_REASON_BAD_VALUE);
}

/* A certificate that the reader would pass over must not be left out silently. */
static void
test_folder_misspelt (Shop *shop, gconstpointer data)
{
  static const struct
  {
    const char *from, *to; /* of the second of two */
  } cases[] = {
    { "-----BEGIN CERTIFICATE", "-----BEGIN CERTFICATE" },
    { "-----BEGIN CERTIFICATE", "----BEGIN CERTIFICATE" },
    { "-----BEGIN CERTIFICATE", " -----BEGIN CERTIFICATE" },
    { "-----BEGIN CERTIFICATE", "\xef\xbb\xbf-----BEGIN CERTIFICATE" },
    { "-----BEGIN CERTIFICATE", "-----BEGIN PUBLIC KEY" },
    { "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE----" },
    { "-----BEGIN CERTIFICATE-----", "-----begin certificate-----" },
    { "-----END CERTIFICATE", "-----END CERTFICATE" },
  };
  g_autofree char *path = g_build_filename (shop->folder, "b.pem", NULL);
  g_autofree char *good = NULL;
  g_autoptr (AttestationRoots) roots = NULL;
  g_autoptr (GError) error = NULL;

  issuer_write_pem (shop->root, shop->folder, "a.pem");
  issuer_write_pem (shop->other, shop->folder, "b.pem");
  g_assert_true (g_file_get_contents (path, &good, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) parts = g_strsplit (good, cases[i].from, 2);
      g_autofree char *bad = g_strconcat (parts[0], cases[i].to, parts[1], NULL);
      g_autofree char *after = g_strconcat (good, bad, NULL);
      g_autofree char *before = g_strconcat (bad, good, NULL);

      write_file (shop, "b.pem", after);
      assert_folder (shop, US_REASON_BAD_VALUE);
      write_file (shop, "b.pem", before);
      assert_folder (shop, US_REASON_BAD_VALUE);
    }

  /* comments are, as before, and lines may end as elsewhere */
  {
    g_auto (GStrv) lines = g_strsplit (good, "\n", -1);
    g_autofree char *ended = g_strjoinv (" \r\n", lines);
    g_autofree char *text = g_strconcat ("subject=A maker - of keys\n", good, ended, NULL);

    write_file (shop, "b.pem", text);
    roots = attestation_roots_load (shop->folder, getuid (), &error);
    g_assert_no_error (error);
    g_assert_cmpuint (attestation_roots_count (roots), ==, 3);
  }
}

static void
test_folder_owner (Shop *shop, gconstpointer data)
{
  g_autofree char *path = g_build_filename (shop->folder, "root.pem", NULL);
  g_autoptr (GError) error = NULL;

  issuer_write_pem (shop->root, shop->folder, "root.pem");
  g_assert_cmpint (g_chmod (path, 0664), ==, 0);
  assert_folder (shop, US_REASON_UNTRUSTED_FILE);
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
  g_assert_cmpint (g_chmod (shop->folder, 0777), ==, 0);
  assert_folder (shop, US_REASON_UNTRUSTED_FILE);
  g_assert_cmpint (g_chmod (shop->folder, 0755), ==, 0);
  g_assert_null (attestation_roots_load (shop->folder, getuid () + 1, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));
}

static void
test_folder_absent (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AttestationRoots) roots =
      attestation_roots_load ("/nonexistent/attestation.d", getuid (), &error);

  g_assert_no_error (error);
  g_assert_cmpuint (attestation_roots_count (roots), ==, 0);
}

static void
test_folder_count (Shop *shop, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AttestationRoots) roots = NULL;

  issuer_write_pem (shop->root, shop->folder, "a.pem");
  issuer_write_pem (shop->intermediate, shop->folder, "a.pem");
  issuer_write_pem (shop->other, shop->folder, "b.pem");
  write_file (shop, ".hidden", "nothing");
  roots = attestation_roots_load (shop->folder, getuid (), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (attestation_roots_count (roots), ==, 3);
  remove_file (shop, ".hidden");
}

static void
shop_test (const char *path, void (*test) (Shop *, gconstpointer))
{
  g_test_add (path, Shop, NULL, shop_open, test, shop_close);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  shop_test ("/roots/chains", test_chains);
  shop_test ("/roots/intermediate-alone", test_intermediate_alone);
  shop_test ("/roots/own-root-along", test_own_root_along);
  shop_test ("/roots/leaves", test_leaves);
  shop_test ("/roots/intermediates", test_intermediates);
  shop_test ("/roots/path-length", test_path_length);
  shop_test ("/roots/root-over", test_root_over);
  shop_test ("/roots/signatures", test_signatures);
  shop_test ("/roots/no-chain", test_no_chain);
  shop_test ("/roots/no-roots", test_no_roots);
  shop_test ("/roots/damage", test_damage);
  shop_test ("/roots/folder/files", test_folder_files);
  shop_test ("/roots/folder/misspelt", test_folder_misspelt);
  shop_test ("/roots/folder/owner", test_folder_owner);
  shop_test ("/roots/folder/count", test_folder_count);
  g_test_add_func ("/roots/folder/absent", test_folder_absent);
  return g_test_run ();
}
