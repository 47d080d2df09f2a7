# SPDX-License-Identifier: BSD-2-Clause
"""What the samples of perf belong to: parts of the kernel's work by call chain, our own by source file."""
import collections
import functools
import pathlib
import re
import shutil
import subprocess

# The first row that a frame fits names the part. LEAF: the function itself, not who called it.
LEAF, CHAIN = range(2)
KERNEL = [
    ("kernel: copy from the sender", LEAF, r"_copy_from_iter|copyin|csum_and_copy_from"),
    ("kernel: copy to the receiver", LEAF, r"_copy_to_iter|copyout|__skb_datagram_iter|copy_user"),
    ("kernel: waking the peer", CHAIN, r"sock_def_readable|__wake_up|try_to_wake_up|ep_poll_callback"),
    ("kernel: into the peer's socket", CHAIN, r"net_rx_action|process_backlog|__netif_receive_skb"),
    ("kernel: socket buffers", CHAIN, r"__ip_append_data|__ip_make_skb|alloc_skb|kfree_skb|consume_skb|skb_release"),
    ("kernel: route and device", CHAIN, r"udpv?6?_send_skb|ip6?_send_skb|ip6?_output|ip_route_output|__dev_queue_xmit"),
    ("kernel: message headers", CHAIN, r"copy_msghdr|import_iovec|sendmsg_copy"),
    ("kernel: rest of sending", CHAIN, r"sys_send"),
    ("kernel: receiving", CHAIN, r"sys_recv"),
    ("kernel: sleeping", CHAIN, r"sys_poll|sys_ppoll|epoll|futex|nanosleep|schedule"),
    ("kernel: rest", CHAIN, r""),
]
OURS = {"core": "core", "base": "core", "wire": "headers", "io": "adapter", "host": "host", "libmrc": "verbs", "rdma": "verbs",
        "libibverbs": "verbs", "ud": "core"}
ICRC = re.compile(r"mw_icrc|crc")
COPY = re.compile(r"mem(cpy|move)|__mem")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")


def unusable():
    """Why there are no samples, or nothing."""
    if not shutil.which("perf"):
        return "perf is not installed (Debian's linux-perf)"
    if not shutil.which("nm"):
        return "nm is not installed (Debian's binutils)"
    tried = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", "/dev/null", "true"],
                           capture_output=True, text=True, check=False)
    return f"perf may not record: {tried.stderr.strip().splitlines()[0]}" if tried.returncode and tried.stderr.strip() else ""


@functools.cache
def sources(library):
    """The folder below src/ that each function of a library of ours comes from."""
    done = subprocess.run(["nm", "-l", "--defined-only", library], capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        symbol, _, place = line.partition("\t")
        module = re.search(r"/src/(\w+)/", place)
        if module:
            found[symbol.split()[-1]] = module[1]
    return found


def part_of(chain):
    """The part of a sample, from its frames, innermost first: (function, file)."""
    function, file = chain[0]
    if file.startswith("[") and file != "[vdso]":
        names = " ".join(name for name, where in chain if where.startswith("["))
        return next(part for part, where, pattern in KERNEL
                    if re.search(pattern, function if where == LEAF else names))
    if COPY.search(function):
        return "copy"
    module = sources(file).get(function) if pathlib.Path(file).is_file() else None
    if module and ICRC.search(function):
        return "ICRC"
    if module:
        return OURS.get(module, "program")
    return "C library" if "/libc." in file or file == "[vdso]" else "program"


def shares(data):
    """The share of each part in the samples of a file of perf; nothing, where there are none."""
    done = subprocess.run(["perf", "script", "-i", str(data), "-F", "comm,ip,sym,dso"], capture_output=True, text=True,
                          check=False) if data.exists() else None
    counts, chain = collections.Counter(), []
    for line in [*(done.stdout.splitlines() if done else []), ""]:
        frame = FRAME.match(line)
        if frame:
            chain.append((frame[1], frame[2]))
        elif chain and not line.strip():
            counts[part_of(chain)] += 1
            chain = []
    total = sum(counts.values())
    return {part: n / total for part, n in counts.items()}


def count_of(file, seconds):
    """How many times a second perf counted an event, or None."""
    try:
        text = file.read_text()
    except OSError:
        return None
    found = re.search(r"^(\d+);", text, re.M)
    return int(found[1]) / seconds if found else None
