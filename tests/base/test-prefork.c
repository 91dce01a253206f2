/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A prefork listener with real workers: what it does when they die, hang and are too many, that a
 * stop loses no connection and that a reload leaves no worker with the older descriptor.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/handover.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "tests/lib/activated.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void
put (Activated *service, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (service->dir, name, NULL);

  g_assert_true (
      g_file_set_contents_full (path, content, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
drop (Activated *service, const char *name)
{
  g_autofree char *path = g_build_filename (service->dir, name, NULL);

  g_assert_cmpint (unlink (path), ==, 0);
}

static void
start (Activated *service, const char *max_workers)
{
  const char *argv[] = { g_getenv ("PREFORK_SERVICE"), service->dir, max_workers, NULL };

  g_assert_nonnull (argv[0]);
  activated_start (service, argv, NULL);
}

static Activated *
service_new (const char *max_workers)
{
  Activated *service = activated_new ();

  put (service, "shared", "one");
  start (service, max_workers);
  return service;
}

static void
tell (int sock, const char *word)
{
  g_assert_cmpint (send (sock, word, strlen (word), MSG_NOSIGNAL), ==, (gssize) strlen (word));
}

/* hear: the next packet, NULL where the connection ended or nothing came in time. */
static char *
hear (int sock)
{
  char text[256] = { 0 };
  ssize_t n = recv (sock, text, sizeof text - 1, 0);

  return n > 0 ? g_strdup (text) : NULL;
}

static void
expect (int sock, const char *text)
{
  g_autofree char *heard = hear (sock);

  g_assert_cmpstr (heard, ==, text);
}

/* ask: the pid of the worker that answered; aborts where its descriptor does not hold @shared. */
static int
ask (Activated *service, const char *shared)
{
  g_autofree char *heard = NULL;
  autofd sock = activated_connect (service, 60);
  char *end = NULL;
  int pid = 0;

  tell (sock, "echo");
  heard = hear (sock);
  g_assert_nonnull (heard);
  pid = (int) strtol (heard, &end, 10);
  g_assert_cmpint (*end, ==, ' ');
  g_assert_cmpstr (end + 1, ==, shared);
  return pid;
}

/* ask_at_last: the same of a service that may have to recover first. */
static int
ask_at_last (Activated *service, const char *shared)
{
  g_autofree char *wanted = g_strconcat (" ", shared, NULL);

  for (guint i = 0; i < 12000; i++)
    {
      autofd sock = activated_connect (service, 60);
      g_autofree char *heard = NULL;

      (void) !send (sock, "echo", 4, MSG_NOSIGNAL);
      heard = hear (sock);
      if (heard != NULL && g_str_has_suffix (heard, wanted))
        return atoi (heard);
      g_usleep (10000);
    }
  g_error ("it does not recover");
}

static GPtrArray *
lines_of (Activated *service, const char *name)
{
  g_autofree char *path = g_build_filename (service->dir, name, NULL);
  g_autofree char *content = NULL;
  GPtrArray *pids = g_ptr_array_new_with_free_func (g_free);

  if (g_file_get_contents (path, &content, NULL, NULL))
    {
      g_auto (GStrv) lines = g_strsplit (content, "\n", -1);

      for (guint i = 0; lines[i] != NULL; i++)
        if (*lines[i] != '\0')
          g_ptr_array_add (pids, g_strdup (lines[i]));
    }
  return pids;
}

static GPtrArray *
starts (Activated *service)
{
  return lines_of (service, "starts");
}

static guint
count_lines (Activated *service, const char *name)
{
  g_autoptr (GPtrArray) pids = lines_of (service, name);

  return pids->len;
}

static guint
n_starts (Activated *service)
{
  return count_lines (service, "starts");
}

static void
wait_for_lines (Activated *service, const char *name, guint n)
{
  for (guint i = 0; i < 12000 && count_lines (service, name) < n; i++)
    g_usleep (5000);
  g_assert_cmpuint (count_lines (service, name), >=, n);
}

static void
wait_for_starts (Activated *service, guint n)
{
  wait_for_lines (service, "starts", n);
}

static gboolean
has_answer (int sock)
{
  struct pollfd polled = { .fd = sock, .events = POLLIN };

  return poll (&polled, 1, 0) == 1;
}

/* expect_refusal: an error of the listener itself, whether or not it saw a message: what it says is
 * that nothing was looked at. */
static void
expect_refusal (int sock)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (handover_receive_reply (sock, WIRE_EMPTY, &reply, &error));
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE));
  if (!us_error_has_reason (error, US_REASON_UNREACHABLE) ||
      strstr (error->message, "no worker can be started") == NULL)
    g_error ("it was not the listener's refusal: %s", error->message);
}

