// SPDX-License-Identifier: LGPL-2.1-or-later
// Mastra: an agent whose model says what the test says.
//
// The pause is its requireToolApproval; the substitution changes the stored run before it is resumed.

import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { MCPClient } from "@mastra/mcp";

import { serve, start } from "./line.js";

let wanted;
let count = 0;
let paused;
let heard;

// Asks for one call, and is content with what comes of it.
function say(prompt) {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  if (prompt.at(-1).role === "tool") {
    heard = prompt.at(-1).content.map((part) => part.output);
    return { content: [{ type: "text", text: "done" }], finishReason: "stop", usage, warnings: [] };
  }
  const part = { type: "tool-call", toolCallId: `call_${++count}`,
                 toolName: `undersign_${wanted.tool}`, input: JSON.stringify(wanted.arguments) };
  return { content: [part], finishReason: "tool-calls", usage, warnings: [] };
}

const model = {
  specificationVersion: "v2", provider: "test", modelId: "test", supportedUrls: {},

  async doGenerate({ prompt }) {
    return say(prompt);
  },

  async doStream({ prompt }) {
    const { content: [part], finishReason, usage } = say(prompt);
    const parts = part.type === "text"
      ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text },
         { type: "text-end", id: "1" }]
      : [part];
    return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts,
                                          { type: "finish", finishReason, usage }]) };
  },
};

const client = new MCPClient({
  servers: { undersign: { command: start.command, args: start.args } },
  timeout: start.timeout * 1000,
});
const storage = new InMemoryStore();
const agent = new Agent({ id: "test", name: "test", instructions: "test", model,
                          tools: await client.listTools() });
new Mastra({ agents: { agent }, storage, logger: false });

// @value with @changed in the place of @shown, also where it is a text of JSON.
function replace(value, shown, changed) {
  if (value === shown)
    return changed;
  if (typeof value !== "object" || value === null)
    return value;
  if (JSON.stringify(value) === shown)
    return JSON.parse(changed);
  const pairs = Object.entries(value).map(([key, inner]) => [key, replace(inner, shown, changed)]);
  return Array.isArray(value) ? pairs.map(([, inner]) => inner) : Object.fromEntries(pairs);
}

await serve({
  async call(command) {
    wanted = command;
    heard = [];
    await agent.generate("go", { maxSteps: 2 });
    return heard;
  },

  async pause(command) {
    wanted = command;
    const output = await agent.generate("go", { maxSteps: 2, requireToolApproval: true });
    if (output.finishReason !== "suspended")
      throw new Error("it did not pause");
    paused = { runId: output.runId, toolCallId: output.suspendPayload.toolCallId,
               shown: JSON.stringify(command.arguments) };
    return output.suspendPayload;
  },

  async resume({ arguments: changed }) {
    const { runId, toolCallId, shown } = paused;
    const workflows = await storage.getStore("workflows");
    for (const run of (await workflows.listWorkflowRuns()).runs)
      if (run.runId === runId) {
        const snapshot = replace(run.snapshot, shown, JSON.stringify(changed));
        await workflows.persistWorkflowSnapshot({ ...run, snapshot });
      }
    heard = [];
    await agent.approveToolCallGenerate({ runId, toolCallId, maxSteps: 2 });
    return heard;
  },
}, () => client.disconnect());
