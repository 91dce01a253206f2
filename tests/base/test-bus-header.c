/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of headers against what GDBus writes, and against every way to write one wrongly. */
#include "service/base/bus-header.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/base/bus-message.h"

#include <string.h>

#define MESSAGE "l\1\0\1" "\0\0\0\0" "\1\0\0\0"
/* Fields of a call, each padded to eight bytes. */
#define PATH "\1\1o\0" "\2\0\0\0" "/a\0\0\0\0\0\0"
#define MEMBER "\3\1s\0" "\1\0\0\0" "M\0\0\0\0\0\0\0"

typedef struct
{
  const char *what;
  const char *fields;
  gsize size; /* of the fields, without the last one's padding */
} Bad;

#define BAD(what, fields, padding) { what, fields, sizeof (fields) - 1 - (padding) }

static const Bad bads[] = {
  BAD ("no fields", "", 0),
  BAD ("no member", PATH, 5),
  BAD ("no path", MEMBER, 6),
  BAD ("a path twice", PATH MEMBER PATH, 5),
  BAD ("field 0", "\0\1s\0" "\1\0\0\0" "M\0\0\0\0\0\0\0" PATH MEMBER, 6),
  BAD ("a path that is a string", "\1\1s\0" "\2\0\0\0" "/a\0\0\0\0\0\0" MEMBER, 6),
  BAD ("a member that is a path", PATH "\3\1o\0" "\2\0\0\0" "/M\0\0\0\0\0\0", 5),
  BAD ("a type of two", PATH "\3\2ss\0\0\0\0" "\1\0\0\0" "M\0\0\0", 2),
  BAD ("no type", PATH "\3\0\0\0" "\1\0\0\0" "M\0\0\0\0\0\0\0", 6),
  BAD ("a path without a slash", "\1\1o\0" "\2\0\0\0" "aa\0\0\0\0\0\0" MEMBER, 6),
  BAD ("an empty path", "\1\1o\0" "\0\0\0\0" "\0\0\0\0\0\0\0\0" MEMBER, 6),
  BAD ("an empty member", PATH "\3\1s\0" "\0\0\0\0" "\0\0\0\0\0\0\0\0", 7),
  BAD ("a member with a space", PATH "\3\1s\0" "\1\0\0\0" " \0\0\0\0\0\0\0", 6),
  BAD ("a member beyond ASCII", PATH "\3\1s\0" "\2\0\0\0" "\xc3\xa9\0\0\0\0\0\0", 5),
  BAD ("a zero within a text", PATH "\3\1s\0" "\3\0\0\0" "M\0M\0\0\0\0\0", 4),
  BAD ("no zero after a text", PATH "\3\1s\0" "\1\0\0\0" "MM\0\0\0\0\0\0", 6),
  BAD ("a text beyond the end", PATH "\3\1s\0" "\2\0\0\0" "M\0\0\0\0\0\0\0", 6),
  BAD ("a text of four gigabytes", PATH "\3\1s\0" "\xff\xff\xff\xff" "M\0\0\0\0\0\0\0", 6),
  BAD ("an end in a length", PATH "\3\1s\0" "\1\0", 0),
  BAD ("an end in a type", PATH "\3\1", 0),
  BAD ("an end after a type", PATH "\3\1s\0", 0),
  BAD ("padding that is not zero", "\1\1o\0" "\2\0\0\0" "/a\0\0\0\0\0\1" MEMBER, 6),
  BAD ("a sender without a colon", PATH MEMBER "\7\1s\0" "\3\0\0\0" "1.7\0\0\0\0\0", 4),
  BAD ("a sender of only a colon", PATH MEMBER "\7\1s\0" "\1\0\0\0" ":\0\0\0\0\0\0\0", 6),
  BAD ("a number that is a text", PATH MEMBER "\11\1s\0" "\1\0\0\0" "1\0\0\0\0\0\0\0", 6),
  BAD ("a signature of no types", PATH MEMBER "\10\1g\0" "\1-\0\0", 1),
  BAD ("a signature and no body", PATH MEMBER "\10\1g\0" "\1s\0\0", 1),
  BAD ("a field of a later protocol that is not simple",
       PATH MEMBER "\12\1v\0" "\1s\0\0" "\1\0\0\0" "x\0\0\0", 2),
  BAD ("a field of a later protocol that is an array",
       PATH MEMBER "\12\2ay\0\0\0\0" "\1\0\0\0" "x\0\0\0\0\0\0\0", 7),
};

