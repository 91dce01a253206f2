# SPDX-License-Identifier: LGPL-2.1-or-later
"""Google's Agent Development Kit: an agent whose model says what the test says."""

import asyncio
import itertools

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.genai import types
from mcp import StdioServerParameters

from line import Start, serve


class Scripted(BaseLlm):
    """Asks for one call, and is content with what comes of it."""

    wanted: list = []

    async def generate_content_async(self, llm_request, stream=False):
        if llm_request.contents[-1].parts[-1].function_response:
            part = types.Part(text="done")
        else:
            tool, arguments = self.wanted
            part = types.Part(function_call=types.FunctionCall(name=tool, args=arguments))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main():
    start, model, numbers = Start(), Scripted(model="test"), itertools.count()
    server = StdioServerParameters(command=start.command, args=start.args)
    tools = McpToolset(connection_params=StdioConnectionParams(server_params=server,
                                                               timeout=start.timeout))
    runner = InMemoryRunner(agent=LlmAgent(name="test", model=model, tools=[tools]),
                            app_name="test")

    async def call(tool, arguments):
        model.wanted = [tool, arguments]
        session = f"session-{next(numbers)}"
        await runner.session_service.create_session(app_name="test", user_id="test",
                                                    session_id=session)
        go = types.Content(role="user", parts=[types.Part(text="go")])
        return [response.response
                async for event in runner.run_async(user_id="test", session_id=session,
                                                    new_message=go)
                for response in event.get_function_responses()]

    await serve({"call": call})
    await runner.close()


asyncio.run(main())
