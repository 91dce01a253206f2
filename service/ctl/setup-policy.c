/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policy as undersignctl setup would have it: what is there, and the text of what is not, which nothing
 * but the service's own reader judges: there is no other list of what is right.  It writes nothing.
 */
#include "service/ctl/setup-policy.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/file.h"
#include "service/ctl/new-agent.h"
#include "service/policy/name.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Of each file: where it is, and the section that holds what setup asks for. */
static const struct
{
  const char *folder, *suffix;
  const char *action; /* its name; NULL: the agent's */
  const char *section;
} kinds[SETUP_FILE_N] = {
  [SETUP_AGENT] = { "agents", "agent", NULL, "Agent" },
  [SETUP_REHEARSE] = { "actions", "action", "test.rehearse", "Executor" },
  [SETUP_MAIL] = { "actions", "action", "mail.send", "Executor" },
  [SETUP_RULE] = { "rules", "rule", NULL, "Rule" },
};

/* For finding what stands in a file; whether it may is judged elsewhere. */
static const KeySpec any_key[] = {
  { "When", KEY_REPEATABLE },
  { "Limit", KEY_REPEATABLE },
  { NULL, KEY_PLAIN },
};
static const SectionSpec sections[] = {
  { "Agent", NULL, SECTION_OPEN, any_key },
  { "Executor", NULL, SECTION_OPEN, any_key },
  { "Rule", name_is_plain, SECTION_OPEN, any_key },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

static const char *
file_name (const Setup *setup, SetupFile file)
{
  return kinds[file].action != NULL ? kinds[file].action : setup->agent;
}

char *
setup_policy_path (const Setup *setup, SetupFile file)
{
  return g_strdup_printf ("%s/%s/%s.%s", setup->ctl->config->config_dir, kinds[file].folder,
                          file_name (setup, file), kinds[file].suffix);
}

static Policy *
policy_load (const Setup *setup, GError **error)
{
  PolicyPlanned planned[SETUP_FILE_N + 1] = { 0 };
  guint n = 0;

  for (guint i = 0; i < SETUP_FILE_N; i++)
    if (setup->files[i].text != NULL)
      planned[n++] = (PolicyPlanned){ kinds[i].folder, file_name (setup, (SetupFile) i),
                                      setup->files[i].text };
  return new_agent_policy (setup->ctl->config, setup->user, planned, error);
}

gboolean
setup_policy_refused (const Setup *setup, GError **error)
{
  g_autoptr (GString) about = g_string_new (NULL);
  GError *refused = NULL;

  for (guint i = 0; i < SETUP_FILE_N; i++)
    if (setup->files[i].text != NULL && strstr ((*error)->message, setup->files[i].path) != NULL &&
        access (setup->files[i].path, F_OK) != 0)
      g_string_append_printf (about, "\n%s is not there: it is what would have been written",
                              setup->files[i].path);
  us_error_set (&refused, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID,
                "%s%s\nedit what is named here, then run setup again%s", error_text (*error), about->str,
                setup_has_changed () ? "" : "; nothing was written");
  g_clear_error (error);
  g_propagate_error (error, refused);
  return FALSE;
}

gboolean
setup_policy_check (Setup *setup, GError **error)
{
  policy_free (setup->policy);
  setup->policy = policy_load (setup, error);
  return setup->policy != NULL || setup_policy_refused (setup, error);
}

/* The first of the files that are there of which a line of the reader's words is. */
static const char *
found_file (const Setup *setup, const char *line)
{
  for (guint i = 0; i < SETUP_FILE_N; i++)
    {
      const char *path = setup->files[i].path;

      if (setup->files[i].found != NULL && g_str_has_prefix (line, path) && line[strlen (path)] == ':')
        return path;
    }
  return NULL;
}

gboolean
setup_policy_check_found (const Setup *setup, GError **error)
{
  g_autoptr (GString) about = g_string_new (NULL);
  g_autoptr (GError) local = NULL;
  g_autoptr (Policy) policy = policy_load (setup, &local);
  g_auto (GStrv) faults = g_strsplit (policy == NULL ? error_text (local) : "", "\n", -1);

  for (guint i = 0; faults[i] != NULL; i++)
    if (found_file (setup, faults[i]) != NULL)
      g_string_append_printf (about, "%s%s", about->len > 0 ? "\n" : "", faults[i]);
  if (about->len == 0)
    return TRUE;
  us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID, "%s", about->str);
  return setup_policy_refused (setup, error);
}

