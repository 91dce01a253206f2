/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hints to single connections: who has a card open, who watches a request.  Nothing is broadcast,
 * and nothing that a signal says can't be read with a call.
 */
#pragma once

#include "service/broker/bus.h"
#include "service/broker/request.h"

#include <glib.h>

G_BEGIN_DECLS

#define SIGNALS_CARDS_MAX 16    /* connections of one person */
#define SIGNALS_WATCHERS_MAX 16 /* of one request, by one user */

typedef struct Signals Signals;

Signals *signals_new (Bus *bus);
void signals_free (Signals *signals);

/* signals_register: this connection shows cards to @uid, until it leaves. */
gboolean signals_register (Signals *signals, const char *name, uid_t uid, GError **error);
/* signals_watch: it hears of this request, until that ends or it unwatches it.  Each uid has places of its own, so that
 * an agent's connections keep nobody from hearing what became of an answer. */
gboolean
signals_watch (Signals *signals, Request *request, const char *name, uid_t uid, GError **error);
void signals_unwatch (Request *request, const char *name);
/* signals_watchers: how many connections of @uid hear of it. */
guint signals_watchers (const Request *request, uid_t uid);
/* signals_forget: it has left the bus.  @requests: id → Request, those that may be watched */
void signals_forget (Signals *signals, const char *name, GHashTable *requests);

/* signals_has_card: whether anyone who could answer has a card open. */
gboolean signals_has_card (const Signals *signals, const Request *request);

/* What is sent: to watchers, and to the cards of everyone who may answer. */
void signals_changed (Signals *signals, const Request *request);
void signals_card_added (Signals *signals, const Request *request);
void signals_card_removed (Signals *signals, const Request *request);

G_END_DECLS
