/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last look at standard output.  It stands at the program's end and not in its functions, since
 * some of those end the program themselves.  Where output was lost before it writes an empty line, to
 * learn from that why.
 */
#include "service/base/printed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *watched = NULL;
static int failed_status = 1;

static void
on_end (int status, void *data)
{
  const gboolean failed_before = ferror (stdout) != 0;
  gboolean failed = fflush (stdout) != 0;

  if (!failed && !failed_before)
    return;
  /* Of a failure before, nobody has kept the number, and what was written is not whole anyway. */
  failed = failed || write (STDOUT_FILENO, "\n", 1) < 0;
  fprintf (stderr, "%s: internal: cannot write the output: %s\n", watched,
           failed ? g_strerror (errno) : "not all of it was taken");
  _exit (status != 0 ? status : failed_status);
}

void
printed_watch (const char *program, int status)
{
  if (watched != NULL)
    return;
  watched = program;
  failed_status = status;
  if (on_exit (on_end, NULL) != 0)
    g_error ("there is no memory for the end of %s", program);
}
