/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stored form of a request.  A state that can't be read is never taken for another one: the
 * caller refuses the request.
 */
#include "service/broker/row.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/wire.h"

#include <string.h>

#define ROW_FORMAT "undersign.queue/1"
#define ROW_MAX (2 * HANDOVER_MAX_BODY)

/* format, id, uid, state; key and digest; created, ended, expires, deadline; attempts, answers,
 * answered; again, close is due, key names id; by, reason, result, supersedes, successor, cause */
#define ROW_TYPE "((ssus)(ss)(xxst)(uuau)(bbb)(ssssss)" WIRE_PREPARED "a" WIRE_REQUIREMENT ")"

GBytes *
row_encode (const Request *request)
{
  g_autoptr (GVariant) row = NULL;
  g_autoptr (GVariant) normal = NULL;
  GVariantBuilder answered;

  g_variant_builder_init (&answered, G_VARIANT_TYPE ("au"));
  for (guint i = 0; i < request->answered->len; i++)
    g_variant_builder_add (&answered, "u", (guint32) g_array_index (request->answered, uid_t, i));

  row = g_variant_ref_sink (g_variant_new (
      "(@(ssus)@(ss)@(xxst)@(uuau)@(bbb)@(ssssss)@" WIRE_PREPARED "@a" WIRE_REQUIREMENT ")",
      g_variant_new ("(ssus)", ROW_FORMAT, request->id, (guint32) request->uid,
                     request_state_name (request->state)),
      g_variant_new ("(ss)", request->key, request->key_digest),
      g_variant_new ("(xxst)", request->created, request->ended, request->expires,
                     request->deadline),
      g_variant_new ("(uuau)", request->attempts, request->answers, &answered),
      g_variant_new ("(bbb)", request->again, request->close_is_due, request->key_names_id),
      g_variant_new ("(ssssss)", request->by, request->reason, request->result,
                     request->supersedes, request->successor, request->cause),
      request->prepared, request->requirements));
  normal = g_variant_get_normal_form (row);
  return g_variant_get_data_as_bytes (normal);
}

static gboolean
set_unreadable (GError **error, const char *why)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                       "a stored request is not readable: %s", why);
}

static void
take_text (char **field, char *text)
{
  g_free (*field);
  *field = text;
}

static gboolean
id_or_empty (const char *id)
{
  return id[0] == '\0' || id_is_valid (id);
}

static Request *
read_identity (GVariant *row, const RequestHooks *hooks, GError **error)
{
  const char *format = NULL;
  const char *id = NULL;
  const char *state_name = NULL;
  guint32 uid = 0;
  RequestState state = REQUEST_NEW;
  Request *request = NULL;

  g_variant_get_child (row, 0, "(&s&su&s)", &format, &id, &uid, &state_name);
  if (strcmp (format, ROW_FORMAT) != 0 || !id_is_valid (id) ||
      !request_state_parse (state_name, &state))
    {
      set_unreadable (error, "format, id or state is unknown");
      return NULL;
    }

  request = request_new (id, uid, hooks);
  request->state = state;
  return request;
}

static gboolean
read_members (Request *request, GVariant *row, GError **error)
{
  g_autoptr (GVariant) answered = NULL;
  char *expires = NULL;
  char *key = NULL;
  char *digest = NULL;
  char *texts[6] = { NULL };
  char **const fields[6] = { &request->by,         &request->reason,    &request->result,
                             &request->supersedes, &request->successor, &request->cause };
  gsize n = 0;
  const guint32 *uids = NULL;

  g_variant_get_child (row, 1, "(ss)", &key, &digest);
  take_text (&request->key, key);
  take_text (&request->key_digest, digest);
  g_variant_get_child (row, 2, "(xxst)", &request->created, &request->ended, &expires,
                       &request->deadline);
  take_text (&request->expires, expires);
  g_variant_get_child (row, 3, "(uu@au)", &request->attempts, &request->answers, &answered);
  uids = g_variant_get_fixed_array (answered, &n, sizeof *uids);
  g_array_append_vals (request->answered, uids, (guint) n);
  g_variant_get_child (row, 4, "(bbb)", &request->again, &request->close_is_due,
                       &request->key_names_id);
  g_variant_get_child (row, 5, "(ssssss)", &texts[0], &texts[1], &texts[2], &texts[3], &texts[4],
                       &texts[5]);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    take_text (fields[i], texts[i]);

  if (!id_or_empty (request->supersedes) || !id_or_empty (request->successor))
    return set_unreadable (error, "a request id is malformed");
  return TRUE;
}

Request *
row_decode (GBytes *bytes, const RequestHooks *hooks, GError **error)
{
  g_autoptr (GVariant) row = NULL;
  g_autoptr (GVariant) prepared = NULL;
  g_autoptr (GVariant) requirements = NULL;
  g_autoptr (Request) request = NULL;
  guint64 deadline = 0;

  if (g_bytes_get_size (bytes) > ROW_MAX)
    {
      set_unreadable (error, "it is too large");
      return NULL;
    }
  row = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (ROW_TYPE), bytes, FALSE));
  if (!g_variant_is_normal_form (row))
    {
      set_unreadable (error, "it is not in normal form");
      return NULL;
    }

  request = read_identity (row, hooks, error);
  if (request == NULL || !read_members (request, row, error))
    return NULL;

  deadline = request->deadline;
  prepared = g_variant_get_child_value (row, 6);
  requirements = g_variant_get_child_value (row, 7);
  if (!request_set_prepared (request, prepared, requirements, error))
    return NULL;
  request->deadline = deadline;
  return g_steal_pointer (&request);
}
