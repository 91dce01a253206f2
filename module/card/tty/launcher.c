/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Has a command started as an agent.  Called by verb-launch.c.  Folders are opened here, with the
 * person's rights, and given as descriptors; whether they may be shared is the launcher's to say.
 */
#include "module/card/tty/launcher.h"

#include "dbus/error.h"
#include "dbus/error-bus.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "module/card/tty/agent.h"
#include "module/card/tty/bus.h"
#include "module/card/tty/text.h"
#include "service/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAUNCH_TIMEOUT 360000 /* somebody types an administrator's password */
#define CALL_TIMEOUT 30000
#define CLOSE_TIMEOUT 5000

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Agent, agent_stop)

/* A person who leaves before the command begins: the run that was opened for it is closed first. */
typedef struct
{
  GCancellable *cancellable;
  struct LeavingSignal
  {
    int number;
    guint source;
    GCancellable *cancellable; /* borrowed */
    int *out;
  } signals[3];
} Leaving;

static gboolean
bad_share (GError **error, const char *path, const char *why)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_SHARE, "%s: %s", path, why);
}

/* Whatever else is in the place of .git leads to somewhere else, which may be in the share. */
static gboolean
check_git (int fd, const char *path, const char *access, GError **error)
{
  struct stat status;

  if (strcmp (access, "read-write") != 0 || fstatat (fd, ".git", &status, AT_SYMLINK_NOFOLLOW) != 0)
    return TRUE;
  return S_ISDIR (status.st_mode) ||
         bad_share (error, path,
                    "its .git is no folder, and what it leads to cannot be kept from the agent: "
                    "share it with :ro, or with :git where the agent may have all of it");
}

