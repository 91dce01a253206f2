#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each rule of lint.py finds its breach in a small tree, and a clean tree has none."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import lint

SPDX = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n"

HEADERS = ["dbus/error.h", "service/abi/undersign-module.h", "service/base/json.h",
           "service/base/pae.h", "service/record/record.h", "service/policy/policy.h",
           "service/passkey/passkey.h", "service/ledger/ledger.h", "service/executor/worker.h",
           "service/runner/load.h", "service/broker/queue.h", "service/admin/verb.h",
           "service/mechanism/mechanism.h", "service/launcher/order.h",
           "service/ctl/verb.h", "module/executor/mail/mime.h", "module/executor/null/null.h",
           "module/card/model/card.h", "module/card/key/device.h", "agentlib/lib/undersign.h",
           "agentlib/cli/verb.h", "agentlib/mcp/tool.h", "tests/lib/harness.h"]

# What each part may include; everything else among HEADERS is a breach.
ALLOWED = {
    "dbus": "dbus/",
    "service/abi": "service/abi/",
    "service/base": "service/base/ dbus/",
    "service/record": "service/record/ service/base/ dbus/",
    "service/policy": "service/policy/ service/record/ service/base/ dbus/",
    "service/passkey": "service/passkey/ service/record/ service/base/ dbus/",
    "service/ledger": "service/ledger/ service/policy/ service/passkey/ service/record/ "
                      "service/base/ dbus/",
    "service/executor": "service/executor/ service/ledger/ service/policy/ service/passkey/ "
                        "service/record/ service/base/ dbus/",
    "service/runner": "service/runner/ service/ledger/ service/policy/ service/passkey/ "
                      "service/record/ service/base/ service/abi/ dbus/",
    "service/broker": "service/broker/ service/ledger/ service/policy/ service/passkey/ "
                      "service/record/ service/base/ dbus/",
    "service/mechanism": "service/mechanism/ service/record/ service/base/ dbus/",
    "service/admin": "service/admin/ service/mechanism/ service/ledger/ service/policy/ "
                     "service/passkey/ service/record/ service/base/ dbus/",
    "service/launcher": "service/launcher/ service/mechanism/ service/ledger/ service/policy/ "
                        "service/passkey/ service/record/ service/base/ dbus/",
    "service/ctl": "service/ctl/ service/ledger/ service/policy/ service/passkey/ "
                   "service/record/ service/base/ dbus/",
    "module/executor/mail": "module/executor/mail/ service/abi/",
    "module/card/key": "module/card/ service/record/ service/base/ dbus/",
    "agentlib/lib": "agentlib/lib/ dbus/",
    "agentlib/cli": "agentlib/cli/ agentlib/lib/ dbus/",
    "agentlib/mcp": "agentlib/mcp/ agentlib/lib/ dbus/ service/base/json.h",
}


class Tree:
    """A tree that holds the headers above and what a test adds."""

    def __init__(self, files):
        self.folder = tempfile.TemporaryDirectory()
        for path in HEADERS:
            self.write(path, SPDX)
        for path, text in files.items():
            self.write(path, text)

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def lint(self):
        lines = lint.lint(self.folder.name)
        self.folder.cleanup()
        return lines


