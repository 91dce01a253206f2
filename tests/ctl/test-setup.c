/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the steps of undersignctl setup do: which passkeys count, what is written, and what is asked for
 * again.  The agent's command is a script that says what the test wants.
 */
#include "service/ctl/setup.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY "--idempotency-key=key-%u --run=setup --json"

typedef struct
{
  CtlConfig config;
  Ctl ctl;
  Setup setup;
  char *folder;
  int output; /* the test's own, while the steps print */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  fixture->folder = g_dir_make_tmp ("undersign-setup-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  g_assert_no_errno (chmod (fixture->folder, 0755));
  fixture->config.bin_dir = fixture->folder;
  fixture->ctl.config = &fixture->config;
  fixture->setup.ctl = &fixture->ctl;
  fixture->setup.agent = (char *) "clerk";
  fixture->setup.approver = (char *) "it.lead";
  fixture->setup.user = g_strdup (getpwuid (geteuid ())->pw_name);
  fflush (stdout);
  fixture->output = dup (STDOUT_FILENO);
  g_assert_cmpint (dup2 (null, STDOUT_FILENO), ==, STDOUT_FILENO);
  close (null);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;

  fflush (stdout);
  g_assert_cmpint (dup2 (fixture->output, STDOUT_FILENO), ==, STDOUT_FILENO);
  close (fixture->output);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

      g_assert_no_errno (unlink (path));
    }
  g_assert_no_errno (rmdir (fixture->folder));
  g_free (fixture->folder);
  g_free (fixture->setup.user);
}

static char *
text_of (const Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("");
}

/* A program that notes its arguments and environment, and prints line by line, run by run, what @says. */
static void
put_program (const Fixture *fixture, const char *name, const char *says)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  g_autofree char *lines = g_build_filename (fixture->folder, "says", NULL);
  g_autofree char *script = g_strdup_printf ("#!/bin/sh\ncd '%s' || exit\necho \"$*\" >>asked\n"
                                             "env >environment\n"
                                             "sed -n \"$(wc -l <asked)p\" says\n",
                                             fixture->folder);

  g_assert_true (g_file_set_contents (path, script, -1, NULL));
  g_assert_no_errno (chmod (path, 0755));
  g_assert_true (g_file_set_contents (lines, says, -1, NULL));
}

/* --- what must not count --- */

static void
test_kinds (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *kinds, *kind;
    gboolean counts;
  } rows[] = {
    { NULL, "", FALSE },
    { NULL, "software", FALSE },
    { NULL, "made-up", FALSE },
    { NULL, "hardware", TRUE },
    { NULL, "unattested", TRUE },
    { NULL, "synced", TRUE },
    { NULL, "phone", TRUE },
    { "", "", FALSE },
    { "", "hardware", FALSE },
    { "hardware ", "", FALSE },
    { "made-up", "made-up", FALSE },
    { "hardware", "unattested", FALSE },
    { "hardware phone", "phone", TRUE },
    { "software", "software", TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s: %s", rows[i].kinds != NULL ? rows[i].kinds : "none", rows[i].kind);
      g_assert_true (setup_kind_counts (rows[i].kinds, rows[i].kind) == rows[i].counts);
    }
}

/* --- what is asked for, and what is not asked for again --- */

