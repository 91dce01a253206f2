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

from undersign_test import builds, figures, results, suites

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Lines in a report are all that is wanted of what debuggers are told.
SANITIZERS = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "--buildtype=debug",
              "-Dc_args=-g1"]
RELEASE = ["--buildtype=debugoptimized", "-Dc_args=-g0"]
# Of what no distribution ships: it links the same in a third of the time.
LINKER = {"CC_LD": "lld"}
# Two clients of MCP that others wrote, of the many of tests/clients, and what shows most of each.
CLIENTS = ["mcp-python/read", "mcp-python/changed", "mcp-typescript/denied", "mcp-typescript/tagged",
           "mcp-typescript/task_a", "mcp-typescript/changed", "mcp-typescript/retry"]
# The one that tests/systemd drives.
CODER = "codex"
# Of tests/system: 20,000 steps of the release.
MODEL = "model"
# Of tests/system: what sanitizers see more of than the release would, at the cost of minutes.
SANITIZED = ("fault-broker", "fault-files", "fault-restored")
# Of tests/system: what a bus may pass on and how it says who calls, on either bus, each with a build.
BOTH_BUSES = ("admin", "attacker", "attacker-load", "denial-approval", "denial-arguments", "denial-roles",
              "launcher", "matrix")
# Suites whose order of events is drawn: what they meet once is a finding, however rare.
DRAWN = (MODEL, "model-path")
# Of meson's: draw values by the seed that GLib prints; the other suites print theirs, too, for nothing.
SEEDED = ("card-screen", "executor-matching", "mail", "mail-message", "mail-mime", "record-escape")
# A program of libFuzzer each.
FUZZED = glob.glob(os.path.join(TESTS, "fuzz/fuzz-*.c"))
# By which suites draw; the mutants, too.
SEEDS = ("UNDERSIGN_SEED", "UNDERSIGN_FAULTS")
# A suite is not begun once more after so many seconds.
ONCE_MORE_SECONDS = 26 * 60
# What tests/system has of the build beside what is installed.
BESIDE = ["tests/fault/fault.so", "tests/executor/hostile-broker", "tests/broker/undersign-matrix",
          "tests/card/key-tool"]
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def with_exit(found, status):
    """What a suite found, and a failure more if only its exit status tells of one."""
    if status != 0 and not any(outcome == results.FAILED for _, outcome, _ in found):
        return [*found, ("exit", results.FAILED, f"ended with {status}")]
    return found


def seed_of_commit():
    """What suites draw by is another with each commit, and the same when that is tested again."""
    told = subprocess.run(["git", "-c", "safe.directory=*", "-C", TESTS, "rev-parse", "--short=12", "HEAD"],
                          capture_output=True, text=True, check=False)
    return told.stdout.strip() or "1"


