/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The states of a request and the one function that moves it.  Everyone in the broker may read a
 * request; nobody but request_move() may change its state, and there is no edge back.
 */
#include "service/broker/request.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/wire.h"

#include <string.h>

#define BIT(state) (1u << (state))

/*
 * What may follow.  "allow" goes through approved too, so that what is handed over is always kept
 * first.  A pending request is refused only where it can't be prepared anew after a restart, and
 * an unknown outcome is ended by what a person found out.  One that is approved is denied where a signed
 * denial was in the ledger before it was used up, and only there.
 */
static const struct
{
  const char *name;
  guint next;
  const char *executed;
} states[] = {
  [REQUEST_NEW] = { "new", BIT (REQUEST_PENDING) | BIT (REQUEST_APPROVED), "no" },
  [REQUEST_PENDING] = { "pending",
                        BIT (REQUEST_APPROVED) | BIT (REQUEST_DENIED) | BIT (REQUEST_EXPIRED) |
                            BIT (REQUEST_WITHDRAWN) | BIT (REQUEST_SUPERSEDED) |
                            BIT (REQUEST_UNREACHABLE) | BIT (REQUEST_REFUSED),
                        "no" },
  [REQUEST_APPROVED] = { "approved",
                         BIT (REQUEST_EXECUTING) | BIT (REQUEST_REFUSED) | BIT (REQUEST_DENIED),
                         "unknown" },
  [REQUEST_EXECUTING] = { "executing",
                          BIT (REQUEST_DONE) | BIT (REQUEST_FAILED) | BIT (REQUEST_UNKNOWN),
                          "unknown" },
  [REQUEST_DONE] = { "done", 0, "yes" },
  [REQUEST_FAILED] = { "failed", 0, "no" },
  [REQUEST_UNKNOWN] = { "unknown", BIT (REQUEST_DONE) | BIT (REQUEST_FAILED), "unknown" },
  [REQUEST_DENIED] = { "denied", 0, "no" },
  [REQUEST_EXPIRED] = { "expired", 0, "no" },
  [REQUEST_WITHDRAWN] = { "withdrawn", 0, "no" },
  [REQUEST_SUPERSEDED] = { "superseded", 0, "no" },
  [REQUEST_UNREACHABLE] = { "unreachable", 0, "no" },
  [REQUEST_REFUSED] = { "refused", 0, "no" },
};

G_STATIC_ASSERT (G_N_ELEMENTS (states) == REQUEST_STATE_N);

const char *
request_state_name (RequestState state)
{
  g_assert (state < REQUEST_STATE_N);
  return states[state].name;
}

gboolean
request_state_parse (const char *name, RequestState *out_state)
{
  /* "new" is never kept, so it is never read. */
  for (guint i = REQUEST_NEW + 1; i < REQUEST_STATE_N; i++)
    if (strcmp (states[i].name, name) == 0)
      {
        *out_state = (RequestState) i;
        return TRUE;
      }
  return FALSE;
}

gboolean
request_state_may_follow (RequestState from, RequestState to)
{
  if (from >= REQUEST_STATE_N || to >= REQUEST_STATE_N)
    return FALSE;
  return (states[from].next & BIT (to)) != 0;
}

gboolean
request_state_has_ended (RequestState state)
{
  return state > REQUEST_EXECUTING;
}

gboolean
request_state_was_closed (RequestState state)
{
  return state == REQUEST_DENIED || state == REQUEST_EXPIRED || state == REQUEST_WITHDRAWN ||
         state == REQUEST_SUPERSEDED || state == REQUEST_UNREACHABLE;
}

const char *
request_state_executed (RequestState state)
{
  return state < REQUEST_STATE_N ? states[state].executed : "unknown";
}

/* --- the object --- */

Request *
request_new (const char *id, uid_t uid, const RequestHooks *hooks)
{
  Request *request = g_new0 (Request, 1);

  g_assert (id_is_valid (id));
  g_atomic_ref_count_init (&request->refs);
  request->hooks = hooks;
  request->id = g_strdup (id);
  request->uid = uid;
  request->key = g_strdup ("");
  request->key_digest = g_strdup ("");
  request->expires = g_strdup ("");
  request->by = g_strdup ("");
  request->reason = g_strdup ("");
  request->result = g_strdup ("");
  request->supersedes = g_strdup ("");
  request->successor = g_strdup ("");
  request->cause = g_strdup ("");
  request->answered = g_array_new (FALSE, FALSE, sizeof (uid_t));
  request->statements = g_ptr_array_new_with_free_func ((GDestroyNotify) issued_statement_free);
  request->watchers = g_ptr_array_new_with_free_func (g_free);
  request->waiting = g_ptr_array_new ();
  request->asking = g_ptr_array_new_with_free_func (g_free);
  return request;
}

