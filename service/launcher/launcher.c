/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mechanism with its three members, and the systemd that it depends on.  Who may do what is
 * said by polkit: of one's own agents by one action, of another's by the other.
 */
#include "service/launcher/launcher.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/launcher/known.h"
#include "service/launcher/launch.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ACTION_OWN "org.undersign1.launch-own"
#define ACTION_ANY "org.undersign1.launch"
#define SYSTEMD "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define MANAGER SYSTEMD ".Manager"
#define ALREADY_SUBSCRIBED SYSTEMD ".AlreadySubscribed"
#define BODY_MAX (ORDER_COMMAND_BYTES_MAX + 64 * 1024)

typedef struct
{
  Launches launches;
  Mechanism *mechanism;
  Known *known;   /* for who asks */
  Known *granted; /* and for who may, so that it is not what was known before */
} Launcher;

/* --- Launch --- */

/* Whose an agent of somebody else's is, is not said before it is known who asks. */
static GVariant *
launch_details (const Order *order)
{
  g_autofree char *command = order_command_text (order);
  GVariantBuilder details;

  g_variant_builder_init (&details, G_VARIANT_TYPE ("a{ss}"));
  g_variant_builder_add (&details, "{ss}", "agent", order->agent);
  if (order->owns)
    g_variant_builder_add (&details, "{ss}", "owner", order->owner);
  g_variant_builder_add (&details, "{ss}", "command", command);
  return g_variant_builder_end (&details);
}

static gboolean
ask_launch (MechanismCall *call, MechanismQuestion *out, GError **error)
{
  Launcher *launcher = mechanism_data (call->mechanism);
  const Policy *policy = known_policy (launcher->known, call->uid, g_get_monotonic_time (), error);
  Order *order = policy != NULL ? order_ask (policy, call->body, call->uid, error) : NULL;

  if (order == NULL)
    return FALSE;
  call->data = order;
  call->data_free = (GDestroyNotify) order_free;
  out->action = order->owns ? ACTION_OWN : ACTION_ANY;
  out->details = launch_details (order);
  return TRUE;
}

/* From the top again: a person may have typed a password since. */
static GVariant *
handle_launch (MechanismCall *call, GError **error)
{
  Launcher *launcher = mechanism_data (call->mechanism);
  const Order *asked = call->data;
  const Policy *policy =
      known_policy (launcher->granted, call->uid, g_get_monotonic_time (), error);
  g_autoptr (Order) order =
      policy != NULL ? order_read (policy, call->body, call->fds, call->uid, error) : NULL;

  if (order == NULL || !order_was_asked (order, asked, error))
    return NULL;
  mechanism_call_defer (call);
  launch_begin (&launcher->launches, call, g_steal_pointer (&order));
  return NULL;
}

/* --- List and End --- */

static gboolean
may_see (const MechanismCall *call, const Launch *launch)
{
  return call->uid == 0 || call->uid == launch_uid (launch);
}

static gboolean
ask_list (MechanismCall *call, MechanismQuestion *out, GError **error)
{
  out->action = call->uid == 0 ? ACTION_ANY : ACTION_OWN;
  return TRUE;
}

static GVariant *
handle_list (MechanismCall *call, GError **error)
{
  Launcher *launcher = mechanism_data (call->mechanism);
  GVariantBuilder list;
  GHashTableIter iter;
  gpointer id = NULL, launch = NULL;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(ssua(ss))"));
  g_hash_table_iter_init (&iter, launcher->launches.all);
  while (g_hash_table_iter_next (&iter, &id, &launch))
    {
      const GPtrArray *shares = launch_shares (launch);

      if (!may_see (call, launch))
        continue;
      g_variant_builder_open (&list, G_VARIANT_TYPE ("(ssua(ss))"));
      g_variant_builder_add (&list, "s", id);
      g_variant_builder_add (&list, "s", launch_agent (launch));
      g_variant_builder_add (&list, "u", (guint32) launch_uid (launch));
      g_variant_builder_open (&list, G_VARIANT_TYPE ("a(ss)"));
      for (guint i = 0; i < shares->len; i++)
        {
          const Share *share = g_ptr_array_index (shares, i);

          g_variant_builder_add (&list, "(ss)", share->path, share_access_name (share->access));
        }
      g_variant_builder_close (&list);
      g_variant_builder_close (&list);
    }
  return g_variant_new ("(@a(ssua(ss)))", g_variant_builder_end (&list));
}

/* One that is not there, and one that is another's, are told alike. */
static gboolean
ask_end (MechanismCall *call, MechanismQuestion *out, GError **error)
{
  Launcher *launcher = mechanism_data (call->mechanism);
  const char *id = NULL;
  Launch *launch = NULL;

  g_variant_get (call->body, "(&s)", &id);
  launch = g_hash_table_lookup (launcher->launches.all, id);
  if (launch == NULL || !may_see (call, launch))
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                         "there is no such command of yours");
  out->action = call->uid == launch_uid (launch) ? ACTION_OWN : ACTION_ANY;
  call->data = launch_ref (launch);
  call->data_free = (GDestroyNotify) launch_unref;
  return TRUE;
}

static GVariant *
handle_end (MechanismCall *call, GError **error)
{
  launch_stop (call->data);
  return g_variant_new ("()");
}

static const MechanismMember *
member_find (const char *interface, const char *name)
{
  static const MechanismMember members[] = {
    { "Launch", "(sasa{sv})", NULL, FALSE, ask_launch, handle_launch },
    { "List", "()", NULL, FALSE, ask_list, handle_list },
    { "End", "(s)", NULL, FALSE, ask_end, handle_end },
  };

  if (g_strcmp0 (interface, US_INTERFACE_LAUNCHER) != 0)
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (g_strcmp0 (members[i].name, name) == 0)
      return &members[i];
  return NULL;
}

