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
compile (regex_t *regex, const char *pattern, GError **error)
{
  char text[256];
  int rc = regcomp (regex, pattern, REG_EXTENDED);

  if (rc == 0)
    return TRUE;
  regerror (rc, regex, text, sizeof text);
  g_set_error (error, G_REGEX_ERROR, G_REGEX_ERROR_COMPILE, "Pattern= is not valid: %s", text);
  return FALSE;
}

gboolean
pattern_check (const char *pattern, GError **error)
{
  locale_t locale = pattern_locale (), before;
  regex_t regex;
  gboolean valid;

  if (locale == (locale_t) 0)
    return refuse (error, "cannot be used: the system has no locale C.UTF-8");
  if (!check_cost (pattern, error))
    return FALSE;
  before = uselocale (locale);
  valid = compile (&regex, pattern, error);
  if (valid)
    regfree (&regex);
  uselocale (before);
  return valid;
}

gboolean
pattern_matches (const char *pattern, const char *text)
{
  locale_t locale = pattern_locale (), before;
  gboolean matches = FALSE;
  regmatch_t match;
  regex_t regex;

  if (locale == (locale_t) 0)
    return FALSE;
  before = uselocale (locale);
  if (compile (&regex, pattern, NULL))
    {
      /* POSIX finds the longest of the leftmost matches: if the whole matches, this is it. */
      matches = regexec (&regex, text, 1, &match, 0) == 0 && match.rm_so == 0 &&
                text[match.rm_eo] == '\0';
      regfree (&regex);
    }
  uselocale (before);
  return matches;
}
