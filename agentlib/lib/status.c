/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the service said of a request, read once and strictly: a state or an outcome that this
 * version does not know is an error, never a guess.  Of what an older service does not say the most
 * careful reading is taken.
 */
#include "agentlib/lib/status.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

struct _UsStatus
{
  gatomicrefcount refs;
  UsState state;
  UsExecuted executed;
  gboolean has_executed;
  guint32 said; /* a bit for each of details[] that came */
  gboolean card, resolved, made_here;
  guint32 answers, needed, watchers;
  char *action, *run, *digest, *expires, *reason, *result, *supersedes, *successor;
};

static const char *const state_names[] = {
  [US_STATE_PENDING] = "pending",         [US_STATE_APPROVED] = "approved",
  [US_STATE_EXECUTING] = "executing",     [US_STATE_DONE] = "done",
  [US_STATE_FAILED] = "failed",           [US_STATE_UNKNOWN] = "unknown",
  [US_STATE_DENIED] = "denied",           [US_STATE_EXPIRED] = "expired",
  [US_STATE_WITHDRAWN] = "withdrawn",     [US_STATE_SUPERSEDED] = "superseded",
  [US_STATE_UNREACHABLE] = "unreachable", [US_STATE_REFUSED] = "refused",
};

G_STATIC_ASSERT (G_N_ELEMENTS (state_names) == US_STATE_N);

static const char *const executed_names[] = {
  [US_EXECUTED_NO] = "no",
  [US_EXECUTED_YES] = "yes",
  [US_EXECUTED_UNKNOWN] = "unknown",
};

G_DEFINE_BOXED_TYPE (UsStatus, us_status, us_status_ref, us_status_unref)

const char *
us_state_to_string (UsState state)
{
  g_return_val_if_fail ((guint) state < US_STATE_N, NULL);
  return state_names[state];
}

gboolean
us_state_from_string (const char *text, UsState *out_state)
{
  for (guint i = 0; i < US_STATE_N; i++)
    if (strcmp (state_names[i], text) == 0)
      {
        *out_state = (UsState) i;
        return TRUE;
      }
  return FALSE;
}

gboolean
us_state_has_ended (UsState state)
{
  return state != US_STATE_PENDING && state != US_STATE_APPROVED && state != US_STATE_EXECUTING;
}

const char *
us_executed_to_string (UsExecuted executed)
{
  g_return_val_if_fail ((guint) executed < G_N_ELEMENTS (executed_names), NULL);
  return executed_names[executed];
}

static gboolean
executed_read (UsStatus *status, GVariant *value)
{
  for (guint i = 0; i < G_N_ELEMENTS (executed_names); i++)
    if (strcmp (executed_names[i], g_variant_get_string (value, NULL)) == 0)
      {
        status->executed = (UsExecuted) i;
        status->has_executed = TRUE;
        return TRUE;
      }
  return FALSE;
}

static const struct
{
  const char *key, *signature;
  gsize offset;
} details[] = {
  { "action", "s", G_STRUCT_OFFSET (UsStatus, action) },
  { "run", "s", G_STRUCT_OFFSET (UsStatus, run) },
  { "digest", "s", G_STRUCT_OFFSET (UsStatus, digest) },
  { "expires", "s", G_STRUCT_OFFSET (UsStatus, expires) },
  { "reason", "s", G_STRUCT_OFFSET (UsStatus, reason) },
  { "result", "s", G_STRUCT_OFFSET (UsStatus, result) },
  { "supersedes", "o", G_STRUCT_OFFSET (UsStatus, supersedes) },
  { "successor", "o", G_STRUCT_OFFSET (UsStatus, successor) },
  { "card", "b", G_STRUCT_OFFSET (UsStatus, card) },
  { "resolved", "b", G_STRUCT_OFFSET (UsStatus, resolved) },
  { "answers", "u", G_STRUCT_OFFSET (UsStatus, answers) },
  { "needed", "u", G_STRUCT_OFFSET (UsStatus, needed) },
  { "watchers", "u", G_STRUCT_OFFSET (UsStatus, watchers) },
  { "made-here", "b", G_STRUCT_OFFSET (UsStatus, made_here) },
};

