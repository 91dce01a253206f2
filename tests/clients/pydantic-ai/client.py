# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pydantic AI: an agent whose model says what the test says.

The pause is its deferred tool that needs approval; the substitution changes the history before it is
resumed, or is the override that an approval may carry.
"""

import asyncio

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import ApprovalRequiredToolset

from line import Start, serve, tagged


async def main():
    start, wanted, waiting, tags = Start(), [], [], {}

    def answer(messages, _info):
        """Asks for one call, and is content with what comes of it."""
        if any(isinstance(part, (ToolReturnPart, RetryPromptPart)) for part in messages[-1].parts):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(*wanted)])

    def told(result):
        return [part.content for message in result.all_messages() for part in message.parts
                if isinstance(part, (ToolReturnPart, RetryPromptPart))]

    async def tag(_context, call_tool, name, arguments):
        return await call_tool(name, arguments, metadata=dict(tags) or None)

    tools = MCPToolset(StdioTransport(command=start.command, args=start.args),
                       read_timeout=start.timeout, max_retries=2, process_tool_call=tag)
    free = Agent(FunctionModel(answer), toolsets=[tools])
    asking = Agent(FunctionModel(answer), output_type=[str, DeferredToolRequests],
                   toolsets=[ApprovalRequiredToolset(tools)])
    async with tools:
        async def call(tool, arguments):
            wanted[:] = [tool, arguments]
            return told(await free.run("go"))

        async def pause(tool, arguments):
            wanted[:] = [tool, arguments]
            result = await asking.run("go")
            assert not told(result)
            waiting[:] = [result]
            return [part.args for part in result.output.approvals]

        async def go_on(history, answer):
            part = waiting[0].output.approvals[0]
            approvals = DeferredToolResults(approvals={part.tool_call_id: answer})
            return told(await asking.run(message_history=history, deferred_tool_results=approvals))

        async def resume(arguments):
            history = waiting[0].all_messages()
            for message in history:
                for asked in message.parts:
                    if isinstance(asked, ToolCallPart):
                        asked.args = arguments
            return await go_on(history, True)

        async def override(arguments):
            return await go_on(waiting[0].all_messages(), ToolApproved(override_args=arguments))

        async def rollback():
            return await go_on(waiting[0].all_messages(), True)

        await serve({"call": call, "tagged": tagged(tags, call), "pause": pause, "resume": resume,
                     "override": override, "rollback": rollback})


asyncio.run(main())
