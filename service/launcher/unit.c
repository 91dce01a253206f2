/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Says what an agent may and may not, in systemd's words; nothing of it is done here.  Called by
 * launch.c.  What keeps the owner's things from the agent has to stand here: no caller can change
 * it.
 */
#include "service/launcher/unit.h"

#include "dbus/names.h"
#include "service/launcher/place.h"

#include <string.h>

#define STOP_USEC (5 * G_USEC_PER_SEC)
#define OOM_SCORE 500
#define CLOSE_USEC (60 * G_USEC_PER_SEC)

static void
put (GVariantBuilder *builder, const char *name, GVariant *value)
{
  g_variant_builder_add (builder, "(sv)", name, value);
}

static void
put_word (GVariantBuilder *builder, const char *name, const char *value)
{
  put (builder, name, g_variant_new_string (value));
}

/* --- the command --- */

static void
put_command (GVariantBuilder *builder, const Order *order, const char *const *words)
{
  /* Neither systemd nor a shell takes the words apart. */
  const char *const flags[] = { "no-env-expand", NULL };
  GVariant *command = g_variant_new ("(s^as^as)", words[0], words, flags);

  put (builder, "ExecStartEx", g_variant_new_array (NULL, &command, 1));
  put_word (builder, "Type", "exec");
  put_word (builder, "User", order->user);
}

static void
add_variable (GStrvBuilder *list, const char *name, const char *value)
{
  g_autofree char *pair = g_strconcat (name, "=", value, NULL);

  g_strv_builder_add (list, pair);
}

/* git asks whose a repository is; in a share the answer need not be the whole truth. */
static void
add_git (GStrvBuilder *list, const Order *order)
{
  g_autofree char *count = g_strdup_printf ("%u", order->shares->len);

  if (order->shares->len == 0)
    return;
  add_variable (list, "GIT_CONFIG_COUNT", count);
  for (guint i = 0; i < order->shares->len; i++)
    {
      const Share *share = g_ptr_array_index (order->shares, i);
      g_autofree char *key = g_strdup_printf ("GIT_CONFIG_KEY_%u", i);
      g_autofree char *value = g_strdup_printf ("GIT_CONFIG_VALUE_%u", i);

      add_variable (list, key, "safe.directory");
      add_variable (list, value, share->path);
    }
}

static void
put_environment (GVariantBuilder *builder, const Order *order, const char *home)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;
  g_autofree char *bin = g_strconcat (home, "/.local/bin", NULL);
  const char *const path[] = { bin, "/usr/local/bin", "/usr/bin", "/bin", NULL };

  add_variable (list, "HOME", home);
  add_variable (list, "SHELL", "/bin/sh");
  g_strv_builder_addv (list, (const char **) order->environment);
  if (order->run != NULL)
    add_variable (list, "UNDERSIGN_RUN", order->run);
  if (order->part != NULL)
    add_variable (list, "UNDERSIGN_PART", order->part);
  add_git (list, order);
  all = g_strv_builder_end (list);
  put (builder, "Environment", g_variant_new_strv ((const char *const *) all, -1));
  put (builder, "ExecSearchPath", g_variant_new_strv (path, -1));
}

/* What is in the environment, where whatever the command starts finds it without: its claims. */
static void
put_claims (GVariantBuilder *builder, const Order *order)
{
  const struct
  {
    const char *name, *value;
  } claims[] = { { "undersign.run", order->run }, { "undersign.part", order->part } };

  for (guint i = 0; i < G_N_ELEMENTS (claims); i++)
    if (claims[i].value != NULL)
      {
        GVariant *bytes = g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, claims[i].value,
                                                     strlen (claims[i].value), sizeof (char));
        GVariant *claim = g_variant_new ("(s@ay)", claims[i].name, bytes);

        put (builder, "SetCredential", g_variant_new_array (NULL, &claim, 1));
      }
}

static void
put_directory (GVariantBuilder *builder, const Order *order, const char *home)
{
  const Share *first = order->shares->len > 0 ? g_ptr_array_index (order->shares, 0) : NULL;

  if (order->directory != NULL)
    put_word (builder, "WorkingDirectory", order->directory);
  else
    put_word (builder, "WorkingDirectory", first != NULL ? first->path : home);
}

/* --- what it sees --- */

