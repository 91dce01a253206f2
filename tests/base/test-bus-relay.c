/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The relay between a bus that is the test's own end of a socket and a real GDBusConnection. */
#include "service/base/bus-relay.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "tests/base/bus-message.h"

#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

typedef struct
{
  int bus; /* the test's end */
  BusRelay *relay;
  GAsyncQueue *calls; /* (element-type GDBusMessage): what the filter got */
  guint filter;
  GMutex busy;        /* the filter waits while it is held */
  gint signals;
} Fixture;

/* --- the bus --- */

static void
send_bytes (int fd, const guint8 *bytes, gsize size, gsize most, int passed)
{
  for (gsize at = 0; at < size;)
    {
      union
      {
        char bytes[CMSG_SPACE (sizeof (int))];
        struct cmsghdr alignment;
      } control = { .bytes = { 0 } };
      struct iovec part = { (guint8 *) bytes + at, MIN (most, size - at) };
      struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
      ssize_t n = 0;

      if (at == 0 && passed >= 0)
        {
          message.msg_control = control.bytes;
          message.msg_controllen = sizeof control.bytes;
          CMSG_FIRSTHDR (&message)->cmsg_level = SOL_SOCKET;
          CMSG_FIRSTHDR (&message)->cmsg_type = SCM_RIGHTS;
          CMSG_FIRSTHDR (&message)->cmsg_len = CMSG_LEN (sizeof (int));
          memcpy (CMSG_DATA (CMSG_FIRSTHDR (&message)), &passed, sizeof passed);
        }
      n = sendmsg (fd, &message, MSG_NOSIGNAL);
      g_assert_cmpint (n, >, 0);
      at += (gsize) n;
    }
}

static void
receive_bytes (int fd, guint8 *bytes, gsize size)
{
  for (gsize at = 0; at < size;)
    {
      ssize_t n = read (fd, bytes + at, size - at);

      g_assert_cmpint (n, >, 0);
      at += (gsize) n;
    }
}

static GDBusMessage *
receive_message (int fd)
{
  guint8 fixed[BUS_HEADER_FIXED];
  guint32 header_size = 0, body_size = 0;
  g_autofree guint8 *bytes = NULL;
  g_autoptr (GError) error = NULL;
  GDBusMessage *message = NULL;

  receive_bytes (fd, fixed, sizeof fixed);
  g_assert_true (bus_header_size (fixed, &header_size, &body_size));
  bytes = g_malloc (header_size + body_size);
  memcpy (bytes, fixed, sizeof fixed);
  receive_bytes (fd, bytes + sizeof fixed, header_size + body_size - sizeof fixed);
  message = g_dbus_message_new_from_blob (bytes, header_size + body_size,
                                          G_DBUS_CAPABILITY_FLAGS_NONE, &error);
  g_assert_no_error (error);
  return message;
}

static void
send_message (Fixture *fixture, GDBusMessage *message, gboolean is_big, gsize most, int passed)
{
  g_autoptr (GByteArray) bytes = message_blob (message, is_big);

  send_bytes (fixture->bus, bytes->data, bytes->len, most, passed);
}

static void
send_call (Fixture *fixture, const char *member, const char *body, guint32 serial)
{
  g_autoptr (GDBusMessage) message = message_new (body, serial);

  g_dbus_message_set_member (message, member);
  send_message (fixture, message, FALSE, G_MAXUINT16, -1);
}

static char *
receive_line (int fd)
{
  GString *line = g_string_new (NULL);
  char c = 0;

  while (c != '\n')
    {
      receive_bytes (fd, (guint8 *) &c, 1);
      if (c != '\0')
        g_string_append_c (line, c);
    }
  return g_string_free (line, FALSE);
}

