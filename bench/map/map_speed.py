#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the map costs and how soon it names a fault: probes of a node, faults of a lab, rules of a cluster.

    probes  an mrcd that shares in 32 uplinks, planned at more than once a millisecond each: its CPU time, bits, probes,
            and what it sends over an uplink that is in doubt
    names   the faults of docs/map.md on tiny, five checks of each: from the first probe until the right name
    steady  three of them and a flap on tiny, while `mrc map watch` runs all the time: from the fault until the name
    rules   Prometheus' rules on what so many nodes serve, as Debian's prometheus scrapes and times them: some minutes, 12 GB

Needs root for labs. Each part says where it has nothing to run with.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from cluster_scrape import ROUTES, Cluster

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TICKS = os.sysconf("SC_CLK_TCK")

# ---- probes of a node ----

WIDE = """[topology]
base = "lab8"
hosts_per_t0 = 2
t0s = 2
"""
PLANES, UPLINKS = 8, 4
MRCD = """[node]
dir = "{folder}/{host}"
[device]
ports = 8
ev_format = "stev"
evs = 4
[metrics]
listen = ":9891"
[map]
fabric = "{folder}/wide.toml"
host = {host}
rate = "100M"
interfaces = [{interfaces}]
"""
MEASURED_S = 10
SMALL_BYTES = 176  # on the wire


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextlib.contextmanager
def lab(mrc, name, *words):
    subprocess.run([mrc, "lab", "up", *words, "--name", name], check=True, stdout=subprocess.DEVNULL)
    try:
        yield name
    finally:
        subprocess.run([mrc, "lab", "down", name], check=False, stdout=subprocess.DEVNULL)


def scrape(mrc, name):
    """The series of host0's mrcd, by name and labels; empty while it does not answer."""
    get = 'exec 3<>/dev/tcp/127.0.0.1/9891; printf "GET /metrics HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3'
    run = subprocess.run([mrc, "lab", "shell", name, "host0", "--", "bash", "-c", get], capture_output=True,
                         text=True, check=False)
    return {key: float(value) for key, value in re.findall(r"^(softmrc_map\S+) (\S+)$", run.stdout, re.M)}


def uplinks_of(key):
    """Which uplinks of host0's T0 a route's probes cross."""
    plane, kind, via = (re.search(rf'{label}="([^"]*)"', key)[1] for label in ("plane", "kind", "via"))
    hops = [hop for hop in via.split(",") if hop.startswith("t1-")]
    return [] if kind == "peer" else [(plane, hop) for hop in hops]


