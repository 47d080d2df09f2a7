# SPDX-License-Identifier: BSD-2-Clause
"""python_module.py FOLDER CC INCLUDE: softmrc.py of FOLDER moves data between two QPs and two processes, and says what is wrong.

Its layouts and values are compared with those that CC finds in the headers of INCLUDE.
"""
import errno
import hashlib
import importlib.util
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
FOLDER, CC, INCLUDE = sys.argv[1:4]
sys.path[:0] = [FOLDER, str(pathlib.Path(__file__).resolve().parents[1] / "tidy")]
import tap  # noqa: E402
from tree import Skip  # noqa: E402

HAS_CFFI = importlib.util.find_spec("cffi") is not None
os.environ["MRC_PORTS"] = "127.0.0.1,127.0.1.1"
MIB = 1 << 20
WAIT_S = 60
# Structures of the module, with the names that fields have in the headers where they differ.
STRUCTURES = {
    "ibv_mr": {}, "ibv_sge": {}, "ibv_qp_cap": {}, "ibv_recv_wr": {}, "ibv_wc": {}, "mrc_qp_init_attr": {}, "mrc_meet_end": {},
    "ibv_send_wr": {"remote_addr": "wr.rdma.remote_addr", "rkey": "wr.rdma.rkey"},
}


def wants_cffi(case):
    def run():
        if not HAS_CFFI:
            raise Skip("no python3-cffi")
        return case()

    return run


def both(*calls):
    """Results of calls that run side by side, each in a thread; an exception of one is raised."""
    results = [None] * len(calls)

    def run(i):
        try:
            results[i] = calls[i]()
        except Exception as error:  # for the caller
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


class Pair:
    """Two connected QPs of one device, with memory of their own."""

    def __init__(self, softmrc, size=MIB):
        self.device = softmrc.Device("mrc0")
        self.memory = [self.device.memory(size) for _ in range(2)]
        self.cq = [self.device.cq(64) for _ in range(2)]
        self.qp = [self.device.qp(cq) for cq in self.cq]
        ends = socket.socketpair()
        self.peer = both(*(lambda i=i: self.qp[i].meet(ends[i], self.memory[i], WAIT_S) for i in range(2)))
        for end in ends:
            end.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.device.close()


def refused(problems, kind, words, call):
    """Adds a problem unless the call raises this kind of exception with these words."""
    try:
        call()
    except kind as error:
        if words not in str(error):
            problems.append(f"said: {error}, not: {words}")
    else:
        problems.append(f"not refused: {words}")


def wait_for_bytes(device):
    """tx_data_bytes once it is not 0: counters are published 20 times a second."""
    end = time.monotonic() + WAIT_S
    while (sent := device.counters()["tx_data_bytes"]) == 0 and time.monotonic() < end:
        time.sleep(0.01)
    return sent


def writes():
    """Random bytes at an offset arrive where they were to go, and nowhere else; counters tell of them."""
    import softmrc

    with Pair(softmrc) as p:
        data = random.randbytes(MIB - 1000)
        p.memory[0].view[100:100 + len(data)] = data
        p.qp[1].receive(wr_id=5)
        p.qp[0].write(p.memory[0], p.peer[0], offset=100, length=len(data), at=7, wr_id=1)
        p.qp[0].write(p.memory[0], p.peer[0], length=0, immediate=0x01020304, wr_id=2)
        sent, (got,) = p.cq[0].wait(2, WAIT_S), p.cq[1].wait(1, WAIT_S)
        problems = [] if [(d.wr_id, d.status, d.opcode) for d in sent] == [(1, "success", "write"), (2, "success", "write")] else [f"{sent}"]
        if (got.wr_id, got.opcode, got.immediate, got.bytes, got.qpn) != (5, "receive", 0x01020304, 0, p.qp[1].qpn):
            problems.append(f"{got}")
        view = p.memory[1].view
        if view[7:7 + len(data)] != data or any(view[:7]) or any(view[7 + len(data):]):
            problems.append("the bytes are not those that were sent")
        if not len(data) <= wait_for_bytes(p.device):
            problems.append("tx_data_bytes never counted what was sent")
        return problems


