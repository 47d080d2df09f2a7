# SPDX-License-Identifier: BSD-2-Clause
"""rdma-core's own tests (Debian's python3-pyverbs and rdma-core) over the drop-in.

suite.py FOLDER [RUNTIME]     compares with expected.txt; FOLDER has libibverbs.so.1, RUNTIME is the
                              library of the sanitizer that it was built with, if any
suite.py --write FOLDER       writes expected.txt again; the comments of its sections stay
suite.py --only NAME FOLDER   runs what begins with NAME, and shows all that it says

The tests run one after another in a process of their own, which says what it begins and how that
ended; where one kills it, or does not end, the next process goes on behind it. A test must do what
expected.txt says of it: be ok, or skip with the same words. What is new or gone is an error, too. In
that file `skip: *` is a skip whose words tell of the machine, any other is for ever: such a case does
not apply to softmrc. Lines that begin with # are read by people.
"""
import argparse
import gzip
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected.txt"
TESTS = pathlib.Path("/usr/share/doc/rdma-core/tests")
SKIPPED = 77
# Debian's, for which Debian's packages are.
PYTHON = "/usr/bin/python3"
# Longer than any test that ends: those that poll wait 10 s for a completion, and the machine is busy.
PATIENCE_S = 120
LINE = re.compile(r"^(\S+): (ok|skip: .*)$")


def unpack(folder):
    """Copies the tests to where they can be imported; Debian compresses the longer ones."""
    tests = folder / "tests"
    tests.mkdir()
    for file in TESTS.iterdir():
        if file.suffix == ".gz":
            (tests / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
        else:
            shutil.copy(file, tests)


def environment(drop_in, runtime):
    env = dict(os.environ, LD_LIBRARY_PATH=str(drop_in), MRC_PORTS="127.0.0.1",
               PYTHONDONTWRITEBYTECODE="1")
    if runtime:
        # The interpreter was built without it, and leaks.
        env |= {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    return env


class Child:
    """The process that runs tests; see child.py for what it says."""

    def __init__(self, folder, env, names, out):
        read, write = os.pipe()
        self.process = subprocess.Popen(
            [PYTHON, "-B", str(HERE / "child.py"), str(folder / "tests"), str(write)],
            stdin=subprocess.PIPE, stdout=out, stderr=out, cwd=folder, env=env, pass_fds=[write],
            text=True)
        os.close(write)
        self.pipe, self.rest = read, b""
        self.process.stdin.write(json.dumps(names))
        self.process.stdin.close()

    def say(self):
        """The next thing that it says; None: it is gone, or says nothing for too long."""
        end = time.monotonic() + PATIENCE_S
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.pipe], [], [], left)[0]:
                return None
            more = os.read(self.pipe, 65536)
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def end(self):
        """How it ended, in words."""
        hung = False
        try:
            status = self.process.wait(5)
        except subprocess.TimeoutExpired:
            hung = True
            self.process.kill()
            status = self.process.wait()
        os.close(self.pipe)
        return f"did not end within {PATIENCE_S} s" if hung else f"killed the process: {status}"


def run(folder, env, only, out):
    """Returns {name: result} of all tests whose name begins with `only`."""
    child = Child(folder, env, [], out)
    names = [name for name in child.say() or [] if name.startswith(only)]
    child.end()
    results = {}
    while len(results) < len(names):
        child = Child(folder, env, [n for n in names if n not in results], out)
        said = child.say()
        begun = None
        while said:
            begun = said["name"]
            if "result" in said:
                results[begun], begun = said["result"], None
            said = child.say()
        how = child.end()
        if begun:
            results[begun] = how
        elif len(results) < len(names):
            sys.exit(f"the process that runs tests {how}")
    return results


def read_expected():
    """Returns ({name: result}, the lines of the file)."""
    lines = EXPECTED.read_text(encoding="utf-8").splitlines() if EXPECTED.exists() else []
    return dict(m.groups() for m in map(LINE.match, lines) if m), lines


def compare(expected, results):
    """Returns (problem or None, skip reason or None, whether the skip is for ever) for each name."""
    verdicts = {}
    for name in sorted(expected | results):
        want, got = expected.get(name, "not in the list"), results.get(name, "gone")
        fits = want == got or (want == "skip: *" and got.startswith("skip: "))
        problem = None if fits else f"expected {want!r}, got {got!r}"
        reason = got[6:] if got.startswith("skip: ") else None
        verdicts[name] = problem, reason, want != "skip: *"
    return verdicts


def tap(verdicts):
    print(f"1..{len(verdicts)}")
    for number, (name, (problem, reason, for_ever)) in enumerate(verdicts.items(), 1):
        if problem:
            print("\n".join(f"# {line}" for line in problem.splitlines()))
        state = "not ok" if problem else "ok"
        kind = "not applicable (rdma-core): " if for_ever else ""
        skip = f" # SKIP {kind}{reason}" if reason and not problem else ""
        print(f"{state} {number} - {name}{skip}")
    return any(problem for problem, _, _ in verdicts.values())


def write(results):
    """New results in place of the old; tests that have no line yet come at the end."""
    expected, lines = read_expected()
    out = []
    for line in lines:
        match = LINE.match(line)
        if not match:
            out.append(line)
        elif match[2] == "skip: *":
            out.append(line)
        elif match[1] in results:
            out.append(f"{match[1]}: {results[match[1]]}")
    out += [f"{name}: {result}" for name, result in results.items() if name not in expected]
    EXPECTED.write_text("\n".join(out) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("drop_in", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("runtime", nargs="?")
    arguments = parser.parse_args()
    if not TESTS.is_dir():
        print(f"SKIP: no {TESTS}: Debian's rdma-core has it")
        sys.exit(SKIPPED)
    if subprocess.run([PYTHON, "-c", "import pyverbs"], stderr=subprocess.DEVNULL).returncode:
        print("SKIP: no pyverbs: Debian's python3-pyverbs has it")
        sys.exit(SKIPPED)
    out = None if arguments.only else subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="softmrc-pyverbs-") as name:
        folder = pathlib.Path(name)
        unpack(folder)
        results = run(folder, environment(arguments.drop_in.resolve(), arguments.runtime), arguments.only,
                      out)
    if arguments.write:
        write(results)
        return
    expected, _ = read_expected()
    expected = {n: r for n, r in expected.items() if n.startswith(arguments.only)}
    sys.exit(tap(compare(expected, results)))


if __name__ == "__main__":
    main()
