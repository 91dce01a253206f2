/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 32 agents, each a process of a uid of its own with a connection of its own.  They are forked
 * before anything has threads, are told what to do by one byte, and say so when they are done.
 */
#include "tests/bench/bench.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CROWD 32
#define CROWD_USER "agent-crowd-%u"

static int members[CROWD];

typedef struct
{
  char what; /* 'e', 's' or 'w' */
  guint n;
} Order;

static void
member_run (guint number, int sock)
{
  g_autofree char *name = g_strdup_printf (CROWD_USER, number);
  const struct passwd *entry = getpwnam (name);
  Order order = { 0 };

  if (entry == NULL || setgroups (0, NULL) != 0 ||
      setresgid (entry->pw_gid, entry->pw_gid, entry->pw_gid) != 0 ||
      setresuid (entry->pw_uid, entry->pw_uid, entry->pw_uid) != 0)
    g_error ("cannot become %s", name);
  while (read (sock, &order, sizeof order) == (ssize_t) sizeof order)
    {
      g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
      Series series = { .n = order.n, .times = times };

      if (order.what == 'e')
        call_empty (&series);
      else if (order.what == 's')
        call_submit (&series);
      else
        call_withdraw (&series);
      if (write (sock, "d", 1) != 1)
        break;
    }
  _exit (EXIT_SUCCESS);
}

void
crowd_start (void)
{
  for (guint i = 0; i < CROWD; i++)
    {
      int pair[2] = { -1, -1 };
      pid_t pid = -1;

      g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
      pid = fork ();
      g_assert_cmpint (pid, >=, 0);
      if (pid == 0)
        {
          close (pair[0]);
          for (guint k = 0; k < i; k++)
            close (members[k]);
          member_run (i, pair[1]);
        }
      close (pair[1]);
      members[i] = pair[0];
    }
}

static void
crowd_do (char what, guint n)
{
  const Order order = { what, n };
  char done = 0;

  for (guint i = 0; i < CROWD; i++)
    g_assert_cmpint (write (members[i], &order, sizeof order), ==, sizeof order);
  for (guint i = 0; i < CROWD; i++)
    if (read (members[i], &done, 1) != 1)
      g_error ("agent %u of the crowd has ended", i);
}

/* The time of one call, as if they had been made one after the other. */
static void
crowd_measure (Series *series, char what)
{
  double start = series_clock ();
  double each;

  crowd_do (what, series->n);
  each = (series_clock () - start) / (CROWD * MAX (series->n, 1u));
  g_array_append_val (series->times, each);
}

void
crowd_empty (Series *series)
{
  crowd_measure (series, 'e');
}

void
crowd_submit (Series *series)
{
  crowd_measure (series, 's');
}

void
crowd_withdraw (Series *series)
{
  crowd_measure (series, 'w');
}
