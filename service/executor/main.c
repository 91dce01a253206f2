/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-executor: the listener, or with an internal argument one of its children.  Parses its
 * arguments and fills in the configuration of the installed service; decides nothing.
 */
#include "config.h"

#include "dbus/error.h"
#include "service/base/host.h"
#include "service/base/prefork.h"
#include "service/base/usage.h"
#include "service/executor/paths.h"
#include "service/executor/snapshot.h"
#include "service/executor/worker.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM UNDERSIGN_LIBEXEC_DIR "/undersign-executor"
#define BROKER_USER "undersign"
#define TIMEOUT 10          /* seconds for a hand-over */
#define SNAPSHOT_TIMEOUT 15 /* for reading the policy and looking its users up */
#define CHECK_TIMEOUT 2
#define DESCRIBE_TIMEOUT 25 /* seconds for a module's call; a runner gives up earlier */
#define MODULE_TIMEOUT 120
#define READY_WORKERS 2 /* an approval is an answer and at once an execution */
#define MAX_WORKERS 168 /* all that the broker has under way at once, and the administrator's */

static const PolicySource policy_source = {
  .data_dir = UNDERSIGN_DATA_DIR,
  .config_dir = UNDERSIGN_CONFIG_DIR,
  .module_dir = UNDERSIGN_MODULE_DIR,
  .owner = 0,
};

static int
snapshot_for_listener (gpointer data, GError **error)
{
  static const char *const argv[] = { PROGRAM, "--snapshot", NULL };

  return snapshot_make (argv, error);
}

static int
listener_main (void)
{
  static const char *const argv[] = { PROGRAM, "--worker", NULL };
  const PreforkConfig config = {
    .argv = argv,
    .max_workers = MAX_WORKERS,
    .ready_workers = READY_WORKERS,
    .make_shared = snapshot_for_listener,
  };

  return prefork_run (&config);
}

static int
snapshot_main (void)
{
  g_autoptr (GError) error = NULL;

  /* the listener waits for it; a directory that does not answer leaves an invalid policy */
  alarm (SNAPSHOT_TIMEOUT);
  if (snapshot_write (&policy_source, &policy_names_system, SNAPSHOT_FD, &error))
    return EXIT_SUCCESS;
  g_warning ("cannot hand the policy over: %s", error->message);
  return EXIT_FAILURE;
}

/*
 * crypto_begin: before anything is asked of the library.  No texts for errors that nobody reads, no
 * names of ciphers, of which none is used, and at the end of the process nothing is taken apart;
 * openssl.cnf(5) is read as ever, since an administrator's choice of provider is in it.
 */
static void
crypto_begin (void)
{
  OPENSSL_init_crypto (OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
                           OPENSSL_INIT_NO_ATEXIT,
                       NULL);
}

static int
worker_main (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *host = NULL;
  ExecutorConfig config = {
    .state_dir = UNDERSIGN_LEDGER_DIR,
    .runtime_dir = UNDERSIGN_EXECUTOR_RUNTIME_DIR,
    .runner_dir = UNDERSIGN_RUNTIME_DIR "/runner",
    .policy = policy_source,
    .attestation_dir = UNDERSIGN_CONFIG_DIR "/attestation.d",
    .names = &policy_names_system,
    .admin_uid = 0,
    .timeout = TIMEOUT,
    .check_timeout = CHECK_TIMEOUT,
    .describe_timeout = DESCRIBE_TIMEOUT,
    .module_timeout = MODULE_TIMEOUT,
    .reload = prefork_request_reload,
  };

  crypto_begin ();
  config.host = host = host_id (&error);
  if (host == NULL)
    {
      g_warning ("cannot start: %s", error->message);
      return EXIT_FAILURE;
    }
  if (!policy_names_system.user_by_name (BROKER_USER, &config.broker_uid))
    {
      g_warning ("cannot start: there is no user " BROKER_USER);
      return EXIT_FAILURE;
    }
  return worker_run (&config);
}

int
main (int argc, char **argv)
{
  const gboolean is_worker = argc == 2 && strcmp (argv[1], "--worker") == 0;
  const gboolean is_snapshot = argc == 2 && strcmp (argv[1], "--snapshot") == 0;
  g_autoptr (GError) error = NULL;
  int status = EXIT_FAILURE;

  if (usage_served (argc, argv, "undersign-executor", "undersign-executor",
                    argc == 1 || is_worker || is_snapshot, &status))
    return status;
  if (!process_harden (&error))
    {
      g_warning ("cannot start: %s", error->message);
      return EXIT_FAILURE;
    }

  if (is_worker)
    return worker_main ();
  return is_snapshot ? snapshot_main () : listener_main ();
}
