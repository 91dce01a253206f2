/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Idempotency keys: what is one, what id it gives, and which two calls are the same call. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/broker/id-key.h"
#include "service/broker/key.h"
#include "tests/broker/sample.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
test_check (void)
{
  g_autofree char *longest = g_strnfill (KEY_MAX, 'k');
  g_autofree char *longer = g_strnfill (KEY_MAX + 1, 'k');
  const char *const bad[] = { "", " ", "a b", "a\n", "a\x7f", "a\xc3\xa4", longer };
  g_autoptr (GError) error = NULL;

  g_assert_true (key_check ("a", &error));
  g_assert_true (key_check ("!~{}", &error));
  g_assert_true (key_check (longest, &error));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_clear_error (&error);
      g_assert_false (key_check (bad[i], &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
    }
}

static void
test_ids (void)
{
  static const guint8 bytes[ID_KEY_SIZE] = { 7 };
  static const guint8 other_bytes[ID_KEY_SIZE] = { 8 };
  g_autoptr (Secret) secret = secret_new_from (bytes, sizeof bytes);
  g_autoptr (Secret) other = secret_new_from (other_bytes, sizeof other_bytes);
  g_autofree char *id = key_request_id (secret, 2001, "key");
  g_autofree char *same = key_request_id (secret, 2001, "key");
  g_autofree char *agent = key_request_id (secret, 2002, "key");
  g_autofree char *key = key_request_id (secret, 2001, "kez");
  g_autofree char *border_a = key_request_id (secret, 20, "01");
  g_autofree char *border_b = key_request_id (secret, 200, "1");
  g_autofree char *elsewhere = key_request_id (other, 2001, "key");

  g_assert_true (id_is_valid (id));
  g_assert_cmpstr (id, ==, same);
  g_assert_cmpstr (id, !=, agent);
  g_assert_cmpstr (id, !=, key);
  g_assert_cmpstr (border_a, !=, border_b);
  /* Who does not know the secret cannot tell which id a key gives. */
  g_assert_cmpstr (id, !=, elsewhere);
  /* The ledger remembers ids for good: this one may never become another. */
  g_assert_cmpstr (id, ==, "88beb1bdd81b119192f9674234ac29a1");
}

typedef struct
{
  char *dir, *path;
} Folder;

static void
folder_set_up (Folder *folder, gconstpointer data)
{
  folder->dir = g_dir_make_tmp ("undersign-id-key-XXXXXX", NULL);
  folder->path = g_build_filename (folder->dir, ID_KEY_NAME, NULL);
}

static void
folder_tear_down (Folder *folder, gconstpointer data)
{
  g_autofree char *unfinished = g_strconcat (folder->path, ".new", NULL);

  g_unlink (unfinished);
  g_unlink (folder->path);
  g_rmdir (folder->dir);
  g_free (folder->path);
  g_free (folder->dir);
}

static void
assert_key (const Folder *folder, Secret *key, gboolean same)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Secret) now = id_key_open (folder->dir, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (secret_size (now), ==, ID_KEY_SIZE);
  g_assert_true ((memcmp (secret_data (now), secret_data (key), ID_KEY_SIZE) == 0) == same);
}

