/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may call what.  A call passes, in this order: the table, the sender's uid, the role, the
 * signature, the object it is about, and only then a handler.  Whatever is absent, unknown or in
 * error on this way is an answer to the caller and the end of the call.  The body of a call that
 * the table or the signature will end is never read.
 */
#include "service/broker/members.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/broker/faces.h"
#include "service/broker/files.h"
#include "service/broker/hand-over.h"
#include "service/broker/limits.h"
#include "service/record/type.h"

#include <string.h>

#define AGENT US_INTERFACE_AGENT
#define APPROVER US_INTERFACE_APPROVER
#define REQUEST US_INTERFACE_REQUEST

const Member members[] = {
  { AGENT, "GetInfo", "", FALSE, ROLE_AGENT, ABOUT_NOTHING, handle_get_info },
  { AGENT, "OpenRun", "a{sv}", FALSE, ROLE_AGENT, ABOUT_NOTHING, handle_open_run },
  { AGENT, "OpenRunFor", "sa{sv}", FALSE, ROLE_INITIATOR, ABOUT_NOTHING, handle_open_run_for },
  { AGENT, "CloseRun", "s", FALSE, ROLE_OPENER, ABOUT_NOTHING, handle_close_run },
  { AGENT, "ListActions", "", FALSE, ROLE_AGENT, ABOUT_NOTHING, handle_list_actions },
  { AGENT, "DescribeAction", "s", FALSE, ROLE_AGENT, ABOUT_NOTHING, handle_describe_action },
  { AGENT, "ListRequests", "", FALSE, ROLE_AGENT, ABOUT_NOTHING, handle_list_requests },
  { AGENT, "Submit", "ssa{sv}a{sv}", FALSE, ROLE_AGENT, ABOUT_NOTHING, handle_submit },

  { APPROVER, "Register", "a{sv}", FALSE, ROLE_APPROVER, ABOUT_NOTHING, handle_register },
  { APPROVER, "GetCard", "o", FALSE, ROLE_APPROVER, ABOUT_CARD, handle_get_card },
  { APPROVER, "GetStatement", "oa{sv}", FALSE, ROLE_APPROVER, ABOUT_CARD, handle_get_statement },
  { APPROVER, "OpenFile", "osu", FALSE, ROLE_APPROVER, ABOUT_CARD, handle_open_file },
  { APPROVER, "Approve", "oaya{sv}", FALSE, ROLE_APPROVER, ABOUT_CARD, handle_approve },
  { APPROVER, "Deny", "osa{sv}", FALSE, ROLE_APPROVER, ABOUT_CARD, handle_deny },
  { APPROVER, "GetReceipt", "o", FALSE, ROLE_APPROVER, ABOUT_CARD, handle_get_receipt },
  { APPROVER, "PauseAgent", "su", FALSE, ROLE_APPROVER, ABOUT_NOTHING, handle_pause_agent },

  { REQUEST, "GetState", "", TRUE, ROLE_ANYONE, ABOUT_REQUEST, handle_get_state },
  { REQUEST, "Watch", "", TRUE, ROLE_ANYONE, ABOUT_REQUEST, handle_watch },
  { REQUEST, "Unwatch", "", TRUE, ROLE_ANYONE, ABOUT_REQUEST, handle_unwatch },
  { REQUEST, "Leave", "", TRUE, ROLE_AGENT, ABOUT_OWN_REQUEST, handle_leave },
  { REQUEST, "Withdraw", "", TRUE, ROLE_AGENT, ABOUT_OWN_REQUEST, handle_withdraw },

  { "org.freedesktop.DBus.Introspectable", "Introspect", "", FALSE, ROLE_ANYONE, ABOUT_NOTHING,
    handle_introspect },
  { NULL, NULL, NULL, FALSE, ROLE_NOBODY, ABOUT_NOTHING, NULL },
};

/*
 * Bytes of a body.  A record is JSON, where an empty string of a list is three bytes and in a body
 * eight; nothing else grows as much.  To that come run, action and options, of which the claim is
 * the longest.
 */
#define SUBMIT_MAX (RECORD_MAX_BYTES / 3 * 8 + 2 * RECORD_MAX_CLAIM)
#define OTHERS_MAX (16 * 1024)

/* Of one uid, over all its connections. */
#define UID_CALLS_MAX 128

/* What goes with a call on its way. */
typedef struct
{
  Broker *broker;
  const Member *member;
  gboolean is_counted;
  uid_t uid;
} Way;

const Member *
member_find (const char *interface, const char *member)
{
  for (const Member *row = members; row->interface != NULL; row++)
    if (strcmp (row->member, member) == 0 && strcmp (row->interface, interface) == 0)
      return row;
  return NULL;
}

