/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whom the client talks to, and what it makes of the answers. */
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
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->bus = bus_new ();
  fixture->client = client_new_for (bus_address (fixture->bus), getuid ());
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_unref (fixture->client);
  bus_free (fixture->bus);
}

static Mock *
mock_on (Fixture *fixture)
{
  return mock_new (bus_address (fixture->bus));
}

/* Every call of the library, one after the other; the error of each. */
static GError *
call_each (UsClient *client, guint i)
{
  g_autoptr (UsSubmission) submission = us_submission_new ("mail.send");
  g_autoptr (GVariant) value = NULL;
  g_autoptr (UsStatus) status = NULL;
  g_autofree char *text = NULL;
  GError *error = NULL;

  switch (i)
    {
    case 0:
      value = us_client_get_info (client, NULL, &error);
      break;
    case 1:
      text = us_client_open_run (client, "label", NULL, NULL, &error);
      break;
    case 2:
      us_client_close_run (client, MOCK_RUN, NULL, &error);
      break;
    case 3:
      value = us_client_list_actions (client, NULL, &error);
      break;
    case 4:
      value = us_client_describe_action (client, "mail.send", NULL, &error);
      break;
    case 5:
      text = us_client_submit (client, MOCK_RUN, submission, NULL, NULL, &error);
      break;
    case 6:
      value = us_client_list_requests (client, NULL, &error);
      break;
    case 7:
      status = us_client_get_state (client, MOCK_REQUEST, NULL, &error);
      break;
    case 8:
      status = us_client_wait (client, MOCK_REQUEST, 0, NULL, &error);
      break;
    case 9:
      us_client_withdraw (client, MOCK_REQUEST, NULL, &error);
      break;
    case 10:
      us_client_leave (client, MOCK_REQUEST, NULL, &error);
      break;
    default:
      text = us_client_open_run_for (client, "offboarding", "label", "main", NULL, &error);
      break;
    }
  return error;
}

#define N_CALLS 12

/* O-10: who else holds the name is sent nothing at all. */
static void
test_hostile_owner (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (UsClient) client =
      client_new_for (bus_address (fixture->bus), getuid () + 1);

  for (guint i = 0; i < N_CALLS; i++)
    {
      g_autoptr (GError) error = call_each (client, i);

      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_PEER));
    }
  g_assert_cmpuint (mock_calls (mock, NULL), ==, 0);
}

static void
test_no_service (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < N_CALLS; i++)
    {
      g_autoptr (GError) error = call_each (fixture->client, i);

      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
      g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
    }
}

static void
test_no_bus (void)
{
  g_autoptr (UsClient) client = client_new_for ("unix:path=/nonexistent/undersign", getuid ());

  for (guint i = 0; i < N_CALLS; i++)
    {
      g_autoptr (GError) error = call_each (client, i);

      g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
    }
}

static void
test_calls (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  static const struct
  {
    const char *method, *body;
  } rows[] = {
    { "GetInfo", "()" },
    { "OpenRun", "({'label': <'label'>},)" },
    { "CloseRun", "('" MOCK_RUN "',)" },
    { "ListActions", "()" },
    { "DescribeAction", "('mail.send',)" },
    { "Submit", "('" MOCK_RUN "', 'mail.send', @a{sv} {}, @a{sv} {})" },
    { "ListRequests", "()" },
    { "GetState", "()" },
    { "Watch", "()" },
    { "Withdraw", "()" },
    { "Leave", "()" },
    { "OpenRunFor", "('offboarding', {'label': <'label'>, 'part': <'main'>})" },
  };

  for (guint i = 0; i < N_CALLS; i++)
    {
      g_autoptr (GError) error = call_each (fixture->client, i);
      g_autofree char *body = NULL;

      g_assert_no_error (error);
      body = mock_body (mock, rows[i].method);
      g_assert_cmpstr (body, ==, rows[i].body);
    }
}

