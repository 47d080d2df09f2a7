#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_drivers.py: writes the seed corpus of fuzz_drivers, tests/fuzz/corpus/drivers.

A seed is a driver and a script of steps as fuzz_drivers.c reads them.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "drivers"

UDP4, UDP6, UDP6_RUNS, AFP4, AFP6, RAW41 = range(6)
RECEIVE, SEND, PACKET, RAW, MAPPED = 0, 1, 2, 6, 0x0A
ANCILLARY = 7
ROOM = 1  # for the run that a port sends to itself first


def packet(how=0, length=b"\x40", ancillary=ANCILLARY, op=PACKET):
    return bytes([op, ancillary, how]) + length


def message(length, ancillary=ANCILLARY, op=PACKET):
    return bytes([op, ancillary, length >> 8, length & 255])


def send(length=100, op=SEND, room=b""):
    return bytes([op, length >> 8, length & 255]) + room


def seeds():
    for name, driver in (("afp4", AFP4), ("afp6", AFP6), ("raw41", RAW41)):
        yield f"{name}_packets", driver, packet() * 3 + bytes([RECEIVE | 0x18]) + packet()
        yield f"{name}_cut", driver, packet(0x40, b"\x40\0\x32")
        yield f"{name}_wrong_port", driver, packet(1, b"\0\x07\x40")
        yield f"{name}_too_long", driver, packet(2, b"\x12\x34")
        yield f"{name}_changed", driver, packet(0x10, b"\x40\x06\x11") + packet(0x10, b"\x40\x19\xff")
        yield f"{name}_noise", driver, bytes([RAW, 0, 50]) + bytes([0x60] + [0] * 49)
        yield f"{name}_send", driver, send() + send(4224, SEND | 0xE0) + packet()
        yield f"{name}_no_room", driver, send(100, SEND | 0xF0, b"\2") + send() + send(9)
    yield "raw41_routing_header", RAW41, packet(8) + packet(0x88)
    yield "afp6_routing_header", AFP6, packet(8) + packet(0x88)
    for name, driver in (("udp4", UDP4), ("udp6", UDP6), ("runs", UDP6_RUNS)):
        yield f"{name}_messages", driver, message(100) + message(0) + message(4225) + bytes([RECEIVE])
        yield f"{name}_mapped", driver, message(100, 0, MAPPED) + bytes([RECEIVE])
        yield f"{name}_send", driver, send() + send(4224, SEND | 0xE0) + send(100, SEND | 0xF2, b"\0")
        # Enough of one kind that the socket is connected; then another kind, and refusals.
        many = send(100, SEND | 0xE0) * 3
        yield f"{name}_connected", driver, many + send(9) + many + send(100, SEND | 0xF0, b"\x05") + many * 2
        yield f"{name}_not_connected", driver, send(100, SEND | 0xF0, b"\x13") * 8 + many
    yield "runs_cut_up", UDP6_RUNS, message(5000, 0x44) + bytes([RECEIVE]) + message(300, 0xC)


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, driver, steps in seeds():
        (CORPUS / name).write_bytes(bytes([driver, ROOM]) + steps)


if __name__ == "__main__":
    main()
