#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What unmodified verbs programs get from softmrc, beside the same work on kernel TCP.

perftest runs over the drop-in libibverbs.so.1, libmrc's own write_bw beside it; ucx_perftest and an MPI
all-reduce run over the drop-in and over TCP. All cases are measured in turn, several rounds of them,
and of each the median counts, so that what else the machine does hits all alike: believe the ratios.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys

import pair

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 60
UCX_MRC = {"UCX_TLS": "rc_v,ud_v,self", "UCX_NET_DEVICES": "mrc0:1"}
UCX_TCP = {"UCX_TLS": "tcp,self"}
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}
GBIT, US = "Gbit/s", "us"

PERFTEST_BW = (r"^ *\d+ +\d+ +[\d.]+ +([\d.]+) ", GBIT, 1.0)
PERFTEST_LAT = (r"^ *\d+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+) ", US, 1.0)  # typical
UCX_BW = (r"^Final: +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)", GBIT, 8 * 2**20 / 1e9)
UCX_LAT = (r"^Final: +\d+ +([\d.]+)", US, 1.0)  # the median
WRITE_BW = (r'"gbit_s": ([\d.]+)', GBIT, 1.0)
ALLREDUCE = (r"([\d.]+) us each", US, 1.0)


class Case:
    """One program and its flags. {address}, {port} and {built} are filled in."""

    def __init__(self, name, means, command, figure, env=None, port="-p {port}", lone=False, busy=False):
        self.name, self.means, self.command, self.figure = name, means, command, figure
        self.env, self.port, self.lone, self.busy = env or {}, port, lone, busy
        self.values, self.reason = [], ""

    @property
    def key(self):
        return f"{self.name} {self.means}"

    @property
    def unit(self):
        return self.figure[1]

    @property
    def median(self):
        return statistics.median(self.values) if self.values else None


