#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_mrcd.py: writes the seed corpus of fuzz_mrcd, tests/fuzz/corpus/mrcd.

A seed is a configuration, a byte 0, a byte that is even where the client may change anything, and
requests, a line each. One that begins with "!" is an offered state, as fuzz_mrcd.c makes it.
"""
import json
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "mrcd"
HEAD = "[device]\nports = 2\nevs = 4\n"
FULL = HEAD + """[node]
dir = "/run/x"
[access]
lab = true
[[format]]
profile = 1
mode = "udp"
fields = [8, 8]
[[ev]]
profile = 1
mode = "explicit"
format = 1
evs = ["1:49152", "2:49153"]
events = ["good", "bad"]
[[cc]]
profile = 1
algorithm = "uet-1.0-nscc"
gamma = 0.5
[[port]]
port = 2
admin = "suspended"
"""
FORMAT = {"do": "format.set", "profile": 1, "mode": "udp", "fields": [8, 8]}
EXPLICIT = {"do": "ev.set", "profile": 1, "mode": "explicit", "format": 1, "evs": ["1:1", "2:2", "1:3"]}
GENERATED = {"do": "ev.set", "profile": 2, "mode": "generated", "format": 1, "count": 8, "width": [8, 8],
             "init": [192, 0], "min": [0, 0], "max": [0, 255], "mask": [0, 255]}
# Port 2 is suspended; one more EV than there are; a header that is not of this state.
OFFERS = [b"!\0\0\1\1", b"!\0\x47\x10\1", b"!\1\0\1\1"]
SEEDS = {
    "nothing": ("", True, []),
    "file": (FULL, True, [{"do": "status"}]),
    "shows": (HEAD, False, [{"do": f"{what}.show", "id": 1} for what in ("port", "format", "ev", "cc")]),
    "port": (HEAD, True, [{"do": "port.set", "port": 1, "admin": "down"}]),
    "explicit": (HEAD, True, [FORMAT, EXPLICIT, {"do": "ev.replace", "profile": 1, "ev": "1:3", "with": "1:9", "all": True},
                              {"do": "ev.set", "profile": 1, "state": "init"}]),
    "generated": (HEAD, True, [FORMAT, GENERATED, {"do": "ev.deny", "profile": 2, "evs": ["1:xc000"]}]),
    "deny": (HEAD, True, [{"do": "ev.deny", "evs": ["1:49152", "2:0xc0010003"], "reason": "why"},
                          {"do": "ev.undeny", "evs": ["1:49152"]}]),
    "cc": (HEAD, True, [{"do": "cc.set", "profile": 1, "algorithm": "uet-1.0-nscc", "gamma": 0.5, "base_rtt_ns": 9},
                        {"do": "cc.set", "profile": 1, "state": "offline"}]),
    "offers": (HEAD, True, [FORMAT, EXPLICIT, *OFFERS]),
    "reader": (HEAD, False, [{"do": "events"}, {"do": "reload"}, {"do": "port.set", "port": 1, "admin": "down"}]),
}

if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, (config, may_change, requests) in SEEDS.items():
        lines = b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in requests)
        (CORPUS / name).write_bytes(config.encode() + b"\0" + (b"\0" if may_change else b"\1") + lines)