class Check:
    """One run: a work folder outside the checkout, a tally, and the clock."""

    def __init__(self, work, seed):
        self.work = work
        self.started = time.monotonic()
        self.tally = results.Tally(os.path.join(TESTS, "skips"))
        self.seed = seed
        self.environment = {**SANITIZER_ENVIRONMENT, **dict.fromkeys(SEEDS, seed)}
        self.suites = suites.Suites(self.tally, self.say)
        self.figures = figures.Figures()

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
        status, text = self.run_logged("authenticators", [
            os.path.join(source, "tests/authenticator/build"), folder], timeout=1800)
        if status == 0:
            self.environment["UNDERSIGN_AUTHENTICATORS"] = folder
            self.tally.add("build", "authenticators", results.PASSED)
            return
        self.tally.add("build", "authenticators", results.FAILED, f"ended with {status}")
        print(text[-4000:])

    def meson_test(self, build):
        """The suites that need no root, as a plain user and without a network."""
        self.say(f"meson test: {build.name}")
        status, found = self.meson_results(build)
        for name, result in found.items():
            self.suites.count(name, result, None if name in SEEDED else lambda name=name: (
                self.meson_results(build, name)[1].get(name, ([], "it has no result"))))
        good = not any(self.tally.fails(name, tests) for name, (tests, _) in found.items())
        if not found or (status != 0 and good):
            self.tally.add(f"meson ({build.name})", "exit", results.FAILED,
                           f"meson test ended with {status}")
            print(build.tail(), end="")

    def meson_results(self, build, *names):
        """The exit status, and for each suite what was found and what it printed."""
        log = os.path.join(build.path, "meson-logs", "testlog.json")
        if os.path.exists(log):
            os.unlink(log)
        status = build.run(["meson", "test", "-C", build.path, "--no-rebuild",
                            "--print-errorlogs", "--timeout-multiplier", "4", *names],
                           extra=self.environment)
        if not os.path.exists(log):
            return status, {}
        told = {}
        for name, found, entry in results.read_meson_log(log):
            said, errors = entry.get("stdout") or "", entry.get("stderr") or ""
            told[name] = found, "\n".join((f"{entry['result']}, {entry.get('returncode')}",
                                          said[-4000:], errors[-6000:]))
            if name in SEEDED:
                self.figures.read(name, said)
        return status, told

    def system_tests(self, build, but=()):
        """The suites of tests/system, @but those."""
        for script in sorted(glob.glob(os.path.join(build.source, "tests/system/test-*.py"))):
            name = os.path.basename(script)[len("test-"):-len(".py")]
            if name not in but:
                self.system_test(build, name)

    def system_test(self, build, name, timeout=900):
        """A suite of tests/system, in a namespace of its own with @build installed."""
        suite, extra = f"{name} ({build.name})", None
        if name in BOTH_BUSES:
            bus = suites.bus_of(self.seed, name, build.name)
            suite, extra = f"{name} ({build.name}, {bus})", {"UNDERSIGN_BUS": bus}
        self.say(f"in the namespace: {suite}")
        command = ["/usr/bin/python3", "-B", os.path.join(build.source, "tests/lib/namespace"),
                   "--build", build.path,
                   "/usr/bin/python3", "-B", os.path.join(build.source, f"tests/system/test-{name}.py")]
        self.run_tap(suite, command, timeout, name not in DRAWN, extra)

    def model(self, release):
        """The suite that has most to do, beside what waits."""
        if release.result():
            self.system_test(release.result(), MODEL, timeout=1800)

    def smaller(self, release):
        """The other suites, with the release."""
        if release.result():
            self.installed(release.result(), but=(MODEL, *SANITIZED))

    def booted(self, build):
        """tests/systemd: installed, used and removed where systemd has booted."""
        self.say(f"systemd ({build.name})")
        # It ends itself in good time, and then leaves nothing.
        self.run_tap("systemd",
                     [os.path.join(build.source, "tests/systemd/run"), "--build", build.path,
                      "--cache", os.path.join(self.work, "clients")], 1200)

    def clients(self, source, word, *more):
        """tests/clients: clients that others wrote, from PyPI and the npm registry."""
        self.run_tap("clients", [os.path.join(source, "tests/clients/run"), "--cache",
                                 os.path.join(self.work, "clients"), word, *more, *CLIENTS], 900)

    def run_tap(self, suite, command, timeout, again=True, extra=None):
        """Runs @command, which prints TAP and may skip."""
        def attempt():
            status, text = self.run_logged(suite, command, timeout, extra)
            self.figures.read(suite, text)
            return with_exit(results.parse_tap(text), status), text

        found, text = attempt()
        for name, outcome, note in found:
            if outcome == results.SKIPPED:
                print(f"skipped: {suite}: {name}: {note}", flush=True)
        self.suites.count(suite, (found, text), attempt if again else None)

    def demonstration(self, build):
        """tests/try --auto, with a build that is there."""
        suite = f"tests/try --auto ({build.name})"
        command = [os.path.join(build.source, "tests/try"), "--auto", "--build", build.path]

        def attempt():
            status, text = self.run_logged(suite, command)
            return [("try", results.PASSED if status == 0 else results.FAILED,
                     f"ended with {status}")], text

        self.say(suite)
        self.suites.count(suite, attempt(), attempt)

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

    def fuzzers(self):
        """tests/fuzz/run: the libFuzzer programs, a second each; what they find new is a finding."""
        self.say("tests/fuzz/run")
        self.run_words("fuzz", [os.path.join(TESTS, "fuzz/run"), str(len(FUZZED))],
                       {"UNDERSIGN_FUZZ_DIR": os.path.join(self.work, "libfuzzer"), **LINKER})

    def mutants(self):
        """tests/mutate: drops one refusing check at a time; its test must turn red.  Its copy is what
        clang compiles here; of the patches there is time for some."""
        self.say("tests/mutate/run (clang)")
        self.run_words("mutants", ["/usr/bin/python3", "-B", os.path.join(TESTS, "mutate/run"),
                                   "--jobs", "2", "--some"], {"CC": "clang", **LINKER})

    def run_words(self, suite, command, extra=None):
        """Runs @command, which says a line "ok NAME: note" or "FAIL NAME: note" for each of its tests."""
        status, text = self.run_logged(suite, command, 1800, extra)
        self.figures.read(suite, text)
        found = [(name, results.PASSED if word == "ok" else results.FAILED, note)
                 for word, name, note in re.findall(r"^(ok|FAIL) +(\S+): (.*)$", text, re.MULTILINE)]
        self.suites.unsteady += [(suite, name)
                          for name in re.findall(r"^unsteady: +(\S+)", text, re.MULTILINE)]
        self.suites.count(suite, (with_exit(found, status), text))

    def run_logged(self, name, command, timeout=900, extra=None):
        """Runs @command as root: the exit status, None where it took too long, and what it printed."""
        log = os.path.join(self.work, re.sub(r"[^a-z0-9]+", "-", name) + ".log")
        with open(log, "wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, start_new_session=True,
                                       env={**os.environ, **self.environment, **(extra or {})})
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        with open(log, encoding="utf-8", errors="replace") as output:
            return status, output.read()

    def run(self):
        """Three things at a time: most suites wait more than they work."""
        self.say(f"seed: {self.seed}")
        source = os.path.join(self.work, "source")
        os.mkdir(source, 0o755)
        builds.copy_source(os.path.dirname(TESTS), source)
        with concurrent.futures.ThreadPoolExecutor(2) as beside, \
                concurrent.futures.ThreadPoolExecutor(1) as registries:
            keys = beside.submit(self.authenticators, source)
            sanitized = self.compile("sanitizers", SANITIZERS, environment=LINKER)
            mutants = beside.submit(self.mutants)
            keys.result()
            fetched = registries.submit(self.clients, source, "--fetch", CODER)
            release = beside.submit(self.compile, "release", RELEASE, BESIDE)
            gates = beside.submit(self.gates, release)
            model = beside.submit(self.model, release)
            smaller = beside.submit(self.smaller, release)
            if sanitized:
                self.meson_test(sanitized)
                self.installed(sanitized)
            if release.result():
                fetched.result()
                self.booted(release.result())
                self.say("clients (release)")
                self.clients(source, "--build", release.result().path)
            for future in (gates, mutants, model, smaller):
                future.result()
        self.suites.count_put_off(
            lambda: time.monotonic() - self.started < ONCE_MORE_SECONDS)

    def gates(self, release):
        """What needs neither root nor users: the checkers of the release, and what the corpora reach."""
        if release.result():
            self.static(release.result())
        self.coverage()
        self.fuzzers()

    def installed(self, build, but=()):
        """What installs a build in the namespace."""
        self.system_tests(build, but)
        self.demonstration(build)

    def finish(self):
        for suite, name in self.suites.unsteady:
            print(f"unsteady: {suite}: {name}: failed beside others and passed alone")
        for suite, name, note in self.tally.failures:
            print(f"failed: {suite}: {name}" + (f": {note}" if note else ""))
        for line in self.figures.lines():
            print(line)
        for line in self.tally.not_run():
            print(line)
        self.say("done")
        if self.tally.failed != 0:
            print(f"repeat with: tests/check --seed {self.seed}")
        print(self.tally.summary(), flush=True)
        return 0 if self.tally.failed == 0 and self.tally.passed > 0 else 1


def main():
    parser = argparse.ArgumentParser(prog="tests/check", description="Runs every test.")
    parser.add_argument("--keep", action="store_true", help="leave the builds and logs in /var/tmp")
    parser.add_argument("--seed", metavar="WORD", default=seed_of_commit(),
                        help="what suites draw by; by default the commit; README.md says how to run "
                        "all faults and more steps")
    arguments = parser.parse_args()
    os.umask(0o022)
    work = tempfile.mkdtemp(prefix="undersign-check.", dir="/var/tmp")
    os.chmod(work, 0o755)
    check = Check(work, arguments.seed)
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
