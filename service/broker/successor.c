/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a refused execution leaves behind: the same wish, asked anew, so that a person sees what
 * changed.  It is only ever asked: where policy would now let it through, the agent has to submit it
 * itself.
 */
#include "service/broker/successor.h"

#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/broker/life.h"
#include "service/broker/prepare.h"

typedef struct
{
  Broker *broker;
  Request *refused;
  char *id;
  GVariant *raw;
} Succession;

static void
succession_free (Succession *succession)
{
  request_unref (succession->refused);
  g_variant_unref (succession->raw);
  g_free (succession->id);
  g_free (succession);
}

/* Keeps the successor, which takes over the key, the files and the place of the refused one. */
static gboolean
succeed (Broker *broker, Request *refused, Request *successor, GError **error)
{
  const RequestChange change = { .in_place_of = refused };

  g_free (successor->supersedes);
  successor->supersedes = g_strdup (refused->id);
  g_free (successor->cause);
  successor->cause = g_strdup (refused->reason);
  successor->created = clock_wall ();

  if (!files_rename (broker->spool, refused->id, successor->id, refused->files, error))
    return FALSE;
  successor->files = g_steal_pointer (&refused->files);
  broker_add_request (broker, successor);
  if (request_move (successor, REQUEST_PENDING, &change, error))
    return TRUE;
  /* Its place and its files end with it. */
  life_end (broker, successor);
  return FALSE;
}

/* Calls of Submit() with its key, which came meanwhile: they are given what takes its place. */
static void
answer_waiting (Request *refused, Request *successor)
{
  if (refused->successor[0] == '\0')
    {
      life_answer (refused, NULL);
      return;
    }
  g_ptr_array_extend_and_steal (successor->waiting, g_steal_pointer (&refused->waiting));
  refused->waiting = g_ptr_array_new ();
  life_answer (successor, NULL);
}

static void
prepared (const Handover *reply, const GError *error, gpointer data)
{
  Succession *succession = data;
  Broker *broker = succession->broker;
  Request *refused = succession->refused;
  g_autoptr (Request) successor = NULL;
  g_autoptr (GError) local = NULL;
  gboolean asks = FALSE;

  if (error != NULL)
    g_message ("request %s has no successor: %s", refused->id, error->message);
  else
    {
      successor = request_new (succession->id, refused->uid, &broker->request_hooks);
      if (!prepare_take (successor, succession->raw, reply, &asks, &local) ||
          (asks && !succeed (broker, refused, successor, &local)))
        g_warning ("request %s has no successor: %s", refused->id, local->message);
    }

  answer_waiting (refused, successor);
  if (refused->successor[0] != '\0')
    signals_changed (broker->signals, refused);
  life_end (broker, refused);
  succession_free (succession);
}

void
successor_begin (Broker *broker, Request *refused)
{
  Succession *succession = g_new0 (Succession, 1);

  succession->broker = broker;
  succession->refused = request_ref (refused);
  succession->id = random_id ();
  succession->raw = prepare_raw_of_successor (refused, succession->id);
  prepare_send (broker->executor, broker->catalog, succession->raw, refused->files, prepared,
                succession);
}
