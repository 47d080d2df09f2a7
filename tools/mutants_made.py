# SPDX-License-Identifier: BSD-2-Clause
"""Faults made by machine: tools/mutants --sample K [--seed N] and tools/mutants --made.

mutate.py finds them and writes sources that hold them all, and those written by hand, so that they are compiled once.
Each test runs once without a fault, which shows how long it takes and which faults it comes by; a fault then costs only
the runs of those tests, quick ones first, until one fails.

Those of src/core are tried by the tests of the pure modules. Those of the modules around it (AROUND below) are
calls and conditions; they are tried with AddressSanitizer, since much of what such a call does is to give something
back, by unit and live tests, each in namespaces of its own (confined): a wrong program of root's ends no process, opens no
port and writes no file of the machine's. Tests of sockets may fail by chance, so such a verdict counts when it is
given twice, and such a test has three tries to pass without a fault.

A verdict is to be the same on a machine of any speed. A fault survives only when all tests that come by it have been
asked, however long that takes; what is sure to take long, a fault that is known to survive and one of a module with
many of those, has a budget of seconds (SECONDS_A_FAULT). A test of the pure modules that a fault makes endless is ended by the time that it has of the
processor, which other programs do not change.

What no test notices, because it changes nothing that anybody could, is in tests/mutants/survivors.toml:

    [[survivor]]
    file = "src/core/window/rx_window.c"
    in = "ring_bits"
    was = "return bits < 2 * REPORT ? 2 * REPORT : bits;"
    made = "return bits <= 2 * REPORT ? 2 * REPORT : bits;"
    why = "The two are the same where they are equal."

Line numbers do not count. tests/mutants/open.toml has those that are neither noticed nor explained yet: holes in the
tests, each a row of function, was and made. A new test or a reason takes a row out of it.
A sample is drawn from all others, and a fault that survives fails it: each has its line in what --tap writes. Without
--seed the sources draw it, so that the verdict on them stays the same. --made tries all, and says which rows are noticed
by now or no longer there; --made --accept writes the list of holes again. --in chooses: src/core, which is what is
meant without it; a module around it, or some files of one; `around`, those of them that have been tried whole.
"""
import hashlib
import json
import math
import os
import pathlib
import pickle
import random
import re
import resource
import subprocess
import tempfile
import threading
import time
import tomllib
from typing import NamedTuple

import mutate
import mutants_copy
from mutants_copy import ROOT, Copy, Stale
from mutants_stop import RUNNING, threads

SURVIVORS = ROOT / "tests/mutants/survivors.toml"
HOLES = ROOT / "tests/mutants/open.toml"
# Which test noticed a fault the last time: it is tried first.
KILLERS = ROOT / "build/mutants-killers.json"
WORLDS = "40"
SKIPPED = 77
WORKERS = min(os.cpu_count() or 1, int(os.environ.get("MRC_MUTANT_WORKERS", "64")))
# A fault may well make a loop endless: a test gets this many times what it took, and these seconds.
PATIENCE, SECONDS = 10, 2
# No machine is so busy that a test which computes waits longer than this for its turn.
SECONDS_OF_WAITING = 300
# What the tests of one fault that is likely to survive may take in all, as they took without it (of the processor, but
# where they sleep); those that are left then are not asked.
SECONDS_A_FAULT = 6
# Where whole worlds hold most of the rules.
SECONDS_IN = {"src/map": 60, "src/conform": 60}
CONFINED = ROOT / "tools/confined"
PLAN, CASE = re.compile(rb"1\.\.(\d+)\s*$"), re.compile(rb"(?:not )?ok \d")


class Group(NamedTuple):
    """Modules whose faults are tried by the same tests."""

    # module -> the files below tests/ that list the tests that are asked, or one of those: "unit/io", "live/cli: live_stat";
    # none: all are
    modules: dict
    kinds: frozenset
    copy: Copy
    left_out: frozenset  # long, and about what the others come by, too


CORE = Group(
    modules={"src/core": ()}, kinds=frozenset({"call", "comparison", "constant"}), copy=mutants_copy.PURE,
    left_out=frozenset({"sim_endpoint", "sim_attacker"}))
