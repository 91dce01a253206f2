# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands that README gives, so that a test does what a person reads."""

import os
import re

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../README.md")
BUILD = "/tmp/undersign-build"


def blocks(heading):
    """The commands of each block of a section, a list each, without what is said beside them."""
    with open(PATH, encoding="utf-8") as file:
        section = file.read().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [[re.sub(r" +# .*", "", line).strip() for line in block.splitlines()]
            for block in re.findall(r"(?: {4}\S.*\n)+", section)]


def as_root(lines, build):
    """The commands as root has them, with a build that is there in the place of the one made."""
    return [line.replace("sudo ", "").replace(BUILD, build) for line in lines]
