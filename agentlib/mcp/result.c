/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes results.  Every sentence is fixed; whether anything ran is taken from what the service says
 * of it and from nothing else, so that both halves of a result always agree.
 */
#include "agentlib/mcp/result.h"

#include "agentlib/mcp/text.h"

#include "dbus/names.h"
#include "dbus/reason.h"

#include <string.h>

#define RETRY_MS 5000

/* SEP-2848's words. */
#define DISPOSITION META_OWN "disposition"

typedef struct
{
  const char *head, *tail, *disposition; /* each (nullable) but @head */
  gboolean good;
} Phrase;

#define ASK_LATER "Do not repeat the call; ask request_status with the request_id later."
#define NOT_DONE "denied-not-executed"

static const Phrase phrases[] = {
  [US_STATE_PENDING] = { "PENDING: a person has not approved it yet.", ASK_LATER, NULL, TRUE },
  [US_STATE_APPROVED] = { "PENDING: it is approved and about to start.", ASK_LATER, NULL, TRUE },
  [US_STATE_EXECUTING] = { "EXECUTING: it has been started and has not ended.", ASK_LATER, NULL,
                           TRUE },
  [US_STATE_DONE] = { "DONE.", NULL, "approved-executed", TRUE },
  [US_STATE_FAILED] = { "FAILED: it was started and had no effect.", NULL, "execution-error",
                        FALSE },
  [US_STATE_UNKNOWN] = { "UNKNOWN: a person has to find out what happened.",
                         "Do not repeat the call.", "outcome-unknown", FALSE },
  [US_STATE_DENIED] = { "DENIED by a person.", NULL, NOT_DONE, FALSE },
  [US_STATE_EXPIRED] = { "EXPIRED: nobody answered in time.", NULL, NOT_DONE, FALSE },
  [US_STATE_WITHDRAWN] = { "WITHDRAWN: it was taken back.", NULL, NOT_DONE, FALSE },
  [US_STATE_SUPERSEDED] = { "SUPERSEDED: another request took its place.", NULL, NOT_DONE, FALSE },
  [US_STATE_UNREACHABLE] = { "NOT APPROVED: nobody is left who could approve it.", NULL, NOT_DONE,
                             FALSE },
  [US_STATE_REFUSED] = { "REFUSED: a check before the execution failed.", NULL, NOT_DONE, FALSE },
};

G_STATIC_ASSERT (G_N_ELEMENTS (phrases) == US_STATE_N);

static const char *
executed_sentence (UsExecuted executed)
{
  switch (executed)
    {
    case US_EXECUTED_NO:
      return "Nothing was executed.";
    case US_EXECUTED_YES:
      return "It was executed.";
    case US_EXECUTED_UNKNOWN:
    default:
      return "It may have been executed.";
    }
}

gboolean
state_is_good (UsState state)
{
  return phrases[state].good;
}

const char *
request_id (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

char *
request_path (const char *id)
{
  gsize digits = id != NULL ? strspn (id, "0123456789abcdef") : 0;

  return digits == 32 && id[digits] == '\0' ? g_strconcat (US_REQUEST_PATH_PREFIX, id, NULL) : NULL;
}

static void
add_optional (JsonTree *object, const char *name, const char *value)
{
  if (value != NULL && value[0] != '\0')
    json_tree_add_string (object, name, value);
}

/*
 * The word of a refusal, or of a denial the one that the person chose from a list.  What stands
 * behind a colon may name somebody and is left out.
 */
static char *
reason_word (const char *reason)
{
  gsize len = reason != NULL ? strspn (reason, "abcdefghijklmnopqrstuvwxyz-") : 0;

  return len > 0 && len < 40 && (reason[len] == '\0' || reason[len] == ':')
             ? g_strndup (reason, len)
             : NULL;
}

/* @structured is (transfer full). */
static JsonTree *
result_new (Revision revision,
            const char *sentence,
            JsonTree *structured,
            gboolean is_error,
            const char *disposition,
            const char *task)
{
  g_autoptr (JsonTree) own = structured;
  g_autofree char *text = tree_text (structured);
  const char *const parts[] = { sentence, text };
  JsonTree *result = json_tree_new_object ();
  JsonTree *content = json_tree_add (result, "content", json_tree_new_array ());
  JsonTree *meta;

  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      JsonTree *part = json_tree_append (content, json_tree_new_object ());

      json_tree_add_string (part, "type", "text");
      json_tree_add_string (part, "text", parts[i]);
    }
  if (revision >= REVISION_2025_06_18)
    json_tree_add (result, "structuredContent", g_steal_pointer (&own));
  json_tree_add_boolean (result, "isError", is_error);
  if (disposition == NULL && task == NULL)
    return result;
  meta = json_tree_add (result, "_meta", json_tree_new_object ());
  if (disposition != NULL)
    json_tree_add_string (meta, DISPOSITION, disposition);
  if (task != NULL)
    json_tree_add_string (json_tree_add (meta, META_MCP "related-task", json_tree_new_object ()),
                          "taskId", task);
  return result;
}

