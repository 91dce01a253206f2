/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who waits for which request.  When a caller gives up, its request is left only where no other
 * call of the process waits for it and its client never got the id.  What other processes want of
 * it the service knows, and decides by it whether the request is withdrawn.
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
 * this process wants: it is to be left if hold_may_leave(). */
gboolean hold_leave (Holds *holds, const char *path, HoldEnd end);

/* hold_deliver: the client knows the id; it is not left any more. */
void hold_deliver (Holds *holds, const char *path);

/* hold_may_leave: whether nobody of this process has come to want what was given up. */
gboolean hold_may_leave (Holds *holds, const char *path);

/* hold_since: seconds of the epoch: when this process met the request first; now, if it does. */
gint64 hold_since (Holds *holds, const char *path);

/* holds_size: of how many requests something is remembered. */
guint holds_size (const Holds *holds);

/*
 * hold_submit_begin, hold_submit_end: a call of @action is being submitted.  It may come to be any
 * request of that action, so that none may be left behind its back.
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
