// SPDX-License-Identifier: LGPL-2.1-or-later
// LangGraph with @langchain/mcp-adapters: an agent whose model says what the test says.
//
// The pause is the interrupt of its human-in-the-loop middleware; the substitution changes the
// graph's state before it is resumed.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { createAgent, humanInTheLoopMiddleware } from "langchain";

import { serve, start } from "./line.js";

// Asks for one call, and is content with what comes of it.
class Model extends BaseChatModel {
  wanted = null;

  _llmType() {
    return "test";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const message = ToolMessage.isInstance(messages.at(-1))
      ? new AIMessage("done")
      : new AIMessage({ content: "", tool_calls: [{ ...this.wanted, id: `call_${messages.length}` }] });
    return { generations: [{ text: "", message }] };
  }
}

const model = new Model({});
const client = new MultiServerMCPClient({
  mcpServers: { undersign: { transport: "stdio", command: start.command, args: start.args,
                             defaultToolTimeout: start.timeout * 1000 } },
});
const tools = await client.getTools();
const free = createAgent({ model, tools });
const asking = createAgent({
  model, tools, checkpointer: new MemorySaver(),
  middleware: [humanInTheLoopMiddleware({ interruptOn: { mail_send: true, test_pay: true } })],
});
const input = { messages: [{ role: "user", content: "go" }] };
let threads = 0;
let thread;

function told(state) {
  return state.messages.filter((message) => ToolMessage.isInstance(message))
    .map((message) => message.content);
}

await serve({
  async call({ tool, arguments: args }) {
    model.wanted = { name: tool, args };
    return told(await free.invoke(input));
  },

  async pause({ tool, arguments: args }) {
    model.wanted = { name: tool, args };
    thread = { configurable: { thread_id: `thread-${++threads}` } };
    const state = await asking.invoke(input, thread);
    if (told(state).length > 0)
      throw new Error("it did not pause");
    return state.__interrupt__.map((interrupt) => interrupt.value);
  },

  async resume({ arguments: args }) {
    const asked = (await asking.graph.getState(thread)).values.messages.at(-1);
    const changed = new AIMessage({
      id: asked.id, content: asked.content, tool_calls: [{ ...asked.tool_calls[0], args }],
    });
    await asking.graph.updateState(thread, { messages: [changed] });
    const decision = new Command({ resume: { decisions: [{ type: "approve" }] } });
    let state = await asking.invoke(decision, thread);
    if (told(state).length === 0) // the changed state was asked about anew
      state = await asking.invoke(decision, thread);
    return told(state);
  },

  // From the checkpoint of the interrupt, which the thread has left.
  async rollback() {
    for await (const older of asking.graph.getStateHistory(thread))
      if (older.tasks.some((task) => task.interrupts.length > 0)) {
        const decision = new Command({ resume: { decisions: [{ type: "approve" }] } });
        return told(await asking.invoke(decision, older.config));
      }
    throw new Error("there is no interrupt to go back to");
  },

  // Its yes, edited.
  async override({ arguments: args }) {
    const edited = { name: model.wanted.name, args };
    const decision = new Command({
      resume: { decisions: [{ type: "edit", editedAction: edited }] },
    });
    return told(await asking.invoke(decision, thread));
  },
}, () => client.close());
