/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon as a whole, as each part of it sees it.  How it is put together is in daemon.h.
 */
#pragma once

#include "service/broker/approvers.h"
#include "service/broker/bus.h"
#include "service/broker/catalog.h"
#include "service/broker/executor.h"
#include "service/broker/expiry.h"
#include "service/broker/id-key.h"
#include "service/broker/identity.h"
#include "service/broker/limits.h"
#include "service/broker/queue.h"
#include "service/broker/request.h"
#include "service/broker/run.h"
#include "service/broker/signals.h"
#include "service/broker/turns.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  /* its parts */
  Bus *bus;
  Identity *identity;
  Executor *executor;
  Approvers *approvers;
  Catalog *catalog;
  Expiry *expiry;
  Limits *limits;
  Queue *queue;
  Runs *runs;
  Signals *signals;

  ExpiryTimer *close_timer, *reach_timer, *hourly_timer, *resume_timer;
  guint reach_period, register_wait;
  Secret *id_key;
  int spool; /* directory of the copies of files */
  RequestHooks request_hooks;
  RunHooks run_hooks;
  GHashTable *requests; /* id → Request: those that have not ended */
  GPtrArray *registering; /* calls of Register() that wait for cards to be prepared anew */
  ExpiryTimer *registering_timer;
  GHashTable *calls;    /* uid → how many of its calls have no answer */
  Turns *turns;         /* "UID KEY": calls of Submit() with one key */

  gboolean is_ending; /* nothing new is begun */
  void (*stopped) (gpointer data); /* the bus is gone */
  gpointer stopped_data;
} Broker;

/* broker_of: the daemon that a request is in. */
Broker *broker_of (const Request *request);

/* broker_request: one that has not ended, or one from the queue.  (transfer full) */
Request *broker_request (Broker *broker, const char *id, GError **error);

/* broker_add_request: from now on among those that have not ended. */
void broker_add_request (Broker *broker, Request *request);

/*
 * broker_check_caller: that the caller is on the bus, of whose leaving we hear but once: nothing may
 * be kept for one that left while its call waited.
 */
gboolean broker_check_caller (const Broker *broker, const Call *call, GError **error);

G_END_DECLS
