/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of members: it agrees with the interface descriptions member by member, and from each
 * role's connection every call is answered as matrix.json says.
 */
#include "service/broker/members.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/org.undersign1.h"
#include "dbus/reason.h"
#include "tests/broker/caller.h"
#include "tests/broker/matrix.h"
#include "tests/broker/sample.h"

#include <string.h>

static const GDBusInterfaceInfo *const infos[] = {
  &us_org_undersign1_agent_interface,
  &us_org_undersign1_approver_interface,
  &us_org_undersign1_request_interface,
};

static char *
signature_of (const GDBusMethodInfo *method)
{
  GString *signature = g_string_new (NULL);

  for (guint i = 0; method->in_args != NULL && method->in_args[i] != NULL; i++)
    g_string_append (signature, method->in_args[i]->signature);
  return g_string_free (signature, FALSE);
}

static void
test_table (void)
{
  guint n = 1; /* Introspect */
  guint rows = 0;

  for (guint i = 0; i < G_N_ELEMENTS (infos); i++)
    for (guint j = 0; infos[i]->methods[j] != NULL; j++, n++)
      {
        const Member *member = member_find (infos[i]->name, infos[i]->methods[j]->name);
        g_autofree char *signature = signature_of (infos[i]->methods[j]);

        g_test_message ("%s", infos[i]->methods[j]->name);
        g_assert_nonnull (member);
        g_assert_cmpstr (member->signature, ==, signature);
        g_assert_cmpint (member->role, !=, ROLE_NOBODY);
        g_assert_cmpint (member->on_request, ==, strcmp (infos[i]->name, US_INTERFACE_REQUEST) == 0);
        g_assert_nonnull (member->handle);
        /* Whatever takes or is a request says whose it must be. */
        g_assert_cmpint (member->about != ABOUT_NOTHING, ==,
                         member->on_request || signature[0] == 'o');
      }
  while (members[rows].interface != NULL)
    rows++;
  g_assert_cmpuint (rows, ==, n);
  g_assert_null (member_find (US_INTERFACE_AGENT, "GetCard"));
  g_assert_null (member_find (US_INTERFACE_AGENT, ""));
  g_assert_null (member_find ("", "GetInfo"));
  g_assert_null (member_find ("org.freedesktop.DBus.Properties", "Get"));
}

static void
test_matrix (Bed *bed, gconstpointer config)
{
  static const char *const roles[] = { MATRIX_ROLES };
  static const uid_t uids[] = { FAKE_AGENT, FAKE_OTHER_AGENT, FAKE_KIM, FAKE_LEAD, 65534, 0 };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *file = g_build_filename (g_getenv ("UNDERSIGN_TEST_DIR"), "matrix.json", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      g_autoptr (Caller) caller = bed_caller (bed, uids[i]);
      g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
      g_autoptr (GPtrArray) faults = matrix_check (caller->connection, file, roles[i], path);

      for (guint j = 0; j < faults->len; j++)
        g_test_message ("%s", (const char *) faults->pdata[j]);
      g_assert_cmpuint (faults->len, ==, 0);
    }
  g_assert_cmpuint (fake_ran (bed->fake), ==, 0);
  g_assert_cmpuint (fake_answered (bed->fake), ==, 0);
}

/* Who is not known to the bus is nobody: not the first uid, and not root. */
static void
test_unknown_sender (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) caller = bed_caller (bed, FAKE_AGENT);
  g_autoptr (GError) error = NULL;

  g_hash_table_remove_all (bed->uids);
  g_assert_null (caller_call (caller, US_OBJECT_PATH, US_INTERFACE_AGENT, "GetInfo", NULL, &error));
  g_assert_error (error, US_ERROR, US_ERROR_NOT_AGENT);
}

static gboolean
no_calls (gpointer data)
{
  const Bed *bed = data;

  return g_hash_table_size (bed->broker->calls) == 0;
}

typedef struct
{
  Caller *caller; /* who asks */
  const char *name;
} Gone;

