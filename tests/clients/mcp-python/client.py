# SPDX-License-Identifier: LGPL-2.1-or-later
"""The MCP Python SDK: its client, one session for all calls."""

import asyncio

from mcp import StdioServerParameters
from mcp.client import Client

from line import Start, serve


async def main():
    start = Start()
    server = StdioServerParameters(command=start.command, args=start.args)
    async with Client(server, read_timeout_seconds=start.timeout) as client:

        async def tagged(tool, arguments, meta):
            result = await client.call_tool(tool, arguments, meta=meta)
            return result.model_dump(mode="json")

        async def call(tool, arguments):
            return await tagged(tool, arguments, None)

        await serve({"call": call, "tagged": tagged})


asyncio.run(main())
