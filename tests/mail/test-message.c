/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole mails: their bytes, whatever the size of the reads, and what is no mail. */
#include "module/executor/mail/message.h"

#include "service/base/fd.h"
#include "service/base/memfd.h"

#include <string.h>
#include <sys/mman.h>

#define REQUEST "0123456789abcdef0123456789abcdef"

static const char *const nobody[] = { NULL };
static const char *const alice[] = { "alice@example.com", NULL };
static const char *const bob[] = { "bob@example.com", NULL };

static Message
plain (void)
{
  return (Message){ .from = "agent@example.com",
                    .to = alice,
                    .cc = nobody,
                    .subject = "Report",
                    .body = "Hello\nworld",
                    .request = REQUEST,
                    .date = 1796029445 };
}

static char *
read_all (MessageReader *reader, gsize step)
{
  g_autofree char *chunk = g_malloc (step);
  GString *out = g_string_new (NULL);
  gssize n = 0;

  while ((n = message_reader_read (reader, chunk, step)) > 0)
    {
      g_string_append_len (out, chunk, n);
      g_assert_cmpint (message_reader_is_at_end (reader), ==,
                       out->len == message_reader_size (reader));
    }
  g_assert_cmpint (n, ==, 0);
  g_assert_true (message_reader_is_at_end (reader));
  g_assert_cmpuint (out->len, ==, message_reader_size (reader));
  return g_string_free (out, FALSE);
}

static char *
write_message (const Message *message, gsize step)
{
  const char *fault = NULL;
  g_autoptr (MessageReader) reader = message_reader_new (message, &fault);

  g_assert_cmpstr (fault, ==, NULL);
  return read_all (reader, step);
}

static void
check_refused (const Message *message)
{
  const char *fault = NULL;

  g_assert_null (message_reader_new (message, &fault));
  g_assert_nonnull (fault);
}

static void
test_refused (void)
{
  static const char *const hostile[] = { "a\r\nBcc: evil@example.com", "a\nb", "a\rb", "\xff",
                                         "a\x1b" };
  static const char *const names[] = { "", "a/b", "../a", "a\\b", "a\nb", "a\r\nX: y", "\xff" };
  static const char *const requests[] = { "", "x", "0123\r\n", "ABCDEF", REQUEST "0" };

  for (guint i = 0; i < G_N_ELEMENTS (hostile); i++)
    {
      const char *const addresses[] = { "a@example.com", hostile[i], NULL };
      Message subject = plain (), from = plain (), to = plain (), cc = plain ();

      subject.subject = hostile[i];
      from.from = hostile[i];
      to.to = addresses;
      cc.cc = addresses;
      check_refused (&subject);
      check_refused (&from);
      check_refused (&to);
      check_refused (&cc);
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      Attachment attachment = { .name = names[i], .fd = -1 };
      Message message = plain ();

      message.attachments = &attachment;
      message.n_attachments = 1;
      check_refused (&message);
    }
  for (guint i = 0; i < G_N_ELEMENTS (requests); i++)
    {
      Message message = plain ();

      message.request = requests[i];
      check_refused (&message);
    }
  {
    Message message = plain ();

    message.body = "\xff";
    check_refused (&message);
  }
}

static void
test_plain (void)
{
  Message message = plain ();
  g_autofree char *bytes = write_message (&message, 4096);

  g_assert_cmpstr (bytes, ==,
                   "Date: Mon, 30 Nov 2026 09:04:05 +0000\r\n"
                   "Message-ID: <" REQUEST "@example.com>\r\n"
                   "From: agent@example.com\r\n"
                   "To: alice@example.com\r\n"
                   "Subject: Report\r\n"
                   "MIME-Version: 1.0\r\n"
                   "Content-Type: text/plain; charset=utf-8\r\n"
                   "Content-Transfer-Encoding: quoted-printable\r\n"
                   "\r\n"
                   "Hello\r\nworld\r\n");
}

static void
test_recipients (void)
{
  Message message = plain ();
  g_autofree char *with_cc = NULL;
  g_autofree char *only_cc = NULL;
  g_autofree char *blind = NULL;

  message.cc = bob;
  with_cc = write_message (&message, 100);
  g_assert_nonnull (strstr (with_cc, "To: alice@example.com\r\nCc: bob@example.com\r\nSubject:"));
  message.to = nobody;
  only_cc = write_message (&message, 100);
  g_assert_nonnull (strstr (only_cc, "From: agent@example.com\r\nCc: bob@example.com\r\nSubject:"));
  message.cc = nobody;
  blind = write_message (&message, 100);
  g_assert_nonnull (strstr (blind, "From: agent@example.com\r\nTo: undisclosed-recipients:;\r\n"));
}

