/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the ledger share.  Every write goes through a Transaction: it takes the lock in
 * the runtime directory, compares ledger and mark, and moves the mark after its commit.
 */
#pragma once

#include "service/base/chain.h"
#include "service/base/secret.h"
#include "service/ledger/ledger.h"

#include <glib.h>
#include <sqlite3.h>

G_BEGIN_DECLS

/* query_end: a statement that is no longer used is kept: see query_new(). */
void query_end (sqlite3_stmt *query);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, query_end)

struct Ledger
{
  sqlite3 *db;
  int runtime_fd;
  int lock_fd;
  int log_pages;      /* of the log, after the last commit of this process; 0 before */
  char *id;           /* of the ledger, random, made with it */
  Secret *key;        /* (nullable): this boot's, read when first asked for */
  int request_fd;     /* the lock of the one request that this process executes, or -1 */
  char *request_lock; /* its file name */
};

/* --- query.c: prepared statements --- */

#define QUERY_MAX 32 /* that are used at a time */

/*
 * query_new: prepares @sql and binds what @format lists: s text (nullable), i gint64, b GBytes
 * (nullable), d a digest (nullable).  One of that text that was ended is taken again, since to prepare one
 * costs more than to run it; one that was not is its user's alone.
 */
sqlite3_stmt *query_new (Ledger *ledger, GError **error, const char *sql, const char *format, ...);
/* query_prepare: what query_new() will find; what cannot be prepared is refused when it is asked for. */
void query_prepare (Ledger *ledger, const char *sql);
void query_forget_all (Ledger *ledger); /* before the ledger is closed */
/* query_next: FALSE on error; *@out_row says whether there is a row. */
gboolean query_next (Ledger *ledger, sqlite3_stmt *query, gboolean *out_row, GError **error);
/* query_run: for a statement that returns no row; says how many rows it changed. */
gboolean query_run (
    Ledger *ledger, GError **error, guint *out_changes, const char *sql, const char *format, ...);
/* query_count: the one integer that @query gives. */
gboolean query_count (Ledger *ledger, sqlite3_stmt *query, guint64 *out_count, GError **error);
char *query_text (sqlite3_stmt *query, int column);    /* "" for NULL */
GBytes *query_bytes (sqlite3_stmt *query, int column); /* empty for NULL */
/* query_digest: FALSE unless the column holds exactly 32 bytes. */
gboolean query_digest (sqlite3_stmt *query, int column, guint8 out_digest[PAE_DIGEST_SIZE]);
gboolean query_failed (Ledger *ledger, const char *what, GError **error); /* always FALSE */

/* --- warm.c: what an answer or an execution runs, each of the file that runs it --- */

extern const char sql_answer_insert[], sql_answer_stored[], sql_answer_used[], sql_answers[];
extern const char sql_audit_head[], sql_audit_insert[], sql_consume[], sql_counter[], sql_finish[];
extern const char sql_halted[], sql_intent[], sql_limit[], sql_passkey[], sql_status[];

/* --- log.c: only for ledger.c --- */

const char *log_vfs (void); /* what sqlite3_open_v2() is to go by */
gboolean log_settle (const char *directory, const char *path, GError **error);
void log_watch (Ledger *ledger);
void log_write_back (Ledger *ledger);

/* --- schema.c --- */

gboolean schema_ensure (Ledger *ledger, GError **error);
/* schema_touch: a commit of its own that changes nothing. */
gboolean schema_touch (Ledger *ledger, GError **error);

/* --- seal.c: mark and key --- */

typedef enum
{
  MARK_ABSENT, /* there is a key of this boot, but no mark */
  MARK_FRESH,  /* neither: the first start in this boot */
  MARK_BEHIND, /* the ledger does not continue from the mark */
  MARK_NO_KEY, /* the mark holds, the key is not there (yet) */
  MARK_HOLDS,
} MarkState;

