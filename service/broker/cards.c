/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who shows cards, and which.  A call of Register() waits while it is not known, after a start, who
 * may approve what; each that waits is answered once.
 */
#include "service/broker/cards.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

static int
compare_created (gconstpointer a, gconstpointer b)
{
  const Request *request_a = a;
  const Request *request_b = b;

  if (request_a->created != request_b->created)
    return request_a->created < request_b->created ? -1 : 1;
  return strcmp (request_a->id, request_b->id);
}

static GVariant *
cards_of (Broker *broker, uid_t uid)
{
  g_autoptr (GList) requests =
      g_list_sort (g_hash_table_get_values (broker->requests), compare_created);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(os)"));
  for (GList *l = requests; l != NULL; l = l->next)
    {
      const Request *request = l->data;
      g_autofree char *path = request_path (request);

      if (request->state == REQUEST_PENDING && request->is_ready && request->uid != uid &&
          request_approver (request, uid, NULL))
        g_variant_builder_add (&builder, "(os)", path, request_state_name (request->state));
    }
  return g_variant_builder_end (&builder);
}

static void
answer_register (Broker *broker, Call *call)
{
  g_autoptr (GError) error = NULL;

  if (!broker_check_caller (broker, call, &error) ||
      !signals_register (broker->signals, call_sender (call), call_uid (call), &error))
    call_fail (call, error);
  else
    call_return (call, g_variant_new ("(@a(os))", cards_of (broker, call_uid (call))));
}

/* After a start: a request of which it is not known yet who may approve it.  One that has to be
 * tried again is not waited for. */
static gboolean
are_unsettled (Broker *broker)
{
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, broker->requests);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Request *request = value;

      if (request->state == REQUEST_PENDING && !request->is_ready && request->retry_timer == NULL)
        return TRUE;
    }
  return FALSE;
}

static void
answer_all (gpointer data)
{
  Broker *broker = data;
  g_autoptr (GPtrArray) calls = g_steal_pointer (&broker->registering);

  broker->registering = g_ptr_array_new ();
  broker->registering_timer = NULL;
  for (guint i = 0; i < calls->len; i++)
    answer_register (broker, calls->pdata[i]);
}

void
cards_settled (Broker *broker)
{
  if (broker->registering->len == 0 || are_unsettled (broker))
    return;
  expiry_cancel (broker->expiry, broker->registering_timer);
  answer_all (broker);
}

void
cards_forget (Broker *broker, const char *name)
{
  g_autoptr (GError) error = NULL;

  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "the service is ending");
  for (guint i = broker->registering->len; i-- > 0;)
    if (name == NULL || strcmp (call_sender (broker->registering->pdata[i]), name) == 0)
      call_fail (g_ptr_array_remove_index (broker->registering, i), error);
}

/* The first that asks is often who had the service started: it waits for what is prepared anew, so
 * that nobody is told that nothing waits. */
void
cards_register (Broker *broker, Call *call)
{
  if (!are_unsettled (broker))
    {
      answer_register (broker, call);
      return;
    }
  g_ptr_array_add (broker->registering, call);
  if (broker->registering_timer == NULL)
    broker->registering_timer =
        expiry_add_seconds (broker->expiry, broker->register_wait, answer_all, broker);
}
