# SPDX-License-Identifier: BSD-2-Clause
"""Captures for tshark to read with the dissector, and what it says of each packet."""
import pathlib
import shutil
import struct
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging/wireshark/mrc.lua"
LINK_RAW = 101
PORT = 4791
PCAP_HEAD_BYTES = 24


def missing():
    """Why no test can run here, or None."""
    return None if shutil.which("tshark") else "no tshark here (tools/deps check installs it)"


def write_pcap(path, packets):
    """A capture of IP packets, a second apart."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, LINK_RAW))
        for second, packet in enumerate(packets):
            out.write(struct.pack("<IIII", second, 0, len(packet), len(packet)) + packet)


def join_pcaps(path, captures):
    """One capture of several that are written alike: their packets behind one head."""
    with open(path, "wb") as out:
        for number, capture in enumerate(captures):
            out.write(capture.read_bytes()[PCAP_HEAD_BYTES if number else 0:])


def read(capture, fields, *options):
    """A list with a dictionary for each packet: field -> list of values as text."""
    words = ["tshark", "-X", f"lua_script:{SCRIPT}", "-o", "udp.try_heuristic_first:TRUE", *options, "-r", str(capture),
             "-T", "fields", "-E", "separator=/t", "-E", "aggregator=|", "-E", "occurrence=a"]
    for field in fields:
        words += ["-e", field]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    said = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    if done.returncode or said:
        raise RuntimeError(f"tshark: exit status {done.returncode}: {said}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [{field: value.split("|") if value else [] for field, value in zip(fields, row)} for row in rows]


def number(values):
    """The number of a field that occurs once: decimal, hexadecimal or a truth value."""
    (text,) = values
    return {"True": 1, "False": 0}.get(text) if text in ("True", "False") else int(text, 0)


# ---- packets of one's own ----

def icrc(ip, udp, mrc):
    """The ICRC of an IPv4 packet of MRC."""
    ip = ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] + b"\xff\xff" + ip[12:]
    return zlib.crc32(b"\xff" * 8 + ip + udp[:6] + b"\xff\xff" + mrc[:4] + b"\xff" + mrc[5:]).to_bytes(4, "little")


def ipv4(mrc, dscp, whole=True, port=PORT):
    """MRC's bytes in an IPv4 packet, with the ICRC behind them unless the packet was cut."""
    length = 28 + len(mrc) + (4 if whole else 0)
    hosts = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, dscp << 2, length, 0, 0x4000, 64, 17, 0, *hosts)
    udp = struct.pack(">HHHH", 49152, port, length - 20, 0)
    return ip + udp + mrc + (icrc(ip, udp, mrc) if whole else b"")


def ipv6_to_usids(mrc, dscp, source, destination, usids, flow=0, port=PORT):
    """MRC's bytes in UDP to a list of uSIDs, between two GIDs; the ICRC covers the GIDs."""
    udp = struct.pack(">HHHH", 49152, port, 12 + len(mrc), 0)
    tail = struct.pack(">HBB", len(udp) + len(mrc) + 4, 17, 64)
    invariant = b"\x6f\xff\xff\xff" + tail[:3] + b"\xff" + source + destination
    crc = zlib.crc32(b"\xff" * 8 + invariant + udp[:6] + b"\xff\xff" + mrc[:4] + b"\xff" + mrc[5:])
    return struct.pack(">I", 6 << 28 | dscp << 22 | flow) + tail + source + usids + udp + mrc + crc.to_bytes(4, "little")


def ipv6(following, source, destination, behind, dscp=0, flow=0):
    """What is behind an IPv6 header, which says that `following` comes."""
    return struct.pack(">IHBB", 6 << 28 | dscp << 22 | flow, len(behind), following, 64) + source + destination + behind


def tunnel(inner, dscp, source, usids, segment=None, left=1):
    """An outer header to a list of uSIDs, and a routing header with one segment, around an IPv6 packet."""
    if segment is None:
        return ipv6(41, source, usids, inner, dscp)
    return ipv6(43, source, usids, struct.pack(">BBBBBBH", 41, 2, 4, left, 0, 0, 0) + segment + inner, dscp)


def bth(opcode, psn=100, qpn=0x123456, first=0, marks=0):
    return struct.pack(">BBHII", opcode, first, 0xFFFF, qpn, marks << 24 | psn)
