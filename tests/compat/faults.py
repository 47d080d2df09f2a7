# SPDX-License-Identifier: BSD-2-Clause
"""A fault table (include/mrc/fault.h) that spoils four planes, each in another way: what the software
NICs of a row do to the frames that they send."""
import pathlib
import struct

PLANES = 4
DROP, CORRUPT, DELAY, DUPLICATE = 1, 2, 4, 5
# kind, chance in parts per million, delay and jitter in us. Every plane has every fault.
RULES = ((DROP, 2000, 0, 0), (CORRUPT, 500, 0, 0), (DELAY, 50000, 0, 300), (DUPLICATE, 5000, 0, 0))
HEAD = struct.Struct("<8sIIQ40x")
RULE = struct.Struct("<4IQ16s4I3Q40x")
RULES_MAX = 32
ENV = {"MRC_PORTS": ",".join(f"127.0.{plane}.1" for plane in range(PLANES))}


def write(path, seed):
    """Makes the file for one row."""
    table = HEAD.pack(b"MRCFAULT", 1, RULES_MAX, seed)
    for kind, chance, delay, jitter in RULES:
        table += RULE.pack(kind, (1 << PLANES) - 1, 0, 0, 0, bytes(16), chance, delay, jitter, 0, 0, 0, 0)
    pathlib.Path(path).write_bytes(table + bytes(RULE.size * (RULES_MAX - len(RULES))))


def hits(path):
    """How many frames each rule has hit."""
    data = pathlib.Path(path).read_bytes()
    found = (RULE.unpack_from(data, HEAD.size + i * RULE.size) for i in range(len(RULES)))
    return [rule[10] + rule[11] for rule in found]
