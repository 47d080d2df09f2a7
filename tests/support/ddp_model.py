# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of data-parallel training train: a small transformer that guesses the next byte, on real text."""
import hashlib
import os
import time

import torch
from torch import nn

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


def train(parallel, rank, steps, stepped=lambda: None):
    """Trains what `parallel` makes of a model, a DistributedDataParallel; nothing is random but by seed and rank. Returns
    the losses, the digest of the weights, and the milliseconds of a step."""
    torch.manual_seed(1)
    data, chosen = text(), torch.Generator().manual_seed(100 + rank)
    model = parallel(Model())
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
        stepped()
    ms = 1e3 * (time.monotonic() - began) / steps
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    return losses, hashlib.sha256(weights).hexdigest(), ms
