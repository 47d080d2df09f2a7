#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""commands.py [--long] [--only PAGE]... ROOT OUTPUT

Types what README and docs of ROOT tell a new user to type, with the programs of OUTPUT (bin/, lib/), and compares.

A block ```sh is run, the blocks of a page in one shell one after the other, pages side by side; it must end well. A block
```text behind it is what it promises: these lines, in this order. A number there stands for any number, a unit of time or size
for any such, spaces for any spaces, `...` for any part of a line, and a line `...` for any lines. A `sleep` begins when what was put into the
background last is ready (ready.py). A block of commands that is not typed says in a comment before it
which test runs it, or why nothing does; page.py has the comments, and finds what is said of no block and of no test.
--long types the blocks, too, that take minutes; then a page has an hour.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tidy")]
import page as pages  # noqa: E402
import tap  # noqa: E402
from tree import Skip  # noqa: E402

SECONDS_A_PAGE = 450
SECONDS_LONG = 3600
# What a server may take until it listens.
SECONDS_READY = 120
# Pages mostly wait: for a lab, a second of traffic, a moment for a server.
SIDE_BY_SIDE = 4
# What a checkout after `make` has in its folder, and what the commands may want of it.
LINKED = ("bench", "examples", "include", "packaging", "scenarios", "docs", "src", "tests", "tools")
ISOLATED = HERE.parent / "support/isolated"


# What took 150 ms takes 1.2 s on a busy machine.
UNITS = (("ns", "us", "ms", "s"), ("B", "KiB", "MiB", "GiB"))
UNIT_OF = {unit: "(?:" + "|".join(units) + ")" for units in UNITS for unit in units}
# As of 34.2k packets, which are 6343 where fewer were sent.
NUMBER = r"0x[0-9a-f]+|\d[\d.,]*(?:[kMG](?![A-Za-z]))?"


def pattern(line):
    """A promised line as a regular expression: numbers, units of time and size, parts and spaces may differ."""
    words = []
    for word in line.split():
        unit = word.rstrip(",;:")
        if unit in UNIT_OF:
            words.append(UNIT_OF[unit] + word[len(unit):])
            continue
        parts = re.split(rf"(\.\.\.|{NUMBER})", word)
        words.append("".join(
            ".*" if part == "..." else f"({NUMBER})" if re.match(r"\d", part) else re.escape(part)
            for part in parts
        ))
    return re.compile(r"\s*" + r"\s*".join(words) + r"\s*$")


def missing(promise, said):
    """What of the promised lines is not among those that were said, in order; a line `...` makes room."""
    lines, at, room = said.splitlines(), 0, True
    for want in promise.splitlines():
        if want.strip() == "...":
            room = True
            continue
        hits = [i for i, line in enumerate(lines[at:], at) if pattern(want).match(line)]
        if not hits or (not room and hits[0] != at):
            return [f"promised and not said: {want}", "said:", *lines[at:][:40]]
        at, room = hits[0] + 1, False
    return []


def problems_of(block):
    if block.status is None:
        return [f"not reached: {block.first()}"]
    if block.status != block.wanted:
        return [f"exit status {block.status}: {block.text.strip()}", *block.said.splitlines()[-20:]]
    return missing(block.promise, block.said)


def is_there(name):
    kind, _, module = name.rpartition(":")
    if kind == "memory":
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >= int(module) << 30
    if kind == "python":
        return not subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True).returncode
    return bool(shutil.which(name))


def lacking(block):
    return [name for name in block.needs if not is_there(name)]


def sleep():
    """The shell's own `sleep`: first until the last job in the background is ready. One in a job is a pause and no more."""
    ready = f"{shlex.quote(sys.executable)} -B {shlex.quote(str(HERE / 'ready.py'))} {SECONDS_READY}"
    return f'sleep() {{ [ $BASHPID != $$ ] || [ -z "$!" ] || {ready} "$!" || return; command sleep "$@"; }}'


def script(blocks, folder):
    """One shell for the page; each block's output and status in files of its own."""
    lines = [sleep(), "set -e"]
    for i, block in enumerate(blocks):
        if block.file is None and not lacking(block):
            out = folder / f"{i}"
            lines += [f"exec >{out}.out 2>&1", f"echo 1 >{out}.status"]
            lines += ["set +e", block.text, f"echo $? >{out}.status", "set -e"] if block.wanted else [block.text, f"echo 0 >{out}.status"]
    return "\n".join(lines)


def checkout(root, output, folder):
    """A folder that looks like a checkout after `make`, for the page to write into."""
    home = folder / "checkout"
    (home / "build").mkdir(parents=True)
    for part in LINKED:
        if (root / part).exists():
            (home / part).symlink_to(root / part)
    for part in ("bin", "lib"):
        (home / "build" / part).symlink_to(output / part)
    return home


def shell_of(blocks, folder, home):
    """The page's shell, where that is possible in namespaces of its own."""
    # A build machine is root, with few processors, which Open MPI wants to be told.
    env = {**os.environ, "TERM": "dumb", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    # The first pages say how to find the programs; the others count on that.
    if not any("export PATH=" in block.text for block in blocks):
        env["PATH"] = f"{home}/build/bin:{home}/build/lib/softmrc/examples:{env['PATH']}"
    alone = [str(ISOLATED)] if os.geteuid() == 0 and not subprocess.run([ISOLATED, "true"], capture_output=True).returncode else []
    return subprocess.Popen(
        [*alone, "bash", "-c", script(blocks, folder)], cwd=home, stdin=subprocess.DEVNULL, start_new_session=True, env=env)


def run_page(root, output, name, long=False):
    """Types a page; its blocks that were typed, with what they said."""
    blocks = [b for b in pages.blocks_of((root / name).read_text()) if (b.typed() or b.file) and (long or not b.long)]
    if not any(block.typed() for block in blocks):
        return []
    with tempfile.TemporaryDirectory(prefix="doc-commands-") as temporary:
        folder = pathlib.Path(temporary)
        home = checkout(root, output, folder)
        for block in blocks:
            if block.file:
                (home / block.file).write_text(block.text)
        shell = shell_of(blocks, folder, home)
        seconds = SECONDS_LONG if long else SECONDS_A_PAGE
        begin = time.monotonic()
        try:
            shell.wait(seconds)
        except subprocess.TimeoutExpired:
            print(f"# {name}: more than {seconds} s", flush=True)
        print(f"# {name}: {time.monotonic() - begin:.1f} s", flush=True)
        # What the page left in the background ends with it.
        try:
            os.killpg(shell.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        shell.wait()
        for i, block in enumerate(blocks):
            if (folder / f"{i}.status").exists():
                block.status = int((folder / f"{i}.status").read_text())
                block.said = (folder / f"{i}.out").read_text(errors="replace")
    return [block for block in blocks if not block.file]


def verdict(block):
    def case():
        if lacking(block):
            raise Skip(f"{' '.join(lacking(block))} is not there")
        return problems_of(block)

    return case


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", action="append")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    root, output = args.root.resolve(), args.output.resolve()
    names = args.only or pages.pages_of(root)
    cases = [("every block is typed or said of", lambda: [p for name in names for p in pages.look_at(root, name)])]
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        typed = pool.map(lambda name: run_page(root, output, name, args.long), names)
    for name, blocks in zip(names, typed):
        cases += [(f"{name}: {block.first().replace('#', '')}", verdict(block)) for block in blocks]
    tap.main(cases)


if __name__ == "__main__":
    main()
