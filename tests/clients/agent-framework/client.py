# SPDX-License-Identifier: LGPL-2.1-or-later
"""Microsoft Agent Framework: an agent whose model says what the test says.

The pause is its approval mode.  What an answer says of the call is not looked at, so the substitution
changes what the session holds of it, too.
"""

import asyncio

from agent_framework import (Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer,
                             MCPStdioTool, Message)

from line import Start, serve


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Asks for one call, and is content with what comes of it."""

    def __init__(self):
        super().__init__()
        self.wanted, self.count = None, 0

    async def _inner_get_response(self, *, messages, stream, options, **_):
        if any(part.type == "function_result" for part in messages[-1].contents):
            part = Content.from_text("done")
        else:
            self.count += 1
            tool, arguments = self.wanted
            part = Content.from_function_call(f"call_{self.count}", tool, arguments=arguments)
        return ChatResponse(messages=[Message(role="assistant", contents=[part])])


def told(response):
    return [[part.result, part.exception] for message in response.messages
            for part in message.contents if part.type == "function_result"]


def server(start, **options):
    return MCPStdioTool(name="undersign", command=start.command, args=start.args,
                        request_timeout=start.timeout, load_prompts=False, **options)


def replace(value, arguments):
    """Puts @arguments into each call that is anywhere in @value."""
    if isinstance(value, dict):
        if value.get("type") == "function_call":
            value["arguments"] = arguments
        value = list(value.values())
    for inner in value if isinstance(value, list) else []:
        replace(inner, arguments)


async def main():
    start, model, waiting = Start(), Scripted(), []
    async with server(start) as free, server(start, approval_mode="always_require") as asking:
        plain = Agent(client=model, tools=[free])
        careful = Agent(client=model, tools=[asking])

        async def call(tool, arguments):
            model.wanted = (tool, arguments)
            return told(await plain.run("go"))

        async def tagged(tool, arguments, meta):
            model.wanted = (tool, arguments)
            return told(await plain.run("go", function_invocation_kwargs={"_meta": meta}))

        async def pause(tool, arguments):
            model.wanted = (tool, arguments)
            session = careful.create_session()
            asked, = (await careful.run("go", session=session)).user_input_requests
            waiting[:] = [session, asked]
            return asked.function_call.parse_arguments()

        async def ignored(arguments):
            session, asked = waiting
            asked.function_call.arguments = arguments
            answer = Message(role="user", contents=[asked.to_function_approval_response(True)])
            return told(await careful.run(answer, session=session))

        async def resume(arguments):
            replace(waiting[0].state, arguments)
            return await ignored(arguments)

        await serve({"call": call, "tagged": tagged, "pause": pause, "resume": resume, "ignored": ignored})


asyncio.run(main())
