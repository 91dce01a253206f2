# SPDX-License-Identifier: LGPL-2.1-or-later
"""Agno: an agent whose model says what the test says.

The pause is its requires_confirmation; the substitution changes the stored call before it is resumed.
"""

import asyncio
import json
import shlex

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.tools.mcp import MCPTools

from line import Start, serve


class Scripted(Model):
    """Asks for one call, and is content with what comes of it."""

    def __init__(self):
        super().__init__(id="test", name="test", provider="test")
        self.wanted, self.count = None, 0

    async def ainvoke(self, messages, **_):
        if messages[-1].role == "tool":
            return ModelResponse(role="assistant", content="done")
        self.count += 1
        tool, arguments = self.wanted
        return ModelResponse(role="assistant", tool_calls=[{
            "id": f"call_{self.count}", "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments)}}])

    def invoke(self, *_, **__):
        raise NotImplementedError

    def invoke_stream(self, *_, **__):
        raise NotImplementedError

    def ainvoke_stream(self, *_, **__):
        raise NotImplementedError

    def _parse_provider_response(self, response, **_):
        return response

    def _parse_provider_response_delta(self, response):
        return response


def told(run):
    return [message.content for message in run.messages or [] if message.role == "tool"
            and not message.from_history]


async def main():
    start, model, waiting = Start(), Scripted(), []
    command = shlex.join([start.command, *start.args])
    patience = {} if start.timeout is None else {"timeout_seconds": start.timeout}
    async with MCPTools(command, **patience) as free, \
            MCPTools(command, requires_confirmation_tools=["mail_send", "test_pay"], **patience) as asking:
        plain = Agent(model=model, tools=[free], telemetry=False)
        careful = Agent(model=model, tools=[asking], db=InMemoryDb(), telemetry=False)

        async def call(tool, arguments):
            model.wanted = (tool, arguments)
            return told(await plain.arun("go"))

        async def pause(tool, arguments):
            model.wanted = (tool, arguments)
            run = await careful.arun("go")
            assert run.is_paused
            waiting[:] = [run]
            return [needed.tool_execution.tool_args for needed in run.active_requirements]

        async def resume(arguments):
            run = waiting[0]
            for needed in run.active_requirements:
                needed.tool_execution.tool_args = arguments
                needed.confirm()
            for message in run.messages:
                for asked in message.tool_calls or []:
                    asked["function"]["arguments"] = json.dumps(arguments)
            return told(await careful.acontinue_run(run_response=run))

        await serve({"call": call, "pause": pause, "resume": resume})


asyncio.run(main())
