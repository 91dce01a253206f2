/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs of undersign-agent and what they share. */
#pragma once

#include "agentlib/cli/exit.h"
#include "agentlib/lib/undersign.h"

G_BEGIN_DECLS

/* The options of all verbs; a verb sees only its own set. */
typedef struct
{
  UsClient *client; /* borrowed */
  gboolean json;
  gboolean help;
  char *run, *part, *claim, *idempotency_key, *supersedes;
  int wait_ms; /* how long to wait: 0 not at all, negative without a limit */
} Cli;

/*
 * cli_run: the whole program but for the choice of the service.
 * @argv: as main() has it
 *
 * Returns: the exit status.
 */
ExitStatus cli_run (UsClient *client, int argc, char **argv);

/* cli_fail: prints @error (transfer full) and says how to exit. */
ExitStatus cli_fail (const Cli *cli, GError *error, const char *request);

/* The verbs.  @args: (array zero-terminated=1): as many as the verb's entry in cli.c allows. */
ExitStatus verb_actions (Cli *cli, char **args);
ExitStatus verb_describe (Cli *cli, char **args);
ExitStatus verb_request (Cli *cli, char **args);
ExitStatus verb_status (Cli *cli, char **args);
ExitStatus verb_wait (Cli *cli, char **args);
ExitStatus verb_withdraw (Cli *cli, char **args);
ExitStatus verb_list (Cli *cli, char **args);
ExitStatus verb_info (Cli *cli, char **args);

G_END_DECLS
