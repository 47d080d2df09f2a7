#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Where the live path's CPU time goes: each end of a pair of programs by part, and what a message costs.

Each case runs for some seconds. In the middle of it perf samples both ends, where it is allowed; the
kernel counts their CPU time and context switches, and libmrc's counters say what went over the wire.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import bench
import pair
import parts

GB = 1e9
START_S = 1.0  # connecting, registering memory and warming up are over by then
START_MPI_S = 2.5  # as is starting the ranks
TICKS = os.sysconf("SC_CLK_TCK")


class Case(bench.Case):
    """One program, and how many bytes arrive for one message of it."""

    def __init__(self, name, means, command, figure, size, env=None, **more):
        super().__init__(name, means, command, figure, env, **more)
        self.size = size

    def messages_a_second(self):
        if self.unit == bench.GBIT:
            return self.median * 1e9 / 8 / self.size
        return 1e6 / self.median

    def scale(self):
        """A second of CPU in a second of run, in the unit of the table."""
        if self.unit == bench.GBIT:
            return 1e3 * GB / (self.messages_a_second() * self.size), "ms/GB"
        return self.median, "us"


def cases(options):
    """They have to run for START_S longer than they are watched, on a slow machine as well."""
    seconds = int(options.seconds + START_S + 2)
    write = f"{{examples}}/write_bw --json --depth 128 --ms {1000 * seconds}"
    mpi = {**bench.MPI, **bench.UCX_MRC, "OMPI_MCA_pml": "ucx", "OMPI_MCA_btl": "^openib,vader,tcp",
           "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}
    ucx = f"ucx_perftest -t tag_bw -w 50 -s 65536 -n {seconds * 50000}"
    found = [
        Case("WRITE 1 MiB", "libmrc", f"{write} --min 1048576 --max 1048576", bench.WRITE_BW, 2**20, port="--port {port}"),
        Case("WRITE 64 KiB", "libmrc", f"{write} --min 65536 --max 65536", bench.WRITE_BW, 2**16, port="--port {port}"),
        Case("SEND 8 B, half a round trip", "drop-in", f"ib_send_lat -F -d mrc0 -s 8 -n {seconds * 40000}",
             bench.PERFTEST_LAT, 8),
        Case("UCX tag 64 KiB", "drop-in", ucx, bench.UCX_BW, 2**16, bench.UCX_MRC),
        Case("MPI all-reduce 4 MiB, 2 ranks, loopback", "drop-in", f"mpirun.openmpi -np 2 {{built}}/allreduce 4194304 {seconds * 150}",
             bench.ALLREDUCE, 2 * 2**22, mpi, lone=True),  # what both ranks receive
    ]
    return [c for c in found if not options.only or options.only.lower() in c.key.lower()]


# ---- watching processes ----

def family(pid):
    """A process and all that it started."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(p for child in children for p in family(int(child)))]


def usage(pids):
    """Seconds of CPU and context switches so far, of all threads."""
    cpu = switches = 0
    for pid in pids:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
            for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
                switches += sum(int(line.split()[1]) for line in status.read_text().splitlines()
                                if "ctxt_switches" in line)
        except OSError:
            continue
    return cpu, switches


class End:
    """One end of a case, or both where one command starts all processes."""

    def __init__(self, name, process, counters, folder):
        self.name, self.process, self.counters = name, process, counters
        self.data, self.calls = folder / f"{name}.perf", folder / f"{name}.calls"
        self.pids, self.tools, self.before, self.result = [], [], (0, 0), {}

    def begin(self, seconds):
        self.pids = family(self.process.pid)
        names, wait = ",".join(map(str, self.pids)), ["sleep", str(seconds)]
        self.before = usage(self.pids)
        for tool in (["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-g", "-o", str(self.data), "-p", names],
                     ["perf", "stat", "-x;", "-e", "raw_syscalls:sys_enter", "-o", str(self.calls), "-p", names]):
            try:
                self.tools.append(subprocess.Popen(tool + wait, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            except OSError:
                continue

    def end(self, seconds):
        after = usage(self.pids)
        if self.process.poll() is not None:
            raise pair.PairError(f"{self.name}: ended while it was watched: --seconds is too long for it")
        cpu, switches = ((b - a) / seconds for a, b in zip(self.before, after))
        self.result = {"cores": cpu, "switches": switches}

    def digest(self, seconds):
        """Reads what perf and libmrc have left, which takes longer than the programs run."""
        for tool in self.tools:
            tool.wait()
        self.result |= {"calls": parts.count_of(self.calls, seconds), "parts": parts.shares(self.data)}
        try:
            self.result["counters"] = json.loads(self.counters.read_text())["counters"]
        except (OSError, ValueError, KeyError):
            self.result["counters"] = {}


def watch(case, place, options, folder):
    """Runs a case; its ends, with what was seen of each."""
    words, envs = bench.surroundings(case, place, options)
    argv = bench.words_of(case, words)

    def start(side, name, more):
        counters = folder / f"{name}.json"
        prefix = [str(options.mrc), "run", f"--json={counters}", "--"]
        return End(name, place.start(side, prefix + argv + more, envs[side]), counters, folder)

    ends = [start(1, "both", [])] if case.lone else [start(0, "receiver", [])]
    try:
        if not case.lone:
            place.wait_listening(ends[0].process, words["port"], bench.LIMIT_S)
            ends.insert(0, start(1, "sender", [place.address(0)]))
        time.sleep(START_MPI_S if case.lone else START_S)
        for end in ends:
            end.begin(options.seconds)
        time.sleep(options.seconds)
        for end in ends:
            end.end(options.seconds)
        texts = [bench.finish(end.process) for end in ends]
        case.values.append(bench.read(case, texts[0]))  # the sender's
    finally:
        for end in ends:
            end.process.kill()
            end.process.communicate()
    for end in ends:
        end.digest(options.seconds)
    return ends


# ---- what came of it ----

COUNTED = (("data packets", "tx_data_packets"), ("resends", "tx_retransmits"), ("SACKs", "tx_sacks"), ("ACKs", "tx_acks"),
           ("probes", "tx_probes"))


def summary(case, ends):
    """A case as a dictionary: all figures of a message, and parts in the case's unit."""
    scale, unit = case.scale()
    rate = case.messages_a_second()
    result = {"name": case.name, "means": case.means, "command": case.command, "figure": case.median,
              "figure_unit": case.unit, "unit": unit, "ends": {}}
    # Counters are of the whole run, the messages of which follow from all bytes placed.
    whole = sum(end.result["counters"].get("rx_data_bytes", 0) for end in ends) / case.size
    for end in ends:
        seen, total = end.result, end.result["counters"]
        message = {what: total.get(name, 0) / whole for what, name in COUNTED} if whole else {}
        message["context switches"] = seen["switches"] / rate
        if seen["calls"] is not None:
            message["system calls"] = seen["calls"] / rate
        result["ends"][end.name] = {"cpu": seen["cores"] * scale, "a_message": message,
                                    "parts": {p: s * seen["cores"] * scale for p, s in seen["parts"].items()}}
    return result


def show(result):
    ends = result["ends"]
    print(f"\n{result['name']}, {result['means']}: {result['figure']:.2f} {result['figure_unit']}")
    print(f"  {'CPU time, ' + result['unit']:32}" + "".join(f"{name:>12}" for name in ends))
    rows = sorted({p for e in ends.values() for p in e["parts"]},
                  key=lambda p: -sum(e["parts"].get(p, 0) for e in ends.values()))
    for name in rows:
        print(f"  {name:32}" + "".join(f"{e['parts'].get(name, 0):12.2f}" for e in ends.values()))
    print(f"  {'all':32}" + "".join(f"{e['cpu']:12.2f}" for e in ends.values()))
    for what in dict.fromkeys(w for e in ends.values() for w in e["a_message"]):
        print(f"  {what + ' a message':32}" + "".join(f"{e['a_message'].get(what, 0):12.3f}" for e in ends.values()))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench/verbs/profile.py", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2, help="of each case that are watched (2)")
    parser.add_argument("--only", metavar="TEXT", help="cases with TEXT in their names")
    parser.add_argument("--json", action="store_true", help="everything, on stdout")
    parser.add_argument("--mrc", type=pathlib.Path, default=bench.ROOT / "build/bin/mrc", help="the command mrc")
    parser.add_argument("--work", type=pathlib.Path, default=bench.ROOT / "build/bench-verbs", help="folder for what is built")
    options = parser.parse_args(arguments)
    if not 0.1 <= options.seconds <= 20:
        parser.error(f"--seconds {options.seconds}: want a number from 0.1 to 20")
    return options


def measure(found, place, options):
    results = []
    for case in found:
        print(case.key, file=sys.stderr)
        case.reason = bench.missing(case)
        try:
            with tempfile.TemporaryDirectory() as folder:
                if not case.reason:
                    results.append(summary(case, watch(case, place, options, pathlib.Path(folder))))
        except pair.PairError as error:
            case.reason = str(error)
        if case.reason:
            print(f"{case.key}: {case.reason}", file=sys.stderr)
        elif not options.json:
            show(results[-1])
    return results


def main(arguments):
    options = parse(arguments)
    options.mrc = options.mrc.resolve()
    found = cases(options)
    if not options.mrc.exists() or not found:
        print(f"{options.mrc} is not there: run make, or say --mrc" if found else
              f"no case has {options.only} in its name", file=sys.stderr)
        return 2
    why = parts.unusable()
    if why:
        print(f"without parts and system calls: {why}", file=sys.stderr)
    try:
        bench.build(options.work)
        with pair.Pair() as place:
            results = measure(found, place, options)
            if options.json:
                json.dump({"between": place.words(), "cases": results}, sys.stdout, indent=1)
                print()
    except (pair.PairError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
