/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes what a new agent needs and prints each file.  The files are held against the whole of policy,
 * as if they and the user existed, before anything is made.  Policy on the disk is valid at each
 * moment, whoever is killed when: the user comes before the agent, the agent before its rule, and each
 * file is there whole or not at all.  Run again, it goes on from there.  What fails undoes what it made
 * itself; what is there is never changed.
 */
#include "service/ctl/agent-add.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/file.h"
#include "service/ctl/new-agent.h"
#include "service/ctl/output.h"
#include "service/policy/name.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *owner = NULL;
static char **actions = NULL;

const GOptionEntry agent_add_options[] = {
  { "owner", 0, 0, G_OPTION_ARG_STRING, &owner, "The user whom the agent acts for", "USER" },
  { "action", 0, 0, G_OPTION_ARG_STRING_ARRAY, &actions,
    "What its first rule lets it ask for [all actions there are]; can be given several times",
    "ACTION" },
  G_OPTION_ENTRY_NULL,
};

typedef struct
{
  char *path, *text;
  gboolean is_there; /* from a run that was interrupted */
  gboolean is_made;  /* by this one */
} NewFile;

/* In the order in which they are made. */
enum
{
  FILE_USER,
  FILE_AGENT,
  FILE_RULE,
  FILE_N,
};

typedef struct
{
  const Ctl *ctl;
  const char *name;
  char *user;
  gboolean user_is_there, user_is_made;
  NewFile files[FILE_N];
} NewAgent;

static void
new_agent_clear (NewAgent *agent)
{
  for (guint i = 0; i < FILE_N; i++)
    {
      g_free (agent->files[i].path);
      g_free (agent->files[i].text);
    }
  g_free (agent->user);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NewAgent, new_agent_clear)

/* --- what is given --- */

static gboolean
check_words (Ctl *ctl, const char *name, GError **error)
{
  const char *fault = new_agent_name_fault (name);
  uid_t uid = 0;

  if (fault != NULL)
    return ctl_bad_word (ctl, error, "\"%s\": %s", name, fault);
  if (owner == NULL)
    return ctl_bad_word (ctl, error, "--owner says whom the agent acts for");
  if (!name_is_user (owner) || !policy_names_system.user_by_name (owner, &uid))
    return ctl_bad_word (ctl, error, "there is no user \"%s\"", owner);
  for (guint i = 0; actions != NULL && actions[i] != NULL; i++)
    if (!name_is_action_id (actions[i]))
      return ctl_bad_word (ctl, error, "\"%s\" is no name of an action", actions[i]);
  return TRUE;
}

static void
list_actions (const char *top, GPtrArray *found)
{
  g_autofree char *folder = g_build_filename (top, "actions", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name = NULL;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *id = g_strdup (name);

      if (!g_str_has_suffix (id, ".action"))
        continue;
      id[strlen (id) - strlen (".action")] = '\0';
      if (name_is_action_id (id) &&
          !g_ptr_array_find_with_equal_func (found, id, g_str_equal, NULL))
        g_ptr_array_add (found, g_steal_pointer (&id));
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* As the rule has them: those that are given, or all there are. */
static char *
action_words (const CtlConfig *config, GError **error)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);

  if (actions != NULL)
    return g_strjoinv (" ", actions);
  list_actions (config->data_dir, found);
  list_actions (config->config_dir, found);
  if (found->len == 0)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_NOT_FOUND,
                    "there is no action that a first rule could name; make one first");
      return NULL;
    }
  g_ptr_array_sort (found, compare_names);
  g_ptr_array_add (found, NULL);
  return g_strjoinv (" ", (char **) found->pdata);
}

/* --- the files --- */

static void
file_set (NewFile *file, char *path, char *text)
{
  file->path = path;
  file->text = text;
}

static gboolean
plan (NewAgent *agent, GError **error)
{
  const CtlConfig *config = agent->ctl->config;
  const char *name = agent->name;
  g_autofree char *words = action_words (config, error);

  if (words == NULL)
    return FALSE;
  file_set (&agent->files[FILE_AGENT],
            g_strdup_printf ("%s/agents/%s.agent", config->config_dir, name),
            new_agent_file (name, agent->user, owner));
  /* The owner alone approves: whoever is asked first is the one who is there. */
  file_set (&agent->files[FILE_RULE],
            g_strdup_printf ("%s/rules/%s.rule", config->config_dir, name),
            new_agent_rule (name, words, owner, owner, NEW_AGENT_PASSKEYS));
  file_set (&agent->files[FILE_USER],
            new_agent_sysusers_path (config, name),
            new_agent_sysusers (name, agent->user, owner));
  return TRUE;
}

/* --- what exists --- */

static gboolean
user_exists (const NewAgent *agent)
{
  uid_t uid = 0;

  return policy_names_system.user_by_name (agent->user, &uid);
}

