/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One mail, and a reader that gives its bytes.  There is no Bcc in here: whoever gets a blind copy
 * is a recipient of the envelope only.
 */
#pragma once

#include <glib.h>

typedef struct
{
  const char *name;
  int fd; /* sealed: read with pread() */
  guint64 size;
} Attachment;

typedef struct
{
  const char *from;
  const char *const *to; /* NULL-terminated, may be empty */
  const char *const *cc;
  const char *subject;
  const char *body;
  const Attachment *attachments;
  gsize n_attachments;
  const char *request; /* the request id, part of Message-ID and boundary */
  gint64 date;         /* seconds since 1970 */
} Message;

typedef struct MessageReader MessageReader;

/*
 * message_reader_new:
 * @message: must outlive the reader
 * @out_fault: (out): what cannot be written, a constant
 *
 * Returns: (transfer full) (nullable): NULL where any part of @message is not what a header may
 * hold.
 */
MessageReader *message_reader_new (const Message *message, const char **out_fault);
void message_reader_free (MessageReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (MessageReader, message_reader_free)

guint64 message_reader_size (const MessageReader *reader);

/* message_reader_read: up to @len of the next bytes; 0 at the end, -1 where a file can't be read.
 */
gssize message_reader_read (MessageReader *reader, char *out_data, gsize len);

/* message_reader_is_at_end: whether the last byte was given out. */
gboolean message_reader_is_at_end (const MessageReader *reader);
