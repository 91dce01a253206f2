/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transient unit that a command of an agent runs in, as systemd's own properties. */
#pragma once

#include "service/launcher/order.h"

G_BEGIN_DECLS

/* Below /var/lib: where each agent has a home of its own. */
#define UNIT_STATE "undersign-agents"

/* unit_home: where that is.  (transfer full) */
char *unit_home (const char *agent);

/*
 * unit_properties: of type a(sv), floating.
 * @bound: the unit without which this one is stopped
 * @tty: the path of its terminal
 */
GVariant *unit_properties (const Order *order, const char *bound, const char *tty);

/* unit_closing_properties: of a unit that closes close_run of @order, as the agent.  Floating. */
GVariant *unit_closing_properties (const Order *order);

/* unit_path: systemd's object for a unit.  (transfer full) */
char *unit_path (const char *unit);

G_END_DECLS
