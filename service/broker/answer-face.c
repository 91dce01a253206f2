/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * org.undersign1.Approver: statements and the answers to them.  A statement is known by its bytes,
 * which this daemon made; what a person sends back is passed to the executor unread, and only its
 * word approves.  A denial needs nobody's word.
 */
#include "service/broker/faces.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/wire.h"
#include "service/broker/hand-over.h"
#include "service/broker/life.h"
#include "service/broker/options.h"

#include <string.h>

static GBytes *
bytes_of (GVariant *value)
{
  return g_variant_get_data_as_bytes (value);
}

static gboolean
check_pending (const Request *request, GError **error)
{
  if (request->state != REQUEST_PENDING)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_TOO_LATE, "the request is %s",
                         request_state_name (request->state));
  if (!request->is_ready)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "the request is being prepared anew");
  return TRUE;
}

/* Those that are being looked at may turn out wrong, all of them. */
static gboolean
check_attempts (const Request *request, GError **error)
{
  if (request->attempts + request->verifying >= REQUEST_ATTEMPTS)
    return us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ATTEMPTS,
                         "%d assertions for this request were wrong or are being looked at",
                         REQUEST_ATTEMPTS);
  return TRUE;
}

/* --- GetStatement --- */

static char *
new_nonce (void)
{
  g_autofree char *a = random_id ();
  g_autofree char *b = random_id ();
  guint8 nonce[32] = { 0 };

  if (!hex_decode (a, nonce, 16) || !hex_decode (b, nonce + 16, 16))
    g_error ("a random id is not hexadecimal");
  return base64url_encode (nonce, sizeof nonce);
}

static void
set_superseded (Statement *statement, const Request *request)
{
  g_autoptr (GVariant) raw = request_raw (request);
  const char *id = NULL;
  const char *digest = NULL;

  g_variant_get_child (raw, 7, "(&s&s)", &id, &digest);
  if (id[0] == '\0')
    return;
  statement->supersedes_request = g_strdup (id);
  statement->supersedes_digest = g_strdup (digest);
}

/* Returns: the statement of this person and credential for this request as it is now. */
static Statement *
make_statement (const Request *request, uid_t uid, gboolean approves, GVariant *credential)
{
  Statement *statement = g_new0 (Statement, 1);
  g_autoptr (GVariant) id = g_variant_get_child_value (credential, 0);
  g_autoptr (GVariant) seal = g_variant_get_child_value (request->prepared, 4);

  statement->decision = g_strdup (approves ? "approve" : "deny");
  statement->request = g_strdup (request->id);
  statement->record = digest_to_string (record_digest (request->record));
  request_approver (request, uid, &statement->approver_name);
  statement->approver_uid = uid;
  statement->credential = base64url_encode (g_variant_get_data (id), g_variant_get_size (id));
  g_variant_get_child (credential, 2, "s", &statement->rp);
  statement->seal = base64url_encode (g_variant_get_data (seal), g_variant_get_size (seal));
  statement->nonce = new_nonce ();
  statement->issued = clock_format (clock_wall ());
  statement->expires = g_strdup (request->expires);
  set_superseded (statement, request);
  return statement;
}

static GBytes *
issue (Request *request, uid_t uid, gboolean approves, GBytes *id, GVariant *credential, GError **error)
{
  g_autoptr (Statement) statement = make_statement (request, uid, approves, credential);
  g_autoptr (GBytes) bytes = statement_encode (statement, error);
  IssuedStatement *issued = NULL;

  if (bytes == NULL)
    return NULL;
  issued = g_new0 (IssuedStatement, 1);
  issued->uid = uid;
  issued->approves = approves;
  issued->credential = g_bytes_ref (id);
  issued->bytes = g_bytes_ref (bytes);
  issued->nonce = g_steal_pointer (&statement->nonce);
  issued->issued = g_steal_pointer (&statement->issued);
  issued->expires = g_steal_pointer (&statement->expires);
  request_add_statement (request, issued);
  return g_steal_pointer (&bytes);
}

static gboolean
parse_decision (const char *word, gboolean *out_approves, GError **error)
{
  *out_approves = strcmp (word, "approve") == 0;
  if (!*out_approves && strcmp (word, "deny") != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "decision is neither approve nor deny");
  return TRUE;
}

static GBytes *
get_statement (Request *request, uid_t uid, GVariant *decision, GVariant *credential, GError **error)
{
  g_autoptr (GBytes) id = bytes_of (credential);
  g_autoptr (GVariant) found = request_credential (request, uid, id);
  gboolean approves = FALSE;

  if (!parse_decision (g_variant_get_string (decision, NULL), &approves, error) ||
      !check_pending (request, error) || (approves && !check_attempts (request, error)))
    return NULL;
  if (found == NULL)
    {
      us_error_set (error, US_ERROR_NOT_APPROVER, US_REASON_CREDENTIAL_UNKNOWN,
                    "this request can't be answered with this credential of the caller");
      return NULL;
    }
  return issue (request, uid, approves, id, found, error);
}

