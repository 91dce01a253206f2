/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look at files or accounts in a process of its own: a file system or a directory whose server is
 * gone may never answer, and whoever waits for it must not keep the others waiting.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct Look Look;

#define LOOK_FDS_MAX 8
#define LOOK_LEFT_MAX 4 /* children for one uid that were given up and do not end */
#define LOOK_TIMES 6    /* as long as it may take without a word, all in all */

typedef struct
{
  /* In the child: 0 to 255 for what there is to be said, or -1 with a US_ERROR. */
  int (*ask) (gpointer data, GError **error);
  gpointer data;  /* a copy of it, which is not freed there */
  const int *fds; /* all that the child keeps besides standard input, output and error */
  guint n_fds;
  uid_t uid;     /* whom it is for */
  guint seconds; /* without a word after which it is killed, and what it looks at unreachable */
} LookQuestion;

/* Called once, unless the look is cancelled: @answer is of the question, or -1 with @error,
 * borrowed. */
typedef void (*LookDone) (int answer, const GError *error, gpointer data);

/*
 * look_begin: has @question asked in a child.
 * Never calls @done before it returns.
 * Returns: borrowed, until @done is called; NULL with an error where there is no child, or the
 * uid has left too many behind.
 */
Look *look_begin (const LookQuestion *question, LookDone done, gpointer data, GError **error);

/* look_goes_on: for the child, in what may be long: it is not stuck.  Says so once a second; does
 * nothing elsewhere. */
void look_goes_on (void);

/* look_cancel: @done is not called. */
void look_cancel (Look *look);

G_END_DECLS