/* Until the listener has heard that this worker is busy, and has started another. */
static void
wait_for_successor (Activated *service, int pid)
{
  for (guint i = 0; i < 12000; i++)
    {
      g_autoptr (GPtrArray) pids = starts (service);

      if (pids->len > 0 && atoi (g_ptr_array_index (pids, pids->len - 1)) != pid)
        return;
      g_usleep (5000);
    }
  g_error ("no worker follows %d", pid);
}

/* --- what is refused --- */

static void
check_start_refused (const char *const *variables, int listener)
{
  g_autoptr (Activated) service = activated_new ();
  const char *argv[] = { g_getenv ("PREFORK_SERVICE"), service->dir, "2", NULL };
  int kept = service->listener;
  int status = 0;

  put (service, "shared", "one");
  service->pid = fork ();
  g_assert_cmpint (service->pid, >=, 0);
  if (service->pid == 0)
    {
      g_autofree char *pid = g_strdup_printf ("%d", getpid ());

      setenv ("ASAN_OPTIONS", "detect_leaks=0", 1);
      for (guint i = 0; variables[i] != NULL; i += 2)
        setenv (variables[i], strcmp (variables[i + 1], "PID") == 0 ? pid : variables[i + 1], 1);
      if (listener < 0)
        close (3);
      else if (dup2 (listener == 0 ? kept : listener, 3) < 0 || fcntl (3, F_SETFD, 0) < 0)
        _exit (126);
      execv (argv[0], (char *const *) argv);
      _exit (127);
    }
  status = activated_wait (service, 60);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);
  g_assert_cmpuint (n_starts (service), ==, 0);
}

static void
test_start_refused (void)
{
  static const char *const none[] = { NULL };
  static const char *const no_pid[] = { "LISTEN_FDS", "1", NULL };
  static const char *const no_fds[] = { "LISTEN_PID", "PID", NULL };
  static const char *const wrong_pid[] = { "LISTEN_PID", "1", "LISTEN_FDS", "1", NULL };
  static const char *const two[] = { "LISTEN_PID", "PID", "LISTEN_FDS", "2", NULL };
  static const char *const nothing[] = { "LISTEN_PID", "PID", "LISTEN_FDS", "0", NULL };
  static const char *const odd[] = { "LISTEN_PID", "PID", "LISTEN_FDS", "1 ", NULL };
  static const char *const good[] = { "LISTEN_PID", "PID", "LISTEN_FDS", "1", NULL };
  struct sockaddr any = { .sa_family = AF_UNIX };
  autofd stream = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  autofd unbound = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  autofd null = open ("/dev/null", O_RDWR | O_CLOEXEC);

  check_start_refused (none, 0);
  check_start_refused (no_pid, 0);
  check_start_refused (no_fds, 0);
  check_start_refused (wrong_pid, 0);
  check_start_refused (two, 0);
  check_start_refused (nothing, 0);
  check_start_refused (odd, 0);
  check_start_refused (good, -1);
  check_start_refused (good, null);
  check_start_refused (good, unbound);
  g_assert_cmpint (bind (stream, &any, sizeof any.sa_family), ==, 0);
  g_assert_cmpint (listen (stream, 1), ==, 0);
  check_start_refused (good, stream);
}

static void
test_no_shared_descriptor (void)
{
  g_autoptr (Activated) service = activated_new ();
  autofd sock = -1;

  sock = activated_connect (service, 60);
  start (service, "2");
  /* Who waits is refused after the second failure, and the third comes after that. */
  wait_for_lines (service, "failures", 3);
  g_assert_true (has_answer (sock));
  expect_refusal (sock);
  g_assert_cmpuint (n_starts (service), ==, 0);

  /* It is made as soon as it can be. */
  put (service, "shared", "late");
  ask_at_last (service, "late");
}

