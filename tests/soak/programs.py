# SPDX-License-Identifier: BSD-2-Clause
"""The programs of a soak: each is started on hosts of the lab, looked after, and started again."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COMPAT = HERE.parent / "compat"
PEER_LOST = 3  # soak_verify's status when the other side was killed
# Long enough for a machine that is busy: what takes longer hangs.
LIMIT_S, LOST_S = 600.0, 120.0
LISTENING = "0A"  # as /proc/net/tcp says it
VERIFIED = re.compile(rb"^bytes (\d+) wrong (\d+) rounds (\d+) lives (\d+)$", re.M)
CLOSED = re.compile(rb"^closed lives (\d+) heap (\d+) fds (\d+) threads (\d+)$", re.M)


def build(work):
    """Compiles soak_verify, and MPICH's program where there is a compiler for it."""
    built = pathlib.Path(work) / "built"
    built.mkdir(parents=True, exist_ok=True)
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra"]
    subprocess.run(["cc", *flags, "-I", HERE.parent, "-o", built / "soak_verify",
                    HERE / "soak_verify.c", "-libverbs"],
                   check=True)
    if shutil.which("mpicc.mpich"):
        subprocess.run(["mpicc.mpich", *flags, "-o", built / "collectives",
                        COMPAT / "mpi_collectives.c"], check=True)
    return built


class Problems(list):
    """What went wrong, each with the logs of then in a folder of its own."""

    def __init__(self, lab):
        super().__init__()
        self.lab = lab

    def append(self, text):
        super().append(text)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="problem-", dir=self.lab.work))
        for log in self.lab.work.glob("*.log"):
            shutil.copy(log, folder)
        (folder / "problem").write_text(text + "\n")


class Process:
    """One process on a host, and what it has written."""

    def __init__(self, lab, host, name, words, env=None):
        self.name, self.began = name, time.monotonic()
        self.path = lab.work / f"{name}.log"
        with open(self.path, "wb") as log:
            self.popen = subprocess.Popen(
                [*lab.shell(host), lab.mrc, "run", "--", *words], stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                env={**lab.env, **(env or {})})

    @property
    def pid(self):
        return self.popen.pid

    def poll(self):
        return self.popen.poll()

    def age(self):
        return time.monotonic() - self.began

    def text(self):
        return self.path.read_bytes()

    def tail(self):
        return self.text().decode(errors="replace").splitlines()[-3:]

    def send(self, number):
        """A signal to the process and, as mrc run and mpirun have children, to all of its session."""
        try:
            os.killpg(self.popen.pid, number)
        except ProcessLookupError:
            pass


