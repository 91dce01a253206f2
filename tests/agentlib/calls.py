#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls each function of the library, as Python has it, in its blocking form and in the other.

usage: calls.py start LABEL AGENT      what who starts an agent calls
       calls.py ask LABEL FILE ACTION  what the agent calls

Each line is JSON: a call and what either form gave, a refusal's text if it was one; last, all functions
that were called.  calls.js does the same, and tests/system/test-library.py says what must come of it.
"""

import json
import sys

import gi

gi.require_version("Undersign", "1")
from gi.repository import GLib, Undersign  # noqa: E402: after the version

called = set()


def use(owner, name):
    kind = owner if isinstance(owner, type) else type(owner)
    called.add(f"{kind.__name__}.{name}")
    return getattr(owner, name)


client = use(Undersign.Client, "new")()


def plain(value):
    if isinstance(value, GLib.Variant):
        return value.unpack()
    if isinstance(value, tuple):
        request, state = value
        return [request, Undersign.state_to_string(state)]
    if not isinstance(value, Undersign.Status):
        return value
    found = {name: use(value, name)() for name in dir(Undersign.Status) if name.startswith("get_")}
    found["get_state"] = Undersign.state_to_string(found["get_state"])
    found["get_executed"] = Undersign.executed_to_string(found["get_executed"])
    return found


def outcome(function, *words):
    """What it gave, or why it was refused."""
    try:
        return plain(function(*words))
    except GLib.Error as error:
        if error.domain != GLib.quark_to_string(Undersign.error_quark()):
            raise
        return error.message


def later(name, words):
    loop, found = GLib.MainLoop(), []

    def done(source, result):
        try:
            found.append(outcome(use(source, f"{name}_finish"), result))
        finally:
            loop.quit()

    use(client, f"{name}_async")(*words, None, done)
    loop.run()
    return found[0]


def both(name, words=(), others=None):
    """@words are for the blocking form, @others for the other."""
    found = [outcome(use(client, name), *words, None), later(name, words if others is None else others)]
    print(json.dumps([name, *found]))
    return found


def submission(action, path, key=None, superseded=None):
    made = use(Undersign.Submission, "new")(action)
    use(made, "add_string")("target", "söme target")
    use(made, "add_boolean")("quiet", True)
    use(made, "add_strings")("names", ["name-one", "name-two"])
    use(made, "add_file")("letter", path)
    use(made, "add_files")("paper", [path])
    use(made, "set_claim")(None)
    use(made, "set_claim")("It is due.")
    use(made, "set_idempotency_key")(key)
    use(made, "set_supersedes")(superseded)
    return made


def ask(label, path, action):
    both("get_info")
    both("list_actions")
    both("describe_action", [action])
    both("open_run", [label, None])
    runs = both("open_run", [None, None], [None, "licences"])

    def submit(keys=(None, None), superseded=(None, None)):
        found = both("submit", *([run, submission(action, path, *more)]
                                 for run, *more in zip(runs, keys, superseded)))
        return [[answer[0]] for answer in found]

    first = submit([f"{label}-1", f"{label}-2"])
    both("get_state", *first)
    both("wait", *([request, 0] for request, in first))
    second = submit(superseded=[request for request, in first])
    both("get_state", *first)
    both("withdraw", *second)
    both("withdraw", *second)
    both("withdraw", *first)
    both("wait", *([request, -1] for request, in second))
    third = submit()
    both("leave", *third)
    both("get_state", *third)
    submit()
    both("close_run", *([run] for run in runs))
    submit()
    both("list_requests")


def main(verb, label, *words):
    if verb == "start":
        both("open_run_for", [*words, label, None])
    else:
        ask(label, *words)
    print(json.dumps(["called", *sorted(called)]))


main(*sys.argv[1:])