/* --- workers that die or hang --- */

static void
check_start_loop (const char *fault)
{
  g_autoptr (Activated) service = activated_new ();
  gint64 begun = g_get_monotonic_time ();
  guint n = 0;

  put (service, "shared", "one");
  put (service, fault, "");
  start (service, "4");
  wait_for_starts (service, 3);
  g_usleep (600000);
  n = n_starts (service);
  /* At 0, 100, 300, 700, 1500, … ms at the earliest. */
  g_assert_cmpint ((1 << (n - 1)) - 1, <=, (g_get_monotonic_time () - begun) / 100000);

  drop (service, fault);
  ask_at_last (service, "one");
  g_assert_cmpint (activated_stop (service), ==, 0);
}

static void
test_crash_loop (void)
{
  check_start_loop ("crash");
}

static void
test_fail_loop (void)
{
  check_start_loop ("fail");
}

/* Nobody waits for what cannot come: neither who called before, nor who calls now. */
static void
test_refuse (void)
{
  g_autoptr (Activated) service = activated_new ();
  autofd before = activated_connect (service, 60);
  autofd before_with_file = activated_connect (service, 60);
  autofd later = -1;
  autofd silent = -1;
  int file = memfd_new_sealed ("test", "x", 1, NULL);
  int pid = 0;

  put (service, "shared", "one");
  put (service, "fail", "");
  tell (before, "echo");
  g_assert_true (handover_send (before_with_file, HANDOVER_STATUS, g_variant_new (WIRE_EMPTY),
                                &file, 1, NULL));
  fd_clear (&file);
  start (service, "4");
  /* Who waits is refused after the second failure, and the third start comes after that. */
  wait_for_starts (service, 3);
  g_assert_true (has_answer (before));
  g_assert_true (has_answer (before_with_file));
  expect_refusal (before);
  expect_refusal (before_with_file);

  silent = activated_connect (service, 60);
  expect_refusal (silent);
  g_assert_cmpint (send (silent, "echo", 4, MSG_NOSIGNAL), ==, -1);
  g_assert_cmpint (errno, ==, EPIPE);
  later = activated_connect (service, 60);
  (void) !send (later, "echo", 4, MSG_NOSIGNAL);
  expect_refusal (later);

  drop (service, "fail");
  pid = ask_at_last (service, "one");
  wait_for_successor (service, pid);
  ask (service, "one"); /* and waits for a worker again */
  g_assert_cmpint (activated_stop (service), ==, 0);
}

static void
test_hang_at_start (void)
{
  g_autoptr (Activated) service = activated_new ();
  gint64 begun = g_get_monotonic_time ();

  put (service, "shared", "one");
  put (service, "hang", "");
  start (service, "4");
  wait_for_starts (service, 2); /* the first was killed after a second */
  g_assert_cmpint (g_get_monotonic_time () - begun, >=, G_USEC_PER_SEC);
  drop (service, "hang");
  ask_at_last (service, "one");
}

static void
test_stop_while_it_hangs (void)
{
  g_autoptr (Activated) service = activated_new ();

  put (service, "shared", "one");
  put (service, "hang", "");
  start (service, "4");
  wait_for_starts (service, 1);
  g_assert_cmpint (activated_stop (service), ==, 0);
  g_assert_cmpuint (n_starts (service), ==, 1);
}

static void
test_death_while_serving (void)
{
  g_autoptr (Activated) service = service_new ("2");

  for (guint i = 0; i < 5; i++)
    {
      autofd sock = activated_connect (service, 60);

      tell (sock, "die");
      expect (sock, NULL);
    }
  ask (service, "one");
}

static void
test_idle_worker_killed (void)
{
  g_autoptr (Activated) service = service_new ("2");
  int first = ask (service, "one");

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GPtrArray) pids = NULL;
      int idle = 0;

      wait_for_starts (service, 2 + 2 * i);
      pids = starts (service);
      idle = atoi (g_ptr_array_index (pids, pids->len - 1));
      g_assert_cmpint (idle, !=, first);
      g_assert_cmpint (kill (idle, SIGKILL), ==, 0);
      g_assert_cmpint (ask (service, "one"), !=, idle);
    }
}