/* A file is either not there or, from a run that was interrupted, just what it is to be. */
static gboolean
look_at_file (const NewAgent *agent, NewFile *file, GError **error)
{
  gsize size = strlen (file->text);
  g_autoptr (GError) local = NULL;
  g_autoptr (GBytes) found = file_read_trusted (
      AT_FDCWD, file->path, agent->ctl->config->policy_owner, size, &local);

  if (found == NULL && g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return TRUE;
  file->is_there = found != NULL && g_bytes_get_size (found) == size &&
                   memcmp (g_bytes_get_data (found, NULL), file->text, size) == 0;
  return file->is_there || us_error_set (error, US_ERROR_REFUSED, US_REASON_WRONG_STATE,
                                         "%s exists, and is not what would be written", file->path);
}

static gboolean
look (NewAgent *agent, GError **error)
{
  for (guint i = 0; i < FILE_N; i++)
    if (!look_at_file (agent, &agent->files[i], error))
      return FALSE;
  agent->user_is_there = user_exists (agent);
  if (agent->user_is_there && !agent->files[FILE_USER].is_there)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_WRONG_STATE,
                         "there is a user %s already", agent->user);
  return TRUE;
}

/* What is on the disk with the new files, whether or not they are there yet. */
static gboolean
check_policy (const NewAgent *agent, GError **error)
{
  const PolicyPlanned planned[] = { { "agents", agent->name, agent->files[FILE_AGENT].text },
                                    { "rules", agent->name, agent->files[FILE_RULE].text },
                                    { NULL, NULL, NULL } };
  g_autoptr (Policy) policy = new_agent_policy (agent->ctl->config, agent->user, planned, error);

  return policy != NULL;
}

/* --- the making, and its undoing --- */

static gboolean
run_tool (const char *tool, const char *argument, GError **error)
{
  const char *const argv[] = { tool, argument, NULL };
  pid_t pid = 0;
  int status = -1;

  if (posix_spawn (&pid, tool, NULL, NULL, (char *const *) argv, environ) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot execute %s", tool);
  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status == 0 || us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "%s %s failed",
                                      tool, argument);
}

static gboolean
make_user (NewAgent *agent, GError **error)
{
  const char *tool = agent->ctl->config->sysusers;
  gboolean done = FALSE;

  if (agent->user_is_there)
    return TRUE;
  done = run_tool (tool, agent->files[FILE_USER].path, error);
  agent->user_is_made = user_exists (agent); /* one that fails may have made it none the less */
  if (done && !agent->user_is_made)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "%s did not make the user %s",
                         tool, agent->user);
  return done;
}

static gboolean
make_file (NewFile *file, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (file->is_there)
    {
      file_publish_tidy (file->path);
      return TRUE;
    }
  file->is_made = file_publish (file->path, file->text, &local);
  return file->is_made ||
         us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "%s", local->message);
}

static gboolean
make_all (NewAgent *agent, GError **error)
{
  return check_policy (agent, error) && make_file (&agent->files[FILE_USER], error) &&
         make_user (agent, error) && check_policy (agent, error) &&
         make_file (&agent->files[FILE_AGENT], error) &&
         make_file (&agent->files[FILE_RULE], error);
}

static gboolean
undo_file (NewFile *file, GError **error)
{
  g_autofree char *stays = NULL;

  if (!file->is_made || unlink (file->path) == 0 || errno == ENOENT)
    return TRUE;
  stays = g_strdup_printf ("%s stays", file->path);
  us_error_about (error, stays);
  return FALSE;
}

/* Backwards: policy stays valid here, too, so that what cannot be undone keeps what it needs.  A user
 * that stays, one that runs something already, say, keeps the file that says where it comes from, so
 * that another run can go on. */
static void
undo (NewAgent *agent, GError **error)
{
  if (!undo_file (&agent->files[FILE_RULE], error) || !undo_file (&agent->files[FILE_AGENT], error))
    return;
  if (agent->user_is_made && !run_tool (agent->ctl->config->userdel, agent->user, NULL) &&
      user_exists (agent))
    {
      g_autofree char *stays = g_strdup_printf ("the user %s stays", agent->user);

      us_error_about (error, stays);
      return;
    }
  undo_file (&agent->files[FILE_USER], error);
}

/* --- all of it --- */

static void
print_all (const NewAgent *agent)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *list = json_tree_add (tree, "files", json_tree_new_array ());

  json_tree_add_string (tree, "user", agent->user);
  for (guint i = 0; i < FILE_N; i++)
    json_tree_append_string (list, agent->files[i].path);
  if (agent->ctl->json)
    {
      output_json (tree);
      return;
    }
  for (guint i = 0; i < FILE_N; i++)
    printf ("%s%s:\n%s", i > 0 ? "\n" : "", agent->files[i].path, agent->files[i].text);
  printf ("\nThe user %s is there.  Next: undersignctl policy reload\n", agent->user);
}

gboolean
agent_add (Ctl *ctl, char **arguments, GError **error)
{
  g_auto (NewAgent) agent = { .ctl = ctl, .name = arguments[0] };

  if (!check_words (ctl, agent.name, error))
    return FALSE;
  agent.user = new_agent_user (agent.name);
  if (geteuid () != ctl->config->policy_owner)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                         "only root writes policy and makes users");
  umask (022);
  if (!plan (&agent, error) || !look (&agent, error))
    return FALSE;
  if (!make_all (&agent, error))
    {
      undo (&agent, error);
      return FALSE;
    }
  print_all (&agent);
  return TRUE;
}
