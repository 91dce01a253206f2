/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look at files that may never end: what comes of it, and that nobody waits for it.  Where it
 * matters how long it takes, the clock is the test's own.
 */
#include "service/launcher/look.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct
{
  gboolean is_done;
  int answer;
  GError *error;
} Outcome;

/* While a test has a clock of its own: what a child may take is noted, and never over before its
 * end. */
static struct
{
  gint64 now;      /* 0: the clock is the system's */
  guint waits[20]; /* milliseconds */
  guint n_waits;
} own;

gint64 __real_g_get_monotonic_time (void);
gint64 __wrap_g_get_monotonic_time (void);
guint __real_g_timeout_add (guint ms, GSourceFunc function, gpointer data);
guint __wrap_g_timeout_add (guint ms, GSourceFunc function, gpointer data);

gint64
__wrap_g_get_monotonic_time (void)
{
  return own.now != 0 ? own.now : __real_g_get_monotonic_time ();
}

guint
__wrap_g_timeout_add (guint ms, GSourceFunc function, gpointer data)
{
  if (own.now == 0)
    return __real_g_timeout_add (ms, function, data);
  g_assert_cmpuint (own.n_waits, <, G_N_ELEMENTS (own.waits));
  own.waits[own.n_waits++] = ms;
  return __real_g_timeout_add (ms > 1 ? 600 * 1000 : ms, function, data);
}

static void
on_done (int answer, const GError *error, gpointer data)
{
  Outcome *outcome = data;

  outcome->is_done = TRUE;
  outcome->answer = answer;
  outcome->error = error != NULL ? g_error_copy (error) : NULL;
}

static int
say (gpointer data, GError **error)
{
  return GPOINTER_TO_INT (data);
}

static int
refuse (gpointer data, GError **error)
{
  us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "%s", (const char *) data);
  return -1;
}

/* As on a file system whose server is gone. */
static int
hang (gpointer data, GError **error)
{
  while (pause () < 0)
    ;
  return 0;
}

static int
crash (gpointer data, GError **error)
{
  raise (SIGKILL);
  return 0;
}

static gboolean
is_limited (uid_t uid)
{
  const LookQuestion question = { .ask = say, .uid = uid, .seconds = 600 };
  Outcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  if (look_begin (&question, on_done, &outcome, &error) == NULL)
    {
      g_assert_error (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
      return TRUE;
    }
  while (!outcome.is_done)
    g_main_context_iteration (NULL, TRUE);
  return FALSE;
}

/* Killed and not reaped yet, as those are that cannot be killed.  Others do not pay for them. */
static void
test_left_behind (void)
{
  const LookQuestion question = { .ask = hang, .uid = 1, .seconds = 600 };

  for (guint i = 0; i < LOOK_LEFT_MAX; i++)
    {
      g_autoptr (GError) error = NULL;
      Look *look = look_begin (&question, on_done, NULL, &error);

      g_assert_no_error (error);
      look_cancel (look);
    }
  g_assert_true (is_limited (1));
  g_assert_false (is_limited (2));
  while (is_limited (1))
    g_main_context_iteration (NULL, TRUE);
}

static Look *
begin (int (*function) (gpointer data, GError **error), gpointer data, guint seconds, Outcome *out)
{
  const LookQuestion question = { .ask = function, .data = data, .seconds = seconds };
  g_autoptr (GError) error = NULL;
  Look *look = look_begin (&question, on_done, out, &error);

  g_assert_no_error (error);
  g_assert_nonnull (look);
  return look;
}

static void
ask (int (*function) (gpointer data, GError **error), gpointer data, guint seconds, Outcome *out)
{
  begin (function, data, seconds, out);
  g_assert_false (out->is_done);
  while (!out->is_done)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_answers (void)
{
  static const int answers[] = { 0, 1, 255 };

  for (guint i = 0; i < G_N_ELEMENTS (answers); i++)
    {
      Outcome outcome = { 0 };

      ask (say, GINT_TO_POINTER (answers[i]), 600, &outcome);
      g_assert_no_error (outcome.error);
      g_assert_cmpint (outcome.answer, ==, answers[i]);
    }
}

static void
test_refused (void)
{
  g_autofree char *text = g_strnfill (90000, 'x');
  Outcome outcome = { 0 }, longer = { 0 };

  ask (refuse, (gpointer) "/a is not a folder", 600, &outcome);
  g_assert_error (outcome.error, US_ERROR, US_ERROR_REFUSED);
  g_assert_cmpint (outcome.answer, ==, -1);
  g_assert_cmpstr (outcome.error->message, ==, US_REASON_BAD_SHARE ": /a is not a folder");
  ask (refuse, text, 600, &longer);
  g_assert_error (longer.error, US_ERROR, US_ERROR_REFUSED);
  g_assert_true (us_error_has_reason (longer.error, US_REASON_BAD_SHARE));
  g_clear_error (&outcome.error);
  g_clear_error (&longer.error);
}

static int
refuse_without_a_word (gpointer data, GError **error)
{
  g_set_error_literal (error, US_ERROR, US_ERROR_REFUSED, "");
  return -1;
}

static int
find_with_an_error (gpointer data, GError **error)
{
  us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "found, and not");
  return 1;
}

static int
fail_elsewhere (gpointer data, GError **error)
{
  g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_EXIST, "there");
  return -1;
}

