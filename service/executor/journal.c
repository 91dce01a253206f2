/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By GLib's structured log, which speaks the journal's own protocol where standard error is the
 * journal, and prints the message elsewhere.  Nothing is logged that a person or an agent has
 * written, but names of users; no value of a record.
 */
#include "service/executor/journal.h"

#include "service/ledger/ledger.h"
#include "service/record/rows.h"

void
journal_act (
    const char *message_id, const char *event, guint32 by, const char *request, const char *person)
{
  g_autofree char *who = escape_line (person != NULL ? person : "");
  g_autofree char *uid = g_strdup_printf ("%u", by);
  const char *what = request != NULL ? request : "";

  g_log_structured (
      G_LOG_DOMAIN, G_LOG_LEVEL_MESSAGE, "MESSAGE_ID", message_id, "UNDERSIGN_REQUEST", what,
      "UNDERSIGN_STATE", event, "UNDERSIGN_SOURCE", AUDIT_ADMIN, "UNDERSIGN_PERSON", who,
      "UNDERSIGN_REASON", "", "UNDERSIGN_BY", uid, "MESSAGE", "%s by uid %s%s%s%s%s", event, uid,
      *what != '\0' ? ": request " : "", what, *who != '\0' ? ": a passkey of " : "", who);
}

void
journal_event (const char *message_id,
               const char *source,
               const char *request,
               const char *state,
               const char *person,
               const char *reason)
{
  g_autofree char *who = escape_line (person != NULL ? person : "");
  g_autofree char *why = escape_line (reason != NULL ? reason : "");

  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_MESSAGE, "MESSAGE_ID", message_id,
                    "UNDERSIGN_REQUEST", request, "UNDERSIGN_STATE", state, "UNDERSIGN_SOURCE",
                    source, "UNDERSIGN_PERSON", who, "UNDERSIGN_REASON", why, "MESSAGE",
                    "request %s: %s%s%s%s%s", request, state, *who != '\0' ? " by " : "", who,
                    *why != '\0' ? ", " : "", why);
}

void
journal_note (JournalNote *out_note,
              const char *message_id,
              const char *source,
              const char *request,
              const char *state,
              const char *person,
              const char *reason)
{
  *out_note = (JournalNote){ .message_id = message_id,
                             .source = source,
                             .state = g_strdup (state),
                             .request = g_strdup (request),
                             .person = g_strdup (person),
                             .reason = g_strdup (reason) };
}

void
journal_note_flush (JournalNote *note)
{
  if (note->message_id != NULL)
    journal_event (note->message_id, note->source, note->request, note->state, note->person,
                   note->reason);
  g_free (note->request);
  g_free (note->state);
  g_free (note->person);
  g_free (note->reason);
  *note = (JournalNote){ 0 };
}
