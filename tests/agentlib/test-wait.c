/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting: only what a call to the service says counts, and to stop waiting changes nothing. */
#include "agentlib/lib/link.h"

#include "dbus/names.h"
#include "dbus/reason.h"
#include "tests/agentlib/bus.h"
#include "tests/agentlib/mock.h"

#include <unistd.h>

typedef struct
{
  Bus *bus;
  UsClient *client;
  Mock *mock;
  GCancellable *cancellable;
  /* of the wait that is on its way */
  gboolean ended;
  UsStatus *status;
  GError *error;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->bus = bus_new ();
  fixture->client = client_new_for (bus_address (fixture->bus), getuid ());
  fixture->mock = mock_new (bus_address (fixture->bus));
  fixture->cancellable = g_cancellable_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_clear_pointer (&fixture->status, us_status_unref);
  g_clear_error (&fixture->error);
  g_object_unref (fixture->cancellable);
  mock_free (fixture->mock);
  g_object_unref (fixture->client);
  bus_free (fixture->bus);
}

static void
on_end (GObject *source, GAsyncResult *result, gpointer data)
{
  Fixture *fixture = data;

  fixture->ended = TRUE;
  fixture->status = us_client_wait_finish (US_CLIENT (source), result, &fixture->error);
}

static void
wait_start (Fixture *fixture)
{
  us_client_wait_async (fixture->client, MOCK_REQUEST, -1, fixture->cancellable, on_end, fixture);
  while (mock_calls (fixture->mock, "GetState") == 0)
    g_main_context_iteration (NULL, FALSE);
}

static void
wait_for_end (Fixture *fixture)
{
  while (!fixture->ended)
    g_main_context_iteration (NULL, TRUE);
}

