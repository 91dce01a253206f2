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
    .alias = "claude-code",
    .title = "Claude Code",
    .form = CONFIG_MCP_SERVERS,
    .command = "claude",
    .file = ".mcp.json in the project, or \"mcpServers\" of ~/.claude.json",
    .hold = 240,
    .time_out = 300,
    .allow = "\"permissions\": { \"allow\": [\"mcp__undersign\"] } in .claude/settings.json",
    .limit =
        "without the \"timeout\" it waits for hours, or for MCP_TOOL_TIMEOUT (milliseconds) of "
        "its environment",
    .wake = IN_BACKGROUND ", which continues its turn; or a Stop hook that ends with status 2 and "
                          "says on standard error what is to be done" },
  { .name = "codex",
    .title = "Codex",
    .form = CONFIG_TOML,
    .command = "codex --sandbox danger-full-access",
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
    .command = "gemini",
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
    .allow =
        "no file says it: its command \"Chat: Manage Tool Approval\" allows all tools of a server",
    .limit = "its time-out can't be set; some calls were cancelled after five minutes",
    .wake = "nothing is known that does; its person asks it to go on" },
  { .name = "cursor",
    .title = "Cursor",
    .form = CONFIG_MCP_SERVERS,
    .file = ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    .hold = 50,
    .is_graphical = TRUE,
    .instead =
        "run its command-line agent by \"undersign launch NAME -- cursor-agent\", or open the "
        "folder in the agent's own account by Remote-SSH",
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
    .instead = "use a client that runs in a terminal, by \"undersign launch NAME -- CLIENT\"",
    .allow = "it has no list in a file: its own question has an answer that lasts, for each tool",
    .limit = "its time-out of a minute or four can't be set",
    .wake = "nothing is known that does; its person asks it to go on" },
  { .name = "json",
    .title = "Any other client",
    .form = CONFIG_MCP_SERVERS,
    .command = "CLIENT",
    .file = "where it has its \"mcpServers\"",
    .hold = 4,
    .allow = "see its own pages for a list of tools that it need not ask about",
    .limit = "some clients give up after five seconds; where more is known, --hold may be longer",
    .wake = IN_BACKGROUND },
  { .name = NULL },
};
