/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The person's side of a relay.  Called by relay.c, and knows nothing of the command's.  What was
 * typed and not passed on is thrown away at the end, when the terminal has said all that the command
 * asked it: the next to read is the person's shell.
 */
#include "module/card/tty/console.h"

#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What it is: each terminal answers, and in the order in which it was asked. */
#define QUESTION "\033[c"
#define SILENCE_US (2 * G_USEC_PER_SEC)  /* of a terminal that has said all */
#define ANSWERS_US (20 * G_USEC_PER_SEC) /* however much it is that it was asked */

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

void
console_open (Console *console)
{
  const int output = open_output ();

  *console = (Console){ .output = output >= 0 ? output : STDOUT_FILENO,
                        .is_terminal = isatty (STDIN_FILENO),
                        .is_shown = may_be_shown () };
  console->screen.is_utf8 = g_get_charset (NULL);
  /* An answer would go to whoever reads the terminal next: the person's shell. */
  console->screen.is_deaf = !console->is_terminal;
}

gboolean
console_make_raw (Console *console)
{
  struct termios raw;

  if (!console->is_terminal)
    return FALSE;
  if (!console->has_before && tcgetattr (STDIN_FILENO, &console->before) != 0)
    return FALSE;
  console->has_before = TRUE;
  raw = console->before;
  cfmakeraw (&raw);
  tcsetattr (STDIN_FILENO, TCSANOW, &raw);
  return TRUE;
}

void
console_say (const Console *console, const char *whose, const char *text)
{
  if (whose != NULL && console->is_terminal && isatty (STDERR_FILENO))
    g_printerr ("undersign: %s %s\r\n", whose, text);
}

gsize
console_pass (Console *console, const guint8 *in, gsize len, guint8 *out)
{
  if (console->is_shown)
    return screen_pass (&console->screen, in, len, out);
  memcpy (out, in, len);
  return len;
}

/* ESC [ ? …c */
void
console_note (Console *console, const guint8 *bytes, gsize len)
{
  static const guint8 begin[] = { 0x1b, '[', '?' };

  for (gsize i = 0; i < len; i++)
    {
      const gboolean is_in = console->answer_len == sizeof begin;

      if (is_in && (g_ascii_isdigit (bytes[i]) || bytes[i] == ';'))
        continue;
      console->answered += is_in && bytes[i] == 'c' ? 1 : 0;
      if (!is_in && bytes[i] == begin[console->answer_len])
        console->answer_len++;
      else
        console->answer_len = bytes[i] == begin[0] ? 1 : 0;
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
tell (const Console *console, const char *text, gsize len)
{
  const gint64 until = g_get_monotonic_time () + SILENCE_US;
  gsize at = 0;

  while (at < len)
    {
      struct pollfd polled = { console->output, POLLOUT, 0 };
      ssize_t n = 0;

      if (rest_ms (until) == 0 || (poll (&polled, 1, rest_ms (until)) < 0 && errno != EINTR))
        return FALSE;
      if (polled.revents == 0)
        continue;
      n = write (console->output, text + at, len - at);
      if (n < 0 && errno != EAGAIN && errno != EINTR)
        return FALSE;
      at += (gsize) MAX (n, 0);
    }
  return TRUE;
}

/* Asks what it is once more, and waits for the answer: what the command asked was answered before.
 */
static void
let_answer (Console *console)
{
  const gint64 last = g_get_monotonic_time () + ANSWERS_US;
  const guint wanted = MAX (console->screen.asked, console->answered) + 1;
  gint64 until = g_get_monotonic_time () + SILENCE_US;

  if (!console->screen.has_asked || !tell (console, QUESTION, strlen (QUESTION)))
    return;
  while (console->answered < wanted)
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
      console_note (console, bytes, (gsize) MAX (n, 0));
      until = MIN (g_get_monotonic_time () + SILENCE_US, last);
    }
}

void
console_close (Console *console, gboolean is_whole)
{
  GString *undo = console->is_shown ? screen_undo (&console->screen, is_whole) : NULL;

  if (undo != NULL && !tell (console, undo->str, undo->len))
    g_debug ("the terminal takes nothing: %s", g_strerror (errno));
  if (undo != NULL)
    g_string_free (undo, TRUE);
  if (console->has_before && console->is_shown)
    let_answer (console);
  while (console->has_before && tcsetattr (STDIN_FILENO, TCSAFLUSH, &console->before) != 0 &&
         errno == EINTR)
    ;
  if (console->output != STDOUT_FILENO)
    fd_clear (&console->output);
}