def cases(options):
    """All cases, those to be compared under one name."""
    seconds, pings = options.seconds, 2000 * options.seconds
    perftest_bw = f"ib_write_bw -F -d mrc0 --report_gbits -f 1 -D {seconds + 2} -s "
    write_bw = "{examples}/write_bw --json --depth 128 --ms %d" % (1000 * seconds)
    messages = 1000 * seconds
    ob1 = {**MPI, "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}
    ucx = {**MPI, **UCX_MRC, "OMPI_MCA_pml": "ucx", "OMPI_MCA_btl": "^openib,vader,tcp",
           "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}
    found = []
    for size, word in ((65536, "64 KiB"), (1048576, "1 MiB")):
        found += [
            Case(f"WRITE {word}", "libmrc", f"{write_bw} --min {size} --max {size}", WRITE_BW, port="--port {port}"),
            Case(f"WRITE {word}", "drop-in", f"{perftest_bw}{size}", PERFTEST_BW),
            Case(f"UCX tag {word}", "drop-in", f"ucx_perftest -t tag_bw -w 50 -s {size} -n {messages}", UCX_BW, UCX_MRC),
            Case(f"UCX tag {word}", "TCP", f"ucx_perftest -t tag_bw -w 50 -s {size} -n {messages}", UCX_BW, UCX_TCP),
        ]
    for ranks in (2, 4):
        name = f"MPI all-reduce 4 MiB, {ranks} ranks, loopback"
        allreduce = f"mpirun.openmpi --oversubscribe -np {ranks} {{built}}/allreduce 4194304 {20 * seconds}"
        found += [Case(name, "drop-in", allreduce, ALLREDUCE, ucx, lone=True),
                  Case(name, "TCP", allreduce, ALLREDUCE, ob1, lone=True)]
    found += [
        Case("WRITE 8 B, half a round trip", "drop-in", f"ib_write_lat -F -d mrc0 -s 8 -n {pings}", PERFTEST_LAT),
        Case("SEND 8 B, half a round trip", "drop-in", f"ib_send_lat -F -d mrc0 -s 8 -n {pings}", PERFTEST_LAT),
        Case("UCX tag 8 B, half a round trip", "drop-in", f"ucx_perftest -t tag_lat -w 50 -s 8 -n {pings}", UCX_LAT, UCX_MRC),
        Case("UCX tag 8 B, half a round trip", "TCP", f"ucx_perftest -t tag_lat -w 50 -s 8 -n {pings}", UCX_LAT, UCX_TCP),
        Case("WRITE 64 KiB, one core busy", "drop-in", f"{perftest_bw}65536", PERFTEST_BW, busy=True),
        Case("UCX tag 64 KiB, one core busy", "TCP", f"ucx_perftest -t tag_bw -w 50 -s 65536 -n {messages}", UCX_BW,
             UCX_TCP, busy=True),
    ]
    return [c for c in found if not options.only or options.only.lower() in c.key.lower()]


# ---- running ----

def build(folder):
    """The MPI program; what it needs may be absent."""
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("mpicc.openmpi"):
        subprocess.run(["mpicc.openmpi", "-O2", "-Wall", "-Wextra", "-o", str(folder / "allreduce"),
                        "{here}/allreduce.c".format(here=HERE)], check=True)


def finish(process):
    what = " ".join(process.args)
    try:
        text, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        raise pair.PairError(f"{what}: still ran after {LIMIT_S} s") from None
    if process.returncode:
        last = text.strip().splitlines()[-1] if text.strip() else "it said nothing"
        raise pair.PairError(f"{what}: status {process.returncode}: {last}")
    return text


def surroundings(case, place, options):
    """What fills in a case's command, and the environment of each side."""
    words = {"built": options.work, "examples": options.mrc.parent.parent / "lib/softmrc/examples",
             "port": random.randrange(20000, 30000)}
    addresses = ("127.0.0.1",) * 2 if case.lone else (place.address(0), place.address(1))
    envs = [{**case.env, **({} if case.means == "TCP" else {"MRC_PORTS": address})} for address in addresses]
    return words, envs


def words_of(case, words):
    return (case.command + ("" if case.lone else f" {case.port}")).format(**words).split()


def run(case, place, options):
    """Runs a case once; its figure."""
    words, envs = surroundings(case, place, options)
    argv = words_of(case, words)
    prefix = [str(options.mrc), "run", "--"] if case.means == "drop-in" else []
    if case.lone:
        return read(case, finish(place.start(1, prefix + argv, envs[1])))
    server = place.start(0, prefix + argv, envs[0])
    try:
        place.wait_listening(server, words["port"], LIMIT_S)
        text = finish(place.start(1, prefix + argv + [place.address(0)], envs[1]))
        finish(server)
    finally:
        server.kill()
        server.communicate()
    return read(case, text)


def read(case, text):
    pattern, _, factor = case.figure
    found = re.findall(pattern, text, re.M)
    if not found:
        raise pair.PairError(f"{case.command}: no figure in what it said")
    return float(found[-1]) * factor


def missing(case):
    """Why its program cannot be started, or nothing."""
    program = case.command.split()[0]
    return "" if program.startswith("{") or shutil.which(program) else f"{program} is not installed"


def measure(case, place, options):
    """One round of a case; one that cannot run says why and is left out from then on."""
    case.reason = case.reason or missing(case)
    if case.reason:
        return
    spinner = subprocess.Popen(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]) if case.busy else None
    try:
        case.values.append(run(case, place, options))
    except pair.PairError as error:
        case.reason = str(error)
    finally:
        if spinner:
            spinner.kill()
            spinner.wait()


# ---- what came of it ----

AIMS = (  # the ends of ratios' names
    (": drop-in / libmrc", 0.97),
    (": drop-in / TCP", 0.8),
    ("loopback: TCP / drop-in (time)", 0.8),
    ("half a round trip: TCP / drop-in (time)", 1.0),
    ("WRITE 64 KiB: one core busy / quiet", 0.7),
)


def aim_of(what):
    """The least that a ratio is to be; none: it is told only."""
    return next((aim for end, aim in AIMS if what.endswith(end)), None)

def ratios(found):
    """What the drop-in costs over libmrc, how it stands beside TCP, and what a busy core does."""
    by = {case.key: case.median for case in found}
    units = {case.name: case.unit for case in found}
    result = []

    def add(what, above, below):
        if by.get(above) and by.get(below):
            result.append((what, by[above] / by[below]))

    for name, unit in units.items():
        add(f"{name}: drop-in / libmrc", f"{name} drop-in", f"{name} libmrc")
        pair_ = (f"{name} drop-in", f"{name} TCP")
        add(f"{name}: drop-in / TCP" if unit == GBIT else f"{name}: TCP / drop-in (time)",
            *(pair_ if unit == GBIT else pair_[::-1]))
    add("WRITE 64 KiB: one core busy / quiet", "WRITE 64 KiB, one core busy drop-in", "WRITE 64 KiB drop-in")
    add("UCX tag 64 KiB on TCP: one core busy / quiet", "UCX tag 64 KiB, one core busy TCP", "UCX tag 64 KiB TCP")
    return result


def show(found, place, options):
    print(f"between {place.words()}; TCP congestion control {place.control}; "
          f"medians of {options.rounds} rounds\n")
    for case in found:
        figure = f"{case.median:9.2f} {case.unit:7}" if case.values else f"{'-':>9}        "
        print(f"{case.name:42} {case.means:8} {figure} {case.reason}".rstrip())
    print()
    for what, ratio in ratios(found):
        aim = aim_of(what)
        verdict = "" if aim is None else f"  aim {aim:.2f}: {'reached' if ratio >= aim else 'not reached'}"
        print(f"{what:62} {ratio:6.2f}{verdict}")


def as_json(found, place, options):
    json.dump({"between": place.words(), "tcp_congestion_control": place.control, "rounds": options.rounds,
               "cases": [{"name": c.name, "means": c.means, "command": c.command, "unit": c.unit,
                          "median": c.median, "values": c.values, "reason": c.reason} for c in found],
               "ratios": dict(ratios(found)),
               "aims": {what: aim_of(what) for what, _ in ratios(found) if aim_of(what) is not None}}, sys.stdout, indent=1)
    print()


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench/verbs/bench.py", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of all cases (5)")
    parser.add_argument("--seconds", type=int, default=2, help="about so long a case (2)")
    parser.add_argument("--only", metavar="TEXT", help="cases with TEXT in their names")
    parser.add_argument("--json", action="store_true", help="everything, on stdout")
    parser.add_argument("--mrc", type=pathlib.Path, default=ROOT / "build/bin/mrc", help="the command mrc")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/bench-verbs", help="folder for what is built")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.seconds < 1:
        parser.error("--rounds and --seconds want a number from 1")
    return options


def main(arguments):
    options = parse(arguments)
    options.mrc = options.mrc.resolve()
    if not options.mrc.exists():
        print(f"{options.mrc} is not there: run make, or say --mrc", file=sys.stderr)
        return 2
    found = cases(options)
    if not found:
        print(f"no case has {options.only} in its name", file=sys.stderr)
        return 2
    try:
        build(options.work)
        with pair.Pair() as place:
            for number in range(options.rounds):
                for case in found:
                    print(f"round {number + 1}: {case.key}", file=sys.stderr)
                    measure(case, place, options)
    except (pair.PairError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    (as_json if options.json else show)(found, place, options)
    return 0 if any(case.values for case in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
