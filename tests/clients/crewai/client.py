# SPDX-License-Identifier: LGPL-2.1-or-later
"""CrewAI: the tools that it makes of a server, as its agents would use them.

It starts a server for each call, and calls up to three times.  The pause is a hook before the call
that asks the agent's person, in an agent whose model says what the test says; the substitution is
another hook after it.
"""

import asyncio
import json
import logging
import queue

from crewai import Agent
from crewai.hooks import register_before_tool_call_hook, tool_hooks
from crewai.llms.base_llm import BaseLLM
from crewai.mcp import MCPServerStdio
from crewai.mcp.tool_resolver import MCPToolResolver

from line import Start, serve


class Scripted(BaseLLM):
    """Asks for one call, and is content with what comes of it."""

    wanted: list = []
    heard: list = []
    before: int = 0

    def call(self, messages, *_, **__):
        if self.wanted:
            self.before = len(messages)
            tool, arguments = self.wanted.pop()
            return f"Thought: go\nAction: {tool}\nAction Input: {json.dumps(arguments)}\n"
        self.heard = [message["content"] for message in messages[self.before:]]
        return "Thought: I now know the final answer\nFinal Answer: done"


class Pause:
    """The agent's person, who is asked in the thread of the agent."""

    def __init__(self):
        self.asked, self.said, self.arguments = queue.Queue(), queue.Queue(), None
        tool_hooks.input = self.said.get
        register_before_tool_call_hook(self.ask)
        register_before_tool_call_hook(self.replace)

    def ask(self, context):
        self.asked.put(dict(context.tool_input))
        return context.request_human_input("Go on?") == "yes"

    def replace(self, context):
        context.tool_input.clear()
        context.tool_input.update(self.arguments)


def patient(factory, seconds):
    """Its time-out is a constant, but each client has one of its own."""
    def make():
        client = factory()
        client.execution_timeout = seconds
        return client

    return make


async def main():
    start = Start()
    resolver = MCPToolResolver(agent=None, logger=logging.getLogger())
    tools = {}
    for tool in resolver.resolve([MCPServerStdio(command=start.command, args=start.args)]):
        if start.timeout is not None:
            tool._client_factory = patient(tool._client_factory, start.timeout)
        tools[tool.original_tool_name] = tool
    person, waiting = Pause(), []

    async def call(tool, arguments):
        return str(await asyncio.to_thread(tools[tool].run, **arguments))

    async def pause(tool, arguments):
        model = Scripted(model="test")
        model.wanted = [(tools[tool].name, arguments)]
        agent = Agent(role="test", goal="test", backstory="test", llm=model, tools=[tools[tool]])
        waiting[:] = [model, asyncio.create_task(asyncio.to_thread(agent.kickoff, "go"))]
        return await asyncio.to_thread(person.asked.get)

    async def resume(arguments):
        model, running = waiting
        person.arguments = arguments
        person.said.put("yes")
        await running
        return model.heard

    await serve({"call": call, "pause": pause, "resume": resume})


asyncio.run(main())