/* --- counting --- */

static gboolean
way_count (Way *way, uid_t uid)
{
  GHashTable *calls = way->broker->calls;
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (calls, GUINT_TO_POINTER (uid)));

  if (n >= UID_CALLS_MAX)
    return FALSE;
  g_hash_table_insert (calls, GUINT_TO_POINTER (uid), GUINT_TO_POINTER (n + 1));
  way->is_counted = TRUE;
  way->uid = uid;
  return TRUE;
}

static void
way_free (gpointer data)
{
  Way *way = data;

  if (way->is_counted)
    {
      GHashTable *calls = way->broker->calls;
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (calls, GUINT_TO_POINTER (way->uid)));

      g_assert (n > 0);
      if (n == 1)
        g_hash_table_remove (calls, GUINT_TO_POINTER (way->uid));
      else
        g_hash_table_insert (calls, GUINT_TO_POINTER (way->uid), GUINT_TO_POINTER (n - 1));
    }
  g_free (way);
}

/* --- refusing --- */

#define NOT_FOUND "there is no such object or member, or it is not the caller's"

static void
fail_not_found (Call *call)
{
  call_fail_with (call, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, NOT_FOUND);
}

/* Answers by the interface, so that nobody learns more than that it is not for him. */
static void
fail_role (Call *call, const Member *member)
{
  switch (member->role)
    {
    case ROLE_AGENT:
    case ROLE_OPENER:
      if (member->about != ABOUT_NOTHING)
        fail_not_found (call);
      else
        call_fail_with (call, US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT,
                        "the caller's uid is no agent's");
      break;
    case ROLE_APPROVER:
      call_fail_with (call, US_ERROR_NOT_APPROVER, US_REASON_NOT_APPROVER,
                      "the caller has no active passkey, or is an agent");
      break;
    case ROLE_INITIATOR:
    case ROLE_ANYONE:
    case ROLE_NOBODY:
    default:
      fail_not_found (call);
      break;
    }
}

/* --- the object --- */

static Request *
find_request (Broker *broker, const char *path)
{
  const char *id = request_id_of (path);
  g_autoptr (GError) error = NULL;
  Request *request = NULL;

  if (id == NULL)
    return NULL;
  request = broker_request (broker, id, &error);
  if (request == NULL && error->code != US_ERROR_NOT_FOUND)
    g_warning ("request %s: %s", id, error->message);
  return request;
}

static gboolean
may_see (const Member *member, const Request *request, uid_t uid)
{
  switch (member->about)
    {
    case ABOUT_OWN_REQUEST:
      return request->uid == uid;
    case ABOUT_REQUEST:
      return request->uid == uid || request_approver (request, uid, NULL);
    case ABOUT_CARD:
      return request->uid != uid && request_approver (request, uid, NULL);
    case ABOUT_NOTHING:
    default:
      return FALSE;
    }
}

static void
call_handle (Request *request, gpointer data)
{
  Call *call = data;
  const Way *way = call_data (call);

  way->member->handle (way->broker, call, request);
}

/* The caller has the role: now its message is looked at. */
static void
call_admit (Call *call)
{
  const Way *way = call_data (call);
  const Member *member = way->member;
  g_autoptr (Request) request = NULL;

  if (call_fault (call) != NULL)
    {
      call_fail (call, call_fault (call));
      return;
    }
  if (member->about != ABOUT_NOTHING)
    {
      const char *path = call_path (call);

      if (member->about == ABOUT_CARD)
        g_variant_get_child (call_body (call), 0, "&o", &path);
      request = find_request (way->broker, path);
      if (request == NULL || !may_see (member, request, call_uid (call)))
        {
          fail_not_found (call);
          return;
        }
    }
  /* What may have run is neither withdrawn nor denied; a caller does not have the ledger asked more
   * often than it was found out to be of use. */
  if ((member->handle == handle_withdraw || member->handle == handle_deny) &&
      (request->retry_timer == NULL ||
       limits_ask (way->broker->limits, call_uid (call), clock_boottime ())))
    hand_over_when_known (way->broker, request, call_handle, call);
  else
    call_handle (request, call);
}

/* --- the role --- */

static void
approver_found (GVariant *credentials, const GError *error, gpointer data)
{
  Call *call = data;
  const Way *way = call_data (call);

  if (error != NULL)
    call_fail (call, error);
  else if (g_variant_n_children (credentials) == 0)
    fail_role (call, way->member);
  else
    call_admit (call);
}