/* Made once and kept; what a crash left of another is no key; one that is gone is made anew. */
static void
test_secret (Folder *folder, gconstpointer data)
{
  g_autofree char *unfinished = g_strconcat (folder->path, ".new", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (Secret) key = id_key_open (folder->dir, &error);
  struct stat status;

  g_assert_no_error (error);
  g_assert_cmpint (stat (folder->path, &status), ==, 0);
  g_assert_cmpuint (status.st_mode & 0777, ==, 0600);
  assert_key (folder, key, TRUE);
  g_assert_true (g_file_set_contents (unfinished, "half", 4, NULL));
  assert_key (folder, key, TRUE);

  g_assert_cmpint (g_unlink (folder->path), ==, 0);
  assert_key (folder, key, FALSE);
}

/* Of another size it is not replaced, and the error says which file it is and what is wrong. */
static void
test_secret_damaged (Folder *folder, gconstpointer data)
{
  static const off_t sizes[] = { 0, ID_KEY_SIZE - 1, ID_KEY_SIZE + 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Secret) key = id_key_open (folder->dir, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *size = g_strdup_printf (" %d bytes", (int) sizes[i]);
      struct stat status;

      g_assert_cmpint (truncate (folder->path, sizes[i]), ==, 0);
      g_assert_null (id_key_open (folder->dir, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));
      g_assert_nonnull (strstr (error->message, folder->path));
      g_assert_nonnull (strstr (error->message, size));
      g_assert_cmpint (stat (folder->path, &status), ==, 0);
      g_assert_cmpint (status.st_size, ==, sizes[i]);
      g_clear_error (&error);
    }
}

/* Nobody else may have seen it, and what cannot be read is not replaced. */
static void
test_secret_refused (Folder *folder, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Secret) key = id_key_open (folder->dir, &error);
  struct stat before, after;

  g_assert_no_error (error);
  g_assert_cmpint (chmod (folder->path, 0640), ==, 0);
  g_assert_cmpint (stat (folder->path, &before), ==, 0);
  g_assert_null (id_key_open (folder->dir, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNTRUSTED_FILE));
  g_assert_cmpint (stat (folder->path, &after), ==, 0);
  g_assert_cmpuint (before.st_ino, ==, after.st_ino);
  g_clear_error (&error);

  g_assert_cmpint (g_unlink (folder->path), ==, 0);
  g_assert_cmpint (symlink ("elsewhere", folder->path), ==, 0);
  g_assert_null (id_key_open (folder->dir, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
}

static const guint8 digests[2][32] = { { 1 }, { 2 } };

static char *
digest_of (const char *action, const char *supersedes, const char *text)
{
  g_autoptr (GVariant) arguments =
      g_variant_parse (G_VARIANT_TYPE ("a(sv)"), text, NULL, NULL, NULL);
  g_autoptr (GError) error = NULL;
  char *digest = NULL;

  g_assert_nonnull (arguments);
  digest = key_digest (action, supersedes, arguments, digests, 2, &error);
  g_assert_no_error (error);
  return digest;
}

/* The first of each row is the same call as the second exactly if the third says so. */
static void
test_digests (void)
{
  static const struct
  {
    const char *a, *b;
    gboolean same;
  } cases[] = {
    { "[('a', <'1'>), ('b', <'2'>)]", "[('b', <'2'>), ('a', <'1'>)]", TRUE },
    { "[('a', <'1'>)]", "[('a', <'2'>)]", FALSE },
    { "[('a', <'1'>)]", "[('b', <'1'>)]", FALSE },
    { "[('a', <'1'>)]", "[('a', <['1']>)]", FALSE },
    { "[('a', <'1'>)]", "[('a', <'1'>), ('b', <''>)]", FALSE },
    { "[('a', <'1'>)]", "[('a', <'1'>), ('a', <'1'>)]", FALSE },
    { "[('a', <'xb'>)]", "[('ax', <'b'>)]", FALSE },
    { "[('a', <true>)]", "[('a', <false>)]", FALSE },
    { "[('a', <('n', handle 0)>)]", "[('a', <('n', handle 0)>)]", TRUE },
    { "[('a', <('n', handle 0)>)]", "[('a', <('n', handle 1)>)]", FALSE },
    { "[('a', <('n', handle 0)>)]", "[('a', <('m', handle 0)>)]", FALSE },
    { "[('a', <[('n', handle 0), ('m', handle 1)]>)]",
      "[('a', <[('m', handle 1), ('n', handle 0)]>)]", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *a = digest_of ("x.y", NULL, cases[i].a);
      g_autofree char *b = digest_of ("x.y", NULL, cases[i].b);
      g_autofree char *other = digest_of ("x.z", NULL, cases[i].a);
      g_autofree char *in_place = digest_of ("x.y", SAMPLE_ID, cases[i].a);
      g_autofree char *of_other = digest_of ("x.y", SAMPLE_OTHER_ID, cases[i].a);

      g_test_message ("%s %s", cases[i].a, cases[i].b);
      g_assert_cmpint (strcmp (a, b) == 0, ==, cases[i].same);
      g_assert_cmpstr (a, !=, other);
      g_assert_cmpstr (a, !=, in_place);
      g_assert_cmpstr (in_place, !=, of_other);
    }
}

static void
test_handles (void)
{
  static const char *const bad[] = {
    "[('a', <('n', handle 2)>)]",
    "[('a', <('n', handle -1)>)]",
    "[('a', <[('n', handle 0), ('n', handle 2)]>)]",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GVariant) arguments =
          g_variant_parse (G_VARIANT_TYPE ("a(sv)"), bad[i], NULL, NULL, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_null (key_digest ("x.y", NULL, arguments, digests, 2, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_HANDLE));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  g_test_add_func ("/key/check", test_check);
  g_test_add_func ("/key/ids", test_ids);
#define ADD(path, function)                                                                        \
  g_test_add (path, Folder, NULL, folder_set_up, function, folder_tear_down)
  ADD ("/key/secret", test_secret);
  ADD ("/key/secret-damaged", test_secret_damaged);
  ADD ("/key/secret-refused", test_secret_refused);
  g_test_add_func ("/key/digests", test_digests);
  g_test_add_func ("/key/handles", test_handles);
  return g_test_run ();
}
