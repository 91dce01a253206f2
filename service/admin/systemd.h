/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells systemd that a unit's drop-ins have changed. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * systemd_unit_changed: has systemd read its units anew and restart @unit if it runs: credentials
 * never change under a running unit.  What fails is logged; the change then takes effect at
 * the unit's next start.  Does not wait.
 */
void systemd_unit_changed (GDBusConnection *bus, const char *unit);

G_END_DECLS