Request *
request_ref (Request *request)
{
  g_atomic_ref_count_inc (&request->refs);
  return request;
}

void
request_unref (Request *request)
{
  if (request == NULL || !g_atomic_ref_count_dec (&request->refs))
    return;

  /* Both hold a reference, so whoever forgot them leaked this request instead. */
  g_assert (request->deadline_timer == NULL && request->retry_timer == NULL);
  g_assert (request->waiting->len == 0 && request->asking->len == 0);

  g_free (request->id);
  g_free (request->key);
  g_free (request->key_digest);
  g_free (request->expires);
  g_free (request->by);
  g_free (request->reason);
  g_free (request->result);
  g_free (request->supersedes);
  g_free (request->successor);
  g_free (request->cause);
  g_free (request->maker);
  g_clear_pointer (&request->holders, g_ptr_array_unref);
  g_array_unref (request->answered);
  g_clear_pointer (&request->prepared, g_variant_unref);
  g_clear_pointer (&request->requirements, g_variant_unref);
  g_clear_pointer (&request->record, record_unref);
  g_clear_pointer (&request->files, files_unref);
  g_clear_error (&request->doubt);
  g_ptr_array_unref (request->statements);
  g_ptr_array_unref (request->watchers);
  g_ptr_array_unref (request->waiting);
  g_ptr_array_unref (request->asking);
  g_free (request);
}

