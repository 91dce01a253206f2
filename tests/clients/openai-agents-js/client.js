// SPDX-License-Identifier: LGPL-2.1-or-later
// The OpenAI Agents SDK in JavaScript: an agent whose model says what the test says.
//
// The pause is its needsApproval; the substitution changes the saved run before it is resumed.

import { Agent, getAllMcpTools, MCPServerStdio, Runner, RunState, Usage } from "@openai/agents";

import { serve, start } from "./line.js";

let wanted;
let count = 0;
let saved;
let shown;
let tags = null;

// Asks for one call, and is content with what comes of it.
const model = {
  async getResponse({ input }) {
    const output = Array.isArray(input) && input.at(-1).type === "function_call_result"
      ? { type: "message", role: "assistant", status: "completed",
          content: [{ type: "output_text", text: "done" }] }
      : { type: "function_call", callId: `call_${++count}`, status: "completed", name: wanted.tool,
          arguments: JSON.stringify(wanted.arguments) };
    return { output: [output], usage: new Usage() };
  },

  getStreamedResponse() {
    throw new Error("it is not asked to stream");
  },
};

const server = new MCPServerStdio({
  command: start.command, args: start.args, timeout: start.timeout * 1000,
  toolMetaResolver: () => tags,
});
await server.connect();
const tools = await getAllMcpTools([server]);
const careful = (await getAllMcpTools([server]))
  .map((tool) => ({ ...tool, needsApproval: async () => true }));
const free = new Agent({ name: "test", model, tools });
const asking = new Agent({ name: "test", model, tools: careful });
const runner = new Runner({ tracingDisabled: true });

function told(result) {
  return result.newItems.filter((item) => item.type === "tool_call_output_item")
    .map((item) => item.output);
}

async function goOn(text) {
  const state = await RunState.fromString(asking, text);
  for (const item of state.getInterruptions())
    state.approve(item);
  return told(await runner.run(asking, state));
}

await serve({
  async call(command) {
    wanted = command;
    return told(await runner.run(free, "go"));
  },

  async tagged({ meta, ...command }) {
    tags = meta;
    wanted = command;
    try {
      return told(await runner.run(free, "go"));
    } finally {
      tags = null;
    }
  },

  async pause(command) {
    wanted = command;
    const result = await runner.run(asking, "go");
    if (told(result).length > 0)
      throw new Error("it did not pause");
    saved = result.state.toString();
    shown = JSON.stringify(command.arguments);
    return result.interruptions.map((item) => item.rawItem.arguments);
  },

  async resume({ arguments: changed }) {
    return goOn(saved.replaceAll(JSON.stringify(shown), JSON.stringify(JSON.stringify(changed))));
  },

  async rollback() {
    return goOn(saved);
  },
}, () => server.close());