class TestLint(unittest.TestCase):
    def assert_clean(self, files):
        self.assertEqual(Tree(files).lint(), [])

    def assert_breach(self, files, *expected):
        lines = Tree(files).lint()
        self.assertEqual(len(lines), len(expected), lines)
        for line, start in zip(lines, expected):
            self.assertTrue(line.startswith(start), line)

    def test_clean(self):
        self.assert_clean({"tests/base/test-x.c": SPDX + "#include <glib.h>\n"})

    def test_arrows(self):
        text = SPDX + "".join('#include "%s"\n' % header for header in HEADERS)
        for part, allowed in ALLOWED.items():
            with self.subTest(part=part):
                self.assert_breach({part + "/it.c": text}, *[
                    "%s/it.c:%d: arrow: " % (part, number)
                    for number, header in enumerate(HEADERS, 2)
                    if not any(header.startswith(a) for a in allowed.split())])

    def test_tests_include_anything(self):
        text = SPDX + "".join('#include "%s"\n' % h for h in HEADERS)
        self.assert_clean({"tests/all/test-all.c": text})

    def test_include_paths(self):
        for line in ['#include "json.h"', '#include "../base/json.h"', '  #  include "base/json.h"',
                     '#include "service/base/none.h"', '#include <service/base/json.h>']:
            with self.subTest(line=line):
                self.assert_breach({"service/base/it.c": SPDX + "\n" + line + "\n"},
                                   "service/base/it.c:3: include: ")
        self.assert_clean({"service/base/it.c": SPDX + '#include "config.h"\n'})
        self.assert_clean({"dbus/org.x.xml": SPDX,
                           "service/base/it.c": SPDX + '#include "dbus/org.x.h"\n'})

    def test_unknown_folder(self):
        self.assert_breach({"service/extra/it.c": SPDX}, "service/extra/it.c:1: folder: ")

    def test_licence(self):
        for path in ["service/base/it.c", "service/base/it.h", "tests/it.py", "tests/it.sh",
                     "dbus/org.undersign1.xml", "service/meson.build"]:
            with self.subTest(path=path):
                self.assert_breach({path: "\n"}, path + ":1: licence: ")
        self.assert_breach({"tests/check": "#!/bin/sh\n"}, "tests/check:1: licence: ")

    def test_file_size(self):
        lines = "\n" * 799
        self.assert_clean({"service/base/it.c": SPDX + lines})
        self.assert_breach({"service/base/it.c": SPDX + lines + "\n"},
                           "service/base/it.c:802: size: 801 lines")

    def test_function_size(self):
        head = "static void\nrun (int a,\n     int b)\n{\n"
        self.assert_clean({"service/base/it.c": SPDX + "\n" + head + "\n" * 75 + "}\n"})
        self.assert_breach({"service/base/it.c": SPDX + "\n" + head + "\n" * 76 + "}\n"},
                           "service/base/it.c:3: function: 81 lines")
        self.assert_clean({"service/base/it.c": SPDX + "enum\n{\n" + "\n" * 100 + "};\n"})
        spdx = "# SPDX-License-Identifier: LGPL-2.1-or-later\n"
        self.assert_breach({"tests/it.py": spdx + "def run():\n" + "\n" * 79 + "    pass\n"},
                           "tests/it.py:2: function: 81 lines")

    def test_unfinished(self):
        for word in ["TO" + "DO", "FIX" + "ME", "X" + "XX"]:
            with self.subTest(word=word):
                self.assert_breach({"README.md": "a\nb %s: c\n" % word}, "README.md:2: unfinished: ")
        self.assert_clean({"README.md": "mktemp -d undersign.%s\n" % ("X" * 6)})

    def test_another_python(self):
        spdx = "# SPDX-License-Identifier: LGPL-2.1-or-later\n"
        self.assert_clean({"tests/run": "#!/usr/bin/python3 -B\n" + spdx,
                           "tests/meson.build": spdx + "python = find_program('/usr/bin/python3')\n"})
        self.assert_breach({"tests/run": "#!/usr/bin/env python3\n" + spdx}, "tests/run:1: python: ")
        for name in ("python3", "lint.py"):
            self.assert_breach({"tests/meson.build": spdx + f"test('a', find_program('{name}'))\n"},
                               "tests/meson.build:2: python: ")

    def test_places_of_a_page(self):
        files = {"service/base/it.c": SPDX + "int found;\n"}
        for text in ["see `service/base/it.c`", "`service/base/it.c:found`", "`service/base`",
                     "`sudo tests/…`", "`elsewhere/it.c`"]:
            with self.subTest(text=text):
                self.assert_clean({**files, "README.md": text + "\n"})
        for text in ["`service/base/no.c`", "`service/base/it.c:foun`", "`service/base:found`",
                     "`service/base/it.c`, `service/no/it.c`"]:
            with self.subTest(text=text):
                self.assert_breach({**files, ".github/AUDIT.md": text + "\n"},
                                   ".github/AUDIT.md:1: place: ")

    def test_pins_of_clients(self):
        head = "| framework | version | result |\n| --- | --- | --- |\n"
        pinned = "# SPDX-License-Identifier: LGPL-2.1-or-later\nit[more]==1.2.3\nother==4\nthird\n"
        files = {"tests/clients/it/requirements.in": pinned,
                 "tests/clients/node/package.json": '{"dependencies": {"@a/node": "7.0.1"}}'}
        node = "| Node | @a/node 7.0.1 | well |\n"
        for row in ("| It | it 1.2.3 | well |\n", "| It | it 1.2.3, other 4 | well |\n"):
            self.assert_clean({**files, "README.md": head + row + node})
        none = "README.md:1: pin: the table of clients has no row for it"
        self.assert_breach({**files, "README.md": head + node}, none)
        for row in ("it 1.2.4", "it 1.2.3, @a/node 7.0.1"):
            with self.subTest(row=row):
                self.assert_breach({**files, "README.md": f"{head}| It | {row} | well |\n{node}"},
                                   f"README.md:3: pin: no client pins {row}", none)

    def test_members_of_the_audit(self):
        xml = "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n<node>\n"
        for name in ("Admin", "Agent"):
            xml += f'<interface name="org.undersign1.{name}">\n<method name="Do">\n</method>\n</interface>\n'
        files, page = {"dbus/org.undersign1.xml": xml + "</node>\n"}, ".github/AUDIT.md"
        rows = ["| Admin.Do | root |\n", "| Agent.Do | agent |\n"]
        self.assert_clean({**files, page: "".join(rows)})
        for text, breach in ((rows[0], "Agent.Do has 0 lines, not one"),
                             ("".join(rows) + rows[0], "Admin.Do has 2 lines, not one"),
                             ("".join(rows) + "| Admin.Undo | root |\n", "dbus has no Admin.Undo")):
            with self.subTest(breach=breach):
                self.assert_breach({**files, page: text}, f"{page}:1: member: {breach}")

    def test_foreign_and_builds(self):
        self.assert_clean({"tests/vectors/it.c": "\n", "build/meson-private/x": "", "build/it.c": "\n"})

    def test_exit_status(self):
        tree = Tree({})
        command = [sys.executable, lint.__file__, tree.folder.name]
        self.assertEqual(subprocess.run(command, check=False).returncode, 0)
        tree.write("README.md", "TO" + "DO\n")
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith(b"README.md:1: unfinished: "))

    def test_empty(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(lint.lint(folder), [folder + " holds no files"])


if __name__ == "__main__":
    unittest.main()
