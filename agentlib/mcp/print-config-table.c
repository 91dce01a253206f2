/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of the clients of MCP, as of November 2026: facts alone, no code.  A time for a
 * hold is less than what the client waits.  What a client asks its own person decides nothing here,
 * so that it need not ask at all.
 */
#include "agentlib/mcp/print-config.h"

#include <stddef.h>

#define IN_BACKGROUND                                                                              \
  "a command that it runs in the background, \"undersign-agent wait ID\", ends with the answer"

const ConfigClient config_clients[] = {
  { .name = "claude",
    .title = "Claude Code",
    .form = CONFIG_MCP_SERVERS,
    .file = ".mcp.json in the project, or \"mcpServers\" of ~/.claude.json",
    .hold = 240,
    .allow = "\"permissions\": { \"allow\": [\"mcp__undersign\"] } in .claude/settings.json",
    .limit =
        "it waits for hours; MCP_TOOL_TIMEOUT (milliseconds), if set in its environment, must be "
        "more than the hold",
    .wake = IN_BACKGROUND ", which continues its turn; or a Stop hook that ends with status 2 and "
                          "says on standard error what is to be done" },
  { .name = "codex",
    .title = "Codex",
    .form = CONFIG_TOML,
    .file = "~/.codex/config.toml",
    .hold = 240,
    .time_out = 300,
    .member = "default_tools_approval_mode",
    .value = "approve",
    .limit = "with approval_policy = \"never\" it refuses tools that it would have to ask about",
    .wake = "a Stop hook, where its feature codex_hooks is on; or \"codex exec resume\" by whoever "
            "ran \"undersign-agent wait ID\"" },
  { .name = "gemini",
    .title = "Gemini CLI",
    .form = CONFIG_MCP_SERVERS,
    .file = "~/.gemini/settings.json, or .gemini/settings.json in the project",
    .hold = 240,
    .time_out = 300,
    .member = "trust",
    .value = "true",
    .wake = "an AfterAgent hook that ends with status 2 and says on standard error what is to be "
            "done" },
  { .name = "vscode",
    .title = "VS Code",
    .form = CONFIG_SERVERS,
    .file = ".vscode/mcp.json in the workspace",
    .hold = 240,
    .is_graphical = TRUE,
    .instead = "open the folder by Remote-SSH in the agent's own account, with this file in the "
               "workspace there: its servers and its tools then run as the agent",
    .limit = "its time-out can't be set; some calls were cancelled after five minutes",
    .wake = "nothing is known that does; its person asks it to go on" },
  { .name = "cursor",
    .title = "Cursor",
    .form = CONFIG_MCP_SERVERS,
    .file = ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    .hold = 50,
    .is_graphical = TRUE,
    .instead = "run its command-line agent in the agent's own account, or open the folder there by "
               "Remote-SSH",
    .allow = "\"mcpAllowlist\": [\"undersign:*\"] in ~/.cursor/permissions.json",
    .limit = "its time-out can't be set",
    .wake =
        "a stop hook in .cursor/hooks.json, whose \"followup_message\" becomes the next message" },
  { .name = "claude-desktop",
    .title = "Claude Desktop",
    .form = CONFIG_MCP_SERVERS,
    .file = "claude_desktop_config.json, by its settings for developers",
    .hold = 50,
    .is_graphical = TRUE,
    .instead = "use a client that runs in a terminal",
    .limit = "its time-out of a minute or four can't be set",
    .wake = "nothing is known that does; its person asks it to go on" },
  { .name = "json",
    .title = "Any other client",
    .form = CONFIG_MCP_SERVERS,
    .file = "where it has its \"mcpServers\"",
    .hold = 4,
    .limit = "some clients give up after five seconds; where more is known, --hold may be longer",
    .wake = IN_BACKGROUND },
  { .name = NULL },
};