static void
test_requests (Fixture *fixture, gconstpointer data)
{
  static const char id[] = "0123456789abcdef0123456789abcdef";
  static const struct
  {
    const char *says;
    gboolean executed;
    const char *asked; /* r: a request, w: a wait */
    const char *why;
  } rows[] = {
    { "{\"state\":\"done\",\"executed\":\"yes\"}\n", TRUE, "r", NULL },
    { "{\"state\":\"denied\",\"executed\":\"no\"}\n{\"state\":\"done\",\"executed\":\"yes\"}\n", TRUE,
      "rr", NULL },
    { "{\"request\":\"ID\",\"state\":\"pending\"}\n{\"state\":\"done\",\"executed\":\"yes\"}\n", TRUE,
      "rw", NULL },
    /* It was answered before, and goes on: what becomes of it is not asked for again. */
    { "{\"request\":\"ID\",\"state\":\"approved\",\"executed\":\"no\"}\n"
      "{\"state\":\"done\",\"executed\":\"yes\"}\n",
      TRUE, "rw", NULL },
    { "{\"request\":\"ID\",\"state\":\"executing\",\"executed\":\"unknown\"}\n"
      "{\"state\":\"failed\",\"executed\":\"no\",\"result\":\"the server refused it\"}\n",
      FALSE, "rw", "mail.send: failed: the server refused it, nothing was executed" },
    /* A person has just said no. */
    { "{\"request\":\"ID\",\"state\":\"pending\"}\n{\"state\":\"denied\",\"executed\":\"no\"}\n"
      "{\"state\":\"done\",\"executed\":\"yes\"}\n",
      FALSE, "rw", NULL },
    /* Nobody knows whether it ran. */
    { "{\"state\":\"unknown\",\"executed\":\"unknown\"}\n{\"state\":\"done\",\"executed\":\"yes\"}\n",
      FALSE, "r", NULL },
    { "{\"state\":\"failed\"}\n{\"state\":\"done\",\"executed\":\"yes\"}\n", FALSE, "r", NULL },
    { "{\"error\":{\"message\":\"none\",\"reason\":\"no-rule\"}}\n"
      "{\"state\":\"done\",\"executed\":\"yes\"}\n",
      FALSE, "r", "mail.send: no-rule: none" },
    /* What it calls a request is printed as root's word, so it is nothing but an id. */
    { "{\"request\":\"--help\",\"state\":\"pending\"}\n{\"state\":\"done\",\"executed\":\"yes\"}\n",
      FALSE, "r", NULL },
    { "{\"state\":\"pending\"}\n{\"state\":\"done\",\"executed\":\"yes\"}\n", FALSE, "r", NULL },
    { "executed yes\n{\"state\":\"done\",\"executed\":\"yes\"}\n", FALSE, "r", NULL },
    { "", FALSE, "r", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GString) says = g_string_new (rows[i].says);
      g_autoptr (GString) expected = g_string_new (NULL);
      g_autoptr (GError) error = NULL;
      g_autofree char *notes = g_build_filename (fixture->folder, "asked", NULL);
      g_autofree char *asked = NULL;
      guint number = 0;

      g_string_replace (says, "ID", id, 0);
      put_program (fixture, "undersign-agent", says->str);
      g_assert_true (setup_request (&fixture->setup, "key", "mail.send",
                                    (const char *const[]){ "to=a@example.com", NULL },
                                    &error) == rows[i].executed);
      g_assert_true ((error == NULL) == rows[i].executed);
      if (rows[i].why != NULL)
        g_assert_nonnull (strstr (error->message, rows[i].why));
      for (const char *c = rows[i].asked; *c != '\0'; c++)
        if (*c == 'r')
          g_string_append_printf (expected, "request mail.send " KEY " to=a@example.com\n", ++number);
        else
          g_string_append_printf (expected, "wait %s --json\n", id);
      asked = text_of (fixture, "asked");
      g_assert_cmpstr (asked, ==, expected->str);
      g_assert_no_errno (unlink (notes));
    }
}

static void
test_environment (Fixture *fixture, gconstpointer data)
{
  const char *const argv[] = { "program", "of", "it", NULL };
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;
  g_autofree char *environment = NULL;
  int status = -1;

  g_setenv ("UNDERSIGN_SECRET", "of-root", TRUE);
  put_program (fixture, "program", "it ran\n");
  said = setup_run_as (&fixture->setup, fixture->setup.user, argv, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (said, ==, "it ran\n");
  g_assert_cmpint (status, ==, 0);
  environment = text_of (fixture, "environment");
  g_assert_nonnull (strstr (environment, "LANG=C.UTF-8\n"));
  g_assert_null (strstr (environment, "UNDERSIGN_SECRET"));
  g_assert_null (setup_run_as (&fixture->setup, "no.such.user", argv, NULL, &status, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
}

/* --- what is written --- */

static void
test_files (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "x.rule", NULL);
  g_autofree char *link = g_build_filename (fixture->folder, "y.rule", NULL);
  g_autofree char *target = g_build_filename (fixture->folder, "elsewhere", NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  g_assert_true (setup_write (path, "mine", NULL, &error));
  g_assert_true (setup_write (path, "another", NULL, &error));
  text = text_of (fixture, "x.rule");
  g_assert_cmpstr (text, ==, "mine");

  g_assert_no_errno (symlink (target, link));
  g_assert_false (setup_write (link, "mine", NULL, &error));
  g_assert_nonnull (error);
  g_assert_false (g_file_test (target, G_FILE_TEST_EXISTS));
}

/* A program that waits does not go on for nobody. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "pid", NULL);
  const char *const argv[] = { "sh", "-c", "echo $$ > \"$1.new\"; mv \"$1.new\" \"$1\"; exec sleep 600",
                               "sh", path, NULL };
  g_autofree char *text = NULL;
  struct pollfd ended = { .events = POLLIN };
  pid_t parent = fork (), child = 0;
  int status = 0;

  if (parent == 0)
    {
      g_free (setup_run_as (&fixture->setup, fixture->setup.user, argv, NULL, &status, NULL));
      _exit (0);
    }
  for (guint i = 0; i < 6000 && !g_file_test (path, G_FILE_TEST_EXISTS); i++)
    g_usleep (G_USEC_PER_SEC / 100);
  text = text_of (fixture, "pid");
  child = atoi (text);
  ended.fd = pidfd_open (child, 0);
  g_assert_cmpint (ended.fd, >=, 0);
  g_assert_no_errno (kill (parent, SIGKILL));
  g_assert_cmpint (waitpid (parent, &status, 0), ==, parent);
  status = poll (&ended, 1, 60000);
  kill (child, SIGKILL);
  close (ended.fd);
  g_assert_cmpint (status, ==, 1);
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } rows[] = {
    { "/ctl/setup/kinds", test_kinds },
    { "/ctl/setup/requests", test_requests },
    { "/ctl/setup/environment", test_environment },
    { "/ctl/setup/files", test_files },
    { "/ctl/setup/killed", test_killed },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_test_add (rows[i].name, Fixture, NULL, set_up, rows[i].test, tear_down);
  return g_test_run ();
}
