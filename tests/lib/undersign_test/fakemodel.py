# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model's API (OpenAI's Responses, by server-sent events) that says what a test says.

The test calls a tool of the client by ask() and gets what the client sent back for it, from the
thread that it calls from: between two calls it can do what it likes, and the client waits.  It is
strict: a request that is not the one that must come next ends the test.
"""

import http.client
import json
import select
import socket
import time

PATIENCE = 180.0
MOST = 16 << 20


class Unexpected(AssertionError):
    """The client asked for what it should not have, or for nothing."""


class Model:
    """Listens on a port of the loopback interface, for one run of a client."""

    def __init__(self, path="/v1/responses"):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.held = None  # the connection whose request has no answer yet
        self.is_alive = None
        self.tools, self.outputs, self.count = [], [], 0

    def close(self):
        if self.held is not None:
            self.held.close()
        self.listener.close()

    def begin(self, is_alive):
        """Waits for the first request of a client, which @is_alive says is there."""
        self.is_alive = is_alive
        self._take()
        if self.outputs:
            raise Unexpected(f"it begins with outputs: {self.outputs}")

    def ask(self, name, arguments, namespace=None):
        """Has the client call a tool; what it sent back, whatever the form."""
        self.count += 1
        call = f"call_{self.count}"
        item = {"type": "function_call", "id": f"item_{self.count}", "call_id": call, "name": name,
                "arguments": json.dumps(arguments)}
        if namespace is not None:
            item["namespace"] = namespace
        return self._call(item, call)

    def write(self, name, text):
        """The same with a tool that takes text in a form of its own."""
        self.count += 1
        call = f"call_{self.count}"
        return self._call({"type": "custom_tool_call", "id": f"item_{self.count}", "call_id": call,
                           "name": name, "input": text}, call)

    def _call(self, item, call):
        self._answer(item)
        before = len(self.outputs)
        self._take()
        if len(self.outputs) != before + 1 or self.outputs[-1]["call_id"] != call:
            raise Unexpected(f"not one output of {call}: {self.outputs[before:]}")
        return self.outputs[-1]["output"]

    def end(self, text="Done."):
        """The last word: the client has nothing more to ask."""
        self._answer({"type": "message", "role": "assistant", "id": "message",
                      "content": [{"type": "output_text", "text": text, "annotations": []}]})

    def nothing_more(self):
        """Once the client has ended: it must not have asked again."""
        if select.select([self.listener], [], [], 0)[0]:
            raise Unexpected("it asked after the last word")

    def _answer(self, item):
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in (
            {"type": "response.created", "response": {"id": "response"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "response", "usage": usage}}))
        with self.held as connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                               b"Connection: close\r\n\r\n" + body.encode())
        self.held = None

    def _take(self):
        """The next request, kept open, and what is new in it."""
        end = time.monotonic() + PATIENCE
        while not select.select([self.listener], [], [], 0.2)[0]:
            if not self.is_alive():
                raise Unexpected("the client has ended")
            if time.monotonic() > end:
                raise Unexpected(f"it asked for nothing in {PATIENCE:g} s")
        self.held = self.listener.accept()[0]
        self.held.settimeout(PATIENCE)
        with self.held.makefile("rb") as stream:
            line = stream.readline(65536).decode("ascii", "replace").split()
            headers = http.client.parse_headers(stream)
            length = int(headers.get("Content-Length", "0"))
            if line[:2] != ["POST", self.path] or not 0 < length < MOST:
                raise Unexpected(f"{line} {dict(headers)}")
            body = json.loads(stream.read(length))
        if body.get("stream") is not True:
            raise Unexpected(f"it wants no stream: {sorted(body)}")
        self.tools = body["tools"]
        self.outputs = [item for item in body["input"] if item["type"].endswith("call_output")]
