/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The status of a request: read whole or not at all. */
#include "agentlib/lib/status.h"

#include "dbus/error.h"
#include "dbus/reason.h"

static UsStatus *
read_status (const char *text, GError **error)
{
  g_autoptr (GVariant) reply = g_variant_parse (G_VARIANT_TYPE ("(sa{sv})"), text, NULL, NULL, NULL);

  g_assert_nonnull (reply);
  return status_new (reply, error);
}

static void
test_refused (void)
{
  static const char *const rows[] = {
    "('pending', {})",
    "('approve', {'executed': <'no'>})",
    "('', {'executed': <'no'>})",
    "('Done', {'executed': <'yes'>})",
    "('done', {'executed': <'maybe'>})",
    "('done', {'executed': <true>})",
    "('done', {'executed': <'yes'>, 'executed': <'no'>})",
    "('done', {'executed': <'yes'>, 'reason': <b'x'>})",
    "('done', {'executed': <'yes'>, 'reason': <'a'>, 'reason': <'b'>})",
    "('done', {'executed': <'yes'>, 'card': <'yes'>})",
    "('done', {'executed': <'yes'>, 'needed': <1>})",
    "('done', {'executed': <'yes'>, 'successor': <'/x'>})",
    "('done', {'executed': <'yes'>, 'resolved': <true>, 'resolved': <false>})",
    "('pending', {'executed': <'no'>, 'watchers': <uint32 1>, 'watchers': <uint32 0>})",
    "('pending', {'executed': <'no'>, 'watchers': <0>})",
    "('pending', {'executed': <'no'>, 'made-here': <'yes'>})",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", rows[i]);
      g_assert_null (read_status (rows[i], &error));
      g_assert_error (error, US_ERROR, US_ERROR_UNAVAILABLE);
      g_assert_true (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
    }
}

static void
test_read (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (UsStatus) status = read_status (
      "('superseded', {'action': <'mail.send'>, 'run': <'r'>, 'digest': <'sha256:0'>,"
      " 'expires': <'2026-11-30T09:00:00Z'>, 'executed': <'unknown'>, 'card': <true>,"
      " 'reason': <'not-now'>, 'result': <'x'>, 'answers': <uint32 1>, 'needed': <uint32 2>,"
      " 'supersedes': <objectpath '/a'>, 'successor': <objectpath '/b'>, 'later-key': <1>})",
      &error);
  g_autoptr (UsStatus) again = NULL;

  g_assert_no_error (error);
  again = us_status_ref (status);
  g_assert_cmpint (us_status_get_state (again), ==, US_STATE_SUPERSEDED);
  g_assert_cmpint (us_status_get_executed (status), ==, US_EXECUTED_UNKNOWN);
  g_assert_true (us_status_get_card_open (status));
  g_assert_cmpuint (us_status_get_answers (status), ==, 1);
  g_assert_cmpuint (us_status_get_needed (status), ==, 2);
  g_assert_cmpstr (us_status_get_action (status), ==, "mail.send");
  g_assert_cmpstr (us_status_get_run (status), ==, "r");
  g_assert_cmpstr (us_status_get_digest (status), ==, "sha256:0");
  g_assert_cmpstr (us_status_get_expires (status), ==, "2026-11-30T09:00:00Z");
  g_assert_cmpstr (us_status_get_reason (status), ==, "not-now");
  g_assert_cmpstr (us_status_get_result (status), ==, "x");
  g_assert_cmpstr (us_status_get_supersedes (status), ==, "/a");
  g_assert_cmpstr (us_status_get_successor (status), ==, "/b");
}

/* An older service says less: then it may be a person's note, and somebody may wait. */
static void
test_unsaid (void)
{
  g_autoptr (UsStatus) less = read_status ("('done', {'executed': <'yes'>})", NULL);
  g_autoptr (UsStatus) said = read_status ("('done', {'executed': <'yes'>, 'resolved': <false>,"
                                           " 'watchers': <uint32 0>, 'made-here': <true>})",
                                           NULL);

  g_assert_true (us_status_get_resolved (less));
  g_assert_cmpuint (us_status_get_watchers (less), ==, G_MAXUINT);
  g_assert_false (us_status_get_made_here (less));
  g_assert_false (us_status_get_resolved (said));
  g_assert_cmpuint (us_status_get_watchers (said), ==, 0);
  g_assert_true (us_status_get_made_here (said));
}

static void
test_states (void)
{
  static const gboolean ended[US_STATE_N] = {
    [US_STATE_DONE] = TRUE,        [US_STATE_FAILED] = TRUE,  [US_STATE_UNKNOWN] = TRUE,
    [US_STATE_DENIED] = TRUE,      [US_STATE_EXPIRED] = TRUE, [US_STATE_WITHDRAWN] = TRUE,
    [US_STATE_SUPERSEDED] = TRUE,  [US_STATE_REFUSED] = TRUE,
    [US_STATE_UNREACHABLE] = TRUE,
  };

  for (guint i = 0; i < US_STATE_N; i++)
    {
      UsState back = US_STATE_N;

      g_assert_true (us_state_from_string (us_state_to_string ((UsState) i), &back));
      g_assert_cmpuint (back, ==, i);
      g_assert_cmpint (us_state_has_ended ((UsState) i), ==, ended[i]);
    }
}

/* The nicks of @type are what @to_text says, one for each of @n values. */
static void
check_nicks (GType type, guint n, const char *(*to_text) (guint value))
{
  g_autoptr (GEnumClass) class = g_type_class_ref (type);

  g_assert_cmpuint (class->n_values, ==, n);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (class->values[i].value, ==, i);
      g_assert_cmpstr (class->values[i].value_nick, ==, to_text (i));
    }
}

static const char *
state_text (guint value)
{
  return us_state_to_string ((UsState) value);
}

static const char *
executed_text (guint value)
{
  return us_executed_to_string ((UsExecuted) value);
}

/* "WrongState" is "wrong-state". */
static const char *
error_text (guint value)
{
  static char text[64];
  gsize length = 0;

  for (const char *name = us_error_name ((UsError) value); *name != '\0'; name++)
    {
      if (g_ascii_isupper (*name) && length > 0)
        text[length++] = '-';
      text[length++] = g_ascii_tolower (*name);
    }
  text[length] = '\0';
  return text;
}

static void
test_types (void)
{
  check_nicks (US_TYPE_STATE, US_STATE_N, state_text);
  check_nicks (US_TYPE_EXECUTED, US_EXECUTED_UNKNOWN + 1, executed_text);
  check_nicks (US_TYPE_ERROR, US_ERROR_N, error_text);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/status/refused", test_refused);
  g_test_add_func ("/status/read", test_read);
  g_test_add_func ("/status/unsaid", test_unsaid);
  g_test_add_func ("/status/states", test_states);
  g_test_add_func ("/status/types", test_types);
  return g_test_run ();
}
