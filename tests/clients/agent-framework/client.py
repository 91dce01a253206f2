# SPDX-License-Identifier: LGPL-2.1-or-later
"""Microsoft Agent Framework: an agent whose model says what the test says."""

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


async def main():
    start, model = Start(), Scripted()
    async with MCPStdioTool(name="undersign", command=start.command, args=start.args,
                            request_timeout=start.timeout, load_prompts=False) as tools:
        agent = Agent(client=model, tools=[tools])

        async def call(tool, arguments):
            model.wanted = (tool, arguments)
            return told(await agent.run("go"))

        await serve({"call": call})


asyncio.run(main())
