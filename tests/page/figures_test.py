# SPDX-License-Identifier: BSD-2-Clause
"""figures_test.py MRC: the figures of the paper: what is claimed of them holds.

The quick ones at the scale of tests; with MRC_ROUNDS above 1 (make check-full) all of them in full.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tidy"))
import tap  # noqa: E402

MRC = sys.argv[1]
QUICK = ["9b", "12", "13", "14", "16", "17", "18", "19", "20", "21"]


def figures():
    done = subprocess.run([MRC, "sim", "figure"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()]


def one(name, full):
    def case():
        words = [MRC, "sim", "figure", name, "--quiet"] + ([] if full else ["--quick"])
        done = subprocess.run(words, capture_output=True, text=True, timeout=3000)
        said = done.stdout.splitlines() + done.stderr.splitlines()
        return [] if done.returncode == 0 and len(said) > 2 else [f"exit status {done.returncode}", *said]
    return case


FULL = int(os.environ.get("MRC_ROUNDS", "1")) > 1
THERE = figures()
assert set(QUICK) <= set(THERE), f"no figure {set(QUICK) - set(THERE)}"
tap.main([(f"figure__{name}", one(name, FULL)) for name in (THERE if FULL else QUICK)])
