/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a worker holds.  It is made before a connection is accepted, so that everything slow lies
 * behind it by then; nothing here depends on who will connect.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/memfd.h"
#include "service/executor/snapshot.h"

#include <string.h>

#define IMAGE_TYPE "application/vnd.undersign.policy-image.v1"

static void
policy_load (Executor *executor)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) not_noted = NULL;
  g_autoptr (GBytes) image = snapshot_read (executor->image_fd, &error);
  g_autoptr (GBytes) content = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  if (image != NULL)
    executor->policy = policy_parse (image, executor->config->names, &error);
  executor->fault = g_strdup (error != NULL ? error->message : "");

  content =
      image != NULL ? g_bytes_ref (image) : g_bytes_new (executor->fault, strlen (executor->fault));
  pae_sha256 (IMAGE_TYPE, content, digest);
  /* a ledger that cannot be written refuses what matters by itself */
  if (!ledger_note_policy (executor->ledger, digest, executor->policy != NULL, &not_noted))
    g_warning ("the policy could not be noted: %s", not_noted->message);
}

Executor *
executor_new (const ExecutorConfig *config, int image_fd, GError **error)
{
  g_autoptr (Executor) executor = g_new0 (Executor, 1);

  executor->config = config;
  executor->image_fd = image_fd;
  executor->ledger = ledger_open (config->state_dir, config->runtime_dir, error);
  if (executor->ledger == NULL)
    return NULL;
  policy_load (executor);
  return g_steal_pointer (&executor);
}

void
executor_free (Executor *executor)
{
  if (executor == NULL)
    return;
  ledger_close (executor->ledger);
  policy_free (executor->policy);
  g_free (executor->fault);
  g_free (executor);
}

gboolean
executor_holds (gconstpointer data, GError **error)
{
  const Executor *executor = data;

  return memfd_is_leased (executor->image_fd) ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_POLICY_REPLACED,
                       "the policy was replaced meanwhile");
}

const Policy *
executor_policy (Executor *executor, GError **error)
{
  g_auto (GStrv) faults = NULL;

  if (executor->policy != NULL)
    return executor->policy;

  faults = g_strsplit (executor->fault, "\n", -1);
  us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID,
                "the policy has %u faults: nothing is allowed", g_strv_length (faults));
  return NULL;
}
