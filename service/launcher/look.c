/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asks in a child and waits in the main loop.  Called by launch.c.  Whatever the child does but
 * answer in time is an error.
 */
#include "service/launcher/look.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ANSWER_MAX (16 * 1024) /* a path is 4 KiB at most */
/* What an answer begins with: a byte of what was found follows, or an error's code and message. */
#define TAG_FOUND 'f'
#define TAG_REFUSED 'r'
#define TAG_GOES_ON 'g' /* before all that, each for itself: there is more to look at */

/* Children that were given up and have not ended: how many, by the uid that each was for. */
static GHashTable *left_behind;

/* Of the child. */
static int answer_fd = -1;
static gint64 last_word;

struct Look
{
  int fd; /* of the answer */
  GPid pid;
  uid_t uid;
  gboolean is_told; /* the child has said all of it, and ends */
  guint source, timer, seconds;
  gint64 end;
  char answer[ANSWER_MAX];
  gsize len;
  LookDone done;
  gpointer data;
};

static guint
count_left (uid_t uid)
{
  return left_behind != NULL
             ? GPOINTER_TO_UINT (g_hash_table_lookup (left_behind, GUINT_TO_POINTER (uid)))
             : 0;
}

static void
set_left (uid_t uid, guint n)
{
  if (left_behind == NULL)
    left_behind = g_hash_table_new (NULL, NULL);
  if (n > 0)
    g_hash_table_insert (left_behind, GUINT_TO_POINTER (uid), GUINT_TO_POINTER (n));
  else
    g_hash_table_remove (left_behind, GUINT_TO_POINTER (uid));
}

static void
on_reaped (GPid pid, gint status, gpointer data)
{
}

static void
on_left_reaped (GPid pid, gint status, gpointer data)
{
  const uid_t uid = GPOINTER_TO_UINT (data);

  set_left (uid, count_left (uid) - 1);
}

/* It may be one that cannot be killed now; whenever it ends, it is reaped. */
static void
look_free (Look *look)
{
  g_clear_handle_id (&look->source, g_source_remove);
  g_clear_handle_id (&look->timer, g_source_remove);
  kill (look->pid, SIGKILL);
  if (!look->is_told)
    set_left (look->uid, count_left (look->uid) + 1);
  g_child_watch_add (look->pid, look->is_told ? on_reaped : on_left_reaped,
                     GUINT_TO_POINTER (look->uid));
  fd_clear (&look->fd);
  g_free (look);
}

void
look_cancel (Look *look)
{
  look_free (look);
}

static void
look_end (Look *look, int answer, const GError *error)
{
  look->done (answer, error, look->data);
  look_free (look);
}

static gboolean
on_late (gpointer data)
{
  Look *look = data;
  g_autoptr (GError) error = NULL;

  look->timer = 0;
  if (g_get_monotonic_time () < look->end)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                  "a file system of the owner's, or a directory of users, does not answer");
  else
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                  "the list of users is too long to be looked at in %u seconds",
                  look->seconds * LOOK_TIMES);
  look_end (look, -1, error);
  return G_SOURCE_REMOVE;
}

/* Has it wait for the next word, but not beyond the end of all. */
static void
look_wait (Look *look)
{
  const gint64 left = (look->end - g_get_monotonic_time ()) / G_TIME_SPAN_MILLISECOND;

  g_clear_handle_id (&look->timer, g_source_remove);
  look->timer =
      g_timeout_add ((guint) CLAMP (left + 1, 0, (gint64) look->seconds * 1000), on_late, look);
}

/* The child is done, and has said all of it. */
static void
look_read (Look *look)
{
  g_autoptr (GError) error = NULL;
  int answer = -1;

  look->is_told = TRUE;
  if (look->len == 2 && look->answer[0] == TAG_FOUND)
    answer = (guint8) look->answer[1];
  else if (look->len >= 2 && look->answer[0] == TAG_REFUSED)
    g_set_error (&error, US_ERROR, look->answer[1], "%.*s", (int) look->len - 2, look->answer + 2);
  else
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                  "nothing came of a look at files");
  look_end (look, answer, error);
}

/* Words that it goes on come first; whatever else they are taken for is no answer. */
static void
take_words (Look *look)
{
  gsize n = 0;

  while (n < look->len && look->answer[n] == TAG_GOES_ON)
    n++;
  if (n == 0)
    return;
  look->len -= n;
  memmove (look->answer, look->answer + n, look->len);
  look_wait (look);
}

