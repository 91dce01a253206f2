/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A broker in hostile hands, against the installed executor: run by tests/system, as root in the
 * test namespace, since it is several people there: the user undersign, the administrator, and
 * whoever copies an old ledger back.  Without arguments it runs the cases and prints TAP;
 * `--write-policy` writes the policy that they need.
 */
#include "config.h"

#include "service/base/fd.h"
#include "service/base/host.h"
#include "tests/executor/hostile.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET UNDERSIGN_RUNTIME_DIR "/executor.sock"
#define LEDGER UNDERSIGN_LEDGER_DIR "/ledger.db"
#define COPY UNDERSIGN_LEDGER_DIR "/copy.db"
#define MARKER "/var/lib/undersign-null/marker"
#define TIMEOUT 60

static Client client;
static Hostile hostile;

static uid_t
uid_of (const char *name)
{
  const struct passwd *entry = getpwnam (name);

  if (entry == NULL)
    g_error ("there is no user %s", name);
  return entry->pw_uid;
}

/* The peer's uid is that of the moment of connecting. */
static int
broker_connect (Client *self, gboolean admin, GError **error)
{
  int sock = -1;

  if (!admin)
    g_assert_cmpint (seteuid (uid_of ("undersign")), ==, 0);
  sock = handover_connect (SOCKET, TIMEOUT, error);
  g_assert_cmpint (seteuid (0), ==, 0);
  return sock;
}

static guint
executed (gpointer data)
{
  g_autofree char *content = NULL;
  guint lines = 0;

  if (!g_file_get_contents (MARKER, &content, NULL, NULL))
    return 0;
  for (const char *c = content; *c != '\0'; c++)
    lines += *c == '\n' ? 1 : 0;
  return lines;
}

static void
backup (gpointer data)
{
  sqlite3 *from = NULL;
  sqlite3 *to = NULL;
  sqlite3_backup *copy = NULL;

  g_unlink (COPY);
  g_assert_cmpint (sqlite3_open_v2 (LEDGER, &from, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_busy_timeout (from, 60000), ==, SQLITE_OK); /* its log is being read back */
  g_assert_cmpint (sqlite3_open (COPY, &to), ==, SQLITE_OK);
  copy = sqlite3_backup_init (to, "main", from, "main");
  g_assert_nonnull (copy);
  g_assert_cmpint (sqlite3_backup_step (copy, -1), ==, SQLITE_DONE);
  g_assert_cmpint (sqlite3_backup_finish (copy), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (from), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (to), ==, SQLITE_OK);
}

static void
restore (gpointer data)
{
  uid_t owner = uid_of ("undersign-executor");
  g_autofree char *state = NULL;

  g_assert_cmpint (chown (COPY, owner, (gid_t) -1), ==, 0);
  g_assert_cmpint (g_chmod (COPY, 0600), ==, 0);
  g_unlink (LEDGER "-wal");
  g_unlink (LEDGER "-shm");
  g_assert_cmpint (g_rename (COPY, LEDGER), ==, 0);
  /* the worker that waits has opened the file before: it is used up here */
  state = client_state (&client, "00000000000000000000000000000000");
  g_usleep (500 * 1000);
}

static void
test_case (gconstpointer data)
{
  hostile_run (&hostile, GPOINTER_TO_UINT (data));
}

static void
file_write (const char *path, const char *text)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, &error);
  g_assert_no_error (error);
}

static int
policy_write (void)
{
  g_autofree char *action = hostile_action (MARKER);

  file_write (UNDERSIGN_CONFIG_DIR "/actions/" HOSTILE_ACTION ".action", action);
  file_write (UNDERSIGN_CONFIG_DIR "/rules/hostile.rule", hostile_rules);
  file_write (UNDERSIGN_CONFIG_DIR "/agents/offboarding.agent",
              "[Agent]\nSummary=Offboarding agent\nUser=agent-offboarding\nOwner=hr.jones\n"
              "Parts=main licences\nInitiators=hr.kim\n");
  file_write (UNDERSIGN_CONFIG_DIR "/agents/other.agent",
              "[Agent]\nSummary=Another agent\nUser=agent-other\nOwner=alice\n");
  return 0;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  int status = 1;

  if (argc == 2 && strcmp (argv[1], "--write-policy") == 0)
    return policy_write ();

  g_test_init (&argc, &argv, NULL);
  client.connect = broker_connect;
  client.host = host_id (&error);
  g_assert_no_error (error);
  client.agent_uid = (guint32) uid_of ("agent-offboarding");
  hostile = (Hostile){ .client = &client,
                       .other_uid = (guint32) uid_of ("agent-other"),
                       .owner_uid = (guint32) uid_of ("hr.jones"),
                       .initiator_uid = (guint32) uid_of ("hr.kim"),
                       .lead = client_enrol (&client, "it.lead", uid_of ("it.lead")),
                       .executed = executed,
                       .backup = backup,
                       .restore = restore };
  for (guint i = 0; i < hostile_count (); i++)
    {
      g_autofree char *path = g_strconcat ("/hostile-broker/", hostile_name (i), NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_case);
    }
  status = g_test_run ();
  test_key_free (hostile.lead);
  g_free (client.host);
  return status;
}
