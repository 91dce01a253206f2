/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashing a sealed memfd.  Apart from memfd.c, so that a program that only passes files on is not
 * linked with the crypto library, which costs a runner's worker half of its start.
 */
#include "service/base/memfd.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#define HASH_CHUNK (64 * 1024)

G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_MD_CTX, EVP_MD_CTX_free)

static gboolean
hash_range (EVP_MD_CTX *context, int fd, gsize size)
{
  g_autofree guint8 *chunk = g_malloc (HASH_CHUNK);
  gsize done = 0;

  while (done < size)
    {
      ssize_t n = pread (fd, chunk, MIN (HASH_CHUNK, size - done), (off_t) done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0 || EVP_DigestUpdate (context, chunk, (gsize) n) != 1)
        return FALSE;
      done += (gsize) n;
    }
  return TRUE;
}

gboolean
memfd_sha256 (int fd, gsize max_size, gsize *out_size, guint8 out[32], GError **error)
{
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  guint8 digest[32];
  gsize size = 0;

  if (!memfd_check (fd, max_size, &size, error))
    return FALSE;
  if (context == NULL || EVP_DigestInit_ex (context, EVP_sha256 (), NULL) != 1 ||
      !hash_range (context, fd, size) || EVP_DigestFinal_ex (context, digest, NULL) != 1)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot hash a file");

  *out_size = size;
  memcpy (out, digest, sizeof digest);
  return TRUE;
}
