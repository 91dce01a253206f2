// SPDX-License-Identifier: LGPL-2.1-or-later
// MCP Inspector by its command line, which is a process of its own for each call.  It gives up after
// a minute, whatever the driver wants.

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { serve, start } from "./line.js";

const program = join(dirname(fileURLToPath(import.meta.url)), "node_modules/.bin/mcp-inspector");
const config = join(process.env.HOME, "inspector.json");

writeFileSync(config, JSON.stringify({ mcpServers: { undersign: {
  type: "stdio", command: start.command, args: start.args,
} } }));

await serve({
  call: ({ tool, arguments: values }) => new Promise((resolve) => {
    const words = Object.entries(values)
      .flatMap(([name, value]) => ["--tool-arg", `${name}=${JSON.stringify(value)}`]);
    execFile(process.execPath,
             [program, "--cli", "--config", config, "--server", "undersign", "--method",
              "tools/call", "--tool-name", tool, ...words],
             (error, stdout, stderr) => resolve({ stdout, stderr, failed: error?.message }));
  }),
});