gboolean mark_state (Ledger *ledger, MarkState *out_state, GError **error);
gboolean mark_write (Ledger *ledger, GError **error);
gboolean mark_begin_boot (Ledger *ledger, GError **error);
gboolean mark_refuse (MarkState state, GError **error); /* TRUE only for MARK_HOLDS */
gboolean seal_key_renew (Ledger *ledger, GError **error);
/* seal_key_check: whether the key in use is still the one on file. */
gboolean seal_key_check (Ledger *ledger, GError **error);

/* --- transaction.c --- */

typedef struct
{
  Ledger *ledger;
  MarkState mark; /* as found when it began */
  gboolean locked;
  gboolean open;
  gboolean committed; /* durable, whatever became of the mark */
} Transaction;

gboolean transaction_begin (Ledger *ledger, Transaction *out_transaction, GError **error);
/* transaction_check_running: FALSE with US_ERROR_HALTED where nothing may run. */
gboolean transaction_check_running (Transaction *transaction, GError **error);
/* transaction_commit: of a consumption, which must not be forgotten: FALSE also where the change is
 * kept (see committed) but the mark is not. */
gboolean transaction_commit (Transaction *transaction, GError **error);
/* transaction_commit_safe: for all else, which is true once it is on the disk. */
gboolean transaction_commit_safe (Transaction *transaction, GError **error);
/* transaction_write: its COMMIT alone, and where that fails nothing of it is found after a crash. */
gboolean transaction_write (Transaction *transaction, GError **error);
void transaction_clear (Transaction *transaction); /* rolls back what was not committed */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Transaction, transaction_clear)

/* --- audit.c --- */

/* audit_append: within a transaction; @details is (transfer full). */
gboolean audit_append (
    Ledger *ledger, const char *source, const char *event, JsonTree *details, GError **error);
/* audit_has: whether there is an entry of this event about @request. */
gboolean audit_has (
    Ledger *ledger, const char *request, const char *event, gboolean *out_has, GError **error);
gboolean
audit_head (Ledger *ledger, guint64 *out_seq, guint8 out_hash[PAE_DIGEST_SIZE], GError **error);
/* audit_read_row: seq, entry, hash; NULL with reason ledger for a row of another shape. */
AuditEntry *audit_read_row (sqlite3_stmt *query, GError **error);
void audit_add_uid (JsonTree *details, const char *name, uid_t uid);
void audit_add_number (JsonTree *details, const char *name, guint64 number);
void audit_add_digest (JsonTree *details, const char *name, const guint8 digest[PAE_DIGEST_SIZE]);
void audit_add_bytes (JsonTree *details, const char *name, GBytes *bytes); /* base64url */

/* --- passkeys.c, answers.c, limits.c --- */

/* passkey_of: who made @answer; NULL unless the passkey is still active and that person's. */
Passkey *passkey_of (Ledger *ledger, const Answer *answer, GError **error);
/* passkey_use: within a transaction: active, and the counter grows.  Where it does not, the passkey
 * is marked suspect, the transaction is committed, and the error is of reason counter. */
gboolean passkey_use (Transaction *transaction, const Answer *answer, GError **error);
#define ANSWER_COLUMNS                                                                             \
  "name, uid, credential, statement, nonce, issued, expires, client_data, auth_data, signature, "  \
  "counter"
#define ANSWER_N_COLUMNS 11
/* answer_read_row: of a query that selects ANSWER_COLUMNS first. */
Answer *answer_read_row (sqlite3_stmt *query,
                         const char *request,
                         const guint8 digest[PAE_DIGEST_SIZE]);
gboolean answer_insert (Transaction *transaction,
                        const Answer *answer,
                        const char *decision,
                        GError **error);
/* answer_mark_used: FALSE unless just this answer is stored and its passkey still active. */
gboolean answer_mark_used (Transaction *transaction, const Answer *answer, GError **error);
gboolean limits_record (Transaction *transaction, const Consumption *consumption, GError **error);

/* --- lock.c: who executes --- */

gboolean request_lock (Ledger *ledger, const char *request, GError **error);
void request_unlock (Ledger *ledger);
/* request_is_locked: TRUE on any doubt. */
gboolean request_is_locked (Ledger *ledger, const char *request);

G_END_DECLS
