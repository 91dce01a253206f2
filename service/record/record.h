/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The action record, undersign.record/1: the one description of an action that is shown, hashed,
 * approved and run.  undersign-record(7) is the specification.
 *
 * A record is immutable.  It is built by the executor from checked values and read by everyone else
 * from its bytes; either way the same bytes mean the same record.
 */
#pragma once

#include "service/base/json.h"
#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

#define RECORD_FORMAT "undersign.record/1"

typedef struct Record Record;
typedef struct RecordBuilder RecordBuilder;

/*
 * record_decode:
 * @bytes: untrusted
 *
 * Reads strictly, checks the shape, every value against its type, and that encoding the tree again
 * gives the same bytes.
 * Returns: (transfer full) (nullable): NULL with US_ERROR_INVALID_ARGUMENT, reason bad-record,
 *   bad-json, too-large or those of type_check().
 */
Record *record_decode (GBytes *bytes, GError **error);

Record *record_ref (Record *record);
void record_unref (Record *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Record, record_unref)

GBytes *record_bytes (const Record *record);         /* borrowed */
const guint8 *record_digest (const Record *record);  /* SHA-256 (PAE (type, bytes)), 32 bytes */
const JsonTree *record_tree (const Record *record);

/* record_intent: agent, action, arguments and settings alone; finds repeats.  32 bytes. */
const guint8 *record_intent (const Record *record);

/* record_fingerprint: the short form of the digest that each screen shows: "4f2a-91c0-77de". */
char *record_fingerprint (const Record *record);

/* The members, borrowed.  Strings are never NULL in a record; absent members are "". */
const char *record_host (const Record *record);
const char *record_agent_name (const Record *record);
guint32 record_agent_uid (const Record *record);
const char *record_agent_owner (const Record *record);
const char *record_agent_part (const Record *record);
const char *record_run_id (const Record *record);
const char *record_run_label (const Record *record);
/* record_initiator: FALSE where the run was opened by the agent itself. */
gboolean record_initiator (const Record *record, const char **out_name, guint32 *out_uid);
const char *record_action_id (const Record *record);
const char *record_action_summary (const Record *record);
const char *record_action_effect (const Record *record);
const char *record_claim (const Record *record);
const char *record_policy (const Record *record);
const char *record_module (const Record *record);
const char *record_credential (const Record *record);

/* record_argument, record_fact, record_setting: the value, or NULL; @out_type may be NULL. */
const JsonTree *record_argument (const Record *record, const char *name, const char **out_type);
const JsonTree *record_fact (const Record *record, const char *name, const char **out_type);
const JsonTree *record_setting (const Record *record, const char *name, const char **out_type);

/*
 * The builder.  Each adder takes checked values: name, label and type are of the policy, @value is
 * (transfer full).  record_builder_end() checks the whole against the limits, by decoding what it
 * encoded.
 */
RecordBuilder *record_builder_new (const char *host);
void record_builder_free (RecordBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RecordBuilder, record_builder_free)

void record_builder_agent (RecordBuilder *builder,
                           const char *name,
                           guint32 uid,
                           const char *owner,
                           const char *part);
/* @initiator_name: (nullable): none, where the agent opened the run itself */
void record_builder_run (RecordBuilder *builder,
                         const char *id,
                         const char *label,
                         const char *initiator_name,
                         guint32 initiator_uid);
void record_builder_action (RecordBuilder *builder,
                            const char *id,
                            const char *summary,
                            const char *effect);
void record_builder_argument (RecordBuilder *builder,
                              const char *name,
                              const char *label,
                              const char *type,
                              JsonTree *value);
void record_builder_fact (RecordBuilder *builder,
                          const char *name,
                          const char *label,
                          const char *type,
                          JsonTree *value,
                          gboolean recheck);
/* @credential: "" for a module that needs none */
void record_builder_executor (RecordBuilder *builder, const char *module, const char *credential);
void record_builder_setting (RecordBuilder *builder,
                             const char *name,
                             const char *label,
                             const char *type,
                             JsonTree *value);
void record_builder_claim (RecordBuilder *builder, const char *claim);
void record_builder_policy (RecordBuilder *builder, const char *digest);
Record *record_builder_end (RecordBuilder *builder, GError **error);

G_END_DECLS