class Verify:
    """A pair of soak_verify; with `kills` one of both is killed every few seconds."""

    def __init__(self, lab, name, hosts, port, rng=None):
        self.lab, self.name, self.hosts, self.port, self.rng = lab, name, hosts, port, rng
        self.bytes = self.wrong = self.lives = self.kills = self.starts = 0
        self.pair, self.killed, self.kill_at = [], None, None
        self.problems = Problems(lab)

    def start(self):
        client, server = self.hosts
        words = [str(self.lab.built / "soak_verify"), str(self.port), str(self.starts)]
        self.pair = [Process(self.lab, server, f"{self.name}-server", words),
                     Process(self.lab, client, f"{self.name}-client",
                             [*words, self.lab.address(server)])]
        self.starts += 1
        self.killed = self.kill_at = None

    def _numbers(self, process):
        found = VERIFIED.findall(process.text())
        return [int(number) for number in found[-1]] if found else [0, 0, 0, 0]

    def count(self):
        """What the pair that runs has verified so far: bytes, wrong bytes, lives."""
        numbers = [self._numbers(process) for process in self.pair]
        return sum(n[0] for n in numbers), sum(n[1] for n in numbers), max(
            (n[3] for n in numbers), default=0)

    def _book(self):
        verified, wrong, lives = self.count()
        self.bytes += verified
        self.wrong += wrong
        self.lives += lives

    def _kill_sometimes(self):
        if all(VERIFIED.search(process.text()) for process in self.pair) and not self.killed:
            self.kill_at = self.kill_at or time.monotonic() + self.rng.uniform(2, 12)
            if time.monotonic() >= self.kill_at:
                self.killed = self.rng.choice(self.pair)
                self.killed.send(signal.SIGKILL)
                self.killed.began = time.monotonic()
                self.kills += 1

    def _judge_end(self):
        for process in self.pair:
            status = process.poll()
            if status not in ((-signal.SIGKILL,) if process is self.killed else (PEER_LOST,)):
                self.problems.append(f"{process.name} ended with {status}: {process.tail()}")

    def look(self):
        """Starts again what ended, notes what is wrong."""
        if not self.pair:
            self.start()
            return
        ended = [process.poll() is not None for process in self.pair]
        if self.rng and not any(ended):
            self._kill_sometimes()
        if self.killed and not all(ended) and self.killed.age() > LOST_S:
            self.problems.append(f"{self.name}: the peer of a killed one still ran after {LOST_S} s")
            self.stop(signal.SIGKILL)
        elif any(ended) and not self.killed:
            for process in self.pair:
                if process.poll() is not None:
                    self.problems.append(f"{process.name} ended by itself with {process.poll()}: "
                                         f"{process.tail()}")
            self.stop(signal.SIGKILL)
        elif all(ended):
            self._judge_end()
        else:
            return
        for process in self.pair:
            process.popen.wait()
        self._book()
        self.start()

    def heap(self):
        """What the long-lived client had in use when it last had everything closed."""
        found = CLOSED.findall(self.pair[1].text()) if self.pair else []
        return int(found[-1][1]) if found else None

    def stop(self, number):
        for process in self.pair:
            process.send(number)

    def finish(self):
        """Ends the pair in order: the client after a round, and the server with it."""
        if not self.pair:
            return
        if self.killed:  # nobody is left to end in order
            self.stop(signal.SIGKILL)
        self.pair[1].send(signal.SIGTERM)
        for process in self.pair:
            try:
                status = process.popen.wait(LOST_S)
            except subprocess.TimeoutExpired:
                self.problems.append(f"{process.name} did not end within {LOST_S} s")
                process.send(signal.SIGKILL)
                process.popen.wait()
                continue
            if status and not self.killed:
                self.problems.append(f"{process.name} ended with {status}: {process.tail()}")
        self._book()
        self.pair = []


def listens(pid, port):
    """Whether anybody in the network namespace of a process listens on a TCP port."""
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


class Again:
    """A program that ends by itself, again and again; with a server on a port if it has one."""

    def __init__(self, lab, name, hosts, commands, port=0, env=None, good=None):
        self.lab, self.name, self.hosts, self.commands = lab, name, hosts, commands
        self.port, self.env, self.good = port, env, good
        self.running, self.runs, self.problems = [], 0, Problems(lab)
        self.start_at = 0.0

    def _start(self):
        if not self.running:
            self.running = [Process(self.lab, self.hosts[0], f"{self.name}-0", self.commands[0],
                                    self.env)]
        if len(self.running) < len(self.commands) and listens(self.running[0].pid, self.port):
            self.running.append(Process(self.lab, self.hosts[1], f"{self.name}-1",
                                        self.commands[1], self.env))

    def look(self):
        server_ended = self.running and self.running[0].poll() is not None
        if len(self.running) < len(self.commands) and not server_ended:
            self._start()
            return
        ended = [process.poll() for process in self.running]
        late = max(process.age() for process in self.running) > LIMIT_S
        if None in ended and not any(ended) and not late:
            return
        if late:
            self.problems.append(f"{self.name} still ran after {LIMIT_S} s: {self.running[-1].tail()}")
        elif any(ended):
            self.problems.append(f"{self.name} ended with {ended}: {self.running[-1].tail()}")
        elif self.good and not re.search(self.good, self.running[-1].text(), re.M):
            self.problems.append(f"{self.name} did not say {self.good!r}: {self.running[-1].tail()}")
        else:
            self.runs += 1
        self.finish()

    def finish(self):
        """Ends it wherever it is."""
        for process in self.running:
            process.send(signal.SIGKILL)
            process.popen.wait()
        self.running = []