void
setup_policy_set (Setup *setup, SetupFile file, char *text)
{
  g_free (setup->files[file].text);
  setup->files[file].text = text;
}

static char *
fill (const char *form, const char *const *pairs)
{
  GString *text = g_string_new (form);

  for (gsize i = 0; pairs[i] != NULL; i += 2)
    g_string_replace (text, pairs[i], pairs[i + 1] != NULL ? pairs[i + 1] : "", 0);
  return g_string_free (text, FALSE);
}

void
setup_policy_compose (Setup *setup)
{
  const char *owner = setup->owner != NULL ? setup->owner : SETUP_UNKNOWN;
  const char *approver = setup->approver != NULL ? setup->approver : SETUP_UNKNOWN;
  const char *passkeys = setup->passkeys != NULL ? setup->passkeys : NEW_AGENT_PASSKEYS;
  const char *const pairs[] = {
    "@SERVER@", setup->server, "@FROM@", setup->from, "@CREDENTIAL@", SETUP_CREDENTIAL, NULL
  };

  if (setup->files[SETUP_AGENT].found == NULL)
    setup_policy_set (setup, SETUP_AGENT, new_agent_file (setup->agent, setup->user, owner));
  if (setup->files[SETUP_REHEARSE].found == NULL)
    setup_policy_set (setup, SETUP_REHEARSE, g_strdup (setup->files[SETUP_REHEARSE].form));
  if (setup->files[SETUP_MAIL].found == NULL)
    setup_policy_set (setup, SETUP_MAIL, fill (setup->files[SETUP_MAIL].form, pairs));
  if (setup->files[SETUP_RULE].found == NULL)
    setup_policy_set (setup, SETUP_RULE,
                      new_agent_rule (setup->agent, "test.rehearse mail.send", owner, approver, passkeys));
}

/* The line that is KEY=VALUE and nothing else; 0 where an answer is more than its line. */
static guint
line_of (const char *text, const char *key, const char *value)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *wanted = g_strdup_printf ("%s=%s", key, value);

  for (guint i = 0; lines[i] != NULL; i++)
    if (strcmp (lines[i], wanted) == 0)
      return i + 1;
  return 0;
}

char *
setup_policy_fault (const Setup *setup, SetupFile file, const char *key, const char *value)
{
  const guint line = line_of (setup->files[file].text, key, value);
  g_autofree char *mark = g_strdup_printf ("%s:%u: ", setup->files[file].path, line);
  g_autofree char *name = g_strdup_printf ("%s=: ", key);
  g_autoptr (GError) local = NULL;
  g_autoptr (Policy) policy = NULL;
  g_auto (GStrv) faults = NULL;

  if (line == 0)
    return g_strdup ("it cannot stand in one line of a file");
  policy = policy_load (setup, &local);
  faults = g_strsplit (policy == NULL ? error_text (local) : "", "\n", -1);
  for (guint i = 0; faults[i] != NULL; i++)
    if (g_str_has_prefix (faults[i], mark))
      {
        const char *text = faults[i] + strlen (mark);

        return g_strdup (g_str_has_prefix (text, name) ? text + strlen (name) : text);
      }
  return NULL;
}

gboolean
setup_policy_look (Setup *setup, SetupFile file, GError **error)
{
  const CtlConfig *config = setup->ctl->config;
  SetupPlanned *planned = &setup->files[file];
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) local = NULL;

  g_free (planned->path);
  planned->path = setup_policy_path (setup, file);
  bytes = file_read_trusted (AT_FDCWD, planned->path, config->policy_owner, KEY_FILE_MAX_BYTES, &local);
  if (bytes != NULL)
    {
      g_clear_pointer (&planned->text, g_free);
      planned->found = key_file_parse_rest (planned->path, bytes, sections, faults);
      return planned->found != NULL || faults_report (faults, error) || setup_policy_refused (setup, error);
    }
  if (!g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_INTERNAL, "%s", error_text (local));
  if (kinds[file].action == NULL)
    return TRUE;
  planned->form = setup_form (setup, kinds[file].action, error);
  return planned->form != NULL;
}

const char *
setup_policy_found (const Setup *setup, SetupFile file, const char *key)
{
  const KeySection *section = key_file_section (setup->files[file].found, kinds[file].section);

  return section != NULL ? key_section_value (section, key) : NULL;
}