# Of the live tests those that are over in a second.
VERBS = ("unit/libibverbs", *(f"live/libmrc: live_{name}" for name in (
    "objects", "real", "verbs", "verbs_bounds", "verbs_change", "verbs_cq", "verbs_every", "verbs_ex", "verbs_mw", "verbs_ops",
    "verbs_qp", "verbs_query", "verbs_srq", "verbs_states", "verbs_uc", "verbs_ud")))
API = tuple(f"live/libmrc: live_{name}" for name in (
    "api_locks", "ctl", "ctl_bounds", "ctl_profiles", "devices", "endpoint", "events", "meet", "meet_calls", "meet_wait", "node",
    "objects", "post", "qp"))
# What is compiled, or runs, on some processors alone: no part of its module, for on others no test comes by it.
OF_X86, OF_ARM = "src/host/platform/crc32_x86.c", "src/host/platform/crc32_arm.c"
# Of the live tests those of shards, forks, threads, memory that goes away and verbs: a second each at most.
HOST = ("unit/host", "unit/ud", "fuzz/host", *(f"live/host: live_{name}" for name in ("fork", "memory", "shards_alone", "threads")),
        *(f"live/libmrc: live_verbs_{name}" for name in ("change", "cq", "mw", "ops", "srq", "states", "uc")))
AROUND = Group(
    modules={
        "src/ud": ("unit/ud",),
        "src/stats": ("unit/stats", "unit/host"),
        "src/libmrc": API,
        "src/ibv": VERBS,
        "src/libibverbs": VERBS,
        "src/io": ("unit/io", "unit/host: unit_nic_fork", "fuzz/io"),
        "src/host": HOST,
        OF_X86: ("unit/host: unit_crc32_cpu",),
        "src/lab": ("unit/lab",),
        "src/store": ("unit/store", "fuzz/store"),
        "src/mrcd": ("unit/mrcd", "fuzz/mrcd", "live/cli: live_mrcd"),
        "src/map": ("unit/map", "property/map"),
        "src/prober": ("unit/prober", "fuzz/prober"),
        "src/conform": ("unit/conform", "fuzz/conform", "peer/CMakeLists"),
        "src/exporter": ("unit/cli", "fuzz/cli: fuzz_http", "live/cli: live_stat"),
    },
    kinds=frozenset({"call", "comparison", "condition", "sign"}), copy=mutants_copy.AROUND,
    left_out=frozenset({
        "live_programs", "live_flags", "live_order", "live_killed", "live_pyverbs", "live_cancel", "live_links",
        "live_nccl", "live_examples", "live_failing_calls", "peer_random"}))
# Its test is built among those of wire where a machine is played (qemu), which wants tools/cross-libs arm64.
AARCH64 = Group(modules={OF_ARM: ("unit/wire: unit_crc32_cpu",)}, kinds=AROUND.kinds, copy=mutants_copy.AARCH64,
                left_out=frozenset())
# Those of them that have been tried whole: `make check` tries a sample.
TRIED = ("src/ud", "src/stats", "src/io", "src/store", "src/host", "src/ibv", "src/libibverbs", "src/lab", "src/libmrc")


def group_of(part):
    """Whose faults these are: of the core, of what lies around it, or of another processor."""
    if part in AARCH64.modules:
        return AARCH64
    return AROUND if part == "around" or any(map(part.startswith, AROUND.modules)) else CORE


def modules_of(group, part):
    if part == "around":
        return TRIED
    mine = module_of(group.modules, part)
    return (mine,) if mine else tuple(group.modules)


def module_of(modules, part):
    """The one that holds this part, by its longest name; None if none does."""
    return max(filter(part.startswith, modules), key=len, default=None)


def files_of(module):
    """A module, or a part of one that is tried by tests of its own, is a folder or a file."""
    path = ROOT / module
    return [path] if path.is_file() else set(path.rglob("*.[ch]")) - {ROOT / OF_X86, ROOT / OF_ARM}


def all_sites(group, modules, written=()):
    """The text of files, and their faults: file by file those made here and those written by hand."""
    files = sorted(path for module in modules for path in files_of(module))
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in files}
    names = set().union(*(mutate.constants_of(text) for text in texts.values()))
    sites = [site for file, text in texts.items() for site in mutate.sites(file, text, names, group.kinds)]
    texts |= {site.file: (ROOT / site.file).read_text() for site in written}
    return texts, sorted([*sites, *written], key=lambda site: site.file)


