/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes out: all of it and in order, and never by waiting for who reads. */
#include "agentlib/mcp/output.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEPT_MAX (1024 * 1024)
#define PIECE 10000

typedef struct
{
  int fds[2]; /* to read from, to write to */
  Output *output;
  guint empty, broken;
} Bench;

static void
on_changed (gboolean broken, gpointer data)
{
  Bench *bench = data;

  if (broken)
    bench->broken++;
  else
    bench->empty++;
}

/* @data: "pipe" or "socket" */
static void
set_up (Bench *bench, gconstpointer data)
{
  signal (SIGPIPE, SIG_IGN);
  if (strcmp (data, "pipe") == 0)
    g_assert_cmpint (pipe (bench->fds), ==, 0);
  else
    g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, bench->fds), ==, 0);
  bench->output = output_new (bench->fds[1], KEPT_MAX, on_changed, bench);
}

static void
tear_down (Bench *bench, gconstpointer data)
{
  output_free (bench->output);
  for (guint i = 0; i < 2; i++)
    if (bench->fds[i] >= 0)
      close (bench->fds[i]);
}

/* Sends pieces that differ until one is kept; how many. */
static guint
fill (Bench *bench)
{
  char piece[PIECE];
  guint n = 0;

  while (output_is_empty (bench->output))
    {
      memset (piece, 'a' + (int) (n++ % 26), sizeof piece);
      output_send (bench->output, piece, sizeof piece);
      g_assert_cmpuint (n, <, 1000);
    }
  return n;
}

/* Nobody reads: nothing waits, and what is kept is out as soon as somebody does. */
static void
test_slow (Bench *bench, gconstpointer data)
{
  guint n = fill (bench);
  char piece[PIECE];

  g_assert_cmpint (fcntl (bench->fds[1], F_GETFL) & O_NONBLOCK, ==, 0);
  for (guint i = 0; i < n; i++)
    for (gsize got = 0; got < sizeof piece;)
      {
        ssize_t part;

        while (g_main_context_iteration (NULL, FALSE))
          ;
        part = read (bench->fds[0], piece + got, sizeof piece - got);
        g_assert_cmpint (part, >, 0);
        for (gsize k = got; k < got + (gsize) part; k++)
          g_assert_cmpint (piece[k], ==, 'a' + (int) (i % 26));
        got += (gsize) part;
      }
  while (bench->empty == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (output_is_empty (bench->output));
  g_assert_cmpuint (bench->empty, ==, 1);
  g_assert_cmpuint (bench->broken, ==, 0);
}

static void
test_too_much (Bench *bench, gconstpointer data)
{
  g_autofree char *large = g_malloc0 (KEPT_MAX);

  fill (bench);
  output_send (bench->output, large, KEPT_MAX / 2);
  g_assert_cmpuint (bench->broken, ==, 0);
  output_send (bench->output, large, KEPT_MAX);
  g_assert_cmpuint (bench->broken, ==, 1);
  g_assert_true (output_is_empty (bench->output));
  output_send (bench->output, large, 1);
  g_assert_cmpuint (bench->broken, ==, 1);
  g_assert_true (output_is_empty (bench->output));
}

/* Who read is gone, before or while something is kept for him. */
static void
test_gone (Bench *bench, gconstpointer data)
{
  fill (bench);
  close (bench->fds[0]);
  bench->fds[0] = -1;
  while (bench->broken == 0)
    g_main_context_iteration (NULL, TRUE);
  output_send (bench->output, "x", 1);
  g_assert_cmpuint (bench->broken, ==, 1);
  g_assert_cmpuint (bench->empty, ==, 0);
}

int
main (int argc, char *argv[])
{
  static const char *const kinds[] = { "pipe", "socket" };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *slow = g_strconcat ("/mcp/output/slow/", kinds[i], NULL);
      g_autofree char *much = g_strconcat ("/mcp/output/too-much/", kinds[i], NULL);
      g_autofree char *gone = g_strconcat ("/mcp/output/gone/", kinds[i], NULL);

      g_test_add (slow, Bench, kinds[i], set_up, test_slow, tear_down);
      g_test_add (much, Bench, kinds[i], set_up, test_too_much, tear_down);
      g_test_add (gone, Bench, kinds[i], set_up, test_gone, tear_down);
    }
  return g_test_run ();
}
