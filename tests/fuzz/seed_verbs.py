#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_verbs.py: writes the seed corpus of fuzz_verbs, tests/fuzz/corpus/verbs.

A seed is a program on verbs as fuzz_verbs.c reads it: a byte that says who uses the SRQs, then an
operation in the low four bits, the side in bit 7, the pair of QPs in bit 6, and its operands.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "verbs"

SIDE1, PAIR1 = 0x80, 0x40
ON_SRQ, UD_ON_SRQ, DROPS, EXTENDED = 1, 2, 4, 8
SEND, WRITE, WRITE_IMM, READ, ADD = range(5)
UNSIGNALED, FENCE, INLINE, WINDOW = 8, 16, 32, 128
RESET, ERR, SQD, RTS = range(4)
QP, QP_ON_SRQ, RECEIVED, TARGET, BUSY, RESIZE = range(6)
UD_UNSIGNALED, UD_INLINE, UD_SOLICITED, UD_OTHER_KEY, UD_OWN_KEY, UD_TO_RC, UD_TO_NOBODY = (
    1 << n for n in range(7))
UD_CONNECT, UD_MADE, UD_KEY, UD_NO_AH, UD_AH, UD_GROUP, UD_STATE = range(7)


def post(what, end=0, at=3, length=100):
    return bytes([end, what, at, length])


def recv(n=1, end=SIDE1):
    return bytes([2 | end]) * n


def run(log2=20, rounds=8):
    return bytes([8, (rounds - 1) << 5 | log2])


def poll(end=0):
    return bytes([3 | 3 << 4 | end, 3 | 3 << 4 | (end ^ SIDE1)])


def state(s, end=0):
    return bytes([4 | s << 4 | end])


def connect(end=0):
    return bytes([5 | end])


def object_(which, end=0):
    return bytes([6 | end, which if which < BUSY else which * 2 - 4])


def loss(bits):
    return bytes([9, bits])


def srq_recv(n=1, side=SIDE1):
    return bytes([10 | side]) * n


def arm(limit, side=SIDE1):
    return bytes([11 | side, limit])


def resize(depth, side=SIDE1):
    return bytes([11 | side, 0x80 | depth])


def srq(side=SIDE1):
    """Makes the SRQ, or tries to destroy it."""
    return bytes([12 | side])


def datagram(how=0, side=0, at=5, length=50):
    return bytes([13 | side, how, at, length])


def ud_recv(n=1, side=SIDE1):
    return bytes([14 | side]) * n


def ud(what, side=SIDE1, operand=0):
    return bytes([14 | 0x40 | side, what | operand << 3])


BIND = bytes([7])
GO = run() + poll()
ALL = bytes([15])


def seeds_of_pairs():
    every = recv(3) + post(SEND) + post(WRITE) + post(WRITE_IMM) + post(READ) + post(ADD)
    yield "every_operation", every + GO * 3
    yield "both_ways", every + recv(2, 0) + post(SEND, SIDE1) + post(WRITE_IMM, SIDE1) + GO * 3
    yield "both_pairs", every + recv(2, SIDE1 | PAIR1) + post(SEND, PAIR1) + post(READ, PAIR1) + GO + \
        poll(PAIR1) + run() + poll(PAIR1)
    yield "lost", loss(0x55) + every + run(25, 8) * 4 + poll()
    yield "doubled", loss(0xAA) + every + run(22, 8) * 2 + poll()
    yield "lost_and_doubled", loss(0x99) + every + loss(0x66) + run(25) * 4 + poll()
    yield "overtaken", recv(4) + post(WRITE) + GO + loss(5) + post(WRITE, 0, 0, 255) + post(WRITE_IMM, 0, 0x40) + post(SEND) * 2 + \
        run(5, 1) + poll(SIDE1) + ALL
    yield "late", recv(4) + loss(0xCF) + post(WRITE) + post(SEND) * 3 + GO + loss(3) + every + GO * 2
    yield "late_of_before", recv(3) + GO + loss(3) + post(SEND) + connect() + recv(3) + post(SEND) + GO + loss(3) + \
        post(SEND, 0, 9) + GO * 2 + ALL
    yield "late_answer", loss(3) + recv(3) + post(WRITE) * 2 + run(20, 1) + connect() + recv(3) + post(SEND) + GO + \
        loss(0xFF) + post(SEND, 0, 9) + post(WRITE, SIDE1) + GO * 2 + ALL
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
    yield "window", bytes([7 | SIDE1]) + run() + post(WRITE | WINDOW) + GO + object_(TARGET, SIDE1)
    yield "window_not_bound", post(WRITE | WINDOW) + run(24) + poll()
    yield "window_twice", BIND * 2 + GO + connect() + BIND + GO
    yield "slow", every + run(27) * 6 + poll()