/* What a bus says until a connection has its name. */
static gpointer
welcome (gpointer data)
{
  int fd = GPOINTER_TO_INT (data);
  gboolean begun = FALSE;
  g_autoptr (GDBusMessage) hello = NULL;
  g_autoptr (GDBusMessage) reply = NULL;
  g_autoptr (GByteArray) bytes = NULL;

  while (!begun)
    {
      g_autofree char *line = receive_line (fd);
      const char *answer = "";

      if (g_str_has_prefix (line, "AUTH EXTERNAL"))
        answer = "OK 0123456789abcdef0123456789abcdef\r\n";
      else if (g_str_has_prefix (line, "AUTH"))
        answer = "REJECTED EXTERNAL\r\n";
      else if (g_str_has_prefix (line, "NEGOTIATE_UNIX_FD"))
        answer = "AGREE_UNIX_FD\r\n";
      else
        begun = g_str_has_prefix (line, "BEGIN");
      send_bytes (fd, (const guint8 *) answer, strlen (answer), 1, -1);
    }
  hello = receive_message (fd);
  g_assert_cmpstr (g_dbus_message_get_member (hello), ==, "Hello");
  reply = g_dbus_message_new_method_reply (hello);
  g_dbus_message_set_serial (reply, 1);
  g_dbus_message_set_sender (reply, BUS_DRIVER);
  g_dbus_message_set_body (reply, g_variant_new ("(s)", ":1.1"));
  bytes = message_blob (reply, FALSE);
  send_bytes (fd, bytes->data, bytes->len, 7, -1);
  return NULL;
}

/* --- our side --- */

static gint tickets;
static gint judged;

static void
ticket_free (gpointer ticket)
{
  g_atomic_int_add (&tickets, -1);
  g_free (ticket);
}

/* Members say what is to become of them. */
static gboolean
judge (
    const BusHeader *header, guint64 *out_lane, gpointer *out_ticket, gpointer data, GError **error)
{
  g_assert_cmpstr (header->sender, ==, MESSAGE_SENDER);
  g_atomic_int_inc (&judged);
  if (strcmp (header->member, "Refused") == 0)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT, "of the test");
  if (strcmp (header->member, "Dropped") == 0)
    return FALSE;
  *out_lane = strcmp (header->member, "Other") == 0 ? 2 : 1;
  *out_ticket = g_new0 (char, 1);
  g_atomic_int_inc (&tickets);
  return TRUE;
}

static GDBusMessage *
filter (GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer data)
{
  Fixture *fixture = data;

  if (!incoming)
    return message;
  if (g_dbus_message_get_message_type (message) == G_DBUS_MESSAGE_TYPE_SIGNAL)
    g_atomic_int_inc (&fixture->signals);
  if (g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL)
    return message;
  g_mutex_lock (&fixture->busy);
  g_mutex_unlock (&fixture->busy);
  ticket_free (bus_relay_taken (fixture->relay, g_dbus_message_get_serial (message)));
  g_async_queue_push (fixture->calls, message);
  return NULL;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  struct timeval timeout = { .tv_sec = 30 };
  int ends[2] = { -1, -1 };
  GThread *bus = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  g_assert_cmpint (setsockopt (ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), ==, 0);
  fixture->bus = ends[0];
  fixture->calls = g_async_queue_new_full (g_object_unref);
  g_mutex_init (&fixture->busy);
  bus = g_thread_new ("bus", welcome, GINT_TO_POINTER (ends[0]));
  fixture->relay = bus_relay_new_for_fd (ends[1], judge, ticket_free, fixture, &error);
  g_assert_no_error (error);
  g_thread_join (bus);
  fixture->filter = g_dbus_connection_add_filter (bus_relay_connection (fixture->relay), filter,
                                                  fixture, NULL);
  bus_relay_open (fixture->relay);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  bus_relay_close (fixture->relay);
  g_dbus_connection_remove_filter (bus_relay_connection (fixture->relay), fixture->filter);
  bus_relay_unref (fixture->relay);
  g_async_queue_unref (fixture->calls);
  fd_clear (&fixture->bus);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_mutex_clear (&fixture->busy);
  g_assert_cmpint (g_atomic_int_get (&tickets), ==, 0);
}

