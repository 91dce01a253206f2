/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many a listener without a worker refuses before it looks at anything else again. */
#include "service/base/prefork-refuse.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/handover.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CALLERS 70 /* fewer than a backlog holds, more than are refused at once */

static int
listener_new (struct sockaddr_un *out_address, socklen_t *out_len)
{
  /* an abstract name that the kernel chooses */
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  *out_len = sizeof *out_address;
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, sizeof (sa_family_t)), ==, 0);
  g_assert_cmpint (listen (fd, CALLERS), ==, 0);
  g_assert_cmpint (getsockname (fd, (struct sockaddr *) out_address, out_len), ==, 0);
  return fd;
}

/* How many of them have an answer, which is a refusal. */
static guint
count_refused (const int *socks)
{
  guint n = 0;

  for (guint i = 0; i < CALLERS; i++)
    {
      struct pollfd poll_fd = { .fd = socks[i], .events = POLLIN };

      n += poll (&poll_fd, 1, 0) == 1;
    }
  return n;
}

static void
expect_refusal (int sock)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (handover_receive_reply (sock, "()", &reply, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_UNREACHABLE));
}

static void
test_bounded (void)
{
  struct sockaddr_un address = { 0 };
  socklen_t len = 0;
  autofd listener = listener_new (&address, &len);
  int socks[CALLERS];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < CALLERS; i++)
    {
      socks[i] = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
      g_assert_cmpint (connect (socks[i], (const struct sockaddr *) &address, len), ==, 0);
    }
  g_assert_true (prefork_refuse (listener, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (count_refused (socks), ==, PREFORK_REFUSE_MAX);

  /* The others are still there, and their turn comes. */
  g_assert_true (prefork_refuse (listener, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < CALLERS; i++)
    {
      expect_refusal (socks[i]);
      fd_clear (&socks[i]);
    }
}

static void
test_no_listener (void)
{
  g_autoptr (GError) error = NULL;
  autofd sock = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  g_assert_false (prefork_refuse (sock, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_INTERNAL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/prefork-refuse/bounded", test_bounded);
  g_test_add_func ("/base/prefork-refuse/no-listener", test_no_listener);
  return g_test_run ();
}