void
handle_get_statement (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GVariant) dictionary = g_variant_get_child_value (call_body (call), 1);
  g_autoptr (GVariant) decision = NULL;
  g_autoptr (GVariant) credential = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  const Option options[] = {
    { "decision", "s", TRUE, &decision },
    { "credential", "ay", TRUE, &credential },
    { NULL, NULL, FALSE, NULL },
  };

  if (options_read (dictionary, options, &error))
    bytes = get_statement (request, call_uid (call), decision, credential, &error);
  if (bytes == NULL)
    call_fail (call, error);
  else
    call_return (call, g_variant_new ("(@ay)", g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING,
                                                                         bytes, TRUE)));
}

/* --- an assertion on its way --- */

typedef struct
{
  Broker *broker;
  Call *call;
  Request *request;
  GVariant *prepared; /* what it was made for */
  uid_t uid;
  char *reason; /* of a signed denial */
} Attempt;

static void
attempt_free (Attempt *attempt)
{
  request_unref (attempt->request);
  g_variant_unref (attempt->prepared);
  g_free (attempt->reason);
  g_free (attempt);
}

/* The four members of an assertion, and the statement that goes with them. */
typedef struct
{
  GVariant *statement, *credential, *client_data, *auth_data, *signature;
} Answered;

static void
answered_clear (Answered *answered)
{
  g_clear_pointer (&answered->statement, g_variant_unref);
  g_clear_pointer (&answered->credential, g_variant_unref);
  g_clear_pointer (&answered->client_data, g_variant_unref);
  g_clear_pointer (&answered->auth_data, g_variant_unref);
  g_clear_pointer (&answered->signature, g_variant_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Answered, answered_clear)

static const IssuedStatement *
find_issued (const Request *request,
             uid_t uid,
             gboolean approves,
             const Answered *answered,
             GError **error)
{
  g_autoptr (GBytes) bytes = bytes_of (answered->statement);
  g_autoptr (GBytes) credential = bytes_of (answered->credential);
  const IssuedStatement *issued = request_find_statement (request, uid, approves, bytes);

  if (issued == NULL || !g_bytes_equal (issued->credential, credential))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED,
                    "this statement was not given to the caller for this credential, or a newer "
                    "one took its place");
      return NULL;
    }
  return issued;
}

/* Sends it to the executor, which counts as an attempt until it says that it is right. */
static void
attempt_send (Broker *broker,
              Call *call,
              Request *request,
              const IssuedStatement *issued,
              const Answered *answered,
              const char *reason,
              ExecutorCallback callback)
{
  Attempt *attempt = g_new0 (Attempt, 1);

  attempt->broker = broker;
  attempt->call = call;
  attempt->request = request_ref (request);
  attempt->prepared = g_variant_ref (request->prepared);
  attempt->uid = call_uid (call);
  attempt->reason = g_strdup (reason);
  request->verifying++;
  executor_call (broker->executor, HANDOVER_ANSWER, attempt->uid,
                 g_variant_new ("(@" WIRE_PREPARED "s@ay@aysss@ay@ay@ays)", request->prepared,
                                issued->approves ? "approve" : "deny", answered->statement,
                                answered->credential, issued->nonce, issued->issued,
                                issued->expires, answered->client_data, answered->auth_data,
                                answered->signature, reason != NULL ? reason : ""),
                 request->files->fds, request->files->n, WIRE_ANSWER_REPLY, NULL, callback, attempt);
}

/* FALSE: the attempt failed, and its caller was told so. */
static gboolean
attempt_passed (Attempt *attempt, const GError *error)
{
  Request *request = attempt->request;
  g_autoptr (GError) local = NULL;

  request->verifying--;
  if (error == NULL)
    return TRUE;
  if (error->code == US_ERROR_WRONG_ASSERTION)
    {
      request->attempts++;
      if (!request_persist (request, &local))
        g_warning ("request %s: %s", request->id, local->message);
    }
  call_fail (attempt->call, error);
  return FALSE;
}

/* --- Approve --- */

static void
approved (const Handover *reply, const GError *error, gpointer data)
{
  Attempt *attempt = data;
  Request *request = attempt->request;
  Call *call = attempt->call;
  g_autoptr (GError) local = NULL;
  const char *word = NULL;
  guint32 answers = 0;

  if (!attempt_passed (attempt, error))
    {
      /* What was prepared can't be approved any more: it is asked anew, with what changed, or with a
       * seal of the key that an administrator's resume has made. */
      if ((us_error_has_reason (error, US_REASON_RECORD_CHANGED) ||
           us_error_has_reason (error, US_REASON_BAD_SEAL)) &&
          request->state == REQUEST_PENDING && request->prepared == attempt->prepared)
        hand_over_refuse (attempt->broker, request, error);
      attempt_free (attempt);
      return;
    }

  /* Meanwhile it may have been denied, or prepared anew: then this was for something else. */
  g_variant_get (reply->body, "(&suu)", &word, &answers, NULL);
  if (request->prepared != attempt->prepared)
    us_error_set (&local, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE,
                  "the request was prepared anew: look at its card again");
  else if (check_pending (request, &local))
    {
      request->answers = answers;
      if (!request_has_answered (request, attempt->uid))
        g_array_append_val (request->answered, attempt->uid);
      if (strcmp (word, "approved") == 0)
        request_move (request, REQUEST_APPROVED, NULL, &local);
      else
        request_persist (request, &local);
    }

  if (local != NULL)
    call_fail (call, local);
  else if (request->state == REQUEST_APPROVED)
    life_wait (request, call);
  else
    call_return (call, g_variant_new ("(s)", request_state_name (request->state)));
  attempt_free (attempt);
}

