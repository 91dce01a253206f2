/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The card as data: what GetCard() gave, checked, in the order in which every renderer shows it.
 * What is shown of the action comes from the record's bytes alone; everything else that the service
 * says stands apart from it.
 */
#pragma once

#include "service/record/record.h"
#include "service/record/rows.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Card Card;

/* One credential of the person that the rules accept. */
typedef struct
{
  GBytes *id;
  char *kind;
  char *rp;
  char *origin;
  char *label; /* as enrolled: escape it */
} CardCredential;

/* Another request of the same run. */
typedef struct
{
  char *summary; /* escaped */
  char *state;   /* escaped */
} CardHistory;

/*
 * card_new:
 * @request: the request's id
 * @bytes: the record, untrusted
 * @details: of GetCard()
 * @host: the id of this machine
 *
 * Decodes the record, works out its digest and compares it with what the service says.
 * Returns: (transfer full) (nullable): NULL with reason record-changed for another digest,
 *   bad-message for details of another form, or those of record_decode(): nothing can be shown.
 */
Card *
card_new (const char *request, GBytes *bytes, GVariant *details, const char *host, GError **error);
void card_free (Card *card);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Card, card_free)

const char *card_request (const Card *card);
const Record *card_record (const Card *card);
const char *card_fingerprint (const Card *card);

/* card_rows: (element-type Row): those of one section, in order; empty where it has none. */
GPtrArray *card_rows (const Card *card, RowSection section);

/* card_section_title: what a renderer writes above the rows of @section.  Borrowed. */
const char *card_section_title (RowSection section);

/* card_warnings: (element-type utf8): what the person should know before the rest, in words. */
GPtrArray *card_warnings (const Card *card);

/* card_deny_only: (nullable): why this card cannot be approved, by anyone's renderer. */
const char *card_deny_only (const Card *card);

/* card_same: whether nothing that is shown or signed differs, so that the look need not begin anew.
 */
gboolean card_same (const Card *a, const Card *b);

const char *card_state (const Card *card);   /* escaped */
const char *card_expires (const Card *card); /* RFC 3339, for display */
/* card_seconds_left: until the deadline; 0 when it has passed.  @boottime: CLOCK_BOOTTIME, µs */
guint64 card_seconds_left (const Card *card, guint64 boottime);
void card_answers (const Card *card, guint *out_counted, guint *out_needed);
guint card_attempts (const Card *card);
/* card_history, card_credentials: (element-type CardHistory), (element-type CardCredential) */
GPtrArray *card_history (const Card *card);
GPtrArray *card_credentials (const Card *card);

/*
 * card_check_statement: before anything is signed: that @bytes says exactly this request, this
 * record, this decision, this person and credential, this predecessor, and has not expired.
 * @credential: one of card_credentials()
 * @wall: now, seconds since 1970
 *
 * Returns: FALSE with reason bad-statement, statement-changed or deadline-passed.
 */
gboolean card_check_statement (const Card *card,
                               GBytes *bytes,
                               const char *decision,
                               const CardCredential *credential,
                               const char *user,
                               guint32 uid,
                               gint64 wall,
                               guint64 boottime,
                               GError **error);

/* card_to_tree: for --json: everything that a renderer shows, and nothing else. */
JsonTree *card_to_tree (const Card *card);

G_END_DECLS
