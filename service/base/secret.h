/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer for secrets: locked in memory, left out of core dumps, wiped when freed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Secret Secret;

Secret *secret_new (gsize size);                       /* zeroed; NULL where memory can't be locked */
Secret *secret_new_from (const void *data, gsize len); /* copies; the caller wipes its own */
Secret *secret_new_read (int fd, gsize max, GError **error); /* to EOF; over @max is an error */
void secret_free (Secret *secret);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Secret, secret_free)

guint8 *secret_data (Secret *secret); /* followed by a NUL that is not counted */
gsize secret_size (const Secret *secret);

G_END_DECLS
