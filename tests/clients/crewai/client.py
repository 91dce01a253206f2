# SPDX-License-Identifier: LGPL-2.1-or-later
"""CrewAI: the tools that it makes of a server, as its agents would use them.

It starts a server for each call, and calls up to three times.
"""

import asyncio
import logging

from crewai.mcp import MCPServerStdio
from crewai.mcp.tool_resolver import MCPToolResolver

from line import Start, serve


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
        tool._client_factory = patient(tool._client_factory, start.timeout)
        tools[tool.original_tool_name] = tool

    async def call(tool, arguments):
        return str(await asyncio.to_thread(tools[tool].run, **arguments))

    await serve({"call": call})


asyncio.run(main())
