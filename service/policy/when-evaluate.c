/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When= lines on a record.  Evaluation looks at the record's values alone and never guesses: what
 * is absent, of another type, or a question of upper and lower case has no outcome.
 */
#include "service/policy/when.h"

#include "service/base/clock.h"
#include "service/policy/constraint.h"

#include <string.h>

/* glob_find: @fold: without regard to the case of ASCII letters */
static gboolean
glob_find (const char *glob, const char *text, gboolean fold)
{
  const char *star = NULL, *from = NULL;

  /* The last star takes one character more whenever what follows it fails; earlier stars need not,
   * since a star takes everything but '@' and '/', which then have one place each. */
  for (;;)
    {
      gboolean same = fold ? g_ascii_tolower (*glob) == g_ascii_tolower (*text) : *glob == *text;

      if (*glob == '*')
        {
          star = ++glob;
          from = text;
        }
      else if (same)
        {
          if (*glob == '\0')
            return TRUE;
          glob++;
          text++;
        }
      else if (star != NULL && *from != '\0' && *from != '@' && *from != '/')
        {
          glob = star;
          text = ++from;
        }
      else
        return FALSE;
    }
}

gboolean
glob_match (const char *glob, const char *text)
{
  return glob_find (glob, text, FALSE);
}

static const JsonTree *
find_value (const Record *record, const char *name, const Type **out_type)
{
  const char *type = NULL;
  const JsonTree *value = record_argument (record, name, &type);

  *out_type = value != NULL && type != NULL ? type_find (type) : NULL;
  return *out_type != NULL ? value : NULL;
}

/* The text of one value that a glob is held against; of a file its name. */
static const char *
glob_text (const JsonTree *value)
{
  return json_tree_kind (value) == JSON_TREE_OBJECT ? json_tree_get_string (value, "name")
                                                    : json_tree_string (value);
}

static gboolean
matches_a_glob (const When *when, const char *text, gboolean fold)
{
  for (guint i = 0; when->globs[i] != NULL; i++)
    if (glob_find (when->globs[i], text, fold))
      return TRUE;
  return FALSE;
}

typedef struct
{
  guint total;
  guint matched; /* as written */
  guint folded;  /* without regard to case */
} Matches;

/* Adds the values of one argument; FALSE where one has no text. */
static gboolean
count_matches (const When *when, const Type *type, const JsonTree *value, Matches *matches)
{
  gboolean list = type_is_list (type);
  guint n = list ? json_tree_length (value) : type_is_empty (type, value) ? 0 : 1;

  for (guint i = 0; i < n; i++)
    {
      const char *text = glob_text (list ? json_tree_item (value, i) : value);

      if (text == NULL)
        return FALSE;
      matches->total += 1;
      matches->matched += matches_a_glob (when, text, FALSE) ? 1 : 0;
      matches->folded += matches_a_glob (when, text, TRUE) ? 1 : 0;
    }
  return TRUE;
}

static gboolean
globs_hold (WhenTest test, guint matched, guint total)
{
  switch ((int) test)
    {
    case WHEN_ANY:
      return matched > 0;
    case WHEN_ALL:
      return matched == total;
    case WHEN_NONE:
      return matched == 0;
    default: /* any-not */
      return matched < total;
    }
}

static WhenResult
evaluate_globs (const When *when, const Record *record)
{
  Matches matches = { 0, 0, 0 };
  gboolean holds;

  for (guint i = 0; when->arguments[i] != NULL; i++)
    {
      const Type *type;
      const JsonTree *value = find_value (record, when->arguments[i], &type);

      if (value == NULL || !count_matches (when, type, value, &matches))
        return WHEN_UNKNOWN;
    }
  if (when->test == WHEN_ALL && matches.total == 0)
    return WHEN_UNKNOWN;
  /* Whether Boss@example.com is boss@example.com only the receiver knows. */
  holds = globs_hold (when->test, matches.matched, matches.total);
  if (holds != globs_hold (when->test, matches.folded, matches.total))
    return WHEN_UNKNOWN;
  return holds ? WHEN_TRUE : WHEN_FALSE;
}

static WhenResult
evaluate_is (const When *when, const Type *type, const JsonTree *value)
{
  g_autoptr (JsonTree) wanted = type_from_text (type, when->arguments[0], when->value, NULL);
  const char *text = json_tree_string (value);

  if (wanted == NULL)
    return WHEN_UNKNOWN;
  if (json_tree_equal (wanted, value))
    return WHEN_TRUE;
  if (text != NULL && g_ascii_strcasecmp (text, json_tree_string (wanted)) == 0)
    return WHEN_UNKNOWN;
  return WHEN_FALSE;
}

static WhenResult
evaluate_order (const When *when, const Type *type, const JsonTree *value)
{
  const char *text = json_tree_string (value);
  int order;

  if (text == NULL || type_is_empty (type, value) ||
      !type_compare (type, text, when->value, &order))
    return WHEN_UNKNOWN;
  if (when->test == WHEN_AT_MOST)
    return order <= 0 ? WHEN_TRUE : WHEN_FALSE;
  return order >= 0 ? WHEN_TRUE : WHEN_FALSE;
}

static WhenResult
evaluate_past (const JsonTree *value, gint64 now)
{
  const char *text = json_tree_string (value);
  gint64 time;

  if (text == NULL || !clock_parse (text, &time))
    return WHEN_UNKNOWN;
  return time < now ? WHEN_TRUE : WHEN_FALSE;
}

WhenResult
when_evaluate (const When *when, const Record *record, gint64 now)
{
  const Type *type;
  const JsonTree *value;

  if (when->globs != NULL)
    return evaluate_globs (when, record);
  value = find_value (record, when->arguments[0], &type);
  if (value == NULL)
    return WHEN_UNKNOWN;

  switch ((int) when->test)
    {
    case WHEN_EMPTY:
      return type_is_empty (type, value) ? WHEN_TRUE : WHEN_FALSE;
    case WHEN_NOT_EMPTY:
      return type_is_empty (type, value) ? WHEN_FALSE : WHEN_TRUE;
    case WHEN_IS:
      return evaluate_is (when, type, value);
    case WHEN_AT_MOST:
    case WHEN_AT_LEAST:
      return evaluate_order (when, type, value);
    case WHEN_PAST:
      return evaluate_past (value, now);
    default:
      return WHEN_UNKNOWN;
    }
}
