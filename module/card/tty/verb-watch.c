/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign watch: a line for each card that comes or goes, until it is ended.  Reads only.  When
 * the service restarts it is looked for again, and what waits is told anew.
 */
#include "module/card/tty/program.h"

#include "module/card/tty/service.h"
#include "module/card/tty/text.h"
#include "service/base/clock.h"

#define RETRY_SECONDS 2

typedef struct
{
  GQueue added; /* (element-type utf8): ids to look at */
  gboolean lost;
} Watch;

static void
on_news (ServiceNews news, const char *request, const char *word, gpointer data)
{
  Watch *watch = data;
  g_autofree char *id = g_strndup (request, 8);
  g_autofree char *state = escape_line (word);

  if (news == NEWS_ADDED)
    g_queue_push_tail (&watch->added, g_strdup (request));
  else if (news == NEWS_REMOVED)
    say ("%s  no longer waits: %s", id, state);
  else if (news == NEWS_LOST)
    watch->lost = TRUE;
}

static void
tell (Service *service, const char *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Card) card = service_card (service, request, &error);
  g_autofree char *id = g_strndup (request, 8);
  g_autofree char *summary = NULL, *left = NULL;

  if (card == NULL)
    {
      say ("%s  can't be shown: %s", id, error->message);
      return;
    }
  summary = escape_line (record_action_summary (card_record (card)));
  left = text_duration (card_seconds_left (card, clock_boottime ()));
  say ("%s  %s  for %s, %s left: undersign approve %s", id, summary,
       record_agent_name (card_record (card)), left, id);
}

/* One life of the service.  FALSE where it could not be reached at all. */
static gboolean
follow (const Trust *trust, GError **error)
{
  g_autoptr (Service) service = service_open (trust, error);
  g_autoptr (GPtrArray) requests = NULL;
  Watch watch = { G_QUEUE_INIT, FALSE };

  if (service == NULL)
    return FALSE;
  service_listen (service, on_news, &watch);
  requests = service_register (service, error);
  if (requests == NULL)
    return FALSE;
  for (guint i = 0; i < requests->len; i++)
    tell (service, ((const ServiceRequest *) g_ptr_array_index (requests, i))->id);
  if (requests->len == 0)
    say ("Nothing waits for you.");

  while (!watch.lost)
    {
      g_autofree char *next = g_queue_pop_head (&watch.added);

      if (next != NULL)
        tell (service, next);
      else
        g_main_context_iteration (NULL, TRUE);
    }
  g_queue_clear_full (&watch.added, g_free);
  return TRUE;
}

int
verb_watch (const Trust *trust, int argc, char **argv, GError **error)
{
  gboolean reached = FALSE;

  if (!program_parse ("watch", "", "Tells of each card as it comes and goes, until interrupted.",
                      NULL, 0, &argc, &argv, error))
    return EXIT_USAGE;
  for (;;)
    {
      g_autoptr (GError) local = NULL;

      if (!follow (trust, &local))
        {
          if (!reached)
            {
              g_propagate_error (error, g_steal_pointer (&local));
              return EXIT_REFUSED;
            }
          g_usleep (RETRY_SECONDS * G_USEC_PER_SEC);
          continue;
        }
      reached = TRUE;
      say ("The service left the bus; waiting for it.");
      g_usleep (RETRY_SECONDS * G_USEC_PER_SEC);
    }
}
