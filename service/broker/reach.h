/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking for requests that nobody could approve any more.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* reach_start: now and then, looks whether those who could approve still can. */
void reach_start (Broker *broker);

G_END_DECLS
