#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_mrc.py: writes the seed corpus of fuzz_mrc, tests/fuzz/corpus/mrc.

A seed is a program on mrc.h as fuzz_mrc.c reads it: an operation in the low four bits, the side in
bit 7, the pair of QPs (or the hint) in bit 6, and its operands.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "mrc"

SIDE1, PAIR1 = 0x80, 0x40
IMM, UNSIGNALED, INLINE, SOLICITED, FENCE, OTHER_OP, NO_KEY = (1 << n for n in range(7))
RESET, ERR, SQD, RTS, RTR, INIT, SQE = range(7)
VENDOR = 1 << 15
ATTRS = range(10)
WIMM, WIMM_DEST, MPR, MPR_DEST, TIMEOUT, EV_PROFILE, CC_PROFILE, HINT, RETRY, CAP = (1 << n for n in ATTRS)


def post(how=0, end=0, at=3, length=100):
    return bytes([end, how, at, length])


def recv(n=1, end=SIDE1):
    return bytes([3 | end]) * n


def run(log2=20, rounds=8):
    return bytes([5, (rounds - 1) << 5 | log2])


def loss(bits):
    return bytes([5 | 1 << 4, bits])


def memory(side=SIDE1):
    return bytes([5 | 2 << 4 | side])


def poll(end=0):
    return bytes([7 | 3 << 4 | end, 7 | 3 << 4 | (end ^ SIDE1)])


def ask(solicited=0, end=SIDE1):
    return bytes([8 | solicited << 4 | end])


def modify(mask, value, end=0):
    return bytes([9 | end, mask >> 8, mask & 255, value])


def state(s, end=0):
    return bytes([10 | end, s])


def connect(how=0, end=0):
    return bytes([11 | end, how])


def qp(end=0):
    return bytes([12 | end])


def hint(number, end=0):
    """Makes the hint, or changes it, or with bit 5 destroys it."""
    return bytes([13 | end, number & 255])


BUSY, CONTEXT = bytes([14]), bytes([15])
ALL = bytes([5 | 3 << 4])
DEVICE, EVS, REFUSED, REQUESTS = range(4)


def ctl(what, how=0, end=0, *more):
    return bytes([15 | 1 << 4 | end, what, how, *more])


def seeds():
    every = recv(3) + post() + post(IMM) + post(INLINE, 0, 7, 12) + post(IMM | SOLICITED | FENCE)
    yield "every_operation", every + ALL * 2
    yield "both_ways", every + recv(2, 0) + post(IMM, SIDE1) + post(0, SIDE1) + ALL * 2
    yield "both_pairs", every + recv(2, SIDE1 | PAIR1) + post(IMM, PAIR1) + post(0, PAIR1) + run() + poll() + \
        poll(PAIR1)
    yield "lost", loss(0x55) + every + run(25) * 4 + ALL
    yield "doubled", loss(0xAA) + every + run(22) * 2 + ALL
    yield "late", recv(4) + loss(0xCF) + post() + post(IMM) * 3 + ALL + loss(3) + every + ALL
    yield "late_of_before", recv(3) + ALL + loss(3) + post(IMM) + connect() + recv(3) + post(IMM) + ALL + loss(3) + \
        post(IMM, 0, 9) + ALL * 2
    yield "overtaken", recv(4) + loss(5) + post(0, 0, 0, 255) + post(IMM, 0, 0x40) * 3 + run(5, 1) + poll(SIDE1) + ALL
    yield "no_receive", post(IMM) * 2 + run(22) + recv(2) + run(25) + ALL
    yield "unsignaled", post(UNSIGNALED) * 4 + post() + ALL
    yield "long", recv(2) + post(0, 0, 0, 255) + post(IMM, 0, 0, 255) + ALL
    yield "empty", recv() + post(IMM, 0, 0, 0) + post(0, 0, 0, 0) + ALL
    yield "too_many", recv(10) + post() * 10 + ALL + post() + ALL
    yield "refused", post(OTHER_OP) + post(OTHER_OP | IMM) + post(NO_KEY) + run(25) + ALL
    yield "target_gone", every + run(5, 1) + memory() + run(26) + ALL + memory() + connect() + every + ALL
    yield "reset", every + state(RESET) + post() + recv() + connect(0xFF) + every + ALL
    yield "reset_under_way", every + run(10, 1) + connect(5) + every + run(24) + ALL
    yield "to_err", every + run(10, 1) + state(ERR) + post() + ALL + connect() + every + ALL
    yield "peer_to_err", state(ERR, SIDE1) + every + run(27) * 6 + ALL
    yield "drained", every + state(SQD) + post() + ALL + state(RTS) + ALL
    yield "every_state", b"".join(state(a) + state(b) for a in range(7) for b in range(7))
    yield "destroyed", every + qp() + run() + connect() + every + ALL
    yield "peer_destroyed", every + qp(SIDE1) + run(27) * 6 + ALL + qp(SIDE1) + connect() + every + ALL
    yield "asked", ask() + ask(0, 0) + every + ALL + ask(1) + ask(1, 0) + recv(3) + post(IMM) + ALL + \
        post(IMM | SOLICITED) + ALL
    yield "asked_for_more", ask(1) + ask() + recv() + post(IMM) + ALL + ask(1) + state(ERR, SIDE1) + recv() + ALL
    yield "attributes", state(RESET) + b"".join(modify(1 << n, 3) for n in ATTRS) + state(INIT) + \
        b"".join(modify(1 << n, v) for n in ATTRS for v in (0, 5, 24, 255)) + modify(VENDOR | 0x3FF, 1)
    yield "attributes_in_rts", b"".join(modify(1 << n, 4) for n in ATTRS) + modify(VENDOR, 9) + \
        modify(VENDOR | TIMEOUT, 3)
    yield "hints", hint(4) + modify(HINT, 1) + hint(0x21) + state(RESET) + hint(0x21) + hint(-3) + hint(7) + \
        hint(9) + hint(-1)
    yield "hint_of_other", hint(4, SIDE1) + modify(HINT, 0x81) + hint(2) + hint(2, PAIR1) + modify(HINT, 1) + \
        modify(HINT, 3) + hint(0x20) + hint(0x20, PAIR1) + modify(HINT, 0) + hint(0x20, PAIR1) + qp()
    yield "busy", BUSY + bytes([14 | PAIR1]) + qp() + BUSY
    yield "contexts", CONTEXT + every + CONTEXT + ALL
    yield "controller", b"".join(ctl(DEVICE, port << 3 | mask) for port in range(4) for mask in range(4)) + \
        b"".join(ctl(EVS, n, n % 2 * SIDE1) for n in range(40)) + ctl(REFUSED, 0, 0, 0, 0, 0) + \
        ctl(REFUSED, 0, 0, 255, 255, 1)
    yield "requests", b"".join(ctl(REQUESTS, wrong, wrong % 2 * SIDE1) for wrong in range(8)) + every + \
        ctl(REQUESTS, 8) + ALL
    yield "requests_lost", loss(0x11) + ctl(REQUESTS) + loss(0xAB) + ctl(REQUESTS, 16, SIDE1) + every + ALL
    yield "windows", connect(0x1F) + every + ALL + connect(0x63) + every + ALL


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, script in seeds():
        (CORPUS / name).write_bytes(script)


if __name__ == "__main__":
    main()
