#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""operator_day.py MRC MRCD PROGRAM: the scripted day of an operator, on a lab, run by the map.

PROGRAM, ib_write_bw, writes from host0 to host3 all day, over a lab of four hosts with an mrcd on each.
The map says before the job that the fabric is healthy, and later which cable is sick; that one is
drained, changed and given back. Meanwhile the operator validates a configuration, denies an EV, reloads a
wrong file and a right one, takes a T1 away for maintenance, kills mrcd with signal 9 and starts it again.
While nothing is broken no packet is lost, whatever he does.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/tidy"), str(ROOT / "tests/support")]

import tap  # noqa: E402
from mrc_stat import Stat, wait_until  # noqa: E402
from tree import Skip  # noqa: E402

MRC, MRCD, PROGRAM = sys.argv[1:4]
LAB = f"day{os.getpid()}"
HOSTS = range(4)
CLIENT, SERVER, SERVER_ADDRESS = 0, 3, "10.0.1.2"
CONFIG = """[device]
ports = 2
ev_format = "stev"
evs = {evs}
[[cc]]
profile = 1
algorithm = "uet-1.0-nscc"
gamma = {gamma}
"""
# Of host0's two EVs on plane 0; what is denied on one host is not on the others.
DENIED = "1:0xc0000001"
# A cable on the way of host0's packets to host3, and a T1 that they are spread over as well.
SICK, MAINTAINED = "plane1.t0-0.t1-0", "plane0.t1-0"


