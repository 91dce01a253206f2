/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What became of requests and what administrators did, as structured entries of the system's
 * journal, for those who watch it.  It is a notice, never evidence: that is the ledger's.
 * undersign-executor(8) lists the ids and fields.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define JOURNAL_APPROVED "5b2ee5a14c1f4f0c9d6c1f0a7a3f6e01"
#define JOURNAL_DENIED "0f5c83a2c5c04c1c8a4e6f7a52d1b902"
#define JOURNAL_ENDED "a1c7a7d6a0f14e9fb9b5d1e07b2c4303"
#define JOURNAL_CONSUMED "d4e0c9b87f2a4d13a6b27c98e51f0a04"
#define JOURNAL_OUTCOME "7e9a3fd1b6584c2fb0c4a85d93e62705"
#define JOURNAL_REFUSED "c36f81e0d29b4a77958e0b4dfa17c806"

#define JOURNAL_ENROLLED "8c638ac88ce84f11876d5450854a9f66"
#define JOURNAL_REVOKED "9ce4c037fd7b4c0c91e6383c241f3af6"
#define JOURNAL_HALTED "195eb34e182a4908ba79e27780abc0a4"
#define JOURNAL_RESUMED "43e1b05942eb47cd9f1980626b9423a3"
#define JOURNAL_RESOLVED "2de567174a4d47838cc119960d1273ea"
#define JOURNAL_PRUNED "52c9f9f4c347417f9363ac0b6c0442d2"

/*
 * journal_act: of an administrator; why is not told, since that is what a person wrote.
 * @message_id: one of the second six
 * @event: the word of the audit log, e.g. "enrolled"
 * @by: the uid of who asked for it
 * @request, @person: (nullable): what or whom it is about
 */
void journal_act (
    const char *message_id, const char *event, guint32 by, const char *request, const char *person);

/*
 * journal_event:
 * @message_id: one of the first six
 * @source: who says so: AUDIT_EXECUTOR, …
 * @state: the word, e.g. "denied" or "done"
 * @person, @reason: (nullable)
 */
void journal_event (const char *message_id,
                    const char *source,
                    const char *request,
                    const char *state,
                    const char *person,
                    const char *reason);

/* One that waits until the reply is on its way; all zero is none. */
typedef struct
{
  const char *message_id, *source;
  char *request, *state, *person, *reason;
} JournalNote;

void journal_note (JournalNote *out_note,
                   const char *message_id,
                   const char *source,
                   const char *request,
                   const char *state,
                   const char *person,
                   const char *reason);
/* journal_note_flush: as journal_event(), and there is none then. */
void journal_note_flush (JournalNote *note);

G_END_DECLS