/* What is not quite an answer is none, however short. */
static void
test_no_answer (void)
{
  static const struct
  {
    int (*ask) (gpointer data, GError **error);
    int data, code;
  } cases[] = {
    { say, -1, US_ERROR_UNAVAILABLE },           { say, -13, US_ERROR_UNAVAILABLE },
    { say, 256, US_ERROR_UNAVAILABLE },          { refuse_without_a_word, 0, US_ERROR_REFUSED },
    { find_with_an_error, 0, US_ERROR_REFUSED }, { fail_elsewhere, 0, US_ERROR_UNAVAILABLE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Outcome outcome = { 0 };

      ask (cases[i].ask, GINT_TO_POINTER (cases[i].data), 600, &outcome);
      g_assert_cmpint (outcome.answer, ==, -1);
      g_assert_error (outcome.error, US_ERROR, cases[i].code);
      g_clear_error (&outcome.error);
    }
}

static void
test_nothing (void)
{
  Outcome outcome = { 0 };

  ask (crash, NULL, 600, &outcome);
  g_assert_error (outcome.error, US_ERROR, US_ERROR_UNAVAILABLE);
  g_clear_error (&outcome.error);
}

static gboolean
on_later (gpointer data)
{
  g_assert_true (((const Outcome *) data)->is_done);
  return G_SOURCE_CONTINUE;
}

/* Others are answered meanwhile. */
static void
test_hangs (void)
{
  Outcome late = { 0 }, other = { 0 };
  guint later = 0;

  begin (hang, NULL, 1, &late);
  /* By the same clock, and after all that is due when it is: however slow this machine is. */
  later = g_timeout_add_full (G_PRIORITY_LOW, 4000, on_later, &late, NULL);
  ask (say, GINT_TO_POINTER (7), 600, &other);
  g_assert_cmpint (other.answer, ==, 7);
  while (!late.is_done)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (later);
  g_assert_true (us_error_has_reason (late.error, US_REASON_UNREACHABLE));
  g_clear_error (&late.error);
}

/* Says who it is, when it has closed what it does not keep, and never ends. */
static int
tell_and_hang (gpointer data, GError **error)
{
  const pid_t pid = getpid ();

  if (write (*(int *) data, &pid, sizeof pid) != sizeof pid)
    return 0;
  return hang (NULL, NULL);
}

/* Of what this process holds, its child holds what it was told to keep, and the pipe for its
 * answer: the socket's other end, held there, would not be seen to close. */
static void
test_keeps_nothing (void)
{
  Outcome outcome = { 0 };
  int told[2] = { -1, -1 }, pair[2] = { -1, -1 };
  char byte = 0;
  const LookQuestion question = {
    .ask = tell_and_hang, .data = &told[1], .fds = &told[1], .n_fds = 1, .seconds = 600
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = NULL;
  g_autoptr (GDir) dir = NULL;
  Look *look = NULL;
  guint n = 0;
  pid_t pid = 0;

  g_assert_cmpint (pipe (told), ==, 0);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, pair), ==, 0);
  look = look_begin (&question, on_done, &outcome, &error);
  g_assert_no_error (error);
  g_assert_cmpint (read (told[0], &pid, sizeof pid), ==, sizeof pid);
  folder = g_strdup_printf ("/proc/%d/fd", pid);
  dir = g_dir_open (folder, 0, &error);
  g_assert_no_error (error);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    n += atoi (name) > STDERR_FILENO ? 1 : 0;
  g_assert_cmpuint (n, ==, 2);
  close (pair[1]);
  g_assert_cmpint (recv (pair[0], &byte, 1, MSG_DONTWAIT), ==, 0);
  look_cancel (look);
  close (pair[0]);
  close (told[0]);
  close (told[1]);
}

