/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl setup: from an installed service to the first approved action.  What it asks about policy
 * is judged before any of it is written.  Each step says what it found or the file that it wrote, and
 * changes nothing that is there, so that it can be run again after whatever went wrong.  It makes no
 * passkey and approves nothing: a person does, in a session of theirs.
 */
#include "service/ctl/setup.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/ctl/bus.h"
#include "service/ctl/credential.h"
#include "service/ctl/new-agent.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREDENTIAL_DIR "/etc/credstore.encrypted"
#define DROP_IN                                                                                    \
  "/etc/systemd/system/undersign-runner@mail.service.d/undersign-credential-" SETUP_CREDENTIAL ".conf"
#define POLL_SECONDS 1

static Setup given; /* what the command line says */

static const GOptionEntry setup_options[] = {
  { "agent", 0, 0, G_OPTION_ARG_STRING, &given.agent, "The agent's name", "NAME" },
  { "owner", 0, 0, G_OPTION_ARG_STRING, &given.owner, "The person it acts for", "USER" },
  { "approver", 0, 0, G_OPTION_ARG_STRING, &given.approver, "The person who approves", "USER" },
  { "passkeys", 0, 0, G_OPTION_ARG_STRING, &given.passkeys, "The kinds of passkeys that count",
    "KINDS" },
  { "client", 0, 0, G_OPTION_ARG_STRING, &given.client, "The client of MCP that it uses", "CLIENT" },
  { "server", 0, 0, G_OPTION_ARG_STRING, &given.server, "The mail server", "HOST:PORT" },
  { "from", 0, 0, G_OPTION_ARG_STRING, &given.from, "Whom mails are from", "ADDRESS" },
  { "to", 0, 0, G_OPTION_ARG_STRING, &given.to, "Who gets the first mail", "ADDRESS" },
  G_OPTION_ENTRY_NULL,
};

/* The module reads it as one line, and most servers take nothing else. */
static char *
account_fault (Setup *setup, const char *text)
{
  for (const char *c = text; *c != '\0'; c++)
    if (!g_ascii_isgraph (*c))
      return g_strdup ("it has no spaces, and no letters beyond ASCII");
  return NULL;
}

/* --- the steps --- */

static gboolean
step_service (Setup *setup, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (setup->ctl, "Status", NULL, -1, "(a{sv})", error);
  g_autoptr (GVariant) status = NULL;
  const char *halted = "";

  if (reply == NULL)
    {
      us_error_about (error, "the service; is it enabled? systemctl enable --now "
                             "undersign-executor.socket undersign-runner@null.socket "
                             "undersign-runner@mail.socket");
      return FALSE;
    }
  status = g_variant_get_child_value (reply, 0);
  g_variant_lookup (status, "halted", "&s", &halted);
  if (halted[0] != '\0')
    return us_error_set (error, US_ERROR_HALTED, US_REASON_HALTED, "execution is halted: %s", halted);
  setup_done ("the service answers", NULL);
  return TRUE;
}

static gboolean
user_make (Setup *setup, GError **error)
{
  g_autofree char *path = new_agent_sysusers_path (setup->ctl->config, setup->agent);
  g_autofree char *text = new_agent_sysusers (setup->agent, setup->user, setup->owner);
  const char *const argv[] = { "systemd-sysusers", path, NULL };
  g_autofree char *output = NULL;
  int status = 0;

  if (getpwnam (setup->user) != NULL)
    {
      file_publish_tidy (path);
      setup_done ("there is the user", setup->user);
      return TRUE;
    }
  if (!setup_write (path, text, NULL, error))
    return FALSE;
  output = setup_run_as (setup, "root", argv, NULL, &status, error);
  if (output == NULL)
    return FALSE;
  if (status != 0 || getpwnam (setup->user) == NULL)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL,
                         "systemd-sysusers made no user %s: %s", setup->user, output);
  setup_did ("made the user", setup->user);
  return TRUE;
}

/* It has its name only when it is the user's: one of root's, left by a run that was killed, would be
 * taken for it. */
static gboolean
home_publish (const char *home, const struct passwd *user)
{
  g_autofree char *folder = g_path_get_dirname (home);
  g_autofree char *name = g_path_get_basename (home);
  g_autofree char *unfinished = g_strdup_printf (".%s.new", name);
  autofd dirfd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  autofd fd = -1;

  if (dirfd < 0 || (mkdirat (dirfd, unfinished, 0700) != 0 && errno != EEXIST))
    return FALSE;
  fd = openat (dirfd, unfinished, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd >= 0 && fchown (fd, user->pw_uid, user->pw_gid) == 0 &&
         renameat2 (dirfd, unfinished, dirfd, name, RENAME_NOREPLACE) == 0;
}

static gboolean
home_make (Setup *setup, GError **error)
{
  const struct passwd *user = getpwnam (setup->user);

  setup->home = g_strdup (user->pw_dir);
  if (g_file_test (setup->home, G_FILE_TEST_IS_DIR))
    return TRUE;
  if (g_mkdir_with_parents (NEW_AGENT_HOMES, 0755) != 0 || !home_publish (setup->home, user))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "cannot make %s: %s",
                         setup->home, g_strerror (errno));
  setup_did ("made", setup->home);
  return TRUE;
}

