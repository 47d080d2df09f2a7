#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_settings.py: writes the seed corpus of fuzz_settings, tests/fuzz/corpus/settings.

A seed is an environment, lines whose first byte is the number of a setting in MH_SETTINGS, an empty
line, and a configuration file.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).parent
CORPUS = ROOT / "corpus" / "settings"
HEADER = ROOT.parent.parent / "src" / "host" / "config" / "settings.h"
NAMES = re.findall(r'X\(\w+, "(\w+)"', HEADER.read_text())

ROW = "fd4d:5243::1/48 = fcbbbb00+plane a000 b000+uplink a000+t0 1000+host"
# The least and the largest value of each number, as docs/configuration.md has them; of 2 ports.
NUMBERS = {"DEVICES": (1, 2), "EVS": (1, 64), "EV_BASE": (1024, 65535), "RUN": (1, 64), "UDP_PORT": (1024, 64512),
           "RX_BUFFER": (65536, 1 << 30), "BASE_RTT_US": (1, 1000000), "PROBE_US": (100, 10000000),
           "RTO_MIN_US": (100, 10000000), "TAIL_PROBE_US": (10, 10000000), "REORDER_MIN_US": (1, 10000000),
           "REORDER_MAX_US": (1, 10000000), "MEMORY": (16, 1 << 20), "PRIORITY": (0, 20)}
SRV6 = {"PORTS": "lo", "SRV6_GID": "fd4d:5243::3", "SRV6_ROWS": ROW, "SRV6_UPLINKS": "4"}


def seed(file="", **settings):
    lines = [bytes([NAMES.index("MRC_" + name)]) + value.encode() for name, value in settings.items()]
    # 10 is the end of a line; the numbers repeat.
    lines = [bytes([line[0] + len(NAMES) if line[0] == 10 else line[0]]) + line[1:] for line in lines]
    return b"".join(line + b"\n" for line in lines) + b"\n" + file.encode()


def seeds():
    yield "nothing", seed()
    yield "ports", seed(PORTS="10.0.0.1,10.0.1.1", PORT_PREFIX="24", MTU="1024")
    yield "ports_ipv6", seed(PORTS="fd00:0:0:1::1,fd00:0:0:2::1", DRIVER="raw41")
    yield "ports_named", seed(PORTS="lo=127.0.0.1,lo=127.0.1.1")
    yield "ports_mixed", seed(PORTS="10.0.0.1,fd00::1")
    yield "ports_many", seed(PORTS=",".join(f"10.0.{i}.1" for i in range(33)))
    yield "one_subnet", seed(PORTS="fd00::1", PORT_PREFIX="0")
    yield "interface", seed(PORTS="lo")
    yield "devices", seed(PORTS="10.0.0.1,10.0.1.1,10.0.2.1", DEVICES="3")
    yield "devices_uneven", seed(PORTS="10.0.0.1,10.0.1.1", DEVICES="8")
    yield "numbers", seed(PORTS="10.0.0.1", EVS="64", EV_BASE="65472", RUN="64", RX_BUFFER="65536",
                          MEMORY="16", PRIORITY="0", UDP_PORT="4791")
    yield "too_large", seed(PORTS="10.0.0.1", EVS="99999999999999999999")
    yield "behind_the_ports", seed(PORTS="10.0.0.1", EVS="64", EV_BASE="65535")
    yield "times", seed(PORTS="10.0.0.1", RTO_MIN_US="100", TAIL_PROBE_US="10", REORDER_MIN_US="5",
                        REORDER_MAX_US="4", PROBE_US="100", BASE_RTT_US="1")
    yield "words", seed(PORTS="10.0.0.1", DRIVER="af_packet", CC="nscc", EV_FORMAT="stev", ORDER="relaxed",
                        ICRC="off", SVC_TIME="on", STATS_KEEP="on", PACE="2.5G")
    yield "dscp", seed(PORTS="10.0.0.1", DSCP="1,5,9,13,17,47")
    yield "paths", seed(PORTS="10.0.0.1", CAPTURE="/tmp/x", FAULTS="/tmp/y", STATS_DIR="/tmp", REAL_IBVERBS="off")
    yield "path_too_long", seed(PORTS="10.0.0.1", CAPTURE="/" + "x" * 300)
    yield "srv6", seed(**SRV6)
    yield "srv6_rows", seed(**{**SRV6, "SRV6_ROWS": ROW + ",fd4d::/16 = fcbbbb00 a000", "EVS": "16"})
    yield "srv6_two_tiers", seed(**{**SRV6, "SRV6_T1_UPLINKS": "8", "SRV6_ROWS": ROW.replace(
        "b000+uplink", "b000+uplink:4 c000+uplink")})
    yield "srv6_bad_word", seed(**{**SRV6, "SRV6_ROWS": ROW.replace("t0", "t9")})
    yield "srv6_without_gid", seed(PORTS="lo", SRV6_ROWS=ROW, SRV6_UPLINKS="4")
    # One alone, so that nothing else refuses the environment.
    for name, (least, most) in NUMBERS.items():
        for what, value in ("least", least), ("below", least - 1), ("most", most), ("above", most + 1):
            more = {"REORDER_MAX_US": "10000000"} if name == "REORDER_MIN_US" else {}
            more |= {"REORDER_MIN_US": "1"} if name == "REORDER_MAX_US" else {}
            more |= {"EVS": "1"} if name == "EV_BASE" else {}
            if value >= 0:
                yield f"{name.lower()}_{what}", seed(PORTS="10.0.0.1,10.0.1.1", **more, **{name: str(value)})
    yield "file", seed('[ports]\nlist = ["10.0.0.1", "10.0.1.1"]\nmtu = 1024\npace = "10G"\n'
                       '[paths]\nevs = 4 # four\n[checks]\nicrc = false\n')
    yield "file_srv6", seed(f'[ports]\nlist = ["lo"]\n[srv6]\ngid = "fd4d:5243::3"\nrows = [\n"{ROW}",\n]\n'
                            'uplinks = 4\n')
    yield "file_twice", seed('ports.mtu = 256\n[ports]\nmtu = 512\n')
    yield "file_unknown", seed('[paths]\nevz = 4\n')
    yield "file_kind", seed('[paths]\nevs = "4"\n')
    yield "file_no_toml", seed('[paths\nevs = \'x')
    yield "file_and_variable", seed('[paths]\nevs = 9\n', PORTS="10.0.0.1", EVS="3")


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, text in seeds():
        (CORPUS / name).write_bytes(text)


if __name__ == "__main__":
    main()
