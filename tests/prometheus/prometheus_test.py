#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""prometheus_test.py MRC MRCD [--lab]: rules, alerts and the dashboard of packaging/prometheus.

Every metric that they name is exported or recorded. Debian's promtool judges the rules, plays
rules_test.yml and reads what `mrc stat` writes. With --lab a plane of a lab dies under ib_write_bw,
and Debian's prometheus, which scrapes `mrc stat --listen`, says which one, and when it is well. Then four mrcd probe a lab
in which a cable loses a tenth.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/tidy"))

import tap  # noqa: E402
from tree import Skip  # noqa: E402

MRC, MRCD = sys.argv[1:3]
FOLDER = ROOT / "packaging/prometheus"
RULES = ("softmrc.rules.yml", "softmrc.alerts.yml")
TESTS = ROOT / "tests/prometheus/rules_test.yml"
EXPORTED = re.compile(r"\bsoftmrc_\w+")
RECORDED = re.compile(r"\bsoftmrc:\w+(?::\w+)?")


def tool(name):
    """The path of a program of Debian's package prometheus."""
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed (package prometheus)")
    return path


def mrc(*words):
    return subprocess.run([MRC, *words], capture_output=True, text=True, check=True).stdout


def exported_names():
    """What a scrape of no process at all names: every family has its TYPE line."""
    with tempfile.TemporaryDirectory() as empty:
        text = mrc("stat", "--prometheus", "--dir", empty)
    return set(re.findall(r"^# TYPE (\S+)", text + mrcd_metrics(), re.M))


MRCD_CONFIG = """[node]
dir = "{work}/node"
[device]
ports = 1
[access]
lab = true
[metrics]
listen = "127.0.0.1:{port}"
[map]
fabric = "tiny"
host = 0
interfaces = ["lo", "lo"]
port = {probes}
"""


def mrcd_metrics():
    """What mrcd answers that probes from a host of no fabric: loopback leads nowhere."""
    with tempfile.TemporaryDirectory() as work:
        port = free_port()
        config = pathlib.Path(work) / "mrcd.toml"
        config.write_text(MRCD_CONFIG.format(work=work, port=port, probes=free_port()), encoding="utf-8")
        with running([MRCD, "--config", str(config)]):
            wait_for("mrcd", lambda: "map_probes" in scrape(port))
            wait_for("probes that are lost", lambda: "\nsoftmrc_map_bad_total{" in scrape(port))
            return scrape(port)


