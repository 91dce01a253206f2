/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the folders: every file, owner, mode and name that refuses the whole set, then what the
 * configuration's files do to the shipped ones.  Works in a folder of its own.
 */
#include "service/policy/image.h"
#include "tests/policy/set.h"
#include "tests/policy/tree.h"

#include "dbus/error.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALLOW "Decision=allow\nLimit=5/1d\n"

static void
put_base (Tree *tree)
{
  tree_init (tree);
  tree_write (tree, "usr/modules/null.module", "[Module]\nSummary=Nothing\n");
  tree_write (tree, "usr/actions/x.y.action",
              "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n");
  tree_write (tree, "usr/rules/a.rule", "[Rule a]\nAgents=*\nActions=*\nDecision=deny\n");
  tree_write (tree, "etc/agents/other.agent",
              "[Agent]\nSummary=S\nUser=agent-other\nOwner=alice\n");
  tree_write (tree, "lib/null.so", "\177ELF");
}

static Policy *
tree_parse (const PolicySource *source)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) image = policy_snapshot (source, &error);
  Policy *policy;

  g_assert_no_error (error);
  policy = policy_parse (image, &set_names, &error);
  g_assert_no_error (error);
  return policy;
}

/* The snapshot is refused, with a line for @name ("etc/rules/x.rule") that holds @says. */
static void
assert_refused (const Tree *tree, const PolicySource *source, const char *name, const char *says)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) image = policy_snapshot (source, &error);
  g_autofree char *where = g_strdup_printf ("%s/%s: ", tree->top, name);
  const char *line;

  g_assert_null (image);
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  line = strstr (error->message, where);
  if (line == NULL || strstr (line, says) == NULL)
    g_error ("got %s\nwant %s%s", error->message, where, says);
}

/* The snapshot is taken, and its set refused with a text that holds @says. */
static void
assert_not_parsed (const PolicySource *source, const char *says)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) image = policy_snapshot (source, &error);

  g_assert_no_error (error);
  g_assert_null (policy_parse (image, &set_names, &error));
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  if (strstr (error->message, says) == NULL)
    g_error ("got %s\nwant %s", error->message, says);
}

static void
tree_chmod (const Tree *tree, const char *name, mode_t mode)
{
  g_autofree char *path = g_build_filename (tree->top, name, NULL);

  g_assert_cmpint (g_chmod (path, mode), ==, 0);
}

/* --- refusals --- */

static void
test_modes (void)
{
  static const struct
  {
    const char *name;
    mode_t good, bad;
  } rows[] = {
    { "usr/actions/x.y.action", 0644, 0664 },
    { "usr/actions/x.y.action", 0644, 0646 },
    { "etc/agents/other.agent", 0644, 0666 },
    { "usr/modules/null.module", 0644, 0664 },
    { "lib/null.so", 0644, 0775 },
    { "usr/actions", 0755, 0775 },
    { "etc/agents", 0755, 0757 },
    { "usr", 0755, 0775 },
    { "etc", 0755, 0777 },
    { "lib", 0755, 0775 },
  };
  g_auto (Tree) tree;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      tree_chmod (&tree, rows[i].name, rows[i].bad);
      assert_refused (&tree, &source, rows[i].name, "can be written by others");
      tree_chmod (&tree, rows[i].name, rows[i].good);
    }
  policy_free (tree_parse (&source));
}

/* What root can read and the executor cannot. */
static void
test_unreadable (void)
{
  static const struct
  {
    const char *name;
    mode_t good, bad;
  } rows[] = {
    { "usr/actions/x.y.action", 0644, 0600 },
    { "usr/actions/x.y.action", 0644, 0640 },
    { "etc/agents/other.agent", 0604, 0400 },
    { "lib", 0755, 0750 },
    { "lib/null.so", 0644, 0700 },
    { "usr/actions", 0755, 0700 },
    { "etc/agents", 0755, 0754 },
    { "etc/agents", 0755, 0751 },
    { "usr", 0755, 0750 },
    { "etc", 0755, 0700 },
  };
  g_auto (Tree) tree;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  source.reader_group = (gid_t) -1;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      tree_chmod (&tree, rows[i].name, rows[i].bad);
      source.must_be_readable = FALSE;
      policy_free (tree_parse (&source));
      source.must_be_readable = TRUE;
      assert_refused (&tree, &source, rows[i].name, "undersign-executor cannot read it");
      tree_chmod (&tree, rows[i].name, rows[i].good);
      policy_free (tree_parse (&source));
    }
  tree_chmod (&tree, "etc", 0700);
  source.staging = TRUE;
  policy_free (tree_parse (&source));
}

