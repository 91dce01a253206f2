/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A message bus of a test's own, which ends with the test however that ends. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct Bus Bus;

Bus *bus_new (void);
void bus_free (Bus *bus);
const char *bus_address (Bus *bus);

G_END_DECLS
