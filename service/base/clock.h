/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two clocks: CLOCK_BOOTTIME decides (it runs on in suspend and nobody can set it), wall time is
 * for display.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

guint64 clock_boottime (void); /* microseconds since boot */
gint64 clock_wall (void);      /* seconds since 1970 */

/* clock_format: RFC 3339, UTC, whole seconds: 2026-11-30T09:00:00Z; NULL outside years 1 to 9999. */
char *clock_format (gint64 wall);
/* clock_parse: the strict inverse; FALSE for any other spelling or an impossible date. */
gboolean clock_parse (const char *text, gint64 *out_wall);

/* duration_parse: "90s", "10min", "2h", "7d": one positive number, one unit; seconds. */
gboolean duration_parse (const char *text, guint64 *out_seconds);

G_END_DECLS
