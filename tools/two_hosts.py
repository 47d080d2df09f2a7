# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts for programs that are tried over MRC: network namespaces joined by veth pairs, the planes, and one pair
more for what the ranks say to each other beside it. Needs root and ip(8)."""
import json
import subprocess
import threading
import time

RUNNING_S = 10


def run(*words, **options):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True, **options)


def address(plane, host):
    return f"10.77.{plane}.{host + 1}"


class Fabric:
    """The hosts PREFIX-h0 and PREFIX-h1; they go at the end, whatever happens."""
    CONTROL = 99  # the number of the pair "ctl" in addresses

    def __init__(self, prefix, planes, mtu):
        self.hosts = (f"{prefix}-h0", f"{prefix}-h1")
        self.planes, self.mtu = planes, mtu

    def __enter__(self):
        self.__exit__()
        for host in self.hosts:
            run("ip", "netns", "add", host)
            run("ip", "-n", host, "link", "set", "lo", "up")
        for plane in [*range(self.planes), "ctl"]:
            name, net = (f"p{plane}", plane) if plane != "ctl" else ("ctl", self.CONTROL)
            run("ip", "-n", self.hosts[0], "link", "add", name, "mtu", self.mtu, "type", "veth", "peer", "name", name,
                "mtu", self.mtu, "netns", self.hosts[1])
            for number, host in enumerate(self.hosts):
                run("ip", "-n", host, "addr", "add", f"{address(net, number)}/24", "dev", name)
                run("ip", "-n", host, "link", "set", name, "up")
        self.wait_until_running()
        return self

    def wait_until_running(self):
        """The kernel calls an interface running up to a second after its carrier, and NCCL takes no other."""
        until = time.monotonic() + RUNNING_S
        while any(link["ifname"] != "lo" and link["operstate"] != "UP" for host in self.hosts
                  for link in json.loads(run("ip", "-n", host, "-j", "link").stdout)):
            if time.monotonic() > until:
                raise RuntimeError(f"interfaces are not up after {RUNNING_S} s")
            time.sleep(0.05)

    def __exit__(self, *_):
        for host in self.hosts:
            subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)

    def ports(self, host):
        """MRC_PORTS of a host."""
        return ",".join(address(plane, host) for plane in range(self.planes))

    def carrier(self, plane, up):
        run("ip", "-n", self.hosts[1], "link", "set", f"p{plane}", "up" if up else "down")

    def silent(self, plane, dead):
        """Frames to an Ethernet address that nobody has: the carrier stays, and nothing arrives."""
        for number, host in enumerate(self.hosts):
            to = address(plane, 1 - number)
            if dead:
                run("ip", "-n", host, "neigh", "replace", to, "lladdr", "02:00:00:00:00:99", "nud", "permanent", "dev",
                    f"p{plane}")
            else:
                run("ip", "-n", host, "neigh", "del", to, "dev", f"p{plane}")


class Faults:
    """Breaks one plane after another until the end: all of them silently, all by their carrier, and so on."""
    BROKEN_S, WHOLE_S = 0.4, 0.3

    def __init__(self, fabric):
        self.fabric, self.count, self.over = fabric, 0, threading.Event()
        self.thread = threading.Thread(target=self.go)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def go(self):
        while not self.over.wait(self.WHOLE_S):
            plane = self.count % self.fabric.planes
            silent = self.count // self.fabric.planes % 2 == 0
            if silent:
                self.fabric.silent(plane, True)
            else:
                self.fabric.carrier(plane, False)
            self.over.wait(self.BROKEN_S)
            if silent:
                self.fabric.silent(plane, False)
            else:
                self.fabric.carrier(plane, True)
            self.count += 1
