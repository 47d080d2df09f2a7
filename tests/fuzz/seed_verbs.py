#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_verbs.py: writes the seed corpus of fuzz_verbs, tests/fuzz/corpus/verbs.

A seed is a program on verbs as fuzz_verbs.c reads it: an operation in the low three bits, the side
in bit 7, the pair of QPs in bit 6, and its operands.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "verbs"

SIDE1, PAIR1 = 0x80, 0x40
SEND, WRITE, WRITE_IMM, READ, ADD = range(5)
UNSIGNALED, FENCE, INLINE, WINDOW = 8, 16, 32, 128
RESET, ERR, SQD, RTS = range(4)
QP, TARGET, RECEIVED, BUSY, RESIZE = 0, 3, 2, 4, 6


def post(what, end=0, at=3, length=100):
    return bytes([end, what, at, length])


def recv(n=1, end=SIDE1):
    return bytes([2 | end]) * n


def run(log2=20, rounds=8):
    return bytes([3 | (rounds - 1) << 3, log2])


def poll(end=0):
    return bytes([4 | 7 << 3 | end, 4 | 7 << 3 | (end ^ SIDE1)])


def state(s, end=0):
    return bytes([5 | s << 4 | end])


def connect(end=0):
    return bytes([13 | end])


def object_(which, end=0):
    return bytes([6 | which << 3 | end])


def loss(bits):
    return bytes([7, bits])


BIND = bytes([15])
GO = run() + poll()


def seeds():
    every = recv(3) + post(SEND) + post(WRITE) + post(WRITE_IMM) + post(READ) + post(ADD)
    yield "every_operation", every + GO * 3
    yield "both_ways", every + recv(2, 0) + post(SEND, SIDE1) + post(WRITE_IMM, SIDE1) + GO * 3
    yield "both_pairs", every + recv(2, SIDE1 | PAIR1) + post(SEND, PAIR1) + post(READ, PAIR1) + GO + \
        poll(PAIR1) + run() + poll(PAIR1)
    yield "lost", loss(0x55) + every + run(25, 8) * 4 + poll()
    yield "doubled", loss(0xAA) + every + run(22, 8) * 2 + poll()
    yield "lost_and_doubled", loss(0x99) + every + loss(0x66) + run(25) * 4 + poll()
    yield "no_receive", post(SEND) + post(WRITE_IMM) + run(22) + recv(2) + run(25) + poll()
    yield "unsignaled", recv(4) + post(SEND | UNSIGNALED) * 3 + post(SEND) + GO * 2
    yield "fence", post(READ) + post(WRITE | FENCE) + post(ADD | FENCE) + GO * 3
    yield "inline", post(WRITE | INLINE, 0, 3, 16) * 3 + GO
    yield "long", recv(2) + post(SEND, 0, 0, 255) + post(WRITE, 0, 0, 255) + GO * 2
    yield "empty", recv(2) + post(SEND, 0, 0, 0) + post(WRITE_IMM, 0, 0, 0) + GO
    yield "too_many", post(WRITE) * 10 + recv(10) + post(SEND) * 10 + GO * 3
    yield "reset", every + state(RESET) + post(WRITE) + connect() + every + GO * 2
    yield "reset_under_way", every + run(10, 1) + connect() + every + run(24) + poll()
    yield "to_err", every + run(10, 1) + state(ERR) + poll() + connect() + every + GO
    yield "peer_to_err", state(ERR, SIDE1) + every + run(27) * 4 + poll()
    yield "drained", every + state(SQD) + run() + poll() + state(RTS) + post(WRITE) + GO
    yield "destroyed", every + object_(QP) + run() + connect() + every + GO
    yield "peer_destroyed", every + object_(QP, SIDE1) + run(27) * 4 + poll() + connect() + GO
    yield "target_gone", object_(TARGET, SIDE1) + post(WRITE) + GO + object_(TARGET, SIDE1) + connect() + \
        post(WRITE) + GO
    yield "target_gone_under_way", every + run(5, 1) + object_(TARGET, SIDE1) + run(26) + poll()
    yield "own_target_gone", post(READ) + object_(TARGET) + GO * 2
    yield "receives_gone", recv(2) + object_(RECEIVED, SIDE1) + post(SEND) + GO * 2
    yield "busy", object_(BUSY) + object_(BUSY, PAIR1)
    yield "resized", every + run() + object_(RESIZE, SIDE1) + object_(RESIZE) + poll() + GO
    yield "window", bytes([15 | SIDE1]) + run() + post(WRITE | WINDOW) + GO + object_(TARGET, SIDE1)
    yield "window_not_bound", post(WRITE | WINDOW) + run(24) + poll()
    yield "window_twice", BIND * 2 + GO + connect() + BIND + GO
    yield "slow", every + run(27) * 6 + poll()


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, script in seeds():
        (CORPUS / name).write_bytes(script)


if __name__ == "__main__":
    main()
