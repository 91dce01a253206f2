/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables.  A new file gets them in one transaction; an existing one must hold these tables and
 * nothing else, text for text: no trigger, no view and no index that somebody added can be there.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"

#define SCHEMA_APPLICATION 0x55736731 /* "Usg1" */
#define SCHEMA_VERSION 3
#define SET_VERSION "PRAGMA user_version = " G_STRINGIFY (SCHEMA_VERSION)

/* In the order of their names, which is the order of the comparison. */
static const char *const schema[] = {
  "CREATE TABLE answer (\n"
  "  id INTEGER PRIMARY KEY,\n"
  "  request TEXT NOT NULL,\n"
  "  digest BLOB NOT NULL CHECK (length (digest) = 32),\n"
  "  decision TEXT NOT NULL CHECK (decision IN ('approve', 'deny')),\n"
  "  name TEXT NOT NULL,\n"
  "  uid INTEGER NOT NULL,\n"
  "  credential BLOB NOT NULL REFERENCES passkey (credential),\n"
  "  statement BLOB NOT NULL,\n"
  "  nonce TEXT NOT NULL,\n"
  "  issued TEXT NOT NULL,\n"
  "  expires TEXT NOT NULL,\n"
  "  client_data BLOB NOT NULL,\n"
  "  auth_data BLOB NOT NULL,\n"
  "  signature BLOB NOT NULL,\n"
  "  counter INTEGER NOT NULL,\n"
  "  used INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)),\n"
  "  UNIQUE (request, digest, decision, credential)\n"
  ") STRICT",

  "CREATE TABLE audit (\n"
  "  seq INTEGER PRIMARY KEY,\n"
  "  entry BLOB NOT NULL,\n"
  "  hash BLOB NOT NULL CHECK (length (hash) = 32),\n"
  "  request TEXT\n"
  ") STRICT",

  "CREATE INDEX audit_request ON audit (request, seq) WHERE request IS NOT NULL",

  "CREATE TABLE meta (\n"
  "  id INTEGER PRIMARY KEY CHECK (id = 1),\n"
  "  ledger TEXT NOT NULL,\n"
  "  halted INTEGER NOT NULL CHECK (halted IN (0, 1)),\n"
  "  why TEXT NOT NULL,\n"
  "  policy BLOB CHECK (length (policy) = 32),\n"
  "  key BLOB CHECK (length (key) = 32)\n"
  ") STRICT",

  "CREATE TABLE passkey (\n"
  "  id INTEGER PRIMARY KEY,\n"
  "  credential BLOB NOT NULL UNIQUE,\n"
  "  name TEXT NOT NULL,\n"
  "  uid INTEGER NOT NULL CHECK (uid > 0),\n"
  "  kind TEXT NOT NULL,\n"
  "  algorithm INTEGER NOT NULL,\n"
  "  public_key BLOB NOT NULL,\n"
  "  rp TEXT NOT NULL,\n"
  "  origin TEXT NOT NULL,\n"
  "  label TEXT NOT NULL,\n"
  "  aaguid BLOB NOT NULL CHECK (length (aaguid) = 16),\n"
  "  backup_eligible INTEGER NOT NULL CHECK (backup_eligible IN (0, 1)),\n"
  "  counter INTEGER NOT NULL CHECK (counter BETWEEN 0 AND 4294967295),\n"
  "  enrolled INTEGER NOT NULL,\n"
  "  state TEXT NOT NULL CHECK (state IN ('active', 'revoked', 'suspect'))\n"
  ") STRICT",

  "CREATE TABLE request (\n"
  "  id TEXT NOT NULL PRIMARY KEY,\n"
  "  consumed INTEGER NOT NULL CHECK (consumed IN (0, 1)),\n"
  "  outcome TEXT CHECK (outcome IN ('done', 'failed', 'unknown')),\n"
  "  why TEXT NOT NULL,\n"
  "  \"by\" TEXT NOT NULL,\n"
  "  reason TEXT NOT NULL,\n"
  "  result TEXT NOT NULL DEFAULT '',\n"
  "  record BLOB NOT NULL,\n"
  "  digest BLOB CHECK (length (digest) = 32),\n"
  "  intent BLOB CHECK (length (intent) = 32),\n"
  "  agent INTEGER,\n"
  "  action TEXT,\n"
  "  successor TEXT,\n"
  "  created INTEGER NOT NULL,\n"
  "  pruned INTEGER NOT NULL DEFAULT 0 CHECK (pruned IN (0, 1)),\n"
  "  CHECK ((consumed = 1) = (why = '')),\n"
  "  CHECK (consumed = 1 OR outcome IS NULL),\n"
  "  CHECK (consumed = 0 OR (intent IS NOT NULL AND agent IS NOT NULL AND action IS NOT NULL))\n"
  ") STRICT, WITHOUT ROWID",

  /* all that a limit counts by, `consumed` too: without it SQLite reads the row of each entry */
  "CREATE INDEX request_action ON request (action, created, agent, consumed) WHERE consumed = 1",

  "CREATE INDEX request_intent ON request (intent) WHERE consumed = 1",

  "CREATE TABLE usage (\n"
  "  request TEXT NOT NULL REFERENCES request (id),\n"
  "  argument TEXT NOT NULL,\n"
  "  value BLOB NOT NULL CHECK (length (value) = 32),\n"
  "  PRIMARY KEY (argument, value, request)\n"
  ") STRICT, WITHOUT ROWID",
};

