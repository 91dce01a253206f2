/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The members that the executor does: each is one hand-over.  Values are checked here for the sake
 * of a clear error; what counts is what the executor makes of them.
 */
#include "service/admin/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/mechanism/option.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/wire.h"
#include "service/passkey/passkey.h"

#include <string.h>

#define WHY_MAX 200
#define NOTE_MAX 500
#define AUDIT_MAX 1000
/* Seconds: no module runs for any of these, and nobody else is served meanwhile. */
#define EXECUTOR_TIMEOUT 20

gboolean
executor_call (const AdminState *state,
               HandoverKind kind,
               GVariant *body,
               const char *reply_type,
               Handover *out_reply,
               GError **error)
{
  g_autoptr (GVariant) sunk = g_variant_ref_sink (body);
  autofd sock = handover_connect (state->config->executor, EXECUTOR_TIMEOUT, error);

  return sock >= 0 && handover_send (sock, kind, sunk, NULL, 0, error) &&
         handover_receive_reply (sock, reply_type, out_reply, error);
}

/* For members whose reply says nothing but that it was done. */
static GVariant *
executor_do (const AdminCall *call, HandoverKind kind, GVariant *body, GError **error)
{
  g_auto (Handover) reply = { 0 };

  if (!executor_call (call->state, kind, body, WIRE_EMPTY, &reply, error))
    return NULL;
  return g_variant_new ("()");
}

/* For members whose reply is passed on as it is. */
static GVariant *
executor_ask (const AdminCall *call,
              HandoverKind kind,
              GVariant *body,
              const char *reply_type,
              GError **error)
{
  g_auto (Handover) reply = { 0 };

  if (!executor_call (call->state, kind, body, reply_type, &reply, error))
    return NULL;
  return g_variant_ref (reply.body);
}

GVariant *
executor_passkeys (const AdminState *state, GError **error)
{
  g_auto (Handover) reply = { 0 };

  if (!executor_call (state, HANDOVER_PASSKEYS, g_variant_new ("()"), WIRE_PASSKEYS_REPLY, &reply,
                      error))
    return NULL;
  return g_variant_get_child_value (reply.body, 0);
}

GVariant *
handle_list_passkeys (const AdminCall *call, GError **error)
{
  g_autoptr (GVariant) passkeys = executor_passkeys (call->state, error);
  GVariantBuilder builder;
  GVariantIter iter;
  GVariant *credential = NULL;
  const char *name = NULL, *kind = NULL, *label = NULL, *rp = NULL, *key = NULL;
  guint32 uid = 0;
  gint64 enrolled = 0;
  gboolean active = FALSE;

  if (passkeys == NULL)
    return NULL;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  g_variant_iter_init (&iter, passkeys);
  while (g_variant_iter_next (&iter, "(@ay&su&s&s&sxb&s)", &credential, &name, &uid, &kind, &label,
                              &rp, &enrolled, &active, &key))
    {
      GVariantDict passkey;

      g_variant_dict_init (&passkey, NULL);
      g_variant_dict_insert_value (&passkey, "credential", credential);
      g_variant_dict_insert (&passkey, "user", "s", name);
      g_variant_dict_insert (&passkey, "uid", "u", uid);
      g_variant_dict_insert (&passkey, "kind", "s", kind);
      g_variant_dict_insert (&passkey, "label", "s", label);
      g_variant_dict_insert (&passkey, "rp", "s", rp);
      g_variant_dict_insert (&passkey, "enrolled", "x", enrolled);
      g_variant_dict_insert (&passkey, "active", "b", active);
      g_variant_dict_insert (&passkey, "key", "s", key);
      g_variant_builder_add_value (&builder, g_variant_dict_end (&passkey));
      g_variant_unref (credential);
    }
  return g_variant_new ("(aa{sv})", &builder);
}

GVariant *
handle_revoke_passkey (const AdminCall *call, GError **error)
{
  g_autoptr (GVariant) credential = g_variant_get_child_value (call->body, 0);
  gsize size = g_variant_get_size (credential);

  if (size == 0 || size > PASSKEY_CREDENTIAL_MAX)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "a credential id has 1 to %d bytes", PASSKEY_CREDENTIAL_MAX);
      return NULL;
    }
  return executor_do (call, HANDOVER_REVOKE,
                      g_variant_new ("(@ayu)", credential, (guint32) call->uid), error);
}

GVariant *
handle_reload_policy (const AdminCall *call, GError **error)
{
  return executor_ask (call, HANDOVER_RELOAD, g_variant_new ("()"), WIRE_POLICY_REPLY, error);
}

static GVariant *
halt_or_resume (const AdminCall *call, HandoverKind kind, GError **error)
{
  const char *why = NULL;

  g_variant_get (call->body, "(&s)", &why);
  if (!line_check ("why", why, WHY_MAX, error))
    return NULL;
  return executor_do (call, kind, g_variant_new (WIRE_HALT, (guint32) call->uid, why), error);
}

GVariant *
handle_halt (const AdminCall *call, GError **error)
{
  return halt_or_resume (call, HANDOVER_HALT, error);
}

GVariant *
handle_resume (const AdminCall *call, GError **error)
{
  return halt_or_resume (call, HANDOVER_RESUME, error);
}

GVariant *
handle_resolve (const AdminCall *call, GError **error)
{
  const char *request = NULL, *outcome = NULL, *note = NULL;

  g_variant_get (call->body, "(&s&s&s)", &request, &outcome, &note);
  if (!id_is_valid (request))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "\"request\" must be 32 lower-case hex digits");
      return NULL;
    }
  if (strcmp (outcome, "done") != 0 && strcmp (outcome, "failed") != 0)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "\"outcome\" must be done or failed");
      return NULL;
    }
  if (!line_check ("note", note, NOTE_MAX, error))
    return NULL;
  return executor_do (call, HANDOVER_RESOLVE,
                      g_variant_new (WIRE_RESOLVE, request, outcome, note, (guint32) call->uid),
                      error);
}

GVariant *
handle_read_audit (const AdminCall *call, GError **error)
{
  guint64 from = 0;
  guint32 count = 0;

  g_variant_get (call->body, "(tu)", &from, &count);
  if (from == 0 || count == 0)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "the first entry is 1, and at least one must be asked for");
      return NULL;
    }
  return executor_ask (call, HANDOVER_AUDIT,
                       g_variant_new (WIRE_AUDIT, from, MIN (count, (guint32) AUDIT_MAX)),
                       WIRE_AUDIT_REPLY, error);
}

GVariant *
handle_get_checkpoint (const AdminCall *call, GError **error)
{
  return executor_ask (call, HANDOVER_CHECKPOINT, g_variant_new ("()"), WIRE_CHECKPOINT_REPLY,
                       error);
}

GVariant *
handle_prune_audit (const AdminCall *call, GError **error)
{
  const char *before = NULL;
  gint64 time = 0;

  g_variant_get (call->body, "(&s)", &before);
  if (!clock_parse (before, &time))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "\"before\" must be a time as in 2026-11-30T09:00:00Z");
      return NULL;
    }
  return executor_ask (call, HANDOVER_PRUNE, g_variant_new (WIRE_PRUNE, time, (guint32) call->uid),
                       WIRE_PRUNE_REPLY, error);
}

GVariant *
handle_status (const AdminCall *call, GError **error)
{
  return executor_ask (call, HANDOVER_STATUS, g_variant_new ("()"), WIRE_STATUS_REPLY, error);
}
