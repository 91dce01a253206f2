/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the steps of undersignctl setup are made of: a question, a file, a program that runs as the
 * agent, a request that a person answers.  A file that is there is never changed.
 */
#include "service/ctl/setup.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/file.h"
#include "service/ctl/output.h"
#include "service/policy/policy.h"
#include "service/record/rows.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CATALOGUE_MAX (64 * 1024)
#define TRIES_MAX 100

static const JsonLimits answer_limits = { 64 * 1024, 8, 16 * 1024, 256 };

/* The next line of the terminal; an empty one is what there is to fall back on. */
static gboolean
read_answer (const char *question, const char *fallback, char **out_value, GError **error)
{
  g_autofree char *line = NULL;
  size_t size = 0;

  do
    {
      if (fallback != NULL)
        printf ("  %s [%s] ", question, fallback);
      else
        printf ("  %s ", question);
      fflush (stdout);
      if (getline (&line, &size, stdin) < 0)
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                             "there was no answer to: %s", question);
      g_strstrip (line);
    }
  while (line[0] == '\0' && fallback == NULL);
  *out_value = g_strdup (line[0] != '\0' ? line : fallback);
  return TRUE;
}

gboolean
setup_answer (Setup *setup,
              const SetupQuestion *question,
              char **value,
              const char *fallback,
              GError **error)
{
  const gboolean is_given = *value != NULL;

  for (;;)
    {
      g_autofree char *fault = NULL;

      if (*value == NULL && !read_answer (question->question, fallback, value, error))
        return FALSE;
      fault = question->fault != NULL ? question->fault (setup, *value) : NULL;
      if (fault == NULL)
        return TRUE;
      if (is_given)
        return ctl_bad_word (setup->ctl, error, "%s=%s: %s", question->option, *value, fault);
      output_field (*value, fault);
      g_clear_pointer (value, g_free);
    }
}

void
setup_done (const char *what, const char *path)
{
  printf ("  %s%s%s\n", what, path != NULL ? " " : "", path != NULL ? path : "");
  fflush (stdout);
}

/* Whether this run of setup has done anything yet but look. */
static gboolean has_changed;

void
setup_did (const char *what, const char *path)
{
  has_changed = TRUE;
  setup_done (what, path);
}

gboolean
setup_has_changed (void)
{
  return has_changed;
}

gboolean
setup_is_there (const char *path)
{
  if (access (path, F_OK) != 0)
    return FALSE;
  file_publish_tidy (path);
  setup_done ("there is", path);
  return TRUE;
}

gboolean
setup_write (const char *path, const char *text, const char *means, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autofree char *shown = means != NULL ? escape_line (means) : NULL;

  if (setup_is_there (path))
    return TRUE;
  if (!file_publish (path, text, &local))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "%s", local->message);
  setup_did ("wrote", path);
  if (shown != NULL)
    setup_done (shown, NULL);
  return TRUE;
}

char *
setup_form (const Setup *setup, const char *action, GError **error)
{
  g_autofree char *name = g_strconcat (action, ".action", NULL);
  g_autofree char *path =
      g_build_filename (setup->ctl->config->data_dir, "catalogue", name, NULL);
  g_autoptr (GBytes) bytes = file_read_trusted (AT_FDCWD, path, setup->ctl->config->policy_owner,
                                                CATALOGUE_MAX, error);

  return bytes != NULL ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)) : NULL;
}

typedef struct
{
  const struct passwd *user;
  pid_t parent;
} Becoming;

/* In the child: a session of its own, nobody's rights but those of the user, and no life but
 * setup's.  A change of users would take back that it ends with its parent. */
static void
become (gpointer data)
{
  const Becoming *becoming = data;
  const struct passwd *user = becoming->user;

  setsid ();
  if (user->pw_uid != geteuid () &&
      (initgroups (user->pw_name, user->pw_gid) != 0 ||
       setresgid (user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
       setresuid (user->pw_uid, user->pw_uid, user->pw_uid) != 0))
    _exit (127);
  if (prctl (PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid () != becoming->parent)
    _exit (127);
}

char *
setup_run_as (const Setup *setup,
              const char *user,
              const char *const *argv,
              char **out_errors,
              int *out_status,
              GError **error)
{
  const struct passwd *entry = getpwnam (user);
  Becoming becoming = { entry, getpid () };
  g_autofree char *home = NULL;
  g_autofree char *path = NULL;
  g_autoptr (GError) reason = NULL;
  g_auto (GStrv) environment = NULL;
  char *output = NULL;

  if (entry == NULL)
    {
      us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, "there is no user %s", user);
      return NULL;
    }
  home = g_strconcat ("HOME=", entry->pw_dir, NULL);
  path = g_strconcat ("PATH=", setup->ctl->config->bin_dir, ":/usr/sbin:/usr/bin:/sbin:/bin", NULL);
  environment = g_strdupv ((char **) (const char *const[]){ path, "LANG=C.UTF-8", home, NULL });
  if (!g_spawn_sync ("/", (char **) argv, environment, G_SPAWN_SEARCH_PATH_FROM_ENVP, become,
                     &becoming, &output, out_errors, out_status, &reason))
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "%s", reason->message);
      return NULL;
    }
  return output;
}

