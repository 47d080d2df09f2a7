# SPDX-License-Identifier: BSD-2-Clause
"""A soak: the lab, its programs, a fault a second, samples, and what came of it."""
import contextlib
import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import drawn_faults
import programs
import samples

SECONDS_LEAST = 30
TICK_S = 0.1
SAMPLE_S = 5.0
# A fault a second, as long as the machine keeps up: two of four planes must be left.
FAULTS_AT_A_TIME = 2
# A fault that comes while the one before it is still being lifted may be refused.
REFUSED_SHARE = 0.05
MPICH = {"MPIR_CVAR_NOLOCAL": "1", "UCX_RC_VERBS_SEG_SIZE": "8257", "UCX_TLS": "rc_v,ud_v,self",
         "UCX_NET_DEVICES": "mrc0:1"}


class CannotRun(Exception):
    """This machine allows no soak; the text says why."""


@dataclasses.dataclass
class Result:
    """What came of a soak."""

    seed: int
    seconds: float
    interrupted: bool
    load: float
    faults: dict
    figures: dict
    series: list
    judgements: list  # of (good, text)
    problems: list

    @property
    def good(self):
        return all(good for good, _ in self.judgements)

    def as_dict(self):
        return {"seed": self.seed, "seconds": round(self.seconds, 1), "good": self.good,
                "interrupted": self.interrupted, "load": self.load, "faults": self.faults,
                **self.figures, "problems": self.problems,
                "judgements": [{"good": good, "text": text} for good, text in self.judgements],
                "series": [{"of": s.of, "what": s.what, "growth": round(s.growth(), 1),
                            "bound": s.bound(), "samples": len(s.value)} for s in self.series]}


class Lab:
    """The lab of the soak; it goes at the end, whatever happens."""

    def __init__(self, options):
        self.mrc = str(options.mrc)
        self.name = f"soak{os.getpid()}"
        self.work = pathlib.Path(options.work).resolve()
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("MRC_", "UCX_", "MPIR_"))}
        self.env.update({"MRC_REAL_IBVERBS": "off", "MRC_COMMAND": self.mrc})

    def __enter__(self):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        up = self._lab("up", "lab", "--name", self.name)
        if up.returncode:
            raise CannotRun(up.stderr.strip() or "mrc lab up failed")
        self.built = programs.build(self.work)
        return self

    def __exit__(self, *_):
        self._lab("down", self.name)

    def _lab(self, *words):
        return subprocess.run([self.mrc, "lab", *words], capture_output=True, text=True, check=False)

    def shell(self, host):
        return [self.mrc, "lab", "shell", self.name, host, "--"]

    @staticmethod
    def address(host):
        """As MRC_LAB_IPV4 says: 10.POD.T0.HOST, four hosts on a T0."""
        number = int(host.removeprefix("host"))
        return f"10.0.{number // 4}.{number % 4 + 1}"


class Faults:
    """A fault a second; on a machine that is too busy for that, one when another is over."""

    def __init__(self, lab, seed):
        self.lab, self.seed, self.second, self.next_at = lab, seed, 0, 0.0
        self.running, self.done, self.refused = [], {}, []
        self.log = open(lab.work / "faults.log", "w", encoding="utf-8")

    def _start(self):
        name, words = drawn_faults.draw(self.seed, self.second)
        verb = ["reboot", self.lab.name, words[0], *words[2:]] if words[1] == "reboot" else \
            ["fault", self.lab.name, *words]
        self.log.write(f"{self.second} {' '.join(words)}\n")
        self.log.flush()
        self.running.append((name, words, subprocess.Popen(
            [self.lab.mrc, "lab", *verb], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True)))

    def look(self, elapsed):
        for entry in [entry for entry in self.running if entry[2].poll() is not None]:
            name, words, process = entry
            self.running.remove(entry)
            if process.returncode:
                self.refused.append(f"{' '.join(words)}: {process.stderr.read().strip()}")
            else:
                self.done[name] = self.done.get(name, 0) + 1
            process.stderr.close()
        if elapsed >= self.next_at and len(self.running) < FAULTS_AT_A_TIME:
            self._start()
            self.second += 1
            self.next_at = max(self.next_at + 1.0, elapsed + 0.5)

    def finish(self):
        """Those that last are lifted by the commands that made them."""
        end = time.monotonic() + 30
        while self.running and time.monotonic() < end:
            self.look(-1.0)
            time.sleep(TICK_S)
        self.log.close()


