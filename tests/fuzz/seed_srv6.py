#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_srv6.py: writes the seed corpus of fuzz_srv6, tests/fuzz/corpus/srv6.

Each seed is an IPv6 destination and a routing header: the forms that are sent, those that others
send, and for each verdict of the decoder one that gets it.
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus" / "srv6"
BLOCK = 0xFCBB0001


def address(*usids):
    return struct.pack(">I6H", BLOCK, *usids, *[0] * (6 - len(usids)))


def header(segments, left, kind=4, last=None, units=None, tail=b"", flags=0, tag=0):
    last = len(segments) - 1 if last is None else last
    units = (len(segments) * 16 + len(tail)) // 8 if units is None else units
    return struct.pack(">6BH", 41, units, kind, left, last, flags, tag) + b"".join(segments) + tail


PATH = address(0xA000, 0xB001, 0xA001, 8)
FULL = address(1, 2, 3, 4, 5, 6)
REST = address(7, 8)

SEEDS = {
    "address": PATH,
    "six": FULL,
    "hole": address(1, 0, 3),
    "empty": address(),
    "reduced": FULL + header([REST], 1),
    "whole": FULL + header([REST, FULL], 1),
    "visited": REST + header([REST, FULL], 0),
    "tlv": FULL + header([REST], 1, tail=bytes([4, 6]) + bytes(6)),
    "tagged": FULL + header([REST], 1, flags=1, tag=7),
    "cut_fixed": FULL + header([REST], 1)[:7],
    "cut_list": FULL + header([REST], 1)[:23],
    "no_list": FULL + header([], 0, last=0),
    "long_list": FULL + header([REST], 1, last=1),
    "last_255": FULL + header([REST], 1, last=255),
    "too_many_left": FULL + header([REST], 2),
    "type_2": FULL + header([REST], 1, kind=2),
    "units_255": FULL + header([REST], 1, units=255),
}

if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, seed in SEEDS.items():
        (CORPUS / name).write_bytes(seed)
