/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run of a command whose caller was gone before it had ended, and can close it no more. */
#pragma once

#include "service/launcher/order.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * closing_begin: has the agent of @order close the run that is named there, as it always may.
 * Nothing waits for it: a run that stays open ends when it was not used for a day.
 * @id: of the command, which is there no more
 */
void closing_begin (GDBusConnection *bus, const Order *order, const char *id);

G_END_DECLS