static gboolean
on_answer (int fd, GIOCondition condition, gpointer data)
{
  Look *look = data;
  const ssize_t n = read (fd, look->answer + look->len, sizeof look->answer - look->len);

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return G_SOURCE_CONTINUE;
  if (n > 0)
    {
      look->len += (gsize) n;
      take_words (look);
    }
  if (n > 0 && look->len < sizeof look->answer)
    return G_SOURCE_CONTINUE;
  look->source = 0;
  look_read (look);
  return G_SOURCE_REMOVE;
}

static int
compare_fds (const void *one, const void *other)
{
  const int a = *(const int *) one, b = *(const int *) other;

  return (a > b) - (a < b);
}

/*
 * Closes whatever a fork has copied but standard input, output and error, and @kept, which it
 * sorts. The end of another's socket, held here, would keep its hang-up from being seen for as long
 * as this process is there.
 */
static gboolean
close_others (int *kept, guint n)
{
  int first = STDERR_FILENO + 1;

  qsort (kept, n, sizeof *kept, compare_fds);
  for (guint i = 0; i < n; i++)
    {
      if (kept[i] < first)
        continue;
      if (kept[i] > first && close_range ((guint) first, (guint) kept[i] - 1, 0) != 0)
        return FALSE;
      first = kept[i] + 1;
    }
  return close_range ((guint) first, ~0U, 0) == 0;
}

/* Whatever is neither an answer nor an error of ours is an error, and says so. */
static gsize
write_answer (char *text, gsize size, int answer, const GError *error)
{
  const gboolean is_ours = error != NULL && error->domain == US_ERROR;
  const char *message = is_ours ? error->message : US_REASON_INTERNAL ": a look at files failed";

  if (error == NULL && answer >= 0 && answer <= G_MAXUINT8)
    {
      text[0] = TAG_FOUND;
      text[1] = (char) answer;
      return 2;
    }
  text[0] = TAG_REFUSED;
  text[1] = (char) (is_ours ? error->code : US_ERROR_UNAVAILABLE);
  return MIN (2 + g_strlcpy (text + 2, message, size - 2), size - 1);
}

/* In the child, which shares no more with who waits than @fd and what the question is about. */
static void G_GNUC_NORETURN
look_ask (const LookQuestion *question, int fd)
{
  g_autoptr (GError) error = NULL;
  int kept[LOOK_FDS_MAX + 1] = { fd };
  char text[ANSWER_MAX];
  gsize len = 0;
  int answer = 0;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  for (guint i = 0; i < question->n_fds && i < LOOK_FDS_MAX; i++)
    kept[i + 1] = question->fds[i];
  if (question->n_fds > LOOK_FDS_MAX || !close_others (kept, question->n_fds + 1))
    _exit (1);
  answer_fd = fd;
  last_word = g_get_monotonic_time ();
  answer = question->ask (question->data, &error);
  len = write_answer (text, sizeof text, answer, error);
  _exit (write (fd, text, len) < 0 ? 1 : 0);
}

void
look_goes_on (void)
{
  const char word = TAG_GOES_ON;
  const gint64 now = answer_fd >= 0 ? g_get_monotonic_time () : 0;

  if (answer_fd < 0 || now - last_word < G_TIME_SPAN_SECOND)
    return;
  last_word = now;
  /* Nobody may read it any more: then this process has been killed, or is about to be. */
  if (write (answer_fd, &word, 1) < 0)
    _exit (1);
}

Look *
look_begin (const LookQuestion *question, LookDone done, gpointer data, GError **error)
{
  int ends[2] = { -1, -1 };
  pid_t pid = -1;
  Look *look = NULL;

  if (count_left (question->uid) >= LOOK_LEFT_MAX)
    {
      us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                    "%d looks at files for one user have been given up and have not ended",
                    LOOK_LEFT_MAX);
      return NULL;
    }
  pid = pipe2 (ends, O_CLOEXEC) == 0 ? fork () : -1;
  if (pid == 0)
    look_ask (question, ends[1]);
  fd_clear (&ends[1]);
  if (pid < 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no process can be made: %s",
                    g_strerror (errno));
      fd_clear (&ends[0]);
      return NULL;
    }
  look = g_new0 (Look, 1);
  look->fd = ends[0];
  look->pid = pid;
  look->uid = question->uid;
  look->done = done;
  look->data = data;
  look->source = g_unix_fd_add (look->fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_answer, look);
  look->seconds = question->seconds;
  look->end =
      g_get_monotonic_time () + (gint64) question->seconds * LOOK_TIMES * G_TIME_SPAN_SECOND;
  look_wait (look);
  return look;
}