/* The next call that the filter got; its serial must be @serial. */
static GDBusMessage *
next_call (Fixture *fixture, guint32 serial)
{
  GDBusMessage *message = g_async_queue_timeout_pop (fixture->calls, 30 * G_USEC_PER_SEC);

  g_assert_nonnull (message);
  g_assert_cmpuint (g_dbus_message_get_serial (message), ==, serial);
  return message;
}

static void
assert_passes (Fixture *fixture, guint32 serial)
{
  send_call (fixture, "Member", NULL, serial);
  g_object_unref (next_call (fixture, serial));
}

static void
assert_refused (Fixture *fixture, guint32 serial, const char *name, const char *reason)
{
  g_autoptr (GDBusMessage) reply = receive_message (fixture->bus);
  const char *text = NULL;

  g_assert_cmpint (g_dbus_message_get_message_type (reply), ==, G_DBUS_MESSAGE_TYPE_ERROR);
  g_assert_cmpuint (g_dbus_message_get_reply_serial (reply), ==, serial);
  g_assert_cmpstr (g_dbus_message_get_destination (reply), ==, MESSAGE_SENDER);
  g_assert_cmpstr (g_dbus_message_get_error_name (reply), ==, name);
  g_variant_get (g_dbus_message_get_body (reply), "(&s)", &text);
  g_assert_true (g_str_has_prefix (text, reason));
}

/* Until so many calls were seen by the relay: GDBus may be busy. */
static void
wait_judged (gint n)
{
  gint64 end = g_get_monotonic_time () + 30 * G_USEC_PER_SEC;

  while (g_atomic_int_get (&judged) < n)
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      g_usleep (500);
    }
}

/* --- the tests --- */

static void
test_pieces (Fixture *fixture, gconstpointer data)
{
  for (guint32 i = 1; i <= 12; i++)
    {
      g_autoptr (GDBusMessage) sent = message_new ("('x', @h 0)", i);
      g_autoptr (GDBusMessage) got = NULL;
      g_autofree char *body = NULL;
      int ends[2] = { -1, -1 };
      autofd reader = -1, writer = -1, arrived = -1;

      g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
      reader = ends[0];
      writer = ends[1];
      message_set_fds (sent, 1);
      send_message (fixture, sent, i % 2 == 0, i, writer);
      got = next_call (fixture, i);
      body = g_variant_print (g_dbus_message_get_body (got), FALSE);
      g_assert_cmpstr (body, ==, "('x', 0)");
      g_assert_cmpint (g_unix_fd_list_get_length (g_dbus_message_get_unix_fd_list (got)), ==, 1);
      arrived = g_unix_fd_list_get (g_dbus_message_get_unix_fd_list (got), 0, NULL);
      g_assert_cmpint (write (arrived, "x", 1), ==, 1);
      g_assert_cmpint (fcntl (arrived, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
    }
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDBusMessage) message = message_new ("('x', @h 0)", 5);
  int ends[2] = { -1, -1 };
  autofd reader = -1;
  char byte = 0;

  send_call (fixture, "Refused", "('x',)", 4);
  assert_refused (fixture, 4, "org.undersign1.Error.LimitExceeded", US_REASON_LIMIT);
  g_assert_cmpuint (bus_relay_passed (fixture->relay), ==, 0);

  /* Who wants no answer gets none, and what came with it is closed. */
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  reader = ends[0];
  g_dbus_message_set_member (message, "Refused");
  message_set_fds (message, 1);
  g_dbus_message_set_flags (message, G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED);
  send_message (fixture, message, FALSE, 100, ends[1]);
  close (ends[1]);
  g_assert_cmpint (read (reader, &byte, 1), ==, 0);

  send_call (fixture, "Dropped", NULL, 6);
  send_call (fixture, "Refused", NULL, 7);
  assert_refused (fixture, 7, "org.undersign1.Error.LimitExceeded", US_REASON_LIMIT);
  assert_passes (fixture, 8);
}

static void
test_too_much (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GString) body = g_string_new ("([<1>");

  for (guint i = 0; i < 20000; i++)
    g_string_append (body, ", <1>");
  g_string_append (body, "],)");
  send_call (fixture, "Member", body->str, 1);
  assert_refused (fixture, 1, "org.undersign1.Error.InvalidArgument", US_REASON_TOO_LARGE);
  g_assert_cmpuint (bus_relay_passed (fixture->relay), ==, 0);
  assert_passes (fixture, 2);
}

