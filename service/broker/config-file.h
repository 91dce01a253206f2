/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersign.conf(5): the numbers of limits.h, from a strict key file. */
#pragma once

#include "service/broker/limits.h"

#include <glib.h>

G_BEGIN_DECLS

#define CONFIG_NAME "undersign.conf"

/*
 * config_parse:
 * @path: for messages alone
 * @out_config: (inout): holds the defaults
 *
 * Returns: FALSE with every fault, one a line; @out_config is then not changed.
 */
gboolean
config_parse (const char *path, GBytes *content, LimitsConfig *out_config, GError **error);

/* config_load: CONFIG_NAME in @dir; the defaults where there is none.  Nobody but @owner and root
 * may be able to write it. */
gboolean
config_load (const char *dir, uid_t owner, LimitsConfig *out_config, GError **error);

G_END_DECLS
