/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What undersignctl setup asks about policy, before it writes any of it.  Each answer is judged where it
 * stands in the file that would hold it.  A file that is there has the last word: nothing that differs
 * from it is taken.
 */
#include "service/ctl/setup-policy.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/ctl/new-agent.h"
#include "service/policy/constraint.h"
#include "service/policy/name.h"

#include <string.h>
#include <unistd.h>

/* --- the questions --- */

/* Of an agent that setup began to make there is the file for systemd-sysusers. */
static gboolean
is_others_user (const Setup *setup, const char *name)
{
  g_autofree char *path = new_agent_sysusers_path (setup->ctl->config, name);
  uid_t uid = 0;

  return policy_names_system.user_by_name (setup->user, &uid) && access (path, F_OK) != 0;
}

static char *
agent_fault (Setup *setup, const char *name)
{
  g_autofree char *fault = g_strdup (new_agent_name_fault (name));
  SetupPlanned *file = &setup->files[SETUP_AGENT];

  if (fault != NULL)
    return g_steal_pointer (&fault);
  g_free (setup->user);
  setup->user = new_agent_user (name);
  g_free (file->path);
  file->path = setup_policy_path (setup, SETUP_AGENT);
  if (access (file->path, F_OK) == 0)
    return NULL;
  setup_policy_set (setup, SETUP_AGENT, new_agent_file (name, setup->user, SETUP_UNKNOWN));
  fault = setup_policy_fault (setup, SETUP_AGENT, "User", setup->user);
  if (fault == NULL && is_others_user (setup, name))
    return g_strdup_printf ("there is a user %s already, and no agent of that name", setup->user);
  return g_steal_pointer (&fault);
}

static char *
differs (const Setup *setup, SetupFile file, const char *key)
{
  const char *found = setup_policy_found (setup, file, key);

  return g_strdup_printf ("%s has %s%s=%s, and setup changes no file that is there: edit it first",
                          setup->files[file].path, found != NULL ? "" : "no ", key,
                          found != NULL ? found : "");
}

static char *
answer_fault (Setup *setup, SetupFile file, const char *key, const char *answer)
{
  if (setup->files[file].found != NULL)
    return g_strcmp0 (setup_policy_found (setup, file, key), answer) == 0 ? NULL
                                                                          : differs (setup, file, key);
  setup_policy_compose (setup);
  return setup_policy_fault (setup, file, key, answer);
}

static char *
owner_fault (Setup *setup, const char *answer)
{
  return answer_fault (setup, SETUP_AGENT, "Owner", answer);
}

static char *
server_fault (Setup *setup, const char *answer)
{
  return answer_fault (setup, SETUP_MAIL, "Server", answer);
}

static char *
from_fault (Setup *setup, const char *answer)
{
  return answer_fault (setup, SETUP_MAIL, "From", answer);
}

static char *
passkeys_fault (Setup *setup, const char *answer)
{
  return answer_fault (setup, SETUP_RULE, "Passkeys", answer);
}

/* Whether a rule that is there has @name among those whom it asks; whom a fact names is known with a
 * request alone. */
static gboolean
is_approver (const Setup *setup, const char *name)
{
  const char *found = setup_policy_found (setup, SETUP_RULE, "Approvers");
  g_auto (GStrv) words = g_strsplit (found != NULL ? found : "", " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp (words[i], name) == 0 || g_str_has_prefix (words[i], "fact:") ||
        (words[i][0] == '@' && policy_names_system.user_in_group (name, words[i] + 1)))
      return TRUE;
  return FALSE;
}

/* A rule may name who is not there yet, and several; here it is one person, who is waited for. */
static char *
approver_fault (Setup *setup, const char *answer)
{
  uid_t uid = 0;

  if (!name_is_user (answer) || !policy_names_system.user_by_name (answer, &uid))
    return g_strdup ("there is no such user");
  if (setup->files[SETUP_RULE].found == NULL)
    return answer_fault (setup, SETUP_RULE, "Approvers", answer);
  return is_approver (setup, answer) ? NULL : differs (setup, SETUP_RULE, "Approvers");
}

/* As the service will judge the first mail's. */
static char *
to_fault (Setup *setup, const char *answer)
{
  const PolicyAction *action = policy_action (setup->policy, "mail.send");
  g_autoptr (GError) local = NULL;

  for (guint i = 0; action != NULL && i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);
      const gboolean is_list = type_is_list (argument->type);
      g_autoptr (GVariant) value = NULL;
      g_autoptr (JsonTree) tree = NULL;

      if (strcmp (argument->name, "to") != 0)
        continue;
      value = is_list ? g_variant_new_strv (&answer, 1) : g_variant_new_string (answer);
      g_variant_ref_sink (value);
      tree = type_from_variant (argument->type, "to", value, NULL, 0, NULL, &local);
      if (tree == NULL || !constraint_check (argument, tree, &local))
        return g_strdup (error_text (local));
    }
  return NULL;
}

/* Of a program's "PROGRAM: REASON: MESSAGE" the message, without the lines that follow. */
static char *
said_of_it (const char *errors)
{
  g_auto (GStrv) words = g_strsplit (errors, ": ", 3);
  const char *message = g_strv_length (words) == 3 ? words[2] : errors;

  return g_strndup (message, strcspn (message, "\n"));
}

static char *
client_fault (Setup *setup, const char *answer)
{
  g_autofree char *option = g_strconcat ("--print-config=", answer, NULL);
  const char *const argv[] = { "undersign-mcp", option, NULL };
  g_autoptr (GError) local = NULL;
  g_autofree char *errors = NULL;
  int status = 0;
  g_autofree char *said = setup_run_as (setup, "nobody", argv, &errors, &status, &local);

  if (said == NULL)
    return g_strdup (error_text (local));
  return status != 0 ? said_of_it (errors) : NULL;
}

