/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mail module in its runner against a real server, with TLS and authentication.  What decides a
 * test is what the server has: a mail, or none, and never the credential before TLS is verified.
 */
#include "tests/mail/fixture.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

/* --- TLS and the login --- */

static void
test_no_starttls (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "no-starttls");

  check (fixture, simple_call (fixture, "starttls"), "failed", "the server offers no TLS", 0);
  check_no_secret_on_wire (fixture);
}

static void
test_plain_server_for_tls (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("plain", "none");
  g_autofree char *result = NULL;
  g_autofree char *outcome = execute (fixture, simple_call (fixture, "tls"), &result);

  g_assert_cmpstr (outcome, ==, "failed");
  g_assert_cmpuint (count_mails (fixture), ==, 0);
  check_no_secret_on_wire (fixture);
}

static void
test_wrong_name (void)
{
  static const char *const securities[] = { "starttls", "tls" };

  for (guint i = 0; i < G_N_ELEMENTS (securities); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_with (securities[i], "wrong-name", "none", 60);

      check (fixture, simple_call (fixture, securities[i]), "failed",
             "the server's certificate is not valid for it", 0);
      check_no_secret_on_wire (fixture);
    }
}

static void
test_wrong_authority (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  g_autofree char *other = g_build_filename (certificates (), "other-ca.pem", NULL);
  const char *const authorities[] = { "", other };

  for (guint i = 0; i < G_N_ELEMENTS (authorities); i++)
    {
      Call *call = call_new ("mail.send");

      call->credential = "work-smtp";
      add_settings (call, fixture->server, "starttls", authorities[i]);
      add_recipients (call, "alice@example.com", "", "");
      add_text (call);
      check (fixture, call, "failed", "the server's certificate is not valid for it", 0);
      check_no_secret_on_wire (fixture);
    }
}

static void
check_not_logged_in (const char *fault, const char *text)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", fault);
  g_autofree char *wire = NULL;

  check (fixture, simple_call (fixture, "starttls"), "failed", text, 0);
  wire = read_file (fixture, "wire", NULL);
  g_assert_null (strstr (wire, "Report"));
  g_assert_null (strstr (wire, PASSWORD_BASE64));
}

static void
test_no_login_offered (void)
{
  check_not_logged_in ("no-auth", "the server offers no way to log in that is known here");
  check_not_logged_in ("odd-auth", "the server refused the login");
}

static void
test_login_refused (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  Call *call = simple_call (fixture, "starttls");
  g_autofree char *wire = NULL;

  runner_credential (fixture->runner, "wrong", "agent\nwrong\n");
  call->credential = "wrong";
  check (fixture, call, "failed", "the server refused the login (535 5.7.8)", 0);
  wire = read_file (fixture, "wire", NULL);
  g_assert_null (strstr (wire, "MAIL"));
}

/* --- the server refuses, or dies --- */

static void
test_nobody_listens (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  Call *call = call_new ("mail.send");

  add_settings (call, "127.0.0.1:1", "plain", "");
  add_recipients (call, "alice@example.com", "", "");
  add_text (call);
  check (fixture, call, "failed", "the server could not be reached", 0);
}

static void
test_refused_recipient (void)
{
  static const char *const lists[][3] = {
    { "refused@example.com", "", "" },
    { "alice@example.com refused@example.com", "", "" },
    { "refused@example.com alice@example.com", "", "" },
    { "alice@example.com", "refused@example.com", "bob@example.com" },
    { "alice@example.com", "bob@example.com", "refused@example.com" },
  };
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      Call *call = call_new ("mail.send");
      g_autofree char *wire = NULL;

      call->credential = "work-smtp";
      add_settings (call, fixture->server, "starttls", fixture->ca);
      add_recipients (call, lists[i][0], lists[i][1], lists[i][2]);
      add_text (call);
      check (fixture, call, "failed", "the server refused sender, recipient or mail (550 5.1.1)",
             0);
      wire = read_file (fixture, "wire", NULL);
      g_assert_null (strstr (wire, "DATA"));
    }
}

static void
test_too_large_for_server (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "small");
  g_autofree char *data = g_strnfill (5000, 'x');
  g_autofree char *wire = NULL;
  Call *call = simple_call (fixture, "starttls");

  call_file (call, data, 5000);
  call_argument (call, "attachment", "file-list", g_variant_new_parsed ("[('a', handle 0)]"));
  check (fixture, call, "failed", "the server refused sender, recipient or mail (552)", 0);
  wire = read_file (fixture, "wire", NULL);
  g_assert_null (strstr (wire, "DATA"));
}

