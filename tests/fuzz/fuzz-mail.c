/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mails: the input is cut at each 0x1e into sender, To, Cc, subject, body, file name and content.
 * What is not refused has the known header fields in their order and no other, is ASCII in lines
 * that end with CRLF, has no line that SMTP takes for its end, and gives the content back.
 */
#include "module/executor/mail/message.h"
#include "module/executor/mail/mime.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"

#include <stdint.h>
#include <string.h>

#define REQUEST "0123456789abcdef0123456789abcdef"
#define N_FIELDS 7

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_lines (const GString *mail)
{
  g_assert (g_str_has_suffix (mail->str, "\r\n"));
  g_assert (strlen (mail->str) == mail->len);
  for (gsize i = 0; i < mail->len; i++)
    {
      char c = mail->str[i];

      g_assert (g_ascii_isprint (c) || c == '\t' || c == '\r' || c == '\n');
      g_assert (c != '\n' || (i > 0 && mail->str[i - 1] == '\r'));
      g_assert (c != '\r' || mail->str[i + 1] == '\n');
      g_assert (c != '.' || i == 0 || mail->str[i - 1] != '\n');
    }
}

/* The names of the fields, folded lines left out. */
static void
check_fields (const GString *mail, const Message *message)
{
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (GString) expected = g_string_new ("Date Message-ID From ");
  g_auto (GStrv) lines = g_strsplit (mail->str, "\r\n", -1);

  for (guint i = 0; *lines[i] != '\0'; i++)
    {
      const char *colon = strchr (lines[i], ':');

      if (*lines[i] == ' ')
        continue;
      g_assert (colon != NULL);
      g_string_append_len (names, lines[i], colon - lines[i]);
      g_string_append_c (names, ' ');
    }
  g_string_append (expected, message->to[0] != NULL || message->cc[0] == NULL ? "To " : "");
  g_string_append (expected, message->cc[0] != NULL ? "Cc " : "");
  g_string_append (expected, "Subject MIME-Version Content-Type ");
  g_string_append (expected, message->n_attachments == 0 ? "Content-Transfer-Encoding " : "");
  g_assert_cmpstr (names->str, ==, expected->str);
}

/* The last part but the end: headers, an empty line, base64. */
static void
check_attachment (const GString *mail, const char *content, gsize len)
{
  g_auto (GStrv) parts = g_strsplit (mail->str, "\r\n--=_" REQUEST, -1);
  g_autofree guchar *decoded = NULL;
  const char *body = NULL;
  gsize decoded_len = 0;

  g_assert (g_strv_length (parts) == 4);
  g_assert_cmpstr (parts[3], ==, "--\r\n");
  body = strstr (parts[2], "\r\n\r\n");
  g_assert (body != NULL);
  decoded = g_base64_decode (body, &decoded_len);
  g_assert (decoded_len == len && (len == 0 || memcmp (decoded, content, len) == 0));
}

static void
check_mail (const Message *message, const char *content, gsize content_len)
{
  const char *fault = NULL;
  g_autoptr (MessageReader) reader = message_reader_new (message, &fault);
  g_autoptr (GString) mail = g_string_new (NULL);
  char chunk[1000];
  gssize n = 0;

  g_assert ((reader == NULL) == (fault != NULL));
  if (reader == NULL)
    return;
  while ((n = message_reader_read (reader, chunk, sizeof chunk)) > 0)
    g_string_append_len (mail, chunk, n);
  g_assert (n == 0 && message_reader_is_at_end (reader));
  g_assert (mail->len == message_reader_size (reader));

  check_lines (mail);
  check_fields (mail, message);
  if (message->n_attachments > 0)
    check_attachment (mail, content, content_len);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *fields[N_FIELDS] = { NULL };
  const uint8_t *end = data + size;
  gsize last_len = 0;
  autofd fd = -1;

  for (guint i = 0; i < N_FIELDS; i++)
    {
      const uint8_t *cut = data < end ? memchr (data, 0x1e, (gsize) (end - data)) : NULL;
      gsize len = cut != NULL && i + 1 < N_FIELDS ? (gsize) (cut - data) : (gsize) (end - data);

      fields[i] = g_malloc (len + 1);
      if (len > 0)
        memcpy (fields[i], data, len);
      fields[i][len] = '\0';
      last_len = len;
      data += MIN (len + 1, (gsize) (end - data));
    }

  fd = memfd_new_sealed ("fuzz", fields[6], last_len, NULL);
  {
    const char *const to[] = { fields[1], NULL };
    const char *const cc[] = { fields[2], fields[1], NULL };
    const char *const none[] = { NULL };
    Attachment attachment = { .name = fields[5], .fd = fd, .size = last_len };
    Message message = { .from = fields[0],
                        .to = *fields[1] != '\0' ? to : none,
                        .cc = *fields[2] != '\0' ? cc : none,
                        .subject = fields[3],
                        .body = fields[4],
                        .attachments = &attachment,
                        .n_attachments = *fields[5] != '\0' ? 1 : 0,
                        .request = REQUEST,
                        .date = 1796029445 };

    check_mail (&message, fields[6], last_len);
  }
  for (guint i = 0; i < N_FIELDS; i++)
    g_free (fields[i]);
  return 0;
}