/* record_is_of: what the executor prepared is what this broker asked it to. */
static gboolean
record_is_of (const Record *record, GVariant *raw, const Request *request, GError **error)
{
  const char *id = NULL;
  const char *run = NULL;
  const char *action = NULL;
  guint32 uid = 0;

  g_variant_get_child (raw, 0, "&s", &id);
  g_variant_get_child (raw, 1, "u", &uid);
  g_variant_get_child (raw, 3, "(&s&s&s&s)", &run, NULL, NULL, NULL);
  g_variant_get_child (raw, 4, "&s", &action);

  if (strcmp (id, request->id) != 0 || uid != request->uid ||
      record_agent_uid (record) != request->uid || strcmp (record_run_id (record), run) != 0 ||
      strcmp (record_action_id (record), action) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the executor prepared another request");
  return TRUE;
}

static guint
count_needed (GVariant *requirements)
{
  GVariantIter iter;
  guint32 count = 0;
  guint needed = 0;

  g_variant_iter_init (&iter, requirements);
  while (g_variant_iter_next (&iter, "(&su@a" WIRE_APPROVER ")", NULL, &count, NULL))
    needed += count;
  return needed;
}

gboolean
request_set_prepared (Request *request,
                      GVariant *prepared,
                      GVariant *requirements,
                      GError **error)
{
  g_autoptr (GVariant) raw = g_variant_get_child_value (prepared, 0);
  g_autoptr (GVariant) bytes_child = g_variant_get_child_value (prepared, 2);
  g_autoptr (GBytes) bytes = g_variant_get_data_as_bytes (bytes_child);
  g_autoptr (Record) record = record_decode (bytes, error);

  if (record == NULL || !record_is_of (record, raw, request, error))
    return FALSE;

  g_clear_pointer (&request->prepared, g_variant_unref);
  g_clear_pointer (&request->requirements, g_variant_unref);
  g_clear_pointer (&request->record, record_unref);
  request->prepared = g_variant_ref_sink (prepared);
  request->requirements = g_variant_ref_sink (requirements);
  request->record = g_steal_pointer (&record);
  g_variant_get_child (prepared, 3, "t", &request->deadline);
  request->needed = count_needed (requirements);
  return TRUE;
}

GVariant *
request_raw (const Request *request)
{
  return g_variant_get_child_value (request->prepared, 0);
}

char *
request_path_of (const char *id)
{
  return g_strconcat (US_REQUEST_PATH_PREFIX, id, NULL);
}

char *
request_path (const Request *request)
{
  return request_path_of (request->id);
}

const char *
request_id_of (const char *path)
{
  if (!g_str_has_prefix (path, US_REQUEST_PATH_PREFIX))
    return NULL;
  path += strlen (US_REQUEST_PATH_PREFIX);
  return id_is_valid (path) ? path : NULL;
}

/* --- the move --- */

/* What a move changes, so that it can be put back where it can't be kept. */
typedef struct
{
  RequestState state;
  gint64 ended;
  gboolean close_is_due;
  char *reason, *result, *by, *successor;
  Request *refused; /* of RequestChange.in_place_of */
  char *led_to;
  gboolean key_named_id;
} Before;

static char *
swap_text (char **field, const char *text)
{
  char *old = *field;

  *field = g_strdup (text != NULL ? text : old);
  return old;
}

static void
swap_keys (Request *a, Request *b)
{
  char *key = a->key;
  char *digest = a->key_digest;

  a->key = b->key;
  a->key_digest = b->key_digest;
  b->key = key;
  b->key_digest = digest;
}

/* The wish goes on under another id, which does not follow from its key. */
static void
lead_on (Request *refused, Request *successor, Before *before)
{
  g_assert (refused->state == REQUEST_REFUSED && refused->successor[0] == '\0' &&
            refused->uid == successor->uid && successor->key[0] == '\0');
  before->refused = refused;
  before->led_to = swap_text (&refused->successor, successor->id);
  before->key_named_id = refused->key_names_id;
  swap_keys (refused, successor);
  refused->key_names_id = FALSE;
}

static void
lead_back (Request *successor, Before *before)
{
  Request *refused = before->refused;

  g_free (refused->successor);
  refused->successor = g_steal_pointer (&before->led_to);
  refused->key_names_id = before->key_named_id;
  swap_keys (refused, successor);
}

static void
move_apply (Request *request, RequestState to, const RequestChange *why, Before *before)
{
  *before = (Before) {
    .state = request->state,
    .ended = request->ended,
    .close_is_due = request->close_is_due,
    .reason = swap_text (&request->reason, why->reason),
    .result = swap_text (&request->result, why->result),
    .by = swap_text (&request->by, why->by),
    .successor = swap_text (&request->successor, why->successor),
  };
  request->state = to;
  if (request_state_has_ended (to) && request->ended == 0)
    request->ended = clock_wall ();
  request->close_is_due = request_state_was_closed (to);
  if (why->in_place_of != NULL)
    lead_on (why->in_place_of, request, before);
}

static void
before_clear (Before *before)
{
  g_free (before->reason);
  g_free (before->result);
  g_free (before->by);
  g_free (before->successor);
  g_free (before->led_to);
}

static void
move_undo (Request *request, Before *before)
{
  Before after = { .reason = request->reason,
                   .result = request->result,
                   .by = request->by,
                   .successor = request->successor };

  request->state = before->state;
  request->ended = before->ended;
  request->close_is_due = before->close_is_due;
  request->reason = before->reason;
  request->result = before->result;
  request->by = before->by;
  request->successor = before->successor;
  if (before->refused != NULL)
    lead_back (request, before);
  before_clear (&after);
}

static gboolean
check_may_follow (const Request *request, RequestState to, gboolean in_ledger, GError **error)
{
  gboolean too_late = request->state == REQUEST_APPROVED && to == REQUEST_DENIED && !in_ledger;

  /* After a power cut it may have run: nobody is told that it did not, before that is known. */
  if (request->is_doubtful && request_state_was_closed (to))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "whether the request has run is not known yet");
  if (!too_late && request_state_may_follow (request->state, to))
    return TRUE;
  return us_error_set (error, US_ERROR_WRONG_STATE,
                       request->state == REQUEST_PENDING || request->state == REQUEST_NEW
                           ? US_REASON_WRONG_STATE
                           : US_REASON_TOO_LATE,
                       "the request is %s", request_state_name (request->state));
}

gboolean
request_move (Request *request, RequestState to, const RequestChange *change, GError **error)
{
  static const RequestChange none = { 0 };
  const RequestChange *why = change != NULL ? change : &none;
  Before before = { 0 };

  if (!check_may_follow (request, to, why->in_ledger, error))
    return FALSE;

  move_apply (request, to, why, &before);
  if (!request->hooks->persist (request, before.refused, request->hooks->data, error))
    {
      move_undo (request, &before);
      return FALSE;
    }
  before_clear (&before);
  request->is_doubtful = FALSE;

  g_message ("request %s of uid %u: %s -> %s", request->id, (guint) request->uid,
             request_state_name (before.state), request_state_name (to));
  request->hooks->moved (request, before.state, request->hooks->data);
  return TRUE;
}

gboolean
request_persist (Request *request, GError **error)
{
  return request->hooks->persist (request, NULL, request->hooks->data, error);
}
