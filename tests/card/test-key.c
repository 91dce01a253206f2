/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The software passkey against the checks of the executor: what it enrols is taken, what it signs
 * is verified, and it signs nothing else, nothing twice with one counter, and nothing unasked.
 */
#include "module/card/key/software.h"
#include "module/card/key/store.h"
#include "module/card/key/stored-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/card/folder.h"
#include "tests/card/software.h"

#include <glib/gstdio.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define RP TEST_KEY_RP
#define PASSPHRASE "correct horse battery"

typedef struct
{
  char *folder;
  const char *passphrase; /* NULL: the person gives none */
  guint asked;
  Key *key;
} Fixture;

static Secret *
ask (KeyPrompt prompt, const KeyInfo *info, int tries, gpointer data, GError **error)
{
  Fixture *fixture = data;

  g_assert_cmpstr (info->rp, ==, RP);
  g_assert_true ((prompt == KEY_PROMPT_CHOOSE) == (info->credential == NULL));
  fixture->asked++;
  if (fixture->passphrase != NULL)
    return secret_new_from (fixture->passphrase, strlen (fixture->passphrase));
  us_error_set (error, US_ERROR_REFUSED, US_REASON_PASSPHRASE, "none was given");
  return NULL;
}

static void
reopen (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&fixture->key, key_free);
  fixture->key = software_key_new (fixture->folder, SOFTWARE_KEY_FILE, ask, fixture, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *top = test_folder_new ();

  fixture->folder = g_build_filename (top, "undersign", "passkeys", NULL);
  fixture->passphrase = PASSPHRASE;
  reopen (fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autofree char *parent = g_path_get_dirname (fixture->folder);
  g_autofree char *top = g_path_get_dirname (parent);

  key_free (fixture->key);
  test_folder_remove (top);
  g_free (fixture->folder);
}

static Passkey *
enrol (Fixture *fixture, GPtrArray *exclude)
{
  g_autoptr (GError) error = NULL;
  Passkey *passkey = test_key_enrol (fixture->key, exclude, &error);

  g_assert_no_error (error);
  return passkey;
}

/* Signs and has the executor's checks judge it.  Returns the counter, or 0 with @reason. */
static guint32
sign (Fixture *fixture, Passkey *passkey, const char *reason)
{
  g_autoptr (GError) error = NULL;
  guint32 counter = test_key_sign (fixture->key, passkey, &error);

  if (reason == NULL)
    {
      g_assert_no_error (error);
      return counter;
    }
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_true (us_error_has_reason (error, reason));
  return 0;
}

static char *
file_of (Fixture *fixture, const Passkey *passkey)
{
  g_autofree char *name = stored_key_name (passkey->credential);
  g_autofree char *file = g_strconcat (name, ".passkey", NULL);

  return g_build_filename (fixture->folder, file, NULL);
}

static void
test_enrol_and_sign (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autoptr (GPtrArray) infos = NULL;

  g_assert_cmpstr (key_kind (fixture->key), ==, "software");
  g_assert_cmpuint (fixture->asked, ==, 1);
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 1);
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 2);
  reopen (fixture);
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 3);
  g_assert_cmpuint (fixture->asked, ==, 4);

  infos = key_list (fixture->key, NULL);
  g_assert_cmpuint (infos->len, ==, 1);
  {
    const KeyInfo *info = g_ptr_array_index (infos, 0);

    g_assert_true (g_bytes_equal (info->credential, passkey->credential));
    g_assert_cmpstr (info->label, ==, "Laptop");
    g_assert_cmpstr (info->place, ==, "file");
  }
}

static void
test_forget (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) infos = NULL;

  g_assert_true (key_forget (fixture->key, passkey->credential, &error));
  sign (fixture, passkey, US_REASON_CREDENTIAL_UNKNOWN);
  g_assert_cmpuint (fixture->asked, ==, 1);
  infos = key_list (fixture->key, NULL);
  g_assert_cmpuint (infos->len, ==, 0);
  g_assert_false (key_forget (fixture->key, passkey->credential, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_CREDENTIAL_UNKNOWN));
}

static void
test_passphrase (Fixture *fixture, gconstpointer data)
{
  static const char *const wrong[] = { "correct horse batterx", "Correct horse battery", "",
                                       "correct horse battery " };
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      fixture->passphrase = wrong[i];
      sign (fixture, passkey, US_REASON_PASSPHRASE);
    }
  fixture->passphrase = NULL;
  sign (fixture, passkey, US_REASON_PASSPHRASE);
  fixture->passphrase = PASSPHRASE;
  /* what failed has used no counter up */
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 1);
}

