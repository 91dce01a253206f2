/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl setup: what its parts share.  The answers of the administrator, what is written where,
 * and what is run as the agent.
 */
#pragma once

#include "service/ctl/ctl.h"
#include "service/policy/keyfile.h"
#include "service/policy/policy.h"

G_BEGIN_DECLS

/* What is for the person to do, who is not at this terminal; the first has their name. */
#define SETUP_PERSON "  Now %s, logged in as themselves in another terminal, types:\n"
#define SETUP_WAITING "Waiting for it; Ctrl+C stops, and setup can be run again."

#define SETUP_CREDENTIAL "mail"

/* The files of policy that it makes. */
typedef enum
{
  SETUP_AGENT,
  SETUP_REHEARSE,
  SETUP_MAIL,
  SETUP_RULE,
  SETUP_FILE_N,
} SetupFile;

typedef struct
{
  char *path;
  KeyFile *found; /* where it is there: what it has; else NULL, and */
  char *form;     /* (nullable): the file of the catalogue that it is made of */
  char *text;     /* what it is to be */
} SetupPlanned;

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
  SetupPlanned files[SETUP_FILE_N];
  Policy *policy; /* with what is planned, once it was found valid */
} Setup;

typedef struct
{
  const char *option;   /* (nullable): which gives the answer, too */
  const char *question;
  /* (nullable): (transfer full): what is wrong with an answer, which @value holds, or NULL */
  char *(*fault) (Setup *setup, const char *answer);
} SetupQuestion;

/*
 * setup_answer: asks for what is not known yet, until the answer is right.
 * @value: where it goes, in @setup; what is there is judged and, where it is wrong, an error
 * @fallback: (nullable): for an empty line; without one the question comes again
 *
 * Returns: FALSE where the input ends.
 */
gboolean setup_answer (Setup *setup,
                       const SetupQuestion *question,
                       char **value,
                       const char *fallback,
                       GError **error);

/*
 * setup_plan: finds what there is of an agent, asks for the rest of what policy needs, and makes the text
 * of each file that is not there.  It writes nothing.
 * Returns: FALSE unless policy would be valid with them.
 */
gboolean setup_plan (Setup *setup, GError **error);
void setup_plan_clear (Setup *setup);

/* setup_policy_check: reads policy as it is, with what is planned. */
gboolean setup_policy_check (Setup *setup, GError **error);

/* setup_policy_refused: adds to an error, which names files, what is to be done.  Returns: FALSE */
gboolean setup_policy_refused (const Setup *setup, GError **error);

/* setup_ask_client, setup_ask_to: what no file of policy has. */
gboolean setup_ask_client (Setup *setup, GError **error);
gboolean setup_ask_to (Setup *setup, GError **error);

/* setup_done, setup_did: one line each of what a step found, or changed.  @path: (nullable) */
void setup_done (const char *what, const char *path);
void setup_did (const char *what, const char *path);

/* setup_has_changed: whether anything was. */
gboolean setup_has_changed (void);

/* setup_is_there: says so; and what a run that was killed left beside the file goes. */
gboolean setup_is_there (const char *path);

/*
 * setup_write: a file of root's that others may read, unless there is one: that is never changed.
 * @means: (nullable): what follows from it, printed where it was written
 */
gboolean setup_write (const char *path, const char *text, const char *means, GError **error);

/* setup_form: (transfer full): the text of an action's file in the catalogue. */
char *setup_form (const Setup *setup, const char *action, GError **error);

/*
 * setup_run_as: runs a program as @user, with nothing of root's environment, and no terminal.
 * @out_errors: (nullable): (transfer full): what it printed as errors, which are printed otherwise
 * Returns: (transfer full): what it printed, whatever its status; NULL where it could not be run.
 */
char *setup_run_as (const Setup *setup,
                    const char *user,
                    const char *const *argv,
                    char **out_errors,
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
