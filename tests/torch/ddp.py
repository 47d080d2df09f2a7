# SPDX-License-Identifier: BSD-2-Clause
"""ddp.py RANK RANKS STORE STEPS: PyTorch's DistributedDataParallel over the backend "mrc", and over gloo, kernel TCP.

Trains a small transformer on real text twice. Both backends add in the same order and nothing is random but by seed, so
every loss and every weight must be equal to the last bit, on every rank. It touches the file STORE.RANK when it has made
its first step over MRC. GLOO_SOCKET_IFNAME is the interface of gloo.
"""
import os
import pathlib
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch
import torch.distributed as dist
import softmrc_torch  # noqa: F401  makes "mrc" known
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ddp_model  # noqa: E402

rank, ranks, store, steps = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


def train(group, begun):
    """Over a group; touches a file when it has made a step."""
    return ddp_model.train(lambda model: nn.parallel.DistributedDataParallel(model, process_group=group), rank, steps,
                           begun.touch)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("mrc", f"file://{store}", rank=rank, world_size=ranks)
    losses, weights, ms = train(None, pathlib.Path(f"{store}.{rank}"))
    dist.barrier()
    gloo = dist.new_group(list(range(ranks)), backend="gloo")
    tcp_losses, tcp_weights, tcp_ms = train(gloo, pathlib.Path(f"{store}.{rank}.tcp"))
    if losses != tcp_losses or weights != tcp_weights or not losses[-1] < losses[0]:
        sys.exit(f"rank {rank}: over MRC loss {losses[0]!r} to {losses[-1]!r}, weights {weights}; over gloo "
                 f"{tcp_losses[0]!r} to {tcp_losses[-1]!r}, {tcp_weights}")
    digests = [None] * ranks
    dist.all_gather_object(digests, weights)
    if len(set(digests)) != 1:
        sys.exit(f"rank {rank}: weights differ between ranks: {digests}")
    if rank == 0:
        print(f"loss {losses[0]:.4f} to {losses[-1]:.4f}, weights {weights[:16]}: every loss and weight is equal to gloo's; "
              f"{ms:.0f} ms a step, gloo over TCP {tcp_ms:.0f}", flush=True)
    dist.destroy_process_group()


main()