static gboolean
is_gone (gpointer data)
{
  const Gone *gone = data;
  g_autoptr (GVariant) reply = g_dbus_connection_call_sync (
      gone->caller->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
      "org.freedesktop.DBus", "NameHasOwner", g_variant_new ("(s)", gone->name),
      G_VARIANT_TYPE ("(b)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);
  gboolean owned = TRUE;

  g_assert_nonnull (reply);
  g_variant_get (reply, "(b)", &owned);
  return !owned;
}

/* A uid is kept as long as the connection, and not longer. */
static void
test_left (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) first = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (first, "ticket");
  g_autofree char *name =
      g_strdup (g_dbus_connection_get_unique_name (first->connection));
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autoptr (GVariant) info = NULL;
  g_autoptr (GError) error = NULL;
  Gone gone = { other, name };
  Pending left = { 0 };

  /* It leaves with a call under way. */
  caller_begin (first, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                mail_parameters (run, "a@example.com", NULL), &left);
  g_dbus_connection_flush_sync (first->connection, NULL, NULL);
  g_clear_pointer (&first, caller_free);
  pending_wait (&left);
  pending_clear (&left);
  /* The bus has passed the call on before it tells anybody that the caller is gone, and the daemon
   * has both of them before a call that follows. */
  bed_wait (is_gone, &gone);
  info = caller_agent (other, "GetInfo", NULL, &error);
  g_assert_no_error (error);
  bed_wait (no_calls, bed);
}

/* In the thread that reads. */
static GDBusMessage *
count_refusal (GDBusConnection *connection, GDBusMessage *message, gboolean incoming, gpointer data)
{
  if (incoming && g_dbus_message_get_message_type (message) == G_DBUS_MESSAGE_TYPE_ERROR)
    g_atomic_int_inc ((int *) data);
  return message;
}

/* More calls than one connection may have waiting are refused, and nobody else notices. */
static void
test_flood (Bed *bed, gconstpointer config)
{
  enum { N = 3 * BUS_CALLS_MAX };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) other = bed_caller (bed, FAKE_OTHER_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree Pending *pending = g_new0 (Pending, N);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) info = NULL;
  gint64 end = g_get_monotonic_time () + BED_PATIENCE * G_USEC_PER_SEC;
  guint refused = 0;
  int n_errors = 0;

  g_dbus_connection_add_filter (agent->connection, count_refusal, &n_errors, NULL);
  for (guint i = 0; i < N; i++)
    caller_begin (agent, US_OBJECT_PATH, US_INTERFACE_AGENT, "ListRequests", NULL, &pending[i]);
  g_dbus_connection_flush_sync (agent->connection, NULL, NULL);
  /* The daemon's main loop stands still meanwhile: nothing is answered, only refused. */
  while (g_atomic_int_get (&n_errors) < N - BUS_CALLS_MAX && g_get_monotonic_time () < end)
    g_usleep (1000);
  info = caller_call (other, US_OBJECT_PATH, US_INTERFACE_AGENT, "GetInfo", NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    {
      pending_wait (&pending[i]);
      if (pending[i].error != NULL)
        {
          g_assert_error (pending[i].error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
          refused++;
        }
      pending_clear (&pending[i]);
    }
  g_assert_cmpuint (refused, ==, N - BUS_CALLS_MAX);
  g_assert_true (no_calls (bed));
  g_free (caller_submit (agent, run, "a@example.com", NULL));
}

/* A uid without anything can't make the executor work: it is asked once in two seconds at most. */
static void
test_nobody_costs_nothing (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) nobody = bed_caller (bed, 65534);
  guint before = fake_asked (bed->fake);
  gint64 start = g_get_monotonic_time ();
  gint64 seconds = 0;

  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (caller_call (nobody, US_OBJECT_PATH, US_INTERFACE_APPROVER, "GetCard",
                                  g_variant_new ("(o)", "/"), &error));
      g_assert_error (error, US_ERROR, US_ERROR_NOT_APPROVER);
    }
  seconds = (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  g_assert_cmpint (fake_asked (bed->fake) - before, <=, 2 + seconds / 2);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);
}

static void
test_paths (Bed *bed, gconstpointer config)
{
  static const char *const bad[] = {
    "/",
    "/org/undersign1/",
    "/org/undersign1/request",
    "/org/undersign1/request/x",
    "/org/undersign1/Agent",
  };
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);
  g_autofree char *deep = g_strnfill (4000, 'a');
  g_autofree char *long_path = g_strconcat ("/", deep, NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i <= G_N_ELEMENTS (bad); i++)
    {
      const char *there = i < G_N_ELEMENTS (bad) ? bad[i] : long_path;

      if (!g_variant_is_object_path (there))
        continue;
      g_assert_null (caller_call (agent, there, US_INTERFACE_AGENT, "GetInfo", NULL, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
      g_clear_error (&error);
      g_assert_null (caller_call (agent, there, US_INTERFACE_REQUEST, "GetState", NULL, &error));
      g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
      g_clear_error (&error);
    }
  g_assert_null (caller_call (agent, path, US_INTERFACE_AGENT, "GetInfo", NULL, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
}

static void
test_introspect (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autofree char *absent = request_path_of (SAMPLE_ID);
  const char *const paths[] = { US_OBJECT_PATH, absent };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) reply = caller_call (
          agent, paths[i], "org.freedesktop.DBus.Introspectable", "Introspect", NULL, &error);
      g_autoptr (GDBusNodeInfo) node = NULL;
      const char *xml = NULL;

      g_assert_no_error (error);
      g_variant_get (reply, "(&s)", &xml);
      node = g_dbus_node_info_new_for_xml (xml, &error);
      g_assert_no_error (error);
      g_assert_true (node->nodes == NULL || node->nodes[0] == NULL);
      g_assert_nonnull (
          g_dbus_node_info_lookup_interface (node, i == 0 ? US_INTERFACE_AGENT
                                                          : US_INTERFACE_REQUEST));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  g_test_add_func ("/members/table", test_table);
  bed_test ("/members/matrix", NULL, test_matrix);
  bed_test ("/members/unknown-sender", NULL, test_unknown_sender);
  bed_test ("/members/left", NULL, test_left);
  bed_test ("/members/flood", NULL, test_flood);
  bed_test ("/members/nobody-costs-nothing", NULL, test_nobody_costs_nothing);
  bed_test ("/members/paths", NULL, test_paths);
  bed_test ("/members/introspect", NULL, test_introspect);
  return g_test_run ();
}
