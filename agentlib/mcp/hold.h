/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who waits for which request.  When a caller gives up, its request is withdrawn only where no
 * other call waits for it, in this process or another, it was this process that made it, and
 * nobody ever got its id.  This counts the calls of the process; the rest the service tells.
 */
#pragma once

#include "agentlib/lib/undersign.h"

G_BEGIN_DECLS

typedef struct Holds Holds;

typedef enum
{
  HOLD_ENDED,   /* the request has ended */
  HOLD_PENDING, /* it goes on, and its id is given to the client */
  HOLD_GAVE_UP, /* the caller was cancelled, or is gone */
} HoldEnd;

Holds *holds_new (void);
void holds_free (Holds *holds);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Holds, holds_free)

/* hold_join: a call waits for the request at @path. */
void hold_join (Holds *holds, const char *path);

/* hold_leave: ends what hold_join() began.  Returns: whether the caller gave up what nobody else of
 * this process wants: it is to be withdrawn if hold_may_withdraw(). */
gboolean hold_leave (Holds *holds, const char *path, HoldEnd end);

/* hold_deliver: the client knows the id; it is not withdrawn but by name. */
void hold_deliver (Holds *holds, const char *path);

/*
 * hold_may_withdraw: whether a request that was given up still is nobody's.
 * @status: (nullable): what the service says of it now; NULL where that is not known
 */
gboolean hold_may_withdraw (Holds *holds, const char *path, const UsStatus *status);

/* hold_since: seconds of the epoch: when this process met the request first; now, if it does. */
gint64 hold_since (Holds *holds, const char *path);

/* holds_size: of how many requests something is remembered. */
guint holds_size (const Holds *holds);

/*
 * hold_submit_begin, hold_submit_end: a call of @action is being submitted.  It may come to be any
 * request of that action, so that none may be withdrawn behind its back.
 */
void hold_submit_begin (Holds *holds, const char *action);
void hold_submit_end (Holds *holds, const char *action);

/* hold_when_submitted: calls back once no call of @action is being submitted: at once where none is,
 * and after holds_close(). */
void
hold_when_submitted (Holds *holds, const char *action, void (*back) (gpointer data), gpointer data);

/* holds_close: the process ends, and nobody stays who could want anything. */
void holds_close (Holds *holds);

G_END_DECLS
