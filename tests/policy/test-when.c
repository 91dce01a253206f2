/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions: what a pattern covers, and the three outcomes of every operator. */
#include "service/policy/when.h"
#include "tests/policy/set.h"

#include <string.h>
#include <time.h>

static const struct
{
  const char *glob, *text;
  gboolean matches;
} globs[] = {
  { "*@example.com", "a@example.com", TRUE },
  { "*@example.com", "@example.com", TRUE },
  { "*@example.com", "a@b@example.com", FALSE },
  { "*@example.com", "a@example.com.evil.org", FALSE },
  { "*@example.com", "a@sub.example.com", FALSE },
  { "*@*.example.com", "a@sub.example.com", TRUE },
  { "*@*.example.com", "a@example.com", FALSE },
  { "*@*.example.com", "a@x@y.example.com", FALSE },
  { "*", "", TRUE },
  { "*", "abc", TRUE },
  { "*", "a@b", FALSE },
  { "*", "a/b", FALSE },
  { "**", "a/b", FALSE },
  { "*/*", "a/b", TRUE },
  { "/srv/*", "/srv/data", TRUE },
  { "/srv/*", "/srv/data/../../etc/passwd", FALSE },
  { "/srv/*", "/srv/", TRUE },
  { "/srv/*", "/srv", FALSE },
  { "a*b*c", "aXbXbXc", TRUE },
  { "a*b*c", "aXbXc/", FALSE },
  { "*a*b", "a@ab", FALSE },
  { "*@x*b", "@x@xb", FALSE },
  { "a", "a", TRUE },
  { "a", "", FALSE },
  { "", "", TRUE },
  { "a?c", "abc", FALSE },
  { "a?c", "a?c", TRUE },
  { "[ab]", "a", FALSE },
  { "A", "a", FALSE },
};

static void
test_globs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (globs); i++)
    if (glob_match (globs[i].glob, globs[i].text) != globs[i].matches)
      g_error ("'%s' on '%s'", globs[i].glob, globs[i].text);
}

