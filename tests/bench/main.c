/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-bench: a helper of tests/bench/run.  It is one of the roles below for as long as its
 * standard input is open: each line "MEASURE N REST" is answered by one line of times, or of two
 * lists of them with a '|' between.
 */
#include "tests/bench/bench.h"

#include "service/record/type.h"
#include "tests/executor/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct
{
  const char *name;
  void (*measure) (Series *series);
} Measure;

static const Measure measures[] = {
  { "commit", floor_commit },       { "verify", floor_verify },
  { "spawn", floor_spawn },         { "sudo", floor_sudo },
  { "pkexec", floor_pkexec },       { "record", library_record },
  { "audit", library_audit },       { "empty", call_empty },
  { "submit", call_submit },        { "withdraw", call_withdraw },
  { "forget", call_forget },        { "denied", call_denied },
  { "unknown", call_unknown },      { "crowd-empty", crowd_empty },
  { "crowd-submit", crowd_submit }, { "crowd-withdraw", crowd_withdraw },
  { "approve", person_approve },    { "pass-over", person_pass_over },
};

double
series_clock (void)
{
  struct timespec now = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

void
series_add (Series *series, double since)
{
  double taken = series_clock () - since;

  g_array_append_val (series->times, taken);
}

void
series_rest (const Series *series)
{
  if (series->rest > 0)
    g_usleep (series->rest);
}

static void
array_print (GArray *times)
{
  for (guint i = 0; i < times->len; i++)
    printf ("%s%.1f", i > 0 ? " " : "", g_array_index (times, double, i));
}

static void
line_answer (const char *line)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) more = g_array_new (FALSE, FALSE, sizeof (double));
  Series series = { .times = times, .more = more };
  char name[32] = "";
  gsize i = 0;

  if (sscanf (line, "%31s %u %u", name, &series.n, &series.rest) != 3)
    g_error ("not a line of this program: %s", line);
  while (i < G_N_ELEMENTS (measures) && strcmp (measures[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (measures))
    g_error ("there is no measure %s", name);
  measures[i].measure (&series);
  array_print (times);
  if (more->len > 0)
    putchar ('|');
  array_print (more);
  putchar ('\n');
  fflush (stdout);
}

int
main (int argc, char **argv)
{
  const char *role = argc == 2 ? argv[1] : "";
  char line[128];

  if (strcmp (role, "service") == 0)
    call_serve ();
  else if (strcmp (role, "crowd") == 0)
    crowd_start ();
  else if (strcmp (role, "person") == 0)
    person_start ();
  else if (strcmp (role, "caller") != 0)
    {
      fputs ("usage: undersign-bench service|crowd|person|caller, started by tests/bench/run\n",
             stderr);
      return 2;
    }
  puts ("ready");
  fflush (stdout);
  while (fgets (line, sizeof line, stdin) != NULL)
    line_answer (line);
  return EXIT_SUCCESS;
}