static void
test_worker_without_listener (void)
{
  g_autoptr (Activated) service = NULL;
  g_autoptr (GPtrArray) pids = NULL;
  pid_t ended = 0;
  int status = -1;

  g_assert_cmpint (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), ==, 0);
  service = service_new ("2");
  ask (service, "one");
  wait_for_starts (service, 2);
  pids = starts (service);
  g_assert_cmpint (kill (service->pid, SIGKILL), ==, 0);
  activated_wait (service, 60);

  /* The idle worker ends by itself and takes no connection. */
  for (guint i = 0; i < 12000 && ended == 0; i++)
    {
      ended = waitpid (atoi (g_ptr_array_index (pids, 1)), &status, WNOHANG);
      g_usleep (5000);
    }
  g_assert_cmpint (ended, ==, atoi (g_ptr_array_index (pids, 1)));
  g_assert_cmpint (prctl (PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), ==, 0);
}

/* --- two that are ready --- */

/* @file: (nullable): one more that makes it fail */
static Activated *
service_new_two (const char *file)
{
  Activated *service = activated_new ();

  put (service, "shared", "one");
  put (service, "two-ready", "");
  if (file != NULL)
    put (service, file, "");
  start (service, "4");
  return service;
}

static void
test_two_ready (void)
{
  g_autoptr (Activated) service = service_new_two (NULL);
  autofd first = -1;
  autofd second = -1;

  wait_for_starts (service, 2); /* with nobody having called */
  first = activated_connect (service, 60);
  second = activated_connect (service, 60);
  tell (first, "hold");
  tell (second, "hold");
  expect (first, "holding");
  expect (second, "holding");
  wait_for_starts (service, 4);
  ask (service, "one");
  g_assert_cmpint (activated_stop (service), ==, 0);
}

/* While one is ready nobody is refused, though no other can be started. */
static void
test_two_ready_one_left (void)
{
  g_autoptr (Activated) service = service_new_two ("crash-but-first");
  g_autoptr (GPtrArray) pids = NULL;
  autofd refused = -1;

  wait_for_starts (service, 1 + 3); /* the listener has seen at least two of them die */
  pids = starts (service);
  g_assert_cmpint (ask (service, "one"), ==, atoi (g_ptr_array_index (pids, 0)));
  refused = activated_connect (service, 60);
  expect_refusal (refused);
  drop (service, "crash-but-first");
  ask_at_last (service, "one");
}

/* What failed while one was ready is no reason to refuse once that is taken: it may be over. */
static void
test_two_ready_none_failed_since (void)
{
  g_autoptr (Activated) service = service_new_two ("crash-but-first");
  g_autoptr (GPtrArray) pids = NULL;

  wait_for_starts (service, 1 + 3);
  pids = starts (service);
  while (kill (atoi (g_ptr_array_index (pids, 3)), 0) == 0)
    g_usleep (1000);
  drop (service, "crash-but-first");
  for (guint i = 0; i < 4; i++)
    ask (service, "one");
}

static void
test_two_ready_reload (void)
{
  g_autoptr (Activated) service = service_new_two (NULL);
  autofd sock = -1;

  wait_for_starts (service, 2);
  sock = activated_connect (service, 60);
  put (service, "shared", "two");
  tell (sock, "reload");
  expect (sock, "reloaded");
  for (guint i = 0; i < 4; i++)
    ask (service, "two");
}

/* --- many connections --- */

static void
test_parallel (void)
{
  g_autoptr (Activated) service = service_new ("8");
  g_autoptr (GHashTable) answered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  int socks[50];

  for (guint i = 0; i < G_N_ELEMENTS (socks); i++)
    {
      socks[i] = activated_connect (service, 60);
      tell (socks[i], "echo");
    }
  for (guint i = 0; i < G_N_ELEMENTS (socks); i++)
    {
      char *heard = hear (socks[i]);

      g_assert_nonnull (heard);
      g_assert_true (g_hash_table_add (answered, heard)); /* each by another worker */
      close (socks[i]);
    }
  g_assert_cmpint (activated_stop (service), ==, 0);
  g_assert_cmpuint (n_starts (service), <=, G_N_ELEMENTS (socks) + 1);
}

