/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preparing a pending request anew under its id, after which its card says so.  One that would no
 * longer be asked about, or whose files are not what was submitted, is refused; what passes is
 * waited for.
 */
#include "service/broker/renew.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/broker/life.h"
#include "service/broker/prepare.h"

#include <string.h>

static void
prepare_due (gpointer data)
{
  Request *request = data;

  request->retry_timer = NULL;
  renew_request (broker_of (request), request);
}

/* Where a full disk does not keep it, it is prepared anew later, and ends then. */
static void
refuse (Request *request, const char *reason)
{
  const RequestChange change = { .reason = reason };

  life_move (broker_of (request), request, REQUEST_REFUSED, &change, prepare_due);
}

/* What passes, so that a pending request waits for it: the part is away, policy is being repaired,
 * an administrator halted everything. */
static gboolean
error_passes (const GError *error)
{
  return executor_error_is_silence (error) || error->code == US_ERROR_POLICY_INVALID ||
         error->code == US_ERROR_HALTED;
}

static gboolean
is_file (const char *type)
{
  return strcmp (type, "file") == 0 || strcmp (type, "file-list") == 0;
}

/* The copies on disk are the files that the first record named. */
static gboolean
same_files (const Record *older, const Record *newer)
{
  const JsonTree *arguments = json_tree_member (record_tree (older), "arguments");

  for (guint i = 0; i < json_tree_length (arguments); i++)
    {
      const JsonTree *argument = json_tree_item (arguments, i);
      const char *type = json_tree_get_string (argument, "type");
      const char *name = json_tree_get_string (argument, "name");

      if (is_file (type) && !json_tree_equal (json_tree_member (argument, "value"),
                                              record_argument (newer, name, NULL)))
        return FALSE;
    }
  return TRUE;
}

/* What waits from now on is what was prepared now. */
static void
take_anew (Broker *broker, Request *request, const Handover *reply)
{
  g_autoptr (GVariant) raw = request_raw (request);
  g_autoptr (GError) error = NULL;
  gboolean asks = FALSE;

  if (!prepare_take (request, raw, reply, &asks, &error))
    {
      refuse (request, error->message);
      return;
    }
  request->again = TRUE;
  request->answers = 0;
  g_array_set_size (request->answered, 0);
  g_ptr_array_set_size (request->statements, 0);
  if (!request_persist (request, &error))
    g_warning ("request %s: %s", request->id, error->message);
  life_begin (broker, request);
}

/* Nothing is taken before all of it is right: what is refused is what was submitted. */
static void
take_prepared (Broker *broker, Request *request, const Handover *reply)
{
  g_autoptr (GVariant) raw = request_raw (request);
  g_autoptr (Request) anew = request_new (request->id, request->uid, request->hooks);
  g_autoptr (GError) error = NULL;
  gboolean asks = FALSE;

  if (!prepare_take (anew, raw, reply, &asks, &error))
    refuse (request, error->message);
  else if (!asks)
    refuse (request,
            US_REASON_RECORD_CHANGED ": it would no longer be asked about: submit it anew");
  else if (!same_files (request->record, anew->record))
    refuse (request, US_REASON_RECORD_CHANGED ": the copy of a file is not what was submitted");
  else
    take_anew (broker, request, reply);
}

static void
prepared (const Handover *reply, const GError *error, gpointer data)
{
  g_autoptr (Request) request = data;
  Broker *broker = broker_of (request);

  request->is_handed = FALSE;
  if (request->state != REQUEST_PENDING)
    return;
  if (error == NULL)
    take_prepared (broker, request, reply);
  else if (error->code == US_ERROR_NO_APPROVER)
    life_move (broker, request, REQUEST_UNREACHABLE, NULL, prepare_due);
  else if (!error_passes (error))
    refuse (request, error->message);
  else
    life_retry (broker, request, prepare_due);
}

void
renew_request (Broker *broker, Request *request)
{
  g_autoptr (GVariant) raw = request_raw (request);

  if (request->is_handed || !life_count_down (broker, request))
    return;
  request->is_handed = TRUE;
  prepare_send (broker->executor, broker->catalog, raw, request->files, prepared,
                request_ref (request));
}