def scrape(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return answer.read().decode()


def dashboard_queries():
    board = json.loads((FOLDER / "softmrc-grafana.json").read_text(encoding="utf-8"))
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return found + [v["query"] for v in board["templating"]["list"] if v["type"] == "query"]


def unknown_names(text, exported, recorded):
    return sorted(set(EXPORTED.findall(text)) - exported) + sorted(set(RECORDED.findall(text)) - recorded)


def all_texts():
    texts = {name: (FOLDER / name).read_text(encoding="utf-8") for name in RULES}
    texts = {name: re.sub(r"^ *#.*$", "", text, flags=re.M) for name, text in texts.items()}
    for number, query in enumerate(dashboard_queries()):
        texts[f"softmrc-grafana.json, query {number}"] = query
    return texts


def names_are_there():
    """Rules, alerts and the dashboard name what is exported or recorded, and nothing else."""
    recorded = set(re.findall(r"record: (\S+)", (FOLDER / RULES[0]).read_text(encoding="utf-8")))
    exported = exported_names()
    return [f"{where}: {name} is not there" for where, text in all_texts().items()
            for name in unknown_names(text, exported, recorded)]


def what_is_missing_is_noticed():
    """The check itself."""
    got = unknown_names("rate(softmrc_a_total[1m]) / softmrc:b:c + softmrc_x", {"softmrc_x"}, set())
    return [] if got == ["softmrc_a_total", "softmrc:b:c"] else [f"got {got}"]


def judged(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def rules_are_good():
    """promtool accepts the rules, and the queries of the dashboard as if they were rules."""
    with tempfile.TemporaryDirectory() as work:
        board = pathlib.Path(work) / "board.yml"
        rules = [{"record": f"x:{i}", "expr": q.replace("$instance", ".*")}
                 for i, q in enumerate(dashboard_queries()) if not q.startswith("label_values")]
        board.write_text(json.dumps({"groups": [{"name": "x", "rules": rules}]}), encoding="utf-8")
        return judged([tool("promtool"), "check", "rules", *(FOLDER / n for n in RULES), board])


def tested_by(text):
    """What promtool says against the rules, by these worlds."""
    with tempfile.TemporaryDirectory() as work:
        for name in RULES:
            shutil.copy(FOLDER / name, work)
        (pathlib.Path(work) / TESTS.name).write_text(text, encoding="utf-8")
        return judged([tool("promtool"), "test", "rules", pathlib.Path(work) / TESTS.name])


def alerts_fire_and_resolve():
    """The worlds of rules_test.yml."""
    return tested_by(TESTS.read_text(encoding="utf-8"))


def what_is_well_needs_no_series():
    """The same worlds without series of symptoms that nobody saw, which mrcd does not serve."""
    text, n = re.subn(r"^ *- \{series: 'softmrc_map_bad_total\{.*values: '0\+0x\d+'\}\n", "", TESTS.read_text(encoding="utf-8"),
                      flags=re.M)
    return tested_by(text) if n > 100 else [f"{n} such series"]


def mrcd_serves_what_is_wrong():
    """Of probes that lead nowhere that they are lost, and no series of a symptom that none had."""
    values = re.findall(r'^softmrc_map_bad_total\{.*symptom="(\w+)"\} (\d+)$', mrcd_metrics(), re.M)
    wrong = [f"{symptom} {value}" for symptom, value in values if value == "0"]
    return wrong if "lost" in dict(values) else ["nothing is lost", *wrong]


def check_metrics(text):
    return judged([tool("promtool"), "check", "metrics"], input=text)


def names_are_prometheus_own():
    with tempfile.TemporaryDirectory() as empty:
        return check_metrics(mrc("stat", "--prometheus", "--dir", empty)) + check_metrics(mrcd_metrics())


# ---- a lab with a sick plane ----

WAIT_S = 90


class Failed(Exception):
    """What was waited for did not come."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(command, **more):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(what, ready):
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError):
            if ready():
                return
        time.sleep(0.2)
    raise Failed(f"within {WAIT_S} s: {what}")


class Monitor:
    """A prometheus that scrapes one port once a second."""

    def __init__(self, work, target):
        self.url = f"127.0.0.1:{free_port()}"
        self.work = work
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(FOLDER / name) for name in RULES],
            "scrape_configs": [{"job_name": "softmrc", "static_configs": [{"targets": [target]}]}],
        }
        (work / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")

    def command(self):
        return [tool("prometheus"), f"--config.file={self.work}/prometheus.yml",
                f"--storage.tsdb.path={self.work}/data", f"--web.listen-address={self.url}"]

    def _get(self, path):
        with urllib.request.urlopen(f"http://{self.url}/api/v1/{path}", timeout=5) as answer:
            return json.load(answer)["data"]

    def sick_planes(self):
        """The planes for which SoftmrcPlaneSick fires."""
        return {alert["labels"]["plane"] for alert in self._get("alerts")["alerts"]
                if alert["labels"]["alertname"] == "SoftmrcPlaneSick" and alert["state"] == "firing"}

    def value(self, query):
        result = self._get("query?query=" + urllib.request.quote(query))["result"]
        return float(result[0]["value"][1]) if result else None


def lab(*words):
    return subprocess.run([MRC, "lab", *words], capture_output=True, text=True, check=False)


@contextlib.contextmanager
def a_lab(name):
    up = lab("up", "tiny", "--name", name)
    if up.returncode:
        raise Skip(f"no lab here: {(up.stderr.strip().splitlines() or ['mrc lab up failed'])[-1]}")
    try:
        yield
    finally:
        lab("down", name)


def on_host(name, host, *words):
    return [MRC, "lab", "shell", name, host, "--", MRC, "run", "--", *words]


def watch_the_plane(name, monitor):
    def sends():
        return (monitor.value("sum(softmrc:plane_tx_bytes:rate1m)") or 0) > 100000

    wait_for("traffic in prometheus", sends)
    if monitor.sick_planes():
        raise Failed(f"planes {monitor.sick_planes()} are sick before anything is")
    lab("fault", name, "plane1", "stall")
    wait_for("an alert for plane 1 and no other", lambda: monitor.sick_planes() == {"1"})
    lab("fault", name, "lift")
    wait_for("its end", lambda: not monitor.sick_planes())


def an_alert_names_the_plane_and_resolves():
    tool("prometheus")
    bandwidth = shutil.which("ib_write_bw")
    if not bandwidth:
        raise Skip("ib_write_bw is not installed (package perftest)")
    name, port = f"prom{os.getpid()}", free_port()
    words = [bandwidth, "-d", "mrc0", "-F", "--run_infinitely", "-D", "2", "-s", "65536"]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        work = pathlib.Path(folder)
        (work / "stats").mkdir()
        stack.enter_context(a_lab(name))
        env = dict(os.environ, MRC_STATS_DIR=str(work / "stats"))
        target = f"127.0.0.1:{port}"
        monitor = Monitor(work, target)
        stack.enter_context(running([MRC, "stat", "--listen", target], env=env))
        stack.enter_context(running(monitor.command()))
        stack.enter_context(running(on_host(name, "host3", *words), env=env))
        wait_for("the server", lambda: list((work / "stats").iterdir()))
        stack.enter_context(running(on_host(name, "host0", *words, "10.0.1.2"), env=env))
        watch_the_plane(name, monitor)
        with urllib.request.urlopen(f"http://{target}/metrics", timeout=5) as answer:
            return check_metrics(answer.read().decode())


# ---- a lab whose hosts probe ----


def in_lab(name, host, *words):
    return [MRC, "lab", "shell", name, host, "--", *words]


def address(name, host):
    command = in_lab(name, host, "sh", "-c", "echo $MRC_LAB_ADDRESS")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def write_configs(work, name):
    """A configuration for each host's mrcd, and one for a prometheus on host0 that scrapes them."""
    targets = [f"[{address(name, f'host{host}')}]:9891" for host in range(4)]
    for host in range(4):
        text = MRCD_CONFIG.format(work=work / str(host), port=9891, probes=9793)
        text = text.replace("127.0.0.1", "[::]").replace("host = 0", f"host = {host}")
        (work / f"{host}.toml").write_text(text.replace('"lo", "lo"', '"e0", "e1"'), encoding="utf-8")
    config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
              "rule_files": [str(FOLDER / rules) for rules in RULES],
              "scrape_configs": [{"job_name": "softmrc", "static_configs": [{"targets": targets}]}]}
    (work / "prometheus.yml").write_text(json.dumps(config), encoding="utf-8")


def asked(name, path):
    """What the prometheus on host0 answers."""
    get = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:9090/api/v1/{path}').read().decode())"
    done = subprocess.run(in_lab(name, "host0", sys.executable, "-c", get), capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["data"]


def alarms(name):
    return [alert["annotations"]["summary"] for alert in asked(name, "alerts")["alerts"] if alert["state"] == "firing"]


def drawn(name, status, words):
    """Whether the map of the last ten seconds says that. Of hosts that are held up it says other things."""
    command = in_lab(name, "host0", MRC, "map", "--prometheus", "http://127.0.0.1:9090", "--for", "10s")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == status and words in done.stdout


def an_alert_names_the_cable():
    """Four mrcd probe, a cable loses a tenth, one alert and `mrc map --prometheus` say which; after the lift there is none."""
    name = f"pmap{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        work = pathlib.Path(folder)
        stack.enter_context(a_lab(name))
        write_configs(work, name)
        for host in range(4):
            command = in_lab(name, f"host{host}", MRCD, "--config", str(work / f"{host}.toml"))
            stack.enter_context(running(command))
        stack.enter_context(running(in_lab(
            name, "host0", tool("prometheus"), f"--config.file={work}/prometheus.yml",
            f"--storage.tsdb.path={work}/data", "--web.listen-address=127.0.0.1:9090")))
        wait_for("routes of all hosts", lambda: len(asked(
            name, "query?query=count%20by%20(host)%20(rate(softmrc_map_probes_total[30s]))")["result"]) == 4)
        wait_for("their rules", lambda: len(asked(name, "query?query=softmrc:map_t0_losing:ratio")["result"]) == 4)
        if alarms(name):
            raise Failed(f"{alarms(name)} before anything is wrong")
        lab("fault", name, "plane0.t0-0.t1-0", "loss", "10%")
        wait_for("an alert", lambda: alarms(name))
        said = alarms(name)
        wait_for("its name in mrc map", lambda: drawn(name, 1, "plane0.t0-0.t1-0: lossy"))
        lab("fault", name, "lift")
        wait_for("its end", lambda: not alarms(name))
        wait_for("a healthy map", lambda: drawn(name, 0, "prometheus: healthy"))
        return [] if len(said) == 1 and said[0].startswith("plane0.t0-0.t1-0 loses") else said


if __name__ == "__main__":
    CHECKS = [names_are_there, what_is_missing_is_noticed, rules_are_good, alerts_fire_and_resolve,
              what_is_well_needs_no_series, mrcd_serves_what_is_wrong, names_are_prometheus_own]
    if "--lab" in sys.argv:
        CHECKS = [an_alert_names_the_plane_and_resolves, an_alert_names_the_cable]
    tap.main([(check.__name__, check) for check in CHECKS])
