# SPDX-License-Identifier: BSD-2-Clause
"""The summary of a soak: lines for the terminal, and docs/soak.md."""
import datetime
import os
import platform

INTRODUCTION = """\
# Soak

`make soak` runs programs for half an hour on a lab that breaks once a second, and says whether a byte was wrong or anything grew.
`make soak T=60` takes a minute; `tools/soak --help` has the rest. A run is drawn from its seed: `tools/soak --seed N` breaks the same things in the same order and kills
after the same times.

What runs, all at once, on the lab of 8 hosts and 4 planes ([lab](lab.md)):

- **steady**: `tests/soak/soak_verify.c` over the drop-in `libibverbs.so.1`, two processes that live as long as the run. They send, write, read and add, in both directions,
  and compare every byte and those behind it. Every 20 rounds they close everything and open it again.
- **killed**: the same once more, of which one side or the other is killed every few seconds; its peer must say so, and both start again.
- `ib_write_bw` for 8 seconds, again and again; and MPICH's collectives, all-reduce among them, each result compared.

Each second a fault begins, two at a time at most: a cable, a NIC port, a T0, a T1 or a plane is gone for up to 0.9 s, or loses, damages, repeats, overtakes, slows and trims.
Every 5 seconds memory (RSS, PSS, and the heap between two lives, when nothing is open), descriptors, threads, files in `/dev/shm` and namespaces are looked at. A line is laid through
the samples from a quarter of the run on; what it rises by is what is judged. With 30 samples or fewer, as in a run of a minute, a last third that has one as low as any before counts as flat as well.

The last run:
"""


def lines(result):
    """The summary."""
    runs = ", ".join(f"{name} {n}" for name, n in result.figures["runs"].items())
    head = [f"{'good' if result.good else 'NOT GOOD'}: seed {result.seed}, "
            f"{result.seconds:.0f} s{' (interrupted)' if result.interrupted else ''}, "
            f"load {result.load} on {os.cpu_count()} cores",
            f"{result.figures['verified_bytes'] / 1e9:.2f} GB verified, "
            f"{result.figures['wrong_bytes']} bytes wrong; {result.figures['lives']} lives of devices, "
            f"{result.figures['kills']} processes killed; runs: {runs}",
            "faults: " + ", ".join(f"{name} {n}" for name, n in result.faults.items())]
    judged = [f"{'ok    ' if good else 'NOT OK'} {text}" for good, text in result.judgements]
    return head + judged + [f"problem: {text}" for text in result.problems] + \
        [f"refused: {text}" for text in result.figures["refused"][:5]]


def write(path, result):
    """Writes the page."""
    words = ("<!-- run by: tools/check tests/soak -->\n\n"
             f"    $ tools/soak --seconds {result.seconds:.0f} --seed {result.seed}\n"
             f"    {datetime.date.today()}, Linux {platform.release()}, {platform.machine()}\n\n")
    path.write_text(INTRODUCTION + "\n" + words +
                    "\n".join(f"    {line}" for line in lines(result)) + "\n", encoding="utf-8")