/* Adds what DIR[:ro|:git] stands for; @out_path is where it is. */
static gboolean
add_share (
    const char *text, GUnixFDList *fds, GVariantBuilder *list, char **out_path, GError **error)
{
  const char *access = "read-write";
  g_autofree char *path = g_strdup (text), *link = NULL;
  autofd fd = -1;
  int handle = -1;

  if (g_str_has_suffix (path, ":ro"))
    access = "read-only";
  else if (g_str_has_suffix (path, ":git"))
    access = "read-write-git";
  if (strcmp (access, "read-write") != 0)
    *strrchr (path, ':') = '\0';
  fd = open (path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return bad_share (error, path,
                      errno == ENOTDIR ? "not a folder, or a link" : g_strerror (errno));
  if (!check_git (fd, path, access, error))
    return FALSE;
  handle = g_unix_fd_list_append (fds, fd, error);
  if (handle < 0)
    return FALSE;
  g_variant_builder_add (list, "(hs)", handle, access);
  /* Where the kernel has it, as the launcher says it: no link is in it. */
  link = g_strdup_printf ("/proc/self/fd/%d", (int) fd);
  *out_path = g_file_read_link (link, error);
  return *out_path != NULL;
}

/* A folder on the way may be an agent's, and a link by now: the person sees where it led. */
static void
say_share (const char *path, const char *text)
{
  const char *access = g_str_has_suffix (text, ":ro")    ? "to read"
                       : g_str_has_suffix (text, ":git") ? "with its .git"
                                                         : "but for a .git";
  g_autofree char *shown = text_safe (path, g_get_charset (NULL));

  if (isatty (STDERR_FILENO))
    g_printerr ("undersign: %s is shared, %s\n", shown, access);
}

static gboolean
is_below (const char *path, const char *folder)
{
  const gsize len = strlen (folder);

  return strncmp (path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* A command begins where the person is, where that is shared. */
static gboolean
put_shares (char **shares, GUnixFDList *fds, GVariantDict *options, GError **error)
{
  g_autofree char *here = g_file_read_link ("/proc/self/cwd", NULL); /* $PWD may go by links */
  gboolean is_here = FALSE;
  GVariantBuilder list;

  if (shares == NULL)
    return TRUE;
  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(hs)"));
  for (guint i = 0; shares[i] != NULL; i++)
    {
      g_autofree char *path = NULL;

      if (!add_share (shares[i], fds, &list, &path, error))
        {
          g_variant_builder_clear (&list);
          return FALSE;
        }
      say_share (path, shares[i]);
      is_here = is_here || (here != NULL && is_below (here, path));
    }
  g_variant_dict_insert_value (options, "shares", g_variant_builder_end (&list));
  if (is_here && g_utf8_validate (here, -1, NULL))
    g_variant_dict_insert (options, "directory", "s", here);
  return TRUE;
}

static void
put_terminal (GVariantDict *options)
{
  static const char *const names[] = { "COLORTERM", "LANG", "LC_ALL", "TERM" };
  GVariantBuilder list;
  struct winsize size;

  g_variant_builder_init (&list, G_VARIANT_TYPE ("a{ss}"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char *value = g_getenv (names[i]);

      /* What the launcher would refuse, the command can do without. */
      if (value != NULL && value[0] != '\0' && strlen (value) <= 64 &&
          strspn (value, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._@+:-") == strlen (value))
        g_variant_builder_add (&list, "{ss}", names[i], value);
    }
  g_variant_dict_insert_value (options, "environment", g_variant_builder_end (&list));
  if (ioctl (STDIN_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row <= 1000 && size.ws_col <= 1000)
    g_variant_dict_insert (options, "size", "(qq)", size.ws_row, size.ws_col);
}

/* The service tells nobody which agents there are, nor whose; the files do. */
static void
explain_agent (GError **error, const char *agent)
{
  g_autofree char *about = g_strdup_printf ("agent \"%s\"", agent);
  g_autofree char *old = NULL;

  us_error_about (error, about);
  old = (*error)->message;
  (*error)->message = g_strconcat (old, "; \"undersignctl policy check\" lists agents, "
                                        "\"undersignctl agent add\" makes one", NULL);
}

/* The person becomes the run's initiator: the service sees who opens it. */
static gboolean
open_run (GDBusConnection *bus,
          const Trust *trust,
          const LaunchWish *wish,
          char **out_run,
          GError **error)
{
  g_autofree char *owner = bus_pin (bus, US_BUS_NAME, trust->service_uid, error);
  g_autoptr (GVariant) reply = NULL;
  GVariantDict options;

  if (owner == NULL)
    return FALSE;
  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert (&options, "label", "s", wish->run);
  if (wish->part != NULL)
    g_variant_dict_insert (&options, "part", "s", wish->part);
  reply = bus_call (bus, owner, US_OBJECT_PATH, US_INTERFACE_AGENT, "OpenRunFor",
                    g_variant_new ("(s@a{sv})", wish->agent, g_variant_dict_end (&options)), "(s)",
                    CALL_TIMEOUT, error);
  if (reply == NULL && us_error_has_reason (*error, US_REASON_NOT_FOUND))
    explain_agent (error, wish->agent);
  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(s)", out_run);
  return TRUE;
}

/* The service takes it from whoever opened it.  Where it cannot, the run ends after a day unused.
 */
void
launcher_close_run (const Trust *trust, const char *run)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDBusConnection) bus = bus_connect (trust, &error);
  g_autofree char *owner =
      bus != NULL ? bus_pin (bus, US_BUS_NAME, trust->service_uid, &error) : NULL;
  g_autoptr (GVariant) reply = NULL;

  if (owner != NULL)
    reply = bus_call (bus, owner, US_OBJECT_PATH, US_INTERFACE_AGENT, "CloseRun",
                      g_variant_new ("(s)", run), "()", CLOSE_TIMEOUT, &error);
  if (reply == NULL)
    g_printerr ("undersign: the run stays open: %s\n", error->message);
}

/* --- the launch --- */

static gboolean
on_leave (gpointer data)
{
  const struct LeavingSignal *signal = data;

  *signal->out = signal->number;
  g_cancellable_cancel (signal->cancellable);
  return G_SOURCE_CONTINUE;
}

/* What is ignored, as by nohup(1), stays so.  @out: the last that came */
static void
leaving_watch (Leaving *leaving, int *out)
{
  static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };

  G_STATIC_ASSERT (G_N_ELEMENTS (numbers) == G_N_ELEMENTS (leaving->signals));
  leaving->cancellable = g_cancellable_new ();
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      struct LeavingSignal *signal = &leaving->signals[i];
      struct sigaction now;

      *signal = (struct LeavingSignal){ numbers[i], 0, leaving->cancellable, out };
      if (sigaction (numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        signal->source = g_unix_signal_add (numbers[i], on_leave, signal);
    }
}

static void
leaving_clear (Leaving *leaving)
{
  for (guint i = 0; i < G_N_ELEMENTS (leaving->signals); i++)
    g_clear_handle_id (&leaving->signals[i].source, g_source_remove);
  g_clear_object (&leaving->cancellable);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Leaving, leaving_clear)

static void
on_reply (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static gboolean
take_reply (GVariant *reply, GUnixFDList *fds, Launched *out, GError **error)
{
  gint32 terminal = -1, link = -1;

  g_variant_get (reply, "(shh)", NULL, &terminal, &link);
  if (fds == NULL || terminal < 0 || link < 0 || terminal >= g_unix_fd_list_get_length (fds) ||
      link >= g_unix_fd_list_get_length (fds))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the launcher gave no terminal");
  out->terminal = g_unix_fd_list_get (fds, terminal, NULL);
  out->link = g_unix_fd_list_get (fds, link, NULL);
  return (out->terminal >= 0 && out->link >= 0) ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "too many files");
}

static gboolean
left_before (GError **error)
{
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_ANSWER,
                       "ended before the command had begun");
}

static gboolean
call_launch (GDBusConnection *bus,
             const char *owner,
             const LaunchWish *wish,
             GVariant *options,
             GUnixFDList *fds,
             GCancellable *leaving,
             Launched *out,
             GError **error)
{
  g_autoptr (GUnixFDList) out_fds = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GVariant) reply = NULL;
  GError *reason = NULL;

  while (g_main_context_iteration (NULL, FALSE)) /* who left while the run was opened */
    ;
  if (g_cancellable_is_cancelled (leaving))
    return left_before (error);
  g_dbus_connection_call_with_unix_fd_list (
      bus, owner, US_LAUNCHER_OBJECT_PATH, US_INTERFACE_LAUNCHER, "Launch",
      g_variant_new ("(s^as@a{sv})", wish->agent, wish->command, options), G_VARIANT_TYPE ("(shh)"),
      G_DBUS_CALL_FLAGS_NO_AUTO_START | G_DBUS_CALL_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION,
      LAUNCH_TIMEOUT, fds, leaving, on_reply, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  reply = g_dbus_connection_call_with_unix_fd_list_finish (bus, &out_fds, result, &reason);
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_clear_error (&reason);
      return left_before (error);
    }
  if (reply == NULL)
    {
      us_error_propagate_bus (error, reason);
      return FALSE;
    }
  return take_reply (reply, out_fds, out, error);
}

gboolean
launcher_start (const Trust *trust, const LaunchWish *wish, Launched *out, GError **error)
{
  g_autoptr (GDBusConnection) bus = bus_connect (trust, error);
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autofree char *owner = NULL;
  g_autoptr (GVariant) given = NULL;
  g_autoptr (Agent) agent = NULL;
  g_auto (Leaving) leaving = { 0 };
  GVariantDict options;

  if (bus == NULL)
    return FALSE;
  g_variant_dict_init (&options, NULL);
  put_terminal (&options);
  if (wish->run != NULL)
    g_variant_dict_insert (&options, "run", "s", wish->run);
  if (wish->part != NULL)
    g_variant_dict_insert (&options, "part", "s", wish->part);
  if (!put_shares (wish->shares, fds, &options, error))
    {
      g_variant_dict_clear (&options);
      return FALSE;
    }
  leaving_watch (&leaving, &out->signal);
  if (wish->run != NULL && !open_run (bus, trust, wish, &out->run, error))
    {
      g_variant_dict_clear (&options);
      return FALSE;
    }
  if (wish->is_own_run)
    g_variant_dict_insert (&options, "close-run", "s", out->run);
  given = g_variant_ref_sink (g_variant_dict_end (&options));
  owner = bus_pin (bus, US_LAUNCHER_BUS_NAME, trust->admin_uid, error);
  if (owner == NULL)
    return FALSE;
  agent = agent_start ();
  return call_launch (bus, owner, wish, given, fds, leaving.cancellable, out, error);
}
