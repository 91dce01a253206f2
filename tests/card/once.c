/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in, by the linker's --wrap, for what of the software passkey costs most of a second: making,
 * sealing and opening a key is done once in a process.  All keys of a test are one, under one
 * passphrase, and differ in their ids.  For tests of what is around it only.
 */
#include "tests/card/once.h"

#include "module/card/key/private-key.h"

EVP_PKEY *once_generate (GError **error) __asm__ ("__wrap_private_key_generate");
EVP_PKEY *real_generate (GError **error) __asm__ ("__real_private_key_generate");
GBytes *once_seal (EVP_PKEY *key, Secret *passphrase, GError **error) __asm__ (
    "__wrap_private_key_seal");
GBytes *real_seal (EVP_PKEY *key, Secret *passphrase, GError **error) __asm__ (
    "__real_private_key_seal");
EVP_PKEY *once_unseal (GBytes *sealed, Secret *passphrase, const guint8 *point, GError **error)
    __asm__ ("__wrap_private_key_unseal");
EVP_PKEY *real_unseal (GBytes *sealed, Secret *passphrase, const guint8 *point, GError **error)
    __asm__ ("__real_private_key_unseal");

static EVP_PKEY *the_key;
static GBytes *the_sealed;

EVP_PKEY *
once_generate (GError **error)
{
  if (the_key == NULL)
    the_key = real_generate (error);
  g_assert_true (EVP_PKEY_up_ref (the_key) == 1);
  return the_key;
}

GBytes *
once_seal (EVP_PKEY *key, Secret *passphrase, GError **error)
{
  g_assert_true (key == the_key);
  if (the_sealed == NULL)
    the_sealed = real_seal (key, passphrase, error);
  return g_bytes_ref (the_sealed);
}

EVP_PKEY *
once_unseal (GBytes *sealed, Secret *passphrase, const guint8 *point, GError **error)
{
  static gboolean opened = FALSE;

  g_assert_true (g_bytes_equal (sealed, the_sealed));
  if (!opened)
    return opened = TRUE, real_unseal (sealed, passphrase, point, error);
  g_assert_true (EVP_PKEY_up_ref (the_key) == 1);
  return the_key;
}

void
test_once_clear (void)
{
  EVP_PKEY_free (the_key);
  the_key = NULL;
  g_clear_pointer (&the_sealed, g_bytes_unref);
}
