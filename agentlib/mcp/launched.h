/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `undersign launch` says of the run that it has begun, where the environment is lost. */
#pragma once

#include "agentlib/mcp/options.h"

G_BEGIN_DECLS

#define LAUNCHED_CGROUPS "/proc/self/cgroup"
#define LAUNCHED_FOLDER "/run/credentials"

/*
 * launched_complete: sets the run and the part in @options where nothing else did.
 * @cgroups: LAUNCHED_CGROUPS
 * @folder: LAUNCHED_FOLDER
 *
 * Returns: FALSE where there is something that can't be read: to go on would be in another run.
 */
gboolean
launched_complete (Options *options, const char *cgroups, const char *folder, GError **error);

G_END_DECLS
