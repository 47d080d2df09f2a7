# SPDX-License-Identifier: BSD-2-Clause
"""What `mrc stat` counts, for tests that watch programs at work from outside."""
import json
import subprocess
import time


def wait_until(condition, what, seconds=60):
    """The first value of the condition that is true; machines are busy, so the limit is for what hangs."""
    until = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return value


class Stat:
    """The processes whose statistics are in this environment's folder."""

    def __init__(self, mrc, env=None):
        self.mrc, self.env = mrc, env

    def processes(self):
        run = subprocess.run([self.mrc, "stat", "--json"], env=self.env, capture_output=True, text=True, check=True)
        return json.loads(run.stdout)["processes"]

    def sum(self, name, state=None):
        """A metric of all processes together, of all planes."""
        total = 0
        for process in self.processes():
            for of in [process["metrics"], *process["planes"]]:
                value = of.get(name, 0)
                total += value[state] if state and value else value or 0
        return total

    def at_work(self):
        """QPs with a peer: perftest's server, which only takes WRITEs, stays in RTR."""
        return self.sum("qps", "RTR") + self.sum("qps", "RTS")

    def sent_again_in_vain(self):
        """Packets that no link lost: on a busy machine an acknowledgement may be late, and what is sent
        again then arrives twice, and the kernel may have no room.
        """
        return self.sum("rx_duplicates") + self.sum("plane_rx_overruns")

    def lost(self):
        """Packets sent again that a link lost."""
        return self.sum("tx_retransmits") - self.sent_again_in_vain()

    def goes_on(self, packets=100):
        """Waits until so many data packets more were sent."""
        before = self.sum("tx_data_packets")
        wait_until(lambda: self.sum("tx_data_packets") > before + packets, "traffic goes on")
