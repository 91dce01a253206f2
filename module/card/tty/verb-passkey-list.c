/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign passkey list: what is kept here, with what cannot be read of it.  Whether the service still
 * takes a key is an administrator's question: undersignctl(8) lists what is enrolled.
 */
#include "module/card/tty/program.h"

#include "module/card/key/software.h"
#include "service/base/encode.h"
#include "service/record/rows.h"

#include <string.h>

/* Of one that cannot be read and whose name is no id: its name. */
static char *
id_text (const KeyInfo *info)
{
  gsize len;
  const guint8 *data = NULL;

  if (info->credential == NULL)
    return escape_line (info->label);
  data = g_bytes_get_data (info->credential, &len);
  return base64url_encode (data, len);
}

static void
add_object (JsonTree *array, const KeyInfo *info)
{
  JsonTree *object = json_tree_append (array, json_tree_new_object ());
  g_autofree char *id = id_text (info);

  json_tree_add_string (object, "credential", id);
  if (info->fault != NULL)
    json_tree_add_string (object, "fault", info->fault);
  if (info->key != NULL)
    json_tree_add_string (object, "key", info->key);
  if (info->fault == NULL)
    json_tree_add_string (object, "label", info->label);
  json_tree_add_string (object, "place", info->place);
  if (info->fault == NULL)
    json_tree_add_string (object, "rp", info->rp);
}

static void
say_one (const KeyInfo *info)
{
  g_autofree char *id = id_text (info);
  g_autofree char *text = escape_line (info->fault != NULL ? info->fault : info->label);

  if (info->fault != NULL)
    say ("%s  %s, cannot be read: %s", id, info->place, text);
  else
    say ("%s  %s, %s, public key %s", id, text, info->place,
         info->key != NULL ? info->key : "not known");
}

int
verb_passkey_list (const Trust *trust, int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "one JSON object", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  g_autoptr (Key) key = NULL;
  g_autoptr (GPtrArray) infos = NULL;
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  const char *unseen = software_key_unseen ();
  JsonTree *passkeys = json_tree_add (tree, "passkeys", json_tree_new_array ());

  if (!program_parse ("passkey list", "", "Lists the passkeys that are kept on this computer.",
                      entries, 0, &argc, &argv, error))
    return EXIT_USAGE;
  key = program_key (NULL, FALSE, error);
  infos = key != NULL ? key_list (key, error) : NULL;
  if (infos == NULL)
    return EXIT_REFUSED;
  if (unseen[0] != '\0')
    g_printerr ("undersign: %s\n", unseen + strlen ("; "));

  for (guint i = 0; i < infos->len; i++)
    {
      if (json)
        add_object (passkeys, g_ptr_array_index (infos, i));
      else
        say_one (g_ptr_array_index (infos, i));
    }
  if (json)
    say_json (tree);
  else if (infos->len == 0)
    say ("No passkey is kept here.");
  return EXIT_OK;
}
