# SPDX-License-Identifier: BSD-2-Clause
"""What is looked at while a soak runs, and whether it grew.

A line is laid through the samples of each quantity (least squares) from a quarter of the run on, or
later, from when the steady programs have opened and closed their devices a few times: before, caches
and pools fill. What the line rises by over that time must stay below a bound. A line through few samples
may well rise through what jumps up and down: it counts as flat where their last third has one as low as any
before. With more samples that would hide a leak, since one of a moment when a device is closed is low anyway.
"""
import dataclasses
import os
import pathlib
import re

WARM = 0.25
# glibc keeps up to seven freed blocks of each size.
WARM_LIVES = 10
SAMPLES_LEAST = 3
SAMPLES_FEW = 30
# How far a quantity may seem to grow: what allocators and the moment of a sample make of it.
BOUNDS = {
    "rss": 2048.0,  # KiB, of which a device that is open takes some thousand
    "pss": 2048.0,  # KiB
    "heap": 4096.0,  # bytes in use between two lives: nothing is open then
    "fds": 1.0,
    "threads": 1.0,
    "shm files": 2.0,
    "namespaces": 0.5,
}


@dataclasses.dataclass
class Series:
    """The samples of one quantity of one thing."""

    of: str
    what: str
    at: list = dataclasses.field(default_factory=list)
    value: list = dataclasses.field(default_factory=list)
    warm_at: float = 0.0

    def add(self, at, value):
        self.at.append(at)
        self.value.append(value)

    def warm(self):
        """The samples that count."""
        begin = max(self.warm_at, self.at[0] + WARM * (self.at[-1] - self.at[0])) if self.at else 0
        return [(at, value) for at, value in zip(self.at, self.value) if at >= begin]

    def growth(self):
        """What the line through the samples rises by."""
        samples = self.warm()
        if len(samples) < SAMPLES_LEAST:
            return 0.0
        mean_at = sum(at for at, _ in samples) / len(samples)
        mean = sum(value for _, value in samples) / len(samples)
        spread = sum((at - mean_at) ** 2 for at, _ in samples)
        slope = sum((at - mean_at) * (value - mean) for at, value in samples) / spread if spread else 0.0
        return slope * (samples[-1][0] - samples[0][0])

    def bound(self):
        return BOUNDS[self.what]

    def returns(self):
        """Whether these are few samples, and their last third has one as low as any before."""
        values = [value for _, value in self.warm()]
        last = len(values) - len(values) // 3
        return SAMPLES_LEAST <= len(values) <= SAMPLES_FEW and min(values[last:]) <= min(values[:last])

    def is_flat(self):
        return self.growth() <= self.bound() or self.returns()

    def text(self):
        if len(self.warm()) < SAMPLES_LEAST:
            return f"{self.of}: {self.what}: too short a run to judge it"
        values = [value for _, value in self.warm()]
        return (f"{self.of}: {self.what} {min(values):g} to {max(values):g}, "
                f"rises by {self.growth():.1f} (at most {self.bound():g})")


class Samples:
    """All series, by what they are of."""

    def __init__(self):
        self.series = {}

    def add(self, of, what, at, value):
        self.series.setdefault((of, what), Series(of, what)).add(at, value)

    def look_at(self, of, pid, at):
        """Samples a process; it may be gone."""
        proc = pathlib.Path("/proc", str(pid))
        try:
            memory = dict(re.findall(r"^(Rss|Pss): +(\d+) kB$",
                                     (proc / "smaps_rollup").read_text(), re.M))
            fds, threads = len(os.listdir(proc / "fd")), len(os.listdir(proc / "task"))
        except OSError:
            return
        for what, value in (("rss", memory.get("Rss")), ("pss", memory.get("Pss")),
                            ("fds", fds), ("threads", threads)):
            if value is not None:
                self.add(of, what, at, float(value))

    def warm_from(self, at):
        """Samples before are of caches and pools that fill."""
        for series in self.series.values():
            series.warm_at = at

    def last(self, of, what):
        series = self.series.get((of, what))
        return series.value[-1] if series and series.value else 0.0


def files_of_statistics():
    """How many there are in /dev/shm, which is the soak's own."""
    return sum(1 for path in pathlib.Path("/dev/shm").rglob("*") if path.is_file())


def namespaces():
    """How many network namespaces have names."""
    folder = pathlib.Path("/run/netns")
    return len(os.listdir(folder)) if folder.is_dir() else 0


def processes(mark):
    """How many others run that have a variable in their environment."""
    found = 0
    for entry in os.listdir("/proc"):
        try:
            found += entry.isdigit() and int(entry) != os.getpid() and \
                mark.encode() in pathlib.Path("/proc", entry, "environ").read_bytes()
        except OSError:  # gone, or somebody else's
            continue
    return found
