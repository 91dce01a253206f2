/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One command.  Called by launcher.c.  Steps: the account and files are looked at, shares are
 * mounted, a terminal is made, systemd starts the unit, the caller gets the terminal's other end
 * and a socket; then either the socket's other end is closed and the unit is stopped, or the unit
 * ends and the socket says how.
 */
#include "service/launcher/launch.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/launcher/closing.h"
#include "service/launcher/ends.h"
#include "service/launcher/look.h"
#include "service/launcher/running.h"
#include "service/launcher/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LAUNCHES_MAX 64
#define LAUNCHES_UID_MAX 16
/* What systemd says of a command that did not come to run, the first that it cannot be executed. */
#define EXIT_EXEC 203
#define EXIT_FIRST 200
#define EXIT_LAST 245

struct Launch
{
  gatomicrefcount refs;
  Launches *launches;  /* (nullable): NULL once it has ended */
  MechanismCall *call; /* (nullable): NULL once it is answered */
  Order *order;
  Look *look; /* (nullable): while files are looked at */
  uid_t uid;
  char *id, *unit, *folder;
  int master, slave; /* of the terminal */
  int link, link_far;
  guint link_source;
  guint timer;      /* until it must have started */
  guint caller;     /* whether whoever called is there, until it is answered */
  Running *running; /* (nullable): once systemd was asked to start it */
  gint32 code, status;
  gboolean is_ready; /* to be started */
};

Launch *
launch_ref (Launch *launch)
{
  g_atomic_ref_count_inc (&launch->refs);
  return launch;
}

void
launch_unref (Launch *launch)
{
  if (!g_atomic_ref_count_dec (&launch->refs))
    return;
  fd_clear (&launch->master);
  fd_clear (&launch->slave);
  fd_clear (&launch->link);
  fd_clear (&launch->link_far);
  order_free (launch->order);
  g_free (launch->id);
  g_free (launch->unit);
  g_free (launch->folder);
  g_free (launch);
}

/* --- the end --- */

/* Whoever called waits no more. */
static void
launch_reply (Launch *launch, GVariant *body, GUnixFDList *fds, const GError *error)
{
  g_clear_handle_id (&launch->timer, g_source_remove);
  g_clear_handle_id (&launch->caller, g_bus_unwatch_name);
  mechanism_call_answer (g_steal_pointer (&launch->call), body, fds, error);
}

/* Takes away what was made for it.  The last that happens to a launch. */
static void
launch_forget (Launch *launch)
{
  Launches *launches = launch->launches;

  /* It may have ended while polkit was asked whether it may be. */
  if (launches == NULL)
    return;
  g_clear_pointer (&launch->running, running_free);
  g_clear_handle_id (&launch->link_source, g_source_remove);
  g_clear_pointer (&launch->look, look_cancel);
  fd_clear (&launch->link);
  fd_clear (&launch->master);
  fd_clear (&launch->slave);
  g_ptr_array_set_size (launch->order->shares, 0);
  if (launch->folder != NULL && rmdir (launch->folder) != 0 && errno != ENOENT)
    g_warning ("cannot remove %s: %s", launch->folder, g_strerror (errno));
  launch->launches = NULL;
  g_hash_table_remove (launches->all, launch->id);
}

static void
launch_fail (Launch *launch, const GError *error)
{
  g_autoptr (Launch) self = launch_ref (launch);

  launch_forget (launch);
  if (launch->call != NULL)
    launch_reply (launch, NULL, NULL, error);
}

static void launch_answer (Launch *launch);

/* A short command may have ended before systemd says that it has started. */
static gboolean
launch_was_run (const Launch *launch)
{
  return launch->code != 0 &&
         (launch->code != CLD_EXITED || launch->status < EXIT_FIRST || launch->status > EXIT_LAST);
}

/* The unit is there no more: it is said to whoever waits for it. */
static void
launch_finish (Launch *launch)
{
  g_autoptr (Launch) self = launch_ref (launch);
  g_autofree char *word =
      launch->code == CLD_EXITED
          ? g_strdup_printf ("exited %d\n", launch->status)
          : g_strdup_printf (launch->code != 0 ? "killed %d\n" : "stopped\n", launch->status);
  GDBusConnection *bus = NULL;
  gboolean is_left = FALSE;

  if (launch->launches == NULL)
    return;
  bus = launch->launches->bus;
  if (launch->call != NULL && launch_was_run (launch))
    launch_answer (launch);
  if (launch->call != NULL)
    {
      g_autoptr (GError) error = NULL;

      if (launch->code == CLD_EXITED && launch->status == EXIT_EXEC)
        us_error_set (&error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                      "the agent cannot execute \"%s\"", launch->order->command[0]);
      else
        us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                      "systemd could not start the command: %s; see journalctl --unit=%s",
                      g_strchomp (word), launch->unit);
      launch_fail (launch, error);
      return;
    }
  is_left = !ends_say (launch->link, word);
  launch_forget (launch);
  if (is_left && launch->order->close_run != NULL)
    closing_begin (bus, launch->order, launch->id);
}

