# SPDX-License-Identifier: BSD-2-Clause
"""The statistics files of processes (include/mrc/stats.h), read when the processes are gone."""
import dataclasses
import pathlib
import struct

VERSION = 9
HEAD = struct.Struct("<8sIIQQ16sII")
COUNTERS, COUNTER = 128, struct.Struct("<32sQ")
PORTS_BYTES = 32 * 136
NODE_BYTES = 552  # what controllers have decided
QPS_BYTES = 96 + NODE_BYTES + 64 * 2168  # sums over all, and those that are shown
EVENTS, EVENT = 1024, struct.Struct("<QIBBBB16sHHI")
EVENTS_AT = HEAD.size + COUNTERS * COUNTER.size + PORTS_BYTES + QPS_BYTES
FILE_BYTES = EVENTS_AT + 8 + EVENTS * EVENT.size

KIND_EV, STATE_GOOD, STATE_BAD = 1, 0, 2


class CountersError(Exception):
    """A file is not what this program can read."""


@dataclasses.dataclass
class Process:
    """What one process counted, and when its EVs became bad (False) and good again (True)."""

    pid: int
    counter: dict
    ev_events: list  # of (time in ns, port, EV, good)


def _counters(data):
    found = {}
    for i in range(COUNTERS):
        name, value = COUNTER.unpack_from(data, HEAD.size + i * COUNTER.size)
        if name[0]:
            found[name.split(b"\0")[0].decode()] = value
    return found


def _ev_events(data):
    (ever,) = struct.unpack_from("<Q", data, EVENTS_AT)
    events = []
    for n in range(max(0, ever - EVENTS), ever):
        at, ev, kind, port, state, *_ = EVENT.unpack_from(
            data, EVENTS_AT + 8 + n % EVENTS * EVENT.size)
        if kind == KIND_EV and state in (STATE_GOOD, STATE_BAD):
            events.append((at, port, ev, state == STATE_GOOD))
    return events


def read_file(path):
    """Reads one file; None when its process had not finished making it, or took it away again."""
    try:
        data = pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        return None
    if len(data) < HEAD.size or data[:8] != b"MRCSTATS":
        return None
    _, version, pid, *_ = HEAD.unpack_from(data)
    if version != VERSION or len(data) != FILE_BYTES:
        raise CountersError(f"{path}: version {version} of {len(data)} bytes; "
                            f"version {VERSION} of {FILE_BYTES} is known here")
    return Process(pid, _counters(data), _ev_events(data))


def read_folder(folder):
    """Reads all files of a folder."""
    found = (read_file(path) for path in sorted(pathlib.Path(folder).glob("*.mrcstats")))
    return [process for process in found if process]


def total(processes, name):
    """The sum of a counter over processes."""
    return sum(process.counter.get(name, 0) for process in processes)
