#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_engine.py: writes the seed corpus of fuzz_engine, tests/fuzz/corpus/engine.

A seed is a script of steps as fuzz_engine.c reads them: an operation in the low four bits, the
node in bit 7, the QP in bit 6 (after SHARED of those on the SRQ), and its operands. Each reaches one kind of trouble from a
conversation that is well under way.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "engine"

POST, RECV, OUT, DELIVER, LOSE, DOUBLE, CUT, MARK, BREAK = range(9)
CHANGE, TIME, RAW, MODIFY, DENY, REGION, HONEST = range(9, 16)
ALL_PORTS = 0x30
PORT, ASK, LOCAL = (REGION | what << 4 for what in (1, 2, 3))
SRQ_RECV, SRQ_CHANGE, SHARED = (RECV | what << 4 for what in (1, 2, 3))
NODE1 = 0x80
QP1 = 0x40
IMM, SIGNALED, SOLICITED = 1, 2, 4


def post(length, flags=0, end=0):
    return bytes([POST | end, length, flags])


def each(op, n, operands=b"\0"):
    return (bytes([op]) + operands) * n


def talk(end=0):
    """Three messages posted, sent and answered."""
    return post(200, 0, end) + post(0, 0, end) + post(100, SOLICITED, end) + bytes([HONEST])


def arm(limit, end=NODE1):
    return bytes([SRQ_CHANGE | end, limit])


def resize(depth, end=NODE1):
    return bytes([SRQ_CHANGE | end, 0x80 | depth - 1])


def seeds_of_srq(out):
    send, more = 0x20, bytes([HONEST] * 3)
    # A first answer says that the peer has the extensions.
    shared = bytes([SHARED]) + post(4) + post(4, 0, QP1) + bytes([HONEST])
    take = bytes([SRQ_RECV | NODE1])
    both = post(30, send) + post(40, send, QP1) + post(9, IMM) + post(50, send, QP1)
    yield "srq_at_first", bytes([SHARED]) + take * 6 + both + more
    yield "srq", shared + take * 6 + both + more
    yield "srq_both_ways", shared + take * 6 + bytes([SRQ_RECV]) * 6 + both + \
        post(30, send, NODE1) + post(60, send, NODE1 | QP1) + more
    yield "srq_empty", shared + both + more + take * 6 + each(TIME, 6, b"\x17") + more
    yield "srq_one_short", shared + take + both + more + take + each(TIME, 3, b"\x17") + more + take * 3 + more
    yield "srq_full", shared + take * 12 + both + more + take * 12 + both + more
    yield "srq_limit", shared + take * 6 + arm(5) + both + more + arm(5) + take * 6 + arm(3) + both + more
    yield "srq_limit_at_once", arm(4) + bytes([HONEST]) + arm(4) + take * 5 + arm(4) + bytes([HONEST])
    yield "srq_resized", shared + take * 6 + resize(16) + take * 9 + both + out + resize(3) + more + \
        resize(4) + both + more
    yield "srq_lost", shared + take * 6 + both + out * 2 + each(LOSE, 2) + each(TIME, 6, b"\x16") + more
    yield "srq_reversed", shared + take * 8 + both + out * 2 + each(DELIVER, 12, b"\xff") + more
    yield "srq_doubled", shared + take * 8 + both + out * 2 + each(DOUBLE, 6, b"\1") + more
    yield "srq_long", shared + take * 4 + post(125, send) + post(125, send, QP1) + more + post(130, send) + more
    for name, value in ("to_err", 5), ("reset", 8):
        gone = bytes([MODIFY | NODE1, 0, 1, value])
        yield f"srq_{name}", shared + take * 6 + both + out + each(DELIVER, 1) + gone + more + both + more
    again = bytes([MODIFY, 0, 1, 8, MODIFY | NODE1, 0, 1, 8])
    yield "srq_given_back", shared + take * 4 + post(120, send) + out + each(DELIVER, 2) + again + \
        post(50, send, QP1) + post(60, send) + more + both + more
    yield "srq_region_gone", shared + take * 4 + bytes([REGION | NODE1]) + both + more