def measure_probes(mrc, mrcd):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        pathlib.Path(folder, "wide.toml").write_text(WIDE, encoding="utf-8")
        name = stack.enter_context(lab(mrc, f"bm{os.getpid()}", f"{folder}/wide.toml"))
        daemons = []
        for host in range(2):
            config = pathlib.Path(folder, f"{host}.toml")
            config.write_text(MRCD.format(folder=folder, host=host, interfaces=", ".join(
                f'"e{plane}"' for plane in range(PLANES))), encoding="utf-8")
            daemons.append(subprocess.Popen([mrc, "lab", "shell", name, f"host{host}", "--", mrcd, "--config", config],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            stack.callback(daemons[-1].wait)
            stack.callback(daemons[-1].terminate)
        while scrape(mrc, name).get('softmrc_map_neighbours_living{host="host0"}') != 1:
            if any(daemon.poll() is not None for daemon in daemons):
                sys.exit("probes: an mrcd ended at once; run it by hand to see why")
            time.sleep(0.2)
        grown, cpu, planned = probes_for(mrc, name, daemons[0].pid)
        links = by_uplink(grown)
        print_probes(links, grown, cpu, planned)
        subprocess.run([mrc, "lab", "fault", name, "plane0.t0-0.t1-0", "loss", "5%"], check=True, stdout=subprocess.DEVNULL)
        time.sleep(1)
        grown, cpu, _ = probes_for(mrc, name, daemons[0].pid)
    most, rate = links["0", "t1-0"], by_uplink(grown)["0", "t1-0"]
    print(f"probes: over an uplink that loses 5 % {rate:.0f} probes/s, {rate - most:.0f} of them of {SMALL_BYTES} bytes for the "
          f"doubt: {(rate - most) * SMALL_BYTES * 8 / 1e6:.1f} Mb/s each way at most; {sum(grown.values()):.0f} probes/s of a "
          f"node, {cpu:.1f} % of a core")


def probes_for(mrc, name, pid):
    """Probes a second of each route, the share of a core, and the bits a second that were planned, over some seconds."""
    before, cpu, at = scrape(mrc, name), cpu_s(pid), time.monotonic()
    time.sleep(MEASURED_S)
    cpu, passed, after = cpu_s(pid) - cpu, time.monotonic() - at, scrape(mrc, name)
    grown = {key: (after[key] - before.get(key, 0)) / passed for key in after if "map_probes_total" in key}
    return grown, 100 * cpu / passed, after[bits_key(after)] * 8


def by_uplink(grown):
    """Of both hosts, which probe alike."""
    links = {}
    for key, rate in grown.items():
        for uplink in uplinks_of(key):
            links[uplink] = links.get(uplink, 0) + 2 * rate
    return links


def print_probes(links, grown, cpu, planned):
    print(f"probes: {len(links)} uplinks, by two hosts at least {min(links.values()):.0f} probes/s over each; "
          f"{sum(grown.values()):.0f} probes/s of {planned / 1e6:.1f} Mb/s planned of a node, "
          f"{cpu:.1f} % of a core", flush=True)


def bits_key(series):
    return next(key for key in series if key.startswith("softmrc_map_bytes_per_second"))


# ---- from fault to name ----

# Target, fault, and what is to be said of it: the parts, what is wrong with them, the direction; nothing else.
FAULTS = [
    ("host3.plane0", "down", ["host3.plane0"], "dead", "both"),
    ("plane0.t0-0.t1-0", "blackhole", ["plane0.t0-0.t1-0"], "dead", "both"),
    ("plane0.t0-0.t1-0", "blackhole out", ["plane0.t0-0.t1-0"], "dead", "out"),
    ("plane1.t1-0", "stall", ["plane1.t1-0"], "dead", "both"),
    ("plane1.t0-1", "reboot", ["plane1.t0-1"], "dead", "both"),
    ("host2", "blackhole", ["host2"], "dead", "both"),
    ("host2", "blackhole out", ["host2"], "dead", "out"),
    ("plane1", "blackhole", ["plane1"], "dead", "both"),
    ("host1.plane0", "swap host2.plane0", ["host1.plane0", "host2.plane0"], "wrong cable", "both"),
    ("plane0.t0-0.t1-0", "swap plane0.t0-0.t1-1", ["plane0.t0-0.t1-0", "plane0.t0-0.t1-1"], "wrong cable", "both"),
    ("plane0.t0-1.t1-1", "loss 10%", ["plane0.t0-1.t1-1"], "lossy", "both"),
    ("plane0.t0-1.t1-1", "loss 10% out", ["plane0.t0-1.t1-1"], "lossy", "out"),
    ("plane0.t0-1.t1-1", "loss 1%", ["plane0.t0-1.t1-1"], "lossy", "both"),
    ("plane1.t0-1.t1-0", "corrupt 10%", ["plane1.t0-1.t1-0"], "corrupting", "both"),
    ("plane1.t0-1.t1-0", "duplicate 10%", ["plane1.t0-1.t1-0"], "duplicating", "both"),
    ("plane1.t0-1.t1-0", "reorder 10%", ["plane1.t0-1.t1-0"], "reordering", "both"),
    ("plane0.t0-1.t1-1", "slow 20M", ["plane0.t0-1.t1-1"], "slow", "both"),
    ("host0.plane0", "slow 20M", ["host0.plane0"], "slow", "both"),
    ("host0.plane0", "slow 20M out", ["host0.plane0"], "slow", "out"),
    ("host0.plane0", "slow 20M in", ["host0.plane0"], "slow", "in"),
]


def name_one(mrc, name, fault, checks, words):
    """Of each check the time in ms until all of it was named rightly, or None, and what was said instead."""
    target, what, parts, kind, direction = fault
    subprocess.run([mrc, "lab", "fault", name, target, *what.split()], check=True, stdout=subprocess.DEVNULL)
    found = []
    for _ in range(checks):
        run = subprocess.run([mrc, "map", "check", name, "--json", "--for", "2s", *words], capture_output=True, text=True,
                             check=False)
        sick = json.loads(run.stdout)["sick"]
        said = sorted((one["part"], one["kind"], one["direction"]) for one in sick)
        right = said == sorted((part, kind, direction) for part in parts)
        found.append((max(one["named_ns"] for one in sick) / 1e6, None) if right else
                     (None, "; ".join(one["text"] for one in sick) or "nothing"))
    subprocess.run([mrc, "lab", "fault", name, target, "lift", what.split()[0]], check=True, stdout=subprocess.DEVNULL)
    return found


def flap_one(mrc, name):
    """How often a cable was called dead, and after how long flapping: it falls thrice, 550 ms apart."""
    watch = subprocess.Popen([mrc, "map", "watch", name, "--json", "--for", "60s"], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    begun = time.monotonic()
    flap = subprocess.Popen([mrc, "lab", "fault", name, "host0.plane0", "flap"], stdout=subprocess.DEVNULL)
    dead = 0
    for line in watch.stdout:
        said = json.loads(line)
        dead += said["change"] == "begun" and said["kind"] == "dead"
        if said["change"] == "begun" and said["kind"] == "flapping":
            break
    else:
        dead = None
    took = time.monotonic() - begun
    watch.terminate()
    watch.wait()
    flap.wait()
    return dead, took


def wait_until_said(watch, what, is_it):
    """Reads lines of `mrc map watch --json` up to the one that is meant; the watch has an end, in case it never comes."""
    for line in watch.stdout:
        if is_it(json.loads(line)):
            return
    raise SystemExit(f"steady: {what}: not said before the watch ended")


def measure_steady(mrc, checks):
    """From the moment `mrc lab fault` returns, while `mrc map watch` runs all the time, until it has said the name."""
    with lab(mrc, f"bs{os.getpid()}", "tiny", "--pace", "100M") as name:
        limit_s = 60 * (1 + 3 * checks)
        watch = subprocess.Popen([mrc, "map", "watch", name, "--json", "--for", f"{limit_s}s"], stdout=subprocess.PIPE, text=True)
        time.sleep(2)
        for target, what, parts, kind, _ in (FAULTS[0], FAULTS[1], FAULTS[3]):
            found = []
            for _ in range(checks):
                subprocess.run([mrc, "lab", "fault", name, target, *what.split()], check=True, stdout=subprocess.DEVNULL)
                begun = time.monotonic()
                named = {"change": "begun", "part": parts[0], "kind": kind}
                wait_until_said(watch, f"{target} {what}", lambda said, named=named: named.items() <= said.items())
                found.append((time.monotonic() - begun) * 1000)
                subprocess.run([mrc, "lab", "fault", name, target, "lift", what.split()[0]], check=True,
                               stdout=subprocess.DEVNULL)
                wait_until_said(watch, f"the end of {target} {what}", lambda said: said["change"] == "ended")
                time.sleep(12)  # three within ten seconds would be a flap
            print(f"steady: {target} {what}: median {statistics.median(found):.0f} ms, at most {max(found):.0f} ms "
                  "after the command", flush=True)
        watch.terminate()
        watch.wait()
        dead, took = flap_one(mrc, name)
    print("steady: host0.plane0 flap: not named" if dead is None else
          f"steady: host0.plane0 flap: flapping after {took:.2f} s, and dead {dead} times before")


def measure_names(mrc, checks, faults, words):
    with lab(mrc, f"bn{os.getpid()}", "tiny", "--pace", "100M") as name:
        for fault in (one for one in FAULTS if re.search(faults, f"{one[0]} {one[1]}")):
            found = name_one(mrc, name, fault, checks, words)
            good = sorted(t for t, _ in found if t is not None)
            said = f"median {statistics.median(good):.0f} ms, at most {good[-1]:.0f} ms" if good else "not named"
            print(f"names: {fault[0]} {fault[1]}: {fault[3]}: {said}", flush=True)
            for _, instead in (one for one in found if one[0] is None):
                print(f"names: {fault[0]} {fault[1]}: after 2 s instead: {instead}", flush=True)


# ---- rules of a cluster ----

INTERVAL_S = 15  # of scrapes and of evaluations
EVALUATIONS = 2  # of each group and world
GROUPS = ("softmrc-map", "softmrc-map-hosts")
PATIENCE_S = 600  # for a world to be seen
WORLDS = [("all is well", 0, lambda route: False),
          ("plane 0 loses half", 0.5, lambda route: 'plane="0"' in route),
          ("all routes lose 0.05 %", 0.0005, lambda route: True)]


class Server:
    """A Prometheus that scrapes a cluster and evaluates the rules and alerts."""

    def __init__(self, folder, port, cluster):
        self.url = f"http://127.0.0.1:{port}"
        config = {"global": {"scrape_interval": f"{INTERVAL_S}s", "scrape_timeout": f"{INTERVAL_S}s",
                             "evaluation_interval": f"{INTERVAL_S}s"},
                  "rule_files": [str(ROOT / "packaging/prometheus/softmrc.*.yml")], "scrape_configs": [cluster.scrape_config()]}
        pathlib.Path(folder, "p.yml").write_text(json.dumps(config), encoding="utf-8")
        self.process = subprocess.Popen(["prometheus", f"--config.file={folder}/p.yml", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])

    def get(self, path):
        """An answer; empty while there is none."""
        with contextlib.suppress(OSError), urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()
        if self.process.poll() is not None:
            sys.exit("rules: prometheus has ended; is the port free (--port)?")
        return ""

    def series(self):
        found = re.search(r"^prometheus_tsdb_head_series (\S+)$", self.get("/metrics"), re.M)
        return float(found[1]) if found else 0

    def evaluation(self, group):
        """When the group was evaluated last, and how long it took."""
        text = self.get("/metrics")
        found = [re.search(rf'^prometheus_rule_group_last_{what}_seconds\{{.*;{group}"\}} (\S+)$', text, re.M)
                 for what in ("evaluation_timestamp", "duration")]
        return tuple(float(one[1]) if one else 0 for one in found)

    def alerts(self):
        answer = json.loads(self.get("/api/v1/alerts") or '{"data": {"alerts": []}}')
        return sorted({one["annotations"]["summary"].split(":")[0] for one in answer["data"]["alerts"] if one["state"] == "firing"})

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return 1024 * int(re.search(r"^VmHWM:\s+(\d+) kB$", status, re.M)[1])


def wait_loaded(server, series):
    """Until the Prometheus has them, and says how far it is. Their rates are there two scrapes later."""
    begun = time.monotonic()
    while (loaded := server.series()) < series:
        if time.monotonic() > begun + PATIENCE_S:
            sys.exit(f"rules: {loaded:.0f} of {series} series within {PATIENCE_S} s")
        print(f"rules: {loaded:.0f} of {series} series after {time.monotonic() - begun:.0f} s", flush=True)
        time.sleep(5)
    time.sleep(2 * INTERVAL_S)


def evaluations(server):
    """How long the next ones of each group took that begin from now on."""
    begun, until, took = time.time(), time.monotonic() + PATIENCE_S, {group: {} for group in GROUPS}
    while any(len(found) < EVALUATIONS for found in took.values()) and time.monotonic() < until:
        for group, found in took.items():
            at, duration = server.evaluation(group)
            if at > begun:
                found[at] = duration
        time.sleep(1)
    return {group: list(found.values())[:EVALUATIONS] for group, found in took.items()}


def measure_world(server, name):
    cpu, begun = cpu_s(server.process.pid), time.monotonic()
    took = evaluations(server)
    cpu, passed = cpu_s(server.process.pid) - cpu, time.monotonic() - begun
    said = "; ".join(f"group {group} in {' and '.join(f'{t:.1f}' for t in found) or 'no'} s" for group, found in took.items())
    print(f"rules: {name}: {said}; with its scrapes Prometheus takes {100 * cpu / passed:.0f} % of a core and {server.memory() / 1e9:.1f} GB at most; alerts: "
          f"{', '.join(server.alerts()) or 'none'}", flush=True)


def measure_rules(nodes, port):
    if not shutil.which("prometheus"):
        print("rules: no prometheus here (package prometheus)")
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(nodes))
        print(f"rules: {nodes} nodes of {ROUTES} routes, {cluster.series} series, scraped and evaluated every {INTERVAL_S} s", flush=True)
        server = Server(folder, port, cluster)
        stack.callback(server.process.wait)
        stack.callback(server.process.kill)
        for name, share, loses in WORLDS:
            cluster.lose(share, loses)
            wait_loaded(server, cluster.series)
            measure_world(server, name)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", choices=("probes", "names", "steady", "rules"))
    p.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path, help="folder of the build (build/release)")
    p.add_argument("--checks", type=int, default=5, help="of each fault (5)")
    p.add_argument("--faults", default="", help="of names those that this regular expression finds")
    p.add_argument("--rate", help="of `mrc map check`: what each host may send")
    p.add_argument("--nodes", type=int, default=10000, help="of the rules (10000)")
    p.add_argument("--port", type=int, default=19099, help="of Prometheus")
    o = p.parse_args()
    mrc, mrcd = (next((str(path) for path in (o.build / "bin" / name, o.build.parent / "bin" / name) if path.exists()),
                      None) for name in ("mrc", "mrcd"))
    if o.only in (None, "probes"):
        if mrc and mrcd:
            measure_probes(mrc, mrcd)
        else:
            print("probes: no mrc and mrcd in --build")
    if o.only in (None, "names"):
        if mrc:
            measure_names(mrc, o.checks, o.faults, ["--rate", o.rate] if o.rate else [])
        else:
            print("names: no mrc in --build")
    if o.only in (None, "steady"):
        if mrc:
            measure_steady(mrc, o.checks)
        else:
            print("steady: no mrc in --build")
    if o.only in (None, "rules"):
        measure_rules(o.nodes, o.port)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # labs and Prometheus end with it
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
