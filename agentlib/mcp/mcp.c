/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the options and serves.  Standard output is the client's alone; all else is an error's. */
#include "agentlib/mcp/mcp.h"

#include "agentlib/mcp/launched.h"
#include "agentlib/mcp/print-config.h"
#include "agentlib/mcp/server.h"
#include "service/base/printed.h"
#include "service/base/usage.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_UNPRINTED 1
#define EXIT_SERVICE 127

static int
refuse_usage (const GError *error)
{
  fprintf (stderr, PROGRAM ": %s\n", error->message);
  usage_try (PROGRAM);
  return USAGE_STATUS;
}

/* The configuration alone goes to standard output, so that it can go into a file. */
static int
print_config (const Options *options)
{
  const struct passwd *entry = getpwuid (getuid ());
  g_autofree char *user =
      g_strdup_printf ("%s (uid %u)", entry != NULL ? entry->pw_name : "nobody", (guint) getuid ());
  g_autofree char *config = NULL;
  g_autofree char *notes = NULL;
  g_autoptr (GError) error = NULL;

  if (!config_text (options->client, options, user, &config, &notes, &error))
    return refuse_usage (error);
  fputs (notes, stderr);
  fputs (config, stdout);
  return 0;
}

int
mcp_run (UsClient *client, guint close_ms, int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (Server) server = NULL;

  printed_watch (PROGRAM, EXIT_UNPRINTED);
  if (!options_read (argc, argv, &options, &text, &error))
    return refuse_usage (error);
  if (text != NULL)
    {
      fputs (text, stdout);
      return 0;
    }
  if (options.client != NULL)
    return print_config (&options);
  if (!launched_complete (&options, LAUNCHED_CGROUPS, LAUNCHED_FOLDER, &error))
    {
      fprintf (stderr, PROGRAM ": %s\n", error->message);
      return EXIT_SERVICE;
    }
  server = server_new (client, &options, close_ms, STDIN_FILENO, STDOUT_FILENO);
  server_run (server);
  return 0;
}
