# SPDX-License-Identifier: LGPL-2.1-or-later
"""The OpenAI Agents SDK in Python: an agent whose model says what the test says.

The pause is its require_approval; the substitution changes the saved run before it is resumed.
"""

import asyncio
import json

from agents import Agent, ModelBehaviorError, Runner, RunState
from agents.items import ModelResponse
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (ResponseFunctionToolCall, ResponseOutputMessage,
                                    ResponseOutputText)

from line import Start, serve, tagged


ALWAYS = {"mail_send": "always", "test_pay": "always"}


class Scripted(Model):
    """Asks for one call, and is content with what comes of it."""

    def __init__(self):
        self.wanted, self.count = None, 0

    async def get_response(self, system_instructions, input, *_, **__):
        if isinstance(input, list) and input[-1].get("type") == "function_call_output":
            item = ResponseOutputMessage(
                id="message", role="assistant", status="completed", type="message",
                content=[ResponseOutputText(text="done", type="output_text", annotations=[])])
        else:
            self.count += 1
            tool, arguments = self.wanted
            item = ResponseFunctionToolCall(call_id=f"call_{self.count}", name=tool,
                                            arguments=json.dumps(arguments), type="function_call")
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


def told(result):
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


async def main():
    start, model, waiting, tags = Start(), Scripted(), [], {}
    options = {"params": {"command": start.command, "args": start.args},
               "tool_meta_resolver": lambda _context: dict(tags) or None}
    if start.timeout is not None:
        options["client_session_timeout_seconds"] = start.timeout
    async with MCPServerStdio(**options) as free, \
            MCPServerStdio(**options, require_approval=ALWAYS) as asking:
        agents = {server: Agent(name="test", model=model, mcp_servers=[server])
                  for server in (free, asking)}

        async def call(tool, arguments):
            model.wanted = (tool, arguments)
            return told(await Runner.run(agents[free], "go"))

        async def pause(tool, arguments):
            model.wanted = (tool, arguments)
            result = await Runner.run(agents[asking], "go")
            assert not told(result)
            waiting[:] = [json.dumps(result.to_state().to_json()), arguments]
            return [item.raw_item.arguments for item in result.interruptions]

        async def resume(arguments):
            text, shown = waiting
            saved = json.loads(replace(json.loads(text), json.dumps(shown), json.dumps(arguments)))
            try:
                state = await RunState.from_json(agents[asking], saved)
                for item in state.get_interruptions():
                    state.approve(item)
                return told(await Runner.run(agents[asking], state))
            except ModelBehaviorError as error:
                return {"refused": str(error)}

        async def rollback():
            return await resume(waiting[1])

        await serve({"call": call, "tagged": tagged(tags, call), "pause": pause, "resume": resume,
                     "rollback": rollback})


def replace(saved, old, new):
    """JSON of @saved in which each string that is @old is @new."""
    return json.dumps(saved).replace(json.dumps(old), json.dumps(new))


asyncio.run(main())
