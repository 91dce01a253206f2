/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy digest: what voids an approval, what does not, and its exact bytes. */
#include "service/policy/load.h"
#include "tests/policy/set.h"

#include "service/base/pae.h"

#include <string.h>

#define ASK "Decision=ask\nApprovers=@hr\nPasskeys=phone\n"

static Set *
base_set (void)
{
  Set *set = set_new ();

  set_put (set, "rules/mine.rule", "[Rule a]\nAgents=offboarding\nActions=mail.send\n" ASK);
  set_put (set, "rules/any.rule",
           "[Rule a]\nAgents=*\nActions=mail.*\nDecision=deny\n"
           "When=to any *@evil.org\n");
  set_put (set, "rules/theirs.rule", "[Rule a]\nAgents=other\nActions=mail.send\n" ASK);
  set_put (set, "rules/note.rule", "[Rule a]\nAgents=offboarding\nActions=note.write\n" ASK);
  return set;
}

static char *
digest_of (Set *set)
{
  g_autoptr (Policy) policy = set_parse (set);

  return policy_digest (policy, policy_agent_by_name (policy, "offboarding"),
                        policy_action (policy, "mail.send"));
}

static const struct
{
  const char *file, *text;
  gboolean changes;
} edits[] = {
  /* what governs: any byte counts, even a comment */
  { "rules/mine.rule", "#\n[Rule a]\nAgents=offboarding\nActions=mail.send\n" ASK, TRUE },
  { "rules/mine.rule", NULL, TRUE },
  { "rules/any.rule", "", TRUE },
  { "rules/any.rule", "[Rule a]\nAgents=*\nActions=mail.*\nDecision=deny\nWhen=to any *@evil.net\n",
    TRUE },
  { "rules/new.rule", "[Rule a]\nAgents=*\nActions=*\nDecision=deny\nParts=licences\n", TRUE },
  { "rules/mine.rule",
    "[Rule a]\nAgents=offboarding\nActions=mail.send\n" ASK
    "[Rule b]\nAgents=other\nActions=note.write\n" ASK,
    TRUE },
  { "agents/offboarding.agent", "[Agent]\nSummary=S\nUser=agent-offboarding\nOwner=hr.jones\n",
    TRUE },
  { "modules/mail.module",
    "[Module]\nSummary=Mail 2\nDescribe=yes\n[Setting server]\nLabel=Server\nType=hostport\n"
    "[Setting from]\nLabel=From\nType=email\n",
    TRUE },
  /* what does not */
  { "rules/theirs.rule", NULL, FALSE },
  { "rules/theirs.rule", "[Rule a]\nAgents=other\nActions=mail.send\nDecision=deny\n", FALSE },
  { "rules/note.rule", NULL, FALSE },
  { "rules/note.rule", "[Rule a]\nAgents=offboarding\nActions=note.write\nDecision=deny\n", FALSE },
  { "rules/new.rule", "[Rule a]\nAgents=*\nActions=account.*\nDecision=deny\n", FALSE },
  { "agents/other.agent", "[Agent]\nSummary=S\nUser=agent-other\nOwner=hr.kim\n", FALSE },
  { "actions/note.write.action",
    "[Action]\nSummary=Another\nEffect=read\n[Executor]\nModule=null\n", FALSE },
  { "modules/null.module", "[Module]\nSummary=Nothing at all\n", FALSE },
};

static void
test_edits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
    {
      g_autoptr (Set) set = base_set ();
      g_autofree char *before = digest_of (set);
      g_autofree char *after = NULL;

      set_put (set, edits[i].file, edits[i].text);
      after = digest_of (set);
      if ((strcmp (before, after) != 0) != edits[i].changes)
        g_error ("row %u: %s", i, edits[i].file);
    }
}

/* The same text under another path is another file: a shipped one and the one that takes its
 * place. */
static void
test_path (void)
{
  g_autoptr (Set) set = base_set ();
  g_autofree char *before = digest_of (set);
  g_autofree char *after = NULL;

  set_put_shipped (set, "rules/mine.rule", "[Rule a]\nAgents=offboarding\nActions=mail.send\n" ASK);
  after = digest_of (set);
  g_assert_cmpstr (before, !=, after);
}

static void
append (GString *json, const char *path, const char *sha256)
{
  g_string_append_printf (json, "%s{\"path\":\"%s\",\"sha256\":\"%s\"}", json->len > 1 ? "," : "",
                          path, sha256);
}

/* Written out by hand, with the digest of the module's shared object that set.c makes up. */
static void
test_bytes (void)
{
  static const char rule[] = "[Rule a]\nAgents=offboarding\nActions=account.list\nDecision=deny\n";
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autoptr (GString) json = g_string_new ("[");
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *got = NULL, *want = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  set_put (set, "agents/offboarding.agent", "[Agent]\nSummary=S\nUser=alice\nOwner=hr.kim\n");
  set_put (set, "actions/account.list.action", "[Action]\nSummary=S\n[Executor]\nModule=null\n");
  set_put (set, "modules/null.module", "[Module]\nSummary=N\n");
  set_put (set, "rules/r.rule", rule);
  set_put (set, "agents/other.agent", NULL);
  policy = set_parse (set);
  got = policy_digest (policy, policy_agent_by_name (policy, "offboarding"),
                       policy_action (policy, "account.list"));

  append (json, "/etc/undersign/actions/account.list.action", "ACTION");
  append (json, "/etc/undersign/agents/offboarding.agent", "AGENT");
  append (json, "/etc/undersign/rules/r.rule", "RULE");
  append (json, "/usr/lib/undersign/modules/null.so",
          "6e00000000000000000000000000000000000000000000000000000000000000");
  append (json, "/usr/share/undersign/modules/null.module", "MANIFEST");
  g_string_append_c (json, ']');
  {
    const struct
    {
      const char *word, *text;
    } files[] = { { "ACTION", "[Action]\nSummary=S\n[Executor]\nModule=null\n" },
                  { "AGENT", "[Agent]\nSummary=S\nUser=alice\nOwner=hr.kim\n" },
                  { "RULE", rule },
                  { "MANIFEST", "[Module]\nSummary=N\n" } };

    for (guint i = 0; i < G_N_ELEMENTS (files); i++)
      {
        g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, files[i].text, -1);

        g_string_replace (json, files[i].word, sum, 1);
      }
  }
  bytes = g_bytes_new (json->str, json->len);
  pae_sha256 (PAE_TYPE_POLICY, bytes, digest);
  want = digest_to_string (digest);
  g_assert_cmpstr (got, ==, want);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/digest/edits", test_edits);
  g_test_add_func ("/policy/digest/path", test_path);
  g_test_add_func ("/policy/digest/bytes", test_bytes);
  return g_test_run ();
}