static void
test_weak_passphrase (Fixture *fixture, gconstpointer data)
{
  static const char *const weak[] = { "", "1234567", NULL };
  KeyEnrolment enrolment = { .rp = RP, .label = "Laptop" };
  g_autoptr (GPtrArray) infos = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (weak); i++)
    {
      g_auto (KeyRegistration) made = { 0 };
      g_autoptr (GError) error = NULL;

      fixture->passphrase = weak[i];
      g_assert_false (key_enrol (fixture->key, &enrolment, &made, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_PASSPHRASE));
    }
  infos = key_list (fixture->key, NULL);
  g_assert_cmpuint (infos->len, ==, 0);
}

static void
test_enrolment_refused (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autoptr (GPtrArray) exclude = g_ptr_array_new ();
  g_autofree char *long_label = g_strnfill (65, 'x');
  const struct
  {
    KeyEnrolment enrolment;
    const char *reason;
  } cases[] = {
    { { .rp = "example.org", .label = "x" }, US_REASON_BAD_VALUE },
    { { .rp = "undersign:", .label = "x" }, US_REASON_BAD_VALUE },
    { { .rp = RP "0", .label = "x" }, US_REASON_BAD_VALUE },
    { { .rp = "undersign:0123456789ABCDEF0123456789abcdef", .label = "x" }, US_REASON_BAD_VALUE },
    { { .rp = RP, .label = "" }, US_REASON_BAD_VALUE },
    { { .rp = RP, .label = long_label }, US_REASON_BAD_VALUE },
    { { .rp = RP, .label = "\xff" }, US_REASON_BAD_VALUE },
    { { .rp = RP, .label = "x", .exclude = exclude }, US_REASON_CREDENTIAL_EXISTS },
  };

  g_ptr_array_add (exclude, passkey->credential);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (KeyRegistration) made = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_false (key_enrol (fixture->key, &cases[i].enrolment, &made, &error));
      g_assert_true (us_error_has_reason (error, cases[i].reason));
    }
  g_assert_cmpuint (fixture->asked, ==, 1);
}

/* Only a statement about this very passkey is signed; the person is not even asked for another. */
static void
test_signs_statements_only (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autoptr (Passkey) other = enrol (fixture, NULL);
  g_autoptr (GBytes) good = test_key_statement (passkey, RP);
  g_autoptr (GBytes) foreign = test_key_statement (other, RP);
  g_autoptr (GBytes) foreign_rp =
      test_key_statement (passkey, "undersign:ffffffffffffffffffffffffffffffff");
  gsize len;
  const char *text = g_bytes_get_data (good, &len);
  g_autofree char *spaced = g_strdup_printf ("%.*s ", (int) len, text);
  guint8 hash[32] = { 1 };
  GBytes *cases[] = {
    g_bytes_new (hash, sizeof hash),
    g_bytes_new ("", 0),
    g_bytes_new ("{}", 2),
    g_bytes_new (text, len - 1),
    g_bytes_new (spaced, strlen (spaced)),
    g_bytes_ref (foreign),
    g_bytes_ref (foreign_rp),
  };

  fixture->asked = 0;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = cases[i];
      g_auto (KeyAssertion) made = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_false (key_sign (fixture->key, passkey->credential, bytes, &made, &error));
      g_test_message ("%s", error->message);
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_STATEMENT) ||
                     us_error_has_reason (error, US_REASON_BAD_JSON));
      g_assert_null (made.signature);
    }
  g_assert_cmpuint (fixture->asked, ==, 0);
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 1);
}

static gboolean
pick (Fixture *fixture, const Passkey *passkey, const char *reason)
{
  g_autoptr (GPtrArray) credentials = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  guint index = 1;
  gboolean ok;

  g_ptr_array_add (credentials, passkey->credential);
  ok = key_pick (fixture->key, credentials, RP, &index, &error);
  g_assert_true (ok ? index == 0 : us_error_has_reason (error, reason));
  return ok;
}

