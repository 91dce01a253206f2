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
#include "service/launcher/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SYSTEMD "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define MANAGER SYSTEMD ".Manager"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define TIMEOUT_MS (60 * 1000)
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
  char *id, *unit, *path, *folder;
  int master, slave; /* of the terminal */
  int link, link_far;
  guint link_source;
  guint timer; /* until it must have started */
  guint news;  /* of the unit, from systemd */
  gint32 code, status;
  gboolean is_ready;   /* to be started */
  gboolean is_started; /* systemd was asked to */
  gboolean is_looked_at;
  gboolean look_again;
};

static void launch_look (Launch *launch);

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
  g_free (launch->path);
  g_free (launch->folder);
  g_free (launch);
}

/* --- calls to systemd --- */

static void
call_systemd (Launch *launch,
              const char *path,
              const char *interface,
              const char *member,
              GVariant *body,
              const char *reply_type,
              GAsyncReadyCallback done)
{
  g_dbus_connection_call (launch->launches->bus, SYSTEMD, path, interface, member, body,
                          G_VARIANT_TYPE (reply_type), G_DBUS_CALL_FLAGS_NO_AUTO_START, TIMEOUT_MS,
                          NULL, done, done != NULL ? launch_ref (launch) : NULL);
}

static GVariant *
finish_call (GObject *source, GAsyncResult *result, GError **error)
{
  return g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, error);
}

/* --- the end --- */

/* Takes away what was made for it.  The last that happens to a launch. */
static void
launch_forget (Launch *launch)
{
  Launches *launches = launch->launches;

  if (launches == NULL)
    return;
  if (launch->is_started)
    call_systemd (launch, SYSTEMD_PATH, MANAGER, "UnrefUnit", g_variant_new ("(s)", launch->unit),
                  "()", NULL);
  if (launch->news != 0)
    g_dbus_connection_signal_unsubscribe (launches->bus, launch->news);
  if (launch->link_source != 0)
    g_source_remove (launch->link_source);
  g_clear_handle_id (&launch->timer, g_source_remove);
  g_clear_pointer (&launch->look, look_cancel);
  launch->news = launch->link_source = 0;
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
    mechanism_call_answer (g_steal_pointer (&launch->call), NULL, NULL, error);
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

static gboolean
read_number (GObject *source, GAsyncResult *result, gint32 *out)
{
  g_autoptr (GVariant) reply = finish_call (source, result, NULL);
  g_autoptr (GVariant) value = NULL;

  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(v)", &value);
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_INT32))
    return FALSE;
  *out = g_variant_get_int32 (value);
  return TRUE;
}

static void
on_status (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Launch) launch = data;

  if (!read_number (source, result, &launch->status))
    launch->code = 0;
  launch_finish (launch);
}

static void
ask_property (Launch *launch, const char *interface, const char *name, GAsyncReadyCallback done)
{
  call_systemd (launch, launch->path, PROPERTIES, "Get", g_variant_new ("(ss)", interface, name),
                "(v)", done);
}

static void
on_code (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Launch) launch = data;

  if (launch->launches == NULL)
    return;
  if (read_number (source, result, &launch->code))
    ask_property (launch, SYSTEMD ".Service", "ExecMainStatus", on_status);
  else
    launch_finish (launch);
}

/* Nothing but this says that it is not there any more. */
static gboolean
is_unknown (const GError *error)
{
  g_autofree char *name = g_dbus_error_get_remote_error (error);

  return g_strcmp0 (name, SYSTEMD ".NoSuchUnit") == 0 ||
         g_error_matches (error, G_DBUS_ERROR, G_DBUS_ERROR_UNKNOWN_OBJECT);
}

static void
on_state (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Launch) launch = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = finish_call (source, result, &error);
  g_autoptr (GVariant) value = NULL;
  const char *state = "";

  if (launch->launches == NULL)
    return;
  launch->is_looked_at = FALSE;
  if (reply == NULL)
    state = is_unknown (error) ? "inactive" : "";
  if (reply != NULL)
    g_variant_get (reply, "(v)", &value);
  if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    state = g_variant_get_string (value, NULL);
  if (strcmp (state, "inactive") == 0 || strcmp (state, "failed") == 0)
    ask_property (launch, SYSTEMD ".Service", "ExecMainCode", on_code);
  else if (launch->look_again || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    launch_look (launch);
}

