/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who waits for which request.  When a caller gives up, its request is withdrawn only where no
 * other call waits for it, it was this process that made it, and nobody ever got its id.  This
 * counts the calls of the process; of others, the service tells.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint waiters;
  gint64 since;       /* seconds of the epoch: when this process met it first */
  gboolean ours;      /* made by a call of this process */
  gboolean delivered; /* its id was given to the client */
} Hold;

typedef enum
{
  HOLD_ENDED,   /* the request has ended */
  HOLD_PENDING, /* it goes on, and its id is given to the client */
  HOLD_GAVE_UP, /* the caller was cancelled, or is gone */
} HoldEnd;

/* The table maps a request's path to its Hold; both are owned. */
void hold_join (GHashTable *holds, const char *path, gboolean ours);

/* hold_leave: ends what hold_join() began.  Returns: whether the request is to be withdrawn. */
gboolean hold_leave (GHashTable *holds, const char *path, HoldEnd end);

/* hold_deliver: the client knows the id; while it is waited for, it is not withdrawn but by name.
 */
void hold_deliver (GHashTable *holds, const char *path);

G_END_DECLS