static void
on_ended (gint32 code, gint32 status, gpointer data)
{
  Launch *launch = data;

  launch->code = code;
  launch->status = status;
  launch_finish (launch);
}

/* Whoever waits for it waits no more, and it is stopped: it must not start without them. */
static void
launch_give_up (Launch *launch, const GError *error)
{
  if (launch->running == NULL)
    {
      launch_fail (launch, error);
      return;
    }
  running_stop (launch->running);
  if (launch->call != NULL)
    launch_reply (launch, NULL, NULL, error);
}

void
launch_stop (Launch *launch)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_CLOSED, "it was ended before it began");
  launch_give_up (launch, error);
}

/* Whoever had it started has nothing to say: this is their end. */
static gboolean
on_link (int fd, GIOCondition condition, gpointer data)
{
  Launch *launch = data;

  launch->link_source = 0;
  launch_stop (launch);
  return G_SOURCE_REMOVE;
}

/* --- the beginning --- */

static void
launch_answer (Launch *launch)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GError) error = NULL;
  const int master = g_unix_fd_list_append (fds, launch->master, &error);
  const int link = master >= 0 ? g_unix_fd_list_append (fds, launch->link_far, &error) : -1;

  if (link < 0)
    {
      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "too many files");
      launch_give_up (launch, error);
      return;
    }
  fd_clear (&launch->master);
  fd_clear (&launch->link_far);
  fd_clear (&launch->slave);
  launch->link_source =
      g_unix_fd_add (launch->link, G_IO_IN | G_IO_HUP | G_IO_ERR, on_link, launch);
  launch_reply (launch, g_variant_new ("(shh)", launch->id, master, link), fds, NULL);
}

static gboolean
on_late (gpointer data)
{
  Launch *launch = data;
  g_autoptr (GError) error = NULL;

  launch->timer = 0;
  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                "systemd has not started it within %u seconds",
                launch->launches->config->start_seconds);
  launch_give_up (launch, error);
  return G_SOURCE_REMOVE;
}

/*
 * Nobody is there to close its run.  Not before the agent's user was found to be the agent's: a
 * unit that runs as that user does it.
 */
static void
launch_close_run (const Launch *launch)
{
  if (launch->order->close_run != NULL)
    closing_begin (launch->launches->bus, launch->order, launch->id);
}

/*
 * What nobody waits for does not begin.  polkit has said yes.  One that is still looked at is given
 * up when that is done, by on_looked(); the run of one that may have started is closed at its end.
 */
static void
on_no_caller (GDBusConnection *bus, const char *name, gpointer data)
{
  Launch *launch = data;
  g_autoptr (GError) error = NULL;

  if (launch->call == NULL)
    return;
  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "whoever called is gone");
  fd_clear (&launch->link_far);
  if (launch->look != NULL && launch->order->close_run != NULL)
    {
      launch_reply (launch, NULL, NULL, error);
      return;
    }
  if (launch->is_ready && launch->running == NULL)
    launch_close_run (launch);
  launch_give_up (launch, error);
}

void
launches_job (Launches *launches, const char *unit, const char *result)
{
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, launches->all);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      g_autoptr (Launch) launch = launch_ref (value);

      if (strcmp (unit, launch->unit) != 0)
        continue;
      if (launch->call != NULL && strcmp (result, "done") == 0)
        launch_answer (launch);
      if (launch->running != NULL)
        running_look (launch->running);
      return;
    }
}

/* An error does not say that nothing runs, least of all one by the bus. */
static void
on_doubtful (const char *why, gpointer data)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "systemd does not start it: %s",
                why);
  launch_give_up (data, error);
}

static void
launch_start (Launch *launch)
{
  static const RunningHooks hooks = { .doubtful = on_doubtful, .ended = on_ended };
  const Launches *launches = launch->launches;
  const LauncherConfig *config = launches->config;
  const char *tty = ptsname (launch->master);

  launch->timer = g_timeout_add_seconds (config->start_seconds, on_late, launch);
  launch->running = running_start (launches->bus, launch->unit,
                                   unit_properties (launch->order, config->unit, tty),
                                   config->again_seconds, &hooks, launch);
}