static void
test_max_workers (void)
{
  g_autoptr (Activated) service = service_new ("2");
  autofd first = activated_connect (service, 60);
  autofd second = activated_connect (service, 60);
  autofd third = activated_connect (service, 1);
  struct timeval timeout = { .tv_sec = 60 };

  tell (first, "hold");
  expect (first, "holding");
  tell (second, "hold");
  expect (second, "holding");
  tell (third, "hold");
  expect (third, NULL);
  g_assert_cmpuint (n_starts (service), ==, 2);

  tell (first, "go");
  g_assert_cmpint (setsockopt (third, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), ==, 0);
  expect (third, "holding");
  g_assert_cmpuint (n_starts (service), ==, 3);
}

/* --- stop --- */

static void
test_drain (void)
{
  g_autoptr (Activated) service = service_new ("4");
  g_autofree char *answer = NULL;
  autofd busy = activated_connect (service, 60);
  autofd waiting = -1;
  int status = -1;

  tell (busy, "hold");
  expect (busy, "holding");
  wait_for_starts (service, 2);
  g_assert_cmpint (kill (service->pid, SIGTERM), ==, 0);
  g_usleep (200000);
  g_assert_cmpint (waitpid (service->pid, &status, WNOHANG), ==, 0);

  /* A connection made now is served by nobody, and by the next listener. */
  waiting = activated_connect (service, 1);
  tell (waiting, "echo");
  expect (waiting, NULL);

  tell (busy, "go");
  answer = hear (busy);
  g_assert_nonnull (answer);
  g_assert_true (g_str_has_suffix (answer, " one"));
  g_assert_cmpint (activated_wait (service, 60), ==, 0);
  g_assert_cmpuint (n_starts (service), ==, 2);

  start (service, "4");
  g_free (answer);
  answer = NULL;
  for (guint i = 0; i < 60 && answer == NULL; i++)
    answer = hear (waiting);
  g_assert_nonnull (answer);
}

static void
test_stop_idle (void)
{
  g_autoptr (Activated) service = service_new ("4");

  ask (service, "one");
  g_assert_cmpint (activated_stop (service), ==, 0);
}

/* --- reload --- */

static void
test_reload_by_worker (void)
{
  g_autoptr (Activated) service = service_new ("4");
  g_autofree char *answer = NULL;
  autofd sock = activated_connect (service, 60);
  autofd busy = activated_connect (service, 60);

  tell (busy, "hold");
  expect (busy, "holding");
  wait_for_starts (service, 3);
  put (service, "shared", "two");
  tell (sock, "reload");
  expect (sock, "reloaded");
  ask (service, "two");

  /* The one that was busy goes on with what it had. */
  tell (busy, "go");
  answer = hear (busy);
  g_assert_nonnull (answer);
  g_assert_true (g_str_has_suffix (answer, " one"));
  ask (service, "two");
}

/* Whoever was sent what workers share sees that it no longer counts before a reload is confirmed. */
static void
test_reload_ends_lease (void)
{
  g_autoptr (Activated) service = service_new ("4");
  autofd sock = activated_connect (service, 60), older = activated_connect (service, 60);

  tell (older, "lease");
  expect (older, "leased");
  tell (sock, "reload");
  expect (sock, "reloaded");
  tell (older, "again");
  expect (older, "not leased");
}

static void
test_reload_with_all_busy (void)
{
  g_autoptr (Activated) service = service_new ("1");
  autofd sock = activated_connect (service, 60);

  put (service, "shared", "two");
  tell (sock, "reload");
  expect (sock, "reloaded");
  ask (service, "two");
}

static void
test_reload_fails_closed (void)
{
  g_autoptr (Activated) service = service_new ("4");
  autofd sock = activated_connect (service, 60);
  autofd refused = -1;

  tell (sock, "reload");
  expect (sock, "reloaded");
  fd_clear (&sock);
  sock = activated_connect (service, 60);
  drop (service, "shared");
  tell (sock, "reload");
  expect (sock, "unreachable: the reload failed");
  refused = activated_connect (service, 60);
  expect_refusal (refused);
  put (service, "shared", "three");
  ask_at_last (service, "three");
}

