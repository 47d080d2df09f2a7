#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mrcd_day.py MRC MRCD TRAFFIC [PRELOAD]: the scripted day of an operator, under traffic.

Two ports of this machine's loopback, mrcd on a folder of the test's own, and TRAFFIC between two
processes: `write_bw`, the example at a path, or `ib_write_bw`. Meanwhile what an operator does: he
validates a configuration, denies an EV, drains a port, reloads a wrong file and a right one, kills
mrcd with signal 9, starts it again and takes everything back. No packet is lost, and every step is
seen by the processes within a second.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/tidy"), str(ROOT / "tests/support")]

import tap  # noqa: E402
from mrc_stat import Stat, wait_until  # noqa: E402

MRC, MRCD, TRAFFIC = sys.argv[1:4]
PRELOAD = sys.argv[4] if len(sys.argv) > 4 else ""
LISTEN = 29000 + os.getpid() % 1000
CONFIG = """[device]
ports = 2
evs = 8
[access]
lab = true
[metrics]
listen = "127.0.0.1:{listen}"
[[cc]]
profile = 1
algorithm = "uet-1.0-nscc"
gamma = {gamma}
"""

class Day(Stat):
    """The folder, mrcd and the traffic of one test."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "mrcd.toml"
        super().__init__(MRC, dict(os.environ, MRC_NODE_DIR=f"{folder}/node", MRC_STATS_DIR=f"{folder}/stats",
                                   MRC_PORTS="127.0.0.1,127.0.1.1", MRC_EVS="8"))
        (self.folder / "stats").mkdir(mode=0o700)
        self.daemon = None
        self.traffic = []

    def write(self, gamma):
        self.config.write_text(CONFIG.format(listen=LISTEN, gamma=gamma), encoding="utf-8")

    def start(self):
        self.daemon = subprocess.Popen([MRCD, "--config", str(self.config)], env=self.env,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.ctl("status")[0] == 0, "mrcd answers")

    def ctl(self, *words, **env):
        run = subprocess.run([MRC, "ctl", *words], env=self.env | env, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout, run.stderr

    def good(self, *words, **env):
        status, out, err = self.ctl(*words, **env)
        assert status == 0, f"mrc ctl {' '.join(words)}: {status} {err}"
        return out

    def plane(self, plane, name):
        return sum(process["planes"][plane][name] for process in self.processes())

    def run_traffic(self):
        if TRAFFIC.endswith("ib_write_bw"):
            one = [MRC, "run", "--", TRAFFIC, "-D", "600", "-F"]
            env = dict(self.env, LD_PRELOAD=PRELOAD, ASAN_OPTIONS="detect_leaks=0")
            self.traffic = [subprocess.Popen(one, env=env, stdout=subprocess.DEVNULL, start_new_session=True)]
            wait_until(listens, "ib_write_bw listens")
            self.traffic.append(subprocess.Popen(one + ["127.0.0.1"], env=env, stdout=subprocess.DEVNULL, start_new_session=True))
        else:
            # A minute for each of five sizes.
            self.traffic = [subprocess.Popen([TRAFFIC, "--self", "--min", "65536", "--max", "1048576", "--ms", "60000", "--depth", "8"],
                                             env=self.env, stdout=subprocess.DEVNULL, start_new_session=True)]
        wait_until(lambda: self.at_work() >= 2, "QPs at work")

    def end(self):
        for process in [*self.traffic, self.daemon]:
            if process and process.poll() is None:
                # A session of its own has what it started.
                (process.kill if process is self.daemon else lambda p=process: os.killpg(p.pid, signal.SIGKILL))()
                process.wait()


def listens(port=18515):
    """Whether somebody listens on perftest's TCP port, without a connection, which would be its client's."""
    lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]]
    return any(int(line[1].rsplit(":")[-1], 16) == port and line[3] == "0A" for line in lines)


@contextlib.contextmanager
def follow(day):
    """The lines of events of a connection that asked for them."""
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(60)
        door.connect(day.env["MRC_NODE_DIR"] + "/mrcd.sock")
        door.sendall(b'{"do": "events"}\n')
        lines = door.makefile()
        assert json.loads(next(lines))["ok"]
        yield (line for line in lines if '"change"' in line)


def validate(day):
    day.write(2)
    run = subprocess.run([MRCD, "--check", "--config", str(day.config)], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "mrcd.toml:11: gamma = 2: must be a number, 0 to 1" in run.stderr, run.stderr
    day.write(0.5)
    subprocess.run([MRCD, "--check", "--config", str(day.config)], capture_output=True, check=True)


def deny(day):
    day.good("deny", "--reason", "u1 drops", "2:49153")
    wait_until(lambda: day.sum("plane_evs", "denied") >= 2, "both processes have the EV denied")
    assert "by_uid=" in day.good("ev", "0") and "reason=u1 drops" in day.good("ev", "0")


def leaves_alone(day, plane):
    """Whether next to nothing leaves by a plane while the other sends a hundred packets."""
    before, others = day.plane(plane, "plane_tx_packets"), day.plane(1 - plane, "plane_tx_packets")
    wait_until(lambda: day.plane(1 - plane, "plane_tx_packets") > others + 100, "the other port carries all")
    return day.plane(plane, "plane_tx_packets") - before < 50


def drain(day):
    """What is sent by the port ends, and nothing of it is lost; it takes no description of the fabric."""
    day.good("port", "2", "suspended", MRC_FABRIC="/nowhere")
    wait_until(lambda: leaves_alone(day, 1), "probes alone leave by a suspended port")


def reload(day):
    before = day.good("status", "--json")
    day.write(7)
    status, _, err = day.ctl("reload")
    assert status == 2 and "mrcd.toml:11: gamma = 7" in err, err
    day.daemon.send_signal(signal.SIGHUP)
    wait_until(lambda: json.loads(day.good("status", "--json"))["status"]["reloads_refused"] == 2, "SIGHUP is refused")
    assert json.loads(before)["status"]["generation"] == json.loads(day.good("status", "--json"))["status"]["generation"]
    day.write(0.75)
    day.good("reload")
    assert "gamma=0.75" in day.good("cc")
    with follow(day) as events:
        day.daemon.send_signal(signal.SIGHUP)
        told = json.loads(next(events))
        assert told["event"] == "change" and told["do"] == "reload" and told["uid"] == os.geteuid(), told


def scrape(day):
    with urllib.request.urlopen(f"http://127.0.0.1:{LISTEN}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    assert 'softmrc_node_evs_denied{profile="0"} 1' in text, "denied EVs"
    assert 'softmrc_node_port_enabled{port="2"} 0' in text, "a suspended port"
    assert "softmrc_process_info{" in text, "processes"


def kill_and_restart(day):
    first = day.daemon
    second = subprocess.run([MRCD, "--config", str(day.config)], env=day.env, capture_output=True, text=True, check=False)
    assert second.returncode == 1 and "another process writes this store" in second.stderr, second.stderr
    first.kill()
    first.wait()
    day.goes_on()
    assert day.sum("plane_evs", "denied") >= 2, "what was decided holds"
    day.start()
    assert "reason=u1 drops" in day.good("ev", "0") and "port=2 admin=suspended" in day.good("port")


def restore(day):
    day.good("port", "2", "enabled")
    day.good("undeny", "2:49153")
    wait_until(lambda: day.sum("plane_evs", "denied") == 0, "nothing is denied")
    before = day.plane(1, "plane_tx_packets")
    wait_until(lambda: day.plane(1, "plane_tx_packets") > before + 100, "the port carries again")
    # A busy machine may call late packets lost and retire their EV, but not for good; what is late may need no retransmission.
    wait_until(lambda: day.sum("plane_evs", "bad") == 0, "all EVs are in use")
    wait_until(lambda: day.lost() <= 0, "what was sent again had arrived before")
    assert day.at_work() >= 2 and day.sum("qps", "ERR") == 0, "QPs still at work"
    assert all(process.poll() is None for process in day.traffic), "the traffic goes on"
    day.daemon.terminate()
    assert day.daemon.wait(60) == 0, "mrcd ends in order"


def main():
    with tempfile.TemporaryDirectory(prefix="mrcd-day-") as folder:
        day = Day(folder)
        try:
            validate(day)
            day.start()
            day.run_traffic()
            cases = [(step.__name__, lambda step=step: step(day) or [])
                     for step in (deny, drain, reload, scrape, kill_and_restart, restore)]
            return tap.run(cases)
        finally:
            day.end()


if __name__ == "__main__":
    sys.exit(main())
