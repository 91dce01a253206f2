# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/check runs, once its packages are there: builds, suites, and the count of both."""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from undersign_test import builds, results

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Lines in a report are all that is wanted of what debuggers are told.
SANITIZERS = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "--buildtype=debug",
              "-Dc_args=-g1"]
RELEASE = ["--buildtype=debugoptimized", "-Dc_args=-g0"]
# Of what no distribution ships: it links the same in a third of the time.
LINKER = {"CC_LD": "lld"}
# Two clients of MCP that others wrote, of the many of tests/clients, and what shows most of each.
CLIENTS = ["mcp-python/read", "mcp-python/changed", "mcp-typescript/denied",
           "mcp-typescript/changed", "mcp-typescript/retry"]
# Of tests/system: 20,000 steps of the release.
MODEL = "model"
# What tests/system has of the build beside what is installed.
BESIDE = ["tests/fault/fault.so", "tests/executor/hostile-broker", "tests/broker/undersign-matrix",
          "tests/card/key-tool"]
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


class Check:
    """One run: a work folder outside the checkout, a tally, and the clock."""

    def __init__(self, work):
        self.work = work
        self.started = time.monotonic()
        self.tally = results.Tally(os.path.join(TESTS, "skips"))
        self.environment = dict(SANITIZER_ENVIRONMENT)

    def elapsed(self):
        seconds = int(time.monotonic() - self.started)
        return f"{seconds // 60}:{seconds % 60:02d}"

    def say(self, text):
        print(f"[{self.elapsed():>5}] {text}", flush=True)

    def compile(self, name, options, beside=None, environment=None):
        """A build that works, or None; either way it is counted."""
        self.say(f"building: {name}")
        build = builds.Build(name, self.work, options, environment)
        if build.compile(beside):
            self.tally.add("build", name, results.PASSED)
            return build
        self.tally.add("build", name, results.FAILED, "does not compile")
        print(build.tail(), end="")
        return None

    def authenticators(self, source):
        """The security keys of the tests: software of others, fetched and built."""
        self.say("building: security keys for the tests")
        folder = os.path.join(self.work, "authenticators")
        log = os.path.join(self.work, "authenticators.log")
        status = self.run_logged([os.path.join(source, "tests/authenticator/build"), folder], log,
                                 timeout=1800)
        if status == 0:
            self.environment["UNDERSIGN_AUTHENTICATORS"] = folder
            self.tally.add("build", "authenticators", results.PASSED)
            return
        self.tally.add("build", "authenticators", results.FAILED, f"ended with {status}")
        with open(log, encoding="utf-8", errors="replace") as output:
            print(output.read()[-4000:])

    def meson_test(self, build):
        """The suites that need no root, as a plain user and without a network."""
        self.say(f"meson test: {build.name}")
        suite = f"meson ({build.name})"
        status = build.run(["meson", "test", "-C", build.path, "--no-rebuild",
                            "--print-errorlogs", "--timeout-multiplier", "4"],
                           extra=self.environment)
        log = os.path.join(build.path, "meson-logs", "testlog.json")
        good = True
        seen = 0
        if os.path.exists(log):
            for name, found, entry in results.read_meson_log(log):
                seen += 1
                if not self.tally.add_all(name, found):
                    good = False
                    print(f"--- {name}: {entry['result']}")
                    print((entry.get("stdout") or "")[-4000:], (entry.get("stderr") or "")[-6000:])
        if seen == 0 or (status != 0 and good):
            self.tally.add(suite, "exit", results.FAILED, f"meson test ended with {status}")
            print(build.tail(), end="")

    def system_tests(self, build, but=()):
        """The suites of tests/system, @but those."""
        for script in sorted(glob.glob(os.path.join(build.source, "tests/system/test-*.py"))):
            name = os.path.basename(script)[len("test-"):-len(".py")]
            if name not in but:
                self.system_test(build, name)

    def system_test(self, build, name, timeout=900):
        """A suite of tests/system, in a namespace of its own with @build installed."""
        self.say(f"in the namespace: {name} ({build.name})")
        script = os.path.join(build.source, f"tests/system/test-{name}.py")
        log = os.path.join(self.work, f"{build.name}.{name}.log")
        status = self.in_namespace(build, ["/usr/bin/python3", "-B", script], log, timeout)
        with open(log, encoding="utf-8", errors="replace") as output:
            text = output.read()
        found = results.parse_tap(text)
        if status != 0 and not any(outcome == results.FAILED for _, outcome, _ in found):
            found.append(("exit", results.FAILED, f"ended with {status}"))
        if not self.tally.add_all(f"{name} ({build.name})", found):
            print(text[-12000:])

    def model(self, release):
        """The suite that has most to do, beside what waits."""
        if release.result():
            self.system_test(release.result(), MODEL, timeout=1800)

    def booted(self, build):
        """tests/systemd: installed, used and removed where systemd has booted."""
        self.say(f"systemd ({build.name})")
        # It ends itself in good time, and then leaves nothing.
        self.run_tap("systemd", f"{build.name}.systemd.log",
                     [os.path.join(build.source, "tests/systemd/run"), "--build", build.path], 1200)

    def clients(self, source, word, *more):
        """tests/clients: clients that others wrote, from PyPI and the npm registry."""
        self.run_tap("clients", f"clients{word}.log",
                     [os.path.join(source, "tests/clients/run"), "--cache",
                      os.path.join(self.work, "clients"), word, *more, *CLIENTS], 900)

    def run_tap(self, suite, log, command, timeout):
        """Runs @command, which prints TAP and may skip."""
        log = os.path.join(self.work, log)
        status = self.run_logged(command, log, timeout)
        with open(log, encoding="utf-8", errors="replace") as output:
            text = output.read()
        found = results.parse_tap(text)
        if status != 0 and not any(outcome == results.FAILED for _, outcome, _ in found):
            found.append(("exit", results.FAILED, f"ended with {status}"))
        for name, outcome, note in found:
            if outcome == results.SKIPPED:
                print(f"skipped: {suite}: {name}: {note}", flush=True)
        if not self.tally.add_all(suite, found):
            print(text[-12000:])

    def demonstration(self, build):
        """tests/try --auto, with a build that is there."""
        self.say(f"tests/try --auto ({build.name})")
        log = os.path.join(self.work, f"{build.name}.try.log")
        status = self.run_logged([os.path.join(build.source, "tests/try"), "--auto", "--build",
                                  build.path], log)
        good = self.tally.add("try", f"tests/try --auto ({build.name})",
                              results.PASSED if status == 0 else results.FAILED,
                              f"ended with {status}")
        if good == results.FAILED:
            with open(log, encoding="utf-8", errors="replace") as output:
                print(output.read()[-12000:])

    def static(self, build):
        """tests/static: what checkers find without running anything; no finding but accepted ones."""
        self.say("tests/static/run")
        self.run_words("static", ["/usr/bin/python3", "-B", os.path.join(TESTS, "static/run"),
                                  "--build", build.path])

    def coverage(self):
        """tests/fuzz/coverage: how much of the parsers of outside bytes the corpora reach."""
        self.say("tests/fuzz/coverage")
        self.run_words("coverage", ["/usr/bin/python3", "-B", os.path.join(TESTS, "fuzz/coverage"),
                                    "--work", os.path.join(self.work, "fuzz")])

    def mutants(self):
        """tests/mutate: drops one refusing check at a time; its test must turn red.  Its copy is what
        clang compiles here; of the patches there is time for some."""
        self.say("tests/mutate/run (clang)")
        self.run_words("mutants", ["/usr/bin/python3", "-B", os.path.join(TESTS, "mutate/run"),
                                   "--jobs", "2", "--some"], {"CC": "clang", **LINKER})

    def run_words(self, suite, command, extra=None):
        """Runs @command, which says a line "ok NAME: note" or "FAIL NAME: note" for each of its tests."""
        log = os.path.join(self.work, f"{suite}.log")
        status = self.run_logged(command, log, 1800, extra)
        with open(log, encoding="utf-8", errors="replace") as output:
            text = output.read()
        found = [(name, results.PASSED if word == "ok" else results.FAILED, note)
                 for word, name, note in re.findall(r"^(ok|FAIL) +(\S+): (.*)$", text, re.MULTILINE)]
        if status != 0 and not any(outcome == results.FAILED for _, outcome, _ in found):
            found.append(("exit", results.FAILED, f"ended with {status}"))
        if not self.tally.add_all(suite, found):
            print(text[-12000:])

    def in_namespace(self, build, command, log, timeout=900):
        """Runs @command where @build is installed; the exit status, None where it took too long."""
        entry = os.path.join(build.source, "tests/lib/namespace")
        return self.run_logged(["/usr/bin/python3", "-B", entry, "--build", build.path, *command],
                               log, timeout)

    def run_logged(self, command, log, timeout=900, extra=None):
        """Runs @command as root; the exit status, None where it took too long."""
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, start_new_session=True,
                                       env={**os.environ, **self.environment, **(extra or {})})
            try:
                return process.wait(timeout)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def run(self):
        """Three things at a time: most suites wait more than they work."""
        source = os.path.join(self.work, "source")
        os.mkdir(source, 0o755)
        builds.copy_source(os.path.dirname(TESTS), source)
        with concurrent.futures.ThreadPoolExecutor(2) as beside, \
                concurrent.futures.ThreadPoolExecutor(1) as registries:
            keys = beside.submit(self.authenticators, source)
            sanitized = self.compile("sanitizers", SANITIZERS, environment=LINKER)
            mutants = beside.submit(self.mutants)
            keys.result()
            fetched = registries.submit(self.clients, source, "--fetch")
            release = beside.submit(self.compile, "release", RELEASE, BESIDE)
            gates = beside.submit(self.gates, release)
            model = beside.submit(self.model, release)
            if sanitized:
                self.meson_test(sanitized)
                self.installed(sanitized)
            if release.result():
                self.installed(release.result(), but=(MODEL,))
                self.booted(release.result())
                fetched.result()
                self.say("clients (release)")
                self.clients(source, "--build", release.result().path)
            for future in (gates, mutants, model):
                future.result()

    def gates(self, release):
        """What needs neither root nor users: the checkers of the release, and what the corpora reach."""
        if release.result():
            self.static(release.result())
        self.coverage()

    def installed(self, build, but=()):
        """What installs a build in the namespace."""
        self.system_tests(build, but)
        self.demonstration(build)

    def finish(self):
        for suite, name, note in self.tally.failures:
            print(f"failed: {suite}: {name}" + (f": {note}" if note else ""))
        self.say("done")
        print(self.tally.summary(), flush=True)
        return 0 if self.tally.failed == 0 and self.tally.passed > 0 else 1


def main():
    parser = argparse.ArgumentParser(prog="tests/check", description="Runs every test.")
    parser.add_argument("--keep", action="store_true", help="leave the builds and logs in /var/tmp")
    arguments = parser.parse_args()
    os.umask(0o022)
    work = tempfile.mkdtemp(prefix="undersign-check.", dir="/var/tmp")
    os.chmod(work, 0o755)
    check = Check(work)
    try:
        check.run()
    finally:
        if arguments.keep:
            print(f"kept: {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
