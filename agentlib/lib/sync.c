/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A blocking call runs the asynchronous one in a main context of its own, so that nothing else of the
 * program runs meanwhile.
 */
#include "agentlib/lib/sync.h"

Sync *
sync_begin (Sync *sync)
{
  sync->context = g_main_context_new ();
  g_main_context_push_thread_default (sync->context);
  return sync;
}

void
sync_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Sync *sync = data;

  sync->result = g_object_ref (result);
}

GAsyncResult *
sync_wait (Sync *sync)
{
  while (sync->result == NULL)
    g_main_context_iteration (sync->context, TRUE);
  /* What the operation left behind, such as the end of a subscription. */
  while (g_main_context_iteration (sync->context, FALSE))
    ;
  g_main_context_pop_thread_default (sync->context);
  g_clear_pointer (&sync->context, g_main_context_unref);
  return sync->result;
}

void
sync_clear (Sync *sync)
{
  g_clear_object (&sync->result);
}
