# SPDX-License-Identifier: BSD-2-Clause
"""Rows on a lab: hosts on two planes of switches on the kernel's SRv6. While the program runs one
plane dies and comes back, and then a T1 of the other plane reboots.

A row is good only if, beyond what is asked on loopback, it ran through all that, and softmrc retired
an EV and revived one.
"""
import os
import pathlib
import subprocess
import time

import counters
import runner

TOPOLOGY = "tiny"
SERVER, CLIENT = "host3", "host0"
SERVER_ADDRESS = "10.0.1.2"
# Of the plane and of the T1: how long they are gone, and the time between the two.
GONE_S, BETWEEN_S = 1.0, 0.7
# What has been sent when the first fault comes: more than any program says before it begins.
BEGUN_BYTES = 4 << 20
LOOK_S = 0.05


class NoLab(Exception):
    """This machine allows no lab; the text says why."""


class Lab:
    """A lab, and the rows that run on it; it goes at the end, whatever happens."""

    def __init__(self, mrc, work):
        self.mrc = mrc
        self.work = pathlib.Path(work)
        self.name = f"rows{os.getpid()}"

    def __enter__(self):
        up = self._lab("up", TOPOLOGY, "--name", self.name)
        if up.returncode:
            raise NoLab(up.stderr.strip().splitlines()[-1] if up.stderr.strip() else "mrc lab up failed")
        return self

    def __exit__(self, *_):
        self._lab("down", self.name)

    def _lab(self, *words):
        return subprocess.run([self.mrc, "lab", *words], capture_output=True, text=True, check=False)

    def _must(self, *words):
        done = self._lab(*words)
        if done.returncode:
            raise runner.Failed(f"mrc lab {' '.join(words)}: {done.stderr.strip()}")

    def shell(self, host):
        """The command that runs another one on a host."""
        return [self.mrc, "lab", "shell", self.name, host, "--"]

    def place(self):
        """Where rows run. The lab gives every host its configuration."""
        return runner.Place(mrc=self.mrc, work=self.work, address=SERVER_ADDRESS,
                            server=self.shell(SERVER), client=self.shell(CLIENT),
                            env={"MRC_CONFIG": None, "MRC_COMMAND": self.mrc}, patience={},
                            during=self._disturb)

    def _disturb(self, group):
        self._wait_begun(group)
        self._must("fault", self.name, "plane0", "stall", "--for", f"{GONE_S * 1000:.0f}ms")
        time.sleep(BETWEEN_S)
        self._must("reboot", self.name, "plane1.t1-0", "--for", f"{GONE_S * 1000:.0f}ms")
        if any(process.poll() is not None for process in group.started):
            raise runner.Failed("it had ended before the T1 was back: make it longer")

    @staticmethod
    def _wait_begun(group):
        while time.monotonic() < group.deadline:
            running = counters.read_folder(group.folder / "stats")
            sent = (counters.total(running, name) for name in ("tx_data_bytes", "ud_tx_bytes"))
            if sum(sent) >= BEGUN_BYTES:
                return
            if all(process.poll() is not None for process in group.started):
                raise runner.Failed("it ended before it had sent much", "client")
            time.sleep(LOOK_S)
        raise runner.Failed("it did not send", "client")

    def run(self, row):
        """runner.run, and what is asked on top of it."""
        result = runner.run(row, self.place())
        retired, revived = (result.counter.get(name, 0) + result.counter.get(f"ud_{name}", 0)
                            for name in ("evs_retired", "evs_revived"))
        if result.state == runner.OK and not (retired and revived):
            result.state = runner.FAILED
            result.reason = f"{retired} EVs were retired and {revived} revived: want one of each"
        elif result.state == runner.OK:
            evs = f"EVs retired {retired}, revived {revived}"
            result.figure = f"{result.figure}; {evs}" if result.figure else evs
        return result
