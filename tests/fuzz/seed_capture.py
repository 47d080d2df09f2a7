#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_capture.py: writes the seed corpus of fuzz_capture, tests/fuzz/corpus/capture."""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus" / "capture"

RAW, ETHERNET, COOKED = 101, 1, 113
WRITE = bytes([0xCA, 0, 255, 255, 0, 0, 0, 16, 0, 0, 3, 232]) + bytes(20) + b"12345678" + bytes(4)
DATAGRAM = bytes([0x64, 0, 255, 255, 0, 0, 0, 16, 0, 0, 0, 1]) + bytes(16)


def udp(payload, port=4791):
    return struct.pack(">4H", 50000, port, 8 + len(payload), 0) + payload


def ipv4(payload=WRITE, port=4791):
    body = udp(payload, port)
    return struct.pack(">BBHHHBBH", 0x45, 18, 20 + len(body), 0, 0x4000, 64, 17, 0) + bytes(
        [10, 0, 0, 1, 10, 0, 0, 2]) + body


def ipv6(payload=WRITE, dst=bytes(15) + b"\2"):
    body = udp(payload)
    return struct.pack(">IHBB", 0x60012345, len(body), 17, 64) + bytes(15) + b"\1" + dst + body


def tunnel(packet):
    return struct.pack(">IHBB", 0x60012345, len(packet), 41, 64) + bytes(16) + bytes.fromhex(
        "fcbbbb00a00010000000000000000000") + packet


def pcap(*packets, link=RAW, order="<", magic=0xA1B2C3D4):
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for p in packets:
        out += struct.pack(order + "IIII", 1, 2, len(p), len(p)) + p
    return out


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))


def pcapng(*packets, order="<", link=RAW, options=b""):
    out = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    out += block(1, struct.pack(order + "HHI", link, 0, 65535) + options, order)
    for p in packets:
        out += block(6, struct.pack(order + "IIIII", 0, 0, 9, len(p), len(p)) + p, order)
    return out


def seeds():
    ether = bytes(12) + b"\x08\0"
    yield "pcap", pcap(ipv4(), ipv6(), tunnel(ipv6()))
    yield "pcap_big", pcap(ipv4(), order=">")
    yield "pcap_ns", pcap(ipv4(), magic=0xA1B23C4D)
    yield "pcap_ethernet", pcap(ether + ipv4(), bytes(12) + b"\x81\0\0\1\x86\xdd" + ipv6(), link=ETHERNET)
    yield "pcap_cooked", pcap(bytes(14) + b"\x08\0" + ipv4(), link=COOKED)
    yield "pcap_other_link", pcap(ipv4(), link=147)
    yield "pcap_cut", pcap(ipv4())[:-20]
    yield "pcap_long", pcap(ipv4())[:32] + b"\xff" * 8
    yield "pcapng", pcapng(ipv4(), ipv6(DATAGRAM), tunnel(ipv6(DATAGRAM)))
    yield "pcapng_big", pcapng(ipv4(), order=">")
    yield "pcapng_options", pcapng(ipv4(), options=struct.pack("<HH", 2, 5) + b"port0\0\0\0" + struct.pack(
        "<HHI", 9, 1, 9) + bytes(4))
    yield "pcapng_no_interface", pcapng()[:28] + pcapng(ipv4())[48:]
    yield "pcapng_two_sections", pcapng(ipv4()) + pcapng(ipv6(), order=">")
    yield "pcapng_bad_length", pcapng() + struct.pack("<II", 6, 13)
    yield "other_port", pcap(ipv4(port=53))
    yield "short_packets", pcap(*(ipv4(WRITE[:n]) for n in range(0, 44, 4)))
    yield "srv6", pcap(ipv6(WRITE, bytes.fromhex("fcbbbb00a00010000000000000000000")))
    yield "noise", bytes(64)


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, data in seeds():
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