/* A bus that does not look at bodies: one that is cut off anywhere, or that goes on, never reaches
 * GDBus, which would end its connection over it. */
static void
test_malformed (Fixture *fixture, gconstpointer data)
{
  static const char *const bodies[] = {
    "('x',)",
    "(objectpath '/a/b', 'why', @a{sv} {})",
    "('r', 'mail.send', {'to': <['a@b']>, 'sure': <true>, 'h': <@h 0>}, {'k': <objectpath '/a'>})",
    "([byte 1, 2], {'n': <uint32 7>, 'deep': <<<signature 'a{sv}'>>>}, @t 1)",
    "([('x', @h 0)], @av [<1>, <'y'>], @ab [true, false])",
  };
  guint32 serial = 1;

  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    {
      g_autoptr (GDBusMessage) message = message_new (bodies[i], 1);
      g_autoptr (GByteArray) bytes = message_blob (message, FALSE);
      guint64 passed = bus_relay_passed (fixture->relay);
      guint32 size = 0;

      memcpy (&size, bytes->data + 4, sizeof size);
      size = GUINT32_FROM_LE (size);
      for (guint32 other = 1; other <= size + 8; other++)
        {
          g_autoptr (GByteArray) made = g_byte_array_new ();
          guint32 header[2] = { GUINT32_TO_LE (other), GUINT32_TO_LE (++serial) };

          if (other == size)
            continue;
          g_byte_array_append (made, bytes->data, bytes->len);
          g_byte_array_set_size (made, bytes->len - size + other);
          if (other > size)
            memset (made->data + bytes->len, 0, other - size);
          memcpy (made->data + 4, header, sizeof header);
          send_bytes (fixture->bus, made->data, made->len, G_MAXUINT16, -1);
          assert_refused (fixture, serial, "org.undersign1.Error.InvalidArgument",
                          US_REASON_BAD_MESSAGE);
        }
      g_assert_cmpuint (bus_relay_passed (fixture->relay), ==, passed);
      assert_passes (fixture, ++serial);
    }
}

/* 32 MiB come and go without being kept. */
static void
test_large (Fixture *fixture, gconstpointer data)
{
  g_autofree guint8 *block = g_malloc0 (1024 * 1024);
  g_autoptr (GDBusMessage) message = message_new (NULL, 1);
  g_autoptr (GByteArray) bytes = NULL;
  const guint32 size = GUINT32_TO_LE (32 * 1024 * 1024);

  g_dbus_message_set_member (message, "Refused");
  g_dbus_message_set_body (message, g_variant_new_parsed ("('x',)"));
  bytes = message_blob (message, FALSE);
  g_byte_array_set_size (bytes, bytes->len - 6); /* the body */
  memcpy (bytes->data + 4, &size, sizeof size);
  send_bytes (fixture->bus, bytes->data, bytes->len, 16, -1);
  for (guint i = 0; i < 32; i++)
    send_bytes (fixture->bus, block, 1024 * 1024, 1024 * 1024, -1);
  assert_refused (fixture, 1, "org.undersign1.Error.LimitExceeded", US_REASON_LIMIT);
  assert_passes (fixture, 2);
}

/* What is no call: the bus's own passes, others' signals do not. */
static void
test_signals (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (GDBusMessage) signal =
          g_dbus_message_new_signal ("/a", "org.example.Some", "Signal");

      g_dbus_message_set_sender (signal, i == 5 ? BUS_DRIVER : MESSAGE_SENDER);
      g_dbus_message_set_serial (signal, i + 1);
      send_message (fixture, signal, FALSE, 100, -1);
    }
  assert_passes (fixture, 20);
  g_assert_cmpint (g_atomic_int_get (&fixture->signals), ==, 1);
}

