/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets in pages of their own: locked, absent from core dumps, wiped before they are given back.
 * A secret must never be copied into a GString, a GVariant, a log line or an environment; read it
 * from its file straight into here with secret_new_read().
 */
#include "service/base/secret.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct Secret
{
  guint8 *data;
  gsize size;   /* what the caller sees */
  gsize mapped; /* whole pages, at least size + 1 */
};

Secret *
secret_new (gsize size)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  gsize mapped = 0;
  void *data = NULL;
  Secret *secret = NULL;

  if (size > G_MAXSIZE - 2 * page)
    return NULL;
  mapped = (size / page + 1) * page;

  data = mmap (NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return NULL;
  if (mlock (data, mapped) < 0 || madvise (data, mapped, MADV_DONTDUMP) < 0)
    {
      munmap (data, mapped);
      return NULL;
    }

  secret = g_new0 (Secret, 1);
  *secret = (Secret){ .data = data, .size = size, .mapped = mapped };
  return secret;
}

Secret *
secret_new_from (const void *data, gsize len)
{
  Secret *secret = secret_new (len);

  if (secret != NULL && len > 0)
    memcpy (secret->data, data, len);
  return secret;
}

Secret *
secret_new_read (int fd, gsize max, GError **error)
{
  /* One byte more than allowed, to see that there is more. */
  g_autoptr (Secret) secret = max < G_MAXSIZE ? secret_new (max + 1) : NULL;
  gsize have = 0;

  if (secret == NULL)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                    "cannot lock memory for a secret");
      return NULL;
    }

  while (have <= max)
    {
      ssize_t n = read (fd, secret->data + have, max + 1 - have);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot read a secret: %s",
                        g_strerror (errno));
          return NULL;
        }
      if (n == 0)
        {
          secret->size = have;
          return g_steal_pointer (&secret);
        }
      have += (gsize) n;
    }

  us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                "a secret is larger than %" G_GSIZE_FORMAT " bytes", max);
  return NULL;
}

void
secret_free (Secret *secret)
{
  if (secret == NULL)
    return;
  explicit_bzero (secret->data, secret->mapped);
  munmap (secret->data, secret->mapped);
  g_free (secret);
}

guint8 *
secret_data (Secret *secret)
{
  return secret->data;
}

gsize
secret_size (const Secret *secret)
{
  return secret->size;
}
