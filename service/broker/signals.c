/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is to be told, and telling them.  It must never broadcast, nor send more than ids and states. */
#include "service/broker/signals.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"

#include <string.h>

struct Signals
{
  Bus *bus;
  GHashTable *cards; /* unique name → uid */
};

Signals *
signals_new (Bus *bus)
{
  Signals *signals = g_new0 (Signals, 1);

  signals->bus = bus;
  signals->cards = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return signals;
}

void
signals_free (Signals *signals)
{
  if (signals == NULL)
    return;
  g_hash_table_unref (signals->cards);
  g_free (signals);
}

static guint
count_cards (const Signals *signals, uid_t uid)
{
  GHashTableIter iter;
  gpointer value = NULL;
  guint n = 0;

  g_hash_table_iter_init (&iter, signals->cards);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    n += GPOINTER_TO_UINT (value) == uid;
  return n;
}

gboolean
signals_register (Signals *signals, const char *name, uid_t uid, GError **error)
{
  if (g_hash_table_contains (signals->cards, name))
    return TRUE;
  if (count_cards (signals, uid) >= SIGNALS_CARDS_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d connections of this person show cards", SIGNALS_CARDS_MAX);
  g_hash_table_insert (signals->cards, g_strdup (name), GUINT_TO_POINTER (uid));
  return TRUE;
}

static gboolean
watcher_is (gconstpointer watcher, gconstpointer name)
{
  return strcmp (((const Watcher *) watcher)->name, name) == 0;
}

static gboolean
find_watcher (const Request *request, const char *name, guint *out_index)
{
  return g_ptr_array_find_with_equal_func (request->watchers, name, watcher_is, out_index);
}

guint
signals_watchers (const Request *request, uid_t uid)
{
  guint n = 0;

  for (guint i = 0; i < request->watchers->len; i++)
    n += ((const Watcher *) request->watchers->pdata[i])->uid == uid;
  return n;
}

gboolean
signals_watch (Signals *signals, Request *request, const char *name, uid_t uid, GError **error)
{
  Watcher *watcher = NULL;

  if (find_watcher (request, name, NULL))
    return TRUE;
  if (signals_watchers (request, uid) >= SIGNALS_WATCHERS_MAX)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%d connections of this user watch this request", SIGNALS_WATCHERS_MAX);
  watcher = g_malloc (sizeof *watcher + strlen (name) + 1);
  watcher->uid = uid;
  strcpy (watcher->name, name);
  g_ptr_array_add (request->watchers, watcher);
  return TRUE;
}

void
signals_unwatch (Request *request, const char *name)
{
  guint i = 0;

  if (find_watcher (request, name, &i))
    g_ptr_array_remove_index_fast (request->watchers, i);
}

void
signals_forget (Signals *signals, const char *name, GHashTable *requests)
{
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_remove (signals->cards, name);
  g_hash_table_iter_init (&iter, requests);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    signals_unwatch (value, name);
}

gboolean
signals_has_card (const Signals *signals, const Request *request)
{
  GHashTableIter iter;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, signals->cards);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (request_approver (request, GPOINTER_TO_UINT (value), NULL))
      return TRUE;
  return FALSE;
}

void
signals_changed (Signals *signals, const Request *request)
{
  g_autofree char *path = request_path (request);

  for (guint i = 0; i < request->watchers->len; i++)
    {
      const Watcher *watcher = g_ptr_array_index (request->watchers, i);

      bus_signal (signals->bus, watcher->name, path, US_INTERFACE_REQUEST, "Changed",
                  g_variant_new ("(s)", request_state_name (request->state)));
    }
}

/* Sends to the cards of everyone who may answer. */
static void
tell_cards (Signals *signals, const Request *request, const char *member, GVariant *body)
{
  g_autoptr (GVariant) owned = g_variant_ref_sink (body);
  GHashTableIter iter;
  gpointer key = NULL;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, signals->cards);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (request_approver (request, GPOINTER_TO_UINT (value), NULL))
      bus_signal (signals->bus, key, US_OBJECT_PATH, US_INTERFACE_APPROVER, member, owned);
}

void
signals_card_added (Signals *signals, const Request *request)
{
  g_autofree char *path = request_path (request);

  tell_cards (signals, request, "CardAdded", g_variant_new ("(o)", path));
}

void
signals_card_removed (Signals *signals, const Request *request)
{
  g_autofree char *path = request_path (request);

  tell_cards (signals, request, "CardRemoved",
              g_variant_new ("(os)", path, request_state_name (request->state)));
}
