/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pattern=: POSIX extended regular expressions over untrusted text.  A match must cover the whole
 * text, must not depend on the locale, and must not take exponential time: back references are
 * refused, repeats bounded.
 */
#include "service/policy/constraint.h"

#include <locale.h>
#include <regex.h>
#include <string.h>

struct Pattern
{
  regex_t regex; /* of the locale C.UTF-8 */
};

/* C.UTF-8, or 0 where the system lacks it: then no pattern loads and none matches. */
static locale_t
pattern_locale (void)
{
  static locale_t locale;

  if (locale == (locale_t) 0)
    locale = newlocale (LC_CTYPE_MASK | LC_COLLATE_MASK, "C.UTF-8", (locale_t) 0);
  return locale;
}

static gboolean
refuse (GError **error, const char *text)
{
  g_set_error (error, G_REGEX_ERROR, G_REGEX_ERROR_COMPILE, "Pattern= %s", text);
  return FALSE;
}

/* The upper bound of the interval at @p, which is after '{'; 0 where it is not a number. */
static guint64
interval_bound (const char *p)
{
  char *end;
  guint64 low = g_ascii_strtoull (p, &end, 10), high = low;

  if (*end == ',')
    high = end[1] == '}' ? low : g_ascii_strtoull (end + 1, &end, 10);
  return MAX (low, high);
}

/* What regcomp() would accept and we do not. */
static gboolean
check_cost (const char *pattern, GError **error)
{
  guint64 product = 1;
  gboolean bracket = FALSE;

  if (strlen (pattern) > PATTERN_MAX_BYTES)
    return refuse (error, "is longer than 1024 bytes");
  for (const char *p = pattern; *p != '\0'; p++)
    {
      if (*p == '[')
        bracket = TRUE;
      else if (*p == ']')
        bracket = FALSE;
      else if (*p == '\\' && g_ascii_isdigit (p[1]))
        return refuse (error, "has a back reference");
      else if (*p == '\\' && p[1] != '\0' && !bracket)
        p++;
      else if (*p == '{')
        product *= CLAMP (interval_bound (p + 1), 1, PATTERN_MAX_REPEAT + 1);
      if (product > PATTERN_MAX_REPEAT)
        return refuse (error, "repeats more than 4096 times in all");
    }
  return TRUE;
}

static gboolean
compile (regex_t *regex, const char *text, GError **error)
{
  char fault[256];
  int rc = regcomp (regex, text, REG_EXTENDED);

  if (rc == 0)
    return TRUE;
  regerror (rc, regex, fault, sizeof fault);
  g_set_error (error, G_REGEX_ERROR, G_REGEX_ERROR_COMPILE, "Pattern= is not valid: %s", fault);
  return FALSE;
}

Pattern *
pattern_new (const char *text, GError **error)
{
  locale_t locale = pattern_locale (), before;
  Pattern *pattern;
  gboolean valid;

  if (locale == (locale_t) 0)
    {
      refuse (error, "cannot be used: the system has no locale C.UTF-8");
      return NULL;
    }
  if (!check_cost (text, error))
    return NULL;
  pattern = g_new0 (Pattern, 1);
  before = uselocale (locale);
  valid = compile (&pattern->regex, text, error);
  uselocale (before);
  if (!valid)
    g_clear_pointer (&pattern, g_free);
  return pattern;
}

void
pattern_free (Pattern *pattern)
{
  if (pattern == NULL)
    return;
  regfree (&pattern->regex);
  g_free (pattern);
}

gboolean
pattern_matches (const Pattern *pattern, const char *text)
{
  locale_t locale = pattern_locale (), before;
  gboolean matches;
  regmatch_t match;

  if (pattern == NULL || locale == (locale_t) 0)
    return FALSE;
  before = uselocale (locale);
  /* POSIX finds the longest of the leftmost matches: if the whole matches, this is it. */
  matches = regexec (&pattern->regex, text, 1, &match, 0) == 0 && match.rm_so == 0 &&
            text[match.rm_eo] == '\0';
  uselocale (before);
  return matches;
}
