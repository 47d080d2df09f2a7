#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""map_query_test.py MRC [--slow]: `mrc map --prometheus` against a server of canned answers, and of hostile ones."""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/tidy"))

import tap  # noqa: E402
from tree import Skip  # noqa: E402

MRC = sys.argv[1]
PROBES = 3000
# No proxy between it and a server that is here.
ENV = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy") and name != "MRC_FABRIC"}


def routes(plane):
    """What the four hosts of `tiny` probe on a plane: labels, and the uplinks that they cross."""
    for host in range(4):
        t0, peer = host // 2, host ^ 1
        label = {"host": f"host{host}", "plane": str(plane), "t0": f"t0-{t0}"}
        yield {**label, "kind": "t0", "via": ""}, set()
        yield {**label, "kind": "peer", "via": f"host{peer}"}, set()
        for up in range(2):
            yield {**label, "kind": "t1", "via": f"t1-{up}"}, {(t0, up)}
            way = f"t1-{up},t0-{1 - t0},t1-{1 - up}"
            crossed = {(t0, up), (1 - t0, up), (1 - t0, 1 - up), (t0, 1 - up)}
            yield {**label, "kind": "turn", "via": way}, crossed


def vector(series):
    result = [{"metric": labels, "value": [1000.5, str(value)]} for labels, value in series]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})


def world(query, lost):
    """The answer of a Prometheus whose hosts lost that share over an uplink of plane 0."""
    plane = re.search(r'plane="(\d+)"', query)
    if "map_probes" in query:
        return vector((labels, PROBES) for labels, _ in routes(int(plane[1])))
    if "map_bad" in query:
        return vector(({**labels, "symptom": "lost"}, PROBES * lost) for labels, over in routes(int(plane[1]))
                      if plane[1] == "0" and (0, 0) in over and lost)
    return vector([])


class Server(http.server.ThreadingHTTPServer):
    """Answers each query by a function of it, which returns a status and a text or pieces of bytes."""

    daemon_threads = True

    def __init__(self, answer, headers=0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.headers = headers
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).get("query", [""])[0]
        status, body = self.server.answer(query)
        self.send_response(status)
        self.send_header("Location", "file:///etc/passwd")
        for i in range(self.server.headers):
            self.send_header(f"X-{i}", "x" * 1000)
        try:
            self.end_headers()
            for piece in [body.encode()] if isinstance(body, str) else body:
                self.wfile.write(piece)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def asked(answer, *more, headers=0):
    server = Server(answer, headers)
    try:
        done = subprocess.run([MRC, "map", "--prometheus", server.url(), "--fabric", "tiny", *more],
                              capture_output=True, text=True, check=False, timeout=200, env=ENV)
    finally:
        server.shutdown()
        server.server_close()
    if "no libcurl" in done.stderr:
        raise Skip("built without libcurl")
    return done


def wrong(done, status, *words):
    said = done.stdout + done.stderr
    missing = [word for word in words if word not in said]
    if done.returncode == status and not missing:
        return []
    return [f"status {done.returncode}, want {status} and {missing}: {said[:800]}"]


def healthy():
    return wrong(asked(lambda query: (200, world(query, 0))), 0, "prometheus: healthy", "4 hosts in 30 s")


def names_a_dead_uplink():
    found = wrong(asked(lambda query: (200, world(query, 1))), 1, "plane0.t0-0.t1-0: dead,", "\n  t0-0      X ")
    done = asked(lambda query: (200, world(query, 1)), "--json")
    result = json.loads(done.stdout)
    if [sick["part"] for sick in result["sick"]] != ["plane0.t0-0.t1-0"] or result["healthy"]:
        found.append(done.stdout)
    return found


def names_a_loss():
    return wrong(asked(lambda query: (200, world(query, 0.1))), 1, "plane0.t0-0.t1-0: lossy 1")