def two_processes():
    """A child writes to its parent, over pipes as over stdin and stdout."""
    import softmrc

    there, back = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with softmrc.Device() as device:
                memory, cq = device.memory(MIB), device.cq(8)
                qp, way = device.qp(cq), (there[0], back[1])
                peer = qp.meet(way, timeout=WAIT_S)
                qp.sync(way, WAIT_S)
                memory.view[:] = random.Random(1).randbytes(MIB)
                qp.write(memory, peer, immediate=MIB)
                code = cq.wait(1, WAIT_S)[0].status != "success"
                qp.sync(way, WAIT_S)
        finally:
            os._exit(code)
    with softmrc.Device() as device:
        memory, cq = device.memory(MIB), device.cq(8)
        qp, way = device.qp(cq), (back[0], there[1])
        peer = qp.meet(way, memory, WAIT_S)
        qp.receive()
        qp.sync(way, WAIT_S)
        (got,) = cq.wait(1, WAIT_S)
        qp.sync(way, WAIT_S)
        arrived = hashlib.sha256(memory.view).digest()
    _, status = os.waitpid(child, 0)
    problems = [f"the child ended with {status}"] if status else []
    if peer.bytes or peer.rkey:
        problems.append(f"the child offered no memory: {peer}")
    if got.immediate != MIB or arrived != hashlib.sha256(random.Random(1).randbytes(MIB)).digest():
        problems.append(f"not what was sent: {got}")
    return problems


def a_write_that_may_not_be():
    """Beyond the peer's memory, or with a key that is none, a WRITE fails; the next one is flushed."""
    import softmrc

    problems = []
    with Pair(softmrc, 4096) as p:
        p.qp[0].write(p.memory[0], p.peer[0]._replace(rkey=p.peer[0].rkey ^ 0x100), wr_id=1)
        p.qp[0].write(p.memory[0], p.peer[0], wr_id=2)
        first, second = p.cq[0].wait(2, WAIT_S)
        if first.status != "remote access error" or first.opcode is not None:
            problems.append(f"{first}")
        if second.status == "success" or any(p.memory[1].view):
            problems.append(f"{second}")
    return problems


def bad_values():
    """Each is refused by a name, a value and what is allowed, and leaves all as it was."""
    import softmrc

    problems = []
    refused(problems, ValueError, "name='mlx5_0': want one of mrc0", lambda: softmrc.Device("mlx5_0"))
    with Pair(softmrc, 4096) as p:
        qp, memory, peer = p.qp[0], p.memory[0], p.peer[0]
        for words, call in (
            ("size=0: want a number from 1", lambda: p.device.memory(0)),
            ("entries=0: want", lambda: p.device.cq(0)),
            ("sends=0: want", lambda: p.device.qp(p.cq[0], sends=0)),
            ("offset=4097: want a number from 0 to 4096", lambda: qp.write(memory, peer, offset=4097)),
            ("length=97: want a number from 0 to 96", lambda: qp.write(memory, peer, offset=4000, length=97)),
            ("immediate=4294967296: want", lambda: qp.write(memory, peer, immediate=1 << 32)),
            ("wr_id=-1: want", lambda: qp.receive(wr_id=-1)),
        ):
            refused(problems, ValueError, words, call)
        refused(problems, softmrc.Error, "mrc_create_cq", lambda: p.device.cq(1 << 24))
        refused(problems, softmrc.Error, "mrc_destroy_cq", p.cq[0].close)
        refused(problems, TimeoutError, "0 of 1 completions", lambda: p.cq[0].wait(1, 0.01))
        fresh = p.device.qp(p.cq[0], sends=1)
        refused(problems, softmrc.Error, "mrc_post_send", lambda: fresh.write(memory, peer))
        fresh.close()
        refused(problems, ValueError, "this Qp is closed", lambda: fresh.receive())
    refused(problems, ValueError, "this Device is closed", lambda: p.device.memory(1))
    return problems


