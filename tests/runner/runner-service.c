/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The runner with another configuration: undersign-runner's main.c for tests.
 *   runner-service MODULE-DIR MODULE OWNER PEER SECONDS [worker]
 */
#include "service/base/prefork.h"
#include "service/runner/runner.h"

#include <stdlib.h>

int
main (int argc, char **argv)
{
  const char *worker[] = { argv[0], argv[1], argv[2], argv[3], argv[4], argv[5], "worker", NULL };
  RunnerConfig config = { .module_dir = argv[1], .module = argv[2] };
  PreforkConfig prefork = {
    .argv = worker, .max_workers = 4, .tell = runner_tell, .data = &config
  };
  g_autoptr (GError) error = NULL;

  if (argc < 6 || !environment_scrub (&error) || !process_harden (&error))
    return EXIT_FAILURE;

  config.owner = (uid_t) strtoul (argv[3], NULL, 10);
  config.peer = (uid_t) strtoul (argv[4], NULL, 10);
  config.credentials_dir = getenv ("CREDENTIALS_DIRECTORY");
  config.describe_seconds = (guint) strtoul (argv[5], NULL, 10);
  config.execute_seconds = config.describe_seconds;
  return argc == 6 ? prefork_run (&prefork) : runner_work (&config);
}
