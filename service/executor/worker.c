/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker serves one hand-over and exits.  Before it accepts it has done everything that does not
 * depend on the peer: libraries, ledger, policy.  Its time is limited by a signal that kills it:
 * what it had consumed by then is unknown, what it had not is untouched.
 */
#include "service/executor/worker.h"

#include "service/base/fd.h"
#include "service/base/prefork.h"

#include <fido.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* libraries_warm: what they would otherwise fetch and build while somebody waits. */
static void
libraries_warm (void)
{
  g_autoptr (GBytes) nothing = g_bytes_new_static ("", 0);
  guint8 digest[PAE_DIGEST_SIZE];

  fido_init (0);
  pae_sha256 (PAE_TYPE_RECORD, nothing, digest);
  pae_hmac (digest, sizeof digest, PAE_TYPE_SEAL, nothing, digest);
}

/* signals_set: a full disk is an error of the write, never a signal. */
static void
signals_set (void)
{
  signal (SIGXFSZ, SIG_IGN);
  signal (SIGPIPE, SIG_IGN);
  signal (SIGALRM, SIG_DFL);
}

int
worker_run (const ExecutorConfig *config)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Executor) executor = NULL;
  autofd sock = -1;

  signals_set ();
  libraries_warm ();
  executor = executor_new (config, PREFORK_FD_SHARED, &error);
  if (executor == NULL)
    {
      g_warning ("cannot start: %s", error->message);
      return EXIT_FAILURE;
    }

  if (!prefork_is_awaited ())
    {
      ledger_warm (executor->ledger);
      passkey_warm ();
    }
  sock = prefork_accept (&error);
  if (sock < 0)
    {
      if (error != NULL)
        g_warning ("cannot accept: %s", error->message);
      return error != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
    }
  alarm (config->timeout);
  executor_serve (executor, sock);
  /* Whoever was answered comes with the next step, and the syncs would be in its way.  At a stop the
   * file is made whole. */
  if (!prefork_is_ending ())
    ledger_leave_log (executor->ledger);
  return EXIT_SUCCESS;
}
