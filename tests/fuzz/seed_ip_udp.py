#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_ip_udp.py: writes the seed corpus of fuzz_ip_udp, tests/fuzz/corpus/ip_udp.

Each seed is an IP packet as a raw socket hands it over: both families, with a routing header, cut
behind each header, and wrong in one thing.
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus" / "ip_udp"
A = bytes.fromhex("fd4d5243000000000000000000000001")
B = bytes.fromhex("fd4d5243000000000000000000000002")
UDP, ROUTING = 17, 43


def udp(payload, promised=None):
    length = 8 + (len(payload) if promised is None else promised)
    return struct.pack(">4H", 0xC001, 4791, length, 0) + payload


def ipv6(rest, following=UDP, promised=None, tos=0x12, label=0x10003):
    length = len(rest) if promised is None else promised
    return struct.pack(">IHBB", 6 << 28 | tos << 20 | label, length, following, 64) + A + B + rest


def ipv4(rest, words=5, protocol=UDP, piece=0x4000):
    head = struct.pack(">BBHHHBBH", 4 << 4 | words, 0x13, 20 + len(rest), 7, piece, 64, protocol, 0)
    return head + bytes([10, 0, 0, 1]) + bytes([10, 0, 0, 2]) + bytes(4 * words - 20) + rest


def routing(rest, left=0, units=2):
    return struct.pack(">8B", UDP, units, 4, left, 0, 0, 0, 0) + A + rest


DATA = bytes(range(40))
WHOLE = ipv6(udp(DATA))

SEEDS = {
    "ipv6": WHOLE,
    "ipv6_empty": ipv6(udp(b"")),
    "ipv6_trimmed": ipv6(udp(DATA[:16], promised=4096), promised=8 + 4096),
    "ipv6_padded": WHOLE + bytes(6),
    "ipv6_cut_udp": WHOLE[:44],
    "ipv6_cut_ip": WHOLE[:39],
    "ipv6_tcp": ipv6(udp(DATA), following=6),
    "routing_used_up": ipv6(routing(udp(DATA)), following=ROUTING),
    "routing_left": ipv6(routing(udp(DATA), left=1), following=ROUTING),
    "routing_long": ipv6(routing(udp(DATA), units=255), following=ROUTING),
    "ipv4": ipv4(udp(DATA)),
    "ipv4_options": ipv4(udp(DATA), words=7),
    "ipv4_piece": ipv4(udp(DATA), piece=0x2000),
    "ipv4_short_header": ipv4(udp(DATA), words=5)[:1].replace(b"\x45", b"\x44") + ipv4(udp(DATA))[1:],
    "version_5": b"\x50" + WHOLE[1:],
}

if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, seed in SEEDS.items():
        (CORPUS / name).write_bytes(seed)
