/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What undersignctl setup is answered about policy: judged as policy's reader does, before anything is
 * written.  The persons are users that every machine has.
 */
#include "service/ctl/setup.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/policy/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER "daemon"
#define APPROVER "bin"
#define SERVER "smtp.example.com:587"
#define FROM "offboarding@example.com"

typedef struct
{
  CtlConfig config;
  Ctl ctl;
  Setup setup;
  Tree tree;
  int output; /* the test's own, while it is asked */
} Fixture;

static void
copy (const Fixture *fixture, const char *from, const char *to)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, from, NULL);
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  tree_write (&fixture->tree, to, text);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  tree_init (&fixture->tree);
  copy (fixture, "module/executor/mail/mail.module", "usr/modules/mail.module");
  copy (fixture, "module/executor/null/null.module", "usr/modules/null.module");
  copy (fixture, "service/ctl/catalogue/mail.send.action", "usr/catalogue/mail.send.action");
  copy (fixture, "service/ctl/catalogue/test.rehearse.action", "usr/catalogue/test.rehearse.action");
  tree_write (&fixture->tree, "lib/mail.so", "mail");
  tree_write (&fixture->tree, "lib/null.so", "null");
  fixture->config = (CtlConfig){ .data_dir = fixture->tree.data,
                                 .config_dir = fixture->tree.config,
                                 .module_dir = fixture->tree.objects,
                                 .policy_owner = geteuid () };
  fixture->ctl.config = &fixture->config;
  fixture->setup.ctl = &fixture->ctl;
  fflush (stdout);
  fixture->output = dup (STDOUT_FILENO);
  g_assert_cmpint (dup2 (null, STDOUT_FILENO), ==, STDOUT_FILENO);
  close (null);
}

static void
clear (Fixture *fixture)
{
  Setup *setup = &fixture->setup;

  setup_plan_clear (setup);
  g_free (setup->agent);
  g_free (setup->user);
  g_free (setup->owner);
  g_free (setup->approver);
  g_free (setup->passkeys);
  g_free (setup->server);
  g_free (setup->from);
  g_free (setup->to);
  *setup = (Setup){ .ctl = &fixture->ctl };
  fixture->ctl.bad_word = FALSE;
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  clear (fixture);
  fflush (stdout);
  g_assert_cmpint (dup2 (fixture->output, STDOUT_FILENO), ==, STDOUT_FILENO);
  close (fixture->output);
  tree_clear (&fixture->tree);
}

static void
give (Fixture *fixture)
{
  Setup *setup = &fixture->setup;

  clear (fixture);
  setup->agent = g_strdup ("clerk");
  setup->owner = g_strdup (OWNER);
  setup->approver = g_strdup (APPROVER);
  setup->passkeys = g_strdup ("software");
  setup->server = g_strdup (SERVER);
  setup->from = g_strdup (FROM);
}

static char **
value_of (Setup *setup, const char *option)
{
  const struct
  {
    const char *option;
    char **value;
  } rows[] = {
    { "agent", &setup->agent },       { "owner", &setup->owner },   { "approver", &setup->approver },
    { "passkeys", &setup->passkeys }, { "server", &setup->server }, { "from", &setup->from },
    { "to", &setup->to },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].option, option) == 0)
      return rows[i].value;
  g_assert_not_reached ();
}

/* With every option but this one right: that one is named, and why. */
static void
assert_refused (Fixture *fixture, const char *option, const char *value, const char *why)
{
  g_autofree char *begins = g_strdup_printf ("bad-value: --%s=%s: ", option, value);
  g_autoptr (GError) error = NULL;
  char **given;

  g_test_message ("--%s=%s", option, value);
  give (fixture);
  given = value_of (&fixture->setup, option);
  g_free (*given);
  *given = g_strdup (value);
  g_assert_false (setup_plan (&fixture->setup, &error));
  g_assert_error (error, US_ERROR, US_ERROR_INVALID_ARGUMENT);
  g_assert_true (fixture->ctl.bad_word);
  g_assert_true (g_str_has_prefix (error->message, begins));
  g_assert_nonnull (strstr (error->message + strlen (begins), why));
}

/* What the next questions are answered. */
static void
answer (const Fixture *fixture, const char *lines)
{
  g_autofree char *path = g_build_filename (fixture->tree.top, "answers", NULL);

  tree_write (&fixture->tree, "answers", lines);
  g_assert_nonnull (freopen (path, "r", stdin));
}