gboolean
setup_kind_counts (const char *kinds, const char *kind)
{
  g_auto (GStrv) words = kinds != NULL ? g_strsplit (kinds, " ", -1) : NULL;
  PasskeyKinds bit;

  if (!passkey_kind_parse (kind, &bit))
    return FALSE;
  return words != NULL ? g_strv_contains ((const char *const *) words, kind)
                       : (bit & PASSKEY_KINDS_DEFAULT) != 0;
}

/* What undersign-agent says as JSON: one member of it, "" where there is none.  (transfer full) */
static char *
member (const char *json, const char *name)
{
  g_autoptr (JsonTree) tree = json_tree_parse (json, strlen (json), &answer_limits, NULL);
  const char *value = json_tree_get_string (tree, name);

  return g_strdup (value != NULL ? value : "");
}

/* Of one that is not over: its outcome comes by itself, or by a person. */
static gboolean
is_open (const char *state)
{
  return strcmp (state, "pending") == 0 || strcmp (state, "approved") == 0 ||
         strcmp (state, "executing") == 0;
}

/* One request: its last state as JSON.  @out_waited: whether its end was waited for just now. */
static char *
ask_once (const Setup *setup,
          const char *key,
          const char *action,
          const char *const *words,
          gboolean *out_waited,
          GError **error)
{
  g_autofree char *option = g_strconcat ("--idempotency-key=", key, NULL);
  const char *const first[] = { "undersign-agent", "request", action, option, "--run=setup", "--json" };
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *said = NULL;
  g_autofree char *request = NULL;
  g_autofree char *state = NULL;
  int status = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (first); i++)
    g_ptr_array_add (argv, (gpointer) first[i]);
  for (gsize i = 0; words[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer) words[i]);
  g_ptr_array_add (argv, NULL);
  said = setup_run_as (setup, setup->user, (const char *const *) argv->pdata, NULL, &status, error);
  if (said == NULL)
    return NULL;
  request = member (said, "request");
  state = member (said, "state");
  *out_waited = is_open (state);
  if (!*out_waited)
    return g_steal_pointer (&said);
  if (!id_is_valid (request))
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_WRONG_STATE,
                    "%s: undersign-agent names no request", action);
      return NULL;
    }
  if (strcmp (state, "pending") == 0)
    printf ("  the agent %s asks for %s, and nothing has run yet.\n" SETUP_PERSON
            "      undersign approve %.8s\n  " SETUP_WAITING "\n",
            setup->agent, action, setup->approver, request);
  fflush (stdout);
  return setup_run_as (
      setup, setup->user,
      (const char *const[]){ "undersign-agent", "wait", request, "--json", NULL }, NULL, &status,
      error);
}

/* Of what undersign-agent says as JSON: why it was not even taken, or how it went.  (transfer full) */
static char *
explanation (const char *json)
{
  g_autoptr (JsonTree) tree = json_tree_parse (json, strlen (json), &answer_limits, NULL);
  const JsonTree *refused = json_tree_member (tree, "error");
  const char *reason = json_tree_get_string (refused, "reason");
  const char *message = json_tree_get_string (refused, "message");
  const char *result = json_tree_get_string (tree, "result");
  g_autofree char *text = message != NULL
                              ? g_strdup_printf ("%s: %s", reason != NULL ? reason : "", message)
                              : g_strdup (result != NULL ? result : "");

  return escape_line (text);
}

/* What became of it, or why it was not even taken. */
static gboolean
not_executed (const char *action, const char *state, const char *executed, const char *said, GError **error)
{
  g_autofree char *text = explanation (said);

  if (state[0] == '\0')
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_WRONG_STATE, "%s: %s", action,
                         text[0] != '\0' ? text : "undersign-agent says nothing of it");
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_WRONG_STATE, "%s: %s%s%s, %s", action, state,
                       text[0] != '\0' ? ": " : "", text,
                       strcmp (executed, "no") == 0
                           ? "nothing was executed; setup can be run again"
                           : "and whether it was executed is not known; see undersignctl status");
}

gboolean
setup_request (const Setup *setup,
               const char *key,
               const char *action,
               const char *const *words,
               GError **error)
{
  for (guint i = 1; i <= TRIES_MAX; i++)
    {
      g_autofree char *numbered = g_strdup_printf ("%s-%u", key, i);
      gboolean waited = FALSE;
      g_autofree char *said = ask_once (setup, numbered, action, words, &waited, error);
      g_autofree char *executed = NULL;
      g_autofree char *state = NULL;

      if (said == NULL)
        return FALSE;
      executed = member (said, "executed");
      state = member (said, "state");
      if (strcmp (executed, "yes") == 0)
        {
          if (waited)
            setup_did ("approved and executed:", action);
          else
            setup_done ("was executed before, and is not again:", action);
          return TRUE;
        }
      /* Refused at once, not known to have ended, or just answered: another try would not help, do
       * harm, or be a nuisance.  What ended in an earlier run of setup is asked for anew. */
      if (state[0] == '\0' || strcmp (executed, "no") != 0 || waited)
        return not_executed (action, state, executed, said, error);
      output_field (action, state);
    }
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_LIMIT, "%s was never executed", action);
}
