/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a person reads of a set; and that the examples of undersign-policy(5) load, stand in the
 * page as they are, and that the page names every key.
 */
#include "service/policy/check.h"
#include "service/policy/load.h"
#include "tests/policy/set.h"
#include "tests/policy/tree.h"

#include <glib/gstdio.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
check (const PolicySource *source, const PolicyNames *names, gboolean *out_valid)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream (&text, &len);
  char *copy;

  *out_valid = policy_check (source, names, out);
  g_assert_cmpint (fclose (out), ==, 0);
  copy = g_strdup (text);
  free (text);
  return copy;
}

static char *
describe (Set *set)
{
  g_autoptr (Policy) policy = set_parse (set);
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream (&text, &len);
  char *copy;

  policy_describe (policy, out);
  g_assert_cmpint (fclose (out), ==, 0);
  copy = g_strdup (text);
  free (text);
  return copy;
}

static void
assert_says (const char *text, const char *line)
{
  if (strstr (text, line) == NULL)
    g_error ("want %s\nin %s", line, text);
}

/* --- faults and summary --- */

static void
test_faults (void)
{
  g_auto (Tree) tree;
  g_autofree char *text = NULL, *first = NULL, *second = NULL;
  PolicySource source;
  gboolean valid = TRUE;

  tree_init (&tree);
  tree_write (&tree, "etc/agents/a.agent", "[Agent]\nSummary=S\nUser=ghost\nOwner=alice\n");
  tree_write (&tree, "etc/rules/r.rule", "[Rule x]\nAgents=b\nActions=c.d\nDecision=deny\n");
  source = tree_source (&tree);
  text = check (&source, &set_names, &valid);
  g_assert_false (valid);
  first = g_strdup_printf ("%s/agents/a.agent:3: ", tree.config);
  second = g_strdup_printf ("\n%s/rules/r.rule:2: ", tree.config);
  g_assert_true (g_str_has_prefix (text, first));
  assert_says (text, second);
}

/* Every fault is said, none hides another, and none is said that is but the echo of another. */
static void
test_all_faults (void)
{
  static const char *const says[] = {
    "agents/b.agent:2: ",             /* Summary= is empty */
    "agents/b.agent:5: ",             /* no such key */
    "actions/x.y.action:4: ",         /* [Executor] lacks Module= */
    "actions/x.y.action:7: ",         /* no such key of [Argument] */
    "actions/x.y.action:11: ",        /* Minimum= for a line */
    "actions/x.y.action:12: ",        /* a pattern that is none */
    "actions/x.y.action:16: ",        /* MaxItems= for a choice */
    "actions/x.y.action:17: ",        /* a choice twice */
    "rules/r.rule:2: Agents=: there is no 'ghost'",
    "rules/r.rule:2: 'ghost' stands twice",
    "rules/r.rule:4: Decision= is",
    "rules/r.rule:5: ",               /* a condition that is none */
    "rules/r.rule:9: ",               /* no such key */
    "rules/r.rule:13: Actions=: 'z.u' is masked",
    "rules/s.rule: ",                 /* others may write it */
  };
  g_auto (Tree) tree;
  g_autofree char *text = NULL, *link = NULL;
  g_auto (GStrv) lines = NULL;
  PolicySource source;
  gboolean valid = TRUE;

  tree_init (&tree);
  tree_write (&tree, "etc/agents/a.agent", "[Agent]\nSummary=S\nUser=alice\nOwner=hr.kim\n");
  tree_write (&tree, "etc/agents/b.agent",
              "[Agent]\nSummary=\nUser=hr.jones\nOwner=alice\nPart=x\n");
  tree_write (&tree, "etc/actions/x.y.action",
              "[Action]\nSummary=S\nEffect=read\n[Executor]\nCredential=c\n"
              "[Argument a]\nLable=A\nType=line\n"
              "[Argument b]\nLabel=B\nMinimum=1\nPattern=(\nType=line\n"
              "[Argument c]\nLabel=C\nMaxItems=2\nChoices=x x\nDefault=-\nType=choice\n");
  tree_write (&tree, "etc/rules/r.rule",
              "[Rule a]\nAgents=ghost ghost\nActions=x.y\nDecision=maybe\nWhen=nonsense\n"
              "[Rule b]\nAgents=*\nActions=x.*\nPasskey=hardware\nDecision=deny\n"
              "[Rule c]\nAgents=b\nActions=x.y z.u\nDecision=deny\nParts=none\n");
  tree_write (&tree, "etc/actions/z.u.action", "");
  tree_write (&tree, "etc/rules/s.rule", "[Rule a]\nAgents=a\nActions=x.y\nDecision=deny\n");
  link = g_build_filename (tree.config, "rules", "s.rule", NULL);
  g_assert_cmpint (g_chmod (link, 0666), ==, 0);
  source = tree_source (&tree);
  text = check (&source, &set_names, &valid);
  g_assert_false (valid);
  g_test_message ("%s", text);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; i < G_N_ELEMENTS (says); i++)
    assert_says (text, says[i]);
  g_assert_cmpuint (g_strv_length (lines), ==, G_N_ELEMENTS (says) + 1);
}