G_STATIC_ASSERT (G_N_ELEMENTS (details) <= 32);

/* Sets one field from @value; FALSE where the type is another or the key came before. */
static gboolean
detail_read (UsStatus *status, guint i, GVariant *value)
{
  gpointer field = G_STRUCT_MEMBER_P (status, details[i].offset);

  if (!g_variant_is_of_type (value, G_VARIANT_TYPE (details[i].signature)) ||
      (status->said & 1u << i) != 0)
    return FALSE;
  status->said |= 1u << i;
  switch (details[i].signature[0])
    {
    case 'b':
      *(gboolean *) field = g_variant_get_boolean (value);
      return TRUE;
    case 'u':
      *(guint32 *) field = g_variant_get_uint32 (value);
      return TRUE;
    default:
      *(char **) field = g_variant_dup_string (value, NULL);
      return TRUE;
    }
}

static gboolean
status_read (UsStatus *status, const char *key, GVariant *value)
{
  if (strcmp (key, "executed") == 0)
    return !status->has_executed && g_variant_is_of_type (value, G_VARIANT_TYPE_STRING) &&
           executed_read (status, value);
  for (guint i = 0; i < G_N_ELEMENTS (details); i++)
    if (strcmp (details[i].key, key) == 0)
      return detail_read (status, i, value);
  return TRUE;
}

UsStatus *
status_new (GVariant *reply, GError **error)
{
  g_autoptr (UsStatus) status = g_new0 (UsStatus, 1);
  g_autoptr (GVariantIter) iter = NULL;
  const char *state, *key;
  GVariant *value;

  g_atomic_ref_count_init (&status->refs);
  status->resolved = TRUE;
  status->watchers = G_MAXUINT32;
  g_variant_get (reply, "(&sa{sv})", &state, &iter);
  if (!us_state_from_string (state, &status->state))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE, "unknown state \"%s\"", state);
      return NULL;
    }
  while (g_variant_iter_loop (iter, "{&sv}", &key, &value))
    if (!status_read (status, key, value))
      {
        us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                      "\"%s\" of a request is not what it should be", key);
        g_variant_unref (value);
        return NULL;
      }
  if (!status->has_executed)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                    "the service does not say whether anything ran");
      return NULL;
    }
  return g_steal_pointer (&status);
}

UsStatus *
us_status_ref (UsStatus *status)
{
  g_return_val_if_fail (status != NULL, NULL);
  g_atomic_ref_count_inc (&status->refs);
  return status;
}

void
us_status_unref (UsStatus *status)
{
  if (status == NULL || !g_atomic_ref_count_dec (&status->refs))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (details); i++)
    if (details[i].signature[0] == 's' || details[i].signature[0] == 'o')
      g_free (G_STRUCT_MEMBER (char *, status, details[i].offset));
  g_free (status);
}

UsState
us_status_get_state (const UsStatus *status)
{
  return status->state;
}

UsExecuted
us_status_get_executed (const UsStatus *status)
{
  return status->executed;
}

gboolean
us_status_get_card_open (const UsStatus *status)
{
  return status->card;
}

gboolean
us_status_get_resolved (const UsStatus *status)
{
  return status->resolved;
}

guint
us_status_get_answers (const UsStatus *status)
{
  return status->answers;
}

guint
us_status_get_needed (const UsStatus *status)
{
  return status->needed;
}

guint
us_status_get_watchers (const UsStatus *status)
{
  return status->watchers;
}

gboolean
us_status_get_made_here (const UsStatus *status)
{
  return status->made_here;
}

const char *
us_status_get_action (const UsStatus *status)
{
  return status->action;
}

const char *
us_status_get_run (const UsStatus *status)
{
  return status->run;
}

const char *
us_status_get_digest (const UsStatus *status)
{
  return status->digest;
}

const char *
us_status_get_expires (const UsStatus *status)
{
  return status->expires;
}

const char *
us_status_get_reason (const UsStatus *status)
{
  return status->reason;
}

const char *
us_status_get_result (const UsStatus *status)
{
  return status->result;
}

const char *
us_status_get_supersedes (const UsStatus *status)
{
  return status->supersedes;
}

const char *
us_status_get_successor (const UsStatus *status)
{
  return status->successor;
}
