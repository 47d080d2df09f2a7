# SPDX-License-Identifier: BSD-2-Clause
"""ddp_hook.py STEPS: PyTorch's DistributedDataParallel, its gradients carried by mpi4py, in a communication hook.

Trains a small transformer on real text twice: with the gradients over MPI, which takes them over whatever network it was
given, and then with the same ring over gloo's sockets, kernel TCP. Both add in the same order, and nothing is random but
by seed: so every loss and every weight must be equal to the last bit, on every rank. Start it below mpirun, with
DDP_ADDRESS the address of rank 0 and DDP_INTERFACE what gloo listens on.
"""
import os
import pathlib
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torch.distributed as dist
    import numpy
    from mpi4py import MPI
    from torch import nn
except ImportError as error:
    sys.exit(str(error))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ddp_model  # noqa: E402

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()


class OverMpi:
    """What a ring needs of a network."""
    bytes = 0

    def exchange(self, out, into):
        world.Sendrecv(out, (rank + 1) % ranks, 0, into, (rank - 1) % ranks, 0)
        self.bytes += out.nbytes


class OverGloo:
    bytes = 0

    def exchange(self, out, into):
        requests = [dist.isend(torch.from_numpy(out), (rank + 1) % ranks),
                    dist.irecv(torch.from_numpy(into), (rank - 1) % ranks)]
        for request in requests:
            request.wait()
        self.bytes += out.nbytes


def ring(network, values):
    """Adds an array over all ranks, in place: each part goes around once to be added, and once to be known."""
    parts = numpy.array_split(values, ranks)
    into = numpy.empty_like(parts[0])
    for i in range(ranks - 1):
        sent, taken = parts[(rank - i) % ranks], parts[(rank - i - 1) % ranks]
        network.exchange(sent, into[:len(taken)])
        taken += into[:len(taken)]
    for i in range(ranks - 1):
        sent, taken = parts[(rank + 1 - i) % ranks], parts[(rank - i) % ranks]
        network.exchange(sent, taken)


def hook(network, bucket):
    """DDP's communication hook: the mean of a bucket of gradients over all ranks."""
    gradients = bucket.buffer()
    ring(network, gradients.numpy())
    done = torch.futures.Future()
    done.set_result(gradients.div_(ranks))
    return done


def train(network, steps):
    """With the gradients over a network."""
    def parallel(model):
        wrapped = nn.parallel.DistributedDataParallel(model)
        wrapped.register_comm_hook(network, hook)
        return wrapped
    return ddp_model.train(parallel, rank, steps)


def same(value):
    """Whether all ranks have the same value."""
    return len(set(world.allgather(value))) == 1


def main():
    steps = int(sys.argv[1])
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    os.environ["GLOO_SOCKET_IFNAME"] = os.environ.get("DDP_INTERFACE", "lo")
    port = world.bcast(20000 + os.getpid() % 10000 if rank == 0 else None)
    dist.init_process_group("gloo", f"tcp://{os.environ.get('DDP_ADDRESS', '127.0.0.1')}:{port}", rank=rank,
                            world_size=ranks)
    mpi, gloo = OverMpi(), OverGloo()
    losses, weights, ms = train(mpi, steps)
    tcp_losses, tcp_weights, tcp_ms = train(gloo, steps)
    equal = world.allreduce(losses == tcp_losses and weights == tcp_weights, MPI.LAND)
    if not equal or not same(weights) or not losses[-1] < losses[0]:
        sys.exit(f"rank {rank}: over MPI loss {losses[0]!r} to {losses[-1]!r}, weights {weights}; over TCP "
                 f"{tcp_losses[0]!r} to {tcp_losses[-1]!r}, {tcp_weights}")
    moved = world.allreduce(mpi.bytes)
    if rank == 0:
        print(f"loss {losses[0]:.4f} to {losses[-1]:.4f}, weights {weights[:16]}: every loss and weight is equal over TCP")
        print(f"{ms:.0f} ms a step, over TCP {tcp_ms:.0f}")
        print(f"bytes {moved}", flush=True)
    dist.destroy_process_group()


main()