/* It is named, and hides no other. */
static void
assert_unreadable (Fixture *fixture, const Passkey *passkey, const Passkey *other)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) infos = key_list (fixture->key, &error);
  guint n = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (infos->len, ==, 2);
  for (guint i = 0; i < infos->len; i++)
    {
      const KeyInfo *info = g_ptr_array_index (infos, i);
      const gboolean bad = g_bytes_equal (info->credential, passkey->credential);

      n += bad;
      g_assert_true (bad || g_bytes_equal (info->credential, other->credential));
      g_assert_true ((info->fault != NULL) == bad && (info->rp == NULL) == bad);
    }
  g_assert_cmpuint (n, ==, 1);
  g_assert_true (pick (fixture, other, NULL));
  g_assert_false (pick (fixture, passkey, US_REASON_KEY_STORE));
}

/* What cannot be read can be removed. */
static void
test_forget_unreadable (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autoptr (Passkey) other = enrol (fixture, NULL);
  g_autofree char *file = file_of (fixture, passkey);
  g_autoptr (GPtrArray) infos = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents_full (file, "{}", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  assert_unreadable (fixture, passkey, other);
  g_assert_true (key_forget (fixture->key, passkey->credential, &error));
  g_assert_no_error (error);
  g_assert_false (g_file_test (file, G_FILE_TEST_EXISTS));
  infos = key_list (fixture->key, NULL);
  g_assert_cmpuint (infos->len, ==, 1);
  g_assert_cmpuint (sign (fixture, other, NULL), ==, 1);
}

/* An id of a security key's own length, as a name too long for a file. */
static void
test_forget_long (Fixture *fixture, gconstpointer data)
{
  g_autofree guint8 *id = g_malloc0 (1023);
  g_autoptr (GBytes) credential = g_bytes_new (id, 1023);
  g_autoptr (GError) error = NULL;

  g_assert_false (key_forget (fixture->key, credential, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_CREDENTIAL_UNKNOWN));
}

static void
test_modes (Fixture *fixture, gconstpointer data)
{
  static const mode_t loose[] = { 0640, 0604, 0660, 0602, 0610, 0777 };
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autoptr (Passkey) other = enrol (fixture, NULL);
  g_autofree char *file = file_of (fixture, passkey);
  struct stat info;

  g_assert_cmpint (stat (file, &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 07777, ==, 0600);
  g_assert_cmpint (stat (fixture->folder, &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 07777, ==, 0700);

  for (guint i = 0; i < G_N_ELEMENTS (loose); i++)
    {
      g_assert_cmpint (chmod (file, loose[i]), ==, 0);
      sign (fixture, passkey, US_REASON_KEY_STORE);
      assert_unreadable (fixture, passkey, other);
    }
  g_assert_cmpint (chmod (file, 0600), ==, 0);
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 1);

  g_assert_cmpint (chmod (fixture->folder, 0750), ==, 0);
  {
    g_autoptr (GError) error = NULL;

    g_assert_null (software_key_new (fixture->folder, SOFTWARE_KEY_FILE, ask, fixture, &error));
    g_assert_true (us_error_has_reason (error, US_REASON_KEY_STORE));
  }
  g_assert_cmpint (chmod (fixture->folder, 0700), ==, 0);
}

static void
test_no_symlink (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autofree char *file = file_of (fixture, passkey);
  g_autofree char *moved = g_strconcat (file, ".moved", NULL);

  g_assert_cmpint (g_rename (file, moved), ==, 0);
  g_assert_cmpint (symlink (moved, file), ==, 0);
  sign (fixture, passkey, US_REASON_KEY_STORE);
  g_assert_cmpuint (fixture->asked, ==, 1);
}

/* A counter that could not be stored is a signature that was not made. */
static void
test_full_disk (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  struct rlimit before, none;

  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 1);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  none = before;
  none.rlim_cur = 0;
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &none), ==, 0);
  {
    g_autoptr (GBytes) statement = test_key_statement (passkey, RP);
    g_auto (KeyAssertion) made = { 0 };
    g_autoptr (GError) error = NULL;
    gboolean ok = key_sign (fixture->key, passkey->credential, statement, &made, &error);

    g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false (ok);
    g_assert_true (us_error_has_reason (error, US_REASON_KEY_STORE));
    g_assert_null (made.signature);
  }
  {
    g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);

    g_assert_nonnull (g_dir_read_name (dir));
    g_assert_null (g_dir_read_name (dir)); /* nothing is left beside it */
  }
  g_assert_cmpuint (sign (fixture, passkey, NULL), ==, 2);
}