static GByteArray *
with_fields (const void *fields, gsize size)
{
  GByteArray *bytes = g_byte_array_new ();
  guint32 len = GUINT32_TO_LE ((guint32) size);
  const guint8 zero[8] = { 0 };

  g_byte_array_append (bytes, (const guint8 *) MESSAGE, sizeof MESSAGE - 1);
  g_byte_array_append (bytes, (const guint8 *) &len, sizeof len);
  g_byte_array_append (bytes, fields, (guint) size);
  g_byte_array_append (bytes, zero, (8 - bytes->len % 8) % 8);
  return bytes;
}

static void
assert_bad (const GByteArray *bytes)
{
  g_autoptr (GError) error = NULL;
  BusHeader header = { 0 };
  /* Exactly as many bytes as there are, so that a sanitizer sees a read beyond them. */
  g_autofree guint8 *copy = g_memdup2 (bytes->data, bytes->len);

  g_assert_false (bus_header_read (copy, bytes->len, &header, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
}

static void
test_bad (void)
{
  g_autoptr (GByteArray) good = with_fields (PATH MEMBER, sizeof (PATH MEMBER) - 1 - 6);
  BusHeader header = { 0 };

  g_assert_true (bus_header_read (good->data, good->len, &header, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (bads); i++)
    {
      g_autoptr (GByteArray) bytes = with_fields (bads[i].fields, bads[i].size);

      g_test_message ("%s", bads[i].what);
      assert_bad (bytes);
    }
}

/* Every header that GDBus writes, cut off anywhere, with any one byte of its fixed part changed. */
static void
test_damaged (void)
{
  g_autoptr (GDBusMessage) message = message_new ("('x',)", 5);
  g_autoptr (GByteArray) bytes = message_blob (message, FALSE);
  guint32 header_size = 0, body_size = 0;
  BusHeader header = { 0 };

  g_assert_true (bus_header_size (bytes->data, &header_size, &body_size));
  for (gsize size = 0; size < header_size; size++)
    {
      g_autofree guint8 *copy = g_memdup2 (bytes->data, size);

      g_assert_false (bus_header_read (copy, size, &header, NULL));
    }
  g_assert_false (bus_header_read (bytes->data, header_size + 8, &header, NULL));
  for (guint i = 0; i < header_size; i++)
    for (guint bit = 0; bit < 8; bit++)
      {
        g_autofree guint8 *copy = g_memdup2 (bytes->data, header_size);

        copy[i] ^= (guint8) (1u << bit);
        bus_header_read (copy, header_size, &header, NULL);
      }
}

static void
test_no_message (void)
{
  static const struct
  {
    guint at;
    guint8 value;
  } changes[] = {
    { 0, 'x' }, { 3, 2 }, { 8, 0 }, { 7, 0x10 }, { 15, 0x10 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GByteArray) bytes = with_fields (PATH MEMBER, sizeof (PATH MEMBER) - 1 - 6);
      guint32 header_size = 0, body_size = 0;

      g_assert_true (bus_header_size (bytes->data, &header_size, &body_size));
      bytes->data[changes[i].at] = changes[i].value;
      g_assert_false (bus_header_size (bytes->data, &header_size, &body_size));
      assert_bad (bytes);
    }
}

static void
check_call (gboolean is_big)
{
  g_autoptr (GDBusMessage) message = message_new ("('x', <1>)", 0x01020304);
  g_autoptr (GByteArray) bytes = NULL;
  guint32 header_size = 0, body_size = 0;
  BusHeader header = { 0 };

  g_dbus_message_set_flags (message, G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED);
  message_set_fds (message, 3);
  bytes = message_blob (message, is_big);
  g_assert_true (bus_header_size (bytes->data, &header_size, &body_size));
  g_assert_cmpuint (header_size + body_size, ==, bytes->len);
  g_assert_true (bus_header_read (bytes->data, header_size, &header, NULL));
  g_assert_cmpuint (header.type, ==, BUS_CALL);
  g_assert_cmpuint (header.flags, ==, BUS_NO_REPLY);
  g_assert_cmpuint (header.serial, ==, 0x01020304);
  g_assert_cmpuint (header.header_size, ==, header_size);
  g_assert_cmpuint (header.body_size, ==, body_size);
  g_assert_cmpuint (header.n_fds, ==, 3);
  g_assert_cmpstr (header.path, ==, "/org/example");
  g_assert_cmpstr (header.interface, ==, "org.example.Some");
  g_assert_cmpstr (header.member, ==, "Member");
  g_assert_cmpstr (header.destination, ==, ":1.1");
  g_assert_cmpstr (header.sender, ==, MESSAGE_SENDER);
  g_assert_cmpstr (header.signature, ==, "sv");
  g_assert_null (header.error_name);
}

static void
test_call (void)
{
  check_call (FALSE);
  check_call (TRUE);
}

/* What means nothing to us is passed by. */
static void
test_later_fields (void)
{
  static const char fields[] = PATH MEMBER "\12\1s\0" "\1\0\0\0" "x\0\0\0\0\0\0\0"
                                           "\13\1t\0" "\0\0\0\0" "\1\2\3\4\5\6\7\10"
                                           "\14\1y\0" "\1\0\0\0" "\15\1g\0" "\1x";
  g_autoptr (GByteArray) bytes = with_fields (fields, sizeof fields);
  BusHeader header = { 0 };

  g_assert_true (bus_header_read (bytes->data, bytes->len, &header, NULL));
  g_assert_cmpstr (header.member, ==, "M");
  g_assert_cmpstr (header.signature, ==, "");
}

/* What is no call needs other fields. */
static void
test_others (void)
{
  g_autoptr (GDBusMessage) call = message_new (NULL, 9);
  g_autoptr (GDBusMessage) reply = g_dbus_message_new_method_reply (call);
  g_autoptr (GDBusMessage) refusal =
      g_dbus_message_new_method_error_literal (call, "org.example.Bad", "text");
  g_autoptr (GDBusMessage) signal = g_dbus_message_new_signal ("/a", "org.example.Some", "Signal");
  GDBusMessage *const messages[] = { call, reply, refusal, signal };

  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      g_autoptr (GByteArray) bytes = NULL;
      guint32 header_size = 0, body_size = 0;
      BusHeader header = { 0 };

      g_dbus_message_set_serial (messages[i], 4);
      bytes = message_blob (messages[i], FALSE);
      g_assert_true (bus_header_size (bytes->data, &header_size, &body_size));
      g_assert_true (bus_header_read (bytes->data, header_size, &header, NULL));
      g_assert_cmpuint (header.type, ==, i + 1);
      g_assert_cmpuint (header.reply_serial, ==, i == 1 || i == 2 ? 9 : 0);
      g_assert_cmpstr (header.error_name, ==, i == 2 ? "org.example.Bad" : NULL);

      /* As any other kind, none of which has what it needs. */
      for (guint8 type = 0; type <= 5; type++)
        {
          gboolean also = type == i + 1 || (i == 2 && type == BUS_RETURN) ||
                          (i == 3 && type == BUS_CALL) || (i == 0 && type == BUS_SIGNAL);

          bytes->data[1] = type;
          g_assert_cmpint (bus_header_read (bytes->data, header_size, &header, NULL), ==, also);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bus-header/bad", test_bad);
  g_test_add_func ("/bus-header/damaged", test_damaged);
  g_test_add_func ("/bus-header/no-message", test_no_message);
  g_test_add_func ("/bus-header/call", test_call);
  g_test_add_func ("/bus-header/later-fields", test_later_fields);
  g_test_add_func ("/bus-header/others", test_others);
  return g_test_run ();
}
