/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One request and its life: the states, the one table of which may follow which, and the one
 * function that moves a request.  What follows from a move is in follow.h; how a request is kept is
 * in queue.h.
 */
#pragma once

#include "service/broker/files.h"
#include "service/record/record.h"
#include "service/record/statement.h"

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define REQUEST_ATTEMPTS 5    /* wrong assertions */
#define REQUEST_STATEMENTS 4  /* that stay valid, of one person */

typedef enum
{
  REQUEST_NEW, /* not kept yet, and nobody has been told of it */
  REQUEST_PENDING,
  REQUEST_APPROVED, /* by persons, or by an allow rule: to be handed over */
  REQUEST_EXECUTING,
  REQUEST_DONE,
  REQUEST_FAILED,
  REQUEST_UNKNOWN,
  REQUEST_DENIED,
  REQUEST_EXPIRED,
  REQUEST_WITHDRAWN,
  REQUEST_SUPERSEDED,
  REQUEST_UNREACHABLE,
  REQUEST_REFUSED,
  REQUEST_STATE_N
} RequestState;

const char *request_state_name (RequestState state);
gboolean request_state_parse (const char *name, RequestState *out_state);
gboolean request_state_may_follow (RequestState from, RequestState to);
/* request_state_has_ended: nothing more is going to happen but what a person does. */
gboolean request_state_has_ended (RequestState state);
/* request_state_was_closed: ended before any hand-over, so that the ledger must hear of it. */
gboolean request_state_was_closed (RequestState state);
/* request_state_executed: "no", "yes" or "unknown". */
const char *request_state_executed (RequestState state);

typedef struct Request Request;

/* A connection that hears of the request's moves; freed with g_free(). */
typedef struct
{
  uid_t uid;
  char name[]; /* unique name */
} Watcher;

/* A statement that a person was given to sign; it is looked up by its bytes, never parsed. */
typedef struct
{
  uid_t uid;
  gboolean approves; /* its decision is "approve", not "deny" */
  GBytes *credential;
  GBytes *bytes;
  char *nonce, *issued, *expires;
} IssuedStatement;

void issued_statement_free (IssuedStatement *statement);

/* What a request needs of the daemon around it. */
typedef struct
{
  /* @with: (nullable): another one; both are kept or none */
  gboolean (*persist) (const Request *request,
                       const Request *with,
                       gpointer data,
                       GError **error);
  void (*moved) (Request *request, RequestState from, gpointer data);
  gpointer data;
} RequestHooks;

struct Request
{
  gatomicrefcount refs;
  const RequestHooks *hooks;

  /* kept */
  char *id;
  RequestState state;
  uid_t uid;
  char *key;              /* idempotency key, "" for none */
  char *key_digest;       /* of what was asked under it, "" for none */
  gboolean key_names_id;  /* the id follows from the key */
  gint64 created, ended;  /* wall time; 0: not ended */
  char *expires;          /* RFC 3339, for display */
  guint64 deadline;       /* CLOCK_BOOTTIME, microseconds */
  guint attempts;         /* wrong assertions so far */
  guint answers;          /* approvals that count */
  GArray *answered;       /* (element-type uid_t) */
  gboolean again;         /* prepared anew after a restart */
  gboolean close_is_due;  /* the ledger has not yet heard that it was closed */
  char *by;               /* who closed it, a user name; WIRE_QUERY_RESOLVED; or "" */
  char *reason;           /* of a denial or refusal, else "" */
  char *result;           /* of the module or of who resolved it, else "" */
  char *supersedes;       /* request id, "" for none */
  char *successor;        /* request id, "" for none */
  char *cause;            /* why the one that it supersedes was refused, "" for none */
  GVariant *prepared;     /* WIRE_PREPARED, as the executor gave it */
  GVariant *requirements; /* an array of WIRE_REQUIREMENT */

  /* derived */
  Record *record;
  guint needed; /* approvals in all */

  /* of this process alone */
  Files *files;          /* (nullable) once ended */
  gboolean is_ready;     /* FALSE while it is prepared anew */
  gboolean is_doubtful;  /* pending when read back, and not known yet what became of it */
  gboolean is_handed;    /* a hand-over is under way */
  guint retries;         /* without what was wanted so far, see life_retry() */
  GError *doubt;         /* what a hand-over was answered with that only the ledger can explain */
  guint verifying;       /* assertions that the executor is looking at */
  GPtrArray *statements; /* IssuedStatement, oldest first */
  char *maker;           /* (nullable): unique name of the connection whose Submit() made it */
  GPtrArray *holders;    /* (nullable): of holders.h; NULL: anybody of the agent's may have its path */
  GPtrArray *watchers;   /* Watcher */
  GPtrArray *waiting;    /* Call: to be answered when the hand-over is decided */
  GPtrArray *asking;     /* who waits until it is no longer doubtful, see hand-over.h */
  gpointer deadline_timer, retry_timer;
};

/*
 * request_new: in state new.
 * @id: 32 lower-case hex digits
 */
Request *request_new (const char *id, uid_t uid, const RequestHooks *hooks);
Request *request_ref (Request *request);
void request_unref (Request *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Request, request_unref)

/*
 * request_set_prepared: takes what prepare gave and derives record and needed from it.
 * @prepared: of type WIRE_PREPARED
 * @requirements: an array of WIRE_REQUIREMENT
 *
 * Returns: FALSE where the record is not readable, or is not this request's; nothing is changed.
 */
gboolean request_set_prepared (Request *request,
                               GVariant *prepared,
                               GVariant *requirements,
                               GError **error);

/* request_raw: WIRE_REQUEST, as the agent made it.  (transfer full) */
GVariant *request_raw (const Request *request);
char *request_path (const Request *request);
char *request_path_of (const char *id);
/* request_id_of: the id in an object path, or NULL.  It is a part of @path. */
const char *request_id_of (const char *path);

/* Why a request moves; what is NULL stays as it is. */
typedef struct
{
  const char *reason;
  const char *result;
  const char *by;
  const char *successor;
  gboolean in_ledger;   /* the executor has said so */
  Request *in_place_of; /* one that was refused: it leads here, and its key is this one's from now on */
} RequestChange;

/*
 * request_move: the only place where a state changes.  It looks into the table, persists, and only
 * then lets hooks->moved act.
 *
 * Returns: FALSE, nothing changed, where the state may not follow (US_ERROR_WRONG_STATE, reason
 *   wrong-state or too-late) or could not be kept.
 */
gboolean request_move (Request *request,
                       RequestState to,
                       const RequestChange *change,
                       GError **error);

/* request_persist: keeps a change that is not one of state. */
gboolean request_persist (Request *request, GError **error);

/* --- who may answer: request-answer.c --- */

/* request_approver: whether @uid may answer; its name as enrolled, (transfer full). */
gboolean request_approver (const Request *request, uid_t uid, char **out_name);
/* request_credentials: those of @uid that any requirement accepts, as an array of
 * WIRE_CREDENTIAL.  (transfer full) */
GVariant *request_credentials (const Request *request, uid_t uid);
/* request_credential: one of them; NULL where it is not his.  (transfer full) */
GVariant *request_credential (const Request *request, uid_t uid, GBytes *id);

gboolean request_has_answered (const Request *request, uid_t uid);

/* request_add_statement, request_find_statement: what was given out; the oldest of a person goes. */
void request_add_statement (Request *request, IssuedStatement *statement);
const IssuedStatement *
request_find_statement (const Request *request, uid_t uid, gboolean approves, GBytes *bytes);

G_END_DECLS
