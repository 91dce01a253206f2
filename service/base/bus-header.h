/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header of a D-Bus message, read before anything of its body is.  The reader is strict: one
 * spelling of each field, none twice, every string of the letters that its kind has.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define BUS_HEADER_FIXED 16
#define BUS_HEADER_MAX (32 * 1024) /* of all fields; an object path alone may be of any length */

#define BUS_DRIVER "org.freedesktop.DBus" /* the sender of what the bus itself says */

typedef enum
{
  BUS_CALL = 1,
  BUS_RETURN = 2,
  BUS_ERROR = 3,
  BUS_SIGNAL = 4,
} BusType;

#define BUS_NO_REPLY 0x1u /* a flag: the sender wants no answer */

/* The strings are in the bytes that were read; NULL for a field that is not there. */
typedef struct
{
  guint8 type; /* a BusType */
  guint8 flags;
  guint32 serial;
  guint32 header_size;
  guint32 body_size;
  guint32 reply_serial; /* 0 for none */
  guint32 n_fds;
  const char *path;
  const char *interface;
  const char *member;
  const char *error_name;
  const char *destination;
  const char *sender;
  const char *signature; /* "" for none */
} BusHeader;

/*
 * bus_header_size:
 * @fixed: the first BUS_HEADER_FIXED bytes of a message
 * @out_header: how many bytes come before the body
 * @out_body: how many bytes the body has
 *
 * Returns: FALSE where no message of the protocol begins so; nobody can say then where it ends.
 */
gboolean bus_header_size (const guint8 *fixed, guint32 *out_header, guint32 *out_body);

/*
 * bus_header_read:
 * @bytes: as many as bus_header_size() said come before the body
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT, reason bad-message.
 */
gboolean bus_header_read (const guint8 *bytes, gsize size, BusHeader *out, GError **error);

G_END_DECLS
