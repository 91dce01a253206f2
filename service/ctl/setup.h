/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl setup: what its parts share.  The answers of the administrator, what is written where,
 * and what is run as the agent.
 */
#pragma once

#include "service/ctl/ctl.h"

G_BEGIN_DECLS

/* What is for the person to do, who is not at this terminal; the first has their name. */
#define SETUP_PERSON "  Now %s, logged in as themselves in another terminal, types:\n"
#define SETUP_WAITING "Waiting for it; Ctrl+C stops, and setup can be run again."

typedef struct
{
  Ctl *ctl;
  char *agent;            /* its name in policy */
  char *user;             /* User= of its file */
  char *home;             /* of that user */
  char *owner, *approver; /* persons */
  char *passkeys;         /* kinds that the first rules accept */
  char *client; /* of MCP */
  char *server, *from, *to;
} Setup;

/*
 * setup_answer: asks for what is not known yet.
 * @value: where it goes; left alone where the command line gave it
 * @fallback: (nullable): for an empty line; without one the question comes again
 * @good: (nullable): what is wrong with an answer, or NULL
 *
 * Returns: FALSE where the input ends.
 */
gboolean setup_answer (char **value,
                       const char *question,
                       const char *fallback,
                       const char *(*good) (const char *answer),
                       GError **error);

/* setup_done, setup_did: one line each of what a step found, or changed.  @path: (nullable) */
void setup_done (const char *what, const char *path);
void setup_did (const char *what, const char *path);

/* setup_has_changed: whether anything was. */
gboolean setup_has_changed (void);

/* setup_is_there: says so; and what a run that was killed left beside the file goes. */
gboolean setup_is_there (const char *path);

/*
 * setup_write: a file of root's that others may read, unless there is one: that is never changed.
 * @out_wrote: (out): whether it was written
 */
gboolean setup_write (const char *path, const char *text, gboolean *out_wrote, GError **error);

/*
 * setup_fill: a file of the catalogue with each @NAME@ of it replaced.
 * @pairs: names and values in turn, NULL at the end
 * Returns: (transfer full): its text
 */
char *setup_fill (const Setup *setup, const char *name, const char *const *pairs, GError **error);

/*
 * setup_run_as: runs a program as @user, with nothing of root's environment, and no terminal.
 * Returns: (transfer full): what it printed, whatever its status; NULL where it could not be run.
 */
char *setup_run_as (const Setup *setup,
                    const char *user,
                    const char *const *argv,
                    int *out_status,
                    GError **error);

/*
 * setup_kind_counts: whether a rule counts a passkey of @kind.  One of no kind that is known never
 * counts.
 * @kinds: (nullable): the rule's Passkeys=; NULL where it has none
 */
gboolean setup_kind_counts (const char *kinds, const char *kind);

/*
 * setup_request: has the agent ask for @action, and waits until a person has answered.
 * @key: the same gives the same request, so that what ran once is not run again
 * @words: its arguments
 * Returns: TRUE once it was executed; FALSE where it was not.  What ended without that in an earlier
 *   run is asked for anew.
 */
gboolean setup_request (const Setup *setup,
                        const char *key,
                        const char *action,
                        const char *const *words,
                        GError **error);

G_END_DECLS
