/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a person asks of org.undersign1.Launcher and, for the run, of the service. */
#pragma once

#include "module/card/tty/trust.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *agent;
  char **command;
  const char *run;  /* (nullable): then no run is opened, and the agent is told of none */
  gboolean is_own_run; /* of this launch alone */
  const char *part; /* (nullable) */
  char **shares;    /* (nullable): DIR[:ro|:git] */
} LaunchWish;

typedef struct
{
  int terminal, link;
  char *run;  /* (nullable): the id of the run that was opened, also where the launch then failed */
  int signal; /* that ended the launch before the command had begun; 0: none */
} Launched;

/* launcher_start: reason bad-share for a folder that can't be opened, or is reached by a link. */
gboolean launcher_start (const Trust *trust, const LaunchWish *wish, Launched *out, GError **error);

/* launcher_close_run: one of launcher_start(), when nothing of its command is there any more.  Of one
 * that was left before that, an own run is closed by the launcher. */
void launcher_close_run (const Trust *trust, const char *run);

G_END_DECLS
