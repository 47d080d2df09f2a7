#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is left of a transfer when there is too much of something: processes, load, senders, QPs.

`mrc perf` writes messages of 64 KiB from one namespace to another. A pair alone is measured in each
round as well, and what a case is held against is that: believe the ratios. Each case prints what all
its senders carry together, how equal their shares are and what each gets of a second of CPU (Jain's
index), the part that was sent again, and what the largest process needs in memory; then each aim with
its verdict. Where processes wait for a core, shares are as equal as the time that the kernel gives them.

Senders are counted by `mrc stat` while all of them send, at the begin and the end of the same seconds:
those that began first would seem to be faster otherwise.
"""
import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "verbs"))

import pair  # noqa: E402  pylint: disable=wrong-import-position

PORT = 20300
PAYLOAD = 4096
LISTEN_S = 60
TICK_S = 0.05
FIRST = -20
# A receiver that runs for one of so many parts of 5 ms.
SLOW_PART = 5
SLOW_RUN_S = 0.005
# Half of it is the message that each has in flight.
KIB_A_QP = 128
# Why packets were sent again, by senders' counters, and what became of them, by receivers'.
CAUSES = {"lost_inferred": "found lost by a SACK", "lost_timeout": "by a timeout", "losses_spurious": "arrived after all"}
FATES = {"rx_duplicates": "had arrived before", "port_rx_overruns": "found a full buffer"}


class Case:
    """So many pairs of processes with so many QPs each, and what disturbs them."""

    # What each round found is kept apart, so that medians may be had of each.
    # pylint: disable-next=too-many-arguments,too-many-positional-arguments
    def __init__(self, name, pairs=1, qps=1, busy=0, slow=False, share=0.7):
        self.name, self.pairs, self.qps, self.busy, self.slow, self.share = name, pairs, qps, busy, slow, share
        self.gbit, self.jain, self.jain_cpu, self.again, self.mib = [], [], [], [], []
        # All rounds together.
        self.traced = dict.fromkeys([*CAUSES, *FATES, "tx_data_packets"], 0)


def cases():
    return [Case("alone"),
            Case("eight processes", pairs=4),
            Case("a busy loop beside", busy=1),
            Case("slow receiver", slow=True, share=0.7 / SLOW_PART),
            Case("64 senders to one host", pairs=64),
            Case("1,008 QPs, 16 processes", pairs=16, qps=63)]


def most_mib(processes):
    """The most memory that one of them had so far; 0 when all have ended."""
    most = 0
    for process in processes:
        with contextlib.suppress(OSError, IndexError, ValueError):
            text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            most = max(most, int(text.partition("VmHWM:")[2].split()[0]))
    return most / 1024


def cpu_s(process):
    """Seconds of CPU that all its threads had so far; 0 where the kernel does not say."""
    ns = 0
    for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, ValueError):
            ns += int(task.read_text().split()[0])
    return ns / 1e9


class Slowed:
    """A process that is stopped most of the time, as one is that does other things."""

    def __init__(self, process):
        self.process, self.due = process, 0.0

    def turn(self):
        """Stops it and lets it go on once."""
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(SLOW_RUN_S * (SLOW_PART - 1))
        self.process.send_signal(signal.SIGCONT)
        time.sleep(SLOW_RUN_S)


def counters(options, clients):
    """What each of these processes has counted so far, in their order; None: not all of them are at work."""
    text = subprocess.run([str(options.mrc), "stat", "--json"], capture_output=True, text=True, check=True).stdout
    by_pid = {process["pid"]: process for process in json.loads(text)["processes"] if not process["ended"]}
    found = [by_pid.get(client.pid) for client in clients]
    return found if all(each and (each["metrics"]["tx_data_bytes"] or each["metrics"]["rx_data_bytes"])
                        for each in found) else None


def check_running(case, clients):
    for client in clients:
        if client.poll() is not None:
            raise pair.PairError(f"{case.name}: a client ended early: {client.stdout.read().strip()}")


def watch(case, processes, seconds, slowed):
    """Lets so much time pass; returns the most memory of any process."""
    end, most = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        most = max(most, most_mib(processes))
        if slowed:
            slowed.turn()
        else:
            time.sleep(TICK_S)
    check_running(case, processes)
    return most


def wait_for_all(case, options, clients, servers):
    limit = time.monotonic() + LISTEN_S
    while not counters(options, clients + servers):
        check_running(case, clients)
        if time.monotonic() > limit:
            raise pair.PairError(f"{case.name}: not all senders have begun after {LISTEN_S} s")
        time.sleep(TICK_S)


def take(case, options, clients, servers):
    """Measures while all clients send, and notes what they counted."""
    slowed = Slowed(servers[0]) if case.slow else None
    wait_for_all(case, options, clients, servers)
    first = counters(options, clients + servers)
    used = [-cpu_s(client) for client in clients]
    most = watch(case, clients + servers, options.seconds, slowed)
    used = [cpu_s(client) + before for client, before in zip(clients, used)]
    last = counters(options, clients + servers)
    if not first or not last:
        raise pair.PairError(f"{case.name}: a process ended early")
    trace(case, zip(first[:len(clients)], last), [*CAUSES, "tx_data_packets"])
    trace(case, zip(first[len(clients):], last[len(clients):]), FATES)
    rates, packets, again = [], 0, 0
    for begin, end in zip(first[:len(clients)], last):
        new = {name: end["metrics"][name] - begin["metrics"][name]
               for name in ("tx_data_bytes", "tx_data_packets", "tx_retransmits")}
        rates.append((new["tx_data_bytes"] - new["tx_retransmits"] * PAYLOAD) * 8 /
                     max(end["updated_ns"] - begin["updated_ns"], 1))
        packets += new["tx_data_packets"]
        again += new["tx_retransmits"]
    case.gbit.append(sum(rates))
    case.jain.append(jain(rates))
    case.jain_cpu.append(jain([rate / cpu if cpu > 0 else 0 for rate, cpu in zip(rates, used)]))
    case.again.append(again / packets if packets else 0.0)
    case.mib.append(most)


def trace(case, pairs, names):
    """Adds what the processes have counted under these names between the two of each pair."""
    for begin, end in pairs:
        for name in names:
            case.traced[name] += end["metrics"][name] - begin["metrics"][name]


def jain(values):
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def go_first():
    """Raises this process, where it may, and returns by how much what is measured is to be lower.

    Were it to wait for a core as they do, it would take seconds to read what 128 processes have counted.
    """
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, FIRST)
    return max(0, -os.getpriority(os.PRIO_PROCESS, 0))


def measure(case, place, options):
    perf = ["nice", "-n", str(go_first()), str(options.mrc), "perf"]
    ports = range(PORT, PORT + case.pairs)
    env = [{"MRC_PORTS": place.address(side)} for side in (0, 1)]
    depth = "1" if case.qps > 1 else "16"
    running, loops = [], []
    try:
        for _ in range(case.busy):
            loops.append(subprocess.Popen([*perf[:3], sys.executable, "-c", "while True: pass"]))
        servers = [place.start(0, perf + ["--server", "--once", "--port", str(port)], env[0]) for port in ports]
        running += servers
        for server, port in zip(servers, ports):
            place.wait_listening(server, port, LISTEN_S)
        clients = [place.start(1, perf + [place.address(0), "--port", str(port), "--size", "64K", "--duration",
                                          f"{LISTEN_S}s", "--no-latency", "--json", "--qps", str(case.qps),
                                          "--depth", depth], env[1]) for port in ports]
        running += clients
        take(case, options, clients, servers)
    finally:
        for process in running + loops:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


def aims(case, alone):
    """What is aimed at: name, value, aim, and whether the value is the most that is allowed."""
    median = statistics.median
    yield "share of a pair alone", median(case.gbit) / median(alone.gbit), case.share, False
    if case.pairs > 1:
        yield "Jain's index", median(case.jain), 0.95, False
    yield "sent again", median(case.again), 0.01, True
    if case.qps > 1:
        each = (median(case.mib) - median(alone.mib)) * 1024 / case.qps
        yield "KiB of memory a QP", each, KIB_A_QP, True
    elif case is not alone:
        yield "memory of a process, to one alone", median(case.mib) / median(alone.mib), 1.25, True


def show(found, place, options):
    alone = found[0]
    print(f"{place.words()}, {os.cpu_count()} cores, medians of {options.rounds}")
    print(f"{'':26} {'Gbit/s':>8} {'Jain':>6} {'a CPU s':>8} {'again':>8} {'MiB':>6}")
    for case in found:
        print(f"{case.name:26} {statistics.median(case.gbit):8.2f} {statistics.median(case.jain):6.3f} "
              f"{statistics.median(case.jain_cpu):8.3f} "
              f"{statistics.median(case.again):8.5f} {statistics.median(case.mib):6.0f}")
    for case in found[1:]:
        packets = max(case.traced["tx_data_packets"], 1)
        print(f"of the packets, {case.name}: " + ", ".join(
            f"{case.traced[name] / packets:.4f} {words}" for name, words in {**CAUSES, **FATES}.items()))
        for name, value, aim, most in aims(case, alone):
            met = value <= aim if most else value >= aim
            print(f"bar: {case.name}, {name}: {value:.3f} of an aim of {aim:.2f}: "
                  f"{'reached' if met else 'not reached'}")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="of all cases, of which medians count (3)")
    parser.add_argument("--seconds", type=int, default=3, help="each measurement takes (3)")
    parser.add_argument("--only", default="", help="cases that have this in their name, and the pair alone")
    parser.add_argument("--mrc", type=pathlib.Path, default=ROOT / "build" / "bin" / "mrc", help="the program")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.seconds < 1:
        parser.error(f"--rounds {options.rounds} --seconds {options.seconds}: at least 1 each")
    return options


def main(arguments):
    options = parse(arguments)
    options.mrc = options.mrc.resolve()
    if not options.mrc.exists():
        print(f"{options.mrc} is not there: run make, or say --mrc", file=sys.stderr)
        return 2
    found = [case for case in cases() if case.name == "alone" or options.only in case.name]
    if len(found) == 1:
        print(f"no case has {options.only} in its name", file=sys.stderr)
        return 2
    try:
        with pair.Pair() as place:
            for number in range(options.rounds):
                for case in found:
                    print(f"round {number + 1}: {case.name}", file=sys.stderr)
                    measure(case, place, options)
    except pair.PairError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    show(found, place, options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
