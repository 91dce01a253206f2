/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the terminal.  Called by pager.c and the verbs that ask something.  Input is read only while
 * terminal_wait() runs, so whatever was typed before a page was complete can be thrown away; output
 * goes through text_safe().  Must never take a key from anywhere but the controlling terminal.
 */
#include "module/card/tty/terminal.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/keys.h"
#include "module/card/tty/text.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS 24
#define SEQUENCE_WAIT_MS 40 /* a lone Esc is known by what does not follow it */

struct Terminal
{
  int fd;
  struct termios before;
  gboolean dumb, utf8, color;
  gboolean screen; /* the other screen is on */
  gboolean hidden; /* the cursor: no key counts */
  GString *out;
  GArray *events; /* (element-type TerminalEvent) */
  guint sources[6];
  guint n_sources;

  Secret *secret; /* being read, or NULL */
  gsize secret_len;
};

static gboolean
no_terminal (GError **error, const char *why)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_NO_TERMINAL,
                       "%s: a person must read the card and type the answer on a terminal", why);
}

static void
push (Terminal *terminal, TerminalEventKind kind)
{
  TerminalEvent event = { kind, '\0' };

  g_array_append_val (terminal->events, event);
}

/* --- input --- */

static void
secret_feed (Terminal *terminal, guint8 byte)
{
  guint8 *data = secret_data (terminal->secret);
  TerminalEvent event = { EVENT_CHAR, '\0' };

  if (byte == '\r' || byte == '\n')
    push (terminal, EVENT_ENTER);
  else if (byte == 0x1b || byte == 0x03 || byte == 0x04)
    push (terminal, EVENT_LEAVE);
  else if (byte == 0x15)
    {
      memset (data, 0, terminal->secret_len);
      terminal->secret_len = 0;
    }
  else if (byte == 0x08 || byte == 0x7f)
    while (terminal->secret_len > 0)
      {
        guint8 last = data[--terminal->secret_len];

        data[terminal->secret_len] = 0;
        if ((last & 0xc0) != 0x80) /* the first byte of a character */
          break;
      }
  else if (byte >= 0x20 && terminal->secret_len < secret_size (terminal->secret))
    data[terminal->secret_len++] = byte;
  else
    g_array_append_val (terminal->events, event); /* too long, or a control: no passphrase */
}

static gboolean
read_secret_byte (Terminal *terminal)
{
  guint8 byte = 0;
  ssize_t n = read (terminal->fd, &byte, 1);

  if (n == 1)
    secret_feed (terminal, byte);
  else if (n == 0 || errno != EINTR)
    push (terminal, EVENT_LEAVE);
  byte = 0;
  return n == 1 || (n < 0 && errno == EINTR);
}

static gboolean
more_input (Terminal *terminal)
{
  struct pollfd waiting = { terminal->fd, POLLIN, 0 };

  return poll (&waiting, 1, SEQUENCE_WAIT_MS) > 0 && (waiting.revents & POLLIN);
}

static gboolean
read_keys (Terminal *terminal)
{
  guint8 data[256];
  gsize have = 0, used = 0;

  for (;;)
    {
      ssize_t n = read (terminal->fd, data + have, sizeof data - have);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          push (terminal, EVENT_LEAVE);
          return FALSE;
        }
      have += (gsize) n;
      used = keys_decode (data, have, FALSE, terminal->events);
      memmove (data, data + used, have - used);
      have -= used;
      if (have == 0)
        return TRUE;
      if (have == sizeof data || !more_input (terminal))
        break;
    }
  keys_decode (data, have, TRUE, terminal->events);
  return TRUE;
}

