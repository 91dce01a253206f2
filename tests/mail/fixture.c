/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mail server with certificates of its own, the module in its runner, and calls of it. */
#include "tests/mail/fixture.h"

#include "service/base/fd.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREDENTIAL "agent\nhunter2-and-more\n"

static char *folder; /* of certificates, and of the servers' folders */

static void
run_python (const char *const *arguments)
{
  g_autoptr (GError) error = NULL;
  int status = -1;

  g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status,
                &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
}

static char *
read_line (int fd)
{
  GString *line = g_string_new (NULL);
  char c = 0;

  while (read (fd, &c, 1) == 1 && c != '\n')
    g_string_append_c (line, c);
  return g_string_free (line, FALSE);
}

Fixture *
fixture_new_with (const char *security, const char *certificate, const char *fault, guint seconds)
{
  static guint count = 0;
  Fixture *fixture = g_new0 (Fixture, 1);
  g_autofree char *port = NULL;
  g_autoptr (GError) error = NULL;
  autofd output = -1;

  fixture->dir = g_strdup_printf ("%s/%u", folder, count++);
  g_assert_cmpint (mkdir (fixture->dir, 0700), ==, 0);
  {
    const char *argv[] = { "/usr/bin/python3",
                           "-B",
                           g_getenv ("MAIL_SERVER"),
                           "run",
                           fixture->dir,
                           security,
                           certificate,
                           fault,
                           NULL };

    g_spawn_async_with_pipes (NULL, (char **) argv, NULL,
                              G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CLOEXEC_PIPES, NULL, NULL,
                              &fixture->pid, &fixture->input, &output, NULL, &error);
    g_assert_no_error (error);
  }
  port = read_line (output);
  g_assert_cmpuint (strlen (port), >, 0);
  fixture->server = g_strconcat ("localhost:", port, NULL);
  fixture->ca = g_build_filename (folder, "ca.pem", NULL);

  fixture->runner = runner_new ();
  runner_install (fixture->runner, g_getenv ("MAIL_MODULE"), "mail");
  runner_credential (fixture->runner, "work-smtp", CREDENTIAL);
  runner_start (fixture->runner, "mail", getuid (), getuid (), seconds);
  return fixture;
}

Fixture *
fixture_new (const char *security, const char *fault)
{
  return fixture_new_with (security, "good", fault, 60);
}

void
fixture_free (Fixture *fixture)
{
  g_autofree char *log = activated_log (fixture->runner->service);

  g_assert_null (strstr (log, PASSWORD));
  close (fixture->input);
  kill (fixture->pid, SIGKILL);
  waitpid (fixture->pid, NULL, 0);
  g_spawn_close_pid (fixture->pid);
  runner_free (fixture->runner);
  g_free (fixture->server);
  g_free (fixture->ca);
  g_free (fixture->dir);
  g_free (fixture);
}

/* --- calls --- */

void
add_settings (Call *call, const char *server, const char *security, const char *ca)
{
  call_setting (call, "server", "hostport", server);
  call_setting (call, "from", "email", "offboarding@example.com");
  call_setting (call, "security", "line", security);
  call_setting (call, "ca", "path", ca);
}

void
add_recipients (Call *call, const char *to, const char *cc, const char *bcc)
{
  static const char *const names[] = { "to", "cc", "bcc" };
  const char *const lists[] = { to, cc, bcc };

  for (guint i = 0; i < 3; i++)
    if (*lists[i] == '\0')
      call_argument (call, names[i], "email-list", g_variant_new_strv (NULL, 0));
    else
      call_strings (call, names[i], "email-list", lists[i]);
}

void
add_text (Call *call)
{
  call_string (call, "subject", "line", "Report");
  call_string (call, "body", "text", "Hello\nworld\n");
}

Call *
simple_call (Fixture *fixture, const char *security)
{
  Call *call = call_new ("mail.send");

  call->credential = "work-smtp";
  add_settings (call, fixture->server, security, fixture->ca);
  add_recipients (call, "alice@example.com", "", "");
  add_text (call);
  return call;
}

char *
execute (Fixture *fixture, Call *call, char **out_result)
{
  g_autoptr (GError) error = NULL;
  char *outcome =
      runner_call (fixture->runner, HANDOVER_MODULE_EXECUTE, call, out_result, NULL, &error);

  g_assert_no_error (error);
  g_assert_null (strstr (*out_result, PASSWORD));
  g_assert_null (strstr (*out_result, PASSWORD_BASE64));
  return outcome;
}

char *
read_file (Fixture *fixture, const char *name, gsize *out_len)
{
  g_autofree char *path = g_build_filename (fixture->dir, name, NULL);
  char *content = NULL;

  if (!g_file_get_contents (path, &content, out_len, NULL))
    return g_strdup ("");
  return content;
}

guint
count_mails (Fixture *fixture)
{
  GDir *dir = g_dir_open (fixture->dir, 0, NULL);
  const char *name = NULL;
  guint n = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    n += g_str_has_prefix (name, "mail-") ? 1 : 0;
  g_dir_close (dir);
  return n;
}

void
expect_file (Fixture *fixture, const char *name, const char *content)
{
  g_autofree char *path = g_strconcat ("mail-0/", name, NULL);
  g_autofree char *found = read_file (fixture, path, NULL);

  g_assert_cmpstr (found, ==, content);
}

void
check (Fixture *fixture, Call *call, const char *outcome, const char *text, guint mails)
{
  g_autofree char *result = NULL;
  g_autofree char *found = execute (fixture, call, &result);

  g_assert_cmpstr (result, ==, text);
  g_assert_cmpstr (found, ==, outcome);
  g_assert_cmpuint (count_mails (fixture), ==, mails);
}

void
check_untouched (Fixture *fixture)
{
  g_autofree char *wire = read_file (fixture, "wire", NULL);

  g_assert_cmpstr (wire, ==, "");
}

/* Nothing but a greeting may have gone over the wire. */
void
check_no_secret_on_wire (Fixture *fixture)
{
  g_autofree char *wire = read_file (fixture, "wire", NULL);

  g_assert_null (strstr (wire, "AUTH"));
  g_assert_null (strstr (wire, "MAIL"));
  g_assert_null (strstr (wire, "Report"));
  g_assert_null (strstr (wire, PASSWORD_BASE64));
}

static void
remove_tree (const char *path)
{
  const char *const argv[] = { "rm", "-rf", "--", path, NULL };

  (void) g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                       NULL, NULL);
}

const char *
certificates (void)
{
  return folder;
}

int
mail_test_run (void)
{
  const char *make[] = { "/usr/bin/python3", "-B", g_getenv ("MAIL_SERVER"),
                         "certificates",     NULL, NULL };
  int status = 1;

  folder = g_dir_make_tmp ("undersign-test-XXXXXX", NULL);
  make[4] = folder;
  run_python (make);
  status = g_test_run ();
  remove_tree (folder);
  g_clear_pointer (&folder, g_free);
  return status;
}
