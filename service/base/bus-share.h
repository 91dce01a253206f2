/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much may wait for an answer: of one connection, of one uid and in all.  A uid may use as much
 * as is still free, so the more one has, the more it leaves, and there is room for whoever comes
 * next.  Connections whose uid is not known yet share what one uid could have.  Any thread.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  guint calls;
  gsize bytes; /* of messages */
  guint fds;
} BusAmount;

typedef struct
{
  guint calls_known;   /* of one connection */
  guint calls_unknown; /* of one connection whose uid is not known yet */
  BusAmount all;
} BusBounds;

typedef struct BusShare BusShare;
typedef struct BusCharge BusCharge;

BusShare *bus_share_new (const BusBounds *bounds);
BusShare *bus_share_ref (BusShare *share);
void bus_share_unref (BusShare *share);

/*
 * bus_share_take: counts one call of @sender.
 * @out_lane: the same for all calls that are one uid's
 *
 * Returns: (transfer full): to be freed once the call has its answer; NULL with
 *   US_ERROR_LIMIT_EXCEEDED and reason limit.
 */
BusCharge *bus_share_take (
    BusShare *share, const char *sender, gsize bytes, guint fds, guint64 *out_lane, GError **error);
void bus_charge_free (gpointer charge);

/* bus_share_know: what waits of @sender is now @uid's, as is all that comes until it is forgotten. */
void bus_share_know (BusShare *share, const char *sender, uid_t uid);
/* bus_share_forget: @sender left, or has no call any more that says its uid. */
void bus_share_forget (BusShare *share, const char *sender);

/* bus_share_used: what waits now. */
BusAmount bus_share_used (BusShare *share);

G_END_DECLS