static gboolean
on_input (int fd, GIOCondition condition, gpointer data)
{
  Terminal *terminal = data;
  gboolean alive = FALSE;

  if (condition & G_IO_IN)
    alive = terminal->secret != NULL ? read_secret_byte (terminal) : read_keys (terminal);
  else
    push (terminal, EVENT_LEAVE);
  if (!alive)
    terminal->sources[0] = 0;
  return alive ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean
on_leave_signal (gpointer data)
{
  push (data, EVENT_LEAVE);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_resize_signal (gpointer data)
{
  push (data, EVENT_RESIZED);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_timeout (gpointer data)
{
  push (data, EVENT_TIMEOUT);
  return G_SOURCE_CONTINUE;
}

TerminalEvent
terminal_wait (Terminal *terminal, gint64 timeout)
{
  TerminalEvent event = { EVENT_TIMEOUT, '\0' };
  guint timer = 0;

  if (terminal->events->len == 0 && timeout >= 0)
    timer = g_timeout_add ((guint) MIN (timeout / 1000 + 1, G_MAXINT), on_timeout, terminal);
  while (terminal->events->len == 0)
    g_main_context_iteration (NULL, TRUE);
  if (timer != 0)
    g_source_remove (timer);

  event = g_array_index (terminal->events, TerminalEvent, 0);
  g_array_remove_index (terminal->events, 0);
  return event;
}

void
terminal_wake (Terminal *terminal)
{
  push (terminal, EVENT_WOKEN);
}

static gboolean
is_key (TerminalEventKind kind)
{
  return kind <= EVENT_OTHER_KEY;
}

void
terminal_flush_input (Terminal *terminal)
{
  tcflush (terminal->fd, TCIFLUSH);
  for (guint i = terminal->events->len; i > 0; i--)
    if (is_key (g_array_index (terminal->events, TerminalEvent, i - 1).kind))
      g_array_remove_index (terminal->events, i - 1);
}

Secret *
terminal_read_secret (Terminal *terminal, gsize max)
{
  g_autoptr (Secret) result = NULL;
  gboolean given = FALSE, spoiled = FALSE;

  terminal_flush_input (terminal);
  terminal->secret = secret_new (max);
  terminal->secret_len = 0;
  terminal_show (terminal);
  while (terminal->secret != NULL)
    {
      TerminalEvent event = terminal_wait (terminal, -1);

      if (event.kind == EVENT_CHAR)
        spoiled = TRUE;
      given = event.kind == EVENT_ENTER;
      if (given || event.kind == EVENT_LEAVE)
        break;
    }
  if (given && !spoiled)
    result = secret_new_from (secret_data (terminal->secret), terminal->secret_len);
  g_clear_pointer (&terminal->secret, secret_free);
  terminal_flush_input (terminal);
  return g_steal_pointer (&result);
}

/* --- output --- */

static const char *
style_sequence (const Terminal *terminal, TerminalStyle style)
{
  switch (style)
    {
    case STYLE_BOLD:
      return "\033[1m";
    case STYLE_FAINT:
      return "\033[2m";
    case STYLE_WARNING:
      return terminal->color ? "\033[1;33m" : "\033[1m";
    case STYLE_DANGER:
      return terminal->color ? "\033[1;31m" : "\033[1m";
    case STYLE_TITLE:
      return "\033[7m";
    case STYLE_PLAIN:
    default:
      return "";
    }
}

void
terminal_put (Terminal *terminal, TerminalStyle style, const char *text)
{
  g_autofree char *safe = text_safe (text, terminal->utf8);
  const char *sequence = terminal->dumb ? "" : style_sequence (terminal, style);

  g_string_append (terminal->out, sequence);
  g_string_append (terminal->out, safe);
  if (sequence[0] != '\0')
    g_string_append (terminal->out, "\033[0m");
}

void
terminal_newline (Terminal *terminal)
{
  g_string_append (terminal->out, "\r\n");
}

void
terminal_erase_char (Terminal *terminal)
{
  g_string_append (terminal->out, "\b \b");
  terminal_show (terminal);
}

static void
write_out (Terminal *terminal)
{
  gsize at = 0;

  while (at < terminal->out->len)
    {
      ssize_t n = write (terminal->fd, terminal->out->str + at, terminal->out->len - at);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          push (terminal, EVENT_LEAVE); /* what can't be shown is not answered */
          break;
        }
      at += (gsize) n;
    }
  g_string_truncate (terminal->out, 0);
}

static void
put_cursor (Terminal *terminal)
{
  if (terminal->hidden)
    g_string_append (terminal->out, "\033[?25h");
  terminal->hidden = FALSE;
}

void
terminal_show (Terminal *terminal)
{
  put_cursor (terminal);
  write_out (terminal);
}

void
terminal_begin_page (Terminal *terminal)
{
  if (terminal->dumb)
    {
      terminal_newline (terminal);
      terminal_put (terminal, STYLE_PLAIN, "================================");
      terminal_newline (terminal);
    }
  else
    {
      g_string_append (terminal->out, "\033[?25l\033[0m\033[H\033[2J");
      terminal->hidden = TRUE;
    }
}

void
terminal_end_page (Terminal *terminal)
{
  write_out (terminal);
  tcdrain (terminal->fd);
  terminal_flush_input (terminal);
  terminal_show (terminal); /* the cursor comes when keys count, not before */
}

void
terminal_size (Terminal *terminal, guint *out_columns, guint *out_rows)
{
  struct winsize size = { 0 };

  if (ioctl (terminal->fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
    size = (struct winsize){ .ws_col = DEFAULT_COLUMNS, .ws_row = DEFAULT_ROWS };
  *out_columns = size.ws_col;
  *out_rows = size.ws_row;
}

gboolean
terminal_is_utf8 (const Terminal *terminal)
{
  return terminal->utf8;
}

/* --- opening and closing --- */

static int
open_controlling (void)
{
  return open ("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static gboolean
check_fd (int fd, GError **error)
{
  if (!isatty (STDIN_FILENO))
    return no_terminal (error, "standard input is not a terminal");
  if (!isatty (STDOUT_FILENO))
    return no_terminal (error, "standard output is not a terminal");
  if (fd < 0)
    return no_terminal (error, "this process has no controlling terminal");
  if (tcgetpgrp (fd) != getpgrp ())
    return no_terminal (error, "this process is in the background");
  return TRUE;
}

gboolean
terminal_check (GError **error)
{
  autofd fd = open_controlling ();

  return check_fd (fd, error);
}

static void
find_abilities (Terminal *terminal)
{
  const char *term = g_getenv ("TERM");
  const char *no_color = g_getenv ("NO_COLOR");

  terminal->dumb = term == NULL || term[0] == '\0' || strcmp (term, "dumb") == 0 ||
                   strcmp (term, "unknown") == 0;
  terminal->color = no_color == NULL || no_color[0] == '\0';
  terminal->utf8 = g_get_charset (NULL);
}

static gboolean
make_raw (Terminal *terminal)
{
  struct termios raw;

  if (tcgetattr (terminal->fd, &terminal->before) < 0)
    return FALSE;
  raw = terminal->before;
  raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO | ECHONL | IEXTEN | ISIG);
  raw.c_iflag &= ~(tcflag_t) (IXON | IXOFF | ISTRIP | INLCR | IGNCR | ICRNL);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return tcsetattr (terminal->fd, TCSAFLUSH, &raw) == 0;
}

static void
add_source (Terminal *terminal, guint source)
{
  g_assert (terminal->n_sources < G_N_ELEMENTS (terminal->sources));
  terminal->sources[terminal->n_sources++] = source;
}

static void
add_sources (Terminal *terminal)
{
  add_source (terminal,
              g_unix_fd_add (terminal->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, terminal));
  add_source (terminal, g_unix_signal_add (SIGINT, on_leave_signal, terminal));
  add_source (terminal, g_unix_signal_add (SIGTERM, on_leave_signal, terminal));
  add_source (terminal, g_unix_signal_add (SIGHUP, on_leave_signal, terminal));
  add_source (terminal, g_unix_signal_add (SIGWINCH, on_resize_signal, terminal));
}

Terminal *
terminal_open (TerminalUse use, GError **error)
{
  autofd fd = open_controlling ();
  Terminal *terminal = NULL;

  if (!check_fd (fd, error))
    return NULL;
  terminal = g_new0 (Terminal, 1);
  terminal->fd = fd;
  find_abilities (terminal);
  if (!make_raw (terminal))
    {
      no_terminal (error, "the terminal's modes can't be set");
      g_free (terminal);
      return NULL;
    }
  fd_steal (&fd);
  terminal->out = g_string_new (NULL);
  terminal->events = g_array_new (FALSE, FALSE, sizeof (TerminalEvent));
  add_sources (terminal);
  terminal->screen = use == TERMINAL_SCREEN && !terminal->dumb;
  if (terminal->screen) /* and word of the focus */
    g_string_append (terminal->out, "\033[?1049h\033[?1004h");
  return terminal;
}

void
terminal_close (Terminal *terminal)
{
  if (terminal == NULL)
    return;
  if (terminal->screen)
    g_string_append (terminal->out, "\033[0m\033[?1004l\033[?1049l");
  terminal_show (terminal);
  for (guint i = 0; i < terminal->n_sources; i++)
    if (terminal->sources[i] != 0)
      g_source_remove (terminal->sources[i]);
  tcsetattr (terminal->fd, TCSAFLUSH, &terminal->before);
  fd_clear (&terminal->fd);
  g_string_free (terminal->out, TRUE);
  g_array_unref (terminal->events);
  g_clear_pointer (&terminal->secret, secret_free);
  g_free (terminal);
}