static gboolean
schema_number (Ledger *ledger, const char *sql, guint64 *out_value, GError **error)
{
  g_autoptr (sqlite3_stmt) query = query_new (ledger, error, sql, "");

  return query != NULL && query_count (ledger, query, out_value, error);
}

static gboolean
schema_create (Ledger *ledger, GError **error)
{
  g_autofree char *id = random_id ();
  JsonTree *details = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (schema); i++)
    if (!query_run (ledger, error, NULL, schema[i], ""))
      return FALSE;

  G_STATIC_ASSERT (SCHEMA_APPLICATION == 1433626417);
  if (!query_run (ledger, error, NULL, "PRAGMA application_id = 1433626417", "") ||
      !query_run (ledger, error, NULL, SET_VERSION, "") ||
      !query_run (ledger, error, NULL,
                  "INSERT INTO meta (id, ledger, halted, why) VALUES (1, ?, 0, '')", "s", id))
    return FALSE;

  details = json_tree_new_object ();
  json_tree_add_string (details, "ledger", id);
  return audit_append (ledger, AUDIT_EXECUTOR, "created", details, error);
}

static gboolean
schema_compare (Ledger *ledger, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;
  gsize n = 0;

  query = query_new (ledger, error,
                     "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name", "");
  if (query == NULL)
    return FALSE;
  while (query_next (ledger, query, &row, error))
    {
      g_autofree char *sql = NULL;

      if (!row)
        return n == G_N_ELEMENTS (schema) ||
               us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                             "a table is missing in the file");
      sql = query_text (query, 0);
      if (n == G_N_ELEMENTS (schema) || strcmp (sql, schema[n]) != 0)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                             "the tables of the file are not those of this version");
      n++;
    }
  return FALSE;
}

static gboolean
schema_load_id (Ledger *ledger, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  gboolean row = FALSE;

  query = query_new (ledger, error, "SELECT ledger FROM meta WHERE id = 1", "");
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  if (row)
    ledger->id = query_text (query, 0);
  if (!row || !id_is_valid (ledger->id))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER, "the file has no id");
  return TRUE;
}

gboolean
schema_touch (Ledger *ledger, GError **error)
{
  return query_run (ledger, error, NULL, SET_VERSION, "");
}

/* schema_ensure: under the ledger's lock.  An empty database is made ours; any other must be. */
gboolean
schema_ensure (Ledger *ledger, GError **error)
{
  guint64 application = 0;
  guint64 version = 0;
  guint64 tables = 0;

  if (!schema_number (ledger, "PRAGMA application_id", &application, error) ||
      !schema_number (ledger, "PRAGMA user_version", &version, error) ||
      !schema_number (ledger, "SELECT count (*) FROM sqlite_schema", &tables, error))
    return FALSE;

  if (application == 0 && version == 0 && tables == 0)
    {
      if (!query_run (ledger, error, NULL, "BEGIN IMMEDIATE", ""))
        return FALSE;
      if (!schema_create (ledger, error) || !query_run (ledger, error, NULL, "COMMIT", ""))
        {
          query_run (ledger, NULL, NULL, "ROLLBACK", "");
          return FALSE;
        }
    }
  else if (application != SCHEMA_APPLICATION || version != SCHEMA_VERSION)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_LEDGER,
                         "the file is not a ledger of version %d", SCHEMA_VERSION);

  return schema_compare (ledger, error) && schema_load_id (ledger, error);
}
