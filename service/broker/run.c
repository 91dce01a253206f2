/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The open runs.  A run is found by its id and the uid that it belongs to, or to be closed by that
 * of its initiator, never by its id alone; its initiator is fixed when it is opened.
 */
#include "service/broker/run.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/record/type.h"

#include <string.h>

/* How stale the kept time of use may be: not every Submit() is worth a write. */
#define USED_GRAIN (15 * 60)

struct Runs
{
  const RunHooks *hooks;
  GHashTable *by_id; /* id → Run */
};

void
run_free (Run *run)
{
  if (run == NULL)
    return;
  g_free (run->id);
  g_free (run->label);
  g_free (run->part);
  g_free (run->initiator);
  g_free (run);
}

Runs *
runs_new (const RunHooks *hooks)
{
  Runs *runs = g_new0 (Runs, 1);

  runs->hooks = hooks;
  runs->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) run_free);
  return runs;
}

void
runs_free (Runs *runs)
{
  if (runs == NULL)
    return;
  g_hash_table_unref (runs->by_id);
  g_free (runs);
}

void
runs_restore (Runs *runs, Run *run)
{
  run->saved = run->used;
  g_hash_table_replace (runs->by_id, run->id, run);
}

static gboolean
run_is_idle (const Run *run, gint64 now)
{
  return now - run->used > RUN_IDLE_MAX;
}

static gboolean
run_was_opened_by (const Run *run, uid_t uid)
{
  return run->initiator[0] != '\0' && run->initiator_uid == uid;
}

/*
 * The open run of this name, and how many of the agent's were opened by it, or by the one
 * @initiator: nobody takes the room of another.
 */
static Run *
runs_find (Runs *runs,
           uid_t uid,
           const char *label,
           const char *part,
           const uid_t *initiator,
           gint64 now,
           guint *out_count)
{
  GHashTableIter iter;
  gpointer value = NULL;
  Run *found = NULL;
  guint count = 0;

  g_hash_table_iter_init (&iter, runs->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Run *run = value;

      if (run->uid != uid || run_is_idle (run, now))
        continue;
      if (initiator != NULL ? run_was_opened_by (run, *initiator) : run->initiator[0] == '\0')
        count++;
      if (strcmp (run->label, label) == 0 && strcmp (run->part, part) == 0)
        found = run;
    }
  *out_count = count;
  return found;
}

static gboolean
check_label (const char *label, GError **error)
{
  g_autoptr (JsonTree) value = json_tree_new_string (label);

  if (label[0] == '\0')
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "label is empty");
  if (strlen (label) > RUN_LABEL_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "label has more than %d bytes", RUN_LABEL_MAX);
  return type_check (type_find ("line"), "label", value, error);
}

/* Whether @run may be had by who asks; one that the agent opened gives way to an initiator. */
static gboolean
run_is_for (const Run *run, const char *initiator, uid_t initiator_uid)
{
  if (initiator == NULL)
    return TRUE;
  return strcmp (run->initiator, initiator) == 0 && run->initiator_uid == initiator_uid;
}

static Run *
run_add (Runs *runs, Run *run, GError **error)
{
  if (!runs->hooks->save (run, runs->hooks->data, error))
    {
      run_free (run);
      return NULL;
    }
  g_hash_table_insert (runs->by_id, run->id, run);
  return run;
}

const char *
runs_open (Runs *runs,
           uid_t uid,
           const char *label,
           const char *part,
           const char *initiator,
           uid_t initiator_uid,
           gint64 now,
           GError **error)
{
  guint count = 0;
  Run *run = NULL;

  if (!check_label (label, error))
    return NULL;

  run = runs_find (runs, uid, label, part, initiator != NULL ? &initiator_uid : NULL, now, &count);
  if (run != NULL && run_is_for (run, initiator, initiator_uid))
    {
      runs_use (runs, uid, run->id, now, NULL);
      return run->id;
    }
  if (run != NULL && run->initiator[0] != '\0')
    {
      us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_WRONG_STATE,
                    "another person opened a run with this label and part");
      return NULL;
    }
  if (count >= RUNS_MAX)
    {
      us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                    "%d runs of this agent are open that the caller opened", RUNS_MAX);
      return NULL;
    }
  if (run != NULL && !runs_close (runs, uid, run->id, error))
    return NULL;

  run = g_new0 (Run, 1);
  run->id = random_id ();
  run->uid = uid;
  run->label = g_strdup (label);
  run->part = g_strdup (part);
  run->initiator = g_strdup (initiator != NULL ? initiator : "");
  run->initiator_uid = initiator != NULL ? initiator_uid : 0;
  run->used = now;
  run->saved = now;
  run = run_add (runs, run, error);
  return run != NULL ? run->id : NULL;
}

static Run *
runs_owned (Runs *runs, uid_t uid, const char *id, GError **error)
{
  Run *run = g_hash_table_lookup (runs->by_id, id);

  if (run == NULL || run->uid != uid)
    {
      us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, "there is no such open run");
      return NULL;
    }
  return run;
}

const Run *
runs_use (Runs *runs, uid_t uid, const char *id, gint64 now, GError **error)
{
  Run *run = runs_owned (runs, uid, id, error);

  if (run == NULL)
    return NULL;
  if (run_is_idle (run, now))
    {
      us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND,
                    "the run was not used for a day and is closed");
      return NULL;
    }

  run->used = now;
  if (now - run->saved > USED_GRAIN && runs->hooks->save (run, runs->hooks->data, NULL))
    run->saved = now;
  return run;
}

gboolean
runs_has_opener (const Runs *runs, uid_t uid)
{
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, runs->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (run_was_opened_by (value, uid))
      return TRUE;
  return FALSE;
}

gboolean
runs_close (Runs *runs, uid_t uid, const char *id, GError **error)
{
  Run *run = g_hash_table_lookup (runs->by_id, id);

  if (run == NULL || !run_was_opened_by (run, uid))
    run = runs_owned (runs, uid, id, error);
  if (run == NULL || !runs->hooks->drop (run->id, runs->hooks->data, error))
    return FALSE;
  g_hash_table_remove (runs->by_id, run->id);
  return TRUE;
}

void
runs_expire (Runs *runs, gint64 now)
{
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, runs->by_id);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Run *run = value;

      if (run_is_idle (run, now) && runs->hooks->drop (run->id, runs->hooks->data, NULL))
        g_hash_table_iter_remove (&iter);
    }
}