def seeds():
    out = bytes([OUT | ALL_PORTS])
    yield "empty_write", post(0) + bytes([HONEST])
    yield "both_ways", talk() + talk(NODE1 | QP1)
    yield "immediates", each(RECV | NODE1, 4, b"") + post(1, IMM) + post(99, IMM) + bytes([HONEST])
    yield "immediate_without_receive", post(1, IMM) + bytes([HONEST])
    yield "lost", post(250) + out + each(LOSE, 3) + each(DELIVER, 5) + bytes([HONEST] * 3)
    yield "reversed", post(250) + out + each(DELIVER, 8, b"\xff") + bytes([HONEST])
    yield "doubled", post(250) + out + each(DOUBLE, 4, b"\1") + bytes([HONEST])
    yield "trimmed", post(250) + out + each(CUT, 4, b"\0\x29") + bytes([HONEST] * 2)
    yield "trimmed_last_hop", post(250) + out + each(CUT, 4, b"\0\x10") + bytes([HONEST] * 2)
    yield "marked", talk(QP1) + post(250, 0, QP1) + out + each(MARK, 8) + bytes([HONEST])
    yield "broken", post(250) + out + each(BREAK, 8) + bytes([HONEST] * 2)
    yield "wrong_key", post(250) + post(9, 0x80) + post(250) + bytes([HONEST] * 2)
    yield "out_of_bounds", post(250, 0x40) + bytes([HONEST] * 2)
    yield "region_gone", bytes([REGION | NODE1]) + post(20) + bytes([HONEST, REGION | NODE1])
    yield "timeout", post(250) + out + each(LOSE, 8) + each(TIME, 12, b"\x16") + bytes([HONEST])
    yield "psn_changed", post(250) + out + each(CHANGE, 3, b"\0\x0b\x7f") + bytes([HONEST])
    yield "address_changed", post(250) + out + each(CHANGE, 1, b"\0\x1a\xff") + bytes([HONEST])
    yield "to_err", post(250) + out + bytes([MODIFY, 0, 1, 5, HONEST])
    yield "to_sqd_and_back", talk() + bytes([MODIFY, 0, 1, 4]) + talk() + bytes([MODIFY, 0, 1, 3])
    yield "reset", talk() + bytes([MODIFY, 0, 1, 8, MODIFY | NODE1, 0, 1, 8]) + talk()
    yield "denied", each(DENY | 0x10, 1, b"\1") + talk() + each(DENY, 1, b"\1") + talk()
    read, swap, add, fence = 0x10, 0x11, 0x12, 4
    ask = post(200, read, QP1) + post(1, add, QP1) + post(1, swap | fence, QP1) + bytes([HONEST] * 4)
    yield "read_and_atomics", ask
    yield "answers_lost", ask + post(200, read, QP1) + bytes([HONEST]) + each(LOSE, 2) + \
        each(TIME, 8, b"\x10") + bytes([HONEST] * 4)
    yield "more_than_is_taken", ask + post(250, read, QP1) * 3 + bytes([HONEST] * 4)
    yield "read_wrong_key", ask + post(20, read | 0x80, QP1) + bytes([HONEST] * 4)
    yield "reset_while_reading", ask + post(250, read, QP1) + out + bytes(
        [MODIFY | QP1, 0, 1, 8, MODIFY | NODE1 | QP1, 0, 1, 8]) + ask
    for opcode in (0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xFC, 0xFD, 0xFE):
        packet = bytes([opcode, 0, 0xFF, 0xFF, 0, 0, 1, 1, 0, 0, 0, 5]) + bytes(36)
        yield f"raw_{opcode:02x}", ask + bytes([RAW | NODE1, 1, len(packet)]) + packet + ask
    bind1, bind2, inv2 = (bytes([LOCAL | NODE1 | QP1, how]) for how in (0x06, 0x07, 0x05))
    bound = talk(QP1) + bind1 + bind2 + post(6, 0x80, QP1) + post(7, 0x80, QP1)
    yield "windows", bound + bytes([HONEST] * 2) + inv2 + post(7, 0x80, QP1) + bytes([HONEST] * 2)
    yield "send_invalidates", each(RECV | NODE1 | QP1, 4, b"") + bound + post(7, 0xA0, QP1) + \
        post(7, 0x80, QP1) + bytes([HONEST] * 4)
    from_0 = bytes([LOCAL | NODE1 | QP1, 0x86])
    yield "windows_from_0", talk(QP1) + from_0 + post(6, 0x88, QP1) + post(4, 0x98, QP1) + bytes([HONEST] * 2)
    yield "region_of_windows", bound + bytes([REGION | NODE1, HONEST, HONEST])
    yield "atomic_write", ask + post(1, 0x13, QP1) + bytes([HONEST] * 2)
    yield "ports", talk() + bytes([PORT, 0]) + talk() + bytes([PORT, 2, PORT | NODE1, 1]) + talk(NODE1)
    yield "endpoint", talk() + bytes([ASK, 4, ASK | NODE1, 0x0B, HONEST, ASK, 4, TIME, 0x14, HONEST])
    yield from seeds_of_srq(out)
    for mtu in range(1, 5):
        again = bytes([MODIFY, 0, 1, mtu << 4 | 8, MODIFY | NODE1, 0, 1, mtu << 4 | 8])
        yield f"mtu_{256 << mtu}", again + post(250) + bytes([HONEST] * 2) + post(255) + bytes([HONEST])
    sack = bytes([0xDC, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0xFF, 0xFF, 0xEF]) + bytes(36)
    yield "sack_for_nothing", bytes([RAW | 0, 1, len(sack)]) + sack + talk()


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, script in seeds():
        (CORPUS / name).write_bytes(script)


if __name__ == "__main__":
    main()
