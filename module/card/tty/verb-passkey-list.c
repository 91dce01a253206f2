/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign passkey list: what is kept here.  Whether the service still takes a key is an
 * administrator's question: undersignctl(8) lists what is enrolled.
 */
#include "module/card/tty/program.h"

#include "service/base/encode.h"
#include "service/record/rows.h"

static char *
id_text (const KeyInfo *info)
{
  gsize len;
  const guint8 *data = g_bytes_get_data (info->credential, &len);

  return base64url_encode (data, len);
}

static void
add_object (JsonTree *array, const KeyInfo *info)
{
  JsonTree *object = json_tree_append (array, json_tree_new_object ());
  g_autofree char *id = id_text (info);

  json_tree_add_string (object, "credential", id);
  if (info->key != NULL)
    json_tree_add_string (object, "key", info->key);
  json_tree_add_string (object, "label", info->label);
  json_tree_add_string (object, "place", info->place);
  json_tree_add_string (object, "rp", info->rp);
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
  JsonTree *passkeys = json_tree_add (tree, "passkeys", json_tree_new_array ());

  if (!program_parse ("passkey list", "", "Lists the passkeys that are kept on this computer.",
                      entries, 0, &argc, &argv, error))
    return EXIT_USAGE;
  key = program_key (NULL, FALSE, error);
  infos = key != NULL ? key_list (key, error) : NULL;
  if (infos == NULL)
    return EXIT_REFUSED;

  for (guint i = 0; i < infos->len; i++)
    {
      const KeyInfo *info = g_ptr_array_index (infos, i);
      g_autofree char *id = id_text (info);
      g_autofree char *label = escape_line (info->label);

      if (json)
        add_object (passkeys, info);
      else
        say ("%s  %s, %s, public key %s", id, label, info->place,
             info->key != NULL ? info->key : "not known");
    }
  if (json)
    say_json (tree);
  else if (infos->len == 0)
    say ("No passkey is kept here.");
  return EXIT_OK;
}