static void
test_wrong (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *option, *value, *why;
  } rows[] = {
    { "agent", "No Name", "no name of an agent" },
    { "agent", "a2345678901234567890123456", "at most 25" },
    { "agent", "../clerk", "no name of an agent" },
    { "owner", "no.such.user", "there is no user" },
    { "owner", "root", "is a person" },
    { "owner", "", "no value" },
    { "owner", OWNER "\nParts=main", "one line" },
    { "approver", "no.such.user", "no such user" },
    { "approver", "root", "is root" },
    { "approver", OWNER " " APPROVER, "no such user" },
    { "approver", APPROVER "\nCount=1", "no such user" },
    { "passkeys", "any", "is of the words" },
    { "passkeys", "software software", "twice" },
    { "passkeys", "software\nLimit=1/1h", "one line" },
    { "server", "smtp.example.com", "port" },
    { "server", "smtp.example.com:65536", "port" },
    { "server", "", "empty" },
    { "server", SERVER "\nSecurity=plain", "one line" },
    { "from", "nobody", "e-mail" },
    { "from", FROM "\nSecurity=plain", "one line" },
    { "to", "nobody", "e-mail" },
    { "to", FROM "," FROM, "e-mail" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_refused (fixture, rows[i].option, rows[i].value, rows[i].why);
  g_assert_false (g_file_test (fixture->tree.config, G_FILE_TEST_EXISTS));
}

/* One that is wrong stays so while others are not known yet. */
static void
test_wrong_alone (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *option, *value;
  } rows[] = { { "owner", "root" }, { "approver", "root" }, { "passkeys", "any" },
               { "server", "x" },   { "from", "x" } };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      clear (fixture);
      answer (fixture, "");
      fixture->setup.agent = g_strdup ("clerk");
      *value_of (&fixture->setup, rows[i].option) = g_strdup (rows[i].value);
      g_assert_false (setup_plan (&fixture->setup, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_VALUE));
    }
  g_assert_false (g_file_test (fixture->tree.config, G_FILE_TEST_EXISTS));
}

