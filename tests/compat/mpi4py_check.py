# SPDX-License-Identifier: BSD-2-Clause
"""mpi4py over whatever MPI carries: objects and arrays, each result compared with what it must be.

mpi4py_check.py [ROUNDS]
"""
import array
import sys

from mpi4py import MPI

COUNT = 200000
BLOCK = 1000


def play(comm):
    """One round; whether all that this rank received is right."""
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

    out = array.array("i", [rank * 7 + to for to in range(ranks) for _ in range(BLOCK)])
    back = array.array("i", bytes(4 * BLOCK * ranks))
    comm.Alltoall([out, MPI.INT], [back, MPI.INT])
    good &= list(back) == [source * 7 + rank for source in range(ranks) for _ in range(BLOCK)]

    good &= comm.allgather(rank) == list(range(ranks))
    return good


def main():
    comm = MPI.COMM_WORLD
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    # A list, not a generator: a rank with a wrong result still plays all rounds, as the others do.
    good = comm.allreduce(all([play(comm) for _ in range(rounds)]), op=MPI.LAND)
    if comm.Get_rank() == 0:
        print(f"every result is {'right' if good else 'WRONG'}")
        print("bytes", (comm.Get_size() - 1) * 8 * COUNT * rounds)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