def a_silent_half_is_not_healthy():
    def half(query):
        answer = json.loads(world(query, 0))
        answer["data"]["result"] = [s for s in answer["data"]["result"] if s["metric"]["host"] < "host2"]
        return 200, json.dumps(answer)
    return wrong(asked(half), 1, "2 of 4 hosts not heard of")


def foreign_series_are_left_out():
    strange = [{"host": "host99"}, {"host": "host-1"}, {"plane": "7"}, {"via": "t1-0," * 40}, {"kind": "t9"},
               {"t0": "t0-1"}, {"host": 5}, {"kind": "peer", "via": "host3"}, {"kind": "turn", "via": "t1-0,t0-0,t1-1"}]

    def answer(query):
        text = json.loads(world(query, 1))
        base = next(routes(0))[0]
        for change in strange:
            text["data"]["result"].append({"metric": {**base, **change, "symptom": "lost"}, "value": [1, "5"]})
        for value in ["NaN", "+Inf", "-1", "1e300", 7, None]:
            text["data"]["result"].append({"metric": {**base, "symptom": "lost"}, "value": [1, value]})
        text["data"]["result"] += [7, {"metric": 1}, {"value": []}]
        return 200, json.dumps(text)
    return wrong(asked(answer), 1, "plane0.t0-0.t1-0: dead,", "series are of no route")


def hostile_answers_are_refused():
    """Each is named, and none takes long."""
    mebibyte = b"[" * (1 << 20)
    table = [
        (200, "no json", "the answer is no JSON"),
        (200, "[" * 100000, "the answer is no JSON"),
        (200, "{}", "none of a Prometheus"),
        (200, '{"status":"success","data":{"resultType":"matrix","result":[]}}', "none of a Prometheus"),
        (422, '{"status":"error","error":"bad \\u001b[2J query"}', "it says: bad ?[2J query"),
        (302, "", "HTTP 302"),
        (404, "<html>", "the answer is no JSON"),
        (200, "", "HTTP 200 in the place of an answer"),
        (200, (mebibyte for _ in range(70)), "more than 64 MiB"),
        (200, vector([]), "does it scrape an mrcd"),
    ]
    found = []
    for status, body, words in table:
        found += wrong(asked(lambda _, answer=(status, body): answer), 2, words)
    return found + wrong(asked(lambda query: (200, world(query, 0)), headers=80), 2, "64 KiB of headers")


def too_many_routes_are_left_out():
    """A host has 1,024; series that say the same again are more, and cost no more."""
    def answer(query):
        text = json.loads(world(query, 0))
        if "map_probes" in query:
            text["data"]["result"] += text["data"]["result"][:1] * 5000
        return 200, json.dumps(text)
    return wrong(asked(answer), 0, f"{2 * (5000 + 6) - 1024} series are of no route", "42 routes of 4 hosts")


def a_long_time_has_the_same_shares():
    """Counts of a route have 16 bits in the map; those of a day have more."""
    def answer(query):
        text = json.loads(world(query, 0.1))
        for series in text["data"]["result"]:
            series["value"][1] = str(float(series["value"][1]) * 100000)
        return 200, json.dumps(text)
    return wrong(asked(answer, "--for", "24h"), 1, "plane0.t0-0.t1-0: lossy 1", "in 86400 s")


def an_answer_that_never_ends_is_given_up():
    """A byte a second, of each answer: 30 s are all that there is."""
    def drip(end):
        while time.monotonic() < end:
            time.sleep(1)
            yield b" "
    began = time.monotonic()
    found = wrong(asked(lambda _: (200, drip(began + 100))), 2, "no answer")
    took = time.monotonic() - began
    return found if took < 90 else found + [f"after {took:.0f} s"]


def asks(metric, *more):
    """What mrc map asks about plane 0 there."""
    queries = []

    def answer(query):
        queries.append(query)
        return 200, world(query, 0)
    asked(answer, *more)
    return next(query for query in queries if metric in query and 'plane="0"' in query)


