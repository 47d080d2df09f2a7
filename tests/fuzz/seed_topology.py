#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_topology.py: writes the seed corpus of fuzz_topology, tests/fuzz/corpus/topology.

Each seed is a topology file: the presets, every key, and files that are refused.
"""
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "topology"
LAB = '[topology]\nbase = "lab"\n'

ALL = """[topology]
name = "all"
planes = 2
tiers = 3
pods = 3
hosts_per_t0 = 5
t0s = 2
t1s = 3
t1_uplinks = 6
t0_ports = 16
t1_ports = 18
t2_ports = 4
rails = 2
mtu = 9000
switch_latency = "250ns"
address_block = "fd00:1::/32"

[links]
speed = "1G"
latency = "1us"

[links.host_t0]
speed = "2G"
latency = "2us"

[links.t0_t1]
speed = "3G"
latency = "3us"

[links.t1_t2]
speed = "4G"
latency = "4us"

[usid]
block = "fc00:1200::/32"
planes = "usid"
destination = "downlink"
"""

SEEDS = {name: f'[topology]\nbase = "{name}"\n'
         for name in ("tiny", "lab", "lab8", "pod", "paper4", "threetier", "paper")}
SEEDS |= {
    "all": ALL,
    "oversubscribed": LAB + 'oversubscription = "1:1"\n',
    "indivisible": LAB + 'oversubscription = "3:1"\n',
    "huge_ratio": LAB + 'oversubscription = "99999:99999"\n[links]\nspeed = "99999999T"\n',
    "odd": LAB + "t0_ports = 7\n",
    "zero": LAB + "planes = 0\n",
    "too_many": LAB + "hosts_per_t0 = 65536\nt0s = 65536\n",
    "overlap": LAB + '[usid]\nblock = "fcbb:bb01::/32"\n',
    "unknown": LAB + "t3s = 1\n",
    "twice": LAB + "t1s = 2\nt1s = 2\n",
    "list": "[[topology]]\nplanes = 2\n",
    "no_toml": "[topology\n",
    "nothing": "\n",
}

if __name__ == "__main__":
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, seed in SEEDS.items():
        (CORPUS / name).write_text(seed)
