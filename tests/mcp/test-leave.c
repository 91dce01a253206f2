/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A caller gives up before it has its request's id: when the request is left, and when it is not.
 * Whether it is withdrawn then is the service's to decide: nothing here takes it back by itself.
 */
#include "tests/mcp/child.h"

#define OTHER_ID "00000000000000000000000000000000"

static void
wait_for_one (Child *child, const char *id)
{
  child_begin (child, LONG);
  child_send_mail (child, id, "");
  child_wait_calls (child, "GetState", 1);
}

/* What the service was asked before this has been answered, and is dealt with. */
static void
settle (Child *child)
{
  g_autoptr (JsonTree) other =
      child_tool (child, "request_status", "{\"request_id\":\"" OTHER_ID "\"}", "");

  g_assert_nonnull (at (other, "result"));
}

/* The input ends, and so often was something left. */
static void
check_end (Child *child, guint left)
{
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, left);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
}

static void
test_cancel (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) pong = NULL;

  wait_for_one (child, "1");
  child_send (child, CANCEL ("1"));
  child_wait_calls (child, "Leave", 1);
  g_assert_cmpuint (mock_calls (child->mock, "Unwatch"), ==, 1);
  /* The id is free again, and nothing was sent for its first use. */
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  g_assert_null (at (pong, "result.content"));
  check_end (child, 1);
}

static void
test_end_of_input (Child *child, gconstpointer data)
{
  wait_for_one (child, "0");
  check_end (child, 1);
}

static void
test_while_another_waits (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) pong = NULL;

  wait_for_one (child, "0");
  child_send_mail (child, "2", "");
  child_wait_calls (child, "Watch", 2);
  child_send (child, CANCEL ("0"));
  pong = child_ask (child, REQUEST ("ping", ""));
  g_assert_nonnull (at (pong, "result"));
  settle (child);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 0);
  /* The other leaves too. */
  check_end (child, 1);
}

/* The service is of before, or can't be reached: the request stays as it is. */
static void
test_not_taken (Child *child, gconstpointer data)
{
  wait_for_one (child, "0");
  mock_set_error (child->mock, "Leave", "org.undersign1.Error.NotFound", "not-found: test");
  check_end (child, 1);
}

/* The service does not answer: the end of the input is the end all the same, after the program's own
 * time for it. */
static void
test_no_answer (Child *child, gconstpointer data)
{
  child_start (child, LONG, "TEST_MCP_IMPATIENT=yes");
  child_hello (child, "2025-06-18");
  child_send_mail (child, "0", "");
  child_wait_calls (child, "GetState", 1);
  mock_set_silent (child->mock, "Leave");
  g_assert_cmpint (child_end (child), ==, 0);
  g_assert_cmpuint (mock_calls (child->mock, "Withdraw"), ==, 0);
}

/* The client has its id, from an earlier call or by name. */
static void
test_delivered (Child *child, gconstpointer data)
{
  g_autoptr (JsonTree) answer = NULL;
  g_autoptr (JsonTree) status = NULL;

  wait_for_one (child, "0");
  answer = child_tool (child, "request_status", "{\"request_id\":\"" MOCK_ID "\"}", "");
  check_pending (answer);
  check_end (child, 0);

  child_begin (child, "--hold=0");
  status = child_tool (child, "mail_send", ARGUMENTS, "");
  check_pending (status);
  check_end (child, 0);
}

/* What is being submitted may come to be the request that is given up. */
static void
test_submitted_meanwhile (Child *child, gconstpointer data)
{
  wait_for_one (child, "0");
  mock_hold (child->mock, "Submit");
  child_send_mail (child, "2", "");
  child_wait_calls (child, "Submit", 2);
  child_send (child, CANCEL ("0"));
  child_wait_calls (child, "Unwatch", 1);
  settle (child);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 0);
  mock_release (child->mock);
  child_wait_calls (child, "Watch", 3);
  settle (child);
  g_assert_cmpuint (mock_calls (child->mock, "Leave"), ==, 0);
  check_end (child, 1);
}

/* It is cancelled, or the input ends, before Submit() is answered. */
static void
test_during_submit (Child *child, gconstpointer data)
{
  for (guint i = 1; i <= 2; i++)
    {
      g_autoptr (JsonTree) pong = NULL;

      mock_hold (child->mock, "Submit");
      child_begin (child, LONG);
      child_send_mail (child, "0", "");
      child_wait_calls (child, "Submit", i);
      if (i == 1)
        {
          child_send (child, CANCEL ("0"));
          pong = child_ask (child, REQUEST ("ping", ""));
          g_assert_nonnull (at (pong, "result"));
        }
      else
        child_close (child);
      mock_release (child->mock);
      check_end (child, i);
    }
}

int
main (int argc, char *argv[])
{
  static const ChildTest tests[] = {
    { "not-taken", test_not_taken },
    { "no-answer", test_no_answer },
    { "delivered", test_delivered },
    { "while-another-waits", test_while_another_waits },
    { "submitted-meanwhile", test_submitted_meanwhile },
    { "during-submit", test_during_submit },
    { "cancel", test_cancel },
    { "end-of-input", test_end_of_input },
  };

  return child_run_tests (argc, argv, "leave", tests, G_N_ELEMENTS (tests));
}