def route_of(host):
    return f'host="{host}",plane="0",t0="t0-0",kind="t0"'


def series(metric, host, values, more=""):
    """Of a test of promtool: a series that an mrcd serves, scraped every 15 s."""
    of = "" if metric == "map_routes" else f',plane="0",t0="t0-0",kind="t0",via=""{more}'
    return {"series": f'softmrc_{metric}{{host="{host}"{of},instance="{host}:1",job="j"}}', "values": values}


def told(query, at, *samples):
    return {"expr": query, "eval_time": at, "exp_samples": [{"labels": f"{{{key}}}", "value": n} for key, n in samples]}


def answered(input_series, *tests):
    """What Debian's promtool says of these answers."""
    promtool = shutil.which("promtool")
    if not promtool:
        raise Skip("promtool is not installed (package prometheus)")
    test = {"interval": "15s", "input_series": input_series, "promql_expr_test": tests}
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work, "map.yml")
        path.write_text(json.dumps({"rule_files": [], "evaluation_interval": "15s", "tests": [test]}), encoding="utf-8")
        done = subprocess.run([promtool, "test", "rules", path], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


LOST, CORRUPTED = ',symptom="lost"', ',symptom="corrupted"'


def what_was_seen_once_counts():
    """A symptom has no series before it is seen, and then all of it is new."""
    bad, route = asks("map_bad"), route_of("host0")
    return answered(
        [series("map_routes", "host0", "8x20"), series("map_probes_total", "host0", "0+300x20"),
         series("map_bad_total", "host0", "_x4 100+100x4 stale", LOST), series("map_bad_total", "host0", "7+0x20", CORRUPTED)],
        told(asks("map_probes"), "60s", (route, 600)), told(bad, "45s"), told(bad, "60s", (route + LOST, 100)),
        told(bad, "75s", (route + LOST, 200)), told(bad, "90s", (route + LOST, 200)), told(bad, "165s"))


def what_was_seen_once_long_ago_counts():
    """One scrape's losses of host0 are in the last five minutes, also once mrcd forgot them. Those of host1 may be older than
    this Prometheus knows it, those of host2 are from before."""
    bad = asks("map_bad", "--for", "5m")
    return answered(
        [series("map_routes", "host0", "8x40"), series("map_bad_total", "host0", "_x24 100+0x16", LOST),
         series("map_bad_total", "host0", "_x24 50+0x3 stale", CORRUPTED),
         series("map_routes", "host1", "_x24 8x16"), series("map_bad_total", "host1", "_x24 9000+0x16", LOST),
         series("map_routes", "host2", "8x40"), series("map_bad_total", "host2", "70+0x40", LOST)],
        told(bad, "10m", (route_of("host0") + LOST, 100), (route_of("host0") + CORRUPTED, 50)))


def wrong_usage_is_named():
    def run(*words):
        return subprocess.run([MRC, "map", *words], capture_output=True, text=True, check=False, env=ENV)
    url = "http://127.0.0.1:1"
    return (wrong(run("x", "--prometheus", url, "--fabric", "tiny"), 2, "no LAB") +
            wrong(run("--prometheus", url, "--fabric", "none.toml"), 2, "none.toml") +
            wrong(run("--fabric", "tiny"), 2, "it is for --prometheus") +
            wrong(run("--prometheus", "file:///etc/passwd", "--fabric", "tiny"), 2, "--prometheus"))


if __name__ == "__main__":
    tap.main([(check.__name__, check) for check in ((an_answer_that_never_ends_is_given_up,) if "--slow" in sys.argv else (
        healthy, names_a_dead_uplink, names_a_loss, a_silent_half_is_not_healthy, foreign_series_are_left_out,
        too_many_routes_are_left_out, a_long_time_has_the_same_shares, what_was_seen_once_counts, what_was_seen_once_long_ago_counts,
        hostile_answers_are_refused, wrong_usage_is_named))])