static void
test_submit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (UsSubmission) submission = us_submission_new ("mail.send");
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *request = NULL;
  g_autofree char *content = NULL;
  UsState state = US_STATE_N;
  int fd = g_file_open_tmp ("undersign-XXXXXX", &path, NULL);

  g_assert_cmpint (write (fd, "content", 7), ==, 7);
  close (fd);
  g_assert_true (us_submission_add_file (submission, "letter", path, &error));
  unlink (path);
  mock_set_submit_state (mock, "executing");
  request = us_client_submit (fixture->client, MOCK_RUN, submission, &state, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (request, ==, MOCK_REQUEST);
  g_assert_cmpint (state, ==, US_STATE_EXECUTING);
  content = mock_file (mock, 0);
  g_assert_cmpstr (content, ==, "content");

  mock_set_submit_state (mock, "approved-by-nobody");
  g_assert_null (us_client_submit (fixture->client, MOCK_RUN, submission, &state, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  g_assert_cmpint (state, ==, US_STATE_EXECUTING);
}

static void
test_refusal (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (UsSubmission) submission = us_submission_new ("mail.send");
  g_autoptr (GError) error = NULL;

  mock_set_error (mock, "Submit", "org.undersign1.Error.LimitExceeded", "limit: 8 pending");
  g_assert_null (us_client_submit (fixture->client, MOCK_RUN, submission, NULL, NULL, &error));
  g_assert_error (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
  g_assert_cmpstr (error->message, ==, "limit: 8 pending");
  /* a refusal is not tried again */
  g_assert_cmpuint (mock_calls (mock, "Submit"), ==, 1);
}

static void
test_wrong_reply (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (GError) error = NULL;

  mock_set_reply (mock, "OpenRun", "(uint32 5,)");
  g_assert_null (us_client_open_run (fixture->client, NULL, NULL, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  g_clear_error (&error);
  mock_set_reply (mock, "OpenRunFor", "(uint32 5,)");
  g_assert_null (us_client_open_run_for (fixture->client, "a", NULL, NULL, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
  g_clear_error (&error);
  mock_set_reply (mock, "GetState", "('done', {'executed': <'perhaps'>})");
  g_assert_null (us_client_get_state (fixture->client, MOCK_REQUEST, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
}

/* Whoever takes the name later is not sent what was meant for the owner that was checked. */
static void
test_pinned (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (Mock) thief = NULL;
  g_autoptr (GError) error = call_each (fixture->client, 0);

  g_assert_no_error (error);
  thief = mock_on (fixture);
  error = call_each (fixture->client, 9);
  g_assert_no_error (error);
  g_assert_cmpuint (mock_calls (mock, "Withdraw"), ==, 1);
  g_assert_cmpuint (mock_calls (thief, NULL), ==, 0);
}

/* O-67: after a restart the next call finds the new owner, and is delivered once. */
static void
test_restart (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (GError) error = call_each (fixture->client, 5);

  g_assert_no_error (error);
  mock_free (g_steal_pointer (&mock));
  mock = mock_on (fixture);
  error = call_each (fixture->client, 5);
  g_assert_no_error (error);
  g_assert_cmpuint (mock_calls (mock, "Submit"), ==, 1);
}

static void
on_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

/* A call that the service may have read is not repeated. */
static void
test_lost_reply (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Mock) mock = mock_on (fixture);
  g_autoptr (Mock) second = NULL;
  g_autoptr (UsSubmission) submission = us_submission_new ("mail.send");
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  mock_set_silent (mock, "Submit");
  us_client_submit_async (fixture->client, MOCK_RUN, submission, NULL, on_result, &result);
  while (mock_calls (mock, "Submit") == 0)
    g_main_context_iteration (NULL, FALSE);
  second = mock_on (fixture);
  mock_free (g_steal_pointer (&mock));
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_null (us_client_submit_finish (fixture->client, result, NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
  g_assert_cmpuint (mock_calls (second, "Submit"), ==, 0);
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } rows[] = {
    { "/client/hostile-owner", test_hostile_owner },
    { "/client/no-service", test_no_service },
    { "/client/calls", test_calls },
    { "/client/submit", test_submit },
    { "/client/refusal", test_refusal },
    { "/client/wrong-reply", test_wrong_reply },
    { "/client/pinned", test_pinned },
    { "/client/restart", test_restart },
    { "/client/lost-reply", test_lost_reply },
  };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_test_add (rows[i].name, Fixture, NULL, set_up, rows[i].test, tear_down);
  g_test_add_func ("/client/no-bus", test_no_bus);
  return g_test_run ();
}
