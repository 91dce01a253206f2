/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the broker refuses by the executor's own set of policy, without asking it: the same words,
 * and for no longer than the image of that set is leased.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/wire.h"
#include "service/broker/prepare.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#define MAIL "{'to': <['a@example.com']>, 'subject': <'Report'>}"
#define RULE                                                                                       \
  "[Rule mail]\nAgents=offboarding other\nActions=mail.send\nDecision=ask\n"                       \
  "Approvers=hr.jones it.lead\nSeparation=agent\nPasskeys=phone\n"
#define DENIED "[Rule never]\nAgents=offboarding\nActions=mail.send\nDecision=deny\n"

static char *
submit_refused (Caller *agent, const char *run, const char *action, const char *arguments)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      caller_agent (agent, "Submit",
                    g_variant_new ("(ss@a{sv}@a{sv})", run, action, vardict (arguments),
                                   vardict ("{}")),
                    &error);

  g_assert_null (reply);
  g_assert_nonnull (error);
  return g_strdup_printf ("%d %s", error->code, error->message);
}

static void
restart_with_lease (Bed *bed, gboolean leased)
{
  bed_stop (bed);
  fake_lease (bed->fake, leased);
  bed_start (bed);
}

static void
test_same_words (Bed *bed, gconstpointer config)
{
  static const struct
  {
    const char *action, *arguments;
  } cases[] = {
    { "no.such", "{}" },
    { "note.none", MAIL },
    { "mail.send", "{'to': <['a@example.com']>}" },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a'>, 'x': <'b'>}" },
    { "mail.send",
      "{'to': <['a@example.com']>, 'subject': <'a'>, 'to': <['b@example.com']>}" },
    { "mail.send", "{'to': <'a@example.com'>, 'subject': <'a'>}" },
    { "mail.send", "{'to': <['a@EXAMPLE.com']>, 'subject': <'a'>}" },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a\\nb'>}" },
    { "mail.send", "{'to': <['a@example.com']>, 'subject': <'a'>,"
                   " 'attachment': <[('x', handle 0)]>}" },
  };
  char *words[G_N_ELEMENTS (cases)] = { NULL };
  guint asked = 0;

  for (guint leased = 0; leased <= 1; leased++)
    {
      g_autoptr (Caller) agent = NULL;
      g_autofree char *run = NULL;

      restart_with_lease (bed, leased != 0);
      agent = bed_caller (bed, FAKE_AGENT);
      run = caller_open_run (agent, "ticket");
      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          g_autofree char *text =
              submit_refused (agent, run, cases[i].action, cases[i].arguments);

          if (words[i] != NULL)
            g_assert_cmpstr (text, ==, words[i]);
          else
            words[i] = g_steal_pointer (&text);
        }
      if (!leased)
        asked = fake_prepared (bed->fake);
    }
  g_assert_cmpuint (asked, ==, G_N_ELEMENTS (cases));
  g_assert_cmpuint (fake_prepared (bed->fake), ==, asked);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_free (words[i]);
}

static void
test_by_rule (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = NULL;
  g_autoptr (Caller) other = NULL;
  g_autofree char *run = NULL;
  g_autofree char *run_of_other = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;

  fake_policy (bed->fake, "rules/x.rule", RULE DENIED);
  restart_with_lease (bed, TRUE);
  agent = bed_caller (bed, FAKE_AGENT);
  other = bed_caller (bed, FAKE_OTHER_AGENT);
  run = caller_open_run (agent, "ticket");
  run_of_other = caller_open_run (other, "ticket");
  text = submit_refused (agent, run, "mail.send", MAIL);
  g_assert_nonnull (strstr (text, US_REASON_DENIED_BY_RULE ": mail.send for offboarding, by "
                                                           "x.rule:never"));
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 0);

  path = caller_submit (other, run_of_other, "a@example.com", NULL);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 1);
}

