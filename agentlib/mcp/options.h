/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What undersign-mcp is told when it is started. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define PROGRAM "undersign-mcp"
#define HOLD_DEFAULT_MS 4000
#define HOLD_MAX_MS (3600 * 1000)

/* Who the agent says it is, each (nullable): from the command line, else from the environment. */
typedef struct
{
  int hold_ms;
  gboolean hold_is_set; /* on the command line */
  char *part, *run, *call;
  char *client; /* to print the configuration of; NULL: to serve */
} Options;

void options_clear (Options *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/*
 * options_read:
 * @out_text: (out) (transfer full): where it returns TRUE and sets it: what was asked for is that
 *   text, and nothing else
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT.
 */
gboolean
options_read (int argc, char **argv, Options *out_options, char **out_text, GError **error);

G_END_DECLS
