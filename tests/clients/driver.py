# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program of a client, driven by lines, and what a model would read of its answers."""

import json
import os
import pwd
import select
import subprocess
import time

from undersign_test import people, world

AGENT = "agent-offboarding"
REPORT = f"/home/{AGENT}/report.pdf"
# Keeps what is said to a server; Agno takes no command in which a shell would find anything.
HEAR = f"/home/{AGENT}/hear"
SCRIPT = '#!/bin/sh\nfile=$1\nshift\ntee -a "$file" | "$@"\n'
PATIENCE = 180.0


class Ended(AssertionError):
    """The client's program is no more."""


class Client:
    """The program of a client, as the agent's user would start it; a context manager."""

    def __init__(self, argv, run, hold=0, timeout=60, heard=None, more=()):
        """@hold, @timeout: None for the server's own, and the client's; @heard: a file that gets what
        the client says to its server; @more: options of the server."""
        words = ["/usr/bin/undersign-mcp", *([] if hold is None else [f"--hold={hold}"]),
                 f"--run={run}", *more]
        if heard:
            words = [HEAR, heard, *words]
        start = {"command": words[0], "args": words[1:], "timeout": timeout}
        self.buffer, self.said = b"", ""
        self.others = set(servers())
        environment = {**people.environment(AGENT), "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": os.path.dirname(os.path.abspath(__file__)),
                       "NO_PROXY": "*", **QUIET}
        self.process = subprocess.Popen(
            [*argv, json.dumps(start)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=pwd.getpwnam(AGENT).pw_dir, env=environment,
            preexec_fn=lambda: people.become(AGENT), start_new_session=True)

    def send(self, word, **values):
        try:
            self.process.stdin.write(json.dumps({"do": word, **values}).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Ended("the client ended before it was asked anything") from None

    def line(self, timeout):
        """The next line of what it prints, None where none came in time."""
        end = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = max(0.0, end - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise Ended(f"the client ended; it said:\n{self.said[-6000:]}")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        self.said += line.decode(errors="replace") + "\n"
        return line

    def answer(self, timeout=PATIENCE):
        """The answer to the last command, None where it did not come in time."""
        end = time.monotonic() + timeout
        while (line := self.line(max(0.0, end - time.monotonic()))) is not None:
            if line.startswith(b"RESULT "):
                return json.loads(line[len(b"RESULT "):])
        return None

    def do(self, word, **values):
        """What the framework gave for it."""
        self.send(word, **values)
        found = self.answer()
        if found is None:
            raise AssertionError(f"no answer after {PATIENCE:g} s; it said:\n{self.said[-6000:]}")
        return found

    def call(self, tool, arguments):
        return Told(self.do("call", tool=tool, arguments=arguments))

    def close(self):
        """Ends it, and waits for its servers."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, 9)
                self.process.wait()
            self.process.stdout.close()
        world.wait_until(lambda: set(servers()) <= self.others, "the client's servers have ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# Frameworks that would ask the network who they are, or report home.
QUIET = {name: "true" for name in (
    "OPENAI_AGENTS_DISABLE_TRACING", "CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING",
    "CREWAI_TELEMETRY_OPT_OUT", "OTEL_SDK_DISABLED", "MASTRA_TELEMETRY_DISABLED",
    "DO_NOT_TRACK", "AGNO_TELEMETRY_DISABLED")}


def servers():
    """The processes of undersign-mcp that live."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/comm", encoding="utf-8") as file:
                if name.isdigit() and file.read().strip() == "undersign-mcp":
                    found.append(int(name))
        except OSError:
            pass
    return found


class Told:
    """What a model would read of a call, in whatever form the framework gives it."""

    def __init__(self, answer):
        self.answer = answer
        self.text = json.dumps(answer)
        self.result = next(results(answer), {})
        self.request = self.result.get("request_id")

    def __getattr__(self, name):
        return self.result.get(name)

    def __str__(self):
        return self.text[:3000]


def results(value):
    """Each result of ours in @value: an object, or JSON somewhere in a text."""
    if isinstance(value, dict):
        if {"state", "executed"} <= value.keys():
            yield value
        for inner in value.values():
            yield from results(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from results(inner)
    elif isinstance(value, str):
        for at, character in enumerate(value):
            if character in "{[":
                try:
                    yield from results(json.JSONDecoder().raw_decode(value[at:])[0])
                except ValueError:
                    pass
