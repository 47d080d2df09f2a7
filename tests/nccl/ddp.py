# SPDX-License-Identifier: BSD-2-Clause
"""ddp.py RANK RANKS STORE STEPS: data-parallel training with PyTorch's nccl backend; prints the weights' digest.

Every rank takes GPU 0 (see nccl_ranks.c). Nothing is random but by seed, and kernels are deterministic, so two runs
that exchange the same gradients in the same order end with the same bits.
"""
import hashlib
import json
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

rank, ranks, store, steps = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
VOCABULARY, WIDTH, LENGTH, BATCH = 256, 256, 64, 16


class Model(nn.Module):
    """A small transformer that guesses the next byte."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.layers, self.out = nn.TransformerEncoder(layer, 4), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        h = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.out(self.layers(h, mask=mask, is_causal=True))


def text():
    """The licences that every Debian has: real text, the same everywhere."""
    folder = "/usr/share/common-licenses"
    names = sorted(n for n in os.listdir(folder) if not os.path.islink(f"{folder}/{n}"))
    return torch.tensor(list(b"".join(open(f"{folder}/{n}", "rb").read() for n in names)), dtype=torch.long)


def main():
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    device = torch.device("cuda", 0)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=ranks)
    data, chosen = text(), torch.Generator().manual_seed(100 + rank)
    model = nn.parallel.DistributedDataParallel(Model().to(device), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses, began = [], time.monotonic()
    for _ in range(steps):
        at = torch.randint(0, len(data) - LENGTH - 1, (BATCH,), generator=chosen)
        batch = torch.stack([data[a:a + LENGTH + 1] for a in at]).to(device)
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    digest = hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest()
    print(json.dumps({"rank": rank, "steps": steps, "first_loss": losses[0], "last_loss": losses[-1], "weights": digest,
                      "ms_a_step": 1e3 * (time.monotonic() - began) / steps}), flush=True)
    dist.destroy_process_group()


main()
