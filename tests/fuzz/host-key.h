/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A host key of the targets' own, since a signature can't be guessed. */
#pragma once

#include "service/base/secret.h"

#include <glib.h>

/* host_key: (transfer full): its seed */
Secret *host_key (void);

/* host_key_sign: (transfer full): @body as a checkpoint that it signed; not NUL, and valid UTF-8 */
GBytes *host_key_sign (GBytes *body);
