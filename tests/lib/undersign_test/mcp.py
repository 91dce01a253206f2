# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of MCP that starts undersign-mcp as an agent would have it started, and no model."""

import json
import os
import pwd
import select
import subprocess
import time

from . import people

PATIENCE = 120.0
LEGACY, TASKS, MODERN = "2025-06-18", "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"
WITH_TASKS = {"extensions": {META + "tasks": {}}}


class Server:
    """undersign-mcp of @user with the words @options; a context manager that closes its input."""

    def __init__(self, user, *options, version=LEGACY, capabilities=None):
        self.buffer, self.last_id, self.answers = b"", 0, {}
        self.version, self.capabilities = version, capabilities or {}
        started = time.monotonic()
        self.process = subprocess.Popen(
            ["undersign-mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=people.environment(user), cwd=pwd.getpwnam(user).pw_dir,
            preexec_fn=lambda: people.become(user))
        if version != MODERN:
            self.request("initialize", protocolVersion=version, capabilities=self.capabilities,
                         clientInfo={"name": "test", "version": "1"})
            self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        else:
            self.request("server/discover")
        # How long a client waits for the first answer: to be looked at, never asserted.
        self.first_answer = time.monotonic() - started

    def write(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        """The next message."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.buffer:
            ready = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not piece:
                raise AssertionError(f"undersign-mcp said no more; at last {self.buffer!r}")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def send(self, method, **params):
        """Sends a request; its id."""
        self.last_id += 1
        if self.version == MODERN:
            meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities}
            params["_meta"] = {**meta, **params.get("_meta", {})}
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method,
                               "params": params}))
        return self.last_id

    def receive(self, number):
        """The answer to the request of that id; others are kept."""
        while number not in self.answers:
            message = self.read()
            if "id" in message:
                self.answers[message["id"]] = message
        return self.answers.pop(number)

    def cancel(self, number):
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                               "params": {"requestId": number}}))

    def request(self, method, **params):
        answer = self.receive(self.send(method, **params))
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def call(self, name, meta=None, **arguments):
        """The result of a tool."""
        more = {"_meta": meta} if meta else {}
        return self.request("tools/call", name=name, arguments=arguments, **more)

    def close(self):
        """Closes its input; the exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        status = self.close()
        if kind is None and status != 0:
            raise AssertionError(f"undersign-mcp ended with {status}")
