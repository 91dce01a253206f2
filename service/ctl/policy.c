/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl policy check, reload.  The check is offline and reads files as the service does, so
 * that a fault is found before it is in force.
 */
#include "service/policy/policy.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/ctl/bus.h"
#include "service/ctl/ctl.h"
#include "service/ctl/output.h"
#include "service/policy/check.h"
#include "service/policy/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NOTE "note: "
#define NOT_READ "not read: "

static gboolean no_users = FALSE;

static const GOptionEntry check_options[] = {
  { "no-users", 0, 0, G_OPTION_ARG_NONE, &no_users,
    "Do not look users and groups up: the files are for another host", NULL },
  G_OPTION_ENTRY_NULL,
};

/* Each fault is a line; the first one follows the reason. */
static gboolean
report_faults (const Ctl *ctl, const char *text)
{
  g_auto (GStrv) faults = g_strsplit (text, "\n", -1);
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *list = NULL;

  json_tree_add_boolean (tree, "valid", FALSE);
  list = json_tree_add (tree, "faults", json_tree_new_array ());
  for (gsize i = 0; faults[i] != NULL; i++)
    {
      g_autofree char *valid = g_utf8_make_valid (faults[i], -1);

      json_tree_append_string (list, valid);
    }
  if (ctl->json)
    output_json (tree);
  else
    for (guint i = 0; i < json_tree_length (list); i++)
      output_field ("fault", json_tree_string (json_tree_item (list, i)));
  return FALSE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* What stands in DIR beside what the service reads there, quoted: maybe "rule" for "rules". */
static GPtrArray *
list_unread (const char *path)
{
  static const char *const known[] = { "actions",       "agents",
                                       "rules",         "modules",
                                       "attestation.d", "relying-parties.d",
                                       "undersign.conf", NULL };
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name = NULL;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (name[0] != '.' && !g_strv_contains (known, name))
      g_ptr_array_add (names, quote_text (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static JsonTree *
notes_tree (const Policy *policy)
{
  JsonTree *list = json_tree_new_array ();
  g_auto (GStrv) lines = NULL;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream (&text, &len);

  if (out == NULL)
    return list;
  policy_notes (policy, out);
  fclose (out);
  lines = g_strsplit (text, "\n", -1);
  free (text);
  for (gsize i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], NOTE))
      {
        g_autofree char *valid = g_utf8_make_valid (lines[i] + strlen (NOTE), -1);

        json_tree_append_string (list, valid);
      }
  return list;
}

static void
report_valid (const Policy *policy, const GPtrArray *unread)
{
  JsonTree *notes = NULL;
  PolicyCounts counts = { 0 };
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autofree char *actions = NULL;
  g_autofree char *agents = NULL;
  g_autofree char *rules = NULL;

  policy_count (policy, &counts);
  actions = g_strdup_printf ("%u", counts.actions);
  agents = g_strdup_printf ("%u", counts.agents);
  rules = g_strdup_printf ("%u", counts.rules);
  json_tree_add_boolean (tree, "valid", TRUE);
  json_tree_add_string (tree, "actions", actions);
  json_tree_add_string (tree, "agents", agents);
  json_tree_add_string (tree, "rules", rules);
  notes = json_tree_add (tree, "notes", notes_tree (policy));
  for (guint i = 0; i < unread->len; i++)
    {
      g_autofree char *note = g_strconcat (NOT_READ, g_ptr_array_index (unread, i), NULL);

      json_tree_append_string (notes, note);
    }
  output_json (tree);
}

/* The message of a refused policy is "policy-invalid: " and the faults. */
static const char *
fault_text (const GError *error)
{
  const char *prefix = US_REASON_POLICY_INVALID ": ";

  return g_str_has_prefix (error->message, prefix) ? error->message + strlen (prefix)
                                                   : error->message;
}

static gboolean
check_json (const Ctl *ctl,
            const PolicySource *source,
            const PolicyNames *names,
            const GPtrArray *unread)
{
  g_autoptr (GError) fault = NULL;
  g_autoptr (Policy) policy = policy_check_load (source, names, &fault);

  if (policy == NULL)
    return report_faults (ctl, fault_text (fault));
  report_valid (policy, unread);
  return TRUE;
}

/* Whether DIR holds any policy: in a wrong folder nothing is wrong, so it would be called valid. */
static gboolean
holds_policy (const char *dir)
{
  static const char *const folders[] = { "actions", "agents", "rules" };

  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path = g_build_filename (dir, folders[i], NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return TRUE;
    }
  return FALSE;
}

static gboolean
run_check (Ctl *ctl, char **arguments, GError **error)
{
  const CtlConfig *config = ctl->config;
  PolicySource source = { .data_dir = config->data_dir,
                          .config_dir = config->config_dir,
                          .module_dir = config->module_dir,
                          .owner = config->policy_owner,
                          .must_be_readable = TRUE,
                          .reader_group = policy_reader_group () };
  const PolicyNames *names = no_users ? &policy_names_invented : &policy_names_system;
  g_autoptr (GPtrArray) unread = g_ptr_array_new ();
  struct stat status;

  if (arguments[0] != NULL)
    {
      if (stat (arguments[0], &status) != 0)
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                             "cannot read %s: %s", arguments[0], g_strerror (errno));
      if (!S_ISDIR (status.st_mode))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                             "%s is not a folder", arguments[0]);
      if (!holds_policy (arguments[0]))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                             "%s holds none of the folders actions, agents and rules",
                             arguments[0]);
      source.config_dir = arguments[0];
      g_ptr_array_unref (unread);
      unread = list_unread (arguments[0]);
      source.owner = status.st_uid;
      source.staging = TRUE;
      source.must_be_readable = status.st_uid == 0; /* else it is installed with other modes */
    }
  if (ctl->json)
    return check_json (ctl, &source, names, unread);
  if (!policy_check (&source, names, stdout))
    return FALSE;
  for (guint i = 0; i < unread->len; i++)
    printf (NOTE NOT_READ "%s\n", (const char *) g_ptr_array_index (unread, i));
  return TRUE;
}

static gboolean
run_reload (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (ctl, "ReloadPolicy", NULL, -1, "(s)", error);
  const char *fault = NULL;

  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(&s)", &fault);
  if (fault[0] != '\0')
    return report_faults (ctl, fault);
  output_done (ctl->json, "the policy on disk is in force");
  return TRUE;
}

const CtlVerb policy_verbs[] = {
  { "policy check", "[DIR]", "Read policy as the service would, and say what is wrong", 0, 1,
    check_options, run_check },
  { "policy reload", "", "Put the policy on disk in force", 0, 0, NULL, run_reload },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