/* Whether it has ended.  A state is asked for, never taken from a signal. */
static void
launch_look (Launch *launch)
{
  launch->look_again = launch->is_looked_at;
  if (launch->is_looked_at || !launch->is_started)
    return;
  launch->is_looked_at = TRUE;
  ask_property (launch, SYSTEMD ".Unit", "ActiveState", on_state);
}

static void
on_stopped (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Launch) launch = data;
  g_autoptr (GVariant) reply = finish_call (source, result, NULL);

  /* Without a reply there is nothing to stop: it has ended. */
  if (reply == NULL && launch->launches != NULL)
    launch_look (launch);
}

void
launch_stop (Launch *launch)
{
  if (launch->is_started)
    call_systemd (launch, SYSTEMD_PATH, MANAGER, "StopUnit",
                  g_variant_new ("(ss)", launch->unit, "replace"), "(o)", on_stopped);
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
      launch_stop (launch);
      us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "too many files");
      mechanism_call_answer (g_steal_pointer (&launch->call), NULL, NULL, error);
      return;
    }
  fd_clear (&launch->master);
  fd_clear (&launch->link_far);
  fd_clear (&launch->slave);
  g_clear_handle_id (&launch->timer, g_source_remove);
  launch->link_source =
      g_unix_fd_add (launch->link, G_IO_IN | G_IO_HUP | G_IO_ERR, on_link, launch);
  mechanism_call_answer (g_steal_pointer (&launch->call),
                         g_variant_new ("(shh)", launch->id, master, link), fds, NULL);
}

/* Whoever waits for it waits no more, and it is stopped: it must not start without them. */
static void
launch_give_up (Launch *launch)
{
  g_autoptr (GError) error = NULL;

  if (launch->call == NULL)
    return;
  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                "systemd has not started it within %u seconds",
                launch->launches->config->start_seconds);
  launch_stop (launch);
  mechanism_call_answer (g_steal_pointer (&launch->call), NULL, NULL, error);
}

static gboolean
on_late (gpointer data)
{
  Launch *launch = data;

  launch->timer = 0;
  launch_give_up (launch);
  return G_SOURCE_REMOVE;
}

/* systemd says that something about the unit has changed. */
static void
on_news (GDBusConnection *bus,
         const char *sender,
         const char *path,
         const char *interface,
         const char *member,
         GVariant *body,
         gpointer data)
{
  launch_look (data);
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
      launch_look (launch);
      return;
    }
}

static void
on_started (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Launch) launch = data;
  g_autoptr (GError) reason = NULL, error = NULL;
  g_autoptr (GVariant) reply = finish_call (source, result, &reason);

  if (reply != NULL || launch->launches == NULL)
    return;
  /* It may do it yet. */
  if (!g_dbus_error_is_remote_error (reason))
    {
      launch_give_up (launch);
      return;
    }
  g_dbus_error_strip_remote_error (reason);
  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "systemd does not start it: %s",
                reason->message);
  launch_fail (launch, error);
}

static void
launch_start (Launch *launch)
{
  Launches *launches = launch->launches;
  GDBusConnection *bus = launches->bus;
  const char *tty = ptsname (launch->master);
  GVariant *properties = unit_properties (launch->order, launches->config->unit, tty);

  launch->is_started = TRUE;
  launch->timer = g_timeout_add_seconds (launches->config->start_seconds, on_late, launch);
  launch->news = g_dbus_connection_signal_subscribe (bus, SYSTEMD, PROPERTIES, "PropertiesChanged",
                                                     launch->path, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
                                                     on_news, launch, NULL);
  call_systemd (launch, SYSTEMD_PATH, MANAGER, "StartTransientUnit",
                g_variant_new ("(ss@a(sv)a(sa(sv)))", launch->unit, "fail", properties, NULL),
                "(o)", on_started);
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
  launch->path = unit_path (launch->unit);
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
  launch_make (launch);
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

      if (launch->is_started)
        launch_look (launch);
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