def seeds_of_srq():
    # A first answer says that the peer has the extensions.
    begin = post(WRITE) + post(WRITE, PAIR1) + ALL
    both = post(SEND) + post(SEND, PAIR1) + post(WRITE_IMM, PAIR1) + post(SEND, 0, 9, 255)
    yield "srq", begin + srq_recv(6) + both + ALL * 2
    yield "srq_at_first", srq_recv(4) + both + ALL * 2
    yield "srq_empty", begin + both + run(22) + srq_recv(6) + run(26) + ALL * 2
    yield "srq_full", srq_recv(12) + begin + both * 2 + ALL + srq_recv(12) + ALL
    yield "srq_lost", begin + srq_recv(8) + loss(0x59) + both + loss(0x95) + both + run(25) * 4 + ALL
    yield "srq_limit", begin + srq_recv(6) + arm(4) + both + ALL + arm(1) + arm(0) + arm(30) + ALL
    yield "srq_limit_at_once", srq_recv(2) + arm(5) + ALL + arm(5) + ALL
    yield "srq_resized", begin + srq_recv(8) + resize(16) + srq_recv(8) + resize(2) + both + ALL + arm(9) + \
        resize(8) + resize(12) + both + ALL
    yield "srq_resized_to_none", resize(0) + resize(1) + srq_recv(2) + begin + post(SEND) + ALL
    yield "srq_busy", srq() + object_(QP_ON_SRQ, SIDE1) + srq() + object_(QP_ON_SRQ, SIDE1 | PAIR1) + srq() * 2 + \
        connect() + connect(PAIR1) + begin + srq_recv(4) + both + ALL
    yield "srq_reset", begin + srq_recv(8) + post(SEND) * 3 + post(SEND, PAIR1) + run(10, 1) + connect() + both + \
        ALL * 2
    yield "srq_taken_ahead", begin + srq_recv(8) + loss(1) + post(SEND, 0, 0, 255) + post(SEND) * 3 + run(10, 2) + \
        post(SEND, PAIR1) * 2 + run(10, 2) + state(RESET, SIDE1) + post(SEND, PAIR1) * 2 + ALL * 2
    yield "srq_to_err", begin + srq_recv(8) + both + run(10, 1) + state(ERR, SIDE1) + ALL + connect() + begin + \
        both + ALL
    yield "srq_receives_gone", begin + srq_recv(4) + object_(RECEIVED, SIDE1) + both + ALL * 2
    yield "srq_left", begin + srq_recv(6) + object_(QP, SIDE1) * 2 + connect() + begin + recv(2) + both + ALL


