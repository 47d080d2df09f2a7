#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""commands.py ROOT OUTPUT PAGE...

Types what the pages of ROOT tell a new user to type, with the programs of OUTPUT (bin/, lib/), and compares.

A block ```sh is run, the blocks of a page in one shell one after the other; it must end well. A block ```text behind it
is what it promises: these lines, in this order. A number there stands for any number, spaces for any spaces, `...` for any
part of a line, and a line `...` for any lines. Blocks that are only indented are not run: ELSEWHERE says of each page that has
such commands what runs them, or why nothing does, and a page that is neither typed nor there fails, and so does a test that
is named there and is none.
A comment `<!-- needs: NAME -->` before a block skips it where that program is missing.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tidy"))
import tap
from tree import Skip

SECONDS_A_PAGE = 150
BLOCK = re.compile(r"(?:^<!-- needs: (\S+) -->\n)?^```(sh|text)\n(.*?)^```$", re.M | re.S)
# What a checkout after `make` has in its folder, and what the commands may want of it.
LINKED = ("examples", "include", "packaging", "scenarios", "docs")


COMMAND = re.compile(
    r"^(?:\$ )?(?:\w+=\S* )*(?:apt|apt-get|build/bin/mrc|cc|cmake|export|git|ip|make|mpirun|mrc|mrcd|nft|nice|podman|python3|srun|sysctl|tools/\w+|tshark|\./\w+)(?: |$)",
    re.M)
# Tests, and cases of tests, as ELSEWHERE names them.
NAMED = re.compile(r"\b(?:tests|tools)/\w+|\b[a-z]+_\w+")
# Of commands that are shown and not typed: what runs them, or why nothing does.
ELSEWHERE = {
    "CONTRIBUTING.md": "the gate is made of them",
    "README.md": "make demo and make check: live_demo, and the gate itself",
    "SECURITY.md": "they change the machine's own settings",
    "docs/conform.md": "live_conform: two ends, and a target that fails",
    "docs/containers.md": "container_test, of make check-full: wants podman; the page says what was tried by hand. live_run: --write-view",
    "docs/debugging.md": "wants a capture of the reader's own; dissector_test calls tshark so",
    "docs/demo.md": "minutes each; live_demo runs such a demo with each flag",
    "docs/engine.md": "install__engine: wants what is installed",
    "docs/fabric.md": "lab_trace: wants a lab with a fault",
    "docs/install.md": "install__pkg_config, install__cmake, tests/deb: install somewhere else",
    "docs/lab.md": "lab_cli, lab_faults, lab_drain: want labs of their own",
    "docs/map.md": "lab_map and prometheus_map: want labs with faults, and a Prometheus",
    "docs/metrics.md": "live_stat, and a Prometheus in prometheus_test",
    "docs/operation.md": "live_mrcd_day is that day",
    "docs/plan.md": "live_plan: wants SONiC's YANG models, or a fabric with a mistake",
    "docs/programs.md": "tests/compat, tools/nccl, tools/torch, live_run, live_python: want programs of others",
    "docs/report.md": "page_test makes each kind of report; a demo takes a minute",
    "docs/simulator.md": "live_sim and figures_test: want MPI, half a minute, or files of the reader's",
    "docs/soak.md": "half an hour: make soak",
    "docs/studies.md": "live_sim runs them at a smaller scale",
}


class Block:
    def __init__(self, needs, text):
        self.needs, self.text, self.promise, self.said, self.status = needs, text, "", "", None

    def problems(self):
        if self.status is None:
            return [f"not reached: {self.text.splitlines()[0]}"]
        if self.status:
            return [f"exit status {self.status}: {self.text.strip()}", *self.said.splitlines()[-20:]]
        return missing(self.promise, self.said)


def blocks_of(text):
    blocks = []
    for needs, kind, body in BLOCK.findall(text):
        if kind == "sh":
            blocks.append(Block(needs, body))
        elif blocks:
            blocks[-1].promise += body
    return blocks


