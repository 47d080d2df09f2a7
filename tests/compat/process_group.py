# SPDX-License-Identifier: BSD-2-Clause
"""The processes of one row: started with a log each, waited for, and none left behind.

All that a row starts, and all that these start, carry MRC_STATS_DIR with a folder of the row's own
in their environment: by this they are found again, whoever their parent is by then.
"""
import os
import pathlib
import signal
import subprocess
import time

TICK_S = 0.02
GRACE_S = 20
LISTENING = "0A"


class Group:
    """The processes of one row, with one deadline for all."""

    def __init__(self, folder, env, limit_s):
        self.folder = pathlib.Path(folder)
        self.mark = f"MRC_STATS_DIR={env['MRC_STATS_DIR']}".encode()
        self.env = env
        self.deadline = time.monotonic() + limit_s
        self.started = []

    def start(self, name, argv):
        """Starts a process that writes into NAME.log."""
        with open(self.log(name), "wb") as log:
            log.write(("$ " + " ".join(argv) + "\n").encode())
            log.flush()
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, env=self.env, cwd=self.folder,
                                       start_new_session=True)
        self.started.append(process)
        return process

    def log(self, name):
        return self.folder / f"{name}.log"

    def text(self, name):
        """What a process has written."""
        return self._parts(name)[2]

    def command(self, name):
        """The line with the command of a process."""
        return "".join(self._parts(name)[:2])

    def _parts(self, name):
        return self.log(name).read_text(errors="replace").partition("\n")

    def wait(self, process):
        """Returns the exit status, or None at the deadline."""
        try:
            return process.wait(max(0.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None

    def wait_listening(self, port, process):
        """Waits until some process of the row listens on a TCP port. False: it ended, or too late."""
        while time.monotonic() < self.deadline and process.poll() is None:
            if any(_listens(pid, port) for pid in self.members()):
                return True
            time.sleep(TICK_S)
        return False

    def members(self):
        """The living processes of the row, whoever started them."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = pathlib.Path("/proc", entry, "environ").read_bytes()
            except OSError:  # gone, or somebody else's
                continue
            if self.mark in environment.split(b"\0"):
                found.append(int(entry))
        return found

    def kill(self):
        """Ends what is left, and returns how many that were. What ends with the program, as what refreshes the
        counters of `mrc run`, has a moment for it."""
        killed, until = 0, time.monotonic() + GRACE_S
        while self.members() and time.monotonic() < until:
            for process in self.started:
                process.poll()
            time.sleep(TICK_S)
        while left := self.members():
            killed += len(left)
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for process in self.started:
                process.poll()
            time.sleep(TICK_S)
        for process in self.started:
            process.wait()
        return killed


def _listens(pid, port):
    """Whether anybody in the network namespace of a process listens on a port."""
    for table in ("tcp", "tcp6"):
        try:
            lines = pathlib.Path("/proc", str(pid), "net", table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state = line.split()[:4]
            if state == LISTENING and int(local.rpartition(":")[2], 16) == port:
                return True
    return False