static JsonTree *
structured_new (const char *state, UsExecuted executed, const char *note)
{
  JsonTree *structured = json_tree_new_object ();

  json_tree_add_string (structured, "state", state);
  json_tree_add_string (structured, "executed", us_executed_to_string (executed));
  json_tree_add_string (structured, "note", note);
  return structured;
}

static JsonTree *
status_result (Revision revision,
               const char *path,
               const UsStatus *status,
               const char *first,
               gboolean is_error,
               const char *task)
{
  UsState state = us_status_get_state (status);
  UsExecuted executed = us_status_get_executed (status);
  const Phrase *phrase = &phrases[state];
  g_autofree char *sentence =
      g_strdup_printf ("%s%s %s%s%s", first, phrase->head, executed_sentence (executed),
                       phrase->tail != NULL ? " " : "", phrase->tail != NULL ? phrase->tail : "");
  g_autofree char *reason = reason_word (us_status_get_reason (status));
  JsonTree *structured = structured_new (us_state_to_string (state), executed, sentence);

  json_tree_add_string (structured, "request_id", request_id (path));
  add_optional (structured, "action", us_status_get_action (status));
  add_optional (structured, "digest", us_status_get_digest (status));
  add_optional (structured, "reason", reason);
  if ((state == US_STATE_DONE || state == US_STATE_FAILED) && !us_status_get_resolved (status))
    add_optional (structured, "output", us_status_get_result (status));
  if (!us_state_has_ended (state))
    {
      add_optional (structured, "expires_at", us_status_get_expires (status));
      json_tree_add (structured, "retry_after_ms", tree_new_integer (RETRY_MS));
    }
  return result_new (revision, sentence, structured, is_error, phrase->disposition, task);
}

JsonTree *
result_of_status (Revision revision, const char *path, const UsStatus *status)
{
  return status_result (revision, path, status, "", !state_is_good (us_status_get_state (status)),
                        NULL);
}

JsonTree *
result_for_task (Revision revision, const char *path, const UsStatus *status)
{
  return status_result (revision, path, status, "", !state_is_good (us_status_get_state (status)),
                        request_id (path));
}

JsonTree *
result_taken_back (Revision revision, const char *path, const UsStatus *status)
{
  return status_result (revision, path, status, "",
                        us_status_get_state (status) != US_STATE_WITHDRAWN, NULL);
}

JsonTree *
result_too_late (Revision revision, const char *path, const UsStatus *status)
{
  return status_result (revision, path, status, "TOO LATE to take it back. ", TRUE, NULL);
}

char *
error_sentence (const GError *error, UsExecuted executed)
{
  return g_strdup_printf (
      "%s %s%s (%s)",
      executed == US_EXECUTED_NO ? "REFUSED." : "UNKNOWN: what became of it could not be read.",
      executed_sentence (executed), executed == US_EXECUTED_NO ? "" : " Do not repeat the call.",
      error->message);
}

JsonTree *
error_data (const GError *error, UsExecuted executed)
{
  g_autofree char *sentence = error_sentence (error, executed);
  g_autofree char *reason = us_error_reason (error);
  JsonTree *data =
      structured_new (executed == US_EXECUTED_NO ? "refused" : "unknown", executed, sentence);

  add_optional (data, "reason", reason);
  json_tree_add_string (data, "message", error->message);
  return data;
}

JsonTree *
result_of_error (Revision revision, const GError *error, UsExecuted executed)
{
  g_autofree char *sentence = error_sentence (error, executed);

  return result_new (revision, sentence, error_data (error, executed), TRUE,
                     executed == US_EXECUTED_NO ? NOT_DONE : "outcome-unknown", NULL);
}
