#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_conform.py: writes the seed corpus of fuzz_conform, tests/fuzz/corpus/conform.

A seed is a byte that says whether the QP was made by hand, what comes of the search for the target,
and then twice a case's number and what comes while it is played, as fuzz_conform.c reads it.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "conform"

SERVER, BY_HAND = b"\0", b"\1"
QP, ENDED, MEMORY = b"\0", b"\xff", b"\x71"
QUIET, ANSWER, ACK, CHANGED, PACKET, RAW, REPEAT, BROKEN = (bytes([n]) for n in range(8))
FLOOD = REPEAT + b"\xff"
SACK, NACK, PROBE, REQUEST, WRITE_ONLY = 9, 10, 11, 7, 5
# Fields by their numbers in packet.h.
DQP, CACK, MAP, PAD = 11, 36, 41, 8


def case(number, *events):
    return bytes([number]) + QP + b"".join(events)


def quiet(share=255):
    return QUIET + bytes([share])


def packet(kind, how=0, psn=0, cack=0, length=b"", fields=b"", change=b"\0\0"):
    return PACKET + bytes([kind, how, psn, cack]) + length + fields + change


def raw(data):
    return RAW + bytes([len(data)]) + data


def text(line):
    return bytes([0x80 | len(line)]) + line


FOUND = QP + ANSWER
SEEDS = {
    "silence": SERVER + QP + quiet() * 4,
    "closed": SERVER + QP + BROKEN + b"\1",
    "broken": SERVER + FOUND + case(0, BROKEN + b"\0"),
    "ended": SERVER + FOUND + bytes([0]) + ENDED + case(1),
    "refused": SERVER + FOUND + bytes([0, 0x75]) + case(1),
    "escapes": SERVER + FOUND + bytes([0]) + text(b"error \x1b[2J\x07 no room") + case(1),
    "qp_short": SERVER + text(b"gid fd00::1 qpn 17"),
    "qp_escapes": SERVER + text(b"gid \x1b[2J"),
    "flood": SERVER + FOUND + case(2, ANSWER, FLOOD),
    "probes": SERVER + FOUND + case(3, packet(PROBE), REPEAT + b"\x09", ANSWER),
    "requests": SERVER + FOUND + case(4, packet(REQUEST), REPEAT + b"\x09", ANSWER),
    "far_sack": SERVER + FOUND + case(15, packet(SACK, 1, 0, 200, fields=bytes([MAP, 1]) + b"\xff\xff\xff\xff")),
    "changed": SERVER + FOUND + case(20, CHANGED + b"\0" + bytes([CACK, 2, 200]), ANSWER),
    "other_qp": SERVER + FOUND + case(20, packet(SACK, 1, fields=bytes([DQP, 1]) + b"\0\0\0\5"), ANSWER),
    "other_source": SERVER + FOUND + case(20, packet(SACK, 0x40), ANSWER),
    "cut": SERVER + FOUND + case(20, packet(NACK, change=bytes([4, 60])), packet(NACK, change=bytes([4, 30]))),
    "pad": SERVER + FOUND + case(90, packet(WRITE_ONLY, 1, fields=bytes([PAD, 0, 3])), ANSWER),
    "bytes": SERVER + FOUND + case(30, raw(b"\xdc\0\xff\xff\0\0\x10\x02" + b"\0" * 44), raw(b""), ANSWER),
    "writes": SERVER + FOUND + case(91, b"\1", packet(WRITE_ONLY, 0x80, 0, 0, b"\0\x64"), packet(WRITE_ONLY, 0x80, 1, 0, b"\x12\0")),
    "by_hand": BY_HAND + ANSWER + bytes([0]) + ANSWER * 4 + bytes([20]) + (ANSWER + ACK) * 4,
}
for number in range(0, 104, 8):
    SEEDS[f"case_{number}"] = SERVER + FOUND + case(number, (ANSWER + ACK) * 6, MEMORY) + case(number + 1, (ACK + ANSWER) * 6)

if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, seed in SEEDS.items():
        (CORPUS / name).write_bytes(seed)
