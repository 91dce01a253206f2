#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An agent that sends a file by e-mail, once a person has approved exactly that mail.

usage: send-report.py TO FILE

Run it as the agent's user.  It exits 0 where the mail was sent, 1 where it certainly was not, and 2
where nobody knows: then a person must find out, and it must not be run again.  It needs python3-gi.
"""

import sys

import gi

gi.require_version("Undersign", "1")
from gi.repository import GLib, Undersign  # noqa: E402: after the version

EXIT = {Undersign.Executed.YES: 0, Undersign.Executed.NO: 1, Undersign.Executed.UNKNOWN: 2}


def report_mail(to, path):
    """The mail; the file is copied here: what becomes of it later changes nothing."""
    mail = Undersign.Submission.new("mail.send")
    mail.add_strings("to", [to])
    mail.add_string("subject", "Report")
    mail.add_string("body", "The report is attached.")
    mail.add_files("attachment", [path])
    mail.set_claim("It is the end of the month.")
    return mail


def ask(client, mail):
    """What became of the request."""
    run = client.open_run("monthly-report", None, None)
    request, state = client.submit(run, mail, None)
    print(f"{request}: {Undersign.state_to_string(state)}", flush=True)
    return client.wait(request, -1, None)


def main():
    if len(sys.argv) != 3:
        print("usage: send-report.py TO FILE", file=sys.stderr)
        return 1
    try:
        status = ask(Undersign.Client.new(), report_mail(*sys.argv[1:]))
    except GLib.Error as error:
        print(f"send-report.py: {error.message}", file=sys.stderr)
        # Policy's refusals leave nothing behind; a service that cannot be reached may have taken it.
        lost = error.matches(Undersign.error_quark(), Undersign.Error.UNAVAILABLE)
        return 2 if lost else 1
    why = status.get_reason() or status.get_result()
    print(f"{Undersign.state_to_string(status.get_state())}, executed: "
          f"{Undersign.executed_to_string(status.get_executed())}" + (f" ({why})" if why else ""))
    return EXIT[status.get_executed()]


if __name__ == "__main__":
    sys.exit(main())
