#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_prober.py: writes the seed corpus of fuzz_prober, tests/fuzz/corpus/prober.

A seed is a byte that says how the prober is set up, and then steps: how many things happen, and
those, as fuzz_prober.c reads them.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "prober"

LOSE, DAMAGE, DOUBLE, MADE_UP, QUESTION, STRAY, RAW, WRONG_PORT, REPEAT, FULL, SILENCE = (bytes([n]) for n in range(11))
LAB, WHO_LIVES, TINY, FAST, LONG = 0, 1, 2, 4, 8


def steps(how, *all_steps):
    return bytes([how]) + b"".join(bytes([len(events)]) + b"".join(events) for events in all_steps)


QUIET = ()
SEEDS = {
    "quiet": steps(FAST, *[QUIET] * 30),
    "neighbours": steps(FAST | WHO_LIVES, *[QUIET] * 30),
    "neighbours_long": steps(WHO_LIVES | LONG, QUIET),
    "neighbour_gone": steps(WHO_LIVES | LONG, QUIET, (SILENCE + b"\0\1",)),
    "neighbours_gone": steps(WHO_LIVES | LONG, QUIET, (SILENCE + b"\0\xff",)),
    "lost": steps(LAB, QUIET, *[(LOSE + bytes([n]),) for n in range(20)]),
    "damaged": steps(FAST, QUIET, *[(DAMAGE + bytes([n]), DOUBLE + bytes([n + 1])) for n in range(20)]),
    "tiny": steps(TINY | FAST, QUIET, *[(LOSE + b"\1", DAMAGE + b"\2", DOUBLE + b"\3")] * 20),
    "forged": steps(FAST, QUIET, *[(MADE_UP + bytes([0, n, n]), MADE_UP + bytes([0, n, 0x40, 3])) for n in range(20)]),
    "forged_flood": steps(FAST, QUIET, *[(MADE_UP + b"\0\1\2", REPEAT + b"\0\xff") for n in range(10)]),
    "questions": steps(LAB, QUIET, *[(QUESTION + bytes([0, n, 0, 0]), QUESTION + bytes([0, n, 0, 1, n])) for n in range(20)]),
    "questions_long": steps(LAB, QUIET, *[(QUESTION + bytes([0, 0, 0, 16, 255, 255]), REPEAT + b"\0\xff") for n in range(10)]),
    "questions_plain": steps(LAB, QUIET, *[(QUESTION + bytes([0, n, 0, 12, n]), QUESTION + bytes([0, 0, 0, 2, 0, 0, 0, n])) for n in range(20)]),
    "strays": steps(FAST, QUIET, *[(STRAY + bytes([0, n]) + b"\1\2\3\4",) for n in range(16)]),
    "bytes": steps(FAST, QUIET, (RAW + b"\0\x7c" + b"\0" * 124,), (RAW + b"\0\x0a" + b"\1" * 10,), (RAW + b"\0\x90" + b"\xff" * 144,)),
    "wrong_port": steps(FAST, QUIET, *[(WRONG_PORT + bytes([n]),) for n in range(20)]),
    "no_room": steps(FAST, QUIET, *[(FULL + bytes([0, 5 * n]),) for n in range(20)]),
}

if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, seed in SEEDS.items():
        (CORPUS / name).write_bytes(seed)
