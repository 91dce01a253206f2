/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits count what was consumed, whatever became of it: done, failed, executing and unknown.
 * They count by action and agent uid (or all agents) and, with `per`, by the value of an argument:
 * each item of a list is counted for itself, so that adding a recipient does not start a new count,
 * and an e-mail address without regard to case, so that another spelling does not either.
 * A `per` limit counts from the first request that it applied to.
 *
 * The period is measured in wall time, since it outlives a boot.  A clock that was set back must
 * not forgive anything: an entry from the future counts.  A clock that runs ahead forgives early;
 * only root can set it.
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"

#include <string.h>

#define USAGE_TYPE "application/vnd.undersign.usage.v1+json"

/* value_folded: as it is counted.  A domain is lower-case in a record, the part before it is as it was
 * given; hardly a mail system tells two by their case.  (transfer full) */
static JsonTree *
value_folded (const char *type, const JsonTree *value)
{
  g_autofree char *lower = NULL;

  if (json_tree_kind (value) != JSON_TREE_STRING ||
      (strcmp (type, "email") != 0 && strcmp (type, "email-list") != 0))
    return json_tree_copy (value);
  lower = g_ascii_strdown (json_tree_string (value), -1);
  return json_tree_new_string (lower);
}

static void
value_digest (const char *type, const JsonTree *value, guint8 out_digest[PAE_DIGEST_SIZE])
{
  g_autoptr (JsonTree) array = json_tree_new_array ();
  g_autoptr (GBytes) bytes = NULL;

  json_tree_append (array, value_folded (type, value));
  bytes = json_tree_write (array);
  pae_sha256 (USAGE_TYPE, bytes, out_digest);
}

/* value_item: what is counted of @value: its items, or itself where it is no list or an empty one.
 */
static const JsonTree *
value_item (const JsonTree *value, guint i)
{
  if (json_tree_kind (value) == JSON_TREE_ARRAY && json_tree_length (value) > 0)
    return json_tree_item (value, i);
  return i == 0 ? value : NULL;
}

static gint64
limit_since (const PolicyLimit *limit)
{
  gint64 now = clock_wall ();

  if (limit->period >= (guint64) now)
    return 0;
  return now - (gint64) limit->period;
}

static gboolean
limit_refuse (const PolicyLimit *limit, guint64 used, const Record *record, GError **error)
{
  if (used < limit->count)
    return TRUE;
  return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                       "%s: at most %" G_GUINT64_FORMAT " in %" G_GUINT64_FORMAT "s%s%s%s",
                       record_action_id (record), limit->count, limit->period,
                       limit->per != NULL ? " for one value of " : "",
                       limit->per != NULL ? limit->per : "",
                       limit->all_agents ? ", all agents together" : "");
}

const char sql_limit[] = "SELECT count (*) FROM request WHERE consumed = 1 AND action = ?1 "
                         "AND created > ?2 AND (?3 OR agent = ?4)";

static gboolean
limit_check_plain (Ledger *ledger, const Record *record, const PolicyLimit *limit, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  guint64 used = 0;

  query = query_new (ledger, error, sql_limit, "siii", record_action_id (record),
                     limit_since (limit),
                     (gint64) (limit->all_agents ? 1 : 0), (gint64) record_agent_uid (record));
  return query != NULL && query_count (ledger, query, &used, error) &&
         limit_refuse (limit, used, record, error);
}

static gboolean
limit_check_value (Ledger *ledger,
                   const Record *record,
                   const PolicyLimit *limit,
                   const char *type,
                   const JsonTree *item,
                   GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  guint8 digest[PAE_DIGEST_SIZE];
  guint64 used = 0;

  value_digest (type, item, digest);
  query = query_new (ledger, error,
                     "SELECT count (*) FROM usage JOIN request ON usage.request = request.id "
                     "WHERE request.consumed = 1 AND request.action = ?1 AND request.created > ?2 "
                     "AND (?3 OR request.agent = ?4) AND usage.argument = ?5 AND usage.value = ?6",
                     "siiisd", record_action_id (record), limit_since (limit),
                     (gint64) (limit->all_agents ? 1 : 0), (gint64) record_agent_uid (record),
                     limit->per, digest);
  return query != NULL && query_count (ledger, query, &used, error) &&
         limit_refuse (limit, used, record, error);
}

static gboolean
limit_check (Ledger *ledger, const Record *record, const PolicyLimit *limit, GError **error)
{
  const JsonTree *value = NULL;
  const JsonTree *item = NULL;
  const char *type = NULL;

  if (limit->per == NULL)
    return limit_check_plain (ledger, record, limit, error);

  value = record_argument (record, limit->per, &type);
  if (value == NULL)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "a limit per %s cannot be counted: there is no such argument", limit->per);
  for (guint i = 0; (item = value_item (value, i)) != NULL; i++)
    if (!limit_check_value (ledger, record, limit, type, item, error))
      return FALSE;
  return TRUE;
}

gboolean
ledger_check_limits (Ledger *ledger, const Record *record, GPtrArray *limits, GError **error)
{
  for (guint i = 0; i < limits->len; i++)
    if (!limit_check (ledger, record, g_ptr_array_index (limits, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
usage_record (Ledger *ledger, const Consumption *consumption, const char *argument, GError **error)
{
  const char *type = NULL;
  const JsonTree *value = record_argument (consumption->record, argument, &type);
  const JsonTree *item = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  for (guint i = 0; (item = value_item (value, i)) != NULL; i++)
    {
      value_digest (type, item, digest);
      if (!query_run (ledger, error, NULL,
                      "INSERT INTO usage (request, argument, value) VALUES (?, ?, ?) "
                      "ON CONFLICT DO NOTHING",
                      "ssd", consumption->request, argument, digest))
        return FALSE;
    }
  return TRUE;
}

gboolean
limits_record (Transaction *transaction, const Consumption *consumption, GError **error)
{
  for (guint i = 0; i < consumption->limits->len; i++)
    {
      const PolicyLimit *limit = g_ptr_array_index (consumption->limits, i);

      if (limit->per != NULL && !usage_record (transaction->ledger, consumption, limit->per, error))
        return FALSE;
    }
  return TRUE;
}
