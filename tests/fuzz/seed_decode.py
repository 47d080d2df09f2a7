#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_decode.py: writes the seed corpus of fuzz_decode, tests/fuzz/corpus/decode.

Each seed is what follows a UDP header. One packet of every opcode comes from the wire vectors;
the others are that packet with one thing changed, so that each verdict of the decoder and each
way to lose a tail has a seed to start from.
"""
import json
import pathlib

HERE = pathlib.Path(__file__).parent
CORPUS = HERE / "corpus" / "decode"
BTH = 12


def changed(packet, at, value):
    return packet[:at] + bytes([value]) + packet[at + 1:]


def data_mutations(packet, head):
    """A data packet: pad, cuts inside and behind the headers, a wrong timestamp type."""
    yield "pad", changed(packet, 1, packet[1] | 0x30) + bytes(3)
    yield "pad_too_long", changed(packet[:head], 1, packet[1] | 0x30) + bytes(1)
    yield "cut_meth", packet[:BTH + 4]
    yield "cut_ext", packet[:BTH + 11]
    yield "cut_head", packet[:head]
    if packet[8] & 0x10:
        yield "ftype", changed(packet, BTH + 7, 0x02)


def control_mutations(packet):
    """A control packet: one byte too few or too many, pad, reserved and constant fields."""
    yield "short", packet[:-1]
    yield "long", packet + bytes(1)
    yield "pad", changed(packet, 1, 0x10)
    yield "type", changed(packet, BTH, 0x10)
    yield "nh", changed(packet, BTH + 1, 0x80)
    yield "reserved", changed(packet, BTH + 1, packet[BTH + 1] | 0x1D)
    yield "last_byte", changed(packet, len(packet) - 1, 0xFE)


def seeds(vectors):
    for vector in vectors:
        name, number = vector["name"].rsplit("_", 1)
        head = bytes.fromhex(vector["hex"])
        packet = head + bytes.fromhex(vector["full"]["payload"])
        if number == "0":
            yield name, packet
        if vector["name"] in ("write_only_imm_1", "write_first_1"):
            for what, bytes_ in data_mutations(packet, len(head)):
                yield f"{name}_{what}", bytes_
        if vector["name"] in ("sack_1", "probe_0"):
            for what, bytes_ in control_mutations(packet):
                yield f"{name}_{what}", bytes_
    yield "bth_only", packet[:BTH]
    yield "bth_short", packet[:BTH - 1]
    yield "opcode_roce_write_only", changed(packet, 0, 0x0A)
    yield "opcode_unused", changed(packet, 0, 0xDF)
    yield "tver", changed(packet, 1, 0x01)
    # The extension's own, docs/protocol.md: requests, responses, and their control packets.
    for opcode in (0xE0, 0xE3, 0xEC, 0xED, 0xF0, 0xF2, 0xF3, 0xF4):
        yield f"ext_{opcode:02x}", bytes([opcode]) + bytes(7) + b"\x10" + bytes(10) + b"\x01" + bytes(36)
    for opcode, length in ((0xF1, 4), (0xFC, 36), (0xFD, 20)):
        yield f"ext_{opcode:02x}", bytes([opcode]) + bytes(11 + length)
    yield "ext_fe", bytes([0xFE]) + bytes(11 + 15) + b"\x01"


def main():
    vectors = json.loads((HERE.parent / "conformance" / "mrc-wire.json").read_text())["vectors"]
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, packet in seeds(vectors):
        (CORPUS / name).write_bytes(packet)


if __name__ == "__main__":
    main()