static const char *
caller (const Setup *setup)
{
  return g_getenv ("SUDO_USER");
}

/* In a rule that is there, of several or of a group, none is likelier than another. */
static const char *
owner (const Setup *setup)
{
  return setup->files[SETUP_RULE].found == NULL ? setup->owner : NULL;
}

static const char *
any_but_software (const Setup *setup)
{
  return NEW_AGENT_PASSKEYS;
}

/* In the order in which they are asked: an answer is judged beside those before it. */
static const struct
{
  SetupQuestion question;
  const char *(*fallback) (const Setup *setup);
  gsize value; /* in Setup */
  SetupFile file;
  const char *key;
} questions[] = {
  { { "--owner", "Which user does it act for?", owner_fault },
    caller, offsetof (Setup, owner), SETUP_AGENT, "Owner" },
  { { "--server", "Which mail server? (HOST:PORT, mostly port 587)", server_fault },
    NULL, offsetof (Setup, server), SETUP_MAIL, "Server" },
  { { "--from", "Which address are its mails from?", from_fault },
    NULL, offsetof (Setup, from), SETUP_MAIL, "From" },
  { { "--approver", "Which user approves?", approver_fault },
    owner, offsetof (Setup, approver), SETUP_RULE, "Approvers" },
  { { "--passkeys",
      "Which passkeys count? hardware (security keys whose makers undersign-admin(8) trusts),\n"
      "  unattested (any security key), synced, phone; or software, for a trial",
      passkeys_fault },
    any_but_software, offsetof (Setup, passkeys), SETUP_RULE, "Passkeys" },
};

gboolean
setup_ask_client (Setup *setup, GError **error)
{
  static const SetupQuestion question = {
    "--client", "Which client of MCP does it use? (undersign-mcp(1) names them)", client_fault
  };

  return setup_answer (setup, &question, &setup->client, "claude", error);
}

gboolean
setup_ask_to (Setup *setup, GError **error)
{
  static const SetupQuestion question = { "--to", "Who gets the first mail?", to_fault };

  return setup_answer (setup, &question, &setup->to, NULL, error);
}

static gboolean
ask_agent (Setup *setup, GError **error)
{
  static const SetupQuestion question = { "--agent", "What is the agent called?", agent_fault };
  const char *found = NULL;

  if (!setup_answer (setup, &question, &setup->agent, "assistant", error))
    return FALSE;
  for (guint i = 0; i < SETUP_FILE_N; i++)
    if (!setup_policy_look (setup, (SetupFile) i, error))
      return FALSE;
  if (setup->files[SETUP_AGENT].found == NULL)
    return TRUE;
  found = setup_policy_found (setup, SETUP_AGENT, "User");
  if (found != NULL)
    {
      g_free (setup->user);
      setup->user = g_strdup (found);
    }
  if (found != NULL && setup_policy_found (setup, SETUP_AGENT, "Owner") != NULL)
    return TRUE;
  if (!setup_policy_check (setup, error))
    return FALSE;
  us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID, "%s: it has no User= and Owner=",
                setup->files[SETUP_AGENT].path);
  return setup_policy_refused (setup, error);
}

/* What is there and wrong, or asks nobody, no answer makes right. */
static gboolean
check_found (Setup *setup, GError **error)
{
  setup_policy_compose (setup);
  if (!setup_policy_check_found (setup, error))
    return FALSE;
  if (setup->files[SETUP_RULE].found == NULL ||
      setup_policy_found (setup, SETUP_RULE, "Approvers") != NULL)
    return TRUE;
  us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_APPROVER,
                "%s: its first rule has no Approvers=, and setup leads to an approval",
                setup->files[SETUP_RULE].path);
  return setup_policy_refused (setup, error);
}

/* What is given or there comes before what is asked, so that nobody answers in vain. */
static gboolean
take_given (Setup *setup, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++)
    {
      char **value = G_STRUCT_MEMBER_P (setup, questions[i].value);
      const gboolean is_there = setup->files[questions[i].file].found != NULL;
      const char *found = is_there ? setup_policy_found (setup, questions[i].file, questions[i].key) : NULL;
      g_autofree char *fault = found != NULL ? questions[i].question.fault (setup, found) : NULL;

      if (*value == NULL && fault == NULL)
        *value = g_strdup (found);
      if (*value != NULL && !setup_answer (setup, &questions[i].question, value, NULL, error))
        return FALSE;
    }
  return TRUE;
}

/* Of a file that is there nothing is asked, but that of several approvers one has to be waited for. */
static gboolean
ask_others (Setup *setup, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++)
    {
      char **value = G_STRUCT_MEMBER_P (setup, questions[i].value);
      const char *fallback = questions[i].fallback != NULL ? questions[i].fallback (setup) : NULL;

      if (*value == NULL &&
          (setup->files[questions[i].file].found == NULL || value == &setup->approver) &&
          !setup_answer (setup, &questions[i].question, value, fallback, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
setup_plan (Setup *setup, GError **error)
{
  if ((setup->client != NULL && !setup_ask_client (setup, error)) || !ask_agent (setup, error) ||
      !check_found (setup, error) || !take_given (setup, error) || !ask_others (setup, error))
    return FALSE;
  setup_policy_compose (setup);
  return setup_policy_check (setup, error) && (setup->to == NULL || setup_ask_to (setup, error));
}

void
setup_plan_clear (Setup *setup)
{
  for (guint i = 0; i < SETUP_FILE_N; i++)
    {
      g_free (setup->files[i].path);
      g_free (setup->files[i].form);
      g_free (setup->files[i].text);
      key_file_free (setup->files[i].found);
    }
  policy_free (setup->policy);
}