static void
test_staging (void)
{
  g_auto (Tree) tree;
  g_autofree char *text = NULL, *again = NULL;
  PolicySource source;
  gboolean valid = FALSE;

  tree_init (&tree);
  tree_write (&tree, "etc/modules/m.module", "[Module]\nSummary=S\n");
  tree_write (&tree, "etc/actions/x.y.action", "[Action]\nSummary=S\n[Executor]\nModule=m\n");
  tree_write (&tree, "etc/agents/a.agent", "[Agent]\nSummary=S\nUser=u\nOwner=o\n");
  source = tree_source (&tree);
  source.data_dir = "/nowhere";
  source.module_dir = NULL;
  text = check (&source, &policy_names_invented, &valid);
  g_assert_false (valid);
  source.staging = TRUE;
  again = check (&source, &policy_names_invented, &valid);
  g_assert_true (valid);
  assert_says (again, "policy is valid: 1 action, 1 agent, 0 rules\n");
  assert_says (again, "note: x.y: no rule is about it, so it is always denied\n");
}

static void
test_summary (void)
{
  static const char *const says[] = {
    "policy is valid: 4 actions, 2 agents, 5 rules\n",
    "agent offboarding: user agent-offboarding, acts for hr.jones, parts main licences\n",
    "    mail.send (irreversible)\n      asked (x.rule:a)\n        only part: licences\n"
    "        only when: to any-not *@example.com\n        from any 2 of: hr.jones @hr\n"
    "        never from: the agent, its owner, who opened the run\n"
    "        with a passkey: hardware phone\n        within: 90min\n"
    "        at most: 5 in 1d for each value of subject, all agents together\n",
    "    note.write (reversible)\n      denied (x.rule:b)\n",
    "      ALLOWED without asking (x.rule:c)\n        at most: 5 in 90s, all agents together\n",
    "    everything else: denied\n",
    "note: x.rule:d: there is no user ghost\n",
    "note: x.rule:e: nobody could approve for agent other: its owner is kept out",
    "note: account.suspend: no rule is about it, so it is always denied\n",
    "note: rules/old.rule is masked by /etc/undersign/rules/old.rule\n",
  };
  g_autoptr (Set) set = set_new ();
  g_autofree char *text = NULL;

  set_put (set, "rules/old.rule", "");
  set_put (set, "rules/x.rule",
           "[Rule a]\nAgents=offboarding\nActions=mail.send\nDecision=ask\nApprovers=hr.jones @hr\n"
           "Count=2\nSeparation=owner initiator\nPasskeys=phone hardware\nLifetime=90min\n"
           "Parts=licences\nWhen=to any-not *@example.com\nLimit=5/1d per subject all-agents\n"
           "[Rule b]\nAgents=*\nActions=note.*\nDecision=deny\n"
           "[Rule c]\nAgents=other\nActions=note.write\nDecision=allow\nLimit=5/90s all-agents\n"
           "[Rule d]\nAgents=other\nActions=account.list\nDecision=ask\nApprovers=ghost hr.kim\n"
           "[Rule e]\nAgents=other\nActions=account.list\nDecision=ask\nApprovers=alice\n");
  text = describe (set);
  for (guint i = 0; i < G_N_ELEMENTS (says); i++)
    assert_says (text, says[i]);
}

