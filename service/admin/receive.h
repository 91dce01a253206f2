/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A secret that a caller writes into a pipe, which nobody else waits for. */
#pragma once

#include "service/base/secret.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define RECEIVE_MAX 4 /* pipes at a time: their buffers are locked in memory */

/* Called once: @secret, borrowed, or NULL with @error, borrowed. */
typedef void (*ReceiveDone) (Secret *secret, const GError *error, gpointer data);

typedef struct
{
  int fd; /* borrowed until the end */
  GDBusConnection *bus;
  const char *sender; /* a unique name: without it nobody waits */
  gsize max;          /* bytes; more is too-large, and none bad-value */
  guint seconds;      /* in which it has to end */
} ReceivePipe;

/*
 * receive_begin: reads a pipe to its end.  Never calls @done before it returns.
 * Returns: FALSE with reason limit where too many are being read.
 */
gboolean receive_begin (const ReceivePipe *pipe, ReceiveDone done, gpointer data, GError **error);

/* receive_end_all: none of them comes to its end any more. */
void receive_end_all (void);

/* receive_check_size: FALSE with reason bad-value or too-large unless @len is 1 to @max. */
gboolean receive_check_size (gsize len, gsize max, GError **error);

G_END_DECLS