/* --- systemd --- */

static void
on_job_removed (GDBusConnection *bus,
                const char *sender,
                const char *path,
                const char *interface,
                const char *member,
                GVariant *body,
                gpointer data)
{
  Launcher *launcher = data;
  const char *unit = NULL, *result = NULL;

  if (!g_variant_is_of_type (body, G_VARIANT_TYPE ("(uoss)")))
    return;
  g_variant_get (body, "(uo&s&s)", NULL, NULL, &unit, &result);
  launches_job (&launcher->launches, unit, result);
}

/* A systemd that has executed itself anew still knows who had subscribed: that is as good. */
static void
on_subscribed (GObject *source, GAsyncResult *result, gpointer data)
{
  Launcher *launcher = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);
  g_autofree char *remote = error != NULL ? g_dbus_error_get_remote_error (error) : NULL;
  const gboolean is_subscribed = reply != NULL || g_strcmp0 (remote, ALREADY_SUBSCRIBED) == 0;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  launcher->launches.has_news = is_subscribed;
  launcher->launches.no_systemd = !is_subscribed;
  if (!is_subscribed)
    g_warning ("systemd says nothing of its units: %s", error->message);
  launches_look (&launcher->launches);
}

static void
on_systemd (GDBusConnection *bus, const char *name, const char *owner, gpointer data)
{
  Launcher *launcher = data;

  mechanism_hear (launcher->mechanism, owner);
  g_dbus_connection_call (
      bus, owner, SYSTEMD_PATH, MANAGER, "Subscribe", NULL, NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START,
      (int) launcher->launches.config->start_seconds * 1000, NULL, on_subscribed, launcher);
}

/* It is not there, or it starts itself anew and is there soon. */
static void
on_no_systemd (GDBusConnection *bus, const char *name, gpointer data)
{
  Launcher *launcher = data;

  mechanism_hear (launcher->mechanism, NULL);
  launcher->launches.has_news = FALSE;
  launcher->launches.no_systemd = TRUE;
  launches_look (&launcher->launches);
}

/* --- the program --- */

static gboolean
is_busy (gpointer data)
{
  const Launcher *launcher = data;

  return g_hash_table_size (launcher->launches.all) > 0;
}

/* Whatever is there is of a process that is no more: this one has its name. */
static void
on_begin (gpointer data)
{
  Launcher *launcher = data;

  shares_sweep (launcher->launches.config->runtime_dir);
}

static void
on_end (gpointer data)
{
  Launcher *launcher = data;

  launches_answer (&launcher->launches);
}

static gboolean
make_folder (const char *path)
{
  struct stat status;

  if (mkdir (path, 0700) != 0 && errno != EEXIST)
    {
      g_warning ("cannot make %s: %s", path, g_strerror (errno));
      return FALSE;
    }
  if (lstat (path, &status) != 0 || !S_ISDIR (status.st_mode) || status.st_uid != geteuid () ||
      (status.st_mode & 077) != 0)
    {
      g_warning ("%s is not a folder for root alone", path);
      return FALSE;
    }
  return TRUE;
}

static int
launcher_serve (Launcher *launcher)
{
  GDBusConnection *bus = mechanism_bus (launcher->mechanism);
  guint watch = 0, jobs = 0;
  int status = 1;

  launcher->launches.bus = bus;
  launcher->launches.all =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) launch_unref);
  watch = g_bus_watch_name_on_connection (bus, SYSTEMD, G_BUS_NAME_WATCHER_FLAGS_NONE, on_systemd,
                                          on_no_systemd, launcher, NULL);
  jobs =
      g_dbus_connection_signal_subscribe (bus, SYSTEMD, MANAGER, "JobRemoved", SYSTEMD_PATH, NULL,
                                          G_DBUS_SIGNAL_FLAGS_NONE, on_job_removed, launcher, NULL);
  status = mechanism_serve (launcher->mechanism);
  launches_end (&launcher->launches);
  g_dbus_connection_signal_unsubscribe (bus, jobs);
  g_bus_unwatch_name (watch);
  return status;
}

int
launcher_run (const LauncherConfig *config)
{
  Launcher launcher = { .launches = { .config = config } };
  const MechanismConfig bus = {
    .address = config->address,
    .name = US_LAUNCHER_BUS_NAME,
    .path = US_LAUNCHER_OBJECT_PATH,
    .find = member_find,
    .body_max = BODY_MAX,
    .fds_max = SHARES_MAX,
    .authorise_seconds = config->authorise_seconds,
    .interactive_seconds = config->interactive_seconds,
    .idle_seconds = config->idle_seconds,
    .busy = is_busy,
    .begins = on_begin,
    .ends = on_end,
    .data = &launcher,
  };
  g_autoptr (GError) error = NULL;
  int status = 1;

  if (!make_folder (config->runtime_dir))
    return 1;
  launcher.known = known_new (&config->policy);
  launcher.granted = known_new (&config->policy);
  launcher.mechanism = mechanism_new (&bus, &error);
  if (launcher.mechanism == NULL)
    {
      g_warning ("no bus: %s", error->message);
      known_free (launcher.known);
      known_free (launcher.granted);
      return 1;
    }
  status = launcher_serve (&launcher);
  mechanism_free (launcher.mechanism);
  g_hash_table_unref (launcher.launches.all);
  known_free (launcher.known);
  known_free (launcher.granted);
  return status;
}
