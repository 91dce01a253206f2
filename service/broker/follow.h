/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows from the moves of requests.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* follow_move: the RequestHooks.moved of every request; @data is the Broker. */
void follow_move (Request *request, RequestState from, gpointer data);

G_END_DECLS