def peers_that_say_nothing():
    """Nothing, noise and nobody end meet() with the errno that says which."""
    import softmrc

    problems = []
    with softmrc.Device() as device:
        qp = device.qp(device.cq(4))
        for said, number in ((b"", errno.ETIMEDOUT), (b"GET / HTTP/1.1", errno.EPROTO), (b"mrc-meet-2 0", errno.EPROTONOSUPPORT), (None, errno.EPIPE)):
            ours, theirs = socket.socketpair()
            if said is None:
                theirs.close()
            else:
                theirs.send(said)
            try:
                qp.meet(ours, timeout=0.05 if said == b"" else WAIT_S)
                problems.append(f"met {said}")
            except softmrc.Error as error:
                if error.errno != number:
                    problems.append(f"{said}: {error}")
            ours.close()
            theirs.close()
        refused(problems, ValueError, "timeout in ms=-1000: want", lambda: qp.sync(0, timeout=-1))
    return problems


def libraries_that_are_not_there():
    said = subprocess.run(
        ["/usr/bin/python3", "-B", "-c", "import softmrc"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": FOLDER, "SOFTMRC_LIBDIR": "/no/such"},
    ).stderr
    return [] if "/no/such/softmrc/libibverbs.so.1 cannot be loaded" in said and "SOFTMRC_LIBDIR" in said else [said]


def layouts():
    """What the module writes down is what the headers say."""
    import softmrc

    lines, want = [], []
    for name, renamed in STRUCTURES.items():
        kind = softmrc.ffi.typeof(f"struct {name}")
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        want.append(f"{name} {softmrc.ffi.sizeof(kind)}")
        for field, info in kind.fields:
            if field == "unused":
                continue
            in_c = renamed.get(field, field)
            size = softmrc.ffi.sizeof(info.type)
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof(struct {name}, {in_c}), sizeof(((struct {name} *)0)->{in_c}));')
            want.append(f"{name}.{field} {info.offset} {size}")
    for value in sorted(n for n in vars(softmrc) if re.match(r"(IBV|MRC)_[A-Z_]+$", n)):
        lines.append(f'printf("{value} %d\\n", (int){value});')
        want.append(f"{value} {getattr(softmrc, value)}")
    lines.append('printf("counters %zu %zu\\n", offsetof(struct mrc_stats_segment, counter), sizeof(struct mrc_stats_counter));')
    want.append(f"counters {softmrc.STATS_HEAD.size} {softmrc.STATS_COUNTER.size}")
    head = "#include <mrc.h>\n#include <mrc/meet.h>\n#include <mrc/stats.h>\n#include <stdio.h>\n#include <stddef.h>\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "layouts.c")
        source.write_text(f"{head}int main(void) {{ {' '.join(lines)} return 0; }}\n")
        subprocess.run([CC, f"-I{INCLUDE}", str(source), "-o", f"{folder}/layouts"], check=True)
        got = subprocess.run([f"{folder}/layouts"], capture_output=True, text=True, check=True).stdout.split("\n")
    return [f"the module: {ours}; the headers: {theirs}" for ours, theirs in zip(want, got) if ours != theirs]


CASES = [writes, two_processes, a_write_that_may_not_be, bad_values, peers_that_say_nothing, libraries_that_are_not_there, layouts]

if __name__ == "__main__":
    seed = int(os.environ.get("MRC_SEED", "1"), 0) if os.environ.get("MRC_SEED") != "random" else random.getrandbits(32)
    print(f"# MRC_SEED={seed}")
    random.seed(seed)
    tap.main([(f"python__{case.__name__}", wants_cffi(case)) for case in CASES])
