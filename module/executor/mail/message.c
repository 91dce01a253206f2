/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a mail to its bytes.  Headers and body are made at once, attachments are encoded while they
 * are read, from the sealed descriptor and never from a path.  The size is known before the first
 * byte, so a server can refuse a mail that is too large for it before it gets any of it.
 */
#include "module/executor/mail/message.h"

#include "module/executor/mail/mime.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Raw bytes of a file that are encoded at a time. */
#define FILE_CHUNK (BASE64_LINE_BYTES * 256)

/* The mail is a row of parts: text, then perhaps a file, then text … */
typedef struct
{
  GString *text;
  const Attachment *file; /* (nullable): follows the text */
} Part;

struct MessageReader
{
  GPtrArray *parts;
  guint64 size;
  guint64 given;
  guint part;      /* that is being read */
  gsize offset;    /* in its text */
  guint64 encoded; /* raw bytes of its file that are in the buffer or given out */
  GString *buffer; /* of encoded file content */
  gsize buffer_offset;
};

static void
part_free (gpointer data)
{
  Part *part = data;

  g_string_free (part->text, TRUE);
  g_free (part);
}

static GString *
part_add (MessageReader *reader, const Attachment *file)
{
  Part *part = g_new0 (Part, 1);

  part->text = g_string_new (NULL);
  part->file = file;
  g_ptr_array_add (reader->parts, part);
  return part->text;
}

static gboolean
addresses_are_clean (const char *const *addresses)
{
  for (guint i = 0; addresses[i] != NULL; i++)
    if (!address_is_clean (addresses[i]))
      return FALSE;
  return TRUE;
}

static gboolean
request_is_clean (const char *request)
{
  return *request != '\0' && strlen (request) <= 32 &&
         strspn (request, "0123456789abcdef") == strlen (request);
}

static const char *
message_fault (const Message *message)
{
  if (!address_is_clean (message->from))
    return "the sender is not a plain address";
  if (!addresses_are_clean (message->to) || !addresses_are_clean (message->cc))
    return "a recipient is not a plain address";
  if (!value_is_clean (message->subject))
    return "the subject has a control character";
  if (!g_utf8_validate (message->body, -1, NULL))
    return "the body is not UTF-8";
  if (!request_is_clean (message->request))
    return "the request id is malformed";
  for (gsize i = 0; i < message->n_attachments; i++)
    {
      const char *name = message->attachments[i].name;

      if (*name == '\0' || !value_is_clean (name) || strpbrk (name, "/\\") != NULL)
        return "a file name is empty, a path, or has a control character";
    }
  return NULL;
}

static void
add_headers (GString *out, const Message *message)
{
  header_add_date (out, message->date);
  g_string_append_printf (out, "Message-ID: <%s%s>\r\n", message->request,
                          strchr (message->from, '@'));
  header_add_addresses (out, "From", (const char *const[]){ message->from, NULL });
  if (message->to[0] != NULL)
    header_add_addresses (out, "To", message->to);
  if (message->cc[0] != NULL)
    header_add_addresses (out, "Cc", message->cc);
  if (message->to[0] == NULL && message->cc[0] == NULL)
    g_string_append (out, "To: undisclosed-recipients:;\r\n");
  header_add_text (out, "Subject", message->subject);
  g_string_append (out, "MIME-Version: 1.0\r\n");
}

