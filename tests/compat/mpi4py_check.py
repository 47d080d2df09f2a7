# SPDX-License-Identifier: BSD-2-Clause
"""mpi4py over whatever MPI carries: objects and arrays, each result compared with what it must be."""
import array
import sys

from mpi4py import MPI

COUNT = 200000


def main():
    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    right, left = (rank + 1) % ranks, (rank - 1) % ranks

    # A pickled object around the ring.
    sent = {"rank": rank, "list": list(range(1000)), "text": "x" * 5000}
    got = comm.sendrecv(sent, dest=right, source=left)
    good = got == {**sent, "rank": left}

    # Buffers: an all-reduce, and an all-to-all.
    given = array.array("d", [float((rank + i) % 1000) for i in range(COUNT)])
    summed = array.array("d", bytes(8 * COUNT))
    comm.Allreduce([given, MPI.DOUBLE], [summed, MPI.DOUBLE], op=MPI.SUM)
    good &= all(summed[i] == sum((r + i) % 1000 for r in range(ranks)) for i in range(COUNT))

    block = 1000
    out = array.array("i", [rank * 7 + to for to in range(ranks) for _ in range(block)])
    back = array.array("i", bytes(4 * block * ranks))
    comm.Alltoall([out, MPI.INT], [back, MPI.INT])
    good &= list(back) == [source * 7 + rank for source in range(ranks) for _ in range(block)]

    good &= comm.allgather(rank) == list(range(ranks))
    good = comm.allreduce(good, op=MPI.LAND)
    if rank == 0:
        print(f"every result is {'right' if good else 'WRONG'}")
        print("bytes", (ranks - 1) * 8 * COUNT)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
