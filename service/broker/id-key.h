/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The broker's one secret: 32 random bytes that say which id a request with an idempotency key gets,
 * so that no agent can choose ids.  It protects nothing else; where it is lost, a new one is made.
 */
#pragma once

#include "service/base/secret.h"

#include <glib.h>

G_BEGIN_DECLS

#define ID_KEY_NAME "id-key"
#define ID_KEY_SIZE 32

/*
 * id_key_open: the one in @dir, made where there is none.
 * Returns: NULL where it cannot be told whether there is one, it is damaged, or none can be kept.
 */
Secret *id_key_open (const char *dir, GError **error);

G_END_DECLS
