/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign pending: what waits for this person, a line or a JSON object each.  Reads only; a card
 * that cannot be read is told, not left out.
 */
#include "module/card/tty/program.h"

#include "module/card/tty/service.h"
#include "module/card/tty/text.h"
#include "service/base/clock.h"

static void
print_card (const Card *card)
{
  g_autofree char *left = text_duration (card_seconds_left (card, clock_boottime ()));
  g_autofree char *id = g_strndup (card_request (card), 8);
  const Record *record = card_record (card);
  g_autofree char *summary = escape_line (record_action_summary (record));

  say ("%s  %s  for %s (%s), %s left%s%s", id, summary, record_agent_name (record),
       record_agent_owner (record), left,
       card_deny_only (card) != NULL ? "; can only be denied" : "",
       card_credentials (card)->len == 0 ? "; not with a passkey of yours" : "");
}

int
verb_pending (const Trust *trust, int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "cards, as \"show --json\" has them",
      NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  g_autoptr (Service) service = NULL;
  g_autoptr (GPtrArray) requests = NULL;
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *cards = json_tree_add (tree, "cards", json_tree_new_array ());

  if (!program_parse ("pending", "", "Lists the requests that wait for your answer, oldest first.",
                      entries, 0, &argc, &argv, error))
    return EXIT_USAGE;
  service = service_open (trust, error);
  requests = service != NULL ? service_register (service, error) : NULL;
  if (requests == NULL)
    return EXIT_REFUSED;

  for (guint i = 0; i < requests->len; i++)
    {
      const ServiceRequest *request = g_ptr_array_index (requests, i);
      g_autoptr (GError) local = NULL;
      g_autoptr (Card) card = service_card (service, request->id, &local);
      g_autofree char *id = g_strndup (request->id, 8);

      if (card != NULL && json)
        json_tree_append (cards, card_to_tree (card));
      else if (card != NULL)
        print_card (card);
      else if (json)
        {
          JsonTree *object = json_tree_append (cards, json_tree_new_object ());
          g_autofree char *fault = escape_line (local->message);

          json_tree_add_string (object, "request", request->id);
          json_tree_add_string (object, "fault", fault);
        }
      else
        say ("%s  can't be shown: %s", id, local->message);
    }
  if (json)
    say_json (tree);
  else if (requests->len == 0)
    say ("Nothing waits for you.");
  return EXIT_OK;
}
