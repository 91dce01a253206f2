/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * org.undersign1.Agent, but for actions and Submit(): what an agent is told of itself, and its runs.
 * Everything is looked up by the caller's uid, never by a name that it gives.
 */
#include "service/broker/faces.h"

#include "config.h"
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/broker/options.h"

#include <string.h>

static void
add (GVariantBuilder *builder, const char *key, GVariant *value)
{
  g_variant_builder_add (builder, "{sv}", key, value);
}

static void
add_pause (Broker *broker, uid_t uid, GVariantBuilder *builder)
{
  guint64 now = clock_boottime ();
  guint64 until = 0;
  gboolean paused = limits_paused (broker->limits, uid, now, &until);
  g_autofree char *text = NULL;

  add (builder, "paused", g_variant_new_boolean (paused));
  if (!paused)
    return;
  text = clock_format (clock_wall () + (gint64) ((until - now) / G_USEC_PER_SEC));
  add (builder, "paused-until", g_variant_new_string (text));
}

void
handle_get_info (Broker *broker, Call *call, Request *request)
{
  uid_t uid = call_uid (call);
  const LimitsConfig *limits = limits_config (broker->limits);
  const PolicyAgent *agent = NULL;
  g_autoptr (GError) error = NULL;
  GVariantBuilder builder;

  agent = catalog_agent (broker->catalog, uid, &error);
  if (agent == NULL)
    {
      call_fail (call, error);
      return;
    }

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  add (&builder, "version", g_variant_new_string (UNDERSIGN_VERSION));
  add (&builder, "agent", g_variant_new_string (agent->name));
  add (&builder, "summary", g_variant_new_string (agent->summary));
  add (&builder, "owner", g_variant_new_string (agent->owner));
  add (&builder, "parts", g_variant_new_strv ((const char *const *) agent->parts, -1));
  add (&builder, "pending", g_variant_new_uint32 (limits_pending (broker->limits, uid)));
  add_pause (broker, uid, &builder);
  add (&builder, "pending-max", g_variant_new_uint32 (limits->pending));
  add (&builder, "submits-per-minute", g_variant_new_uint32 (limits->submits_per_minute));
  add (&builder, "file-max", g_variant_new_uint64 (HANDOVER_FILE_MAX));
  add (&builder, "request-files-max", g_variant_new_uint64 (HANDOVER_FILES_MAX));
  add (&builder, "spool-max", g_variant_new_uint64 (limits->spool_bytes));
  call_return (call, g_variant_new ("(@a{sv})", g_variant_builder_end (&builder)));
}

/* --- runs --- */

/* Returns: the part that @options ask for, or NULL. */
static const char *
choose_part (const PolicyAgent *agent, GVariant *part, GError **error)
{
  const char *name = part != NULL ? g_variant_get_string (part, NULL) : "main";

  if (policy_agent_has_part (agent, name))
    return name;
  us_error_set (error, US_ERROR_INVALID_ARGUMENT,
                part != NULL ? US_REASON_BAD_VALUE : US_REASON_MISSING_ARGUMENT,
                part != NULL ? "part is none of this agent's parts"
                             : "part is missing, and this agent has none called main");
  return NULL;
}

static void
open_run (Broker *broker,
          Call *call,
          const PolicyAgent *agent,
          GVariant *dictionary,
          const char *initiator)
{
  g_autoptr (GVariant) label = NULL;
  g_autoptr (GVariant) part = NULL;
  g_autoptr (GError) error = NULL;
  const char *id = NULL;
  const char *name = NULL;
  const Option options[] = {
    { "label", "s", FALSE, &label },
    { "part", "s", FALSE, &part },
    { NULL, NULL, FALSE, NULL },
  };

  if (limits_run (broker->limits, call_uid (call), clock_boottime (), &error) &&
      options_read (dictionary, options, &error))
    name = choose_part (agent, part, &error);
  if (name != NULL)
    id = runs_open (broker->runs, agent->uid,
                    label != NULL ? g_variant_get_string (label, NULL) : RUN_LABEL_DEFAULT, name,
                    initiator, call_uid (call), clock_wall (), &error);
  if (id == NULL)
    call_fail (call, error);
  else
    call_return (call, g_variant_new ("(s)", id));
}

void
handle_open_run (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GVariant) options = g_variant_get_child_value (call_body (call), 0);
  g_autoptr (GError) error = NULL;
  const PolicyAgent *agent = catalog_agent (broker->catalog, call_uid (call), &error);

  if (agent == NULL)
    call_fail (call, error);
  else
    open_run (broker, call, agent, options, NULL);
}

void
handle_open_run_for (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GVariant) options = g_variant_get_child_value (call_body (call), 1);
  const Policy *policy = catalog_policy (broker->catalog, NULL);
  const PolicyAgent *agent = NULL;
  const char *name = NULL;
  const char *initiator = NULL;

  g_variant_get_child (call_body (call), 0, "&s", &name);
  if (policy != NULL)
    agent = policy_agent_by_name (policy, name);
  /* An agent is never the initiator of its own run, whatever its file says. */
  if (agent == NULL || agent->uid == call_uid (call) ||
      !catalog_initiates (broker->catalog, call_uid (call), agent, &initiator))
    call_fail_with (call, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                    "there is no such agent, or it is not the caller's to start");
  else
    open_run (broker, call, agent, options, initiator);
}

void
handle_close_run (Broker *broker, Call *call, Request *request)
{
  const char *id = NULL;
  g_autoptr (GError) error = NULL;

  g_variant_get_child (call_body (call), 0, "&s", &id);
  if (limits_run (broker->limits, call_uid (call), clock_boottime (), &error) &&
      runs_close (broker->runs, call_uid (call), id, &error))
    call_return (call, NULL);
  else
    call_fail (call, error);
}

void
handle_list_requests (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;
  GVariant *list = queue_list (broker->queue, call_uid (call), &error);

  if (list != NULL)
    call_return (call, g_variant_new ("(@a(oss))", list));
  else
    call_fail (call, error);
}
