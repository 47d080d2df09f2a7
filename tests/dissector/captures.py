# SPDX-License-Identifier: BSD-2-Clause
"""captures.py: writes packaging/wireshark/vectors.pcap, which is installed: the wire vectors as packets for Wireshark."""
import json

import tshark

VECTORS = tshark.ROOT / "tests/conformance/mrc-wire.json"
CAPTURE = tshark.ROOT / "packaging/wireshark/vectors.pcap"


def vectors():
    return json.loads(VECTORS.read_text())["vectors"]


def write(path):
    tshark.write_pcap(path, [bytes.fromhex(v["full"]["packet"]) for v in vectors()])


if __name__ == "__main__":
    write(CAPTURE)