def pattern(line):
    """A promised line as a regular expression: numbers, parts and spaces may differ."""
    words = []
    for word in line.split():
        parts = re.split(r"(\.\.\.|0x[0-9a-f]+|\d[\d.,]*)", word)
        words.append("".join(
            ".*" if part == "..." else r"(0x[0-9a-f]+|\d[\d.,]*)" if re.match(r"\d", part) else re.escape(part)
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


def script(blocks, folder):
    """One shell for the page; each block's output and status in files of its own."""
    lines = ["set -e"]
    for i, block in enumerate(blocks):
        if block.needs and not shutil.which(block.needs):
            continue
        out = folder / f"{i}"
        lines += [f"exec >{out}.out 2>&1", f"echo 1 >{out}.status", block.text, f"echo 0 >{out}.status"]
    return "\n".join(lines)


def run_page(root, output, page):
    blocks = blocks_of((root / page).read_text())
    with tempfile.TemporaryDirectory(prefix="doc-commands-") as name:
        folder, home = pathlib.Path(name), pathlib.Path(name) / "checkout"
        (home / "build").mkdir(parents=True)
        for part in LINKED:
            if (root / part).exists():
                (home / part).symlink_to(root / part)
        for part in ("bin", "lib"):
            (home / "build" / part).symlink_to(output / part)
        env = {**os.environ, "TERM": "dumb"}
        # The first pages say how to find the programs; the others count on that.
        if not any("export PATH=" in block.text for block in blocks):
            env["PATH"] = f"{home}/build/bin:{env['PATH']}"
        shell = subprocess.Popen(
            ["bash", "-c", script(blocks, folder)],
            cwd=home, stdin=subprocess.DEVNULL, start_new_session=True, env=env,
        )
        try:
            shell.wait(SECONDS_A_PAGE)
        except subprocess.TimeoutExpired:
            print(f"# {page}: more than {SECONDS_A_PAGE} s")
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
    return blocks


def shows_commands(text):
    """Are there commands on a page that are not typed?"""
    typed = BLOCK.sub("", text)
    fenced = "".join(re.findall(r"^```(?:sh|text)?\n(.*?)^```$", typed, re.M | re.S))
    indented = "\n".join(line[4:] for line in typed.splitlines() if line.startswith("    "))
    return bool(COMMAND.search(fenced) or COMMAND.search(indented))


def untold(root, typed):
    """Pages with commands of which nobody says who runs them, and what ELSEWHERE says of pages without any."""
    pages = [str(p.relative_to(root)) for p in sorted([*root.glob("*.md"), *root.glob("docs/*.md")])]
    shown = {page for page in pages if shows_commands((root / page).read_text())}
    shown |= {page for page in pages if page not in typed and blocks_of((root / page).read_text())}
    problems = [f"{page}: has commands that nothing types: add it to the pages typed, or to ELSEWHERE" for page in sorted(shown - {*ELSEWHERE})]
    return problems + [f"ELSEWHERE: {page} has no commands that are not typed" for page in sorted({*ELSEWHERE} - shown)]


def is_test(root, name):
    """Is there such a file, such a case of a Python test, or such a test in the build files?"""
    if "/" in name:
        return (root / name).exists()
    test, _, case = name.partition("__")
    if case:
        return any(f"def {case}(" in path.read_text() for path in root.glob(f"tests/**/{test}_test.py"))
    if any(path.suffix in (".c", ".py") for path in root.glob(f"tests/**/{name}.*")):
        return True
    built = [*root.glob("tests/**/CMakeLists.txt"), *root.glob("tests/**/*.cmake")]
    return any(re.search(rf"_test\({name}\b", path.read_text()) for path in built)


def unknown_tests(root):
    """Tests that ELSEWHERE names and that are none."""
    return [f"ELSEWHERE: {page}: {name} is no test" for page, why in ELSEWHERE.items()
            for name in NAMED.findall(why) if not is_test(root, name)]


def verdict(block):
    def case():
        if block.needs and not shutil.which(block.needs):
            raise Skip(f"{block.needs} is not installed")
        return block.problems()

    return case


def main():
    root, output = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    cases = [("every page", lambda: untold(root, sys.argv[3:])), ("every test", lambda: unknown_tests(root))]
    for page in sys.argv[3:]:
        blocks = run_page(root, output, page)
        if not blocks:
            cases.append((page, lambda: ["no block is run"]))
        for block in blocks:
            first = block.text.strip().splitlines()[0].replace("#", "")
            cases.append((f"{page}: {first}", verdict(block)))
    tap.main(cases)


if __name__ == "__main__":
    main()
