/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Security keys as devices: which are plugged in, one of them opened, and work on it that waits for
 * a person while the main loop goes on.
 */
#pragma once

#include <fido.h>
#include <glib.h>

G_BEGIN_DECLS

#define DEVICE_MAX 16

typedef struct
{
  char *path;
  char *name; /* what it says of itself, or the path: a word for display, to be escaped */
} DeviceName;

void device_name_free (DeviceName *name);

/*
 * devices_find: (transfer full) (element-type DeviceName): those at @paths, or where that is NULL
 * all that are plugged in; possibly none.
 */
GPtrArray *devices_find (const char *const *paths, GError **error);

typedef struct Device Device;

/*
 * device_open: (transfer full) (nullable): NULL with reason key-failed where it does not answer,
 * key-unfit where it knows no FIDO2.
 * @touch_ms: how long work on it may wait
 */
Device *device_open (const DeviceName *name, guint touch_ms, GError **error);
Device *device_ref (Device *device);
void device_unref (Device *device);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Device, device_unref)

fido_dev_t *device_fido (Device *device);
const char *device_name (const Device *device);

/* Runs in a thread of its own; returns a code of libfido2. */
typedef int (*DeviceWork) (Device *device, gpointer data);

/* device_left: whether the person does not want to wait any more.  Called in the main loop. */
typedef gboolean (*DeviceLeft) (gpointer data);

/*
 * device_run: has @work done and runs the default main context meanwhile; where @left says so, or its
 * time is over, the device is told to stop, and given up where it does not.
 * @data, @unref: what @work needs; given up with the device, it is released when the device returns
 *
 * Returns: the code of @work, FIDO_ERR_KEEPALIVE_CANCEL where the person left,
 *   FIDO_ERR_USER_ACTION_TIMEOUT where nobody touched it in time.
 */
int device_run (Device *device,
                DeviceWork work,
                gpointer data,
                GDestroyNotify unref,
                DeviceLeft left,
                gpointer left_data);

/* device_error: sets the typed error for @code, one that is no success.  Returns: FALSE. */
gboolean device_error (GError **error, const Device *device, int code);

G_END_DECLS
