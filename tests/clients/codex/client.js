// SPDX-License-Identifier: LGPL-2.1-or-later
// Codex, whose client of MCP is its own: a run of `codex exec` for each call, whose model is a server
// on this machine that says what the test says.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { serve, start } from "./line.js";

const home = join(process.env.HOME, "codex");
const program = join(dirname(fileURLToPath(import.meta.url)), "node_modules/.bin/codex");
let wanted;
let heard;
let count = 0;

// What the model must say to mean the tool that is wanted.
function named(tools) {
  for (const { type, name, tools: inner } of tools)
    if (type === "namespace" && inner.some((tool) => tool.name === wanted.tool))
      return { namespace: name, name: wanted.tool };
    else if (type === "function" && name.endsWith(`__${wanted.tool}`))
      return { name };
  throw new Error(`codex has no ${wanted.tool}: ${JSON.stringify(tools).slice(0, 3000)}`);
}

// Asks for one call, and is content with what comes of it.
function say({ input, tools }) {
  const last = input.findLast((item) => item.type === "function_call_output");
  if (last) {
    heard = last.output;
    return { type: "message", role: "assistant", id: "message",
             content: [{ type: "output_text", text: "done", annotations: [] }] };
  }
  return { type: "function_call", id: `item_${++count}`, call_id: `call_${count}`,
           ...named(tools), arguments: JSON.stringify(wanted.arguments) };
}

function answer(request, response) {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    const item = say(JSON.parse(Buffer.concat(pieces).toString()));
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [
      { type: "response.created", response: { id: "response" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "response", usage } },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
}

const model = createServer(answer);
await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
mkdirSync(home, { recursive: true });
writeFileSync(join(home, "config.toml"), `model = "test"
model_provider = "test"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.test]
name = "test"
base_url = "http://127.0.0.1:${model.address().port}/v1"
wire_api = "responses"

[analytics]
enabled = false

[mcp_servers.undersign]
command = ${JSON.stringify(start.command)}
args = ${JSON.stringify(start.args)}
tool_timeout_sec = ${start.timeout}
startup_timeout_sec = 120
default_tools_approval_mode = "approve"
`);

function run() {
  return new Promise((resolve) => {
    const child = spawn(program, ["exec", "--skip-git-repo-check", "--json", "go"],
                        { env: { ...process.env, CODEX_HOME: home }, cwd: home,
                          stdio: ["ignore", "inherit", "inherit"] });
    child.on("close", resolve);
  });
}

await serve({
  async call(command) {
    wanted = command;
    heard = null;
    const status = await run();
    if (heard === null)
      throw new Error(`the model heard nothing; codex ended with ${status}`);
    return heard;
  },
}, () => model.close());