static void
test_readable_by_group (void)
{
  g_auto (Tree) tree;
  g_autofree char *path = NULL;
  PolicySource source;
  struct stat info;

  put_base (&tree);
  path = g_build_filename (tree.config, "agents/other.agent", NULL);
  g_assert_cmpint (stat (path, &info), ==, 0);
  source = tree_source (&tree);
  source.must_be_readable = TRUE;
  source.reader_group = info.st_gid;
  tree_chmod (&tree, "etc/agents/other.agent", 0640);
  policy_free (tree_parse (&source));
  tree_chmod (&tree, "etc/agents/other.agent", 0604);
  assert_refused (&tree, &source, "etc/agents/other.agent", "undersign-executor cannot read it");
}

static void
test_owner (void)
{
  g_auto (Tree) tree;
  g_autofree char *path = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  path = g_build_filename (tree.top, "usr/actions/x.y.action", NULL);
  if (getuid () == 0)
    {
      g_assert_cmpint (chown (path, 54321, 0), ==, 0);
      assert_refused (&tree, &source, "usr/actions/x.y.action", "does not belong to");
      return;
    }
  source.owner = getuid () + 1;
  assert_refused (&tree, &source, "usr", "does not belong to");
}

static void
test_names (void)
{
  static const struct
  {
    const char *name;
    const char *says;
  } rows[] = {
    { "etc/rules/x.rules", "not the name of a file of this folder (NAME.rule)" },
    { "etc/rules/x", "not the name" },
    { "etc/rules/.rule.rule/x", NULL },
    { "etc/rules/X.rule", "not the name" },
    { "etc/rules/x.rule.bak", "not the name" },
    { "etc/rules/x y.rule", "not the name" },
    { "etc/rules/x.conf", "not the name" },
    { "etc/actions/mail.action", "not the name" },
    { "etc/actions/x.rule", "not the name" },
    { "etc/agents/a.b.agent", "not the name" },
    { "etc/modules/null.module", "a manifest comes with its module" },
    { "usr/modules/this-is-a-long-name-x.module", "not the name" },
    { "etc/rules/.x.rule.swp", NULL },
    { "etc/rules/x.rule~", NULL },
    { "etc/rules/x.rule.dpkg-old", NULL },
    { "etc/rules/x.rule.rpmsave", NULL },
    { "etc/rules/x.rule.ucf-dist", NULL },
    { "etc/undersign.conf", NULL },
    { "etc/attestation.d/root.pem", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (Tree) tree;
      PolicySource source;

      put_base (&tree);
      source = tree_source (&tree);
      tree_write (&tree, rows[i].name, "not policy\n");
      if (rows[i].says != NULL)
        assert_refused (&tree, &source, rows[i].name, rows[i].says);
      else
        policy_free (tree_parse (&source));
    }
}

static void
test_not_regular (void)
{
  g_auto (Tree) tree;
  g_autofree char *link = NULL, *fifo = NULL, *folder = NULL, *config = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  tree_write (&tree, "etc/rules/a.rule", "");
  link = g_build_filename (tree.top, "etc/rules/link.rule", NULL);
  fifo = g_build_filename (tree.top, "etc/rules/fifo.rule", NULL);
  folder = g_build_filename (tree.top, "etc/rules/folder.rule", NULL);
  config = g_build_filename (tree.top, "linked", NULL);

  g_assert_cmpint (symlink ("/dev/null", link), ==, 0);
  assert_refused (&tree, &source, "etc/rules/link.rule", "");
  g_assert_cmpint (g_remove (link), ==, 0);
  g_assert_cmpint (mkfifo (fifo, 0644), ==, 0);
  assert_refused (&tree, &source, "etc/rules/fifo.rule", "is not a regular file");
  g_assert_cmpint (g_remove (fifo), ==, 0);
  g_assert_cmpint (g_mkdir (folder, 0755), ==, 0);
  assert_refused (&tree, &source, "etc/rules/folder.rule", "is not a regular file");
  g_assert_cmpint (g_remove (folder), ==, 0);

  g_assert_cmpint (symlink (tree.config, config), ==, 0);
  source.config_dir = config;
  assert_refused (&tree, &source, "linked", "");
}

static void
test_too_large (void)
{
  g_auto (Tree) tree;
  g_autofree char *text = g_strnfill (256 * 1024 + 1, '#');
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  tree_write (&tree, "etc/rules/x.rule", text);
  assert_refused (&tree, &source, "etc/rules/x.rule", "larger than");
}

static void
test_absent (void)
{
  g_auto (Tree) tree;
  g_autofree char *nowhere = NULL;
  PolicySource source;

  put_base (&tree);
  nowhere = g_build_filename (tree.top, "nowhere", NULL);
  source = tree_source (&tree);
  source.data_dir = nowhere;
  assert_refused (&tree, &source, "nowhere", "");
  source = tree_source (&tree);
  source.config_dir = nowhere;
  policy_free (tree_parse (&source));
  source.config_dir = NULL;
  policy_free (tree_parse (&source));
  source.staging = TRUE;
  source.config_dir = nowhere;
  assert_refused (&tree, &source, "nowhere", "");
}

/* A module without its shared object: fine for the snapshot, a fault of every action that names it.
 */
static void
test_no_object (void)
{
  g_auto (Tree) tree;
  g_autofree char *path = NULL;
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  path = g_build_filename (tree.objects, "null.so", NULL);
  g_assert_cmpint (g_remove (path), ==, 0);
  image = policy_snapshot (&source, &error);
  g_assert_no_error (error);
  g_assert_null (policy_parse (image, &set_names, &error));
  g_assert_nonnull (
      strstr (error->message, "x.y.action:5: module 'null' has a manifest but is not"));
  source.staging = TRUE;
  policy_free (tree_parse (&source));
}

/* --- what counts --- */

static void
test_override (void)
{
  g_auto (Tree) tree;
  g_autoptr (Policy) policy = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  tree_write (&tree, "etc/actions/x.y.action",
              "[Action]\nSummary=T\nEffect=reversible\n[Executor]\nModule=null\n");
  policy = tree_parse (&source);
  g_assert_cmpstr (policy_action (policy, "x.y")->summary, ==, "T");
  g_assert_cmpint (policy_action (policy, "x.y")->effect, ==, EFFECT_REVERSIBLE);
}

static void
test_mask (void)
{
  g_auto (Tree) tree;
  g_autoptr (GBytes) image_bytes = NULL;
  g_autoptr (Image) image = NULL;
  g_autoptr (Policy) policy = NULL;
  g_autofree char *etc_path = NULL;
  const ImageFile *file;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  tree_write (&tree, "etc/actions/x.y.action", "");
  policy = tree_parse (&source);
  g_assert_null (policy_action (policy, "x.y"));

  image_bytes = policy_snapshot (&source, NULL);
  image = image_decode (image_bytes, NULL);
  file = image_find (image, FOLDER_ACTIONS, "x.y");
  etc_path = g_build_filename (tree.config, "actions/x.y.action", NULL);
  g_assert_true (image_file_is_mask (file));
  g_assert_false (file->shipped);
  g_assert_cmpstr (file->path, ==, etc_path);
}

static void
test_shipped (void)
{
  g_auto (Tree) tree;
  g_autoptr (GBytes) image_bytes = NULL;
  g_autoptr (GError) error = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  tree_write (&tree, "etc/rules/b.rule", "[Rule a]\nAgents=other\nActions=x.y\n" ALLOW);
  policy_free (tree_parse (&source));
  tree_write (&tree, "usr/rules/b.rule", "[Rule a]\nAgents=other\nActions=x.y\n" ALLOW);
  policy_free (tree_parse (&source));
  source.config_dir = NULL;
  tree_write (&tree, "usr/agents/other.agent",
              "[Agent]\nSummary=S\nUser=agent-other\nOwner=alice\n");
  image_bytes = policy_snapshot (&source, &error);
  g_assert_no_error (error);
  g_assert_null (policy_parse (image_bytes, &set_names, &error));
  g_assert_nonnull (strstr (error->message, "no allow rule can be shipped"));
}

/* The same files give the same bytes, in whatever order the folder lists them. */
/* What a set would be with files that are not there yet, each in the place of what has its name. */
static void
test_planned (void)
{
  static const PolicyPlanned planned[] = {
    { "agents", "clerk", "[Agent]\nSummary=S\nUser=agent-offboarding\nOwner=hr.jones\n" },
    { "rules", "b", "[Rule a]\nAgents=clerk\nActions=x.y\n" ALLOW },
    { NULL, NULL, NULL },
  };
  static const PolicyPlanned broken[] = {
    { "rules", "b", "[Rule a]\nAgents=nobody-at-all\nActions=x.y\n" ALLOW },
    { NULL, NULL, NULL },
  };
  static const PolicyPlanned second[] = {
    { "agents", "again", "[Agent]\nSummary=S\nUser=agent-other\nOwner=alice\n" },
    { NULL, NULL, NULL },
  };
  g_auto (Tree) tree;
  g_autoptr (Policy) policy = NULL;
  g_autoptr (Policy) before = NULL;
  g_autofree char *path = NULL;
  g_autofree char *where = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  before = tree_parse (&source);
  g_assert_null (policy_agent_by_name (before, "clerk"));

  /* A fault of such a file names where it would be, and two of one user are one too many. */
  source.planned = broken;
  where = g_strdup_printf ("%s/etc/rules/b.rule:2", tree.top);
  assert_not_parsed (&source, where);
  source.planned = second;
  assert_not_parsed (&source, "etc/agents/again.agent");

  /* What is on the disk by that name does not count; nothing is written. */
  tree_write (&tree, "etc/rules/b.rule", broken[0].text);
  source.planned = NULL;
  assert_not_parsed (&source, where);
  source.planned = planned;
  policy = tree_parse (&source);
  g_assert_nonnull (policy_agent_by_name (policy, "clerk"));
  path = g_build_filename (tree.top, "etc/agents/clerk.agent", NULL);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_stable (void)
{
  g_auto (Tree) tree;
  g_autoptr (GBytes) first = NULL, second = NULL;
  PolicySource source;

  put_base (&tree);
  source = tree_source (&tree);
  for (guint i = 0; i < 50; i++)
    {
      g_autofree char *name = g_strdup_printf ("etc/rules/r%u.rule", i * 7 % 50);

      tree_write (&tree, name, "[Rule a]\nAgents=other\nActions=x.y\nDecision=deny\n");
    }
  first = policy_snapshot (&source, NULL);
  second = policy_snapshot (&source, NULL);
  g_assert_true (g_bytes_equal (first, second));
  policy_free (tree_parse (&source));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/snapshot/modes", test_modes);
  g_test_add_func ("/policy/snapshot/unreadable", test_unreadable);
  g_test_add_func ("/policy/snapshot/readable-by-group", test_readable_by_group);
  g_test_add_func ("/policy/snapshot/owner", test_owner);
  g_test_add_func ("/policy/snapshot/names", test_names);
  g_test_add_func ("/policy/snapshot/not-regular", test_not_regular);
  g_test_add_func ("/policy/snapshot/too-large", test_too_large);
  g_test_add_func ("/policy/snapshot/absent", test_absent);
  g_test_add_func ("/policy/snapshot/no-object", test_no_object);
  g_test_add_func ("/policy/snapshot/override", test_override);
  g_test_add_func ("/policy/snapshot/mask", test_mask);
  g_test_add_func ("/policy/snapshot/shipped", test_shipped);
  g_test_add_func ("/policy/snapshot/planned", test_planned);
  g_test_add_func ("/policy/snapshot/stable", test_stable);
  return g_test_run ();
}