static void
test_reload_by_signal (void)
{
  g_autoptr (Activated) service = service_new ("4");
  gboolean done = FALSE;

  ask (service, "one");
  put (service, "shared", "two");
  ask (service, "one"); /* an edit alone changes nothing */
  g_assert_cmpint (kill (service->pid, SIGHUP), ==, 0);
  for (guint i = 0; i < 100 && !done; i++)
    {
      autofd sock = activated_connect (service, 60);
      g_autofree char *answer = NULL;

      tell (sock, "echo");
      answer = hear (sock);
      g_assert_nonnull (answer); /* none is lost while workers are replaced */
      done = g_str_has_suffix (answer, " two");
    }
  g_assert_true (done);
}

static void
test_reload_without_shared (void)
{
  g_autoptr (Activated) service = activated_new ();
  autofd sock = -1;

  put (service, "without-shared", "");
  start (service, "4");
  ask (service, "nothing");
  sock = activated_connect (service, 60);
  tell (sock, "reload");
  expect (sock, "reloaded");
  ask (service, "nothing");
}

/* --- limits --- */

static void
test_limits (void)
{
  g_autoptr (Activated) service = service_new ("2");
  autofd sock = activated_connect (service, 60);
  g_autofree char *answer = NULL;

  tell (sock, "limits");
  answer = hear (sock);
  g_assert_nonnull (answer);
  g_assert_true (g_str_has_prefix (
      answer, "dumpable 0 nonewprivs 1 umask 077 core 0 files 256 cpu 60 space "));
  g_assert_true (g_str_has_suffix (answer, " listen 0"));
#if !defined(__SANITIZE_ADDRESS__)
  g_assert_nonnull (strstr (answer, " space 1 "));
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/prefork/start-refused", test_start_refused);
  g_test_add_func ("/base/prefork/no-shared-descriptor", test_no_shared_descriptor);
  g_test_add_func ("/base/prefork/crash-loop", test_crash_loop);
  g_test_add_func ("/base/prefork/fail-loop", test_fail_loop);
  g_test_add_func ("/base/prefork/refuse", test_refuse);
  g_test_add_func ("/base/prefork/hang-at-start", test_hang_at_start);
  g_test_add_func ("/base/prefork/stop-while-it-hangs", test_stop_while_it_hangs);
  g_test_add_func ("/base/prefork/death-while-serving", test_death_while_serving);
  g_test_add_func ("/base/prefork/idle-worker-killed", test_idle_worker_killed);
  g_test_add_func ("/base/prefork/worker-without-listener", test_worker_without_listener);
  g_test_add_func ("/base/prefork/two-ready", test_two_ready);
  g_test_add_func ("/base/prefork/two-ready-one-left", test_two_ready_one_left);
  g_test_add_func ("/base/prefork/two-ready-none-failed-since", test_two_ready_none_failed_since);
  g_test_add_func ("/base/prefork/two-ready-reload", test_two_ready_reload);
  g_test_add_func ("/base/prefork/parallel", test_parallel);
  g_test_add_func ("/base/prefork/max-workers", test_max_workers);
  g_test_add_func ("/base/prefork/drain", test_drain);
  g_test_add_func ("/base/prefork/stop-idle", test_stop_idle);
  g_test_add_func ("/base/prefork/reload-by-worker", test_reload_by_worker);
  g_test_add_func ("/base/prefork/reload-ends-lease", test_reload_ends_lease);
  g_test_add_func ("/base/prefork/reload-with-all-busy", test_reload_with_all_busy);
  g_test_add_func ("/base/prefork/reload-fails-closed", test_reload_fails_closed);
  g_test_add_func ("/base/prefork/reload-by-signal", test_reload_by_signal);
  g_test_add_func ("/base/prefork/reload-without-shared", test_reload_without_shared);
  g_test_add_func ("/base/prefork/limits", test_limits);
  return g_test_run ();
}