static void
test_empty_body (void)
{
  Message message = plain ();
  g_autofree char *bytes = NULL;

  message.body = "";
  bytes = write_message (&message, 100);
  g_assert_true (g_str_has_suffix (bytes, "quoted-printable\r\n\r\n"));
  g_free (bytes);
  message.body = "ends\n";
  bytes = write_message (&message, 100);
  g_assert_true (g_str_has_suffix (bytes, "\r\n\r\nends\r\n"));
}

static void
test_attachments (void)
{
  autofd first = memfd_new_sealed ("a", "content", 7, NULL);
  autofd empty = memfd_new_sealed ("b", "", 0, NULL);
  Attachment attachments[] = { { "a.txt", first, 7 }, { "b.txt", empty, 0 } };
  Message message = plain ();
  g_autofree char *bytes = NULL;

  message.attachments = attachments;
  message.n_attachments = 2;
  bytes = write_message (&message, 4096);
  g_assert_nonnull (strstr (bytes,
                            "MIME-Version: 1.0\r\n"
                            "Content-Type: multipart/mixed;\r\n boundary=\"=_" REQUEST "\"\r\n"
                            "\r\n"
                            "--=_" REQUEST "\r\n"
                            "Content-Type: text/plain; charset=utf-8\r\n"
                            "Content-Transfer-Encoding: quoted-printable\r\n"
                            "\r\n"
                            "Hello\r\nworld\r\n"
                            "--=_" REQUEST "\r\n"
                            "Content-Type: application/octet-stream\r\n"
                            "Content-Transfer-Encoding: base64\r\n"
                            "Content-Disposition: attachment;\r\n filename=\"a.txt\"\r\n"
                            "\r\n"
                            "Y29udGVudA==\r\n"
                            "\r\n--=_" REQUEST "\r\n"));
  g_assert_true (g_str_has_suffix (bytes, " filename=\"b.txt\"\r\n\r\n\r\n--=_" REQUEST "--\r\n"));
}

/* The same bytes, in whatever steps they are read; the boundary is only where it belongs. */
static void
test_steps (void)
{
  static const gsize steps[] = { 1, 7, 76, 1000, 100000 };
  g_autofree char *content = g_malloc (100001);
  g_autofree char *expected = NULL;
  autofd file = -1;
  Attachment attachment = { .name = "big.bin", .size = 100001 };
  Message message = plain ();

  for (gsize i = 0; i < 100001; i++)
    content[i] = (char) g_test_rand_int ();
  file = memfd_new_sealed ("big", content, 100001, NULL);
  attachment.fd = file;
  message.attachments = &attachment;
  message.n_attachments = 1;
  message.body = "--=_" REQUEST "\n--=_" REQUEST "--\n";
  expected = write_message (&message, 4096);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *bytes = write_message (&message, steps[i]);
      g_auto (GStrv) parts = g_strsplit (bytes, "--=_", -1);

      g_assert_cmpstr (bytes, ==, expected);
      g_assert_cmpuint (g_strv_length (parts), ==, 4);
      g_assert_null (strstr (bytes, "\r\n."));
    }
}

/* A file that is shorter than it said, which no sealed one is, ends the mail early. */
static void
test_unreadable (void)
{
  autofd file = memfd_new_sealed ("a", "content", 7, NULL);
  Attachment attachment = { "a.txt", file, 8 };
  Message message = plain ();
  const char *fault = NULL;
  g_autoptr (MessageReader) reader = NULL;
  char chunk[4096];
  gssize n = 1;

  message.attachments = &attachment;
  message.n_attachments = 1;
  reader = message_reader_new (&message, &fault);
  while (n > 0)
    n = message_reader_read (reader, chunk, sizeof chunk);
  g_assert_cmpint (n, ==, -1);
  g_assert_false (message_reader_is_at_end (reader));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mail/message/refused", test_refused);
  g_test_add_func ("/mail/message/plain", test_plain);
  g_test_add_func ("/mail/message/recipients", test_recipients);
  g_test_add_func ("/mail/message/empty-body", test_empty_body);
  g_test_add_func ("/mail/message/attachments", test_attachments);
  g_test_add_func ("/mail/message/steps", test_steps);
  g_test_add_func ("/mail/message/unreadable", test_unreadable);
  return g_test_run ();
}
