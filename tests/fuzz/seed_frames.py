#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_frames.py: writes the seed corpus of fuzz_frames, tests/fuzz/corpus/frames.

A seed is a configuration and a script of steps as fuzz_frames.c reads them. Most have a
conversation with the peer in them and then one kind of trouble.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "frames"

(WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM, ACK, EP_REQUEST,
 EP_RESPONSE, SACK, NACK, PROBE, SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY,
 SEND_ONLY_IMM, READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY, ATOMIC_RESPONSE,
 COMPARE_SWAP, FETCH_ADD, ATOMIC_WRITE, SEND_LAST_INV, SEND_ONLY_INV, RESPONSE_ACK, RESPONSE_SACK,
 RESPONSE_NACK, RESPONSE_PROBE) = range(33)
IPV4, IPV6, ONE_SUBNET, RAW41, SRV6, NO_ICRC, STEV, RELAXED = range(8)
PLAIN = 0x40  # in kind: the QP without extensions
PEER, UNKNOWN, OURSELVES, OUTSIDE, OTHER_FAMILY = 0, 0x41, 0x42, 0x43, 0x44
PLANE1, TOS, NO_SEAL = 8, 0x20, 0x80
TRIMMED = 3
UC, OTHER_QPN = 8, 16  # in how of a datagram: for the UC QP; not from its peer
FRAME, CUT, DATAGRAM = 0, 8, 0x10
REGION, RAW, POST, RECV, STATE, PORT, TIME = 3, 11, 4, 5, 6, 14, 7


def data(kind, how=0, key=0, more=b"", who=PEER, op=FRAME, tail=b""):
    offset = b"" if kind & 63 in (*range(SEND_FIRST, SEND_ONLY_IMM + 1), SEND_LAST_INV, SEND_ONLY_INV) \
        else b"\x04"
    return bytes([op, who, kind, how, key]) + more + offset + tail


def control(kind, how=0, more=b"", who=PEER, psn=4):
    return bytes([FRAME, who, kind, how, psn]) + more


def post(qp, opcode, key=0x10, length=60):
    return bytes([POST, qp << 4 | opcode, key, length])


def wait(log2):
    return bytes([TIME | log2 << 3])


# The probe that finds out what the peer knows is answered.
MET = post(0, 0) + wait(24) + control(SACK, 4)
KNOWN = control(PROBE) + MET + bytes([RECV, 8 * 6]) * 2


