/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See starve.h.  Linked into a target, it is OpenSSL's allocator from the start of the program. */
#include "tests/fuzz/starve.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* So many points at most, evenly from the first allocation to the last. */
#define POINTS 48
/* Fewer where each is a process; they are not the same for one input as for the next. */
#define POINTS_APART 8
/* libFuzzer has an input after the other, and no time for a process with each. */
#ifdef LIBFUZZER
#define CALLS_APART 500
#else
#define CALLS_APART 1
#endif

/* What becomes of a child. */
enum
{
  CHILD_REFUSED = 91,
  CHILD_ACCEPTED,
  CHILD_ENDED,
};

static guint64 allocations; /* since the attempt began */
static guint64 limit = G_MAXUINT64, limit_end = G_MAXUINT64;

static gboolean
is_starved (void)
{
  const guint64 n = allocations++;

  return n >= limit && n < limit_end;
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

/* count_allocations: of a whole attempt. */
static guint64
count_allocations (gboolean (*attempt) (gpointer data), gpointer data, gboolean *out_verdict)
{
  *out_verdict = attempt (data); /* what is looked up once is there from now on */
  allocations = 0;
  g_assert (attempt (data) == *out_verdict);
  return allocations;
}

static gboolean
attempt_starved (gboolean (*attempt) (gpointer data), gpointer data, guint64 from)
{
  gboolean starved = FALSE;

  allocations = 0;
  limit = from;
  starved = attempt (data);
  limit = G_MAXUINT64;
  ERR_clear_error ();
  return starved;
}

void
starve (gboolean (*attempt) (gpointer data), gpointer data)
{
  gboolean verdict = FALSE;
  guint64 count = count_allocations (attempt, data, &verdict);
  guint64 points = MIN (count, POINTS);

  for (guint64 i = 0; i < points; i++)
    g_assert (!attempt_starved (attempt, data, i * count / points) || verdict);
  g_assert (attempt (data) == verdict);
}

/* --- apart --- */

/* In a child: what pae.c says before it ends the process, and nothing else, is an end as it should be. */
static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer last_words)
{
  for (gsize i = 0; i < n_fields; i++)
    if ((level & G_LOG_LEVEL_ERROR) != 0 && strcmp (fields[i].key, "MESSAGE") == 0 &&
        strcmp (fields[i].value, last_words) == 0)
      _exit (CHILD_ENDED);
  return g_log_writer_default (level, fields, n_fields, NULL);
}

static int
child_status (gboolean (*attempt) (gpointer data), gpointer data, guint64 at, const char *last_words)
{
  int status = -1;
  pid_t pid = fork ();

  g_assert (pid >= 0);
  if (pid == 0)
    {
      limit_end = at + 1;
      g_log_set_writer_func (write_log, (gpointer) last_words, NULL);
      _exit (attempt_starved (attempt, data, at) ? CHILD_ACCEPTED : CHILD_REFUSED);
    }
  while (waitpid (pid, &status, 0) < 0)
    g_assert (errno == EINTR); /* libFuzzer has a timer */
  g_assert (WIFEXITED (status));
  return WEXITSTATUS (status);
}

void
starve_apart (gboolean (*attempt) (gpointer data), gpointer data, const char *last_words)
{
  static guint64 turn, calls;
  gboolean verdict = FALSE;

  if (calls++ % CALLS_APART != 0)
    return;
  guint64 count = count_allocations (attempt, data, &verdict);
  guint64 points = MIN (count, POINTS_APART);

  for (guint64 i = 0; i < points; i++)
    {
      guint64 at = (i * count + turn++ % count) / points;
      int status = child_status (attempt, data, at, last_words);

      g_assert (status == CHILD_REFUSED || status == CHILD_ENDED ||
                (status == CHILD_ACCEPTED && verdict));
    }
}