static void
add_body (GString *out, const Message *message)
{
  g_string_append (out, "Content-Type: text/plain; charset=utf-8\r\n"
                        "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
  quoted_printable_add (out, message->body);
}

/* In quoted-printable, "=_" stands for nothing, and base64 has no "_": no content can be this. */
static void
add_boundary (GString *out, const Message *message, const char *end)
{
  g_string_append_printf (out, "\r\n--=_%s%s\r\n", message->request, end);
}

static void
add_parts (MessageReader *reader, const Message *message)
{
  GString *out = part_add (reader, NULL);

  add_headers (out, message);
  if (message->n_attachments == 0)
    {
      add_body (out, message);
      if (!g_str_has_suffix (out->str, "\r\n"))
        g_string_append (out, "\r\n");
      return;
    }

  g_string_append_printf (out, "Content-Type: multipart/mixed;\r\n boundary=\"=_%s\"\r\n",
                          message->request);
  add_boundary (out, message, "");
  add_body (out, message);
  for (gsize i = 0; i < message->n_attachments; i++)
    {
      add_boundary (out, message, "");
      g_string_append (out, "Content-Type: application/octet-stream\r\n"
                            "Content-Transfer-Encoding: base64\r\n");
      header_add_attachment (out, message->attachments[i].name);
      g_string_append (out, "\r\n");
      ((Part *) g_ptr_array_index (reader->parts, reader->parts->len - 1))->file =
          &message->attachments[i];
      out = part_add (reader, NULL);
    }
  add_boundary (out, message, "--");
}

MessageReader *
message_reader_new (const Message *message, const char **out_fault)
{
  MessageReader *reader = NULL;

  *out_fault = message_fault (message);
  if (*out_fault != NULL)
    return NULL;

  reader = g_new0 (MessageReader, 1);
  reader->parts = g_ptr_array_new_with_free_func (part_free);
  reader->buffer = g_string_new (NULL);
  add_parts (reader, message);
  for (guint i = 0; i < reader->parts->len; i++)
    {
      const Part *part = g_ptr_array_index (reader->parts, i);

      reader->size += part->text->len;
      if (part->file != NULL)
        reader->size += base64_size (part->file->size);
    }
  return reader;
}

void
message_reader_free (MessageReader *reader)
{
  if (reader == NULL)
    return;
  g_ptr_array_unref (reader->parts);
  g_string_free (reader->buffer, TRUE);
  g_free (reader);
}

guint64
message_reader_size (const MessageReader *reader)
{
  return reader->size;
}

gboolean
message_reader_is_at_end (const MessageReader *reader)
{
  return reader->given == reader->size;
}

/* buffer_fill: encodes the next bytes of the file; FALSE where they can't be read. */
static gboolean
buffer_fill (MessageReader *reader, const Attachment *file)
{
  g_autofree guint8 *chunk = g_malloc (FILE_CHUNK);
  gsize wanted = (gsize) MIN (FILE_CHUNK, file->size - reader->encoded);
  gsize have = 0;

  while (have < wanted)
    {
      ssize_t n = pread (file->fd, chunk + have, wanted - have, (off_t) (reader->encoded + have));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      have += (gsize) n;
    }
  g_string_truncate (reader->buffer, 0);
  base64_add (reader->buffer, chunk, have);
  reader->buffer_offset = 0;
  reader->encoded += have;
  return TRUE;
}

static gsize
copy_out (const GString *from, gsize *offset, char *out_data, gsize len)
{
  gsize n = MIN (len, from->len - *offset);

  memcpy (out_data, from->str + *offset, n);
  *offset += n;
  return n;
}

gssize
message_reader_read (MessageReader *reader, char *out_data, gsize len)
{
  gsize done = 0;

  while (done < len && reader->part < reader->parts->len)
    {
      const Part *part = g_ptr_array_index (reader->parts, reader->part);

      if (reader->offset < part->text->len)
        done += copy_out (part->text, &reader->offset, out_data + done, len - done);
      else if (reader->buffer_offset < reader->buffer->len)
        done += copy_out (reader->buffer, &reader->buffer_offset, out_data + done, len - done);
      else if (part->file != NULL && reader->encoded < part->file->size)
        {
          if (!buffer_fill (reader, part->file))
            return -1;
        }
      else
        {
          reader->part++;
          reader->offset = 0;
          reader->encoded = 0;
        }
    }
  reader->given += done;
  return (gssize) done;
}
