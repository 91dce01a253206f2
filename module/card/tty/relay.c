/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes bytes.  Called by verb-launch.c.  The command never has the person's terminal, so it can
 * type nothing into it, and what it shows there is what screen.c lets pass; but all that is its own
 * word, a card that looks like ours included.  What was typed and not passed on is thrown away at
 * the end, when the terminal has said all that the command asked it: the next to read is the
 * person's shell.
 */
#include "module/card/tty/relay.h"

#include "module/card/tty/leave.h"
#include "module/card/tty/screen.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define HUNG_UP_MS 200
#define REST_READS 64
#define WRITE_MAX 4096
/* What it is: each terminal answers, and in the order in which it was asked. */
#define QUESTION "\033[c"
#define SILENCE_US (2 * G_USEC_PER_SEC)  /* of a terminal that has said all */
#define ANSWERS_US (20 * G_USEC_PER_SEC) /* however much it is that it was asked */

typedef struct
{
  guint8 data[65536];
  gsize len;
} Bytes;

typedef struct
{
  int terminal, link, signals;
  int output; /* standard output, where a write does not wait */
  gboolean input_ended, is_hung_up;
  gboolean is_terminal; /* standard input is one */
  gboolean is_shown;    /* what the command writes may come to one, through a pipe, too */
  gboolean has_before;
  struct termios before;
  Bytes typed, shown;
  Screen screen;
  guint answered;   /* how often the terminal has said what it is */
  guint answer_len; /* of the answer that is being read */
  guint8 last;      /* of what was typed */
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

/* --- the person's terminal --- */

static void
pass_size (Relay *relay)
{
  struct winsize size;

  if (ioctl (STDIN_FILENO, TIOCGWINSZ, &size) == 0)
    ioctl (relay->terminal, TIOCSWINSZ, &size);
}

static void
make_raw (Relay *relay)
{
  struct termios raw;

  if (!relay->is_terminal)
    return;
  if (!relay->has_before && tcgetattr (STDIN_FILENO, &relay->before) != 0)
    return;
  relay->has_before = TRUE;
  raw = relay->before;
  cfmakeraw (&raw);
  tcsetattr (STDIN_FILENO, TCSANOW, &raw);
  pass_size (relay);
}

/* ESC [ ? …c */
static void
note_answers (Relay *relay, const guint8 *bytes, gsize len)
{
  static const guint8 begin[] = { 0x1b, '[', '?' };

  for (gsize i = 0; i < len; i++)
    {
      const gboolean is_in = relay->answer_len == sizeof begin;

      if (is_in && (g_ascii_isdigit (bytes[i]) || bytes[i] == ';'))
        continue;
      relay->answered += is_in && bytes[i] == 'c' ? 1 : 0;
      if (!is_in && bytes[i] == begin[relay->answer_len])
        relay->answer_len++;
      else
        relay->answer_len = bytes[i] == begin[0] ? 1 : 0;
    }
}

/* What is left of a time, for poll(). */
static int
rest_ms (gint64 until)
{
  return (int) MAX ((until - g_get_monotonic_time () + 999) / 1000, 0);
}

/* A word of ours to the terminal, which may be stopped. */
static gboolean
tell (const Relay *relay, const char *text, gsize len)
{
  const gint64 until = g_get_monotonic_time () + SILENCE_US;
  gsize at = 0;

  while (at < len)
    {
      struct pollfd polled = { relay->output, POLLOUT, 0 };
      ssize_t n = 0;

      if (rest_ms (until) == 0 || (poll (&polled, 1, rest_ms (until)) < 0 && errno != EINTR))
        return FALSE;
      if (polled.revents == 0)
        continue;
      n = write (relay->output, text + at, len - at);
      if (n < 0 && errno != EAGAIN && errno != EINTR)
        return FALSE;
      at += (gsize) MAX (n, 0);
    }
  return TRUE;
}

/* Asks what it is once more, and waits for the answer: what the command asked was answered before.
 */
static void
let_answer (Relay *relay)
{
  const gint64 last = g_get_monotonic_time () + ANSWERS_US;
  const guint wanted = MAX (relay->screen.asked, relay->answered) + 1;
  gint64 until = g_get_monotonic_time () + SILENCE_US;

  if (!relay->screen.has_asked || !tell (relay, QUESTION, strlen (QUESTION)))
    return;
  while (relay->answered < wanted)
    {
      struct pollfd polled = { STDIN_FILENO, POLLIN, 0 };
      guint8 bytes[1024];
      ssize_t n = 0;

      if (rest_ms (until) == 0 || (poll (&polled, 1, rest_ms (until)) < 0 && errno != EINTR))
        return;
      if (polled.revents == 0)
        continue;
      n = read (STDIN_FILENO, bytes, sizeof bytes);
      if (n <= 0 && !(n < 0 && errno == EINTR))
        return;
      note_answers (relay, bytes, (gsize) MAX (n, 0));
      until = MIN (g_get_monotonic_time () + SILENCE_US, last);
    }
}

static void
restore (Relay *relay)
{
  GString *undo = relay->is_shown ? screen_undo (&relay->screen, relay->shown.len == 0) : NULL;

  if (undo != NULL && !tell (relay, undo->str, undo->len))
    g_debug ("the terminal takes nothing: %s", g_strerror (errno));
  if (undo != NULL)
    g_string_free (undo, TRUE);
  if (!relay->has_before)
    return;
  if (relay->is_shown)
    let_answer (relay);
  while (tcsetattr (STDIN_FILENO, TCSAFLUSH, &relay->before) != 0 && errno == EINTR)
    ;
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
  return !relay->input_ended && (relay->is_terminal || relay->typed.len == 0);
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
  note_answers (relay, bytes, (gsize) n);
  if (relay->is_terminal && leave_take (&relay->leave, bytes, (gsize) n))
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
  if (relay->is_shown)
    shown->len += screen_pass (&relay->screen, bytes, (gsize) n, shown->data + shown->len);
  else
    {
      memcpy (shown->data + shown->len, bytes, (gsize) n);
      shown->len += (gsize) n;
    }
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

/* What is between these two lines is the command's, whatever it looks like. */
static void
say (const Relay *relay, const char *whose, const char *text)
{
  if (whose != NULL && relay->is_terminal && isatty (STDERR_FILENO))
    g_printerr ("undersign: %s %s\r\n", whose, text);
}

/* --- all of it --- */

static void
turn (Relay *relay)
{
  struct pollfd polled[POLL_N] = {
    [POLL_INPUT] = { wants_input (relay) ? STDIN_FILENO : -1, POLLIN, 0 },
    [POLL_OUTPUT] = { relay->shown.len > 0 ? relay->output : -1, POLLOUT, 0 },
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
  if (polled[POLL_OUTPUT].revents != 0 && !drain (&relay->shown, relay->output))
    end (relay, 128 + SIGHUP);
  if (polled[POLL_LINK].revents != 0)
    read_link (relay);
}

/* FALSE where nothing more can be shown: an error, or a signal that ends this process. */
static gboolean
show_some (Relay *relay)
{
  struct pollfd polled[] = { { relay->output, POLLOUT, 0 }, { relay->signals, POLLIN, 0 } };

  if (poll (polled, G_N_ELEMENTS (polled), -1) < 0)
    return errno == EINTR;
  if (polled[1].revents != 0 && read_signal (relay))
    return FALSE;
  return polled[0].revents == 0 || drain (&relay->shown, relay->output);
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

/* --- where it goes --- */

static gboolean
has_terminal (void)
{
  autofd fd = open ("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

  return fd >= 0;
}

/* Whether what is written may come to a terminal: a pipe may lead there.  A file has all of it. */
static gboolean
may_be_shown (void)
{
  struct stat status;

  if (fstat (STDOUT_FILENO, &status) == 0 && S_ISREG (status.st_mode))
    return FALSE;
  return isatty (STDIN_FILENO) || isatty (STDOUT_FILENO) || isatty (STDERR_FILENO) ||
         has_terminal ();
}

/* Opened anew: that a write does not wait would hold for all who have the same description. */
static int
open_output (void)
{
  struct stat status;

  if (fstat (STDOUT_FILENO, &status) != 0 ||
      (!S_ISCHR (status.st_mode) && !S_ISFIFO (status.st_mode)))
    return -1;
  return open ("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int
relay_run (int terminal, int link, const char *whose, gboolean *out_left)
{
  Relay relay = { .terminal = terminal, .link = link, .status = RELAY_LOST };
  const int flags = fcntl (terminal, F_GETFL);
  struct sigaction before[G_N_ELEMENTS (signals)];
  autofd output = -1;

  *out_left = TRUE;
  if (!signals_take (&relay, before))
    return RELAY_LOST;
  output = open_output ();
  relay.output = output >= 0 ? output : STDOUT_FILENO;
  fcntl (terminal, F_SETFL, flags | O_NONBLOCK);
  relay.is_terminal = isatty (STDIN_FILENO);
  relay.is_shown = may_be_shown ();
  relay.screen.is_utf8 = g_get_charset (NULL);
  /* An answer would go to whoever reads the terminal next: the person's shell. */
  relay.screen.is_deaf = !relay.is_terminal;
  make_raw (&relay);
  say (&relay, whose, "has the terminal from here on; Ctrl-] three times takes it back");

  while (!relay.has_ended)
    turn (&relay);
  if (relay.by_link)
    show_rest (&relay);
  *out_left = !relay.by_link && link_leave (&relay);

  restore (&relay);
  say (&relay, whose, "has the terminal no more");
  signals_leave (&relay, before);
  return relay.status;
}
