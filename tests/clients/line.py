# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each client in Python says and hears: one line of JSON a command, one an answer.

The driver (scenarios.py) writes {"do": …}; an answer is a line "RESULT {…}" with what the framework
said, or with the error that it raised.  Whatever else a framework prints is no answer.
"""

import asyncio
import json
import sys


class Start:
    """How the driver wants the server started: the only argument of each client."""

    def __init__(self):
        found = json.loads(sys.argv[1])
        self.command, self.args = found["command"], found["args"]
        self.timeout = found["timeout"]


def answer(value):
    sys.stdout.write("\nRESULT " + json.dumps(value, default=str) + "\n")
    sys.stdout.flush()


def error_text(error):
    """All that an exception says, those in a group and those before it included."""
    more = [error_text(inner) for inner in getattr(error, "exceptions", ())]
    return " / ".join([f"{type(error).__name__}: {error}", *more])


def tagged(tags, call):
    """@call as a coroutine that has the wanted metadata in @tags meanwhile."""
    async def with_meta(tool, arguments, meta):
        tags.update(meta)
        try:
            return await call(tool, arguments)
        finally:
            tags.clear()
    return with_meta


async def serve(handlers):
    """Answers each command by the coroutine of that name, until there are no more."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        try:
            answer({"said": await handlers[command.pop("do")](**command)})
        except Exception as error:  # what a framework raises is what it says of the call
            answer({"error": error_text(error)})
