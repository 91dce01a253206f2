/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl agent add, login, shares: the table, and what is asked of undersign-launcher.  What
 * is passed between terminals is the person's command's business, so login becomes that.
 */
#include "service/ctl/agent-add.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/ctl/bus.h"
#include "service/ctl/output.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *end_id = NULL;

static const GOptionEntry shares_options[] = {
  { "end", 0, 0, G_OPTION_ARG_STRING, &end_id, "End the command of this id, and its shares", "ID" },
  G_OPTION_ENTRY_NULL,
};

static gboolean
run_login (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  const guint command = g_strcmp0 (arguments[1], "--") == 0 ? 2 : 1;

  if (arguments[command] == NULL)
    return ctl_bad_word (ctl, error, "there is no command; it comes behind --");
  g_ptr_array_add (argv, (gpointer) "undersign");
  g_ptr_array_add (argv, (gpointer) "launch");
  g_ptr_array_add (argv, (gpointer) "--no-run");
  g_ptr_array_add (argv, arguments[0]);
  g_ptr_array_add (argv, (gpointer) "--");
  for (guint i = command; arguments[i] != NULL; i++)
    g_ptr_array_add (argv, arguments[i]);
  g_ptr_array_add (argv, NULL);
  execv (ctl->config->undersign, (char **) argv->pdata);
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot execute %s: %s",
                       ctl->config->undersign, g_strerror (errno));
}

/* --- shares --- */

static char *
user_name (guint32 uid)
{
  const struct passwd *user = getpwuid ((uid_t) uid);

  return user != NULL ? g_strdup (user->pw_name) : g_strdup_printf ("%u", uid);
}

static void
add_share (JsonTree *list, const char *id, const char *agent, guint32 uid, GVariant *share)
{
  g_autofree char *user = user_name (uid);
  JsonTree *entry = json_tree_append (list, json_tree_new_object ());
  const char *path = NULL, *access = NULL;

  g_variant_get (share, "(&s&s)", &path, &access);
  json_tree_add_string (entry, "access", access);
  json_tree_add_string (entry, "agent", agent);
  json_tree_add_string (entry, "id", id);
  json_tree_add_string (entry, "path", path);
  json_tree_add_string (entry, "user", user);
}

static void
list_shares (GVariant *commands, const char *wanted, JsonTree *list)
{
  for (gsize i = 0; i < g_variant_n_children (commands); i++)
    {
      g_autoptr (GVariant) shares = NULL;
      const char *id = NULL, *agent = NULL;
      guint32 uid = 0;

      g_variant_get_child (commands, i, "(&s&su@a(ss))", &id, &agent, &uid, &shares);
      for (gsize k = 0; k < g_variant_n_children (shares); k++)
        {
          g_autoptr (GVariant) share = g_variant_get_child_value (shares, k);

          if (wanted == NULL || strcmp (wanted, agent) == 0)
            add_share (list, id, agent, uid, share);
        }
    }
}

/* On a terminal none is said, too; of lines, a program counts none. */
static void
print_shares (const JsonTree *list)
{
  if (json_tree_length (list) == 0 && isatty (STDOUT_FILENO))
    puts ("no folder is shared at the moment");
  for (guint i = 0; i < json_tree_length (list); i++)
    {
      const JsonTree *entry = json_tree_item (list, i);
      g_autofree char *text = g_strdup_printf (
          "%s for %s, %s", json_tree_get_string (entry, "path"),
          json_tree_get_string (entry, "agent"), json_tree_get_string (entry, "access"));

      output_field (json_tree_get_string (entry, "id"), text);
    }
}

static gboolean
run_shares (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GVariant) reply = NULL, commands = NULL;
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *list = json_tree_add (tree, "shares", json_tree_new_array ());

  if (end_id != NULL)
    {
      reply = bus_call_launcher (ctl, "End", g_variant_new ("(s)", end_id), "()", error);
      if (reply != NULL)
        output_done (ctl->json, "it is being ended, and its shares with it");
      return reply != NULL;
    }
  reply = bus_call_launcher (ctl, "List", NULL, "(a(ssua(ss)))", error);
  if (reply == NULL)
    return FALSE;
  commands = g_variant_get_child_value (reply, 0);
  list_shares (commands, arguments[0], list);
  if (ctl->json)
    output_json (tree);
  else
    print_shares (list);
  return TRUE;
}

const CtlVerb agent_verbs[] = {
  { "agent add", "--owner=USER NAME", "Give a new agent a user, a file and a first rule", 1, 1,
    agent_add_options, agent_add },
  { "agent login", "NAME -- COMMAND…", "Run a command as an agent of yours, e.g. to log in", 1,
    G_MAXUINT, NULL, run_login },
  { "agent shares", "[NAME]", "List the folders that agents have, or end one's command", 0, 1,
    shares_options, run_shares },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
