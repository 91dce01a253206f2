/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of D-Bus's wire format, one after the other.  Each function moves on by one value, or
 * returns FALSE where there is none: a length is beyond the end, padding is not zero, a text has a
 * zero in it or none after it.  What is behind then is not to be read.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const guint8 *bytes; /* of a message: values are aligned by their place in it */
  gsize size;
  gsize at;
  gboolean is_big;     /* big-endian */
} BusReader;

guint32 bus_number_at (const guint8 *bytes, gboolean is_big);

gboolean bus_reader_padding (BusReader *reader, gsize alignment);
gboolean bus_reader_byte (BusReader *reader, guint8 *out);
gboolean bus_reader_number (BusReader *reader, guint32 *out);
gboolean bus_reader_string (BusReader *reader, const char **out);
gboolean bus_reader_signature (BusReader *reader, const char **out);
/* bus_reader_skip: one value of a basic type; FALSE for any other type. */
gboolean bus_reader_skip (BusReader *reader, char type);

/* bus_alignment: of values of the type that begins so; 0 for what begins no type. */
gsize bus_alignment (char type);

G_END_DECLS
