/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs of the group "audit" that have a file of their own. */
#pragma once

#include "service/ctl/ctl.h"

G_BEGIN_DECLS

extern const GOptionEntry verify_options[];
gboolean run_verify (Ctl *ctl, char **arguments, GError **error);

extern const GOptionEntry prune_options[];
gboolean run_checkpoint (Ctl *ctl, char **arguments, GError **error);
gboolean run_export (Ctl *ctl, char **arguments, GError **error);
gboolean run_prune (Ctl *ctl, char **arguments, GError **error);

G_END_DECLS
