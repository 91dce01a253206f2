/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --print-config: what makes a client start undersign-mcp, and what has to be said beside it. */
#pragma once

#include "agentlib/mcp/options.h"

G_BEGIN_DECLS

/* In which form the clients' files are. */
typedef enum
{
  CONFIG_MCP_SERVERS, /* JSON: { "mcpServers": … } */
  CONFIG_SERVERS,     /* JSON: { "servers": … } */
  CONFIG_TOML,        /* TOML: [mcp_servers.undersign] */
} ConfigForm;

/* What is known of a client; each text is (nullable). */
typedef struct
{
  const char *name, *title;
  const char *alias; /* another name that is taken */
  ConfigForm form;
  const char *command;   /* what starts it in a terminal; NULL for a graphical one */
  const char *file;      /* where the configuration goes */
  guint hold, time_out;  /* seconds; @time_out: as configured; 0 where it can't be */
  gboolean is_graphical; /* it runs in a person's session, as that person */
  const char *instead;   /* of a graphical one: how its agent gets a user of its own */
  const char *member,
      *value;        /* a member of the configuration that keeps the client from asking, too */
  const char *allow; /* the same, where it is another file's */
  const char *limit; /* on its time-out */
  const char *wake;  /* how an answer reaches it after its turn */
} ConfigClient;

/* config_clients: all that are known, ended by one without a name. */
extern const ConfigClient config_clients[];

/*
 * config_text: a function of its arguments and the table alone.
 * @client: a name
 * @options: what goes into the configuration
 * @user: who it is printed by
 * @out_config: (out) (transfer full): the file's text
 * @out_notes: (out) (transfer full): what a person must know beside it
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT for a client that is not known.
 */
gboolean config_text (const char *client,
                      const Options *options,
                      const char *user,
                      char **out_config,
                      char **out_notes,
                      GError **error);

G_END_DECLS