def seeds_of_ud():
    yield "ud", ud_recv(4) + datagram() + datagram(UD_INLINE, 0, 7, 12) + datagram(UD_SOLICITED, 0, 0, 0) + ALL
    yield "ud_both_ways", ud_recv(2) + ud_recv(2, 0) + datagram() + datagram(0, SIDE1) + ALL + datagram() + ALL
    yield "ud_lost", ud_recv(8) + loss(0x44) + datagram() * 6 + ALL
    yield "ud_doubled", ud_recv(8) + loss(0x0A) + datagram() * 3 + ALL
    yield "ud_late", ud_recv(8) + loss(0xCC) + datagram() * 3 + ud(UD_KEY) + loss(3) + datagram() + ud(UD_MADE) * 2 + \
        ud(UD_CONNECT) + ud_recv(4) + loss(3) + datagram() + ALL
    yield "ud_no_receive", datagram() * 2 + ALL + ud_recv() + datagram() + ALL
    yield "ud_too_long", ud_recv(3) + datagram(0, 0, 0, 255) + datagram(0, 0, 0, 246) + datagram() + ALL
    yield "ud_too_many", ud_recv(9) + datagram(UD_UNSIGNALED) * 9 + ALL + datagram() + ALL
    yield "ud_other_key", ud_recv(4) + datagram(UD_OTHER_KEY) + ALL + datagram() + ALL
    yield "ud_own_key", ud_recv(4) + datagram(UD_OWN_KEY) + ALL + ud(UD_KEY, 0) + datagram(UD_OWN_KEY) + ALL
    yield "ud_key_changed", ud_recv(6) + datagram() + run(5, 1) + ud(UD_KEY) + datagram() + \
        datagram(UD_OTHER_KEY) + ALL
    yield "ud_to_rc", ud_recv() + recv() + datagram(UD_TO_RC) + datagram(UD_TO_NOBODY) + ALL
    yield "ud_no_ah", ud(UD_NO_AH, 0) + datagram() + ud(UD_AH, 0) + ud_recv() + datagram() + ud(UD_NO_AH, 0) + ALL
    yield "ud_states", b"".join(ud_recv() + datagram() + ud(UD_STATE, side, s) + ALL
                                for side in (0, SIDE1) for s in (SQD, RTS, ERR, RESET)) + \
        ud(UD_CONNECT, 0) + ud(UD_CONNECT) + ud_recv() + datagram() + ALL
    yield "ud_made_again", ud_recv() + datagram() * 2 + ud(UD_MADE) * 2 + ud(UD_CONNECT) + ud_recv(2) + ALL + \
        datagram() + ALL
    yield "ud_receives_gone", ud_recv(2) + object_(RECEIVED, SIDE1) + datagram() + ALL
    yield "ud_group", ud(UD_GROUP)


def seeds():
    for name, script in seeds_of_pairs():
        yield name, bytes([0]) + script
    for name, script in seeds_of_srq():
        yield name, bytes([ON_SRQ]) + script
    for name, script in seeds_of_ud():
        yield name, bytes([0]) + script
    mixed = srq_recv(8) + datagram() + post(WRITE) + ALL + post(SEND) + datagram() + post(SEND, PAIR1) + arm(3) + \
        ALL + ud(UD_MADE, SIDE1, 1) * 2 + ud(UD_CONNECT) + datagram() + ALL
    plain = dict(seeds_of_pairs()) | dict(seeds_of_ud())
    for name in ("every_operation", "both_ways", "lost", "unsignaled", "inline", "empty", "too_many", "to_err", "resized",
                 "window", "ud_both_ways"):
        yield f"extended_{name}", bytes([EXTENDED]) + plain[name]
    yield "extended_on_srq", bytes([EXTENDED | UD_ON_SRQ | ON_SRQ]) + mixed
    yield "ud_on_srq", bytes([UD_ON_SRQ | ON_SRQ]) + mixed
    yield "ud_alone_on_srq", bytes([UD_ON_SRQ]) + mixed + ud(UD_STATE, SIDE1, ERR) + ALL
    yield "ud_fails_in_rtr", bytes([UD_ON_SRQ]) + object_(RECEIVED, SIDE1) + srq_recv() + datagram() + ud(UD_CONNECT) + \
        ALL
    yield "srq_drops", bytes([UD_ON_SRQ | ON_SRQ | DROPS]) + srq_recv(8) + post(SEND) * 2 + run() + connect() + \
        ud(UD_CONNECT) + mixed


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, script in seeds():
        (CORPUS / name).write_bytes(script)


if __name__ == "__main__":
    main()