class Day(Stat):
    def __init__(self, folder):
        super().__init__(MRC, dict(os.environ, MRC_STATS_DIR=f"{folder}/stats"))
        self.folder = pathlib.Path(folder)
        (self.folder / "stats").mkdir(mode=0o700)
        self.daemon, self.traffic = {}, []
        self.failed = self.skipped = None

    def ask(self, *words):
        run = subprocess.run([MRC, *words], env=self.env, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout, run.stderr

    def good(self, *words):
        status, out, err = self.ask(*words)
        assert status == 0, f"mrc {' '.join(words)}: {status} {out}{err}"
        return out

    def shell(self, host, *words):
        return ["lab", "shell", LAB, f"host{host}", "--", *words]

    def ctl(self, host, *words):
        return self.good(*self.shell(host, MRC, "ctl", *words))

    def begin(self, host, *words):
        return subprocess.Popen([MRC, *self.shell(host, *words)], env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def config(self, host):
        return self.folder / f"host{host}.toml"

    def write(self, host, gamma=0.5, evs=2):
        self.config(host).write_text(CONFIG.format(gamma=gamma, evs=evs), encoding="utf-8")

    def start_daemon(self, host):
        self.daemon[host] = self.begin(host, MRCD, "--config", self.config(host))
        wait_until(lambda: self.ask(*self.shell(host, MRC, "ctl", "status"))[0] == 0, f"mrcd of host{host} answers")

    def sick(self):
        """The parts that the map finds sick."""
        status, out, err = self.ask("map", "check", LAB, "--json")
        assert status in (0, 1), err
        result = json.loads(out)
        assert result["healthy"] == (status == 0)
        return [finding["part"] for finding in result["sick"]]

    def live(self, step):
        """What follows a step that failed would fail for that reason."""
        if self.failed:
            return [f"{self.failed} failed"]
        self.failed = step.__name__
        if not self.skipped:
            step(self)
        self.failed = None
        if self.skipped:
            raise Skip(self.skipped)
        return []

    def end(self):
        for process in [*self.traffic, *self.daemon.values()]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.ask("lab", "down", LAB)


def listens(pid):
    """Whether somebody on that host listens on perftest's port; a connection would be its client's."""
    lines = [line.split() for name in ("tcp", "tcp6")
             for line in pathlib.Path(f"/proc/{pid}/net", name).read_text(encoding="utf-8").splitlines()[1:]]
    return any(int(line[1].rsplit(":")[-1], 16) == 18515 and line[3] == "0A" for line in lines)


def build(day):
    status, _, err = day.ask("lab", "up", "tiny", "--name", LAB, "--pace", "20M")
    if status:
        day.skipped = err.strip()


def validate(day):
    """Before the job: the files of all hosts, and the fabric."""
    day.write(0, gamma=2)
    run = subprocess.run([MRCD, "--check", "--config", day.config(0)], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "host0.toml:8: gamma = 2: must be a number, 0 to 1" in run.stderr, run.stderr
    for host in HOSTS:
        day.write(host)
        subprocess.run([MRCD, "--check", "--config", day.config(host)], capture_output=True, check=True)
        day.start_daemon(host)
    wait_until(lambda: day.sick() == [], "the map finds the fabric healthy")


def run(day):
    words = (MRC, "run", "--", PROGRAM, "-F", "-d", "mrc0", "-D", "300")
    day.traffic.append(day.begin(SERVER, *words))
    wait_until(lambda: listens(day.traffic[0].pid), f"{PROGRAM} listens")
    day.traffic.append(day.begin(CLIENT, *words, SERVER_ADDRESS))
    wait_until(lambda: day.at_work() >= 2, "QPs at work")
    day.goes_on()


def deny(day):
    day.ctl(CLIENT, "deny", "--reason", "u1 drops", DENIED)
    wait_until(lambda: day.sum("plane_evs", "denied") == 1, "the process on host0 has the EV denied")
    told = day.ctl(CLIENT, "ev", "0")
    assert "reason=u1 drops" in told and "cable=plane0.t0-0" in told, told
    assert "denied=true" not in day.ctl(SERVER, "ev", "0")


def drain(day):
    """Maintenance of a T1: it goes off and comes back, and the job loses nothing."""
    day.ctl(CLIENT, "undeny", DENIED)
    wait_until(lambda: day.sum("plane_evs", "denied") == 0, "the EV is allowed again")
    day.goes_on(500)
    lost, vain, retired = day.lost(), day.sent_again_in_vain(), day.sum("evs_retired")
    assert f"{MAINTAINED}: safe to take away" in day.good("lab", "drain", LAB, MAINTAINED)
    # Statistics tell of the state of EVs a moment later than of the configuration that a process goes by.
    wait_until(lambda: day.sum("plane_evs", "denied") >= 2, "both ends go without the T1")
    day.good("lab", "reboot", LAB, MAINTAINED, "--for", "1s")
    day.goes_on()
    day.good("lab", "undrain", LAB, MAINTAINED)
    wait_until(lambda: day.sum("plane_evs", "denied") == 0, "all EVs are allowed again")
    wait_until(lambda: day.lost() <= lost, "what was sent again had arrived before")
    retired = day.sum("evs_retired") - retired
    assert retired <= day.sent_again_in_vain() - vain, f"{retired} EVs are retired, each for one packet"
    day.ctl(CLIENT, "deny", "--reason", "u1 drops", DENIED)


def repair(day):
    """What breaks is named by the map; what the map names is drained, changed and given back."""
    day.good("lab", "fault", LAB, SICK, "loss", "20%")
    wait_until(lambda: day.sick() == [SICK], f"the map names {SICK}", 120)
    assert "safe to take away" in day.good("lab", "drain", LAB, SICK)
    before = day.lost()
    day.goes_on(300)
    wait_until(lambda: day.lost() <= before, "nothing goes over the sick cable any more")
    day.good("lab", "fault", LAB, "lift")
    wait_until(lambda: day.sick() == [], "the map finds the fabric healthy")
    day.good("lab", "undrain", LAB, SICK)


def reload(day):
    status = json.loads(day.ctl(CLIENT, "status", "--json"))["status"]
    day.write(CLIENT, gamma=7)
    code, _, err = day.ask(*day.shell(CLIENT, MRC, "ctl", "reload"))
    assert code == 2 and "host0.toml:8: gamma = 7" in err, err
    assert json.loads(day.ctl(CLIENT, "status", "--json"))["status"]["generation"] == status["generation"]
    day.write(CLIENT, gamma=0.75)
    day.ctl(CLIENT, "reload")
    assert "gamma=0.75" in day.ctl(CLIENT, "cc")
    assert "reason=u1 drops" in day.ctl(CLIENT, "ev", "0")


def kill_and_restart(day):
    for host in (CLIENT, SERVER):
        os.killpg(day.daemon[host].pid, signal.SIGKILL)
        day.daemon[host].wait()
    day.goes_on()
    assert day.sum("plane_evs", "denied") == 1, "what was decided holds"
    for host in (CLIENT, SERVER):
        day.start_daemon(host)
    assert "reason=u1 drops" in day.ctl(CLIENT, "ev", "0")


def restore(day):
    day.ctl(CLIENT, "undeny", DENIED)
    wait_until(lambda: day.sum("plane_evs", "denied") == 0, "nothing is denied")
    assert "nothing is drained" in day.good("lab", "drain", LAB)
    wait_until(lambda: day.sum("plane_evs", "bad") == 0, "all EVs are in use")
    wait_until(lambda: day.sick() == [], "the map finds the fabric healthy")
    day.goes_on()
    assert day.at_work() >= 2 and day.sum("qps", "ERR") == 0, "QPs still at work"
    assert all(process.poll() is None for process in day.traffic), f"{PROGRAM} goes on"


STEPS = (build, validate, run, deny, drain, repair, reload, kill_and_restart, restore)


def main():
    with tempfile.TemporaryDirectory(prefix="operator-day-") as folder:
        day = Day(folder)
        try:
            return tap.run([(step.__name__, lambda step=step: day.live(step)) for step in STEPS])
        finally:
            day.end()


if __name__ == "__main__":
    sys.exit(main())