def seed_of(texts):
    """The number that these sources draw their sample by."""
    digest = hashlib.sha256()
    for file, text in sorted(texts.items()):
        digest.update(f"{file}={hashlib.sha256(text.encode()).hexdigest()}\n".encode())
    return int.from_bytes(digest.digest()[:4], "big")


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


def plant(group, modules, texts, sites, targets=None):
    """Builds a copy with all faults in it, and these tests, or those that are asked; returns what ctest knows of all."""
    found, firsts = {}, {}
    for number, site in enumerate(sites):
        found.setdefault(site.file, []).append(site)
        firsts.setdefault(site.file, number)
    changed = {file: mutate.instrument(texts[file], here) for file, here in found.items()}
    changed["src/base/mutant.h"] = mutate.HEADER
    changed["src/base/mutant.c"] = mutate.switch(firsts, len(sites))
    # It links another library of ours and nothing else, and has to know which change is chosen.
    drop_in = "src/libibverbs/CMakeLists.txt"
    changed[drop_in] = (ROOT / drop_in).read_text().replace("LINKS libmrc ", "LINKS libmrc base ")
    group.copy.write(changed)
    group.copy.configure()
    if targets is None:
        described = describe_tests(group, modules)
        targets = ["all"] if group is CORE else [t["name"] for t in described if t["name"] not in group.left_out]
    if (result := group.copy.build(*targets)).returncode:
        raise Stale(f"the faults do not build:\n{result.stdout[-4000:]}")
    # Commands are known once there is a program to run.
    return describe_tests(group, modules)


def describe_tests(group, modules):
    """What ctest knows of the tests of these modules."""
    known = json.loads(group.copy.run("ctest", "--preset", group.copy.preset, "--show-only=json-v1").stdout)
    graph = known["backtraceGraph"]

    def files(test):
        node = test.get("backtrace")
        while node is not None:
            yield graph["files"][graph["nodes"][node]["file"]]
            node = graph["nodes"][node].get("parent")

    rows = [row.partition(": ") for module in modules for row in group.modules[module]]

    def is_asked(test):
        return not rows or any(only in ("", test["name"]) and file.endswith((f"tests/{name}.cmake", f"tests/{name}.txt"))
                               for name, _, only in rows for file in files(test))

    return [t for t in known["tests"] if is_asked(t)]