/* Changes what is stored, through the same format. */
static void
rewrite (Fixture *fixture, const Passkey *passkey, void (*change) (StoredKey *stored))
{
  g_autoptr (Store) store = store_file_open (fixture->folder, NULL);
  g_autofree char *name = stored_key_name (passkey->credential);
  g_autoptr (GBytes) bytes = store->klass->load (store, name, NULL);
  g_autoptr (StoredKey) stored = stored_key_decode (bytes, name, NULL);
  g_autoptr (GBytes) changed = NULL;

  change (stored);
  changed = stored_key_encode (stored);
  g_assert_true (store->klass->save (store, name, stored->label, changed, TRUE, NULL));
}

/* The same key under the same passphrase, but cheap to guess. */
static void
make_cheap (StoredKey *stored)
{
  const guint8 *data = g_bytes_get_data (stored->sealed, NULL), *at = data;
  X509_SIG *sealed = d2i_X509_SIG (NULL, &at, (long) g_bytes_get_size (stored->sealed));
  PKCS8_PRIV_KEY_INFO *info = PKCS8_decrypt (sealed, PASSPHRASE, strlen (PASSPHRASE));
  X509_ALGOR *scheme = PKCS5_pbe2_set_scrypt (EVP_aes_256_cbc (), NULL, 16, NULL, 1024, 8, 1);
  X509_SIG *cheap = PKCS8_set0_pbe (PASSPHRASE, strlen (PASSPHRASE), info, scheme);
  guint8 *der = NULL;
  int len = i2d_X509_SIG (cheap, &der);

  g_assert_cmpint (len, >, 0);
  g_bytes_unref (stored->sealed);
  stored->sealed = g_bytes_new (der, (gsize) len);
  OPENSSL_free (der);
  X509_SIG_free (cheap);
  X509_SIG_free (sealed);
  PKCS8_PRIV_KEY_INFO_free (info);
}

static void
end_counter (StoredKey *stored)
{
  stored->counter = G_MAXUINT32;
}

static void
swap_public (StoredKey *stored)
{
  stored->point[0] ^= 1;
}

static void
test_stored_scheme (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);

  rewrite (fixture, passkey, make_cheap);
  sign (fixture, passkey, US_REASON_KEY_STORE);
}

static void
test_stored_public (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);

  rewrite (fixture, passkey, swap_public);
  sign (fixture, passkey, US_REASON_PASSPHRASE);
}

static void
test_counter_end (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);

  rewrite (fixture, passkey, end_counter);
  sign (fixture, passkey, US_REASON_KEY_STORE);
}

/* Every byte of the file matters, and none of the secrets is in it. */
static void
test_damage (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Passkey) passkey = enrol (fixture, NULL);
  g_autofree char *file = file_of (fixture, passkey);
  g_autofree char *text = NULL;
  gsize len;

  g_assert_true (g_file_get_contents (file, &text, &len, NULL));
  g_assert_null (strstr (text, "horse"));
  for (gsize i = 0; i < len; i += 7)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *damaged = g_memdup2 (text, len);
      g_autoptr (GBytes) bytes = NULL;
      g_autofree char *name = stored_key_name (passkey->credential);
      g_autoptr (StoredKey) stored = NULL;

      damaged[i] = damaged[i] == '}' ? '{' : '}';
      bytes = g_bytes_new (damaged, len);
      stored = stored_key_decode (bytes, name, &error);
      if (stored == NULL)
        g_assert_true (us_error_has_reason (error, US_REASON_KEY_STORE));
      else /* in the label, a word of the person's */
        g_assert_cmpstr (stored->label, !=, "Laptop");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) g_test_add ("/key/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("enrol-and-sign", test_enrol_and_sign);
  ADD ("forget", test_forget);
  ADD ("forget-unreadable", test_forget_unreadable);
  ADD ("forget-long", test_forget_long);
  ADD ("passphrase", test_passphrase);
  ADD ("weak-passphrase", test_weak_passphrase);
  ADD ("enrolment-refused", test_enrolment_refused);
  ADD ("signs-statements-only", test_signs_statements_only);
  ADD ("modes", test_modes);
  ADD ("no-symlink", test_no_symlink);
  ADD ("full-disk", test_full_disk);
  ADD ("stored-scheme", test_stored_scheme);
  ADD ("stored-public", test_stored_public);
  ADD ("counter-end", test_counter_end);
  ADD ("damage", test_damage);
  return g_test_run ();
}
