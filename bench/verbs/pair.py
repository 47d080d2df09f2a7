# SPDX-License-Identifier: BSD-2-Clause
"""Two places for programs: network namespaces joined by a veth pair, as root; else the loopback."""
import os
import pathlib
import shlex
import subprocess
import time

MTU = 9000
ADDRESS = ("10.78.0.1", "10.78.0.2")
TICK_S = 0.02
LISTENING = "0A"


class PairError(Exception):
    """Something could not be made or did not run; the text says what."""


def say(command):
    """Runs a command that has to work."""
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    if done.returncode:
        raise PairError(f"{command}: {done.stderr.strip()}")
    return done.stdout


class Pair:
    """The two places, 0 the server's and 1 the client's; a context manager."""

    def __init__(self):
        self.spaces = [f"mrcbv{os.getpid()}-{side}" for side in (0, 1)] if os.geteuid() == 0 else []
        self.control = "?"

    def __enter__(self):
        try:
            if self.spaces:
                self._make()
            self.control = self._set_control()
        except PairError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def _make(self):
        for space in self.spaces:
            say(f"ip netns add {space}")
            say(f"ip -n {space} link set lo up")
        say(f"ip link add bv0 netns {self.spaces[0]} mtu {MTU} type veth "
            f"peer name bv1 netns {self.spaces[1]} mtu {MTU}")
        for side, space in enumerate(self.spaces):
            say(f"ip -n {space} address add {ADDRESS[side]}/24 dev bv{side}")
            say(f"ip -n {space} link set bv{side} up")

    def _set_control(self):
        """Reno is allowed everywhere and is not paced, as some defaults are."""
        name = "net.ipv4.tcp_congestion_control"
        for side in range(len(self.spaces)):
            say(" ".join(self.enter(side) + ["sysctl", "-qw", f"{name}=reno"]))
        return say(" ".join(self.enter(0) + ["sysctl", "-n", name])).strip()

    def words(self):
        """What stands between the two."""
        return f"two namespaces, veth, MTU {MTU}" if self.spaces else "loopback"

    def enter(self, side):
        """The command that runs another one there."""
        return ["ip", "netns", "exec", self.spaces[side]] if self.spaces else []

    def address(self, side):
        return ADDRESS[side] if self.spaces else "127.0.0.1"

    def start(self, side, argv, env):
        """Starts a program there; its output is kept."""
        return subprocess.Popen(self.enter(side) + argv, env={**os.environ, **env}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def wait_listening(self, process, port, limit_s):
        """Waits until somebody there listens on a TCP port."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end and process.poll() is None:
            if _listens(process.pid, port):
                return
            time.sleep(TICK_S)
        raise PairError(f"{' '.join(process.args)}: does not listen on port {port}")


def _listens(pid, port):
    """In the namespace of a process, whose first program has entered it already or soon will."""
    for table in ("tcp", "tcp6"):
        try:
            lines = pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state = line.split()[:4]
            if state == LISTENING and int(local.rpartition(":")[2], 16) == port:
                return True
    return False
