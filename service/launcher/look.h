/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look at files in a process of its own: a file system whose server is gone may never answer, and
 * whoever waits for it must not keep the others waiting.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Look Look;

/* In the child: 0 to 255 for what there is to be said, or -1 with a US_ERROR. */
typedef int (*LookQuestion) (gpointer data, GError **error);

/* Called once, unless the look is cancelled: @answer is of the question, or -1 with @error,
 * borrowed. */
typedef void (*LookDone) (int answer, const GError *error, gpointer data);

/*
 * look_begin: has @question asked of a copy of @data, which is not freed there.
 * @seconds: after which the child is killed, and it is unreachable
 * Never calls @done before it returns.
 * Returns: borrowed, until @done is called; NULL with an error where there is no child.
 */
Look *look_begin (LookQuestion question,
                  gpointer data,
                  guint seconds,
                  LookDone done,
                  gpointer done_data,
                  GError **error);

/* look_cancel: @done is not called. */
void look_cancel (Look *look);

G_END_DECLS