static gboolean
mount_shares (Launch *launch, GError **error)
{
  GPtrArray *shares = launch->order->shares;
  autofd map = -1;

  if (shares->len == 0)
    return TRUE;
  map = share_map (&launch->order->ids, error);
  if (map < 0)
    return FALSE;
  if (mkdir (launch->folder, 0700) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot make %s: %s",
                         launch->folder, g_strerror (errno));
  for (guint i = 0; i < shares->len; i++)
    {
      g_autofree char *at = g_strdup_printf ("%s/%u", launch->folder, i);

      if (!share_mount (g_ptr_array_index (shares, i), map, at, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_systemd (const Launches *launches, GError **error)
{
  if (launches->is_ending)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "undersign-launcher ends");
  return !launches->no_systemd ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                       "there is no systemd, which starts commands of agents");
}

static gboolean
check_limits (Launches *launches, uid_t uid, GError **error)
{
  GHashTableIter iter;
  gpointer value = NULL;
  guint n = 0;

  g_hash_table_iter_init (&iter, launches->all);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    n += ((const Launch *) value)->uid == uid ? 1 : 0;
  if (n >= LAUNCHES_UID_MAX || g_hash_table_size (launches->all) >= LAUNCHES_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d commands of one user run, or %d in all", LAUNCHES_UID_MAX,
                         LAUNCHES_MAX);
  return TRUE;
}

static Launch *
launch_new (Launches *launches, MechanismCall *call, Order *order)
{
  Launch *launch = g_new0 (Launch, 1);
  guint8 random[8];

  g_atomic_ref_count_init (&launch->refs);
  if (getrandom (random, sizeof random, 0) != (ssize_t) sizeof random)
    g_error ("there is no randomness: %s", g_strerror (errno));
  launch->launches = launches;
  launch->call = call;
  launch->order = order;
  launch->uid = call->uid;
  launch->id = hex_encode (random, sizeof random);
  launch->unit = g_strdup_printf ("undersign-launch-%s.service", launch->id);
  launch->folder = g_build_filename (launches->config->runtime_dir, launch->id, NULL);
  launch->master = launch->slave = launch->link = launch->link_far = -1;
  return launch;
}

/* All is as it should be: what a command needs is made, and it is started. */
static void
launch_make (Launch *launch)
{
  g_autoptr (GError) error = NULL;

  launch->is_ready =
      mount_shares (launch, &error) &&
      ends_terminal (launch->order->rows, launch->order->columns, &launch->master, &launch->slave,
                     &error) &&
      ends_link (&launch->link, &launch->link_far, &error);
  if (!launch->is_ready)
    launch_fail (launch, error);
  else if (launch->launches->has_news)
    launch_start (launch);
}

static int
look (gpointer data, GError **error)
{
  const Launch *launch = data;

  return order_look (launch->order, launch->launches->config->user_prefix, error);
}

static void
on_looked (int answer, const GError *error, gpointer data)
{
  Launch *launch = data;

  launch->look = NULL;
  if (error != NULL)
    {
      launch_fail (launch, error);
      return;
    }
  launch->order->hides_home = answer != 0;
  if (launch->call != NULL)
    {
      launch_make (launch);
      return;
    }
  launch_close_run (launch);
  launch_forget (launch);
}

static Look *
begin_look (Launch *launch, GError **error)
{
  const GPtrArray *shares = launch->order->shares;
  int fds[LOOK_FDS_MAX];
  const LookQuestion question = {
    .ask = look,
    .data = launch,
    .fds = fds,
    .n_fds = shares->len,
    .uid = launch->uid,
    .seconds = launch->launches->config->look_seconds,
  };

  G_STATIC_ASSERT (SHARES_MAX <= LOOK_FDS_MAX);
  for (guint i = 0; i < shares->len; i++)
    fds[i] = ((const Share *) g_ptr_array_index (shares, i))->fd;
  return look_begin (&question, on_looked, launch, error);
}

void
launch_begin (Launches *launches, MechanismCall *call, Order *order)
{
  g_autoptr (GError) error = NULL;
  Launch *launch = launch_new (launches, call, order);
  gboolean good = check_systemd (launches, &error) && check_limits (launches, call->uid, &error);

  g_hash_table_insert (launches->all, launch->id, launch);
  if (good)
    launch->look = begin_look (launch, &error);
  if (launch->look == NULL)
    launch_fail (launch, error);
  else
    launch->caller = g_bus_watch_name_on_connection (
        launches->bus, call->sender, G_BUS_NAME_WATCHER_FLAGS_NONE, NULL, on_no_caller,
        launch_ref (launch), (GDestroyNotify) launch_unref);
}

const char *
launch_agent (const Launch *launch)
{
  return launch->order->agent;
}

uid_t
launch_uid (const Launch *launch)
{
  return launch->uid;
}

GPtrArray *
launch_shares (const Launch *launch)
{
  return launch->order->shares;
}

void
launches_look (Launches *launches)
{
  g_autoptr (GList) all = g_hash_table_get_values (launches->all);

  for (GList *link = all; link != NULL; link = link->next)
    {
      g_autoptr (Launch) launch = launch_ref (link->data);
      g_autoptr (GError) error = NULL;

      if (launch->running != NULL)
        running_look (launch->running);
      else if (launches->has_news && launch->is_ready)
        launch_start (launch);
      else if (!check_systemd (launches, &error))
        launch_fail (launch, error);
    }
}

static void
launches_fail (Launches *launches, gboolean only_waiting)
{
  g_autoptr (GList) all = g_hash_table_get_values (launches->all);
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "undersign-launcher ends");
  for (GList *link = all; link != NULL; link = link->next)
    {
      Launch *launch = link->data;

      if (only_waiting && launch->call == NULL)
        continue;
      launch_fail (launch, error);
    }
}

void
launches_answer (Launches *launches)
{
  launches->is_ending = TRUE;
  launches_fail (launches, TRUE);
}

void
launches_end (Launches *launches)
{
  launches_fail (launches, FALSE);
}
