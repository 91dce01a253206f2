/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints and keys in files.  A signature can't be guessed, so an input that is no checkpoint is
 * tried as the body of one too, signed by a key of the target's.  What passes says the same when it
 * is written again, and no longer passes with a bit of it changed.
 */
#include "service/base/checkpoint.h"
#include "service/base/ed25519.h"
#include "service/base/fd.h"
#include "service/base/given-keys.h"
#include "service/base/memfd.h"
#include "tests/fuzz/host-key.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/starve.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* The target's own key, without memory: there is a signature or there is none. */
static gboolean
attempt_signing (gpointer data)
{
  g_autoptr (GBytes) body = g_bytes_new_static ("x", 1);
  guint8 public[ED25519_PUBLIC_SIZE], signature[ED25519_SIGNATURE_SIZE];

  return ed25519_public (data, public, NULL) &&
         ed25519_sign (data, PAE_TYPE_CHECKPOINT, body, signature, NULL) &&
         ed25519_verify (public, PAE_TYPE_CHECKPOINT, body, signature);
}

/* One that is of something else stays wrong. */
static gboolean
attempt_wrong (gpointer data)
{
  g_autoptr (GBytes) body = g_bytes_new_static ("x", 1);
  g_autoptr (GBytes) other = g_bytes_new_static ("y", 1);
  static guint8 public[ED25519_PUBLIC_SIZE], signature[ED25519_SIGNATURE_SIZE];
  static gboolean made = FALSE;

  made = made || (ed25519_public (data, public, NULL) &&
                  ed25519_sign (data, PAE_TYPE_CHECKPOINT, body, signature, NULL));
  g_assert (made); /* the first attempt has all the memory */
  return ed25519_verify (public, PAE_TYPE_CHECKPOINT, other, signature);
}

static gboolean
attempt_parsing (gpointer data)
{
  g_auto (Checkpoint) checkpoint = { 0 };

  return checkpoint_parse (data, &checkpoint, NULL);
}

static GBytes *
signed_with (GBytes *body)
{
  g_autoptr (Secret) secret = host_key ();

  starve (attempt_signing, secret);
  starve (attempt_wrong, secret);
  return host_key_sign (body);
}

static gboolean
parse (GBytes *bytes, Checkpoint *out_checkpoint)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = checkpoint_parse (bytes, out_checkpoint, &error);

  g_assert (ok == (error == NULL));
  refusal_seen (error);
  return ok;
}

/* Every bit but those of the line feed at the end matters, at the latest to the signature. */
static void
check_changed (GBytes *bytes, gsize bit)
{
  gsize len;
  const guint8 *data = g_bytes_get_data (bytes, &len);
  g_autofree guint8 *copy = g_memdup2 (data, len);
  g_autoptr (GBytes) changed = NULL;
  g_auto (Checkpoint) checkpoint = { 0 };

  copy[bit / 8 % (len - 1)] ^= (guint8) (1 << bit % 8);
  changed = g_bytes_new (copy, len);
  g_assert (!checkpoint_parse (changed, &checkpoint, NULL));
  starve (attempt_parsing, changed);
}

static void
check_keys (const uint8_t *data, size_t size)
{
  autofd fd = memfd_new_sealed ("fuzz", data, size, NULL);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *word = g_strndup ((const char *) data, size);
  char *by_file[] = { path, NULL }, *by_word[] = { word, NULL };
  g_autoptr (GError) error = NULL, no_word = NULL;
  g_autoptr (GPtrArray) keys = given_keys_load (by_file, &error);
  g_autoptr (GPtrArray) words = given_keys_load (by_word, &no_word);

  g_assert ((keys == NULL) == (error != NULL) && (words == NULL) == (no_word != NULL));
  refusal_seen (error);
  refusal_seen (no_word);
  if (keys != NULL)
    g_assert (keys->len == 1 && given_keys_have (keys, g_ptr_array_index (keys, 0)));
  if (words != NULL)
    g_assert (given_keys_have (words, word));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GBytes) wrapped = NULL;
  g_autoptr (GBytes) again = NULL;
  g_auto (Checkpoint) checkpoint = { 0 };

  if (parse (bytes, &checkpoint))
    {
      check_changed (bytes, size);
      return 0;
    }
  if (size == 0)
    return 0;
  check_keys (data, size);
  if (!g_utf8_validate_len ((const char *) data, size, NULL) || memchr (data, 0, size) != NULL)
    return 0;
  wrapped = signed_with (bytes);
  if (!parse (wrapped, &checkpoint))
    return 0;
  again = checkpoint_encode (&checkpoint);
  g_assert (g_bytes_equal (again, bytes));
  check_changed (wrapped, size);
  return 0;
}
