# SPDX-License-Identifier: BSD-2-Clause
"""A cluster's mrcds for a Prometheus to scrape: what so many nodes serve of their probes, from one process.

Routes are what an mrcd with the default map.share probes in a fabric of eight planes whose T0s have 256 hosts and 256 uplinks: 100
a node. All of them count alike, so that the text of a scrape is made once and has its numbers put in.
"""
import http.server
import threading
import time

PLANES, HOSTS_PER_T0, UPLINKS, SHARE = 8, 256, 256, 4
ROUTES = 100  # a node
PROBES, BAD = b"@", b"~"  # where numbers go
PROBES_PER_S = 100  # of a route
NODES_PER_TARGET = 250


def routes(node, t0s):
    """Labels of what a node probes: of each plane its T0, two or three uplinks, and ways by four of them and four neighbours."""
    t0, seat = divmod(node, HOSTS_PER_T0)
    for plane in range(PLANES):
        of = f'host="host{node}",plane="{plane}",t0="t0-{t0}"'
        up = [(SHARE * seat + plane + i) % UPLINKS for i in range(SHARE)]
        yield f'{of},kind="t0",via=""'
        for i in range(2 + plane % 2):
            yield f'{of},kind="t1",via="t1-{up[i]}"'
        for i in range(SHARE + 1):
            yield f'{of},kind="turn",via="t1-{up[i % SHARE]},t0-{(t0 + 1 + i // SHARE) % t0s},t1-{up[i - 1]}"'
        for i in range(SHARE):
            yield f'{of},kind="peer",via="host{t0 * HOSTS_PER_T0 + (seat + 1 + i) % HOSTS_PER_T0}"'


def text_of(nodes, t0s, loses):
    """What these nodes serve; `loses` says it of a route by its labels."""
    probes, bad, rest = [], [], []
    for node in nodes:
        instance = f'instance="n{node}:9891"'
        for route in routes(node, t0s):
            probes.append(f"softmrc_map_probes_total{{{instance},{route}}} @\n")
            if loses(route):
                bad.append(f'softmrc_map_bad_total{{{instance},{route},symptom="lost"}} ~\n')
        for name in ("plain_sent_total", "plain_lost_total"):
            rest += (f'softmrc_map_{name}{{{instance},host="host{node}",plane="{plane}"}} 0\n' for plane in range(PLANES))
        for name in ("routes", "routes_left_out", "bytes_per_second", "neighbours", "neighbours_living"):
            rest.append(f'softmrc_map_{name}{{{instance},host="host{node}"}} 100\n')
    return "".join(probes + bad + rest).encode()


class Cluster(http.server.ThreadingHTTPServer):
    """Serves until it is closed. `text` has what the nodes of each target serve, `series` how many that are."""

    daemon_threads = True

    def __init__(self, nodes):
        super().__init__(("127.0.0.1", 0), Handler)
        self.nodes, self.begun = nodes, time.time()
        self.lose(0, lambda route: False)
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    def lose(self, share, loses):
        """From now on these routes lose such a share, and the others nothing."""
        t0s = max(2, -(-self.nodes // HOSTS_PER_T0))
        self.text = [text_of(range(first, min(self.nodes, first + NODES_PER_TARGET)), t0s, loses)
                     for first in range(0, self.nodes, NODES_PER_TARGET)]
        self.series = sum(text.count(b"\n") for text in self.text)
        self.share, self.broken = share, time.time()

    def scrape_config(self):
        """All targets, of one address; what they serve says which instance it is of."""
        address = f"127.0.0.1:{self.server_address[1]}"
        return {"job_name": "softmrc", "honor_labels": True, "static_configs": [
            {"targets": [address], "labels": {"__metrics_path__": f"/{i}", "instance": f"part{i}"}} for i in range(len(self.text))]}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        cluster, now = self.server, time.time()
        text = cluster.text[int(self.path[1:])].replace(PROBES, b"%d" % ((now - cluster.begun) * PROBES_PER_S))
        text = text.replace(BAD, b"%d" % ((now - cluster.broken) * PROBES_PER_S * cluster.share))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        try:
            self.wfile.write(text)
        except OSError:
            pass  # Prometheus has given it up

    def log_message(self, *_):
        pass