/* Small signals of the one that is heard pass, until another is. */
static void
test_heard (Fixture *fixture, gconstpointer data)
{
  static const char *const senders[] = { ":1.7", ":1.8", ":1.7" };
  g_autofree char *large = g_strnfill (100 * 1024, 'x');

  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GDBusMessage) signal =
          g_dbus_message_new_signal ("/a", "org.example.Some", "Signal");

      if (i == 0)
        bus_relay_hear (fixture->relay, ":1.7");
      if (i == 2)
        bus_relay_hear (fixture->relay, ":1.8");
      g_dbus_message_set_sender (signal, i < 3 ? senders[i] : ":1.8");
      g_dbus_message_set_serial (signal, i + 1);
      if (i == 3)
        g_dbus_message_set_body (signal, g_variant_new ("(s)", large));
      send_message (fixture, signal, FALSE, 100, -1);
      assert_passes (fixture, 20 + i);
      g_assert_cmpint (g_atomic_int_get (&fixture->signals), ==, 1);
    }
}

/* A bus may say who calls by a descriptor, too. */
static void
test_driver_fds (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDBusMessage) signal = g_dbus_message_new_signal ("/a", "org.example.Some", "Signal");

  g_dbus_message_set_sender (signal, BUS_DRIVER);
  g_dbus_message_set_serial (signal, 1);
  g_dbus_message_set_body (signal, g_variant_new_parsed ("('x', @h 0)"));
  message_set_fds (signal, 1);
  send_message (fixture, signal, FALSE, 100, fixture->bus);
  assert_passes (fixture, 2);
  g_assert_cmpint (g_atomic_int_get (&fixture->signals), ==, 1);
}

