/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every unit of an agent has, whatever its owner asks for. */
#include "service/launcher/unit.h"

#include <string.h>

typedef struct
{
  const char *name;
  const char *value; /* as GVariant text */
} Property;

static const Property always[] = {
  { "User", "'agent-x'" },
  { "Type", "'exec'" },
  { "NoNewPrivileges", "true" },
  { "CapabilityBoundingSet", "uint64 0" },
  { "AmbientCapabilities", "uint64 0" },
  { "RestrictNamespaces", "uint64 0" },
  { "RestrictSUIDSGID", "true" },
  { "PrivateDevices", "true" },
  { "PrivateTmp", "true" },
  { "ProtectSystem", "'strict'" },
  { "ProtectHome", "'tmpfs'" },
  { "ProtectProc", "'invisible'" },
  { "SystemCallArchitectures", "['native']" },
  { "BindsTo", "['launcher.service']" },
  { "KillMode", "'control-group'" },
  { "TTYPath", "'/dev/pts/7'" },
  { "StandardInput", "'tty'" },
  { "StateDirectory", "['undersign-agents/x']" },
  { "MemoryMaxScale", "uint32 2147483647" },
  { "MemorySwapMaxScale", "uint32 2147483647" },
  { "TasksMax", "uint64 2048" },
  { "CPUWeight", "uint64 50" },
  { "OOMScoreAdjust", "500" },
};

static GVariant *
find (GVariant *properties, const char *name, guint nth)
{
  for (gsize i = 0; i < g_variant_n_children (properties); i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *found = NULL;

      g_variant_get_child (properties, i, "(&sv)", &found, &value);
      if (g_strcmp0 (found, name) == 0 && nth-- == 0)
        return g_steal_pointer (&value);
    }
  return NULL;
}

static void
assert_property (GVariant *properties, const char *name, guint nth, const char *text)
{
  g_autoptr (GVariant) value = find (properties, name, nth);
  g_autofree char *found = value != NULL ? g_variant_print (value, TRUE) : NULL;

  g_assert_cmpstr (found, ==, text);
}

/* Nothing is mounted, so nothing is to be taken away. */
static void
share_drop (gpointer data)
{
  Share *share = data;

  g_free (share->path);
  g_free (share->at);
  g_free (share);
}

static void
add_share (Order *order, const char *path, ShareAccess access)
{
  Share *share = g_new0 (Share, 1);

  share->fd = -1;
  share->path = g_strdup (path);
  share->at = g_strconcat ("/nowhere", path, NULL);
  share->access = access;
  g_ptr_array_add (order->shares, share);
}

static Order *
order_new (void)
{
  static const char *const command[] = { "tool", "$HOME", "%i", "", NULL };
  Order *order = g_new0 (Order, 1);

  order->agent = g_strdup ("x");
  order->user = g_strdup ("agent-x");
  order->owner = g_strdup ("somebody");
  order->home = g_strdup ("/home/somebody");
  order->command = g_strdupv ((char **) command);
  order->environment = g_new0 (char *, 1);
  order->run = g_strdup ("ticket-1");
  order->limits =
      (PolicyLaunch){ .tasks_max = POLICY_TASKS_DEFAULT, .cpu_weight = POLICY_CPU_WEIGHT_DEFAULT };
  order->shares = g_ptr_array_new_with_free_func (share_drop);
  return order;
}

static void
test_always (void)
{
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) found =
      g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));

  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    assert_property (found, always[i].name, 0, always[i].value);
  assert_property (found, "ExecStartEx", 0,
                   "[('tool', ['tool', '$HOME', '%i', ''], ['no-env-expand'])]");
  assert_property (found, "SystemCallFilter", 1,
                   "(false, ['io_uring_enter', 'io_uring_register', 'io_uring_setup'])");
  assert_property (found, "WorkingDirectory", 0, "'/var/lib/undersign-agents/x'");
  assert_property (found, "BindPaths", 0, NULL);
  assert_property (found, "RuntimeMaxUSec", 0, NULL);
}

/* What the agent's file says stands for what holds without it. */
static void
test_limits (void)
{
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) found = NULL;

  order->limits = (PolicyLaunch){ 4096, 7, 9, 60 };
  found = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_property (found, "MemoryMax", 0, "uint64 4096");
  assert_property (found, "MemorySwapMax", 0, "uint64 4096");
  assert_property (found, "MemoryMaxScale", 0, NULL);
  assert_property (found, "MemorySwapMaxScale", 0, NULL);
  assert_property (found, "TasksMax", 0, "uint64 7");
  assert_property (found, "CPUWeight", 0, "uint64 9");
  assert_property (found, "RuntimeMaxUSec", 0, "uint64 60000000");
}

static void
test_environment (void)
{
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) found = NULL;

  add_share (order, "/srv/a b", SHARE_READ_WRITE);
  found = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_property (found, "Environment", 0,
                   "['HOME=/var/lib/undersign-agents/x', 'SHELL=/bin/sh', 'UNDERSIGN_RUN=ticket-1',"
                   " 'GIT_CONFIG_COUNT=1', 'GIT_CONFIG_KEY_0=safe.directory',"
                   " 'GIT_CONFIG_VALUE_0=/srv/a b']");
}

