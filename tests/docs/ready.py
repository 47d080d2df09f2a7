#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ready.py SECONDS PID

Waits until what a page put into the background is ready for its next line: what a user sees before he types on, and what no
fixed pause is long enough for on a busy machine. PID and what it started are ready when they have ended; when one of
them listens for connections, as a server does, or has one, as a client; or when they have computed for a while, as
something that is to be counted does. What is not ready after SECONDS is said, and the exit status is 1.
"""
import os
import pathlib
import sys
import time

sys.dont_write_bytecode = True
PROC = pathlib.Path("/proc")
# More than any of the servers computes before it listens.
COMPUTED_SECONDS = 2
LISTENS, CONNECTED = "0A", "01"
ACCEPTS = 0x10000


def stat_of(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, ..."""
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def tree_of(root):
    """The processes of a job that have not ended, and the processor time of all in seconds."""
    stats = {}
    for entry in PROC.glob("[0-9]*"):
        try:
            stats[int(entry.name)] = stat_of(entry.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    tree, grown = {root} & stats.keys(), True
    while grown:
        more = {pid for pid, fields in stats.items() if int(fields[1]) in tree} - tree
        grown, tree = bool(more), tree | more
    ticks = sum(int(ticks) for pid in tree for ticks in stats[pid][11:15])
    return {pid for pid in tree if stats[pid][0] != "Z"}, ticks / os.sysconf("SC_CLK_TCK")


def sockets_of(pid):
    """The inodes of the sockets that a process holds."""
    links = [os.readlink(entry) for entry in (PROC / str(pid) / "fd").iterdir()]
    return {link[len("socket:["):-1] for link in links if link.startswith("socket:[")}


def streams_of(pid):
    """The inodes of the sockets that listen or are connected, in the network namespace of a process."""
    net, inodes = PROC / str(pid) / "net", set()
    for name in ("tcp", "tcp6"):
        lines = [line.split() for line in (net / name).read_text().splitlines()[1:]] if (net / name).exists() else []
        inodes |= {fields[9] for fields in lines if fields[3] in (LISTENS, CONNECTED)}
    lines = [line.split() for line in (net / "unix").read_text().splitlines()[1:]]
    return inodes | {fields[6] for fields in lines if int(fields[3], 16) & ACCEPTS}


def is_met(pid):
    """Whether a process listens or is connected; one that ends meanwhile does not."""
    try:
        return bool(sockets_of(pid) & streams_of(pid))
    except OSError:
        return False


def is_ready(root):
    tree, computed = tree_of(root)
    return not tree or computed >= COMPUTED_SECONDS or any(is_met(pid) for pid in tree)


def main():
    seconds, root = float(sys.argv[1]), int(sys.argv[2])
    end = time.monotonic() + seconds
    while not is_ready(root):
        if time.monotonic() >= end:
            sys.exit(f"what runs in the background neither listens, nor is connected, nor computes, after {seconds:.0f} s")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
