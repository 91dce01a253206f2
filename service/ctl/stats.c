/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl stats: what the audit log tells in numbers: how requests ended, and how long each
 * person took to answer.  Whoever answers within seconds has hardly read the card, and it says so.
 * A span is whole seconds up to the longest lifetime, so that memory does not grow with the log.
 */
#include "service/ctl/ctl.h"

#include "service/base/chain.h"
#include "service/base/clock.h"
#include "service/base/shape.h"
#include "service/ctl/log.h"
#include "service/ctl/output.h"
#include "service/record/rows.h"

#include <stdio.h>
#include <string.h>

#define WAITED_MAX (24 * 60 * 60)
#define QUICK_SECONDS 5
#define QUICK_ANSWERS 3 /* one that was quick may be luck */

static char *since = NULL;
static char *file = NULL;

static const GOptionEntry stats_options[] = {
  { "since", 0, 0, G_OPTION_ARG_STRING, &since, "Count from 2026-11-30 or 2026-11-30T09:00:00Z on",
    "DATE" },
  { "file", 0, 0, G_OPTION_ARG_FILENAME, &file, "An export, instead of the service", "FILE" },
  G_OPTION_ENTRY_NULL,
};

static const char *const counted[] = { "approved",  "denied",     "refused",     "consumed", "done",
                                       "failed",    "unknown",    "resolved",    "expired",
                                       "withdrawn", "superseded", "unreachable", NULL };

typedef struct
{
  guint64 answers;
  GHashTable *spans; /* seconds → how many */
} Person;

static void
person_free (Person *person)
{
  g_hash_table_unref (person->spans);
  g_free (person);
}

typedef struct
{
  Chain chain;
  gint64 from;
  guint64 events[G_N_ELEMENTS (counted)];
  GHashTable *persons; /* name → Person */
} Stats;

static void
person_add (Stats *stats, const char *name, guint64 waited)
{
  Person *person = g_hash_table_lookup (stats->persons, name);
  gpointer key = GUINT_TO_POINTER (MIN (waited, (guint64) WAITED_MAX));
  guint n = 0;

  if (person == NULL)
    {
      person = g_new0 (Person, 1);
      person->spans = g_hash_table_new (NULL, NULL);
      g_hash_table_insert (stats->persons, g_strdup (name), person);
    }
  n = GPOINTER_TO_UINT (g_hash_table_lookup (person->spans, key));
  g_hash_table_insert (person->spans, key, GUINT_TO_POINTER (n + 1));
  person->answers++;
}

/* Of an even number the lower of the two in the middle. */
static guint
person_median (const Person *person)
{
  g_autoptr (GList) keys = g_hash_table_get_keys (person->spans);
  g_autofree guint *seconds = g_new0 (guint, g_hash_table_size (person->spans));
  guint64 before = 0;
  guint n = 0;

  for (GList *l = keys; l != NULL; l = l->next)
    {
      guint value = GPOINTER_TO_UINT (l->data);
      guint i = n++;

      for (; i > 0 && seconds[i - 1] > value; i--)
        seconds[i] = seconds[i - 1];
      seconds[i] = value;
    }
  for (guint i = 0; i < n; i++)
    {
      before += GPOINTER_TO_UINT (
          g_hash_table_lookup (person->spans, GUINT_TO_POINTER (seconds[i])));
      if (2 * before >= person->answers)
        return seconds[i];
    }
  return 0;
}

static gboolean
stats_entry (const LogEntry *entry, gpointer data, GError **error)
{
  Stats *stats = data;
  g_autoptr (JsonTree) tree = NULL;
  const JsonTree *details = NULL;
  const char *event = NULL, *name = NULL, *waited = NULL;
  guint64 seconds = 0;
  gint64 time = 0;

  if (!chain_add (&stats->chain, entry->bytes, &tree, error))
    return FALSE;
  if (!clock_parse (json_tree_get_string (tree, "time"), &time) || time < stats->from)
    return TRUE;
  event = json_tree_get_string (tree, "event");
  for (guint i = 0; counted[i] != NULL; i++)
    stats->events[i] += strcmp (counted[i], event) == 0;

  details = json_tree_member (tree, "details");
  waited = json_tree_get_string (details, "waited");
  name = json_tree_get_string (details, strcmp (event, "denied") == 0 ? "by" : "name");
  if (strcmp (json_tree_get_string (tree, "source"), AUDIT_SIGNED) == 0 && name != NULL &&
      waited != NULL && shape_number (waited, &seconds))
    person_add (stats, name, seconds);
  return TRUE;
}

static gboolean
is_quick (const Person *person, guint median)
{
  return person->answers >= QUICK_ANSWERS && median <= QUICK_SECONDS;
}

static void
print_person (const char *name, const Person *person, JsonTree *list)
{
  guint median = person_median (person);
  g_autofree char *answers = g_strdup_printf ("%" G_GUINT64_FORMAT, person->answers);
  g_autofree char *seconds = g_strdup_printf ("%u", median);
  g_autofree char *shown = escape_line (name);

  if (list != NULL)
    {
      JsonTree *object = json_tree_append (list, json_tree_new_object ());

      json_tree_add_string (object, "answers", answers);
      json_tree_add_string (object, "median", seconds);
      json_tree_add_string (object, "name", name);
      json_tree_add_boolean (object, "quick", is_quick (person, median));
      return;
    }
  printf ("  %s: %s answers, median %s s\n", shown, answers, seconds);
  if (is_quick (person, median))
    printf ("  warning: half of %s's answers came within %s s of being asked: too quick to have read "
            "a card\n",
            shown, seconds);
}

static void
print_stats (const Stats *stats, gboolean json)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autoptr (GList) names =
      g_list_sort (g_hash_table_get_keys (stats->persons), (GCompareFunc) strcmp);
  JsonTree *list = json_tree_add (tree, "approvers", json_tree_new_array ());
  JsonTree *events = json_tree_add (tree, "events", json_tree_new_object ());

  for (guint i = 0; counted[i] != NULL; i++)
    {
      g_autofree char *n = g_strdup_printf ("%" G_GUINT64_FORMAT, stats->events[i]);

      json_tree_add_string (events, counted[i], n);
      if (!json && stats->events[i] > 0)
        output_field (counted[i], n);
    }
  if (!json)
    puts (names != NULL ? "time to answer, of what was signed:" : "nobody has signed an answer");
  for (GList *l = names; l != NULL; l = l->next)
    print_person (l->data, g_hash_table_lookup (stats->persons, l->data), json ? list : NULL);
  if (json)
    output_json (tree);
}

static gboolean
run_stats (Ctl *ctl, char **arguments, GError **error)
{
  static const LogFuncs funcs = { stats_entry, NULL };
  g_autoptr (GHashTable) persons =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) person_free);
  Stats stats = { .from = G_MININT64, .persons = persons };
  g_autofree char *time = NULL;

  if (since != NULL)
    {
      time = strlen (since) == strlen ("2026-11-30") ? g_strconcat (since, "T00:00:00Z", NULL)
                                                     : g_strdup (since);
      if (!clock_parse (time, &stats.from))
        return ctl_bad_word (
            ctl, error, "--since must be as 2026-11-30 or 2026-11-30T09:00:00Z, not \"%s\"", since);
    }
  if (!(file != NULL ? log_walk_file (file, &funcs, &stats, error)
                     : log_walk (ctl, 1, &funcs, &stats, error)))
    return FALSE;
  print_stats (&stats, ctl->json);
  return TRUE;
}

const CtlVerb stats_verbs[] = {
  { "stats", "", "Count how requests ended, and how long people took to answer", 0, 0,
    stats_options, run_stats },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
