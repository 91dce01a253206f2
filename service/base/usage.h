/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every program says of a wrong command line, on standard error: its message and one line more. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a program ends with then; 2 would be a request that waits, undersign-agent(1). */
#define USAGE_STATUS 126

/* usage_try: after the message: who says more.  @program: with its verb, where there is one */
void usage_try (const char *program);

/*
 * usage_served: for main() of a program that systemd or the bus starts.  Looks for --help and --version,
 * and where @may_serve is not set refuses all else.
 * @usage: @program and what must follow
 *
 * Returns: TRUE where it has answered; @out_status is what to end with then.
 */
gboolean usage_served (int argc,
                       char **argv,
                       const char *program,
                       const char *usage,
                       gboolean may_serve,
                       int *out_status);

G_END_DECLS
