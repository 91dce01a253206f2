/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/policy/set.h"

#include "dbus/error.h"
#include "service/policy/image.h"

#include <string.h>

#define ETC "/etc/undersign/"
#define USR "/usr/share/undersign/"

typedef struct
{
  char *text;
  gboolean shipped;
} SetFile;

struct Set
{
  GTree *files;   /* "rules/x.rule" → SetFile */
  GTree *objects; /* "mail" → itself */
};

/* --- users --- */

static const struct
{
  const char *name;
  uid_t uid;
  const char *group;
} users[] = {
  { "root", 0, "root" },
  { "undersign", 901, "undersign" },
  { "undersign-executor", 902, "undersign" },
  { "undersign-mail", 903, "undersign" },
  { "agent-offboarding", 2001, "agents" },
  { "agent-other", 2002, "agents" },
  { "hr.jones", 3001, "hr" },
  { "hr.kim", 3002, "hr" },
  { "it.lead", 3003, "it-leads" },
  { "alice", 3004, "alice" },
  { "twin", 3004, "alice" },
  { "nobody", 65534, "nogroup" },
};

static const char *moved;
static uid_t moved_uid;

void
set_move_user (const char *name, uid_t uid)
{
  moved = name;
  moved_uid = uid;
}

static uid_t
uid_now (guint i)
{
  return g_strcmp0 (moved, users[i].name) == 0 ? moved_uid : users[i].uid;
}

static gboolean
user_by_name (const char *name, uid_t *out_uid)
{
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    if (strcmp (users[i].name, name) == 0 && uid_now (i) != SET_GONE)
      {
        *out_uid = uid_now (i);
        return TRUE;
      }
  return FALSE;
}

static gboolean
user_by_uid (uid_t uid, char **out_name)
{
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    if (uid_now (i) == uid && uid != SET_GONE)
      {
        *out_name = g_strdup (users[i].name);
        return TRUE;
      }
  return FALSE;
}

static gboolean
user_in_group (const char *user, const char *group)
{
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    if (strcmp (users[i].name, user) == 0 && strcmp (users[i].group, group) == 0)
      return TRUE;
  return FALSE;
}

const PolicyNames set_names = {
  .user_by_name = user_by_name,
  .user_by_uid = user_by_uid,
  .user_in_group = user_in_group,
};

/* --- files --- */

static const struct
{
  const char *name;
  const char *text;
} base[] = {
  { "modules/mail.module", "[Module]\nSummary=Mail\nDescribe=yes\n"
                           "[Setting server]\nLabel=Server\nType=hostport\nRequired=yes\n"
                           "[Setting from]\nLabel=From\nType=email\nRequired=yes\n"
                           "[Setting reply-to]\nLabel=Reply to\nType=email\n" },
  { "modules/null.module", "[Module]\nSummary=Nothing\n" },
  { "actions/mail.send.action",
    "[Action]\nSummary=Send an e-mail\nEffect=irreversible\n"
    "[Executor]\nModule=mail\nCredential=work-smtp\nServer=smtp.example.com:587\n"
    "From=offboarding@example.com\n"
    "[Argument to]\nLabel=To\nType=email-list\nRequired=yes\n"
    "[Argument cc]\nLabel=Cc\nType=email-list\n"
    "[Argument bcc]\nLabel=Bcc\nType=email-list\n"
    "[Argument subject]\nLabel=Subject\nType=line\nRequired=yes\n"
    "[Argument body]\nLabel=Text\nType=text\n"
    "[Argument attachment]\nLabel=Attachments\nType=file-list\n" },
  { "actions/note.write.action", "[Action]\nSummary=Write a note\nEffect=reversible\n"
                                 "[Executor]\nModule=null\n"
                                 "[Argument text]\nLabel=Text\nType=line\nRequired=yes\n"
                                 "[Argument amount]\nLabel=Amount\nType=money\n"
                                 "[Argument until]\nLabel=Until\nType=timestamp\n"
                                 "[Argument urgent]\nLabel=Urgent\nType=boolean\n" },
  { "actions/account.list.action",
    "[Action]\nSummary=List accounts\nEffect=read\n[Executor]\nModule=null\n" },
  { "actions/account.suspend.action",
    "[Action]\nSummary=Suspend an account\nEffect=reversible\n"
    "[Executor]\nModule=mail\nServer=smtp.example.com:587\nFrom=it@example.com\n"
    "[Argument account]\nLabel=Account\nType=account\nRequired=yes\n"
    "[Fact manager]\nLabel=Manager\nType=account\n"
    "[Fact known]\nLabel=Known\nType=line\nRecheck=yes\n" },
  { "agents/offboarding.agent", "[Agent]\nSummary=Offboarding agent\nUser=agent-offboarding\n"
                                "Owner=hr.jones\nParts=main licences\nInitiators=hr.kim\n" },
  { "agents/other.agent", "[Agent]\nSummary=Another\nUser=agent-other\nOwner=alice\n" },
};