static void
test_group_that_is_not (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream (&text, &len);

  set_put (set, "rules/x.rule",
           "[Rule a]\nAgents=other\nActions=account.list\nDecision=ask\n"
           "Approvers=@no-such-group @root\n");
  policy = set_parse (set);
  policy_notes (policy, out);
  g_assert_cmpint (fflush (out), ==, 0);
  g_assert_null (strstr (text, "group"));
  policy->names.user_in_group = policy_names_system.user_in_group;
  policy_notes (policy, out);
  g_assert_cmpint (fclose (out), ==, 0);
  assert_says (text, "note: x.rule:a: there is no group no-such-group\n");
  g_assert_null (strstr (text, "group root"));
  free (text);
}

/* group_without_members: one of this machine; every system has some. */
static char *
group_without_members (void)
{
  const struct group *group = NULL;
  g_autofree char *name = NULL;

  setgrent ();
  while (name == NULL && (group = getgrent ()) != NULL)
    {
      const struct passwd *user = NULL;
      gid_t gid = group->gr_gid;

      if (group->gr_mem[0] != NULL)
        continue;
      name = g_strdup (group->gr_name);
      setpwent ();
      do
        user = getpwent ();
      while (user != NULL && user->pw_gid != gid);
      endpwent ();
      if (user != NULL)
        g_clear_pointer (&name, g_free);
    }
  endgrent ();
  return g_steal_pointer (&name);
}

static void
test_group_without_members (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  g_autofree char *name = group_without_members ();
  g_autofree char *rule = NULL, *note = NULL;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream (&text, &len);

  g_assert_nonnull (name);
  rule = g_strdup_printf ("[Rule a]\nAgents=other\nActions=account.list\nDecision=ask\n"
                          "Approvers=@%s\n",
                          name);
  note = g_strdup_printf ("note: x.rule:a: group %s has no members\n", name);
  set_put (set, "rules/x.rule", rule);
  policy = set_parse (set);
  policy->names.user_in_group = policy_names_system.user_in_group;
  policy_notes (policy, out);
  g_assert_cmpint (fclose (out), ==, 0);
  assert_says (text, note);
  free (text);
}

static void
test_count (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  PolicyCounts counts;

  set_put (set, "rules/x.rule", "[Rule a]\nAgents=*\nActions=*\nDecision=deny\n");
  policy = set_parse (set);
  policy_count (policy, &counts);
  g_assert_cmpuint (counts.actions, ==, 4);
  g_assert_cmpuint (counts.agents, ==, 2);
  g_assert_cmpuint (counts.rules, ==, 1);
}

/* --- the examples and the page --- */

static const char *const examples[] = { "household", "company", "helpdesk" };

static char *
source_file (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, name, NULL);
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

/* The manifest that the module comes with, or, while there is none, the one of the examples. */
static void
put_manifest (const Tree *tree, const char *module)
{
  g_autofree char *own = g_strdup_printf ("../../module/executor/%s/%s.module", module, module);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, own, NULL);
  g_autofree char *other = g_strdup_printf ("examples/modules/%s.module", module);
  g_autofree char *to = g_strdup_printf ("usr/modules/%s.module", module);
  g_autofree char *object = g_strdup_printf ("lib/%s.so", module);
  g_autofree char *text = source_file (g_file_test (path, G_FILE_TEST_EXISTS) ? own : other);

  tree_write (tree, to, text);
  tree_write (tree, object, "");
}

