/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes bytes, signals and the size between console.c, the person's side, and the command's terminal,
 * until one of them has ended.  Called by verb-launch.c.  The command never has the person's terminal,
 * so it can type nothing into it, and what it shows there is what screen.c lets pass; but all that is
 * its own word, a card that looks like ours included.
 */
#include "module/card/tty/relay.h"

#include "module/card/tty/console.h"
#include "module/card/tty/leave.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define HUNG_UP_MS 200
#define REST_READS 64
#define WRITE_MAX 4096

typedef struct
{
  guint8 data[65536];
  gsize len;
} Bytes;

typedef struct
{
  Console console;
  int terminal, link, signals;
  gboolean input_ended, is_hung_up;
  Bytes typed, shown;
  guint8 last; /* of what was typed */
  Leave leave;
  char word[64];
  gsize word_len;
  gboolean has_ended, by_link;
  int status;
} Relay;

enum
{
  POLL_INPUT,
  POLL_OUTPUT,
  POLL_TERMINAL,
  POLL_LINK,
  POLL_SIGNALS,
  POLL_N,
};

static void
pass_size (const Relay *relay)
{
  struct winsize size;

  if (ioctl (STDIN_FILENO, TIOCGWINSZ, &size) == 0)
    ioctl (relay->terminal, TIOCSWINSZ, &size);
}

static void
make_raw (Relay *relay)
{
  if (console_make_raw (&relay->console))
    pass_size (relay);
}

/* --- bytes --- */

static void
end (Relay *relay, int status)
{
  if (!relay->has_ended)
    relay->status = status;
  relay->has_ended = TRUE;
}

/* No more at once than one terminal takes; FALSE where nothing more can be written. */
static gboolean
drain (Bytes *bytes, int fd)
{
  const ssize_t n = write (fd, bytes->data, MIN (bytes->len, WRITE_MAX));

  if (n < 0)
    return errno == EAGAIN || errno == EINTR;
  bytes->len -= (gsize) n;
  memmove (bytes->data, bytes->data + n, bytes->len);
  return TRUE;
}

/* What there is no room for is lost. */
static void
append (Bytes *bytes, const guint8 *data, gsize len)
{
  const gsize n = MIN (len, sizeof bytes->data - bytes->len);

  memcpy (bytes->data + bytes->len, data, n);
  bytes->len += n;
}

/* A terminal has no end of its own: Ctrl-D says it, twice where a line is not complete. */
static void
end_input (Relay *relay)
{
  struct termios now;
  guint8 eof[] = { 4, 4 };

  relay->input_ended = TRUE;
  if (tcgetattr (relay->terminal, &now) == 0)
    memset (eof, now.c_cc[VEOF], sizeof eof);
  append (&relay->typed, eof, relay->last == '\n' || relay->last == '\0' ? 1 : 2);
}

/*
 * A file or a pipe waits for the command.  A terminal does not: a command that reads nothing and
 * has the terminal answer until there is no more room must not keep the person from leaving.
 */
static gboolean
wants_input (const Relay *relay)
{
  return !relay->input_ended && (relay->console.is_terminal || relay->typed.len == 0);
}

static void
read_input (Relay *relay)
{
  guint8 bytes[4096];
  const ssize_t n = read (STDIN_FILENO, bytes, sizeof bytes);

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (n <= 0)
    {
      end_input (relay);
      return;
    }
  append (&relay->typed, bytes, (gsize) n);
  relay->last = bytes[n - 1];
  console_note (&relay->console, bytes, (gsize) n);
  if (relay->console.is_terminal && leave_take (&relay->leave, bytes, (gsize) n))
    end (relay, 128 + SIGHUP);
}

/* FALSE where there is nothing to be read. */
static gboolean
read_terminal (Relay *relay)
{
  Bytes *shown = &relay->shown;
  guint8 bytes[4096];
  const gsize room = sizeof shown->data - SCREEN_ROOM - shown->len;
  const ssize_t n = read (relay->terminal, bytes, MIN (sizeof bytes, room));

  relay->is_hung_up = n < 0 && errno == EIO;
  if (n <= 0)
    return FALSE;
  shown->len += console_pass (&relay->console, bytes, (gsize) n, shown->data + shown->len);
  return TRUE;
}

/* "exited 3", "killed 9": what the launcher writes; of anything else nobody knows. */
static int
status_of (const char *word)
{
  static const struct
  {
    const char *prefix;
    int from;
  } ends[] = { { "exited ", 0 }, { "killed ", 128 } };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      guint64 number = 0;
      g_autofree char *line = g_strndup (word, strcspn (word, "\n"));

      if (g_str_has_prefix (line, ends[i].prefix) &&
          g_ascii_string_to_unsigned (line + strlen (ends[i].prefix), 10, 0, 255, &number, NULL))
        return ends[i].from + (int) number;
    }
  return RELAY_LOST;
}

static void
read_link (Relay *relay)
{
  const ssize_t n =
      read (relay->link, relay->word + relay->word_len, sizeof relay->word - 1 - relay->word_len);

  if (n < 0 && errno == EINTR)
    return;
  if (n > 0)
    relay->word_len += (gsize) n;
  if (n <= 0 || strchr (relay->word, '\n') != NULL || relay->word_len == sizeof relay->word - 1)
    {
      relay->by_link = TRUE;
      end (relay, status_of (relay->word));
    }
}