static gboolean
put (const Setup *setup, SetupFile file, const char *means, GError **error)
{
  const SetupPlanned *planned = &setup->files[file];

  if (planned->text != NULL)
    return setup_write (planned->path, planned->text, means, error);
  setup_is_there (planned->path);
  return TRUE;
}

static gboolean
step_agent (Setup *setup, GError **error)
{
  g_autofree char *means =
      g_strdup_printf ("%s runs as the user %s and acts for %s, who starts it", setup->agent,
                       setup->user, setup->owner);

  return user_make (setup, error) && home_make (setup, error) && put (setup, SETUP_AGENT, means, error);
}

static gboolean
step_actions (Setup *setup, GError **error)
{
  g_autofree char *means =
      g_strdup_printf ("mail.send sends a mail from %s by %s", setup->from, setup->server);

  return put (setup, SETUP_REHEARSE, "test.rehearse does nothing", error) &&
         put (setup, SETUP_MAIL, means, error);
}

static gboolean
step_rule (Setup *setup, GError **error)
{
  g_autofree char *means =
      g_strdup_printf ("%s may ask for both; each waits for %s, who approves with a passkey that is one "
                       "of: %s",
                       setup->agent, setup->approver, setup->passkeys);

  return put (setup, SETUP_RULE, means, error);
}

/* Read before it is in force: a set with a fault would leave nothing but denials. */
static gboolean
step_policy (Setup *setup, GError **error)
{
  g_autoptr (GVariant) reply = NULL;
  const char *fault = NULL;

  for (guint i = 0; i < SETUP_FILE_N; i++)
    g_clear_pointer (&setup->files[i].text, g_free);
  if (!setup_policy_check (setup, error))
    return FALSE;
  reply = bus_call (setup->ctl, "ReloadPolicy", NULL, -1, "(s)", error);
  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(&s)", &fault);
  if (fault[0] != '\0')
    {
      us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID, "%s", fault);
      return setup_policy_refused (setup, error);
    }
  setup_done ("the policy on disk is in force: what no rule names is denied", NULL);
  return TRUE;
}

/* Both of its parts; where there is only the first, it may be the administrator's own. */
static gboolean
step_credential (Setup *setup, GError **error)
{
  const char *path = CREDENTIAL_DIR "/undersign-mail." SETUP_CREDENTIAL;
  const gboolean is_there = access (path, F_OK) == 0;
  const SetupQuestion question = {
    NULL,
    is_there ? "Which user name does the mail server know it by? - leaves it as it is"
             : "Which user name does the mail server know it by?",
    account_fault,
  };
  g_autofree char *user = NULL;

  if (is_there)
    setup_done ("there is", path);
  if (is_there && access (DROP_IN, F_OK) == 0)
    return TRUE;
  if (is_there)
    setup_done ("there is nothing of undersign-admin(8) that has the module get it:", DROP_IN);
  if (!setup_answer (setup, &question, &user, is_there ? "-" : NULL, error))
    return FALSE;
  if (is_there && strcmp (user, "-") == 0)
    return TRUE;
  if (!credential_account (setup->ctl, "mail", SETUP_CREDENTIAL, user, error))
    return FALSE;
  setup_did ("wrote", path);
  setup_done ("the mail module alone is given it, when it starts next", NULL);
  return TRUE;
}

static gboolean
has_passkey (const Setup *setup, gboolean *out_has, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (setup->ctl, "ListPasskeys", NULL, -1, "(aa{sv})", error);
  g_autoptr (GVariant) list = NULL;

  if (reply == NULL)
    return FALSE;
  list = g_variant_get_child_value (reply, 0);
  *out_has = FALSE;
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) passkey = g_variant_get_child_value (list, i);
      const char *user = "", *kind = "";
      gboolean active = FALSE;

      g_variant_lookup (passkey, "user", "&s", &user);
      g_variant_lookup (passkey, "kind", "&s", &kind);
      g_variant_lookup (passkey, "active", "b", &active);
      *out_has = *out_has || (active && strcmp (user, setup->approver) == 0 &&
                              setup_kind_counts (setup->passkeys, kind));
    }
  return TRUE;
}

