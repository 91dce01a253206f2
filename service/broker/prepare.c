/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two ends of a prepare.  The decision is the executor's: a word that is neither ask nor allow,
 * or an "ask" that nobody could answer, is an error.
 */
#include "service/broker/prepare.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/pae.h"
#include "service/base/wire.h"

#include <string.h>

/* Where this process knows of no such action, the executor calls no module for it either. */
static const char *
module_of (const Catalog *catalog, GVariant *raw)
{
  const Policy *policy = catalog_policy (catalog, NULL);
  const PolicyAction *action = NULL;
  const char *id = NULL;

  g_variant_get_child (raw, 4, "&s", &id);
  if (policy != NULL)
    action = policy_action (policy, id);
  return action != NULL ? action->module : "";
}

void
prepare_send (Executor *executor,
              const Catalog *catalog,
              GVariant *raw,
              const Files *files,
              ExecutorCallback callback,
              gpointer data)
{
  guint32 agent = 0;

  g_variant_get_child (raw, 1, "u", &agent);
  executor_call_module (executor, HANDOVER_PREPARE, agent, module_of (catalog, raw), raw,
                        files->fds, files->n, WIRE_PREPARE_REPLY, NULL, callback, data);
}

gboolean
prepare_take (Request *request,
              GVariant *raw,
              const Handover *reply,
              gboolean *out_asks,
              GError **error)
{
  const char *decision = NULL;
  const char *expires = NULL;
  guint64 deadline = 0;
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (GVariant) record = NULL;
  g_autoptr (GVariant) seal = NULL;
  g_autoptr (GVariant) requirements = NULL;
  g_autoptr (GVariant) prepared = NULL;
  gboolean asks = FALSE;

  g_variant_get (reply->body, "(&s@" WIRE_FACTS "@ayt@ay&s@a" WIRE_REQUIREMENT ")", &decision,
                 &facts, &record, &deadline, &seal, &expires, &requirements);
  asks = strcmp (decision, "ask") == 0;
  if (!asks && strcmp (decision, "allow") != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the executor's decision is neither ask nor allow");
  if (asks != (g_variant_n_children (requirements) > 0))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the executor's decision and its requirements disagree");

  prepared = g_variant_ref_sink (g_variant_new ("(@" WIRE_REQUEST "@" WIRE_FACTS "@ayt@ay)", raw,
                                                facts, record, deadline, seal));
  if (!request_set_prepared (request, prepared, requirements, error))
    return FALSE;
  g_free (request->expires);
  request->expires = g_strdup (expires);
  *out_asks = asks;
  return TRUE;
}

GVariant *
prepare_raw_of_successor (const Request *refused, const char *id)
{
  g_autoptr (GVariant) raw = request_raw (refused);
  g_autofree char *digest = digest_to_string (record_digest (refused->record));
  g_autoptr (GVariant) run = g_variant_get_child_value (raw, 3);
  g_autoptr (GVariant) arguments = g_variant_get_child_value (raw, 5);
  const char *part = NULL;
  const char *action = NULL;
  const char *claim = NULL;

  g_variant_get_child (raw, 2, "&s", &part);
  g_variant_get_child (raw, 4, "&s", &action);
  g_variant_get_child (raw, 6, "&s", &claim);
  return g_variant_ref_sink (g_variant_new ("(sus@(ssss)s@a(sv)s(ss))", id, (guint32) refused->uid,
                                            part, run, action, arguments, claim, refused->id,
                                            digest));
}
