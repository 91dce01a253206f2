/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * org.undersign1.Approver, but for the answers: what a person with a passkey is shown.  The record
 * goes out as the bytes that the executor made; nothing here rewrites, cuts or explains them.
 */
#include "service/broker/faces.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/broker/cards.h"
#include "service/broker/options.h"

#include <string.h>

#define PAUSE_MAX (24 * 60 * 60)

static void
add (GVariantBuilder *builder, const char *key, GVariant *value)
{
  g_variant_builder_add (builder, "{sv}", key, value);
}

static GVariant *
bytes_variant (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

/* --- Register --- */

void
handle_register (Broker *broker, Call *call, Request *request)
{
  static const Option none[] = { { NULL, NULL, FALSE, NULL } };
  g_autoptr (GVariant) options = g_variant_get_child_value (call_body (call), 0);
  g_autoptr (GError) error = NULL;

  if (options_read (options, none, &error))
    cards_register (broker, call);
  else
    call_fail (call, error);
}

/* --- GetCard --- */

/* The record that this one replaces, if it is still the one that the statement names. */
static void
add_superseded (Broker *broker, const Request *request, GVariantBuilder *builder)
{
  g_autoptr (GVariant) raw = request_raw (request);
  g_autoptr (Request) old = NULL;
  g_autofree char *path = NULL;
  g_autofree char *digest = NULL;
  const char *id = NULL;
  const char *named = NULL;

  g_variant_get_child (raw, 7, "(&s&s)", &id, &named);
  if (id[0] == '\0')
    return;
  path = request_path_of (id);
  add (builder, "supersedes", g_variant_new_object_path (path));

  old = broker_request (broker, id, NULL);
  if (old == NULL)
    return;
  digest = digest_to_string (record_digest (old->record));
  if (strcmp (digest, named) == 0)
    add (builder, "superseded", bytes_variant (record_bytes (old->record)));
}

/* @history: (transfer floating) */
static GVariant *
card_of (Broker *broker, const Request *request, uid_t uid, GVariant *history)
{
  g_autofree char *digest = digest_to_string (record_digest (request->record));
  g_autoptr (GVariant) credentials = request_credentials (request, uid);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  add (&builder, "state", g_variant_new_string (request_state_name (request->state)));
  add (&builder, "digest", g_variant_new_string (digest));
  add (&builder, "expires", g_variant_new_string (request->expires));
  add (&builder, "deadline", g_variant_new_uint64 (request->deadline));
  add (&builder, "credentials", credentials);
  add (&builder, "answered", g_variant_new_boolean (request_has_answered (request, uid)));
  add (&builder, "answers", g_variant_new_uint32 (request->answers));
  add (&builder, "needed", g_variant_new_uint32 (request->needed));
  add (&builder, "attempts",
       g_variant_new_uint32 (REQUEST_ATTEMPTS - MIN (request->attempts, REQUEST_ATTEMPTS)));
  add_superseded (broker, request, &builder);
  if (request->cause[0] != '\0')
    add (&builder, "refused", g_variant_new_string (request->cause));
  add (&builder, "again", g_variant_new_boolean (request->again));
  add (&builder, "history", history);
  return g_variant_builder_end (&builder);
}

void
handle_get_card (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GError) error = NULL;
  GVariant *history = NULL;

  if (request->state == REQUEST_PENDING && !request->is_ready)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                  "the request is being prepared anew");
  else
    history = queue_history (broker->queue, request->uid, record_run_id (request->record),
                             request->id, &error);
  if (history == NULL)
    call_fail (call, error);
  else
    call_return (call, g_variant_new ("(@ay@a{sv})", bytes_variant (record_bytes (request->record)),
                                      card_of (broker, request, call_uid (call), history)));
}

/* --- OpenFile --- */

/* The handle of the file at @index of the argument @name, as it was submitted. */
static gboolean
find_handle (const Request *request, const char *name, guint index, guint *out_handle)
{
  g_autoptr (GVariant) raw = request_raw (request);
  g_autoptr (GVariant) arguments = g_variant_get_child_value (raw, 5);
  gint32 handle = -1;

  for (gsize i = 0; i < g_variant_n_children (arguments); i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *its_name = NULL;

      g_variant_get_child (arguments, i, "(&sv)", &its_name, &value);
      if (strcmp (its_name, name) != 0)
        continue;
      if (g_variant_is_of_type (value, G_VARIANT_TYPE ("(sh)")) && index == 0)
        g_variant_get (value, "(&sh)", NULL, &handle);
      else if (g_variant_is_of_type (value, G_VARIANT_TYPE ("a(sh)")) &&
               index < g_variant_n_children (value))
        g_variant_get_child (value, index, "(&sh)", NULL, &handle);
      break;
    }
  if (handle < 0)
    return FALSE;
  *out_handle = (guint) handle;
  return TRUE;
}

