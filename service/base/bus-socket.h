/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moving what bus-frames.h cuts over a socket, without ever waiting for it.
 */
#pragma once

#include "service/base/bus-frames.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * bus_socket_read: once.
 * @out_ended: set where nothing more will come, or what came makes no sense
 *
 * Returns: whether there may be more at once
 */
gboolean bus_socket_read (int fd, BusFrames *frames, gboolean *out_ended);

/*
 * bus_socket_write: as much of @parcel as there is room for.
 * @out_ended: set where nobody reads it
 *
 * Returns: whether all of it went
 */
gboolean bus_socket_write (int fd, BusParcel *parcel, gboolean *out_ended);

G_END_DECLS
