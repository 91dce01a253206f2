/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the mail module refuses before it says a word to the server. */
#include "tests/mail/fixture.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
check_refused (Fixture *fixture, Call *call, const char *text)
{
  check (fixture, call, "failed", text, 0);
  check_untouched (fixture);
}

static void
test_credential_shapes (void)
{
  static const char *const shapes[] = {
    "",           "agent",          "agent:hunter2-and-more\n", "agent\n",
    "\npassword", "agent\n\n",      "agent\npassword\nmore\n",  "agent\r\npassword\r\n",
    "a\tb\nc",    "\xff\npassword", "agent\npass\x01word\n",    "agent\npassword\n\n",
  };
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autofree char *name = g_strdup_printf ("shape-%u", i);
      Call *call = simple_call (fixture, "starttls");

      g_test_message ("%s", name);
      runner_credential (fixture->runner, name, shapes[i]);
      call->credential = name;
      check_refused (fixture, call,
                     "the credential is not a line with the user and a line with the password");
    }
}

static void
test_credential_absent (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  Call *call = simple_call (fixture, "starttls");

  call->credential = "other-smtp";
  check_refused (fixture, call, "the credential is not available");
}

static void
test_unknown_names (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  Call *argument = simple_call (fixture, "starttls");
  Call *setting = simple_call (fixture, "starttls");

  call_string (argument, "reply-to", "email", "evil@example.com");
  check_refused (fixture, argument, "there is an argument that this module does not know");
  call_setting (setting, "proxy", "hostport", "proxy.example.com:25");
  check_refused (fixture, setting, "there is a setting that this module does not know");
}

static void
test_bad_settings (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  g_autofree char *open_ca = g_build_filename (fixture->dir, "open.pem", NULL);
  g_autofree char *link_ca = g_build_filename (fixture->dir, "link.pem", NULL);
  const char *unreadable = "the file of the setting ca cannot be read, or can be changed by others";
  const char *not_one = "the setting security is not starttls, tls or plain";
  const struct
  {
    const char *server;
    const char *security;
    const char *ca;
    const char *text;
  } bad[] = {
    { fixture->server, "", fixture->ca, not_one },
    { fixture->server, "none", fixture->ca, not_one },
    { fixture->server, "STARTTLS", fixture->ca, not_one },
    { "192.0.2.1:25", "plain", "",
      "the setting security is plain, but the server is not this machine" },
    { "localhost.example.com:25", "plain", "",
      "the setting security is plain, but the server is not this machine" },
    { fixture->server, "starttls", "/nonexistent", unreadable },
    { fixture->server, "starttls", "/dev/zero", unreadable },
    { fixture->server, "starttls", certificates (), unreadable },
    { fixture->server, "starttls", open_ca, unreadable },
    { fixture->server, "starttls", link_ca, unreadable },
  };

  g_assert_true (g_file_set_contents (open_ca, "x", 1, NULL));
  g_assert_cmpint (chmod (open_ca, 0666), ==, 0);
  g_assert_cmpint (symlink (fixture->ca, link_ca), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      Call *call = call_new ("mail.send");

      g_test_message ("%u", i);
      call->credential = "work-smtp";
      add_settings (call, bad[i].server, bad[i].security, bad[i].ca);
      add_recipients (call, "alice@example.com", "", "");
      add_text (call);
      check_refused (fixture, call, bad[i].text);
    }
}

static void
test_missing_settings (void)
{
  static const char *const names[] = { "server", "from", "security", "ca" };
  static const char *const types[] = { "hostport", "email", "line", "path" };
  static const char *const texts[] = { "the setting server is not HOST:PORT",
                                       "the setting from is not an address",
                                       "the setting security is not starttls, tls or plain",
                                       "the setting ca is missing" };
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  const char *const values[] = { fixture->server, "a@example.com", "starttls", "" };

  for (guint missing = 0; missing < 4; missing++)
    {
      Call *call = call_new ("mail.send");

      for (guint i = 0; i < 4; i++)
        if (i != missing)
          call_setting (call, names[i], types[i], values[i]);
      add_recipients (call, "alice@example.com", "", "");
      add_text (call);
      check_refused (fixture, call, texts[missing]);
    }
}

static void
test_missing_arguments (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  Call *nobody = call_new ("mail.send");
  Call *no_text = call_new ("mail.send");
  Call *no_argument = call_new ("mail.send");
  Call *other_type = call_new ("mail.send");

  add_settings (nobody, fixture->server, "starttls", fixture->ca);
  add_recipients (nobody, "", "", "");
  add_text (nobody);
  check_refused (fixture, nobody, "there is no recipient");

  add_settings (no_argument, fixture->server, "starttls", fixture->ca);
  add_text (no_argument);
  check_refused (fixture, no_argument, "there is no recipient");

  add_settings (no_text, fixture->server, "starttls", fixture->ca);
  add_recipients (no_text, "alice@example.com", "", "");
  check_refused (fixture, no_text, "there is no subject or no body");

  add_settings (other_type, fixture->server, "starttls", fixture->ca);
  call_strings (other_type, "to", "line-list", "alice@example.com>\"");
  add_text (other_type);
  check_refused (fixture, other_type, "a recipient is not a plain address");
}

static void
test_describe_gets_nothing (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  g_autoptr (GError) error = NULL;
  g_autofree char *result = NULL;
  g_autofree char *outcome = NULL;

  outcome = runner_call (fixture->runner, HANDOVER_MODULE_DESCRIBE,
                         simple_call (fixture, "starttls"), &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (outcome, ==, "failed");
  g_assert_cmpstr (result, ==, "the module cannot do this");
  g_assert_cmpuint (count_mails (fixture), ==, 0);
  check_untouched (fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mail/refusals/credential-shapes", test_credential_shapes);
  g_test_add_func ("/mail/refusals/credential-absent", test_credential_absent);
  g_test_add_func ("/mail/refusals/unknown-names", test_unknown_names);
  g_test_add_func ("/mail/refusals/bad-settings", test_bad_settings);
  g_test_add_func ("/mail/refusals/missing-settings", test_missing_settings);
  g_test_add_func ("/mail/refusals/missing-arguments", test_missing_arguments);
  g_test_add_func ("/mail/refusals/describe-gets-nothing", test_describe_gets_nothing);
  return mail_test_run ();
}
