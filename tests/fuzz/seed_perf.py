#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_perf.py: writes the seed corpus of fuzz_perf, tests/fuzz/corpus/perf.

A seed is pieces of a conversation: a byte n, then 8 * (n + 1) bytes.
"""
import json
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "perf"

PLAN = {"min": 64, "max": 4096, "duration_ns": 1000000000, "qps": 2, "depth": 64, "imm": False,
        "bidirectional": False, "bandwidth": True, "latency": True}
END = {"gid": "0" * 32, "form": "udp", "mtu": 5, "address": 4096, "bytes": 4096, "rkey": 1,
       "qpns": [16, 17], "psns": [1, 2]}


def pieces(text, size=2048):
    data = text if isinstance(text, bytes) else text.encode()
    out = b""
    for at in range(0, len(data), size):
        piece = data[at:at + size]
        n = (len(piece) + 7) // 8
        out += bytes([n - 1]) + piece.ljust(8 * n)
    return out


def line(value):
    return json.dumps(value) + "\n"


def seeds():
    yield "hello", pieces(line({"mrc_perf": 2, "plan": PLAN, "end": END}))
    yield "answer", pieces(line({"end": END}) + line({"ready": True}) + line({"messages": 1, "ns": 5}))
    yield "plan", pieces(line(PLAN))
    yield "in_pieces", pieces(line({"plan": PLAN}), 8)
    yield "phases", pieces(line({"phase": "bandwidth", "bytes": 64}) + line({"phase": "end"}))
    yield "error", pieces(line({"error": "no \x1b[2J device"}))
    yield "error_long", pieces(line({"error": "x" * 1000}))
    for name, value in (("min", 0), ("max", 1 << 40), ("qps", 65), ("depth", -1), ("imm", 1),
                        ("duration_ns", 1.5), ("latency", "\x1b[2J")):
        yield f"plan_{name}", pieces(line({"plan": {**PLAN, name: value}}))
    yield "plan_short", pieces(line({"plan": {"min": 1}}))
    yield "twice", pieces('{"plan":1,"plan":2}\n')
    yield "no_object", pieces("[1]\n")
    yield "deep", pieces("[" * 5000 + "\n")
    yield "endless", pieces("{" + " " * 17000)
    yield "http", pieces("GET / HTTP/1.1\r\n\r\n")
    yield "nul", pieces(b'{"a":"\\u0000"}\n\0\0\n')


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, text in seeds():
        (CORPUS / name).write_bytes(text)


if __name__ == "__main__":
    main()
