/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an agent asks by Submit(), read once, and what is held for the call until it is answered.
 * Nothing is decided here, and nothing is kept.
 */
#include "service/broker/submission.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/broker/holders.h"
#include "service/broker/key.h"
#include "service/broker/options.h"

#include <string.h>

#define ARGUMENTS_MAX (1024 * 1024) /* bytes; the record has narrower limits of its own */

Submission *
submission_new (Broker *broker, Call *call)
{
  Submission *submission = g_new0 (Submission, 1);

  submission->broker = broker;
  submission->call = call;
  submission->uid = call_uid (call);
  return submission;
}

void
submission_free (Submission *submission)
{
  Broker *broker = submission->broker;

  if (submission->has_place)
    limits_release (broker->limits, submission->uid, submission->files->bytes);
  if (submission->is_spooled)
    files_drop (broker->spool, submission->id);
  if (submission->turn != NULL)
    turns_leave (broker->turns, submission->turn, submission);
  g_free (submission->turn);
  g_free (submission->id);
  g_free (submission->key);
  g_free (submission->key_digest);
  g_free (submission->supersedes);
  g_free (submission->claim);
  g_free (submission->action);
  g_free (submission->part);
  g_clear_pointer (&submission->run, g_variant_unref);
  g_clear_pointer (&submission->arguments, g_variant_unref);
  g_clear_pointer (&submission->raw, g_variant_unref);
  files_unref (submission->files);
  request_unref (submission->request);
  g_free (submission);
}

void
submission_fail (Submission *submission, const GError *error)
{
  call_fail (submission->call, error);
  submission_free (submission);
}

void
submission_give (Submission *submission, Request *request)
{
  g_autofree char *path = request_path (request);

  holders_add (request, call_sender (submission->call));
  call_return (submission->call,
               g_variant_new ("(os)", path, request_state_name (request->state)));
  submission_free (submission);
}

/* --- what it would supersede --- */

static gboolean
check_may_be_superseded (const Request *old, GError **error)
{
  if (old->state == REQUEST_PENDING || old->state == REQUEST_REFUSED ||
      request_state_was_closed (old->state))
    return TRUE;
  return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_TOO_LATE,
                       "what it would supersede is %s", request_state_name (old->state));
}

gboolean
submission_find_superseded (const Submission *submission, Request **out_old, GError **error)
{
  g_autoptr (Request) old = NULL;
  g_autoptr (GError) local = NULL;

  if (out_old != NULL)
    *out_old = NULL;
  if (submission->supersedes == NULL)
    return TRUE;
  old = broker_request (submission->broker, submission->supersedes, &local);
  if (us_error_has_reason (local, US_REASON_UNREACHABLE))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (old == NULL || old->uid != submission->uid)
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "supersedes is not a request of this agent");
  if (!check_may_be_superseded (old, error))
    return FALSE;
  if (out_old != NULL)
    *out_old = g_steal_pointer (&old);
  return TRUE;
}

/* --- reading the call --- */

static gboolean
read_options (Submission *submission, GVariant *dictionary, GError **error)
{
  g_autoptr (GVariant) claim = NULL;
  g_autoptr (GVariant) key = NULL;
  g_autoptr (GVariant) supersedes = NULL;
  const Option options[] = {
    { "claim", "s", FALSE, &claim },
    { "idempotency-key", "s", FALSE, &key },
    { "supersedes", "o", FALSE, &supersedes },
    { NULL, NULL, FALSE, NULL },
  };

  if (!options_read (dictionary, options, error))
    return FALSE;
  submission->claim = claim != NULL ? g_variant_dup_string (claim, NULL) : g_strdup ("");
  if (strlen (submission->claim) > RECORD_MAX_CLAIM)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "claim has more than %d bytes", RECORD_MAX_CLAIM);
  if (key != NULL)
    {
      if (!key_check (g_variant_get_string (key, NULL), error))
        return FALSE;
      submission->key = g_variant_dup_string (key, NULL);
    }
  if (supersedes != NULL)
    {
      submission->supersedes = g_strdup (request_id_of (g_variant_get_string (supersedes, NULL)));
      if (submission->supersedes == NULL)
        return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                             "supersedes is not a request of this agent");
    }
  return TRUE;
}

/* As an array, in which a name that stands twice stays there for the executor to refuse. */
static GVariant *
arguments_array (GVariant *dictionary)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sv)"));
  for (gsize i = 0; i < g_variant_n_children (dictionary); i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *name = NULL;

      g_variant_get_child (dictionary, i, "{&sv}", &name, &value);
      g_variant_builder_add (&builder, "(sv)", name, value);
    }
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

static gboolean
read_run (Submission *submission, const char *id, GError **error)
{
  const Run *run =
      runs_use (submission->broker->runs, submission->uid, id, clock_wall (), error);
  g_autofree char *uid = NULL;

  if (run == NULL)
    return FALSE;
  uid = run->initiator[0] != '\0' ? g_strdup_printf ("%u", (guint) run->initiator_uid)
                                  : g_strdup ("");
  submission->part = g_strdup (run->part);
  submission->run = g_variant_ref_sink (
      g_variant_new ("(ssss)", run->id, run->label, run->initiator, uid));
  return TRUE;
}

static gboolean
check_limits (Submission *submission, GError **error)
{
  Broker *broker = submission->broker;
  guint64 now = clock_boottime ();

  if (limits_paused (broker->limits, submission->uid, now, NULL))
    return us_error_set (error, US_ERROR_PAUSED, US_REASON_PAUSED,
                         "requests of this agent are not taken for a while");
  return limits_submit (broker->limits, submission->uid, now, error);
}

gboolean
submission_read (Submission *submission, GError **error)
{
  GVariant *body = call_body (submission->call);
  g_autoptr (GVariant) arguments = g_variant_get_child_value (body, 2);
  g_autoptr (GVariant) options = g_variant_get_child_value (body, 3);
  const char *run = NULL;

  if (!check_limits (submission, error))
    return FALSE;
  if (g_variant_get_size (arguments) > ARGUMENTS_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the arguments have more than %d bytes", ARGUMENTS_MAX);

  g_variant_get_child (body, 0, "&s", &run);
  g_variant_get_child (body, 1, "s", &submission->action);
  if (!read_options (submission, options, error) || !read_run (submission, run, error) ||
      !submission_find_superseded (submission, NULL, error))
    return FALSE;
  submission->arguments = arguments_array (arguments);
  submission->files = files_new_steal (call_fds (submission->call), error);
  return submission->files != NULL;
}