static void
check_approver (Call *call)
{
  const Way *way = call_data (call);
  const Broker *broker = way->broker;
  uid_t uid = call_uid (call);

  if (uid == 0 || catalog_uid_is_agent (broker->catalog, uid))
    fail_role (call, way->member);
  else
    approvers_lookup (broker->approvers, uid, approver_found, call);
}

static void
check_agent (Call *call)
{
  const Way *way = call_data (call);
  g_autoptr (GError) error = NULL;

  if (catalog_agent (way->broker->catalog, call_uid (call), &error) != NULL)
    call_admit (call);
  else if (error->code == US_ERROR_POLICY_INVALID)
    call_fail (call, error);
  else
    fail_role (call, way->member);
}

/* An agent may look after what it asked for, also when policy no longer knows it or is invalid. */
static gboolean
is_own_live_request (Call *call)
{
  const Way *way = call_data (call);
  const char *id = way->member->on_request ? request_id_of (call_path (call)) : NULL;
  const Request *request = NULL;

  if (id != NULL)
    request = g_hash_table_lookup (way->broker->requests, id);
  return request != NULL && request->uid == call_uid (call);
}

static void
policy_is_fresh (const GError *error, gpointer data)
{
  Call *call = data;
  const Way *way = call_data (call);
  const Catalog *catalog = way->broker->catalog;

  if (error != NULL)
    {
      call_fail (call, error);
      return;
    }
  if (is_own_live_request (call))
    {
      call_admit (call);
      return;
    }

  switch (way->member->role)
    {
    case ROLE_AGENT:
      check_agent (call);
      break;
    case ROLE_OPENER:
      /* To end something takes no policy. */
      if (runs_has_opener (way->broker->runs, call_uid (call)))
        call_admit (call);
      else
        check_agent (call);
      break;
    case ROLE_APPROVER:
      check_approver (call);
      break;
    case ROLE_ANYONE:
      if (catalog_uid_is_agent (catalog, call_uid (call)))
        call_admit (call);
      else
        check_approver (call);
      break;
    case ROLE_INITIATOR:
      if (catalog_initiates (catalog, call_uid (call), NULL, NULL))
        call_admit (call);
      else
        fail_role (call, way->member);
      break;
    case ROLE_NOBODY:
    default:
      fail_role (call, way->member);
      break;
    }
}

static void
sender_found (gboolean known, uid_t uid, gpointer data)
{
  Call *call = data;
  Way *way = call_data (call);

  if (!known)
    {
      fail_role (call, way->member);
      return;
    }
  call_set_uid (call, uid);
  if (!way_count (way, uid))
    {
      call_fail_with (call, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                      "too many calls of this uid wait for an answer");
      return;
    }
  catalog_refresh (way->broker->catalog, policy_is_fresh, call);
}

/* Whether the member is at this path; that a request exists is looked at later. */
static gboolean
is_at (const Member *member, const char *path)
{
  gboolean on_request = request_id_of (path) != NULL;

  if (member->role == ROLE_ANYONE && member->about == ABOUT_NOTHING)
    return on_request || strcmp (path, US_OBJECT_PATH) == 0;
  return member->on_request ? on_request : strcmp (path, US_OBJECT_PATH) == 0;
}

/* Whether the body may be read, once it is known that its sender may call at all. */
static gboolean
check_form (const Member *member, const BusHeader *header, GError **error)
{
  gboolean submits = member->handle == handle_submit;
  guint32 most = submits ? SUBMIT_MAX : OTHERS_MAX;
  guint files = submits ? HANDOVER_MAX_FILES : 0;

  if (strcmp (header->signature, member->signature) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                         "the signature of %s is '%s'", member->member, member->signature);
  if (header->body_size > most)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the arguments of %s have %u bytes, at most %u are accepted",
                         member->member, header->body_size, most);
  if (header->n_fds > files)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "%s came with %u files, at most %u are accepted", member->member,
                         header->n_fds, files);
  return TRUE;
}

gboolean
members_judge (const BusHeader *header, GError **out_fault, GError **error)
{
  const Member *member =
      member_find (header->interface != NULL ? header->interface : "", header->member);

  if (member == NULL || !is_at (member, header->path))
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, NOT_FOUND);
  check_form (member, header, out_fault);
  return TRUE;
}

/* What comes here was judged; the table is the same. */
void
members_dispatch (Call *call, gpointer data)
{
  Broker *broker = data;
  const Member *member = member_find (call_interface (call), call_member (call));
  Way *way = g_new0 (Way, 1);

  g_assert (member != NULL);
  way->broker = broker;
  way->member = member;
  call_set_data (call, way, way_free);
  identity_lookup (broker->identity, call_sender (call), sender_found, call);
}
