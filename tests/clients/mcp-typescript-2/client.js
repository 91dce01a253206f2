// SPDX-License-Identifier: LGPL-2.1-or-later
// The MCP TypeScript SDK, version 2: its client, one session for all calls.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { serve, start } from "./line.js";

const client = new Client({ name: "undersign-test", version: "1" }, {
  capabilities: {},
  versionNegotiation: { mode: "auto" },
});
await client.connect(new StdioClientTransport({ command: start.command, args: start.args }));

const options = { timeout: start.timeout * 1000 };
await serve({
  call: ({ tool, arguments: values }) =>
    client.callTool({ name: tool, arguments: values }, options),
  tagged: ({ tool, arguments: values, meta }) =>
    client.callTool({ name: tool, arguments: values, _meta: meta }, options),
}, () => client.close());
