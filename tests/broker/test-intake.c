/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is too large, too much or of another signature is refused by its header: GDBus gets none of
 * it, its files are closed, and whoever else calls is answered.
 */
#include "service/broker/bus.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/bus-body.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <fcntl.h>
#include <string.h>

#define LARGE (30 * 1024 * 1024)
#define SMALL 65536 /* bytes that may pass meanwhile */

static GVariant *
large_bytes (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (LARGE), LARGE);

  return g_variant_new ("(@ay)", g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE));
}

static GVariant *
submit_of (const char *run, GVariant *value)
{
  GVariantBuilder arguments;

  g_variant_builder_init (&arguments, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&arguments, "{sv}", "subject", value);
  return g_variant_new ("(ssa{sv}a{sv})", run, "mail.send", &arguments, NULL);
}

static GVariant *
large_string (void)
{
  g_autofree char *text = g_strnfill (LARGE, 'x');

  return g_variant_new_string (text);
}

static GVariant *
many_values (void)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < BUS_VALUES_MAX; i++)
    g_variant_builder_add (&builder, "v", g_variant_new_byte (1));
  return g_variant_builder_end (&builder);
}

/* Calls, and while it is under way so does @other, who is answered. */
static void
assert_refused (Caller *caller,
                Caller *other,
                const char *member,
                GVariant *parameters,
                UsError code,
                const char *reason)
{
  Bed *bed = caller->bed;
  guint64 before = bus_passed (bed->broker->bus);
  g_auto (Pending) pending = { 0 };
  g_autoptr (GVariant) info = NULL;
  g_autoptr (GError) error = NULL;

  caller_begin (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, member, parameters, &pending);
  info = caller_call (other, US_OBJECT_PATH, US_INTERFACE_AGENT, "GetInfo", NULL, &error);
  g_assert_no_error (error);
  pending_wait (&pending);
  g_assert_null (pending.reply);
  g_assert_error (pending.error, US_ERROR, (int) code);
  g_assert_true (us_error_has_reason (pending.error, reason));
  g_assert_cmpuint (bus_passed (bed->broker->bus) - before, <, SMALL);
}

static void
test_large (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (Caller) nobody = bed_caller (bed, 65534);
  g_autofree char *run = caller_open_run (agent, "ticket");

  assert_refused (agent, other, "GetInfo", large_bytes (), US_ERROR_INVALID_ARGUMENT,
                  US_REASON_WRONG_TYPE);
  assert_refused (agent, other, "Submit", submit_of (run, large_string ()),
                  US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE);
  assert_refused (agent, other, "NoSuchMember", large_bytes (), US_ERROR_NOT_FOUND,
                  US_REASON_NOT_FOUND);
  /* Who has no business here hears just that. */
  assert_refused (nobody, other, "GetInfo", large_bytes (), US_ERROR_NOT_AGENT,
                  US_REASON_NOT_AGENT);
  assert_refused (nobody, other, "Submit", submit_of (run, large_string ()), US_ERROR_NOT_AGENT,
                  US_REASON_NOT_AGENT);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);
}

static void
test_many_values (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");

  assert_refused (agent, other, "Submit", submit_of (run, many_values ()),
                  US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE);
}

/* The largest of a record gets as far as the arguments' own limits. */
static void
test_not_too_large (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *text = g_strnfill (600 * 1024, 'x');
  guint64 before = bus_passed (bed->broker->bus);
  g_autoptr (GVariant) reply = NULL;

  reply = caller_call (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                       submit_of (run, g_variant_new_string (text)), NULL);
  g_assert_cmpuint (bus_passed (bed->broker->bus) - before, >, 600 * 1024);
}

/* No other member takes files, and what was sent with it all the same is closed. */
static void
test_files (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (GUnixFDList) list = NULL;
  g_autoptr (GError) error = NULL;
  int ends[2] = { -1, -1 };
  char byte = 0;

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  list = g_unix_fd_list_new_from_array (&ends[1], 1);
  g_assert_null (caller_call_with_fds (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "GetInfo", NULL,
                                       list, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
  g_clear_object (&list);
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 0);
  close (ends[0]);
}

static gboolean
nothing_waits (gpointer data)
{
  Bed *bed = data;
  BusAmount waiting = bus_waiting (bed->broker->bus);

  return waiting.calls == 0 && waiting.bytes == 0 && waiting.fds == 0;
}

/* Ten thousand calls that want no answer: whoever else calls has one, and is not refused. */
static void
test_flood (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (GDBusMessage) message = g_dbus_message_new_method_call (
      US_BUS_NAME, US_OBJECT_PATH, US_INTERFACE_AGENT, "ListRequests");

  g_dbus_message_set_flags (message, G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED);
  for (guint i = 0; i < 10000; i++)
    {
      g_autoptr (GDBusMessage) copy = g_dbus_message_copy (message, NULL);

      g_dbus_connection_send_message (agent->connection, copy, G_DBUS_SEND_MESSAGE_FLAGS_NONE,
                                      NULL, NULL);
    }
  for (guint i = 0; i < 50; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) info =
          caller_call (other, US_OBJECT_PATH, US_INTERFACE_AGENT, "GetInfo", NULL, &error);

      g_assert_no_error (error);
    }
  g_dbus_connection_flush_sync (agent->connection, NULL, NULL);
  bed_wait (nothing_waits, bed);
}

/* Before the bus was asked who it is, a connection has fewer; none of them is lost. */
static void
test_unknown (Bed *bed, gconstpointer config)
{
  enum { N = BUS_CALLS_UNKNOWN_MAX };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  Pending pending[N] = { 0 };

  for (guint i = 0; i < N; i++)
    caller_begin (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "GetInfo", NULL, &pending[i]);
  for (guint i = 0; i < N; i++)
    {
      pending_wait (&pending[i]);
      g_assert_no_error (pending[i].error);
      pending_clear (&pending[i]);
    }
  bed_wait (nothing_waits, bed);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/intake/large", NULL, test_large);
  bed_test ("/intake/many-values", NULL, test_many_values);
  bed_test ("/intake/not-too-large", NULL, test_not_too_large);
  bed_test ("/intake/files", NULL, test_files);
  bed_test ("/intake/flood", NULL, test_flood);
  bed_test ("/intake/unknown", NULL, test_unknown);
  return g_test_run ();
}
