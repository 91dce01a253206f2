/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What takes the place of a request that was refused.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* successor_begin: asks anew for what was refused; ends the refused request when that is settled. */
void successor_begin (Broker *broker, Request *refused);

G_END_DECLS