class Soak:
    """What runs, second by second."""

    def __init__(self, lab, options):
        self.lab, self.options = lab, options
        self.faults = Faults(lab, options.seed)
        self.samples = samples.Samples()
        self.steady = programs.Verify(lab, "steady", ("host0", "host5"), 20101)
        self.killed = programs.Verify(lab, "killed", ("host2", "host7"), 20102,
                                      random.Random(f"kill {options.seed}"))
        self.again = list(self._again())
        self.all = [self.steady, self.killed, *self.again]
        self.begin = self.end = time.monotonic()
        self.warm_at = None

    def _again(self):
        if shutil.which("ib_write_bw"):
            words = ["ib_write_bw", "-F", "-d", "mrc0", "-p", "20103", "-D", "8", "-s", "65536"]
            yield programs.Again(self.lab, "ib_write_bw", ("host6", "host1"),
                                 [words, [*words, self.lab.address("host6")]], port=20103)
        if (self.lab.built / "collectives").exists():
            words = ["mpirun.mpich", "-np", "2", str(programs.COMPAT / "lab_rank"),
                     str(self.lab.built / "collectives"), "1048576"]
            yield programs.Again(self.lab, "mpich", ("host0",), [words], env=MPICH,
                                 good=rb"[1-9]\d* results verified, 0 elements wrong")

    def elapsed(self):
        return time.monotonic() - self.begin

    def _sample(self):
        at = self.elapsed()
        for process in self.steady.pair:
            self.samples.look_at(process.name, process.pid, at)
        heap = self.steady.heap()
        if heap is not None:
            self.samples.add("steady-client", "heap", at, float(heap))
        if self.warm_at is None and self.steady.count()[2] >= samples.WARM_LIVES:
            self.warm_at = at
        self.samples.add("the lab", "shm files", at, float(samples.files_of_statistics()))
        self.samples.add("the lab", "namespaces", at, float(samples.namespaces()))
        self.samples.add("this program", "fds", at, float(len(os.listdir("/proc/self/fd"))))

    def _tell(self):
        verified, wrong, lives = self.steady.count()
        last = self.samples.last
        print(f"{chr(13) if sys.stderr.isatty() else ''}{self.elapsed():5.0f} s  faults {self.faults.second}  "
              f"verified {(verified + self.steady.bytes + self.killed.bytes) / 1e9:.2f} GB, "
              f"{wrong + self.steady.wrong + self.killed.wrong} wrong  lives {lives}  "
              f"kills {self.killed.kills}  {' '.join(f'{a.name} {a.runs}' for a in self.again)}  "
              f"rss {last('steady-client', 'rss') / 1024:.1f} MiB  "
              f"fds {last('steady-client', 'fds'):.0f}  shm {last('the lab', 'shm files'):.0f}  "
              f"problems {sum(len(p.problems) for p in self.all)}   ",
              end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    def run(self):
        """Runs until the time is over; True: it was interrupted."""
        next_sample = 0.0
        self.begin = time.monotonic()
        try:
            while self.elapsed() < self.options.seconds:
                self.faults.look(self.elapsed())
                for program in self.all:
                    program.look()
                if self.elapsed() >= next_sample:
                    self._sample()
                    self._tell()
                    next_sample = self.elapsed() + SAMPLE_S
                time.sleep(TICK_S)
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
        self.end = time.monotonic()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("\nending the programs", file=sys.stderr)
        self.faults.finish()
        for program in self.all:
            program.finish()
        return interrupted

    def judge(self):
        """What must hold, as (good, text)."""
        wrong = self.steady.wrong + self.killed.wrong
        verified = self.steady.bytes + self.killed.bytes
        problems = [problem for program in self.all for problem in program.problems]
        faults, refused = sum(self.faults.done.values()), len(self.faults.refused)
        yield wrong == 0 and verified > 0, f"{verified} bytes verified, {wrong} wrong"
        yield not problems, f"{len(problems)} programs that ended as they should not"
        yield refused <= REFUSED_SHARE * (faults + refused), \
            f"{faults} faults, {refused} refused by the lab"
        yield self.steady.starts == 1, f"the steady pair was started {self.steady.starts} times"
        if self.options.seconds >= 60:
            yield self.killed.kills > 0, f"{self.killed.kills} processes killed"
        self.samples.warm_from(self.options.seconds if self.warm_at is None else self.warm_at)
        for series in self.samples.series.values():
            yield series.is_flat(), series.text()

    def result(self, interrupted):
        problems = [problem for program in self.all for problem in program.problems]
        figures = {"verified_bytes": self.steady.bytes + self.killed.bytes,
                   "wrong_bytes": self.steady.wrong + self.killed.wrong,
                   "lives": self.steady.lives + self.killed.lives, "kills": self.killed.kills,
                   "runs": {program.name: program.runs for program in self.again},
                   "refused": self.faults.refused}
        return Result(self.options.seed, self.end - self.begin, interrupted,
                      round(os.getloadavg()[1], 1), dict(sorted(self.faults.done.items())), figures,
                      list(self.samples.series.values()), list(self.judge()), problems)


@contextlib.contextmanager
def _nothing_left(lab):
    """Ends what a program of the lab may have left, whatever happens."""
    try:
        yield
    finally:
        subprocess.run([lab.mrc, "lab", "down", lab.name], capture_output=True, check=False)


def run(options):
    """Runs a soak and returns its Result; CannotRun where there is no lab."""
    if not pathlib.Path(options.mrc).exists():
        raise CannotRun(f"{options.mrc} is not there: make")
    print(f"seed {options.seed}; logs in {options.work}", file=sys.stderr)
    with Lab(options) as lab, _nothing_left(lab):
        soak = Soak(lab, options)
        result = soak.result(soak.run())
    processes, namespaces = samples.processes(options.mark), samples.namespaces()
    result.judgements.append((processes == 0 and namespaces == 0,
                              f"{processes} processes and {namespaces} namespaces left"))
    return result