void
handle_approve (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GVariant) dictionary = g_variant_get_child_value (call_body (call), 2);
  g_auto (Answered) answered = { 0 };
  g_autoptr (GError) error = NULL;
  const IssuedStatement *issued = NULL;
  const Option options[] = {
    { "credential", "ay", TRUE, &answered.credential },
    { "client-data", "ay", TRUE, &answered.client_data },
    { "auth-data", "ay", TRUE, &answered.auth_data },
    { "signature", "ay", TRUE, &answered.signature },
    { NULL, NULL, FALSE, NULL },
  };

  answered.statement = g_variant_get_child_value (call_body (call), 1);
  if (options_read (dictionary, options, &error) && check_pending (request, &error) &&
      check_attempts (request, &error))
    issued = find_issued (request, call_uid (call), TRUE, &answered, &error);
  if (issued == NULL)
    call_fail (call, error);
  else
    attempt_send (broker, call, request, issued, &answered, NULL, approved);
}

/* --- Deny --- */

static const char *const deny_reasons[] = {
  "wrong-target", "wrong-content", "not-now", "suspicious", "other", NULL,
};

/* @in_ledger: it is this denial that the ledger has */
static gboolean
deny (Call *call, Request *request, uid_t uid, const char *reason, gboolean in_ledger)
{
  g_autofree char *name = NULL;
  g_autoptr (GError) error = NULL;
  RequestChange change = { .reason = reason, .in_ledger = in_ledger };

  request_approver (request, uid, &name);
  change.by = name;
  if (!(in_ledger && request->state == REQUEST_DENIED) &&
      !request_move (request, REQUEST_DENIED, &change, &error))
    {
      call_fail (call, error);
      return FALSE;
    }
  call_return (call, g_variant_new ("(s)", request_state_name (request->state)));
  return TRUE;
}

static void
denial_verified (const Handover *reply, const GError *error, gpointer data)
{
  Attempt *attempt = data;

  /* The ledger has it, and says so again where it could not be kept here. */
  if (attempt_passed (attempt, error) &&
      !deny (attempt->call, attempt->request, attempt->uid, attempt->reason, TRUE) &&
      attempt->request->state == REQUEST_PENDING)
    hand_over_settle_later (attempt->broker, attempt->request);
  attempt_free (attempt);
}

/* All five for a signed denial, none for one that is not. */
static gboolean
is_signed (const Answered *answered, gboolean *out_signed, GError **error)
{
  guint n = (answered->statement != NULL) + (answered->credential != NULL) +
            (answered->client_data != NULL) + (answered->auth_data != NULL) +
            (answered->signature != NULL);

  *out_signed = n == 5;
  if (n != 0 && n != 5)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                         "a signed denial has statement, credential, client-data, auth-data and "
                         "signature");
  return TRUE;
}

static gboolean
check_reason (const char *reason, GError **error)
{
  if (!g_strv_contains (deny_reasons, reason))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "reason is none of wrong-target, wrong-content, not-now, suspicious, "
                         "other");
  return TRUE;
}

void
handle_deny (Broker *broker, Call *call, Request *request)
{
  g_autoptr (GVariant) dictionary = g_variant_get_child_value (call_body (call), 2);
  g_auto (Answered) answered = { 0 };
  g_autoptr (GError) error = NULL;
  const IssuedStatement *issued = NULL;
  const char *reason = NULL;
  gboolean with_signature = FALSE;
  gboolean ok = FALSE;
  const Option options[] = {
    { "statement", "ay", FALSE, &answered.statement },
    { "credential", "ay", FALSE, &answered.credential },
    { "client-data", "ay", FALSE, &answered.client_data },
    { "auth-data", "ay", FALSE, &answered.auth_data },
    { "signature", "ay", FALSE, &answered.signature },
    { NULL, NULL, FALSE, NULL },
  };

  g_variant_get_child (call_body (call), 1, "&s", &reason);
  ok = options_read (dictionary, options, &error) && check_reason (reason, &error) &&
       is_signed (&answered, &with_signature, &error);
  if (ok && !with_signature)
    {
      deny (call, request, call_uid (call), reason, FALSE);
      return;
    }
  if (ok && check_pending (request, &error) && check_attempts (request, &error))
    issued = find_issued (request, call_uid (call), FALSE, &answered, &error);
  if (issued == NULL)
    call_fail (call, error);
  else
    attempt_send (broker, call, request, issued, &answered, reason, denial_verified);
}