static void
test_dies_at_data (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "die-at-data");

  check (fixture, simple_call (fixture, "starttls"), "failed",
         "the connection ended before the mail was sent", 0);
}

static void
test_dies_in_data (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "die-in-data");
  g_autofree char *data = g_strnfill (20 * 1024 * 1024, 'x');
  Call *call = simple_call (fixture, "starttls");

  call_file (call, data, 20 * 1024 * 1024);
  call_argument (call, "attachment", "file-list", g_variant_new_parsed ("[('a', handle 0)]"));
  check (fixture, call, "failed", "the connection ended before the mail was sent", 0);
}

static void
test_refuses_after_data (void)
{
  g_autoptr (Fixture) five = fixture_new ("starttls", "reject-5");
  g_autoptr (Fixture) four = fixture_new ("starttls", "reject-4");

  check (five, simple_call (five, "starttls"), "failed", "the server refused the mail (554 5.7.1)",
         0);
  check (four, simple_call (four, "starttls"), "failed", "the server refused the mail (451 4.3.0)",
         0);
}

static void
test_unknown (void)
{
  static const struct
  {
    const char *fault;
    guint mails;
  } faults[] = { { "die-after-data", 1 }, { "cut-reply", 1 }, { "odd-reply", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new ("starttls", faults[i].fault);

      g_test_message ("%s", faults[i].fault);
      check (fixture, simple_call (fixture, "starttls"), "unknown",
             "the mail was sent, but the server did not say whether it took it", faults[i].mails);
    }
}

/* The runner ends the module: no answer, which is unknown to the executor. */
static void
test_hangs_after_data (void)
{
  static const guint limits[] = { 5, 60 }; /* one within which the mail arrives */
  guint arrived = 0;

  for (guint i = 0; i < G_N_ELEMENTS (limits) && arrived == 0; i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_with ("starttls", "good", "hang", limits[i]);
      g_autoptr (GError) error = NULL;

      g_assert_null (runner_call (fixture->runner, HANDOVER_MODULE_EXECUTE,
                                  simple_call (fixture, "starttls"), NULL, NULL, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
      arrived = count_mails (fixture);
    }
  g_assert_cmpuint (arrived, ==, 1);
}

/* --- delivered --- */

static void
check_delivered (Fixture *fixture, Call *call)
{
  check (fixture, call, "done", "the server took the mail (250 2.0.0)", 1);
  expect_file (fixture, "defects", "");
  expect_file (fixture, "from", "offboarding@example.com");
}

static void
check_attachment (Fixture *fixture, guint i, const char *name, const char *data, gsize len)
{
  g_autofree char *path = g_strdup_printf ("mail-0/attachment-%u", i);
  g_autofree char *name_path = g_strdup_printf ("name-%u", i);
  gsize found_len = 0;
  g_autofree char *found = read_file (fixture, path, &found_len);

  expect_file (fixture, name_path, name);
  g_assert_cmpmem (found, found_len, data, len);
}

static void
test_delivered (void)
{
  static const char subject[] =
      "Zugang gesperrt \xe2\x80\x93 j.smith =?utf-8?Q?x?= \xf0\x9f\x98\x80";
  static const char body[] = "Hello,\n\n.\n..\nFrom here =20 on\ttabs \n"
                             "\xc3\xbc\xc3\xa4\xe2\x82\xac\n--=_" RUNNER_REQUEST "--\n";
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  g_autofree char *large = g_malloc (1000000);
  g_autofree char *raw = NULL;
  Call *call = call_new ("mail.send");

  for (gsize i = 0; i < 1000000; i++)
    large[i] = (char) g_test_rand_int ();
  call->credential = "work-smtp";
  add_settings (call, fixture->server, "starttls", fixture->ca);
  add_recipients (call, "alice@example.com bob@example.com", "carol@example.com",
                  "secret@example.org alice@example.com");
  call_string (call, "subject", "line", subject);
  call_string (call, "body", "text", body);
  call_file (call, large, 1000000);
  call_file (call, "", 0);
  call_file (call, "pdf", 3);
  call_argument (call, "attachment", "file-list",
                 g_variant_new_parsed ("[(%s, handle 0), (%s, handle 1), ('report.pdf', handle 2)]",
                                       "gr\xc3\xbcn \"und\"; filename=x %41.bin",
                                       "a name that is so long that it does not fit into one line "
                                       "of a header, \xe2\x82\xac and then some more of it.txt"));
  check_delivered (fixture, call);

  expect_file (fixture, "recipients",
               "alice@example.com bob@example.com carol@example.com secret@example.org");
  expect_file (fixture, "to", "alice@example.com, bob@example.com");
  expect_file (fixture, "cc", "carol@example.com");
  expect_file (fixture, "headers", "Date Message-ID From To Cc Subject MIME-Version Content-Type");
  expect_file (fixture, "subject", subject);
  expect_file (fixture, "body", body);
  expect_file (fixture, "message-id", "<" RUNNER_REQUEST "@example.com>");
  expect_file (fixture, "user", "agent");
  expect_file (fixture, "hello", "example.com");
  check_attachment (fixture, 0, "gr\xc3\xbcn \"und\"; filename=x %41.bin", large, 1000000);
  check_attachment (fixture, 1,
                    "a name that is so long that it does not fit into one line of a header, "
                    "\xe2\x82\xac and then some more of it.txt",
                    "", 0);
  check_attachment (fixture, 2, "report.pdf", "pdf", 3);

  raw = read_file (fixture, "mail-0/raw", NULL);
  g_assert_null (strstr (raw, "secret@example.org"));
  g_assert_null (strstr (raw, PASSWORD));
}

static void
test_delivered_over_tls (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("tls", "none");

  check_delivered (fixture, simple_call (fixture, "tls"));
  expect_file (fixture, "user", "agent");
  expect_file (fixture, "body", "Hello\nworld\n");
}

static void
test_delivered_in_plain (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("plain", "none");
  Call *call = simple_call (fixture, "plain");

  call->credential = "";
  check_delivered (fixture, call);
  expect_file (fixture, "user", "nobody");
}

static void
test_delivered_to_bcc_only (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  g_autofree char *raw = NULL;
  Call *call = call_new ("mail.send");

  call->credential = "work-smtp";
  add_settings (call, fixture->server, "starttls", fixture->ca);
  call_string (call, "bcc", "email", "secret@example.org");
  call_string (call, "subject", "line", "");
  call_string (call, "body", "text", "");
  check_delivered (fixture, call);
  expect_file (fixture, "recipients", "secret@example.org");
  raw = read_file (fixture, "mail-0/raw", NULL);
  g_assert_null (strstr (raw, "secret"));
}

static void
test_delivered_single_file (void)
{
  g_autoptr (Fixture) fixture = fixture_new ("starttls", "none");
  Call *call = simple_call (fixture, "starttls");

  call_file (call, "content", 7);
  call_argument (call, "attachment", "file", g_variant_new_parsed ("[('one.txt', handle 0)]"));
  check_delivered (fixture, call);
  check_attachment (fixture, 0, "one.txt", "content", 7);
}

/* A good-bye that is not answered does not make a delivered mail unknown. */
static void
test_delivered_without_good_bye (void)
{
  g_autoptr (Fixture) fixture = fixture_new_with ("starttls", "good", "hang-at-quit", 60);

  check_delivered (fixture, simple_call (fixture, "starttls"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mail/no-starttls", test_no_starttls);
  g_test_add_func ("/mail/plain-server-for-tls", test_plain_server_for_tls);
  g_test_add_func ("/mail/wrong-name", test_wrong_name);
  g_test_add_func ("/mail/wrong-authority", test_wrong_authority);
  g_test_add_func ("/mail/no-login-offered", test_no_login_offered);
  g_test_add_func ("/mail/login-refused", test_login_refused);
  g_test_add_func ("/mail/nobody-listens", test_nobody_listens);
  g_test_add_func ("/mail/refused-recipient", test_refused_recipient);
  g_test_add_func ("/mail/too-large-for-server", test_too_large_for_server);
  g_test_add_func ("/mail/dies-at-data", test_dies_at_data);
  g_test_add_func ("/mail/dies-in-data", test_dies_in_data);
  g_test_add_func ("/mail/refuses-after-data", test_refuses_after_data);
  g_test_add_func ("/mail/unknown", test_unknown);
  g_test_add_func ("/mail/hangs-after-data", test_hangs_after_data);
  g_test_add_func ("/mail/delivered", test_delivered);
  g_test_add_func ("/mail/delivered-over-tls", test_delivered_over_tls);
  g_test_add_func ("/mail/delivered-in-plain", test_delivered_in_plain);
  g_test_add_func ("/mail/delivered-to-bcc-only", test_delivered_to_bcc_only);
  g_test_add_func ("/mail/delivered-single-file", test_delivered_single_file);
  g_test_add_func ("/mail/delivered-without-good-bye", test_delivered_without_good_bye);
  return mail_test_run ();
}