void
handle_open_file (Broker *broker, Call *call, Request *request)
{
  const char *argument = NULL;
  guint32 index = 0;
  guint handle = 0;
  int fd = -1;
  g_autoptr (GError) error = NULL;

  g_variant_get (call_body (call), "(&o&su)", NULL, &argument, &index);
  if (find_handle (request, argument, index, &handle))
    fd = files_open (broker->spool, request->id, handle, &error);
  else
    us_error_set (&error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, "there is no such file");
  if (fd < 0)
    call_fail (call, error);
  else
    call_return_fd (call, g_variant_new ("(h)", 0), fd);
}

/* --- PauseAgent --- */

static gboolean
pause_agent (Broker *broker, uid_t agent, uid_t by, guint seconds, GError **error)
{
  guint64 now = clock_boottime ();

  if (seconds > PAUSE_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "seconds is more than %d", PAUSE_MAX);
  if (seconds == 0 && limits_paused (broker->limits, agent, now, NULL) &&
      !limits_paused_by (broker->limits, agent, by, now))
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE,
                         "the agent is not paused by the caller");

  if (!queue_save_pause (broker->queue, agent, by, seconds > 0 ? clock_wall () + seconds : 0,
                         error))
    return FALSE;
  limits_pause (broker->limits, agent, by,
                seconds > 0 ? now + seconds * (guint64) G_USEC_PER_SEC : 0);
  g_message ("uid %u paused agent uid %u for %u seconds", (guint) by, (guint) agent, seconds);
  return TRUE;
}

/* A pause that somebody asks for. */
typedef struct
{
  Broker *broker;
  Call *call;
  char *agent; /* name */
  guint seconds;
} Pause;

static void
pause_free (Pause *pause)
{
  g_free (pause->agent);
  g_free (pause);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Pause, pause_free)

/* The policy may have changed since. */
static const PolicyAgent *
pause_find_agent (const Pause *pause, GError **error)
{
  const Policy *policy = catalog_policy (pause->broker->catalog, error);
  const PolicyAgent *agent = NULL;

  if (policy == NULL)
    return NULL;
  agent = policy_agent_by_name (policy, pause->agent);
  if (agent == NULL)
    us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                  "there is no such agent, or it is not the caller's to pause");
  return agent;
}

static void
pause_finish (Pause *pause)
{
  g_autoptr (GError) error = NULL;
  const PolicyAgent *agent = pause_find_agent (pause, &error);

  if (agent != NULL && pause_agent (pause->broker, agent->uid, call_uid (pause->call),
                                    pause->seconds, &error))
    call_return (pause->call, NULL);
  else
    call_fail (pause->call, error);
}

static void
may_pause (const Handover *reply, const GError *error, gpointer data)
{
  g_autoptr (Pause) pause = data;
  gboolean may = FALSE;

  if (error == NULL)
    g_variant_get (reply->body, WIRE_MAY_PAUSE_REPLY, &may);
  if (error != NULL)
    call_fail (pause->call, error);
  else if (may)
    pause_finish (pause);
  else
    call_fail_with (pause->call, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                    "there is no such agent, or it is not the caller's to pause");
}

/* Whether no policy needs to be asked: what waits was shown to this person, or it ends its own. */
static gboolean
may_pause_anyhow (const Pause *pause, uid_t agent)
{
  Broker *broker = pause->broker;
  uid_t by = call_uid (pause->call);
  GHashTableIter iter;
  gpointer value = NULL;

  if (pause->seconds == 0 && limits_paused_by (broker->limits, agent, by, clock_boottime ()))
    return TRUE;
  g_hash_table_iter_init (&iter, broker->requests);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Request *other = value;

      if (other->uid == agent && request_approver (other, by, NULL))
        return TRUE;
    }
  return FALSE;
}

/* Who belongs to a group is the executor's to find out: this process must not wait for it. */
void
handle_pause_agent (Broker *broker, Call *call, Request *request)
{
  g_autoptr (Pause) pause = g_new0 (Pause, 1);
  g_autoptr (GError) error = NULL;
  const PolicyAgent *agent = NULL;

  pause->broker = broker;
  pause->call = call;
  g_variant_get (call_body (call), "(su)", &pause->agent, &pause->seconds);
  agent = pause_find_agent (pause, &error);
  if (agent == NULL)
    call_fail (call, error);
  else if (may_pause_anyhow (pause, agent->uid))
    pause_finish (pause);
  else
    {
      GVariant *body = g_variant_new (WIRE_MAY_PAUSE, (guint32) call_uid (call), pause->agent);

      executor_call (broker->executor, HANDOVER_MAY_PAUSE, call_uid (call), body, NULL, 0,
                     WIRE_MAY_PAUSE_REPLY, NULL, may_pause, g_steal_pointer (&pause));
    }
}