static void
test_asked_again (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  answer (fixture, "No Name\nclerk\nroot\n" OWNER "\nsmtp\n" SERVER "\nnobody\n" FROM "\n"
                   "root\n" APPROVER "\nany\nhardware\n");
  g_unsetenv ("SUDO_USER");
  g_assert_true (setup_plan (&fixture->setup, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (fixture->setup.agent, ==, "clerk");
  g_assert_cmpstr (fixture->setup.owner, ==, OWNER);
  g_assert_cmpstr (fixture->setup.server, ==, SERVER);
  g_assert_cmpstr (fixture->setup.from, ==, FROM);
  g_assert_cmpstr (fixture->setup.approver, ==, APPROVER);
  g_assert_cmpstr (fixture->setup.passkeys, ==, "hardware");
  g_assert_false (g_file_test (fixture->tree.config, G_FILE_TEST_EXISTS));
}

/* As setup and others leave it. */
static void
put_files (Fixture *fixture, const char *approvers)
{
  g_autofree char *rule = NULL;
  g_autoptr (GError) error = NULL;

  give (fixture);
  g_assert_true (setup_plan (&fixture->setup, &error));
  if (fixture->setup.files[SETUP_MAIL].text != NULL)
    tree_write (&fixture->tree, "etc/actions/mail.send.action", fixture->setup.files[SETUP_MAIL].text);
  rule = g_strdup_printf ("[Rule first]\nAgents=clerk\nActions=test.rehearse mail.send\nDecision=ask\n"
                          "Approvers=%s\nPasskeys=software\nLimit=9/1h\nLimit=99/1d\n",
                          approvers);
  tree_write (&fixture->tree, "etc/rules/clerk.rule", rule);
}

static void
test_differs (Fixture *fixture, gconstpointer data)
{
  g_autofree char *mail = g_strconcat (fixture->tree.config, "/actions/mail.send.action has ", NULL);
  g_autofree char *rule = g_strconcat (fixture->tree.config, "/rules/clerk.rule has ", NULL);

  put_files (fixture, APPROVER);
  assert_refused (fixture, "server", "other.example.com:587", mail);
  assert_refused (fixture, "server", "other.example.com:587", "has Server=" SERVER ", and setup changes");
  assert_refused (fixture, "from", "other@example.com", "has From=" FROM);
  assert_refused (fixture, "passkeys", "hardware", rule);
  assert_refused (fixture, "passkeys", "hardware", "has Passkeys=software");
  assert_refused (fixture, "approver", OWNER, "has Approvers=" APPROVER);
}

/* What is there need not be said, and may be; of several who approve, one is to be waited for. */
static void
test_there (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  Setup *setup = &fixture->setup;

  put_files (fixture, APPROVER);
  give (fixture);
  g_assert_true (setup_plan (setup, &error));
  g_assert_null (setup->files[SETUP_MAIL].text);
  g_assert_nonnull (setup->files[SETUP_AGENT].text);

  put_files (fixture, APPROVER " mail");
  give (fixture);
  g_clear_pointer (&setup->server, g_free);
  g_clear_pointer (&setup->passkeys, g_free);
  g_clear_pointer (&setup->approver, g_free);
  answer (fixture, "\n" OWNER "\nmail\n");
  g_assert_true (setup_plan (setup, &error));
  g_assert_cmpstr (setup->server, ==, SERVER);
  g_assert_cmpstr (setup->passkeys, ==, "software");
  g_assert_cmpstr (setup->approver, ==, "mail");
}

/* Of a file that is there: which, where, and that it is to be edited. */
static void
test_refused (Fixture *fixture, gconstpointer data)
{
  g_autofree char *where = g_strconcat (fixture->tree.config, "/rules/other.rule:2: ", NULL);
  g_autoptr (GError) error = NULL;

  tree_write (&fixture->tree, "etc/rules/other.rule",
              "[Rule x]\nAgents=nobody\nActions=*\nDecision=deny\n");
  give (fixture);
  g_assert_false (setup_plan (&fixture->setup, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_POLICY_INVALID));
  g_assert_nonnull (strstr (error->message, where));
  g_assert_nonnull (strstr (error->message, "edit what is named here, then run setup again; "
                                            "nothing was written"));
  g_assert_null (strstr (error->message, "is not there"));
  g_assert_false (fixture->ctl.bad_word);
}

/* What the executor could not read would be in force, and nothing else. */
static void
test_unreadable (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->tree.config, "agents/other.agent", NULL);
  g_autoptr (GError) error = NULL;

  tree_write (&fixture->tree, "etc/agents/other.agent",
              "[Agent]\nSummary=A\nUser=mail\nOwner=" OWNER "\n");
  g_assert_no_errno (chmod (path, 0600));
  give (fixture);
  g_assert_false (setup_plan (&fixture->setup, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_POLICY_INVALID));
  g_assert_nonnull (strstr (error->message, "other.agent: undersign-executor cannot read it"));
}

/* A rule of which no answer can be right: it is named, and nobody is asked. */
static void
test_rule_without_approvers (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *decision, *says;
  } rows[] = {
    { "Decision=ask ", "clerk.rule:4: " },
    { "Decision=deny", "clerk.rule: its first rule has no Approvers=" },
  };

  for (gsize i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *rule = g_strdup_printf ("[Rule first]\nAgents=clerk\nActions=mail.send\n%s\n%s",
                                               rows[i / 2].decision, i / 2 == 0 ? "Approvers=bin\n" : "");
      g_autoptr (GError) error = NULL;

      tree_write (&fixture->tree, "etc/rules/clerk.rule", rule);
      give (fixture);
      if (i % 2 == 1)
        g_clear_pointer (&fixture->setup.approver, g_free);
      answer (fixture, "");
      g_assert_false (setup_plan (&fixture->setup, &error));
      g_assert_nonnull (strstr (error->message, rows[i / 2].says));
      g_assert_nonnull (strstr (error->message, "edit what is named here"));
    }
}

/* An agent of whom its own file does not say who it is. */
static void
test_agent_unsaid (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *text, *says;
  } rows[] = {
    { "[Agent]\nSummary=A\nOwner=" OWNER "\n", "clerk.agent:1: [Agent] lacks User=" },
    { "[Agent]\nSummary=A\nUser=mail\nOwner=" OWNER "\nOwner=bin\n", "clerk.agent:5: Owner= stands twice" },
    { "Agent\n", "clerk.agent:1: 'Agent' is not a section" },
    { "", "clerk.agent: it has no User= and Owner=" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      tree_write (&fixture->tree, "etc/agents/clerk.agent", rows[i].text);
      give (fixture);
      g_assert_false (setup_plan (&fixture->setup, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_POLICY_INVALID));
      g_assert_nonnull (strstr (error->message, rows[i].says));
      g_assert_nonnull (strstr (error->message, "edit what is named here"));
    }
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } rows[] = {
    { "/ctl/setup-plan/wrong", test_wrong },
    { "/ctl/setup-plan/wrong-alone", test_wrong_alone },
    { "/ctl/setup-plan/asked-again", test_asked_again },
    { "/ctl/setup-plan/differs", test_differs },
    { "/ctl/setup-plan/there", test_there },
    { "/ctl/setup-plan/refused", test_refused },
    { "/ctl/setup-plan/rule-without-approvers", test_rule_without_approvers },
    { "/ctl/setup-plan/unreadable", test_unreadable },
    { "/ctl/setup-plan/agent-unsaid", test_agent_unsaid },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_test_add (rows[i].name, Fixture, NULL, set_up, rows[i].test, tear_down);
  return g_test_run ();
}
