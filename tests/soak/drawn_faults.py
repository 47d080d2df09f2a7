# SPDX-License-Identifier: BSD-2-Clause
"""What fails in each second of a soak: drawn from the seed and the number of the second alone, so
that a run is the same again with its seed. The lab is the preset `lab`.

No T0 reboots: a lab's hosts lose the interfaces of its cables then, not their carriers alone, and a
program that begins in that moment is told that MRC_PORTS names what is not there."""
import random

HOSTS, PLANES, T0S, T1S = 8, 4, 2, 2
# Of 4 planes no more than two are ever bad at a time: a fault ends before the next but one begins.
LEAST_MS, MOST_MS = 200, 900


def _host(rng):
    return f"host{rng.randrange(HOSTS)}"


def _plane(rng):
    return f"plane{rng.randrange(PLANES)}"


def _t0(rng):
    return f"{_plane(rng)}.t0-{rng.randrange(T0S)}"


def _t1(rng):
    return f"{_plane(rng)}.t1-{rng.randrange(T1S)}"


def _nic_port(rng):
    return f"{_host(rng)}.{_plane(rng)}"


def _cable(rng):
    return f"{_t0(rng)}.t1-{rng.randrange(T1S)}"


def _percent(rng, least, most):
    return f"{rng.uniform(least, most):.2f}%"


# (weight, name in the summary, words of `mrc lab fault LAB`)
KINDS = (
    (3, "NIC port down", lambda r: [_nic_port(r), "down"]),
    (2, "NIC port one way", lambda r: [_nic_port(r), "blackhole", r.choice(("in", "out"))]),
    (3, "cable down", lambda r: [_cable(r), "down"]),
    (2, "cable silent", lambda r: [_cable(r), "blackhole"]),
    (2, "cables swapped", lambda r: _swap(r)),
    (3, "T1 stalls", lambda r: [_t1(r), "stall"]),
    (2, "T1 reboots", lambda r: [_t1(r), "reboot"]),
    (2, "T0 stalls", lambda r: [_t0(r), "stall"]),
    (2, "T0 down", lambda r: [_t0(r), "down"]),
    (2, "plane stalls", lambda r: [_plane(r), "stall"]),
    (2, "loss", lambda r: [_plane(r), "loss", _percent(r, 0.1, 5)]),
    (2, "corruption", lambda r: [_plane(r), "corrupt", _percent(r, 0.1, 2)]),
    (2, "duplicates", lambda r: [_plane(r), "duplicate", _percent(r, 0.5, 5)]),
    (2, "reordering", lambda r: [_plane(r), "reorder", _percent(r, 0.5, 10)]),
    (2, "slow NIC port", lambda r: [_nic_port(r), "slow", f"{r.randrange(5, 30)}M"]),
    (3, "trims: slow host", lambda r: [_host(r), "slow", f"{r.randrange(10, 40)}M", "in"]),
)


def _swap(rng):
    plane, t0 = _plane(rng), rng.randrange(T0S)
    return [f"{plane}.t0-{t0}.t1-0", "swap", f"{plane}.t0-{t0}.t1-1"]


def draw(seed, second):
    """Returns (name, words) of the fault that begins in a second of the run."""
    rng = random.Random(f"fault {seed} {second}")
    _, name, words = rng.choices(KINDS, [weight for weight, _, _ in KINDS])[0]
    return name, [*words(rng), "--for", f"{rng.randrange(LEAST_MS, MOST_MS)}ms"]
