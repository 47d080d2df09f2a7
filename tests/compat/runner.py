# SPDX-License-Identifier: BSD-2-Clause
"""Runs one row and judges it. A row is good when all its processes ended by themselves with status
0, wrote what they should, and softmrc's own counters cover the bytes that they claim."""
import dataclasses
import os
import pathlib
import random
import re
import shlex
import shutil
import socket
import subprocess
import time

import counters
import faults
from process_group import Group

HERE = pathlib.Path(__file__).resolve().parent
OK, FAILED, SKIP = "ok", "FAILED", "SKIP"
# Below the ports that the kernel gives to those who ask for any.
PORTS = (20000, 30000)
LINES_SHOWN = 12
# Two planes; and source ports that the kernel does not give to whoever asks for any.
LOOPBACK = {"MRC_PORTS": "127.0.0.1,127.0.1.1", "MRC_EV_BASE": "12000"}
# Programs ask for 67 ms and seven retries. On a busy machine a peer may get no processor for half a second.
PATIENCE = {"MRC_RTO_MIN_US": "500000"}


@dataclasses.dataclass
class Place:
    """Where the programs of a row run: here on loopback, or in hosts of a lab.

    server and client are commands that stand before those of the row. during is called with the Group
    when all that the row starts itself is running.
    """

    mrc: str  # the command `mrc`
    work: pathlib.Path  # a folder for logs, and for programs that are built
    address: str = "127.0.0.1"  # of the server
    server: list = dataclasses.field(default_factory=list)
    client: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=lambda: dict(LOOPBACK))
    patience: dict = dataclasses.field(default_factory=lambda: dict(PATIENCE))  # where paths are good
    during: object = None


@dataclasses.dataclass
class Result:
    """What came of a row."""

    name: str
    state: str
    reason: str = ""  # of FAILED and SKIP
    seconds: float = 0.0
    figure: str = ""
    claimed_bytes: int = 0
    placed_bytes: int = 0
    processes: int = 0
    version: str = ""  # of the package
    log: str = ""  # the folder
    tail: list = dataclasses.field(default_factory=list)
    ev_events: list = dataclasses.field(default_factory=list)
    counter: dict = dataclasses.field(default_factory=dict)


class Failed(Exception):
    """The row failed; the text says why, and name is the log to look into."""

    def __init__(self, reason, name=""):
        super().__init__(reason)
        self.name = name


class Skipped(Exception):
    """The row cannot run here; the text says why."""


def free_port():
    """A TCP port that nobody uses at this moment."""
    while True:
        port = random.randrange(*PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
                return port
            except OSError:
                continue


def version_of(package):
    """The version of an installed Debian package, or ''."""
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                           capture_output=True, text=True, check=False)
    return query.stdout if query.returncode == 0 else ""


def _folder(row, place):
    """A fresh folder named like the row, with module for the statistics of its processes."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", row.name).strip("-")[:100]
    folder = pathlib.Path(place.work).resolve() / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "stats").mkdir(parents=True)
    return folder


def _faults(folder):
    return folder / "faults"


def _environment(row, place, folder):
    """What the row runs with; its fault table is made with it."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("MRC_", "UCX_", "OMPI_", "FI_", "MPIR_", "HYDRA_"))}
    patience = {} if row.bad_paths else place.patience
    env.update({"MRC_CONFIG": "/dev/null", "MRC_REAL_IBVERBS": "off", **place.env, **patience, **row.env})
    if row.bad_paths:
        faults.write(_faults(folder), random.getrandbits(64))
        env.update({**faults.ENV, "MRC_FAULTS": str(_faults(folder))})
    env.update({"MRC_STATS_DIR": str(folder / "stats"), "MRC_STATS_KEEP": "on"})
    return {key: value for key, value in env.items() if value is not None}


def _fill(text, row, place, port):
    """A command of a row as a list of words."""
    words = {"command": row.command, "port": port, "address": place.address, "here": HERE,
             "built": built(place)}
    while (filled := text.format(**words)) != text:  # {command} may hold {built}
        text = filled
    return shlex.split(text)


def built(place):
    """The folder of programs that rows build."""
    return pathlib.Path(place.work).resolve() / "built"


_builds = {}


def _build(row, place):
    """Builds the program of a row, once for all rows with the same command."""
    command = row.build.format(here=HERE, built=built(place))
    if command not in _builds:
        built(place).mkdir(parents=True, exist_ok=True)
        run = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
        _builds[command] = (run.stdout + run.stderr) if run.returncode else ""
    if _builds[command]:
        raise Failed(f"does not build: {command}\n{_builds[command]}")


def _check_needs(row):
    programs = row.needs or [row.program]
    missing = [name for name in programs if not shutil.which(name) and not os.path.exists(name)]
    if missing:
        raise Skipped(f"not installed: {', '.join(missing)} (package {row.package})")