/* A set that has been replaced refuses nothing any more, whenever it was asked for. */
static void
test_lease_ends (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = NULL;
  g_autofree char *run = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;

  fake_policy (bed->fake, "rules/x.rule", RULE DENIED);
  restart_with_lease (bed, TRUE);
  agent = bed_caller (bed, FAKE_AGENT);
  run = caller_open_run (agent, "ticket");
  text = submit_refused (agent, run, "mail.send", MAIL);
  g_assert_nonnull (catalog_current (bed->broker->catalog));

  fake_policy (bed->fake, "rules/x.rule", RULE);
  g_assert_null (catalog_current (bed->broker->catalog));
  path = caller_submit (agent, run, "a@example.com", NULL);
  g_assert_cmpuint (fake_prepared (bed->fake), ==, 1);
  g_assert_nonnull (catalog_current (bed->broker->catalog));

  fake_lease (bed->fake, FALSE);
  g_assert_null (catalog_current (bed->broker->catalog));
}

static GVariant *
raw_of (const char *initiator, const char *action, const char *arguments)
{
  return g_variant_ref_sink (g_variant_new (
      "(sus(ssss)s@a(sv)s(ss))", SAMPLE_ID, (guint32) FAKE_AGENT, "main", SAMPLE_RUN, "ticket",
      initiator, initiator[0] != '\0' ? "3002" : "", action,
      g_variant_new_parsed (arguments), "", "", ""));
}

/* What is the executor's: facts about people, files, and whatever takes long. */
static void
test_left_to_executor (Bed *bed, gconstpointer config)
{
  g_autofree char *long_text = g_strnfill (20000, 'x');
  g_autofree char *large = g_strdup_printf ("[('none', <'%s'>)]", long_text);
  const struct
  {
    const char *initiator, *action, *arguments;
    guint files;
    gboolean refused;
  } cases[] = {
    { "", "no.such", "@a(sv) []", 0, TRUE },
    { "", "no.such", "@a(sv) []", 1, TRUE },
    { "hr.kim", "no.such", "@a(sv) []", 0, FALSE },
    { "", "mail.send", "@a(sv) []", 0, TRUE },
    { "", "mail.send", "@a(sv) []", 1, FALSE },
    { "hr.kim", "mail.send", "@a(sv) []", 0, FALSE },
    { "", "mail.send", large, 0, FALSE },
    { "", "mail.send", "[('to', <['a@example.com']>), ('subject', <'a'>)]", 0, FALSE },
    { "", "slow.send", "[('none', <'x'>)]", 0, FALSE },
  };
  g_autoptr (Caller) agent = NULL;
  g_autofree char *run = NULL;

  fake_policy (bed->fake, "actions/slow.send.action",
               "[Action]\nSummary=Look long\nEffect=reversible\n[Executor]\nModule=null\n"
               "[Argument text]\nLabel=Text\nType=line\nPattern=[a-z]{1,8}\n");
  fake_policy (bed->fake, "rules/slow.rule",
               "[Rule slow]\nAgents=offboarding\nActions=slow.send\nDecision=ask\n"
               "Approvers=it.lead\nPasskeys=phone\n");
  restart_with_lease (bed, TRUE);
  agent = bed_caller (bed, FAKE_AGENT);
  run = caller_open_run (agent, "ticket"); /* so that the policy has been asked for */
  for (guint leased = 2; leased-- > 0;)
    {
      fake_lease (bed->fake, leased != 0);
      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          Files files = { .n = cases[i].files };
          g_autoptr (GError) error = NULL;
          g_autoptr (GVariant) raw =
              raw_of (cases[i].initiator, cases[i].action, cases[i].arguments);
          gboolean refused = prepare_refused (bed->broker->catalog, raw, &files, &error);

          g_test_message ("%u: case %u", leased, i);
          g_assert_cmpint (refused, ==, leased != 0 && cases[i].refused);
          g_assert_true (refused == (error != NULL));
        }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/broker/refused/same-words", NULL, test_same_words);
  bed_test ("/broker/refused/by-rule", NULL, test_by_rule);
  bed_test ("/broker/refused/lease-ends", NULL, test_lease_ends);
  bed_test ("/broker/refused/left-to-executor", NULL, test_left_to_executor);
  return g_test_run ();
}