static void
set_file_free (gpointer data)
{
  SetFile *file = data;

  g_free (file->text);
  g_free (file);
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  return strcmp (a, b);
}

static void
put (Set *set, const char *name, const char *text, gboolean shipped)
{
  SetFile *file;

  if (text == NULL)
    {
      g_tree_remove (set->files, name);
      return;
    }
  file = g_new0 (SetFile, 1);
  file->text = g_strdup (text);
  file->shipped = shipped;
  g_tree_replace (set->files, g_strdup (name), file);
}

void
set_put (Set *set, const char *name, const char *text)
{
  put (set, name, text, g_str_has_prefix (name, "modules/"));
}

void
set_put_shipped (Set *set, const char *name, const char *text)
{
  put (set, name, text, TRUE);
}

void
set_remove_object (Set *set, const char *module)
{
  g_tree_remove (set->objects, module);
}

Set *
set_new (void)
{
  Set *set = g_new0 (Set, 1);

  set->files = g_tree_new_full (compare, NULL, g_free, set_file_free);
  set->objects = g_tree_new_full (compare, NULL, g_free, NULL);
  g_tree_insert (set->objects, g_strdup ("mail"), NULL);
  g_tree_insert (set->objects, g_strdup ("null"), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (base); i++)
    set_put (set, base[i].name, base[i].text);
  return set;
}

void
set_free (Set *set)
{
  if (set == NULL)
    return;
  g_tree_unref (set->files);
  g_tree_unref (set->objects);
  g_free (set);
}

/* --- image --- */

static gboolean
add_file (gpointer key, gpointer value, gpointer data)
{
  GVariantBuilder *builder = data;
  const SetFile *file = value;
  const char *slash = strchr (key, '/');
  g_autofree char *folder = g_strndup (key, (gsize) (slash - (const char *) key));
  g_autofree char *path = g_strconcat (file->shipped ? USR : ETC, key, NULL);
  g_autofree char *name = g_strdup (slash + 1);

  *strrchr (name, '.') = '\0';
  g_variant_builder_add (
      builder, "(ssbs@ay)", folder, name, file->shipped, path,
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, file->text, strlen (file->text), 1));
  return FALSE;
}

static gboolean
add_object (gpointer key, gpointer value, gpointer data)
{
  g_autofree char *path = g_strdup_printf ("/usr/lib/undersign/modules/%s.so", (char *) key);
  guint8 digest[32] = { ((const char *) key)[0] };

  g_variant_builder_add ((GVariantBuilder *) data, "(ss@ay)", key, path,
                         g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, digest, 32, 1));
  return FALSE;
}

GBytes *
set_image (Set *set)
{
  GVariantBuilder files, objects;
  g_autoptr (GVariant) root = NULL;

  g_variant_builder_init (&files, G_VARIANT_TYPE ("a" IMAGE_FILE_TYPE));
  g_variant_builder_init (&objects, G_VARIANT_TYPE ("a" IMAGE_MODULE_TYPE));
  g_tree_foreach (set->files, add_file, &files);
  g_tree_foreach (set->objects, add_object, &objects);
  root = g_variant_ref_sink (g_variant_new ("(s@a" IMAGE_FILE_TYPE "@a" IMAGE_MODULE_TYPE ")",
                                            IMAGE_FORMAT, g_variant_builder_end (&files),
                                            g_variant_builder_end (&objects)));
  return g_variant_get_data_as_bytes (root);
}

