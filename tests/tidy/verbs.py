# SPDX-License-Identifier: BSD-2-Clause
"""The verbs of `mrc` and their flags, as its own help names them and as the sources declare them."""
import re
import subprocess

import run

LINE = re.compile(r"^  (\S+)", re.M)
FLAG = re.compile(r"^  (--[\w-]+)", re.M)
DECLARED = re.compile(r'(?:\bUI_[A-Z]+\(|\{)"(--[a-z][\w-]*)",')


def output(*command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60, **options
    ).stdout


def read(mrc):
    """All verbs with their flags: {"": [...], "sim": [...], "sim run": [...]}."""
    found, rest = {}, [""]
    while rest:
        verb = rest.pop()
        text = output(mrc, "help", *verb.split())
        found[verb] = FLAG.findall(text)
        # The verbs below stand between the first empty line and the next.
        below = text.split("\n\n")
        if f"mrc {verb}".strip() + " VERB --help" in text:
            rest += [f"{verb} {word}".strip() for word in LINE.findall(below[1])]
    return found


def declared(daemon=False):
    """Every flag that a table of flags in the sources has, of mrc or of the daemon."""
    paths = [p for p in (run.ROOT / "src").rglob("*.c") if (p.parent.name == "mrcd") == daemon]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return {flag for text in texts for flag in DECLARED.findall(text)}