static void
put_binds (GVariantBuilder *builder, const Order *order, const char *name, gboolean read_only)
{
  GVariantBuilder binds;
  guint n = 0;

  g_variant_builder_init (&binds, G_VARIANT_TYPE ("a(ssbt)"));
  for (guint i = 0; i < order->shares->len; i++)
    {
      const Share *share = g_ptr_array_index (order->shares, i);

      if ((share->access == SHARE_READ_ONLY) != read_only)
        continue;
      g_variant_builder_add (&binds, "(ssbt)", share->at, share->path, FALSE, (guint64) 0);
      n++;
    }
  if (n > 0)
    put (builder, name, g_variant_builder_end (&binds));
  else
    g_variant_builder_clear (&binds);
}

/* What is in .git is run by the next git of the owner. */
static void
put_git (GVariantBuilder *builder, const Order *order)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  for (guint i = 0; i < order->shares->len; i++)
    {
      const Share *share = g_ptr_array_index (order->shares, i);
      g_autofree char *git = g_strconcat ("-", share->path, "/.git", NULL);

      if (share->access == SHARE_READ_WRITE)
        g_strv_builder_add (list, git);
    }
  all = g_strv_builder_end (list);
  put (builder, "ReadOnlyPaths", g_variant_new_strv ((const char *const *) all, -1));
}

/* ProtectHome= empties the usual places of homes; the owner's may be elsewhere. */
static void
put_homes (GVariantBuilder *builder, const Order *order)
{
  GVariant *empty = NULL;

  put_word (builder, "ProtectHome", "tmpfs");
  if (!order->hides_home)
    return;
  empty = g_variant_new ("(ss)", order->home, "ro,mode=0755");
  put (builder, "TemporaryFileSystem", g_variant_new_array (NULL, &empty, 1));
}

static void
put_files (GVariantBuilder *builder, const Order *order)
{
  g_autofree char *state = g_strconcat (UNIT_STATE "/", order->agent, NULL);
  const char *const states[] = { state, NULL };

  put (builder, "StateDirectory", g_variant_new_strv (states, -1));
  put (builder, "StateDirectoryMode", g_variant_new_uint32 (0700));
  put (builder, "UMask", g_variant_new_uint32 (0022));
  put_word (builder, "ProtectSystem", "strict");
  put_homes (builder, order);
}

static void
put_shares (GVariantBuilder *builder, const Order *order)
{
  put_binds (builder, order, "BindPaths", FALSE);
  put_binds (builder, order, "BindReadOnlyPaths", TRUE);
  put_git (builder, order);
}

/* --- what it may --- */

static void
put_sandbox (GVariantBuilder *builder)
{
  static const char *const on[] = {
    "NoNewPrivileges",   "PrivateDevices",       "PrivateTmp",
    "ProtectClock",      "ProtectControlGroups", "ProtectHostname",
    "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables",
    "LockPersonality",   "RestrictRealtime",     "RestrictSUIDSGID",
    "RemoveIPC",
  };

  for (guint i = 0; i < G_N_ELEMENTS (on); i++)
    put (builder, on[i], g_variant_new_boolean (TRUE));
  put (builder, "CapabilityBoundingSet", g_variant_new_uint64 (0));
  put (builder, "AmbientCapabilities", g_variant_new_uint64 (0));
  /* With a user namespace there is FUSE, and whoever serves files can stall who looks at them. */
  put (builder, "RestrictNamespaces", g_variant_new_uint64 (0));
  put_word (builder, "ProtectProc", "invisible");
  put_word (builder, "KeyringMode", "private");
  put (builder, "LimitCORE", g_variant_new_uint64 (0));
}

/*
 * What compilers, interpreters and debuggers need.  A call that this list does not know could make
 * a file set-user-ID for the owner past RestrictSUIDSGID=, and so could one of io_uring.
 */
static void
put_system_calls (GVariantBuilder *builder)
{
  static const char *const may[] = { "@system-service",
                                     "landlock_add_rule",
                                     "landlock_create_ruleset",
                                     "landlock_restrict_self",
                                     "pidfd_getfd",
                                     "ptrace",
                                     "seccomp",
                                     NULL };
  static const char *const may_not[] = { "io_uring_enter", "io_uring_register", "io_uring_setup",
                                         NULL };
  static const char *const native[] = { "native", NULL };

  put (builder, "SystemCallArchitectures", g_variant_new_strv (native, -1));
  put (builder, "SystemCallFilter", g_variant_new ("(b^as)", TRUE, may));
  put (builder, "SystemCallFilter", g_variant_new ("(b^as)", FALSE, may_not));
  put (builder, "SystemCallErrorNumber", g_variant_new_int32 (1)); /* EPERM */
}

