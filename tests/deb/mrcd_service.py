# SPDX-License-Identifier: BSD-2-Clause
"""mrcd_service.py BUILD [BINARIES]: mrcd as the service that is installed, under a real systemd.

BUILD is the folder of a build without sanitizers, which has the unit; BINARIES, build by default, has bin
and lib. The host of mrcd is host0 of a lab, so that it has links to probe.
"""
import json
import os
import pathlib
import re
import sys

import booted
import tap
from booted import wait_until

# The bounding set of the unit, as /proc has it: CAP_CHOWN, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE.
CAPABILITIES = (1 << 0) | (1 << 2) | (1 << 19)
NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "
CONFIG = """[device]
ports = 2
ev_format = "stev"
evs = 2
[access]
group = "daemon"
[metrics]
listen = "[::1]:9891"
[map]
fabric = "tiny"
host = 0
interfaces = ["e0", "e1"]
"""
# docs/operation.md, for a map that sees cables exchanged at hosts or at T1s.
SEES_CABLES = """[Service]
CapabilityBoundingSet=CAP_NET_RAW
RestrictAddressFamilies=AF_PACKET
"""


class Service:
    """The cases, in the order of a service's life."""

    def __init__(self, build, binaries):
        unit = pathlib.Path(build) / "packaging/mrcd.service"
        self.text = unit.read_text(encoding="utf-8")
        bin_dir = pathlib.Path(re.search(r"^ExecStart=(\S+)/mrcd ", self.text, re.M)[1])
        self.machine = booted.Booted(
            f"mkdir -p $1{bin_dir} $1{bin_dir.parent}/lib && cp {binaries}/bin/mrc {binaries}/bin/mrcd $1{bin_dir} && "
            f"cp -a {binaries}/lib/. $1{bin_dir.parent}/lib && cp {unit} $1/etc/systemd/system && "
            f"mkdir $1/etc/systemd/system/mrcd.service.d && "
            f"printf '[Service]\\nNetworkNamespacePath=/run/netns/mrc-svc-host0\\n' >$1/etc/systemd/system/mrcd.service.d/lab.conf")
        self.libraries = f"export LD_LIBRARY_PATH={bin_dir.parent}/lib; "
        self.write_bw = f"{bin_dir.parent}/lib/softmrc/examples/write_bw"
        self.broken = False
        self.write(CONFIG)

    def sh(self, script):
        return self.machine.run(self.libraries + script)

    def fails(self, script, says=""):
        status, said = self.machine.call(self.libraries + script)
        assert status and says in said, f"{script}: status {status}: {said}"

    def write(self, config):
        self.machine.run(f"cat >/etc/mrcd.toml <<'END'\n{config}END")

    def show(self, name):
        return self.sh(f"systemctl show -p {name} --value mrcd").strip()

    def journal(self, match):
        """Messages of mrcd in the journal with this field; what was sent a moment ago may not be there yet."""
        return [json.loads(line) for line in self.sh(f"journalctl -u mrcd -o json --no-pager {match}").splitlines() if line.startswith("{")]

    def begins_again(self, before, restarts):
        wait_until(lambda: self.show("NRestarts") == str(restarts) and self.show("ActiveState") == "active", "mrcd is started again")
        assert self.show("MainPID") != before
        assert "reason=u1 drops" in self.sh("mrc ctl ev 0"), "what was decided is in force"

    def case(self, name):
        """Without the service the others would wait for nothing."""
        if self.broken:
            return ["the service did not start"]
        try:
            getattr(self, name)()
        except AssertionError as error:
            self.broken = name == "starts"
            status = self.machine.call("systemctl --no-pager --full status mrcd; journalctl -u mrcd --no-pager | tail")[1]
            return [*str(error).splitlines(), *status.splitlines()]
        return []

    def starts(self):
        self.sh("mrc lab up tiny --name svc --pace 50M && systemctl start mrcd")
        assert self.show("StatusText") == "in force" and self.show("ActiveState") == "active"
        assert self.show("WatchdogUSec") == "10s" and self.show("Type") == "notify"
        assert "generation" in self.sh("mrc ctl status")

    def is_shut_in(self):
        """Each line of the unit is on, as systemd has it and as the process finds it."""
        for name, value in re.findall(r"^((?:Private|Protect|Restrict|NoNew|Lock|Memory|Device)\w+)=(yes|strict|closed)$", self.text, re.M):
            assert self.show(name) == value, f"{name}={self.show(name)}, want {value}"
        pid = self.main_pid()
        status = dict(line.split(":\t", 1) for line in self.sh(f"cat /proc/{pid}/status").splitlines() if ":\t" in line)
        assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == CAPABILITIES, status["CapEff"]
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
        inside = f"nsenter -t {pid} -m sh -c "
        for path in ("/etc/x", "/usr/x", "/var/x", "/proc/sys/kernel/hostname"):
            self.fails(f"{inside} 'echo x >{path}'", "Read-only file system")
        self.sh(f"touch /tmp/seen /run/softmrc/node/may && {inside} 'test ! -e /tmp/seen && test ! -e /dev/tty1 && rm /run/softmrc/node/may'")

    def probes_its_links(self):
        found = wait_until(lambda: re.findall(r'softmrc_map_probes_total{host="host0".* (\d+)', self.scrape()), "probes are counted")
        assert len(found) == 12, found
        wait_until(lambda: min(map(int, re.findall(r'softmrc_map_probes_total{.* (\d+)', self.scrape()))) > 100, "all routes are probed")
        text = self.scrape()
        lost = re.findall(r'softmrc_map_bad_total{.*kind="t1".*symptom="lost"} (\d+)', text)
        probed = len(re.findall(r'softmrc_map_probes_total{.*kind="t1"', text))
        assert len(lost) < probed or min(map(int, lost)) < 50, f"switches bring them back: {lost}"

    def scrape(self):
        return self.sh("ip netns exec mrc-svc-host0 python3 -c 'import urllib.request as r; "
                       "print(r.urlopen(\"http://[::1]:9891/metrics\", timeout=20).read().decode())'")

    def sees_programs_of_others(self):
        """Their statistics are in /dev/shm, which is not the service's own."""
        self.sh(f"mrc lab shell svc host0 -- {NOBODY} env -u MRC_CONFIG MRC_PORTS=::1 "
                f"sh -c '{self.write_bw} --self --min 65536 --max 65536 --ms 60000 >/dev/null 2>&1 &'")
        wait_until(lambda: re.search(r'softmrc_process_info{pid="\d+",uid="65534"', self.scrape()), "a program of another user has series")

    def lets_change_who_may(self):
        self.sh("mrc ctl deny --reason 'u1 drops' 2:0xc0010001")
        self.fails(f"{NOBODY} mrc ctl status", "Permission denied")
        member = NOBODY.replace("--regid 65534", "--regid daemon")
        assert "reason=u1 drops" in self.sh(f"{member} mrc ctl ev 0")
        self.fails(f"{member} mrc ctl undeny 2:0xc0010001", "takes root or CAP_NET_ADMIN")
        capable = member.replace("--inh-caps=-all", "--inh-caps=+net_admin --ambient-caps=+net_admin")
        self.sh(f"{capable} mrc ctl deny 1:0xc0000001 && {capable} mrc ctl undeny 1:0xc0000001")

    def tells_the_journal(self):
        wait_until(lambda: self.journal("MRCD_EVENT=ev.deny"), "a denial is in the journal")
        assert self.journal("MRCD_EVENT=ev.deny")[0]["MRCD_UID"] == "0"
        assert self.journal("MRCD_EVENT=denied PRIORITY=4"), "who was refused is a warning"

    def reloads(self):
        pid = self.main_pid()
        self.write(CONFIG.replace("evs = 2", "evs = 9999"))
        self.fails("systemctl reload mrcd")
        wait_until(lambda: any("/etc/mrcd.toml:4: device.evs = 9999" in m["MESSAGE"] for m in self.journal("MRCD_EVENT=config PRIORITY=3")), "why is in the journal")
        assert self.show("MainPID") == pid and self.show("ActiveState") == "active" and self.show("StatusText") == "in force"
        self.write(CONFIG + '[[port]]\nport = 2\nadmin = "suspended"\n')
        self.sh("systemctl reload mrcd")
        wait_until(lambda: "port=2 admin=suspended" in self.sh("mrc ctl port"), "the reload is in force")
        assert self.show("MainPID") == pid

    def main_pid(self):
        pid = self.show("MainPID")
        assert int(pid) > 1, "mrcd runs"
        return pid

    def is_started_again(self):
        pid = self.main_pid()
        self.sh(f"kill -9 {pid}")
        self.begins_again(pid, 1)

    def is_ended_when_it_hangs(self):
        """systemd hears nothing for WatchdogSec=10, ends it by SIGABRT, and starts it again."""
        pid = self.main_pid()
        self.sh(f"kill -STOP {pid}")
        self.begins_again(pid, 2)

    def sees_cables_when_allowed(self):
        wait_until(lambda: any("at T1s look dead: to see them takes CAP_NET_RAW" in m["MESSAGE"] for m in self.journal("MRCD_EVENT=map")), "without the drop-in")
        self.machine.run(f"cat >/etc/systemd/system/mrcd.service.d/cables.conf <<'END'\n{SEES_CABLES}END\nsystemctl daemon-reload && systemctl restart mrcd")
        last = wait_until(lambda: [m for m in self.journal("MRCD_EVENT=map") if m["_PID"] == self.show("MainPID")], "the new one speaks")[-1]
        assert "at T1s are seen" in last["MESSAGE"], last["MESSAGE"]

    def stops(self):
        self.sh("systemctl stop mrcd && test -e /run/softmrc/node/mrc0.state")
        assert self.show("Result") == "success" and self.show("ExecMainStatus") == "0"

    def does_not_try_a_wrong_file_again(self):
        self.write("[device]\n")
        self.fails("systemctl start mrcd")
        assert self.show("ActiveState") == "failed" and self.show("NRestarts") == "0" and self.show("ExecMainStatus") == "2"
        self.sh("mrc lab down svc")


CASES = ("starts", "is_shut_in", "probes_its_links", "sees_programs_of_others", "lets_change_who_may", "tells_the_journal", "reloads",
         "is_started_again", "is_ended_when_it_hangs", "sees_cables_when_allowed", "stops", "does_not_try_a_wrong_file_again")


def main():
    build = os.path.abspath(sys.argv[1])
    binaries = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.dirname(build)
    try:
        service = Service(build, binaries)
    except booted.Skip as skip:
        reason = str(skip)

        def skipped():
            raise booted.Skip(reason)

        sys.exit(tap.run([(f"mrcd_service__{name}", skipped) for name in CASES]))
    try:
        status = tap.run([(f"mrcd_service__{name}", lambda name=name: service.case(name)) for name in CASES])
    finally:
        service.machine.end()
    sys.exit(status)


if __name__ == "__main__":
    main()