/* Everything that was sent to the client so far has been dispatched. */
static void
settle (Fixture *fixture)
{
  g_autoptr (GVariant) info = us_client_get_info (fixture->client, NULL, NULL);

  g_assert_nonnull (info);
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
assert_waiting (Fixture *fixture, guint looks)
{
  settle (fixture);
  settle (fixture);
  g_assert_false (fixture->ended);
  g_assert_cmpuint (mock_calls (fixture->mock, "GetState"), ==, looks);
}

static void
test_ends (Fixture *fixture, gconstpointer data)
{
  wait_start (fixture);
  assert_waiting (fixture, 1);
  mock_set_state (fixture->mock, "done", "yes", "'result': <'sent'>");
  mock_emit_changed (fixture->mock, "done");
  wait_for_end (fixture);
  g_assert_no_error (fixture->error);
  g_assert_cmpint (us_status_get_state (fixture->status), ==, US_STATE_DONE);
  g_assert_cmpint (us_status_get_executed (fixture->status), ==, US_EXECUTED_YES);
  g_assert_cmpstr (us_status_get_result (fixture->status), ==, "sent");
}

static void
test_ended_before (Fixture *fixture, gconstpointer data)
{
  g_autoptr (UsStatus) status = NULL;

  mock_set_state (fixture->mock, "denied", "no", "'reason': <'not-now'>");
  status = us_client_wait (fixture->client, MOCK_REQUEST, -1, NULL, NULL);
  g_assert_cmpint (us_status_get_state (status), ==, US_STATE_DENIED);
}

/* O-63: what another connection sends is not even a hint. */
static void
test_forged_signal (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusConnection) forger = g_dbus_connection_new_for_address_sync (
      bus_address (fixture->bus),
      G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
      NULL, NULL, &error);
  g_autoptr (GVariant) reply = NULL;
  g_autofree char *victim = NULL;

  g_assert_no_error (error);
  wait_start (fixture);
  assert_waiting (fixture, 1);
  victim = mock_watcher (fixture->mock);
  for (guint i = 0; i < 2; i++)
    {
      const char *to = i == 0 ? victim : NULL;

      g_dbus_connection_emit_signal (forger, to, MOCK_REQUEST, US_INTERFACE_REQUEST, "Changed",
                                     g_variant_new ("(s)", "done"), &error);
      g_assert_no_error (error);
      g_dbus_connection_emit_signal (forger, to, "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                     "NameOwnerChanged",
                                     g_variant_new ("(sss)", US_BUS_NAME, ":1.1", ":1.99"), &error);
      g_assert_no_error (error);
    }
  /* The bus has passed them on when it answers this. */
  reply = g_dbus_connection_call_sync (forger, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                       "org.freedesktop.DBus", "GetId", NULL, NULL,
                                       G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  g_assert_no_error (error);
  assert_waiting (fixture, 1);
  g_assert_cmpuint (mock_calls (fixture->mock, "Watch"), ==, 1);
  g_cancellable_cancel (fixture->cancellable);
  wait_for_end (fixture);
  g_dbus_connection_close_sync (forger, NULL, NULL);
}

/* A signal of the service itself is a hint: the state is what the call says. */
static void
test_hint_only (Fixture *fixture, gconstpointer data)
{
  wait_start (fixture);
  assert_waiting (fixture, 1);
  mock_emit_changed (fixture->mock, "done");
  while (mock_calls (fixture->mock, "GetState") < 2)
    g_main_context_iteration (NULL, FALSE);
  assert_waiting (fixture, 2);
  g_cancellable_cancel (fixture->cancellable);
  wait_for_end (fixture);
}

/* B-23: the waiter gives up, the request stays. */
static void
test_time_out (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = us_client_wait (fixture->client, MOCK_REQUEST, 50, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (us_status_get_state (status), ==, US_STATE_PENDING);
  g_assert_cmpuint (mock_calls (fixture->mock, "Withdraw"), ==, 0);
  g_assert_cmpuint (mock_calls (fixture->mock, NULL), ==,
                    mock_calls (fixture->mock, "Watch") + mock_calls (fixture->mock, "GetState"));

  mock_set_state (fixture->mock, "done", "yes", NULL);
  us_status_unref (status);
  status = us_client_wait (fixture->client, MOCK_REQUEST, 0, NULL, &error);
  g_assert_cmpint (us_status_get_state (status), ==, US_STATE_DONE);
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  wait_start (fixture);
  assert_waiting (fixture, 1);
  g_cancellable_cancel (fixture->cancellable);
  wait_for_end (fixture);
  g_assert_error (fixture->error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (mock_calls (fixture->mock, "Withdraw"), ==, 0);
}

/* Only the last of several that wait tells the service that nobody does, and only where it was
 * cancelled. */
static void
test_unwatch (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (UsStatus) status = NULL;
  Fixture other = { 0 };

  wait_start (fixture);
  us_client_wait_async (fixture->client, MOCK_REQUEST, -1, cancellable, on_end, &other);
  while (mock_calls (fixture->mock, "GetState") < 2)
    g_main_context_iteration (NULL, FALSE);
  assert_waiting (fixture, 2);
  g_cancellable_cancel (cancellable);
  wait_for_end (&other);
  g_assert_error (other.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_waiting (fixture, 2);
  g_assert_cmpuint (mock_calls (fixture->mock, "Unwatch"), ==, 0);
  g_cancellable_cancel (fixture->cancellable);
  wait_for_end (fixture);
  settle (fixture);
  g_assert_cmpuint (mock_calls (fixture->mock, "Unwatch"), ==, 1);

  status = us_client_wait (fixture->client, MOCK_REQUEST, 0, NULL, NULL);
  g_assert_nonnull (status);
  settle (fixture);
  g_assert_cmpuint (mock_calls (fixture->mock, "Unwatch"), ==, 1);
  g_clear_error (&other.error);
}

/* O-67, O-9: the service restarts while somebody waits. */
static void
test_restart (Fixture *fixture, gconstpointer data)
{
  wait_start (fixture);
  assert_waiting (fixture, 1);
  mock_free (fixture->mock);
  fixture->mock = mock_new (bus_address (fixture->bus));
  while (mock_calls (fixture->mock, "GetState") == 0)
    g_main_context_iteration (NULL, TRUE);
  settle (fixture);
  g_assert_false (fixture->ended);
  g_assert_cmpuint (mock_calls (fixture->mock, "Watch"), ==, 1);

  mock_set_state (fixture->mock, "expired", "no", NULL);
  mock_emit_changed (fixture->mock, "expired");
  wait_for_end (fixture);
  g_assert_no_error (fixture->error);
  g_assert_cmpint (us_status_get_state (fixture->status), ==, US_STATE_EXPIRED);
}

static void
test_not_found (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  mock_set_error (fixture->mock, "Watch", "org.undersign1.Error.NotFound", "not-found: no request");
  g_assert_null (us_client_wait (fixture->client, MOCK_REQUEST, -1, NULL, &error));
  g_assert_error (error, US_ERROR, US_ERROR_NOT_FOUND);
  g_assert_cmpuint (mock_calls (fixture->mock, "Watch"), ==, 1);
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } rows[] = {
    { "/wait/ends", test_ends },
    { "/wait/ended-before", test_ended_before },
    { "/wait/forged-signal", test_forged_signal },
    { "/wait/hint-only", test_hint_only },
    { "/wait/time-out", test_time_out },
    { "/wait/cancelled", test_cancelled },
    { "/wait/unwatch", test_unwatch },
    { "/wait/restart", test_restart },
    { "/wait/not-found", test_not_found },
  };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_test_add (rows[i].name, Fixture, NULL, set_up, rows[i].test, tear_down);
  return g_test_run ();
}
