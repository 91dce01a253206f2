# SPDX-License-Identifier: LGPL-2.1-or-later
"""Google's Agent Development Kit: an agent whose model says what the test says.

The pause is its require_confirmation; the substitution changes both places of the stored session where
the call stands, since it compares them before it goes on.
"""

import asyncio
import itertools

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.genai import types
from mcp import StdioServerParameters
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from line import Start, serve

CONFIRMATION = "adk_request_confirmation"


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


def runner_of(start, model, **options):
    server = StdioServerParameters(command=start.command, args=start.args)
    patience = {} if start.timeout is None else {"timeout": start.timeout}
    tools = McpToolset(connection_params=StdioConnectionParams(server_params=server, **patience),
                       **options)
    return InMemoryRunner(agent=LlmAgent(name="test", model=model, tools=[tools]), app_name="test")


async def said(runner, session, **part):
    """The events that come of what its person says."""
    message = types.Content(role="user", parts=[types.Part(**part)])
    return [event async for event in runner.run_async(user_id="test", session_id=session,
                                                      new_message=message)]


def told(events):
    return [response.response for event in events for response in event.get_function_responses()]


async def main():
    start, model, numbers, waiting = Start(), Scripted(model="test"), itertools.count(), []
    plain = runner_of(start, model)
    careful = runner_of(start, model, require_confirmation=True)

    async def go(runner, tool, arguments):
        model.wanted = [tool, arguments]
        session = f"session-{next(numbers)}"
        await runner.session_service.create_session(app_name="test", user_id="test",
                                                    session_id=session)
        return session, await said(runner, session, text="go")

    async def call(tool, arguments):
        return told((await go(plain, tool, arguments))[1])

    async def traced(tool, arguments, meta):
        context = TraceContextTextMapPropagator().extract(meta)
        with trace.use_span(trace.get_current_span(context)):
            return await call(tool, arguments)

    async def pause(tool, arguments):
        session, events = await go(careful, tool, arguments)
        asked, = [asked for event in events for asked in event.get_function_calls()
                  if asked.name == CONFIRMATION]
        waiting[:] = [session, asked.id]
        return asked.args

    async def resume(arguments):
        session, asked = waiting
        for event in careful.session_service.sessions["test"]["test"][session].events:
            for stored in event.get_function_calls():
                if stored.name == CONFIRMATION:
                    stored.args["originalFunctionCall"]["args"] = arguments
                else:
                    stored.args = arguments
        return told(await said(careful, session, function_response=types.FunctionResponse(
            id=asked, name=CONFIRMATION, response={"confirmed": True})))

    await serve({"call": call, "traced": traced, "pause": pause, "resume": resume})
    await plain.close()
    await careful.close()


asyncio.run(main())
