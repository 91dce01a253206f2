/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worker's side of a prefork listener, and the limits that both sides put on themselves.  A
 * worker serves one connection in its life.  It ends without having accepted any when the listener
 * says so or is gone, so that no worker with old state outlives a reload or a stop.
 */
#include "service/base/prefork.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/prefork-status.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CONNECTION_TIMEOUT 30 /* seconds */
#define RELOAD_TIMEOUT 60     /* seconds */
#define CPU_SECONDS 60
#define MAX_DESCRIPTORS 256
#define MAX_ADDRESS_SPACE ((rlim_t) 1024 * 1024 * 1024)

/* AddressSanitizer reserves terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__)
#  define LIMIT_ADDRESS_SPACE FALSE
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define LIMIT_ADDRESS_SPACE FALSE
#  endif
#endif
#ifndef LIMIT_ADDRESS_SPACE
#  define LIMIT_ADDRESS_SPACE TRUE
#endif

static gboolean
set_system_error (GError **error, const char *what)
{
  int number = errno;

  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s: %s", what,
                       g_strerror (number));
}

/* Lowers soft and hard limit, never raises one. */
static gboolean
limit_lower (__rlimit_resource_t resource, rlim_t value)
{
  struct rlimit limit = { 0 };

  if (getrlimit (resource, &limit) < 0)
    return FALSE;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value)
    value = limit.rlim_max;
  limit = (struct rlimit){ .rlim_cur = value, .rlim_max = value };
  return setrlimit (resource, &limit) == 0;
}

gboolean
process_harden (GError **error)
{
  umask (077);
  (void) signal (SIGPIPE, SIG_IGN);

  if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
    return set_system_error (error, "cannot become undumpable");
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return set_system_error (error, "cannot give up new privileges");
  if (!limit_lower (RLIMIT_CORE, 0) || !limit_lower (RLIMIT_NOFILE, MAX_DESCRIPTORS))
    return set_system_error (error, "cannot limit core and descriptors");
  if (LIMIT_ADDRESS_SPACE && !limit_lower (RLIMIT_AS, MAX_ADDRESS_SPACE))
    return set_system_error (error, "cannot limit the address space");
  return TRUE;
}

static gboolean
status_send (char word, GError **error)
{
  ssize_t n = 0;

  do
    n = send (PREFORK_FD_STATUS, &word, 1, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n == 1 || set_system_error (error, "the listener is gone");
}

/* status_receive: the next byte, 0 at the end, -1 on error. */
static int
status_receive (void)
{
  char word = 0;
  ssize_t n = 0;

  do
    n = recv (PREFORK_FD_STATUS, &word, 1, 0);
  while (n < 0 && errno == EINTR);
  return n == 1 ? word : (int) n;
}

/* connection_wait: the connection; -1 without an error where the listener wants no more of us. */
static int
connection_wait (GError **error)
{
  struct pollfd polled[] = { { .fd = PREFORK_FD_STATUS, .events = POLLIN },
                             { .fd = PREFORK_FD_LISTEN, .events = POLLIN } };

  for (;;)
    {
      int sock = -1;

      if (poll (polled, G_N_ELEMENTS (polled), -1) < 0)
        {
          if (errno == EINTR)
            continue;
          set_system_error (error, "cannot wait for a connection");
          return -1;
        }
      /* Any word from the listener, and its end, means the same here. */
      if (polled[0].revents != 0)
        return -1;

      sock = accept4 (PREFORK_FD_LISTEN, NULL, NULL, SOCK_CLOEXEC);
      if (sock >= 0)
        return sock;
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        {
          set_system_error (error, "cannot accept a connection");
          return -1;
        }
    }
}

gboolean
prefork_say_impaired (GError **error)
{
  return status_send (STATUS_IMPAIRED, error);
}

gboolean
prefork_is_awaited (void)
{
  struct pollfd polled = { .fd = PREFORK_FD_LISTEN, .events = POLLIN };

  return poll (&polled, 1, 0) != 0;
}

int
prefork_accept (GError **error)
{
  struct timeval timeout = { .tv_sec = CONNECTION_TIMEOUT };
  autofd sock = -1;

  for (int fd = PREFORK_FD_LISTEN; fd <= PREFORK_FD_SHARED; fd++)
    (void) fcntl (fd, F_SETFD, FD_CLOEXEC);

  if (!status_send (STATUS_READY, error))
    return -1;
  sock = connection_wait (error);
  if (sock < 0 || !status_send (STATUS_ACCEPTED, error))
    return -1;

  close (PREFORK_FD_LISTEN);
  if (setsockopt (sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) < 0 ||
      setsockopt (sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0 ||
      !limit_lower (RLIMIT_CPU, CPU_SECONDS))
    {
      set_system_error (error, "cannot limit a connection");
      return -1;
    }
  return fd_steal (&sock);
}

gboolean
prefork_is_ending (void)
{
  struct pollfd status = { .fd = PREFORK_FD_STATUS, .events = POLLIN };

  /* any word, the end and any doubt */
  return poll (&status, 1, 0) != 0;
}

gboolean
prefork_request_reload (GError **error)
{
  struct timeval timeout = { .tv_sec = RELOAD_TIMEOUT };
  int word = STATUS_RETIRE;

  if (setsockopt (PREFORK_FD_STATUS, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0)
    return set_system_error (error, "cannot limit the wait for a reload");
  if (!status_send (STATUS_RELOAD, error))
    return FALSE;

  /* The listener may have told this worker to retire just as it accepted. */
  while (word == STATUS_RETIRE)
    word = status_receive ();
  if (word == STATUS_RELOADED)
    return TRUE;
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                       word == STATUS_RELOAD_FAILED ? "the reload failed"
                                                    : "the listener did not confirm the reload");
}