def processor_seconds(pid):
    """What a process that has ended and is not waited for, and its children, took of the processors."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Test:
    """One test, how long it takes, and which faults it comes by."""

    def __init__(self, group, described):
        self.name, self.command = described["name"], described["command"]
        properties = {p["name"]: p["value"] for p in described["properties"]}
        self.folder = properties["WORKING_DIRECTORY"]
        # What sleeps costs time, not the processor's.
        self.sleeps = "live" in properties.get("LABELS", ())
        # By chance a socket has no room and a thread no turn.
        self.doubtful = group is AROUND
        if group is AROUND:
            isolated = str(group.copy.path / "tests/support/isolated")
            self.command = [CONFINED, group.copy.path, *(word for word in self.command if word != isolated)]
        self.work = group.copy.path
        # A verdict must not depend on what else is tried today.
        outer = {name: value for name, value in os.environ.items() if not name.startswith("MRC_")}
        self.environment = outer | {"MRC_SEEDS": WORLDS} | dict(
            pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))

    def digest(self, sources):
        """What tells this test, and what it tries, from others."""
        digest = hashlib.sha256(sources.encode())
        for word in map(pathlib.Path, self.command):
            if word.is_file():
                digest.update(word.read_bytes())
        return digest.digest()

    def run(self, environment, seconds, of_processor=None, measured=False):
        """What fails first, at which it ends, or None where all passes in time. of_processor: the seconds that each
        process of it may compute; measured: sets its cost."""
        with subprocess.Popen(
                self.command, cwd=self.folder, env=self.environment | environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process, RUNNING.one(process, process.kill):
            if of_processor:
                resource.prlimit(process.pid, resource.RLIMIT_CPU, (math.ceil(of_processor), math.ceil(of_processor)))
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            failed, planned, ended = None, 0, 0
            for line in process.stdout:
                planned += int(plan[1]) if (plan := PLAN.match(line)) else 0
                ended += bool(CASE.match(line))
                if line.startswith(b"not ok") and b"# SKIP" not in line:
                    failed = failed or line.decode(errors="replace").partition(" - ")[2].strip() or "a case"
                    process.kill()
            if measured and not failed:
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
                self.cost = processor_seconds(process.pid)
            status = process.wait()
            timer.cancel()
        if failed or status not in (0, SKIPPED):
            return failed or f"status {status}"
        # What it tests may end it, or make another program of it, which ends well.
        return None if ended == planned else f"{ended} of {planned} cases ended"

    def rehearse(self, count):
        """Finds out what the test takes and comes by."""
        with tempfile.NamedTemporaryFile(dir=self.work) as file:
            file.truncate(count)
            os.chmod(file.name, 0o666)
            reached = {"MRC_MUTANT_REACHED": file.name}
            for _ in range(3 if self.doubtful else 1):
                began = time.monotonic()
                if not (failed := self.run(reached, SECONDS_OF_WAITING, measured=True)):
                    break
            else:
                raise Stale(f"{self.name} fails without any fault: {failed}")
            self.seconds = time.monotonic() - began
            if self.sleeps:
                self.cost = self.seconds
            self.reached = pathlib.Path(file.name).read_bytes()

    def fails(self, number, worlds=WORLDS):
        chosen = {"MRC_MUTANT": str(number), "MRC_SEEDS": worlds}
        if self.doubtful:
            return self.run(chosen, PATIENCE * self.seconds + SECONDS)
        return self.run(chosen, SECONDS_OF_WAITING, PATIENCE * self.cost + SECONDS)

    def notices(self, number):
        return self.fails(number) and (not self.doubtful or self.fails(number))


def load_tests(group, pool, described, count):
    """The tests that come by faults, quick ones first. What each showed for the same sources is kept."""
    kept_in = group.copy.path.with_suffix(".rehearsed")
    kept = pickle.loads(kept_in.read_bytes()) if kept_in.exists() else {}
    tests = [Test(group, t) for t in described if "command" in t]
    digests = {test.name: test.digest(group.copy.digest) for test in tests}

    def rehearse(test):
        if test.name in kept and kept[test.name][0] == digests[test.name]:
            _, test.seconds, test.cost, test.reached = kept[test.name]
        else:
            test.rehearse(count)

    list(pool.map(rehearse, tests))
    kept_in.write_bytes(pickle.dumps(
        kept | {t.name: (digests[t.name], t.seconds, t.cost, t.reached) for t in tests}))
    return sorted((t for t in tests if any(t.reached)), key=lambda test: test.cost)


class Judge:
    """Finds a test that notices a fault; remembers which it was."""

    def __init__(self, sites, tests, likely):
        """likely: the keys of faults that are likely to survive."""
        self.sites, self.tests, self.likely = sites, tests, likely
        self.killers = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}

    def ask(self, number):
        """The tests to ask, the likeliest to notice first; of a fault that is likely to survive no more than there is
        time for."""
        site = self.sites[number]
        own = pathlib.Path(site.file).stem
        seconds = next((s for module, s in SECONDS_IN.items() if site.file.startswith(module)), SECONDS_A_FAULT)
        killer = self.killers.get("\n".join(key(site)))
        reaching = [test for test in self.tests if test.reached[number]]
        reaching.sort(key=lambda test: (test.name != killer, f"_{own}" not in test.name))
        spent = 0
        for test in reaching:
            spent += test.cost
            if key(site) in self.likely and spent > seconds and test is not reaching[0]:
                return
            yield test

    def __call__(self, number):
        """The name of a test that notices the fault, or None."""
        for test in self.ask(number):
            if test.notices(number):
                self.killers["\n".join(key(self.sites[number]))] = test.name
                return test.name
        return None

    def save(self):
        KILLERS.write_text(json.dumps(self.killers))


def describe(site):
    return f"{site.file}: {site.function}: {site.was}\n    became: {site.made or '(deleted)'}"


def choose(sites, listed, sample, seed, part):
    """The numbers of the faults to try; in a sample those that are known to survive have no place."""
    numbers = [n for n, site in enumerate(sites) if site.kind != "written" and (part == "around" or part in site.file)]
    if not sample:
        return numbers
    drawn = random.Random(seed).sample(numbers, min(sample, len(numbers)))
    # Dropped after the draw: who lists one draws the same others.
    return sorted(n for n in drawn if key(sites[n]) not in listed)


def one_line(site):
    """The fault as the name of a case of TAP, in which # has a meaning."""
    return " ".join(describe(site).split()).replace("#", "")


