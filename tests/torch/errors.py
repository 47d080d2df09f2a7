# SPDX-License-Identifier: BSD-2-Clause
"""errors.py RANK RANKS STORE: what is asked for wrongly, what ranks disagree on, and ranks that go: each is an exception that
says so, at every rank that is left. Wants three ranks; rank 2 goes without a word at the end.
"""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist
import softmrc_torch  # noqa: F401  makes "mrc" known

rank, ranks, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
SECONDS = datetime.timedelta(seconds=60)


def refused(call, *words):
    """Returns what the exception says."""
    try:
        call()
    except Exception as error:  # of any type: what it says is what counts
        if all(word in str(error) for word in words):
            return str(error)
        sys.exit(f"rank {rank}: {error!r} does not say {words}")
    sys.exit(f"rank {rank}: no exception, want one that says {words}")


def check_arguments():
    """Refused before anything is sent: the group is as good as before."""
    t = torch.ones(4)
    refused(lambda: dist.all_reduce(t, dist.ReduceOp.BAND), "all_reduce", "ReduceOp.BAND", "Float")
    refused(lambda: dist.all_reduce(torch.ones(4, dtype=torch.int32), dist.ReduceOp.AVG), "ReduceOp.AVG", "Int")
    refused(lambda: dist.all_reduce(torch.ones(4, dtype=torch.complex64), dist.ReduceOp.MAX), "complex tensors")
    refused(lambda: dist.all_reduce(torch.eye(3).to_sparse()), "dense", "Sparse")
    refused(lambda: dist.all_gather([torch.ones(5) for _ in range(ranks)], t), "all_gather", "5 Float", "4 Float")
    refused(lambda: dist.all_gather([t] * (ranks + 1), t), "an output for each of 3 ranks")
    refused(lambda: dist.send(torch.ones(4, 4).t(), (rank + 1) % ranks), "contiguous")
    refused(lambda: dist.all_to_all_single(torch.ones(4), torch.ones(4)), "4 rows", "3 ranks")
    refused(lambda: dist.all_reduce_coalesced([t, torch.eye(3).to_sparse()]), "all_reduce_coalesced", "dense")
    refused(lambda: dist.all_gather([t] * ranks, torch.ones(4)), "all_gather", "0 and 1", "overlap")
    two = torch.ones(6)
    refused(lambda: dist.all_gather([torch.ones(4), two[:4], two[2:]], torch.ones(4)), "all_gather", "1 and 2", "overlap")
    refused(lambda: dist.all_reduce(torch.ones(1).expand(4)), "all_reduce", "several elements are one")
    refused(lambda: dist.broadcast(torch.ones(1).expand(4), 0), "broadcast", "several elements are one")
    refused(lambda: dist.all_to_all_single(two, two), "all_to_all", "overlaps")
    dist.all_reduce(t)
    assert t.tolist() == [3.0] * 4


def group(timeout=SECONDS):
    return dist.new_group(list(range(ranks)), timeout=timeout, backend="mrc")


def check_disagreement():
    """Who finds it out breaks the group; the others are told, in this call or the next."""
    def one_call():
        if rank == 1:
            dist.all_reduce(torch.ones(10), group=here)
        else:
            dist.all_reduce(torch.ones(12), group=here)
        dist.barrier(here)
    here = group()
    refused(one_call, "mrc: ", "all_reduce", "bytes")
    refused(lambda: dist.barrier(here), "all_reduce")
    here = group()
    refused(lambda: (dist.all_reduce(torch.ones(9, dtype=torch.float64 if rank else torch.int64), group=here),
                     dist.barrier(here)), "all_reduce", "type")


def check_roots():
    """Rank 1 waits for rank 0 in the ring and finds another root there than its own. Two that are both roots of a gather
    wait for each other until a deadline, which may be that of rank 2's barrier."""
    here = group()
    refused(lambda: (dist.broadcast(torch.ones(8), 2 if rank == 1 else 0, group=here), dist.barrier(here)),
            "broadcast", "root 0", "root 2")
    here = group(datetime.timedelta(seconds=3))
    refused(lambda: (dist.gather(torch.ones(8), [torch.ones(8) for _ in range(ranks)] if rank == rank % 2 else None,
                                 rank % 2, group=here), dist.barrier(here)), "not done in time")


def check_length():
    """One message fails, at both ends; the group goes on."""
    here = group()
    if rank == 0:
        refused(dist.isend(torch.ones(3), 1, group=here, tag=4).wait, "12", "20", "tag 4")
    elif rank == 1:
        refused(dist.irecv(torch.ones(5), 0, group=here, tag=4).wait, "12", "20", "tag 4")
    dist.barrier(here)


def check_deadline():
    here = group(datetime.timedelta(seconds=1))
    began = time.monotonic()
    if rank == 0:
        refused(lambda: dist.recv(torch.ones(3), 1, group=here), "receive from rank 1", "not done in time")
        refused(lambda: dist.all_reduce(torch.ones(3), group=here), "all_reduce, call 1", "not done in time")
        assert 1.9 < time.monotonic() - began < 30
    else:
        time.sleep(2.5)
        refused(lambda: dist.all_reduce(torch.ones(3), group=here), "rank 0", "not done in time")


def check_death():
    here = group()
    dist.barrier(here)
    if rank == 2:
        os._exit(0)
    work = None if rank else dist.irecv(torch.ones(5), 2, group=here)
    refused(lambda: dist.all_reduce(torch.ones(1000), group=here), "rank 2 is gone")
    if work:
        refused(work.wait, "rank 2 is gone")


def main():
    dist.init_process_group("mrc", f"file://{store}", rank=rank, world_size=ranks)
    check_arguments()
    check_disagreement()
    check_roots()
    check_length()
    check_deadline()
    check_death()
    print("every error is right", flush=True)


main()