/* As long as nobody reads refusals, no more than a few are made. */
static void
test_unread (Fixture *fixture, gconstpointer data)
{
  enum { MANY = 50000, PATIENCE = 3000 };
  guint32 n = 0;

  while (n < MANY)
    {
      g_autoptr (GDBusMessage) message = message_new (NULL, n + 1);
      g_autoptr (GByteArray) bytes = NULL;
      struct pollfd polled = { fixture->bus, POLLOUT, 0 };

      g_dbus_message_set_member (message, "Refused");
      bytes = message_blob (message, FALSE);
      if (send (fixture->bus, bytes->data, bytes->len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        n++;
      else if (poll (&polled, 1, PATIENCE) == 0)
        break;
    }
  g_assert_cmpuint (n, <, MANY);
  for (guint32 i = 1; i <= n; i++)
    assert_refused (fixture, i, "org.undersign1.Error.LimitExceeded", US_REASON_LIMIT);
  assert_passes (fixture, n + 1);
}

/* While GDBus is busy it is given no more; then lanes take turns. */
static void
test_turns (Fixture *fixture, gconstpointer data)
{
  enum { N = 40 };
  g_autofree char *text = g_strnfill (8000, 'x');
  g_autofree char *body = g_strdup_printf ("('%s',)", text);
  gint before = g_atomic_int_get (&judged);
  guint at = 0;

  g_mutex_lock (&fixture->busy);
  for (guint32 i = 1; i <= N; i++)
    send_call (fixture, "Member", body, i);
  send_call (fixture, "Other", NULL, N + 1);
  send_call (fixture, "Dropped", NULL, N + 2);
  wait_judged (before + N + 2);
  g_assert_cmpuint (bus_relay_passed (fixture->relay), <=, 20000);
  g_mutex_unlock (&fixture->busy);

  for (guint32 i = 1; i <= N + 1; i++)
    {
      g_autoptr (GDBusMessage) message =
          g_async_queue_timeout_pop (fixture->calls, 30 * G_USEC_PER_SEC);

      g_assert_nonnull (message);
      if (strcmp (g_dbus_message_get_member (message), "Other") == 0)
        at = i;
      else
        g_assert_cmpuint (g_dbus_message_get_serial (message), ==, at == 0 ? i : i - 1);
    }
  g_assert_cmpuint (at, >, 0);
  g_assert_cmpuint (at, <, 10);
}

/* Whatever waits when it is closed is freed; the tickets say so. */
static void
test_close_busy (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = g_strnfill (8000, 'x');
  g_autofree char *body = g_strdup_printf ("('%s',)", text);
  g_autoptr (GDBusMessage) half = message_new (body, 100);
  g_autoptr (GByteArray) bytes = message_blob (half, FALSE);
  gint before = g_atomic_int_get (&judged);

  g_mutex_lock (&fixture->busy);
  for (guint32 i = 1; i <= 10; i++)
    send_call (fixture, "Member", body, i);
  send_call (fixture, "Dropped", NULL, 11);
  wait_judged (before + 11);
  send_bytes (fixture->bus, bytes->data, 4000, 4000, -1);
  g_mutex_unlock (&fixture->busy);
}

#define LAST_WORDS 300

static gpointer
hear (gpointer data)
{
  for (guint i = 0; i < LAST_WORDS; i++)
    {
      g_autoptr (GDBusMessage) message = receive_message (GPOINTER_TO_INT (data));
      guint32 number = 0;

      g_variant_get (g_dbus_message_get_body (message), "(u&s)", &number, NULL);
      g_assert_cmpuint (number, ==, i);
    }
  return NULL;
}

/* What was said before the end is heard. */
static void
test_last_words (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = g_strnfill (1000, 'x');
  GThread *bus = NULL;

  for (guint i = 0; i < LAST_WORDS; i++)
    g_assert_true (g_dbus_connection_emit_signal (bus_relay_connection (fixture->relay), ":1.9",
                                                  "/a", "org.example.Some", "Signal",
                                                  g_variant_new ("(us)", i, text), NULL));
  bus = g_thread_new ("bus", hear, GINT_TO_POINTER (fixture->bus));
  bus_relay_close (fixture->relay);
  g_thread_join (bus);
}

static void
was_closed (GDBusConnection *connection, gboolean vanished, GError *error, gpointer data)
{
  *(gboolean *) data = TRUE;
}

static void
wait_closed (Fixture *fixture)
{
  gboolean closed = FALSE;
  GDBusConnection *connection = bus_relay_connection (fixture->relay);

  g_signal_connect (connection, "closed", G_CALLBACK (was_closed), &closed);
  while (!closed && !g_dbus_connection_is_closed (connection))
    g_main_context_iteration (NULL, TRUE);
  g_signal_handlers_disconnect_by_data (connection, &closed);
}

static void
test_bus_ends (Fixture *fixture, gconstpointer data)
{
  fd_clear (&fixture->bus);
  wait_closed (fixture);
}

static void
test_bus_is_mad (Fixture *fixture, gconstpointer data)
{
  static const guint8 nonsense[BUS_HEADER_FIXED] = { 'x' };

  send_bytes (fixture->bus, nonsense, sizeof nonsense, 1, -1);
  wait_closed (fixture);
}

/* A bus that hangs up on us is an error, and nothing is left. */
static void
test_no_welcome (void)
{
  int ends[2] = { -1, -1 };
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
  close (ends[0]);
  g_assert_null (bus_relay_new_for_fd (ends[1], judge, ticket_free, NULL, &error));
  g_assert_nonnull (error);
}

#define add(name, function)                                                                        \
  g_test_add ("/bus-relay/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* A bus that is mad is warned of. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  add ("pieces", test_pieces);
  add ("refused", test_refused);
  add ("too-much", test_too_much);
  add ("malformed", test_malformed);
  add ("large", test_large);
  add ("signals", test_signals);
  add ("heard", test_heard);
  add ("driver-fds", test_driver_fds);
  add ("unread", test_unread);
  add ("turns", test_turns);
  add ("close-busy", test_close_busy);
  add ("last-words", test_last_words);
  add ("bus-ends", test_bus_ends);
  add ("bus-is-mad", test_bus_is_mad);
  g_test_add_func ("/bus-relay/no-welcome", test_no_welcome);
  return g_test_run ();
}
