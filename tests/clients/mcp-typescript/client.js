// SPDX-License-Identifier: LGPL-2.1-or-later
// The MCP TypeScript SDK, version 1, of now and of its first month, which speaks 2024-11-05 alone:
// its client, one session for all calls.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

import { serve, start } from "./line.js";

const client = new Client({ name: "undersign-test", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command: start.command, args: start.args }));

const options = { timeout: start.timeout * 1000 };
const tasks = client.experimental?.tasks;
let stream;

// The next of @type that is told of the task.
async function told(type) {
  for (;;) {
    const { value: message, done } = await stream.next();
    if (done || message.type === "error")
      throw message?.error ?? new Error("nothing more is told of the task");
    if (message.type === type)
      return message;
  }
}

await serve({
  call: ({ tool, arguments: values }) =>
    client.callTool({ name: tool, arguments: values }, undefined, options),
  tagged: ({ tool, arguments: values, meta }) =>
    client.callTool({ name: tool, arguments: values, _meta: meta }, undefined, options),

  // Its tasks, which are those of 2025-11-25.
  task: async ({ tool, arguments: values }) => {
    stream = tasks.callToolStream({ name: tool, arguments: values }, undefined,
                                  { ...options, task: { ttl: 600000 } });
    return (await told("taskCreated")).task;
  },
  task_result: async () => (await told("result")).result,
  task_get: ({ task }) => tasks.getTask(task.taskId, options),
  task_take: ({ task }) => tasks.getTaskResult(task.taskId, CallToolResultSchema, options),
  task_cancel: ({ task }) => tasks.cancelTask(task.taskId, options),
  task_list: () => tasks.listTasks(undefined, options),
}, () => client.close());
