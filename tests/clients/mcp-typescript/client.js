// SPDX-License-Identifier: LGPL-2.1-or-later
// The MCP TypeScript SDK, version 1, of now and of its first month, which speaks 2024-11-05 alone:
// its client, one session for all calls.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { serve, start } from "./line.js";

const client = new Client({ name: "undersign-test", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command: start.command, args: start.args }));

const options = { timeout: start.timeout * 1000 };
await serve({
  call: ({ tool, arguments: values }) =>
    client.callTool({ name: tool, arguments: values }, undefined, options),
  tagged: ({ tool, arguments: values, meta }) =>
    client.callTool({ name: tool, arguments: values, _meta: meta }, undefined, options),
  tagged: ({ tool, arguments: values, meta }) =>
    client.callTool({ name: tool, arguments: values, _meta: meta }, undefined, options),
}, () => client.close());
