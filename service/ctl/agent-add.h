/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersignctl agent add: a user, an agent file and a first rule, all of them or none. */
#pragma once

#include "service/ctl/ctl.h"

G_BEGIN_DECLS

extern const GOptionEntry agent_add_options[];

gboolean agent_add (Ctl *ctl, char **arguments, GError **error);

G_END_DECLS