Policy *
set_parse (Set *set)
{
  g_autoptr (GBytes) image = set_image (set);
  g_autoptr (GError) error = NULL;
  Policy *policy = policy_parse (image, &set_names, &error);

  g_assert_no_error (error);
  g_assert_nonnull (policy);
  return policy;
}

char *
set_faults (Set *set)
{
  g_autoptr (GBytes) image = set_image (set);
  g_autoptr (GError) error = NULL;
  g_autoptr (Policy) policy = policy_parse (image, &set_names, &error);
  GString *text;

  g_assert_true ((policy == NULL) == (error != NULL));
  if (error == NULL)
    return NULL;
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  text = g_string_new (error->message + strlen ("policy-invalid: "));
  g_string_replace (text, ETC, "", 0);
  g_string_replace (text, USR, "", 0);
  return g_string_free (text, FALSE);
}

char *
set_where (const char *path, guint line)
{
  return line > 0 ? g_strdup_printf ("%s:%u: ", path, line) : g_strconcat (path, ": ", NULL);
}

void
set_assert_fault (Set *set, const char *where, const char *says)
{
  g_autofree char *faults = set_faults (set);
  g_auto (GStrv) lines = g_strsplit (faults != NULL ? faults : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], where) && strstr (lines[i], says) != NULL)
      return;
  g_error ("got %s\nwant %s%s", faults, where, says);
}

/* --- records --- */

static void
add_arguments (RecordBuilder *builder, const PolicyAction *action, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) arguments =
      g_variant_parse (G_VARIANT_TYPE ("a(sv)"), text, NULL, NULL, &error);
  g_autoptr (GPtrArray) values = NULL;

  g_assert_no_error (error);
  values = policy_bind_arguments (action, arguments, NULL, 0, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      record_builder_argument (builder, argument->name, argument->label, type_name (argument->type),
                               json_tree_copy (g_ptr_array_index (values, i)));
    }
}

static void
add_facts (RecordBuilder *builder, const PolicyAction *action, const char *const *facts)
{
  for (guint i = 0; i < action->facts->len; i++)
    {
      const PolicyFact *fact = g_ptr_array_index (action->facts, i);
      JsonTree *value = json_tree_new_string ("");

      for (guint j = 0; facts != NULL && facts[j] != NULL; j++)
        if (g_str_has_prefix (facts[j], fact->name) && facts[j][strlen (fact->name)] == '=')
          {
            json_tree_free (value);
            value = json_tree_new_string (facts[j] + strlen (fact->name) + 1);
          }
      record_builder_fact (builder, fact->name, fact->label, type_name (fact->type), value,
                           fact->recheck);
    }
}

Record *
set_record (const Policy *policy,
            const char *agent_name,
            const char *part,
            const char *action_id,
            const char *arguments,
            const char *initiator,
            const char *const *facts)
{
  static const char *const effects[] = { "irreversible", "reversible", "read" };
  const PolicyAgent *agent = policy_agent_by_name (policy, agent_name);
  const PolicyAction *action = policy_action (policy, action_id);
  g_autoptr (RecordBuilder) builder = record_builder_new ("0123456789abcdef0123456789abcdef");
  g_autofree char *digest = policy_digest (policy, agent, action);
  g_autoptr (GError) error = NULL;
  uid_t uid = 0;
  Record *record;

  record_builder_agent (builder, agent->name, agent->uid, agent->owner, part);
  g_assert_true (initiator == NULL || user_by_name (initiator, &uid));
  record_builder_run (builder, "00000000000000000000000000000001", "ticket", initiator, uid);
  record_builder_action (builder, action->id, action->summary, effects[action->effect]);
  add_arguments (builder, action, arguments);
  add_facts (builder, action, facts);
  record_builder_executor (builder, action->module, action->credential);
  for (guint i = 0; i < action->settings->len; i++)
    {
      const PolicySetting *setting = g_ptr_array_index (action->settings, i);

      record_builder_setting (builder, setting->name, setting->label, type_name (setting->type),
                              json_tree_copy (setting->value));
    }
  record_builder_policy (builder, digest);
  record = record_builder_end (builder, &error);
  g_assert_no_error (error);
  return record;
}
