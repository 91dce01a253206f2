/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersignctl passkey list, revoke: who can approve. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/ctl/bus.h"
#include "service/ctl/ctl.h"
#include "service/ctl/output.h"
#include "service/passkey/passkey.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  char *credential; /* base64url */
  const char *user, *kind, *label, *rp, *key;
  guint32 uid;
  gint64 enrolled;
  gboolean active;
} Entry;

static char *list_user = NULL;

static const GOptionEntry list_options[] = {
  { "user", 0, 0, G_OPTION_ARG_STRING, &list_user, "Only this person's", "NAME" },
  G_OPTION_ENTRY_NULL,
};

/* FALSE for an entry that lacks something: none is shown half. */
static gboolean
entry_read (GVariant *dict, Entry *entry)
{
  g_autoptr (GVariant) credential =
      g_variant_lookup_value (dict, "credential", G_VARIANT_TYPE_BYTESTRING);

  if (credential == NULL || !g_variant_lookup (dict, "user", "&s", &entry->user) ||
      !g_variant_lookup (dict, "kind", "&s", &entry->kind) ||
      !g_variant_lookup (dict, "label", "&s", &entry->label) ||
      !g_variant_lookup (dict, "rp", "&s", &entry->rp) ||
      !g_variant_lookup (dict, "key", "&s", &entry->key) ||
      !g_variant_lookup (dict, "uid", "u", &entry->uid) ||
      !g_variant_lookup (dict, "enrolled", "x", &entry->enrolled) ||
      !g_variant_lookup (dict, "active", "b", &entry->active))
    return FALSE;
  entry->credential =
      base64url_encode (g_variant_get_data (credential), g_variant_get_size (credential));
  return TRUE;
}

static void
print_entry (const Entry *entry)
{
  g_autofree char *enrolled = clock_format (entry->enrolled);
  g_autofree char *uid = g_strdup_printf ("%u", entry->uid);

  printf ("%s\n", entry->credential);
  output_field ("person", entry->user);
  output_field ("uid", uid);
  output_field ("kind", entry->kind);
  output_field ("label", entry->label);
  output_field ("relying party", entry->rp);
  output_field ("public key", entry->key);
  output_field ("enrolled", enrolled);
  output_field ("state", entry->active ? "active" : "revoked or suspect");
}

static void
append_entry (JsonTree *array, const Entry *entry)
{
  JsonTree *object = json_tree_append (array, json_tree_new_object ());
  g_autofree char *enrolled = clock_format (entry->enrolled);
  g_autofree char *uid = g_strdup_printf ("%u", entry->uid);

  json_tree_add_string (object, "credential", entry->credential);
  json_tree_add_string (object, "user", entry->user);
  json_tree_add_string (object, "uid", uid);
  json_tree_add_string (object, "kind", entry->kind);
  json_tree_add_string (object, "label", entry->label);
  json_tree_add_string (object, "rp", entry->rp);
  json_tree_add_string (object, "key", entry->key);
  json_tree_add_string (object, "enrolled", enrolled);
  json_tree_add_boolean (object, "active", entry->active);
}

static gboolean
run_list (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (ctl, "ListPasskeys", NULL, -1, "(aa{sv})", error);
  g_autoptr (GVariant) list = NULL;
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *passkeys = json_tree_add (tree, "passkeys", json_tree_new_array ());

  if (reply == NULL)
    return FALSE;
  list = g_variant_get_child_value (reply, 0);
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) dict = g_variant_get_child_value (list, i);
      Entry entry = { 0 };

      if (!entry_read (dict, &entry))
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                             "the service gave a passkey of another shape");
      if (list_user == NULL || strcmp (list_user, entry.user) == 0)
        {
          if (ctl->json)
            append_entry (passkeys, &entry);
          else
            print_entry (&entry);
        }
      g_free (entry.credential);
    }
  if (ctl->json)
    output_json (tree);
  return TRUE;
}

static gboolean
run_revoke (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GBytes) credential = base64url_decode (arguments[0], PASSKEY_CREDENTIAL_MAX);
  gsize len = 0;
  const guint8 *data = NULL;

  if (credential == NULL || g_bytes_get_size (credential) == 0)
    return ctl_bad_word (ctl, error, "\"%s\" is no credential id as `passkey list` shows it",
                         arguments[0]);
  data = g_bytes_get_data (credential, &len);
  return bus_do (
      ctl, "RevokePasskey",
      g_variant_new ("(@ay)", g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, data, len, 1)),
      "revoked: approvals by it that were not used are void", error);
}

const CtlVerb passkey_verbs[] = {
  { "passkey list", "", "List the enrolled passkeys", 0, 0, list_options, run_list },
  { "passkey revoke", "CREDENTIAL", "Revoke a passkey", 1, 1, NULL, run_revoke },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