/* A hostile value must not make a pattern with many stars slow. */
static void
test_glob_cost (void)
{
  g_autofree char *text = g_strnfill (64 * 1024, 'a');
  clock_t start = clock (); /* of the processor: others on this machine cost nothing */

  g_assert_false (glob_match ("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
  g_assert_cmpint (clock () - start, <, 30 * CLOCKS_PER_SEC);
}

#define ACTION                                                                                     \
  "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n"                                    \
  "[Argument to]\nLabel=T\nType=email-list\n[Argument cc]\nLabel=C\nType=email-list\n"             \
  "[Argument one]\nLabel=O\nType=line\n[Argument money]\nLabel=M\nType=money\n"                    \
  "[Argument count]\nLabel=N\nType=integer\n[Argument time]\nLabel=Z\nType=timestamp\n"            \
  "[Argument sure]\nLabel=S\nType=boolean\n[Argument words]\nLabel=W\nType=argv\n"                 \
  "[Argument files]\nLabel=F\nType=file-list\n"

static const struct
{
  const char *when;
  const char *arguments;
  WhenResult result;
} rows[] = {
  { "to any *@a.com", "[]", WHEN_FALSE },
  { "to any *@a.com", "[('to', <['x@a.com', 'x@b.com']>)]", WHEN_TRUE },
  { "to any *@a.com", "[('to', <['x@b.com']>)]", WHEN_FALSE },
  { "to any *@a.com *@b.com", "[('to', <['x@b.com']>)]", WHEN_TRUE },
  { "to all *@a.com", "[]", WHEN_UNKNOWN },
  { "to all *@a.com", "[('to', <['x@a.com', 'x@b.com']>)]", WHEN_FALSE },
  { "to all *@a.com *@b.com", "[('to', <['x@a.com', 'x@b.com']>)]", WHEN_TRUE },
  { "to none *@a.com", "[]", WHEN_TRUE },
  { "to none *@a.com", "[('to', <['x@a.com', 'x@b.com']>)]", WHEN_FALSE },
  { "to none *@a.com", "[('to', <['x@b.com']>)]", WHEN_TRUE },
  { "to any-not *@a.com", "[]", WHEN_FALSE },
  { "to any-not *@a.com", "[('to', <['x@a.com', 'x@b.com']>)]", WHEN_TRUE },
  { "to any-not *@a.com", "[('to', <['x@a.com']>)]", WHEN_FALSE },
  { "to,cc any-not *@a.com", "[('to', <['x@a.com']>), ('cc', <['x@b.com']>)]", WHEN_TRUE },
  { "to,cc all *@a.com", "[('to', <['x@a.com']>)]", WHEN_TRUE },
  { "to,cc all *@a.com", "[('to', <['x@a.com']>), ('cc', <['x@b.com']>)]", WHEN_FALSE },
  { "to,cc,one none *@b.com", "[('to', <['x@a.com']>), ('one', <'x'>)]", WHEN_TRUE },
  { "to,ghost any *@a.com", "[('to', <['x@a.com']>)]", WHEN_UNKNOWN },
  { "ghost empty", "[]", WHEN_UNKNOWN },
  { "one any x*", "[]", WHEN_FALSE },
  { "one any x*", "[('one', <'xyz'>)]", WHEN_TRUE },
  { "words all ls -*", "[('words', <['ls', '-l', '']>)]", WHEN_FALSE },
  { "files any *.exe", "[]", WHEN_FALSE },
  /* upper and lower case: what differs in nothing else has no outcome */
  { "to any boss@a.com", "[('to', <['Boss@a.com']>)]", WHEN_UNKNOWN },
  { "to none boss@a.com", "[('to', <['Boss@a.com']>)]", WHEN_UNKNOWN },
  { "to all boss@a.com", "[('to', <['Boss@a.com']>)]", WHEN_UNKNOWN },
  { "to any boss@a.com", "[('to', <['Boss@a.com', 'x@a.com']>)]", WHEN_UNKNOWN },
  { "to any boss@a.com *@a.com", "[('to', <['Boss@a.com']>)]", WHEN_TRUE },
  { "one is Yes", "[('one', <'yes'>)]", WHEN_UNKNOWN },
  { "to empty", "[]", WHEN_TRUE },
  { "to empty", "[('to', <['x@a.com']>)]", WHEN_FALSE },
  { "to not-empty", "[]", WHEN_FALSE },
  { "to not-empty", "[('to', <['x@a.com']>)]", WHEN_TRUE },
  { "one empty", "[('one', <''>)]", WHEN_TRUE },
  { "one is a b", "[('one', <'a b'>)]", WHEN_TRUE },
  { "one is a b", "[('one', <'a  b'>)]", WHEN_FALSE },
  { "one is a b", "[]", WHEN_FALSE },
  { "sure is yes", "[('sure', <true>)]", WHEN_TRUE },
  { "sure is yes", "[]", WHEN_FALSE },
  { "sure is no", "[]", WHEN_TRUE },
  { "count is 5", "[('count', <'5'>)]", WHEN_TRUE },
  { "count is 5", "[('count', <'50'>)]", WHEN_FALSE },
  { "count <= 5", "[]", WHEN_UNKNOWN },
  { "count <= 5", "[('count', <'5'>)]", WHEN_TRUE },
  { "count <= 5", "[('count', <'10'>)]", WHEN_FALSE },
  { "count <= 5", "[('count', <'-10'>)]", WHEN_TRUE },
  { "count >= 5", "[('count', <'5'>)]", WHEN_TRUE },
  { "count >= 5", "[('count', <'4'>)]", WHEN_FALSE },
  { "money <= 5.00 EUR", "[('money', <'5.01 EUR'>)]", WHEN_FALSE },
  { "money <= 5.00 EUR", "[('money', <'5.00 EUR'>)]", WHEN_TRUE },
  { "money <= 5.00 EUR", "[('money', <'1.00 USD'>)]", WHEN_UNKNOWN },
  { "money >= 5.00 EUR", "[('money', <'9.00 USD'>)]", WHEN_UNKNOWN },
  { "time past", "[]", WHEN_UNKNOWN },
  { "time past", "[('time', <'1970-01-01T00:16:39Z'>)]", WHEN_TRUE },
  { "time past", "[('time', <'1970-01-01T00:16:40Z'>)]", WHEN_FALSE },
  { "time past", "[('time', <'2100-01-01T00:00:00Z'>)]", WHEN_FALSE },
  { "time <= 2026-01-01T00:00:00Z", "[('time', <'2025-12-31T23:59:59Z'>)]", WHEN_TRUE },
  /* asked of a record whose argument has another type than the rule was loaded with */
  { "to <= 5", "[('to', <['x@a.com']>)]", WHEN_UNKNOWN },
  { "to past", "[('to', <['x@a.com']>)]", WHEN_UNKNOWN },
  { "count is x", "[('count', <'5'>)]", WHEN_UNKNOWN },
  { "sure any yes", "[('sure', <true>)]", WHEN_UNKNOWN },
};

static void
test_rows (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;

  set_put (set, "actions/x.y.action", ACTION);
  policy = set_parse (set);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (When) when = when_parse (rows[i].when, &error);
      g_autoptr (Record) record =
          set_record (policy, "other", "main", "x.y", rows[i].arguments, NULL, NULL);
      WhenResult result;

      g_assert_no_error (error);
      result = when_evaluate (when, record, 1000);
      if (result != rows[i].result)
        g_error ("row %u: %s of %s is %d, not %d", i, rows[i].when, rows[i].arguments, (int) result,
                 (int) rows[i].result);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/when/globs", test_globs);
  g_test_add_func ("/policy/when/glob-cost", test_glob_cost);
  g_test_add_func ("/policy/when/rows", test_rows);
  return g_test_run ();
}