def _run_pair(row, place, group):
    """A server, and when it listens its client."""
    mrc = [place.mrc, "run", "--"]
    port = free_port()
    server = group.start("server", place.server + mrc + _fill(row.server, row, place, port))
    if not group.wait_listening(port, server):
        raise Failed("the server does not listen", "server")
    return [("client", group.start("client", place.client + mrc +
                                  _fill(row.client, row, place, port))), ("server", server)]


def _run_one(row, place, group):
    words = _fill(row.client, row, place, free_port())
    return [("client", group.start("client", place.client + [place.mrc, "run", "--"] + words))]


def _wait_all(processes, group, limit_s):
    for name, process in processes:
        status = group.wait(process)
        if status is None:
            raise Failed(f"the {name} was still running after {limit_s} s", name)
        if status:
            what = f"status {status}" if status > 0 else f"signal {-status}"
            raise Failed(f"the {name} ended with {what}", name)


def _claimed(row, text):
    """The bytes that a program says it moved: the product of the pattern's groups, summed."""
    total = row.bytes
    if row.claims:
        for match in re.finditer(row.claims, text, re.M):
            product = row.ways
            for factor in match.groups():
                product *= int(factor)
            total += product
    return total


def _judge_paths(group, result):
    """Bad paths must have been bad: each fault has hit, and packets went again."""
    hits = faults.hits(_faults(group.folder))
    if not all(hits) or not result.counter.get("tx_retransmits"):
        raise Failed(f"the paths were not bad: faults hit {hits} frames, "
                     f"{result.counter.get('tx_retransmits', 0)} packets went again")


def _judge(row, group, result):
    text = group.text("client")
    if row.bad_paths:
        _judge_paths(group, result)
    for pattern in row.expect:
        if not re.search(pattern, text, re.M):
            raise Failed(f"the output has no {pattern!r}", "client")
    if row.figure:
        matches = list(re.finditer(row.figure[0], text, re.M))
        if not matches:
            raise Failed(f"the output has no figure {row.figure[0]!r}", "client")
        result.figure = matches[-1].expand(row.figure[1])
    result.claimed_bytes = _claimed(row, group.command("client") + text)
    if row.wants_bytes and not result.claimed_bytes:
        raise Failed(f"the output has no bytes {row.claims!r}", "client")
    if result.placed_bytes < result.claimed_bytes:
        raise Failed(f"the program claims {result.claimed_bytes} bytes, "
                     f"{' + '.join(row.counters)} is {result.placed_bytes}", "client")


def _count(row, group, result):
    """Takes over what the processes counted."""
    processes = counters.read_folder(group.folder / "stats")
    names = sorted({name for process in processes for name in process.counter})
    result.processes = len(processes)
    result.counter = {name: counters.total(processes, name) for name in names}
    result.placed_bytes = sum(result.counter.get(name, 0) for name in row.counters)
    result.ev_events = sorted(event for process in processes for event in process.ev_events)


def _count_failed(row, group, result):
    """What had been counted when it failed, for whoever looks for the cause."""
    try:
        _count(row, group, result)
    except counters.CountersError:
        pass  # the row failed already, and says why


def _run(row, place, group, result):
    processes = (_run_pair if row.server else _run_one)(row, place, group)
    if place.during:
        place.during(group)
    _wait_all(processes, group, row.limit)
    _count(row, group, result)
    _judge(row, group, result)


def _tail(group, name):
    logs = [name] if name else ["server", "client"]
    lines = []
    for log in logs:
        if group.log(log).exists():
            lines += [f"{log}: {line}" for line in group.text(log).splitlines()[-LINES_SHOWN:]]
    return lines


def _skip_by_output(row, group):
    """A package may be built without what a row needs; its output says so."""
    return row.skip_if and group.log("client").exists() and \
        re.search(row.skip_if[0], group.text("client"), re.M)


def run(row, place):
    """Runs a row and returns its Result; whatever it started is gone afterwards."""
    result = Result(row.name, OK, version=version_of(row.package))
    begin = time.monotonic()
    folder = _folder(row, place)
    result.log = str(folder)
    group = Group(folder, _environment(row, place, folder), row.limit)
    try:
        _check_needs(row)
        if row.build:
            _build(row, place)
        _run(row, place, group, result)
    except Skipped as skipped:
        result.state, result.reason = SKIP, str(skipped)
    except (Failed, counters.CountersError) as failed:
        result.state, result.reason = FAILED, str(failed)
        result.tail = _tail(group, getattr(failed, "name", ""))
        if _skip_by_output(row, group):
            result.state, result.reason = SKIP, row.skip_if[1]
        _count_failed(row, group, result)
    finally:
        left = group.kill()
    if left and result.state == OK:
        result.state, result.reason = FAILED, f"{left} processes were left running"
    result.seconds = round(time.monotonic() - begin, 2)
    return result
