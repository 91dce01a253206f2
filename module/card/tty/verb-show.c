/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign show: the whole card on standard output, for reading alone; of a request that has
 * ended, its outcome.  What it prints is never an answer and never armed.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "module/card/tty/layout.h"
#include "module/card/tty/service.h"
#include "service/base/clock.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define PLAIN_COLUMNS 80

static guint
columns (void)
{
  struct winsize size = { 0 };

  if (!isatty (STDOUT_FILENO) || ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
    return PLAIN_COLUMNS;
  return size.ws_col;
}

static void
print_card (const Card *card)
{
  LayoutOptions options = { .columns = columns (),
                            .utf8 = g_get_charset (NULL),
                            .boottime = clock_boottime () };
  g_autoptr (GPtrArray) lines = layout_card (card, &options);

  for (guint i = 0; i < lines->len; i++)
    {
      const Line *line = g_ptr_array_index (lines, i);

      say ("%s%s", line->label, line->text);
    }
}

static int
print_outcome (Service *service, const char *request, gboolean json, GError **error)
{
  g_autoptr (ServiceOutcome) outcome = service_state (service, request, error);
  g_autoptr (JsonTree) tree = NULL;

  if (outcome == NULL)
    return EXIT_REFUSED;
  if (json)
    {
      tree = json_tree_new_object ();
      json_tree_add_string (tree, "request", request);
      json_tree_add_string (tree, "state", outcome->state);
      json_tree_add_string (tree, "executed", outcome->executed);
      json_tree_add_string (tree, "reason", outcome->reason);
      json_tree_add_string (tree, "result", outcome->result);
      say_json (tree);
      return EXIT_OK;
    }
  say ("%s: %s", request, outcome->state);
  say ("executed: %s", outcome->executed);
  if (outcome->reason[0] != '\0')
    say ("reason: %s", outcome->reason);
  if (outcome->result[0] != '\0')
    say ("result: %s", outcome->result);
  return EXIT_OK;
}

int
verb_show (const Trust *trust, int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "one JSON object", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  g_autoptr (Service) service = NULL;
  g_autofree char *request = NULL;
  g_autoptr (GError) ended = NULL;
  g_autoptr (Card) card = NULL;

  if (!program_parse ("show", "ID",
                      "Prints a card, or the outcome of a request whose card was yours.  To answer "
                      "it, use \"undersign approve\" or \"undersign deny\".",
                      entries, 1, &argc, &argv, error))
    return EXIT_USAGE;
  if (!service_check_id (argv[1], error))
    return EXIT_USAGE;
  service = service_open (trust, error);
  request = service != NULL ? service_find (service, argv[1], error) : NULL;
  if (request == NULL)
    return EXIT_REFUSED;

  card = service_card (service, request, &ended);
  if (card == NULL && !g_error_matches (ended, US_ERROR, US_ERROR_NOT_FOUND) &&
      !g_error_matches (ended, US_ERROR, US_ERROR_WRONG_STATE))
    {
      g_propagate_error (error, g_steal_pointer (&ended));
      return EXIT_REFUSED;
    }
  if (card == NULL || service_state_is_final (card_state (card)))
    return print_outcome (service, request, json, error);
  if (json)
    {
      g_autoptr (JsonTree) tree = card_to_tree (card);

      say_json (tree);
    }
  else
    print_card (card);
  return EXIT_OK;
}
