# SPDX-License-Identifier: BSD-2-Clause
"""ddp.py RANK RANKS STORE STEPS: PyTorch's DistributedDataParallel over the backend "mrc", and over gloo, kernel TCP.

Trains a small transformer on real text twice. Both backends add in the same order and nothing is random but by seed, so
every loss and every weight must be equal to the last bit, on every rank. It touches the file STORE.RANK when it has made
its first step over MRC. GLOO_SOCKET_IFNAME is the interface of gloo.
"""
import hashlib
import os
import pathlib
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch
import torch.distributed as dist
import softmrc_torch  # noqa: F401  makes "mrc" known
from torch import nn

rank, ranks, store, steps = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
VOCABULARY, WIDTH, LENGTH, BATCH, LAYERS = 256, 96, 32, 2, 2


class Model(nn.Module):
    """A transformer that guesses the next byte."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.layers, self.out = nn.TransformerEncoder(layer, LAYERS), nn.Linear(WIDTH, VOCABULARY)
        self.register_buffer("mask", torch.triu(torch.full((LENGTH, LENGTH), float("-inf")), 1))

    def forward(self, x):
        h = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        return self.out(self.layers(h, mask=self.mask))


def text():
    """The licences that every Debian has: real text, the same everywhere."""
    folder = "/usr/share/common-licenses"
    names = sorted(n for n in os.listdir(folder) if not os.path.islink(f"{folder}/{n}"))
    data = b"".join(open(f"{folder}/{n}", "rb").read() for n in names)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).long()


def train(group, begun):
    """Returns the losses, the digest of the weights, and the milliseconds of a step."""
    torch.manual_seed(1)
    data, chosen = text(), torch.Generator().manual_seed(100 + rank)
    model = nn.parallel.DistributedDataParallel(Model(), process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses, began = [], time.monotonic()
    for _ in range(steps):
        at = torch.randint(0, len(data) - LENGTH - 1, (BATCH,), generator=chosen)
        batch = torch.stack([data[a:a + LENGTH + 1] for a in at])
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        begun.touch()
    ms = 1e3 * (time.monotonic() - began) / steps
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    return losses, hashlib.sha256(weights).hexdigest(), ms


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
