# SPDX-License-Identifier: BSD-2-Clause
"""Faults made by machine: tools/mutants --sample K [--seed N] and tools/mutants --made.

mutate.py finds them in src/core and writes sources that hold them all, so that they are compiled once. Each
test runs once without a fault, which shows how long it takes and which faults it comes by; a fault then costs
only the runs of those tests, quick ones first, until one fails.

What no test notices, because it changes nothing that anybody could, is in tests/mutants/survivors.toml:

    [[survivor]]
    file = "src/core/window/rx_window.c"
    in = "ring_bits"
    was = "return bits < 2 * REPORT ? 2 * REPORT : bits;"
    made = "return bits <= 2 * REPORT ? 2 * REPORT : bits;"
    why = "The two are the same where they are equal."

Line numbers do not count. tests/mutants/open.toml has those that are neither noticed nor explained yet: holes in the
tests, each a row of function, was and made. A new test or a reason takes a row out of it.
A sample is drawn from all others, and a fault that survives fails it. --made tries all, and says which rows are noticed
by now or no longer there; --made --accept writes the list of holes again.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time
import tomllib

import mutate
from mutants_copy import COPY, ROOT, Stale, build, configure, copy_tree, run

SURVIVORS = ROOT / "tests/mutants/survivors.toml"
HOLES = ROOT / "tests/mutants/open.toml"
# Which test noticed a fault the last time: it is tried first.
KILLERS = COPY.parent / "mutants-killers.json"
WORLDS = "40"
# Long, and about what the others come by, too.
LEFT_OUT = {"sim_endpoint", "sim_attacker"}
# A fault may well make a loop endless: a test gets this many times what it took, and these seconds.
PATIENCE, SECONDS = 10, 2


def all_sites():
    files = sorted(path for path in (ROOT / "src/core").rglob("*.[ch]"))
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    names = set().union(*(mutate.constants_of(text) for text in texts.values()))
    return texts, [site for file, text in texts.items() for site in mutate.sites(file, text, names)]


def key(site):
    return site.file, site.function, site.was, site.made


def load_explained():
    explained = set()
    for row in tomllib.loads(SURVIVORS.read_text()).get("survivor", []):
        if row.keys() != {"file", "in", "was", "made", "why"} or not row["why"]:
            raise Stale(f"{SURVIVORS}: want file, in, was, made and why: {row}")
        explained.add((row["file"], row["in"], row["was"], row["made"]))
    return explained


def load_holes():
    holes = tomllib.loads(HOLES.read_text()) if HOLES.exists() else {}
    return {(file, *row) for file, rows in holes.items() for row in rows}


def write_holes(holes):
    lines = ["# SPDX-License-Identifier: BSD-2-Clause", "#",
             "# Faults made by machine that no test notices and nobody has explained: see tools/mutants_made.py."]
    for file in sorted({hole[0] for hole in holes}):
        rows = sorted(hole[1:] for hole in holes if hole[0] == file)
        lines += ["", f'"{file}" = [', *(f"  {json.dumps(row, ensure_ascii=False)}," for row in rows), "]"]
    HOLES.write_text("\n".join(lines) + "\n")


def plant(texts, sites):
    """Builds the copy with all faults in it."""
    numbered = {}
    for number, site in enumerate(sites):
        numbered.setdefault(site.file, []).append((number, site))
    changed = {file: mutate.instrument(texts[file], found) for file, found in numbered.items()}
    changed["src/core/mutant.h"] = mutate.HEADER
    changed["src/core/mutant.c"] = mutate.SWITCH % {"count": len(sites)}
    copy_tree(changed)
    configure()
    if (result := build("all")).returncode:
        raise Stale(f"the faults do not build:\n{result.stdout[-4000:]}")


class Test:
    """One test, how long it takes, and which faults it comes by."""

    def __init__(self, described):
        self.name, self.command = described["name"], described["command"]
        properties = {p["name"]: p["value"] for p in described["properties"]}
        self.folder = properties["WORKING_DIRECTORY"]
        # A verdict must not depend on what else is tried today.
        outer = {name: value for name, value in os.environ.items() if not name.startswith("MRC_")}
        self.environment = outer | {"MRC_SEEDS": WORLDS} | dict(
            pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))

    def run(self, environment, seconds):
        """Whether the test passes in time."""
        try:
            return subprocess.run(
                self.command, cwd=self.folder, env=self.environment | environment, timeout=seconds,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            ).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def rehearse(self, count):
        with tempfile.NamedTemporaryFile(dir=COPY) as file:
            began = time.monotonic()
            if not self.run({"MRC_MUTANT_REACHED": file.name}, 300):
                raise Stale(f"{self.name} fails without any fault")
            self.seconds = time.monotonic() - began
            self.reached = pathlib.Path(file.name).read_bytes().ljust(count, b"\0")

    def notices(self, number):
        return not self.run({"MRC_MUTANT": str(number)}, PATIENCE * self.seconds + SECONDS)


def load_tests(pool, count):
    """The tests that come by faults, quick ones first."""
    result = run("ctest", "--preset", "mutants", "--show-only=json-v1")
    tests = [Test(t) for t in json.loads(result.stdout)["tests"]
             if "command" in t and t["name"] not in LEFT_OUT]
    list(pool.map(lambda test: test.rehearse(count), tests))
    return sorted((t for t in tests if any(t.reached)), key=lambda test: test.seconds)


class Judge:
    """Finds a test that notices a fault; remembers which it was."""

    def __init__(self, sites, tests):
        self.sites, self.tests = sites, tests
        self.killers = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}

    def __call__(self, number):
        """The name of a test that notices the fault, or None."""
        site = self.sites[number]
        name = "\n".join(key(site))
        own = pathlib.Path(site.file).stem
        reaching = [test for test in self.tests if test.reached[number]]
        # The tests of the file itself are the likeliest to notice.
        reaching.sort(key=lambda test: (test.name != self.killers.get(name), not test.name.endswith(f"_{own}")))
        for test in reaching:
            if test.notices(number):
                self.killers[name] = test.name
                return test.name
        return None

    def save(self):
        KILLERS.write_text(json.dumps(self.killers))


def describe(site):
    return f"{site.file}: {site.function}: {site.was}\n    became: {site.made or '(deleted)'}"


def choose(sites, listed, sample, seed, part):
    """The numbers of the faults to try; in a sample those that are known to survive have no place."""
    numbers = [n for n, site in enumerate(sites) if part in site.file]
    if not sample:
        return numbers
    drawn = random.Random(seed).sample(numbers, min(sample, len(numbers)))
    # Dropped after the draw: who lists one draws the same others.
    return sorted(n for n in drawn if key(sites[n]) not in listed)


def try_all(sites, chosen, listed, say):
    """What survived, and what was noticed, as keys."""
    survived, noticed = set(), set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        judge = Judge(sites, load_tests(pool, len(sites)))
        for number, caught in zip(chosen, pool.map(judge, chosen)):
            (noticed if caught else survived).add(key(sites[number]))
            if not caught and key(sites[number]) not in listed:
                say(f"SURVIVED {describe(sites[number])}")
    judge.save()
    # A statement that is there twice has one row.
    return survived, noticed - survived


def main(sample, seed, part, accept, tap, say):
    seed = seed if seed is not None else random.SystemRandom().randrange(1 << 32)
    texts, sites = all_sites()
    explained, holes = load_explained(), load_holes()
    chosen = choose(sites, explained | holes, sample, seed, part)
    replay = f": tools/mutants --sample {sample} --seed {seed}" if sample else ""
    say(f"{len(chosen)} of {len(sites)} faults made by machine{replay}")
    plant(texts, sites)
    survived, noticed = try_all(sites, chosen, explained | holes, say)
    new = survived - explained - holes
    stale = set() if sample else {row for row in explained | holes if part in row[0]} - survived
    if accept:
        write_holes((holes | survived) - stale - explained)
    for row in sorted(stale):
        say(f"{'NOTICED' if row in noticed else 'GONE'}, though it is listed: {row[0]}: {row[1]}: {row[3]}")
    say(f"{len(survived)} of {len(chosen)} survived, {len(new)} of them neither explained nor known{replay}")
    if tap:
        tap.write_text(f"1..1\n{'not ok' if new else 'ok'} 1 - faults made by machine\n")
    return 1 if new and not accept else 0