static void
assert_claim (GVariant *properties, guint nth, const char *name, const char *text)
{
  g_autoptr (GVariant) value = find (properties, "SetCredential", nth);
  g_autoptr (GVariant) bytes = NULL;
  const char *found = NULL;
  gsize len = 0;
  const char *data = NULL;

  g_assert_cmpstr (g_variant_get_type_string (value), ==, "a(say)");
  g_assert_cmpuint (g_variant_n_children (value), ==, 1);
  g_variant_get_child (value, 0, "(&s@ay)", &found, &bytes);
  data = g_variant_get_fixed_array (bytes, &len, sizeof (char));
  g_assert_cmpstr (found, ==, name);
  g_assert_cmpmem (data, len, text, strlen (text));
}

/* A client that strips the environment of what it starts can't strip these. */
static void
test_claims (void)
{
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) one = NULL;
  g_autoptr (GVariant) both = NULL;
  g_autoptr (GVariant) none = NULL;

  one = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_claim (one, 0, "undersign.run", "ticket-1");
  assert_property (one, "SetCredential", 1, NULL);
  order->part = g_strdup ("licences");
  both = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_claim (both, 1, "undersign.part", "licences");
  g_clear_pointer (&order->part, g_free);
  g_clear_pointer (&order->run, g_free);
  none = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_property (none, "SetCredential", 0, NULL);
}

static void
test_shares (void)
{
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) found = NULL;

  for (guint i = SHARE_READ_ONLY; i <= SHARE_READ_WRITE_GIT; i++)
    {
      g_autofree char *path = g_strdup_printf ("/srv/%u", i);

      add_share (order, path, (ShareAccess) i);
    }
  found = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_property (found, "BindReadOnlyPaths", 0,
                   "[('/nowhere/srv/0', '/srv/0', false, uint64 0)]");
  assert_property (found, "BindPaths", 0,
                   "[('/nowhere/srv/1', '/srv/1', false, uint64 0), "
                   "('/nowhere/srv/2', '/srv/2', false, 0)]");
  assert_property (found, "ReadOnlyPaths", 0, "['-/srv/1/.git']");
}

/* A home that ProtectHome= does not know. */
static void
test_home (void)
{
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) found = NULL;

  order->hides_home = TRUE;
  found = g_variant_ref_sink (unit_properties (order, "launcher.service", "/dev/pts/7"));
  assert_property (found, "TemporaryFileSystem", 0, "[('/home/somebody', 'ro,mode=0755')]");
}

/* It is the agent's as any other of its commands, and has no terminal and no share. */
static void
test_closing (void)
{
  static const char *const not_its[] = { "BindsTo", "TTYPath", "StandardInput", NULL };
  g_autoptr (Order) order = order_new ();
  g_autoptr (GVariant) found = NULL;

  order->close_run = g_strdup ("0123456789abcdef0123456789abcdef");
  order->limits.runtime_max = 3600;
  add_share (order, "/srv/a", SHARE_READ_WRITE);
  found = g_variant_ref_sink (unit_closing_properties (order));
  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    {
      const gboolean has_not = g_strv_contains (not_its, always[i].name);

      if (g_strcmp0 (always[i].name, "KillMode") != 0)
        assert_property (found, always[i].name, 0, has_not ? NULL : always[i].value);
    }
  assert_property (found, "ExecStartEx", 0,
                   "[('/usr/bin/busctl', ['/usr/bin/busctl', '--system', 'call', 'org.undersign1', "
                   "'/org/undersign1', 'org.undersign1.Agent', 'CloseRun', 's', "
                   "'0123456789abcdef0123456789abcdef'], ['no-env-expand'])]");
  assert_property (found, "SystemCallFilter", 1,
                   "(false, ['io_uring_enter', 'io_uring_register', 'io_uring_setup'])");
  assert_property (found, "RuntimeMaxUSec", 1, "uint64 60000000");
  assert_property (found, "BindPaths", 0, NULL);
  assert_property (found, "AddRef", 0, NULL);
}

static void
test_path (void)
{
  g_autofree char *path = unit_path ("undersign-launch-0f.service");

  g_assert_cmpstr (path, ==, "/org/freedesktop/systemd1/unit/undersign_2dlaunch_2d0f_2eservice");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/launcher-unit/always", test_always);
  g_test_add_func ("/launcher-unit/limits", test_limits);
  g_test_add_func ("/launcher-unit/environment", test_environment);
  g_test_add_func ("/launcher-unit/claims", test_claims);
  g_test_add_func ("/launcher-unit/shares", test_shares);
  g_test_add_func ("/launcher-unit/home", test_home);
  g_test_add_func ("/launcher-unit/closing", test_closing);
  g_test_add_func ("/launcher-unit/path", test_path);
  return g_test_run ();
}