/* --- how much --- */

/* One command cannot take the machine from all others; the kernel ends it before a service. */
static void
put_limits (GVariantBuilder *builder, const PolicyLaunch *limits)
{
  if (limits->memory_max > 0)
    {
      put (builder, "MemoryMax", g_variant_new_uint64 (limits->memory_max));
      put (builder, "MemorySwapMax", g_variant_new_uint64 (limits->memory_max));
    }
  else
    {
      put (builder, "MemoryMaxScale", g_variant_new_uint32 (G_MAXUINT32 / 2));
      put (builder, "MemorySwapMaxScale", g_variant_new_uint32 (G_MAXUINT32 / 2));
    }
  put (builder, "TasksMax", g_variant_new_uint64 (limits->tasks_max));
  put (builder, "CPUWeight", g_variant_new_uint64 (limits->cpu_weight));
  put (builder, "OOMScoreAdjust", g_variant_new_int32 (OOM_SCORE));
  if (limits->runtime_max > 0)
    put (builder, "RuntimeMaxUSec", g_variant_new_uint64 (limits->runtime_max * G_USEC_PER_SEC));
}

/* --- how it ends --- */

static void
put_life (GVariantBuilder *builder, const char *bound)
{
  const char *const units[] = { bound, NULL };

  put (builder, "BindsTo", g_variant_new_strv (units, -1));
  put (builder, "After", g_variant_new_strv (units, -1));
  put_word (builder, "KillMode", "control-group");
  put (builder, "SendSIGHUP", g_variant_new_boolean (TRUE));
  put (builder, "TimeoutStopUSec", g_variant_new_uint64 (STOP_USEC));
  put_word (builder, "CollectMode", "inactive-or-failed");
  /* Its exit status stays until it was read. */
  put (builder, "AddRef", g_variant_new_boolean (TRUE));
}

static void
put_terminal (GVariantBuilder *builder, const char *tty)
{
  put_word (builder, "TTYPath", tty);
  put_word (builder, "StandardInput", "tty");
  put_word (builder, "StandardOutput", "tty");
  put_word (builder, "StandardError", "tty");
}

char *
unit_home (const char *agent)
{
  return g_strconcat ("/var/lib/" UNIT_STATE "/", agent, NULL);
}

GVariant *
unit_properties (const Order *order, const char *bound, const char *tty)
{
  g_autofree char *home = unit_home (order->agent);
  g_autofree char *description =
      g_strdup_printf ("A command of the agent %s of %s", order->agent, order->owner);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sv)"));
  put_word (&builder, "Description", description);
  put_life (&builder, bound);
  put_command (&builder, order, (const char *const *) order->command);
  put_environment (&builder, order, home);
  put_claims (&builder, order);
  put_directory (&builder, order, home);
  put_terminal (&builder, tty);
  put_files (&builder, order);
  put_shares (&builder, order);
  put_sandbox (&builder);
  put_system_calls (&builder);
  put_limits (&builder, &order->limits);
  return g_variant_builder_end (&builder);
}

/* It is the agent's, whose other commands could trace it: it has no more than they have. */
GVariant *
unit_closing_properties (const Order *order)
{
  const char *const words[] = { "/usr/bin/busctl", "--system", "call", US_BUS_NAME, US_OBJECT_PATH,
                                US_INTERFACE_AGENT, "CloseRun", "s", order->close_run, NULL };
  g_autofree char *description =
      g_strdup_printf ("Closes a run of the agent %s of %s", order->agent, order->owner);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sv)"));
  put_word (&builder, "Description", description);
  put_word (&builder, "CollectMode", "inactive-or-failed");
  put_command (&builder, order, words);
  put_files (&builder, order);
  put_sandbox (&builder);
  put_system_calls (&builder);
  put_limits (&builder, &order->limits);
  put (&builder, "RuntimeMaxUSec", g_variant_new_uint64 (CLOSE_USEC));
  return g_variant_builder_end (&builder);
}

char *
unit_path (const char *unit)
{
  g_autoptr (GString) path = g_string_new ("/org/freedesktop/systemd1/unit/");

  for (const char *c = unit; *c != '\0'; c++)
    if (g_ascii_isalnum (*c))
      g_string_append_c (path, *c);
    else
      g_string_append_printf (path, "_%02x", (guint) (guchar) *c);
  return g_string_free (g_steal_pointer (&path), FALSE);
}
