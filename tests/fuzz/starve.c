/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See starve.h.  Linked into a target, it is OpenSSL's allocator from the start of the program. */
#include "tests/fuzz/starve.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdlib.h>

/* So many points at most, evenly from the first allocation to the last. */
#define POINTS 48

static guint64 allocations; /* since the attempt began */
static guint64 limit = G_MAXUINT64;

static gboolean
is_starved (void)
{
  return allocations++ >= limit;
}

static void *
take (size_t size, const char *file, int line)
{
  return is_starved () ? NULL : malloc (size);
}

static void *
take_again (void *memory, size_t size, const char *file, int line)
{
  return is_starved () ? NULL : realloc (memory, size);
}

static void
give_back (void *memory, const char *file, int line)
{
  free (memory);
}

__attribute__ ((constructor)) static void
begin (void)
{
  if (CRYPTO_set_mem_functions (take, take_again, give_back) != 1)
    abort ();
}

void
starve (gboolean (*attempt) (gpointer data), gpointer data)
{
  gboolean verdict = attempt (data); /* what is looked up once is there from now on */
  guint64 count = 0;

  allocations = 0;
  g_assert (attempt (data) == verdict);
  count = allocations;
  for (guint64 i = 0; i < MIN (count, POINTS); i++)
    {
      gboolean starved = FALSE;

      allocations = 0;
      limit = i * count / MIN (count, POINTS);
      starved = attempt (data);
      limit = G_MAXUINT64;
      g_assert (verdict || !starved);
      ERR_clear_error ();
    }
  g_assert (attempt (data) == verdict);
}