typedef void (*EachFile) (const char *name, const char *text, gpointer data);

/* Calls @each for every file of an example, as "rules/x.rule". */
static void
for_each_file (const char *example, EachFile each, gpointer data)
{
  for (guint folder = FOLDER_ACTIONS; folder < FOLDER_N; folder++)
    {
      const char *kind = folder_name ((Folder) folder);
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "examples", example, kind, NULL);
      g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
      const char *file;

      g_assert_nonnull (dir);
      while ((file = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *name = g_build_filename (kind, file, NULL);
          g_autofree char *from = g_build_filename ("examples", example, name, NULL);
          g_autofree char *text = source_file (from);

          each (name, text, data);
        }
    }
}

static void
copy_file (const char *name, const char *text, gpointer data)
{
  g_autofree char *to = g_build_filename ("etc", name, NULL);

  tree_write (data, to, text);
}

static void
test_examples (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (examples); i++)
    {
      g_auto (Tree) tree;
      g_autofree char *text = NULL;
      PolicySource source;
      gboolean valid = FALSE;

      tree_init (&tree);
      put_manifest (&tree, "mail");
      put_manifest (&tree, "null");
      for_each_file (examples[i], copy_file, &tree);
      source = tree_source (&tree);
      text = check (&source, &policy_names_invented, &valid);
      if (!valid || strstr (text, "note: ") != NULL)
        g_error ("%s: %s", examples[i], text);
    }
}

/* The page as it is read: macros stay, escapes go. */
static char *
read_page (void)
{
  g_autofree char *text = source_file ("../../service/policy/undersign-policy.5");
  GString *page = g_string_new (text);

  g_string_replace (page, "\\e", "\\", 0);
  g_string_replace (page, "\\&", "", 0);
  return g_string_free (page, FALSE);
}

static void
find_in_page (const char *name, const char *text, gpointer data)
{
  /* the other example shows the same action with another address */
  if (strstr (data, text) == NULL && strcmp (name, "actions/mail.send.action") != 0)
    g_error ("the page lacks %s as it is", name);
}

static void
test_examples_in_page (void)
{
  g_autofree char *page = read_page ();
  g_autofree char *mail = source_file ("examples/household/actions/mail.send.action");

  for (guint i = 0; i < G_N_ELEMENTS (examples); i++)
    for_each_file (examples[i], find_in_page, page);
  assert_says (page, mail);
}

static void
test_keys_in_page (void)
{
  const SectionSpec *const schemas[] = { module_schema, action_schema, agent_schema, rule_schema };
  g_autofree char *page = read_page ();

  for (guint i = 0; i < G_N_ELEMENTS (schemas); i++)
    for (const SectionSpec *section = schemas[i]; section->kind != NULL; section++)
      {
        g_autofree char *heading = g_strdup_printf (".It Bq %s%s", section->kind,
                                                    section->name_is_valid != NULL ? " " : "\n");
        const char *at = strstr (page, heading);

        assert_says (page, heading);
        for (const KeySpec *key = section->keys; key->name != NULL; key++)
          {
            g_autofree char *item = g_strdup_printf (".It Ic %s=", key->name);

            assert_says (at, item);
          }
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/check/faults", test_faults);
  g_test_add_func ("/policy/check/all-faults", test_all_faults);
  g_test_add_func ("/policy/check/staging", test_staging);
  g_test_add_func ("/policy/check/summary", test_summary);
  g_test_add_func ("/policy/check/group-that-is-not", test_group_that_is_not);
  g_test_add_func ("/policy/check/group-without-members", test_group_without_members);
  g_test_add_func ("/policy/check/count", test_count);
  g_test_add_func ("/policy/check/examples", test_examples);
  g_test_add_func ("/policy/check/examples-in-page", test_examples_in_page);
  g_test_add_func ("/policy/check/keys-in-page", test_keys_in_page);
  return g_test_run ();
}
