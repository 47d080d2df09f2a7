#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_faults.py: writes the seed corpus of fuzz_faults, tests/fuzz/corpus/faults."""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "faults"

TABLE, GOOD = b"\x40", b"\0\0\0\7"
SEND, DATA, RULE = 0, 4, 1
OFF, DROP, CORRUPT, TRIM, DELAY, DUPLICATE, MARK = range(7)
TARGETS = {"host3": 0, "host3.plane0": 1, "plane0": 2, "plane0.t0-1": 3, "plane0.t0-1.t1-0": 4,
           "plane0.t0-1.transceiver0": 6}
NAMED = 7


def rule(kind, slot=0, how=b"\0"):
    return bytes([RULE | slot << 2]) + how + bytes([kind])


def send(length=1000, op=SEND | DATA | 0x30):
    return bytes([op, length >> 8, length & 255, 5])


def wait(log2):
    return bytes([2 | log2 << 2])


def seeds():
    for name, kind in (("drop", DROP), ("corrupt", CORRUPT), ("trim", TRIM), ("delay", DELAY),
                       ("duplicate", DUPLICATE), ("mark", MARK), ("unknown", 7)):
        yield f"table_{name}", TABLE + GOOD + rule(kind) + send() + send(20, 0) + wait(30) + send(1)
    yield "table_all", TABLE + GOOD + b"".join(rule(k, k % 4) + send(4223) for k in range(1, 7)) + wait(35)
    yield "table_four_duplicates", TABLE + GOOD + b"".join(rule(DUPLICATE, i) for i in range(4)) + send()
    yield "table_paths", TABLE + GOOD + bytes([RULE, 2, 65, 255, DROP]) + send()
    yield "table_jitter", TABLE + GOOD + bytes([RULE, 0xC0, 255, 255, 255, 255, 255, 255, 255, 255, DELAY]) \
        + send() * 3 + wait(39)
    yield "table_short", TABLE + b"\0\x41\0\0"
    yield "table_no_magic", TABLE + b"\3\2\0\0"
    yield "table_version", TABLE + b"\x08\2\0\0"
    for name, target, text in (
            ("down", "host3", "down"), ("loss", "plane0.t0-1.t1-0", "loss 1% out"),
            ("corrupt", "host3.plane0", "corrupt 0.3% in"), ("slow", "plane0.t0-1", "slow 20M"),
            ("swap", "plane0.t0-1.t1-0", "swap plane0.t0-0.t1-1"), ("reboot", "plane0.t0-1", "reboot"),
            ("stall", "plane0.t0-1", "stall"), ("blackhole", "plane0.t0-1.transceiver0", "blackhole out"),
            ("word", "plane0", "dwon"), ("share", "host3", "loss 101%"), ("nothing", "plane0", "")):
        yield f"text_{name}", bytes([TARGETS[target]]) + text.encode()
    yield "text_named", bytes([NAMED]) + b"plane1.t0-0.host2\nduplicate 5%"
    yield "text_named_wrongly", bytes([NAMED]) + b"plane7.t0-0\nreorder 5%"


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, data in seeds():
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
