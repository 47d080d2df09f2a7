# SPDX-License-Identifier: BSD-2-Clause
"""Shows to which parts bench/verbs/parts.py counts the samples of perf."""
import pathlib
import subprocess
import sys
import tempfile

import run
import tap

sys.path.insert(0, str(run.ROOT / "bench/verbs"))
import parts

KERNEL = "[kernel.kallsyms]"
SEND = ["udp_sendmsg", "__sys_sendmmsg", "do_syscall_64"]


def kernel(*names):
    return [(name, KERNEL) for name in names]


CHAINS = {
    "kernel: copy from the sender": kernel("_copy_from_iter", "__ip_append_data", *SEND),
    "kernel: copy to the receiver": kernel("_copy_to_iter", "__skb_datagram_iter", "udp_recvmsg", "__sys_recvmmsg"),
    "kernel: waking the peer": kernel("_raw_spin_unlock_irqrestore", "sock_def_readable", "process_backlog", "ip_output", *SEND),
    "kernel: into the peer's socket": kernel("fib_table_lookup", "__netif_receive_skb", "__dev_queue_xmit", *SEND),
    "kernel: socket buffers": kernel("kmem_cache_alloc_node", "__alloc_skb", *SEND),
    "kernel: route and device": kernel("veth_xmit", "__dev_queue_xmit", "ip_output", *SEND),
    "kernel: message headers": kernel("_copy_from_user", "import_iovec", "__sys_sendmmsg"),
    "kernel: rest of sending": kernel("udp_sendmsg", "__sys_sendmmsg"),
    "kernel: receiving": kernel("udp_recvmsg", "__sys_recvmmsg"),
    "kernel: sleeping": kernel("finish_task_switch", "do_sys_poll", "__x64_sys_ppoll"),
    "kernel: rest": kernel("do_syscall_64"),
    "C library": [("pthread_mutex_lock", "/usr/lib/libc.so.6")],
    "copy": [("__memmove_avx_unaligned_erms", "/usr/lib/libc.so.6")],
    "program": [("main", "/usr/bin/ib_write_bw")],
}


def kernel_and_library():
    found = {want: parts.part_of(chain) for want, chain in CHAINS.items()}
    return [f"{want}: counted as {got}" for want, got in found.items() if got != want]


def own_functions():
    """By the file that each function comes from."""
    with tempfile.TemporaryDirectory() as folder:
        wants = {"core": "core", "wire": "headers", "io": "adapter", "host": "host", "sim": "program"}
        names = {f"src/{module}/part.c": f"do_{module}" for module in wants} | {"src/wire/icrc.c": "mw_icrc_start"}
        for path, name in names.items():
            source = pathlib.Path(folder, path)
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(f"int {name}(void) {{ return 0; }}\n")
        library = f"{folder}/lib.so"
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", library, *names], cwd=folder, check=True)
        got = {module: parts.part_of([(f"do_{module}", library)]) for module in wants}
        problems = [f"{module}: counted as {got[module]}" for module in wants if got[module] != wants[module]]
        if parts.part_of([("mw_icrc_start", library)]) != "ICRC":
            problems.append("mw_icrc_start: not counted as ICRC")
        return problems


def counts():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "calls")
        if parts.count_of(file, 2) is not None:
            return ["a file that is not there counts"]
        file.write_text("# started on x\n\n3000;;raw_syscalls:sys_enter;1;100.00;;\n")
        some = parts.count_of(file, 2)
        file.write_text("<not supported>;;raw_syscalls:sys_enter;0;0.00;;\n")
        none = parts.count_of(file, 2)
    return [f"1500 and None are {some} and {none}"] if (some, none) != (1500, None) else []


if __name__ == "__main__":
    tap.main([("kernel_and_library", kernel_and_library), ("own_functions", own_functions), ("counts", counts)])