typedef struct
{
  int child[2]; /* where it writes a byte for each word, and reads one to go on */
  int go_on;    /* ours */
  guint words;
} List;

/* Says that it goes on, each second of its own clock. */
static int
go_on (gpointer data, GError **error)
{
  const List *list = data;
  char byte = 0;

  for (guint i = 0; i < list->words; i++)
    {
      own.now += G_USEC_PER_SEC;
      look_goes_on ();
      if (write (list->child[0], "s", 1) != 1 || read (list->child[1], &byte, 1) != 1)
        return -1;
    }
  return 7;
}

/* 15 seconds after each word the child has another, unless it is to be late. */
static gboolean
on_said (int fd, GIOCondition condition, gpointer data)
{
  const List *list = data;
  char byte = 0;

  g_assert_cmpint (read (fd, &byte, 1), ==, 1);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  own.now += 15 * G_USEC_PER_SEC;
  if (own.waits[own.n_waits - 1] > 1)
    g_assert_cmpint (write (list->go_on, "g", 1), ==, 1);
  return G_SOURCE_CONTINUE;
}

/* Of a child that has @words to say, where 20 seconds are waited for each. */
static void
look_at_list (guint words, Outcome *out)
{
  int said[2] = { -1, -1 }, on[2] = { -1, -1 };
  List list = { .words = 0 };
  const LookQuestion question = {
    .ask = go_on, .data = &list, .fds = list.child, .n_fds = 2, .seconds = 20
  };
  g_autoptr (GError) error = NULL;
  guint source = 0;

  g_assert_cmpint (pipe (said), ==, 0);
  g_assert_cmpint (pipe (on), ==, 0);
  list = (List){ { said[1], on[0] }, on[1], words };
  own.n_waits = 0;
  own.now = 1;
  source = g_unix_fd_add (said[0], G_IO_IN, on_said, &list);
  look_begin (&question, on_done, out, &error);
  g_assert_no_error (error);
  while (!out->is_done)
    g_main_context_iteration (NULL, TRUE);
  own.now = 0;
  g_source_remove (source);
  for (guint i = 0; i < 2; i++)
    {
      close (said[i]);
      close (on[i]);
    }
}

/* What is long and goes on is waited for. */
static void
test_goes_on (void)
{
  Outcome outcome = { 0 };

  look_goes_on (); /* in no child: nothing */
  look_at_list (5, &outcome);
  g_assert_no_error (outcome.error);
  g_assert_cmpint (outcome.answer, ==, 7);
  g_assert_cmpuint (own.n_waits, ==, 6);
  for (guint i = 0; i < own.n_waits; i++)
    g_assert_cmpuint (own.waits[i], ==, 20000);
}

/* But not for ever. */
static void
test_too_long (void)
{
  Outcome outcome = { 0 };

  look_at_list (15, &outcome);
  g_assert_cmpint (outcome.answer, ==, -1);
  g_assert_true (us_error_has_reason (outcome.error, US_REASON_UNREACHABLE));
  g_assert_nonnull (strstr (outcome.error->message, "too long"));
  g_assert_cmpuint (own.n_waits, ==, 10);
  g_assert_cmpuint (own.waits[7], ==, 20000);
  g_assert_cmpuint (own.waits[8], ==, 15001);
  g_assert_cmpuint (own.waits[9], ==, 1);
  g_clear_error (&outcome.error);
}

static void
test_cancelled (void)
{
  Outcome outcome = { 0 }, other = { 0 };

  look_cancel (begin (hang, NULL, 600, &outcome));
  ask (say, GINT_TO_POINTER (1), 600, &other);
  g_assert_false (outcome.is_done);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launcher-look/answers", test_answers);
  g_test_add_func ("/launcher-look/refused", test_refused);
  g_test_add_func ("/launcher-look/no-answer", test_no_answer);
  g_test_add_func ("/launcher-look/nothing", test_nothing);
  g_test_add_func ("/launcher-look/hangs", test_hangs);
  g_test_add_func ("/launcher-look/goes-on", test_goes_on);
  g_test_add_func ("/launcher-look/too-long", test_too_long);
  g_test_add_func ("/launcher-look/keeps-nothing", test_keeps_nothing);
  g_test_add_func ("/launcher-look/left-behind", test_left_behind);
  g_test_add_func ("/launcher-look/cancelled", test_cancelled);
  return g_test_run ();
}
