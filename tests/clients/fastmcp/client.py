# SPDX-License-Identifier: LGPL-2.1-or-later
"""FastMCP: its client, and its client for tasks, which speaks those of 2026-07-28.

Whoever imports fastmcp_tasks has each client made afterwards wait for tasks by itself.
"""

import asyncio

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from line import Start, serve


def client_of(start):
    return Client(StdioTransport(command=start.command, args=start.args), timeout=start.timeout)


def said(result):
    return [result.structured_content, [part.model_dump(mode="json") for part in result.content]]


async def main():
    start, handles = Start(), []
    plain = client_of(start)
    import fastmcp_tasks.client as tasks  # not before: see above
    patient = client_of(start)

    def handle_of(task):
        """What a program that kept the task's own words begins again with."""
        created = tasks.ClientCreateTaskResult.model_validate(task)
        return tasks.ToolTask(patient, "mail_send", created, raise_on_error=False)

    async with plain, patient:
        async def call(tool, arguments):
            return said(await plain.call_tool(tool, arguments, raise_on_error=False))

        async def task(tool, arguments):
            handles[:] = [await tasks.call_tool_task(patient, tool, arguments, raise_on_error=False)]
            return handles[0].create_result.model_dump(by_alias=True)

        async def task_result():
            return said(await handles[0].result())

        async def task_get(task):
            return (await handle_of(task).status()).model_dump(by_alias=True)

        async def task_take(task):
            return said(await handle_of(task).result())

        async def task_cancel(task):
            return await handle_of(task).cancel()

        async def task_waited(tool, arguments):
            return said(await patient.call_tool(tool, arguments, raise_on_error=False))

        await serve({"call": call, "task": task, "task_result": task_result, "task_get": task_get,
                     "task_take": task_take, "task_cancel": task_cancel, "task_waited": task_waited})


asyncio.run(main())