def likely_to_survive(sites, chosen, listed, sample):
    """The keys of the faults that get no more than a budget: those that are known to survive, and, where all are
    tried, those of modules in which many may."""
    if sample:
        return listed
    whole = (*CORE.modules, *TRIED)
    return listed | {key(sites[n]) for n in chosen if not sites[n].file.startswith(whole)}


def as_tap(part, survivors, untried=0):
    """A line for each fault that survived, or one where none did; one more where some were not tried."""
    names = [one_line(site) for site in survivors] + ([f"interrupted: {untried} are not tried"] if untried else [])
    if not names:
        return f"1..1\nok 1 - faults made by machine in {part or 'src/core'}\n"
    lines = (f"not ok {number} - {name}" for number, name in enumerate(names, 1))
    return "\n".join([f"1..{len(names)}", *lines]) + "\n"


def try_all(group, described, sites, chosen, listed, likely, say):
    """What survived, and what was noticed, as keys; and how many were tried, all unless that was interrupted."""
    survived, noticed, tried, judge = set(), set(), 0, None
    with threads(WORKERS, say) as pool:
        judge = Judge(sites, load_tests(group, pool, described, len(sites)), likely)
        for number, caught in zip(chosen, pool.map(judge, chosen)):
            tried += 1
            (noticed if caught else survived).add(key(sites[number]))
            if not caught and key(sites[number]) not in listed:
                by = sum(1 for _ in judge.ask(number))
                say(f"SURVIVED {by} tests: {describe(sites[number])}")
    if judge:
        judge.save()
    # A statement that is there twice has one row.
    return survived, noticed - survived, tried


def can_confine(group):
    """Whether this machine lets the tests of such a group run where they can do no harm."""
    return group is not AROUND or subprocess.run([CONFINED, ROOT, "true"], stderr=subprocess.DEVNULL).returncode == 0


def main(sample, seed, part, accept, tap, written, say):
    """written: the faults that are written by hand, which the copy of the pure modules holds, too."""
    group = group_of(part)
    if not can_confine(group):
        say(f"{CONFINED}: no namespaces of its own for a test: want to be root")
        if tap:
            tap.write_text("1..1\nok 1 # SKIP faults made by machine: no namespaces\n")
        return 0
    modules = modules_of(group, part)
    texts, sites = all_sites(group, modules, written if group is CORE else ())
    seed = seed if seed is not None else seed_of(texts)
    explained, holes = load_explained(), load_holes()
    chosen = choose(sites, explained | holes, sample, seed, part)
    of = f" --in {part}" if part else ""
    replay = f": tools/mutants --sample {sample} --seed {seed}{of}" if sample else ""
    say(f"{len(chosen)} of {sum(site.kind != 'written' for site in sites)} faults made by machine{replay}")
    if sample and group is AROUND:
        # All others would only be compiled. Those of core share a copy with the faults written by hand.
        sites, chosen = [sites[n] for n in chosen], range(len(chosen))
        modules = sorted({module_of(group.modules, site.file) for site in sites})
    described = [t for t in plant(group, modules, texts, sites) if t["name"] not in group.left_out]
    likely = likely_to_survive(sites, chosen, explained | holes, sample)
    survived, noticed, tried = try_all(group, described, sites, chosen, explained | holes, likely, say)
    new = survived - explained - holes
    files = {key(sites[n])[0] for n in chosen}
    untried = len(chosen) - tried
    # What was not tried is in its row still.
    stale = set() if sample or untried else {row for row in explained | holes if row[0] in files} - survived
    if accept and not untried:
        write_holes((holes | survived) - stale - explained)
    for row in sorted(stale):
        say(f"{'NOTICED' if row in noticed else 'GONE'}, though it is listed: {row[0]}: {row[1]}: {row[3]}")
    say(f"{len(survived)} of {tried} survived, {len(new)} of them neither explained nor known{replay}")
    if tap:
        tap.write_text(as_tap(part, [site for n in chosen if key(site := sites[n]) in new], untried))
    return 1 if untried or (new and not accept) else 0
