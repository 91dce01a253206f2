/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-runner MODULE: fills the configuration of the runner from how this system was built,
 * and calls it.  The listener starts this program again, with --worker, for each call.
 */
#include "config.h"
#include "service/base/prefork.h"
#include "service/base/usage.h"
#include "service/runner/runner.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM UNDERSIGN_LIBEXEC_DIR "/undersign-runner"
#define EXECUTOR_USER "undersign-executor"

static int
fail (const char *what)
{
  fprintf (stderr, "undersign-runner: %s\n", what);
  return EXIT_FAILURE;
}

/* config_fill: FALSE where this system has no executor. */
static gboolean
config_fill (RunnerConfig *config, const char *module)
{
  const struct passwd *executor = getpwnam (EXECUTOR_USER);

  if (executor == NULL || executor->pw_uid == 0)
    return FALSE;
  *config = (RunnerConfig){ .module_dir = UNDERSIGN_MODULE_DIR,
                            .module = module,
                            .owner = 0,
                            .peer = executor->pw_uid,
                            .credentials_dir = getenv ("CREDENTIALS_DIRECTORY"),
                            .describe_seconds = RUNNER_DESCRIBE_SECONDS,
                            .execute_seconds = RUNNER_EXECUTE_SECONDS };
  return TRUE;
}

static int
run (RunnerConfig *config)
{
  const char *const worker[] = { PROGRAM, "--worker", config->module, NULL };
  PreforkConfig prefork = {
    .argv = worker,
    .max_workers = RUNNER_MAX_WORKERS,
    .ready_workers = RUNNER_READY_WORKERS,
    .tell = runner_tell,
    .data = config,
  };

  return prefork_run (&prefork);
}

int
main (int argc, char **argv)
{
  gboolean is_worker = argc == 3 && strcmp (argv[1], "--worker") == 0;
  g_autoptr (GError) error = NULL;
  RunnerConfig config = { .module = NULL };
  int status = EXIT_FAILURE;

  if (usage_served (argc, argv, "undersign-runner", "undersign-runner MODULE",
                    (argc == 2 || is_worker) && module_name_is_valid (argv[argc - 1]), &status))
    return status;
  if (!environment_scrub (&error) || !process_harden (&error))
    return fail (error->message);
  if (!config_fill (&config, argv[argc - 1]))
    return fail ("there is no user " EXECUTOR_USER);
  return is_worker ? runner_work (&config) : run (&config);
}