/* Whether it ends this process. */
static gboolean
read_signal (Relay *relay)
{
  guint8 number = 0;

  if (read (relay->signals, &number, 1) != 1)
    return FALSE;
  if (number == SIGWINCH)
    pass_size (relay);
  else if (number == SIGCONT)
    make_raw (relay);
  else
    {
      end (relay, 128 + number);
      return TRUE;
    }
  return FALSE;
}

/* --- signals --- */

static const int signals[] = { SIGWINCH, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE };
static int signal_pipe = -1;

/* A mask would be this thread's alone, and that of GDBus's would take the signal as ever.  No call
 * is begun anew after one: a write to a terminal that is stopped would not end. */
static void
on_signal (int number)
{
  const int saved = errno;
  const guint8 byte = (guint8) number;
  /* Where it does not go in, the pipe is full of what is looked at anyway. */
  const ssize_t written = write (signal_pipe, &byte, 1);

  (void) written;
  errno = saved;
}

static gboolean
signals_take (Relay *relay, struct sigaction *before)
{
  const struct sigaction action = { .sa_handler = on_signal };
  int ends[2] = { -1, -1 };

  if (pipe2 (ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return FALSE;
  relay->signals = ends[0];
  signal_pipe = ends[1];
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &action, &before[i]);
  return TRUE;
}

static void
signals_leave (Relay *relay, const struct sigaction *before)
{
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &before[i], NULL);
  fd_clear (&signal_pipe);
  fd_clear (&relay->signals);
}

/* --- all of it --- */

static void
turn (Relay *relay)
{
  struct pollfd polled[POLL_N] = {
    [POLL_INPUT] = { wants_input (relay) ? STDIN_FILENO : -1, POLLIN, 0 },
    [POLL_OUTPUT] = { relay->shown.len > 0 ? relay->console.output : -1, POLLOUT, 0 },
    [POLL_TERMINAL] = { relay->is_hung_up ? -1 : relay->terminal, 0, 0 },
    [POLL_LINK] = { relay->link, POLLIN, 0 },
    [POLL_SIGNALS] = { relay->signals, POLLIN, 0 },
  };
  short *events = &polled[POLL_TERMINAL].events;

  if (relay->shown.len < sizeof relay->shown.data - SCREEN_ROOM)
    *events |= POLLIN;
  if (relay->typed.len > 0)
    *events |= POLLOUT;
  if (poll (polled, POLL_N, relay->is_hung_up ? HUNG_UP_MS : -1) < 0)
    return;
  if (polled[POLL_SIGNALS].revents != 0)
    read_signal (relay);
  if (polled[POLL_INPUT].revents != 0)
    read_input (relay);
  if ((*events & POLLIN) != 0 &&
      (relay->is_hung_up || (polled[POLL_TERMINAL].revents & (POLLIN | POLLHUP)) != 0))
    read_terminal (relay);
  if ((polled[POLL_TERMINAL].revents & POLLOUT) != 0 && !drain (&relay->typed, relay->terminal))
    relay->typed.len = 0;
  if (polled[POLL_OUTPUT].revents != 0 && !drain (&relay->shown, relay->console.output))
    end (relay, 128 + SIGHUP);
  if (polled[POLL_LINK].revents != 0)
    read_link (relay);
}

/* FALSE where nothing more can be shown: an error, or a signal that ends this process. */
static gboolean
show_some (Relay *relay)
{
  struct pollfd polled[] = { { relay->console.output, POLLOUT, 0 }, { relay->signals, POLLIN, 0 } };

  if (poll (polled, G_N_ELEMENTS (polled), -1) < 0)
    return errno == EINTR;
  if (polled[1].revents != 0 && read_signal (relay))
    return FALSE;
  return polled[0].revents == 0 || drain (&relay->shown, relay->console.output);
}

/* What the command showed last; if there is more than fits a terminal, others of its show it. */
static void
show_rest (Relay *relay)
{
  for (guint i = 0; i < REST_READS && (relay->shown.len > 0 || read_terminal (relay)); i++)
    while (relay->shown.len > 0)
      if (!show_some (relay))
        return;
}

/* From here on the launcher can say nothing more; whether it had not said it already. */
static gboolean
link_leave (Relay *relay)
{
  shutdown (relay->link, SHUT_RDWR);
  read_link (relay);
  return relay->word_len == 0;
}

int
relay_run (int terminal, int link, const char *whose, gboolean *out_left)
{
  Relay relay = { .terminal = terminal, .link = link, .status = RELAY_LOST };
  const int flags = fcntl (terminal, F_GETFL);
  struct sigaction before[G_N_ELEMENTS (signals)];

  *out_left = TRUE;
  if (!signals_take (&relay, before))
    return RELAY_LOST;
  console_open (&relay.console);
  fcntl (terminal, F_SETFL, flags | O_NONBLOCK);
  make_raw (&relay);
  console_say (&relay.console, whose,
               "has the terminal from here on; Ctrl-] three times takes it back");

  while (!relay.has_ended)
    turn (&relay);
  if (relay.by_link)
    show_rest (&relay);
  *out_left = !relay.by_link && link_leave (&relay);

  console_close (&relay.console, relay.shown.len == 0);
  console_say (&relay.console, whose, "has the terminal no more");
  signals_leave (&relay, before);
  return relay.status;
}
