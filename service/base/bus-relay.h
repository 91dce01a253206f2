/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to the bus that GDBus gets only through a thread of ours.  GDBus takes every message
 * apart, into many times its size, before a filter sees it; the thread reads the header of each,
 * asks whether it may pass, and throws away the body of what may not as it comes.
 *
 * Calls pass in turns, one lane after the other, and no more of them than GDBus is done with.
 * Signals and replies pass where they are the bus's, replies of others where they are small, and
 * so do signals of the one that bus_relay_hear() names.
 */
#pragma once

#include "service/base/bus-header.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct BusRelay BusRelay;

/*
 * BusRelayJudge: in the relay's thread, for each call, before any of its body is read.
 * @out_lane: calls of the same lane wait for each other, see bus-turns.h
 * @out_ticket: not NULL; comes back from bus_relay_taken(), or is freed
 *
 * Returns: FALSE where it may not pass; with an error of US_ERROR that is the answer, where one is
 *   wanted, and without there is none
 */
typedef gboolean (*BusRelayJudge) (const BusHeader *header,
                                   guint64 *out_lane,
                                   gpointer *out_ticket,
                                   gpointer data,
                                   GError **error);

/*
 * bus_relay_new: connects; no call passes before bus_relay_open().
 * @address: (nullable): of a bus; NULL for the system bus
 */
BusRelay *bus_relay_new (const char *address,
                         BusRelayJudge judge,
                         GDestroyNotify ticket_free,
                         gpointer data,
                         GError **error);

/* bus_relay_new_for_fd: the same over a socket that is connected already; it owns @fd. */
BusRelay *bus_relay_new_for_fd (int fd,
                                BusRelayJudge judge,
                                GDestroyNotify ticket_free,
                                gpointer data,
                                GError **error);

/* bus_relay_close: sends what is still to be sent, closes the connection, ends the thread. */
void bus_relay_close (BusRelay *relay);
BusRelay *bus_relay_ref (BusRelay *relay);
/* bus_relay_unref: the last one must come after bus_relay_close(). */
void bus_relay_unref (BusRelay *relay);

GDBusConnection *bus_relay_connection (BusRelay *relay); /* borrowed */

/* bus_relay_open: from now on there is a filter that takes every call. */
void bus_relay_open (BusRelay *relay);

/*
 * bus_relay_taken: GDBus is done with a call; to be said for each, in the filter.
 * Returns: (transfer full): its ticket; NULL after bus_relay_close()
 */
gpointer bus_relay_taken (BusRelay *relay, guint32 serial);

/* bus_relay_hear: small signals of @sender, a unique name, pass too, and those of who was heard
 * before no more.  @sender: (nullable) */
void bus_relay_hear (BusRelay *relay, const char *sender);

/* bus_relay_passed: bytes of calls that went to GDBus until now. */
guint64 bus_relay_passed (BusRelay *relay);

G_END_DECLS