def seeds():
    yield "writes", IPV4, KNOWN + data(WRITE_ONLY) * 3 + data(PLAIN | WRITE_ONLY_IMM) + wait(20)
    yield "message", IPV6, data(WRITE_FIRST, 0x12, 0, b"\x40\x03\0") + \
        data(WRITE_MIDDLE, 0x12, 0, b"\x40\x03\0") + data(WRITE_LAST, 0x12, 0, b"\x40\x03\0")
    yield "read_only_region", IPV4, data(WRITE_ONLY, 0, 1)
    yield "wrong_key", RAW41, data(WRITE_ONLY, 0, 0x10)
    yield "behind_the_end", IPV4, KNOWN + bytes([FRAME, PEER, WRITE_ONLY, 2, 0x40, 100, 4])
    yield "sends", IPV6, KNOWN + data(SEND_ONLY) + data(SEND_ONLY_IMM) + data(SEND_ONLY_INV)
    yield "send_without_receive", IPV6, control(PROBE) + data(SEND_ONLY) * 2
    yield "read", IPV4, KNOWN + data(READ_REQUEST, 0x20, 0, b"", PEER, FRAME, b"\x08\0") + wait(20)
    yield "atomics", IPV4, KNOWN + data(COMPARE_SWAP) + data(FETCH_ADD) + data(ATOMIC_WRITE)
    yield "answers", IPV6, KNOWN + post(0, 2) + post(0, 4) + data(READ_ONLY) + data(ATOMIC_RESPONSE)
    yield "sacks", IPV4, MET + post(0, 0) * 3 + control(SACK) + control(ACK, 0, b"\x04")
    yield "sack_with_holes", IPV6, post(1, 0) * 8 + control(PLAIN | SACK, 2, b"\0\0\0\xa0", PEER, 0) + \
        wait(24) * 3 + control(PLAIN | SACK, 0)
    yield "marked", IPV4, post(1, 0) * 8 + control(PLAIN | SACK, 8) + post(1, 0) * 4 + control(PLAIN | SACK, 0x10)
    yield "nacks", IPV4, MET + post(0, 0) * 3 + control(NACK, 0, b"\x01") + control(NACK, 0, b"\x80")
    yield "bad_syndrome", IPV4, post(1, 0) + control(PLAIN | ACK, 1, b"\x62\0")
    yield "timeouts", STEV, post(0, 0, 0x10, 255) + wait(24) * 4 + wait(28) * 6
    yield "unknown_asks", IPV4, control(EP_REQUEST, 1, b"\0", UNKNOWN) * 3
    yield "unknown_tells_ports", IPV6, control(EP_REQUEST, 0, b"\1", UNKNOWN | PLANE1)
    yield "peer_tells_ports", IPV4, post(0, 0) + control(EP_REQUEST, 0, b"\2") + post(0, 0) + wait(26)
    yield "mapped_source", ONE_SUBNET, control(EP_REQUEST, 1, b"\0", OTHER_FAMILY)
    yield "ipv6_source", RELAXED, control(EP_REQUEST, 1, b"\0", OTHER_FAMILY)
    yield "outside", IPV4, control(EP_REQUEST, 1, b"\0", OUTSIDE) + data(WRITE_ONLY, 0, 0, b"", OUTSIDE)
    yield "outside_of_nothing", ONE_SUBNET, control(EP_REQUEST, 1, b"\0", OUTSIDE)
    yield "ourselves", SRV6, control(EP_REQUEST, 1, b"\0", OURSELVES)
    yield "unknown_writes", RAW41, data(WRITE_ONLY, 0, 0, b"", UNKNOWN)
    yield "srv6", SRV6, KNOWN + post(0, 0) + data(WRITE_ONLY) + control(SACK) + wait(22)
    yield "no_icrc", NO_ICRC, KNOWN + post(0, 0) * 8 + data(WRITE_ONLY, 0, 0, b"", NO_SEAL) + wait(25)
    yield "trimmed", IPV4, data(WRITE_ONLY, 2, 0, b"\x40", TOS, CUT, b"\x10" + bytes([TRIMMED]))
    yield "cut", IPV4, data(WRITE_ONLY, 2, 0, b"\x40", PEER, CUT, b"\x10")
    yield "datagrams", IPV4, bytes([RECV, 8 * 10 + 2]) * 3 + bytes([FRAME | DATAGRAM, PEER, 0, 3]) + \
        bytes([FRAME | DATAGRAM, UNKNOWN, 1, 8]) + post(2, 1) + wait(10)
    yield "uc", IPV4, bytes([RECV, 8 * 10 + 3]) * 3 + bytes([FRAME | DATAGRAM, PEER, UC, 3]) + \
        bytes([FRAME | DATAGRAM, UNKNOWN, UC, 8]) + bytes([FRAME | DATAGRAM, PEER, UC | OTHER_QPN, 3]) + post(3, 1) + wait(10)
    yield "uc_too_long", IPV6, bytes([RECV, 8 + 3]) + bytes([FRAME | DATAGRAM, PEER, UC, 255]) + post(3, 1, 0, 65)
    yield "datagram_too_long", IPV6, bytes([RECV, 8 + 2]) + bytes([FRAME | DATAGRAM, PEER, 0, 255])
    yield "window", IPV4, KNOWN + post(0, 7) + data(WRITE_ONLY, 0, 3) + post(0, 6, 3)
    yield "region_gone", IPV4, post(0, 0) + bytes([REGION]) + data(WRITE_ONLY) + post(1, 0) + wait(24)
    yield "states", IPV6, post(0, 0) + b"".join(bytes([STATE | s << 4]) + post(0, 0) for s in (2, 3, 1, 0))
    yield "ports_down", IPV4, post(0, 0) + bytes([PORT]) + wait(24) + bytes([PORT | 0x10]) + wait(26) + \
        bytes([PORT | 0x20, PORT | 0x30]) + wait(30) + control(EP_RESPONSE, 0, b"") + wait(26)
    yield "blocked", IPV4, bytes([PORT | 0x60]) + post(0, 0) * 3 + bytes([PORT | 0x40]) + wait(20)
    yield "raw", IPV4, bytes([RAW, PEER, 16]) + b"\xca" + bytes(15) + bytes([RAW, NO_SEAL, 0])


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, configuration, steps in seeds():
        (CORPUS / name).write_bytes(bytes([configuration]) + steps)


if __name__ == "__main__":
    main()