/* One line for each kind of passkey that the rule counts and that can be made at a terminal. */
static void
say_how_to_enrol (const Setup *setup)
{
  static const struct
  {
    const char *kind, *command, *what;
  } ways[] = {
    { "hardware", "undersign passkey enrol --security-key", "its maker is trusted" },
    { "unattested", "undersign passkey enrol --security-key --unattested", "any security key" },
    { "software", "undersign passkey enrol", "no security key: for a trial" },
  };
  gboolean is_any = FALSE;

  printf (SETUP_PERSON, setup->approver);
  for (gsize i = 0; i < G_N_ELEMENTS (ways); i++)
    if (setup_kind_counts (setup->passkeys, ways[i].kind))
      {
        printf ("      %-56s(%s)\n", ways[i].command, ways[i].what);
        is_any = TRUE;
      }
  if (!is_any)
    printf ("      what enrols a passkey that is %s, see undersign(1)\n", setup->passkeys);
  puts ("  which asks for an administrator's password.\n  " SETUP_WAITING);
}

/* The approver makes it; here there is only the waiting. */
static gboolean
step_passkey (Setup *setup, GError **error)
{
  gboolean has = FALSE, told = FALSE;

  for (;;)
    {
      if (!has_passkey (setup, &has, error))
        return FALSE;
      if (has)
        break;
      if (!told)
        say_how_to_enrol (setup);
      told = TRUE;
      fflush (stdout);
      g_usleep (POLL_SECONDS * G_USEC_PER_SEC);
    }
  setup_done ("a passkey is enrolled, of", setup->approver);
  return TRUE;
}

static gboolean
step_client (Setup *setup, GError **error)
{
  g_autofree char *option = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  int status = 0;

  if (!setup_ask_client (setup, error))
    return FALSE;
  path = g_strdup_printf ("%s/undersign-mcp.%s", setup->home, setup->client);
  option = g_strconcat ("--print-config=", setup->client, NULL);
  text = setup_run_as (setup, setup->user,
                       (const char *const[]){ "undersign-mcp", option, NULL }, NULL, &status, error);
  if (text == NULL)
    return FALSE;
  if (status != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL,
                         "undersign-mcp %s failed, run as %s", option, setup->user);
  return setup_write (path, text, "by it the client starts undersign-mcp, and asks there", error);
}

static gboolean
step_rehearsal (Setup *setup, GError **error)
{
  return setup_request (setup, "setup-rehearsal", "test.rehearse",
                        (const char *const[]){ "target=the first action", NULL }, error);
}

static gboolean
step_mail (Setup *setup, GError **error)
{
  g_autofree char *to = NULL;
  g_autofree char *key = NULL;

  if (!setup_ask_to (setup, error))
    return FALSE;
  to = g_strconcat ("to=", setup->to, NULL);
  key = g_strconcat ("setup-mail-", setup->to, NULL);
  return setup_request (
      setup, key, "mail.send",
      (const char *const[]){ to, "subject=The first approved mail",
                             "body=A person read this mail and approved it; then it was sent.", NULL },
      error);
}

static const struct
{
  const char *title;
  gboolean (*run) (Setup *setup, GError **error);
} steps[] = {
  { "The service", step_service },
  { "What policy is to say; nothing is written yet", setup_plan },
  { "The agent, which has a user of its own", step_agent },
  { "The actions that it may ask for", step_actions },
  { "The first rule: who approves them", step_rule },
  { "Policy in force", step_policy },
  { "The mail account, which the agent never sees", step_credential },
  { "The approver's passkey", step_passkey },
  { "What the agent's client reads", step_client },
  { "A rehearsal: an action that does nothing", step_rehearsal },
  { "The first mail", step_mail },
};

static void
setup_clear (Setup *setup)
{
  g_free (setup->agent);
  g_free (setup->user);
  g_free (setup->home);
  g_free (setup->owner);
  g_free (setup->approver);
  g_free (setup->passkeys);
  g_free (setup->client);
  g_free (setup->server);
  g_free (setup->from);
  g_free (setup->to);
  setup_plan_clear (setup);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Setup, setup_clear)

static void
say_end (const Setup *setup)
{
  printf ("\nDone%s\n", setup_has_changed () ? "." : ": all of it was there, and nothing was changed.");
  printf ("  %s/undersign-mcp.%s goes to where the client reads it, which step 9 says.\n"
          "  %s starts the agent's client:  undersign launch %s -- COMMAND\n"
          "  More actions and rules: undersign-policy(5).\n",
          setup->home, setup->client, setup->owner, setup->agent);
}

static gboolean
run_setup (Ctl *ctl, char **arguments, GError **error)
{
  g_auto (Setup) setup = given;

  given = (Setup){ 0 };
  setup.ctl = ctl;
  if (geteuid () != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                         "setup writes files of root: sudo undersignctl setup");
  if (!isatty (STDIN_FILENO) || ctl->json)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_TERMINAL,
                         "setup asks, and prints for a person: it needs a terminal");
  umask (022);
  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      printf ("\n%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ": %s\n", i + 1, G_N_ELEMENTS (steps),
              steps[i].title);
      fflush (stdout);
      if (!steps[i].run (&setup, error))
        return FALSE;
    }
  say_end (&setup);
  return TRUE;
}

const CtlVerb setup_verbs[] = {
  { "setup", "", "Lead from an installed service to the first approved action", 0, 0, setup_options,
    run_setup },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
