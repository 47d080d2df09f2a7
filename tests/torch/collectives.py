# SPDX-License-Identifier: BSD-2-Clause
"""collectives.py RANK RANKS STORE: every call of the backend "mrc", each result against one computed here.

What each rank has is known to all, so each computes what must come, in the order of additions that bindings/group/group.h
promises, and compares bits; and all_reduce with gloo's as well. Ends with the number of results that were compared.
"""
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch
import torch.distributed as dist
import softmrc_torch  # noqa: F401  makes "mrc" known

rank, ranks, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
OPS = dist.ReduceOp
WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
OTHERS = (torch.bool, torch.complex64, torch.complex128)
GLOO_TYPES = (torch.uint8, torch.int8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
# Of one element, odd ones, around a slot of 64 KiB, and of several segments.
SIZES = (0, 1, 2, 3, 17, 1000, 16385, 65537, 700001)
compared = 0


def values(of_rank, size, dtype, salt=0):
    """What a rank has: small numbers, so that products stay finite, and fractions where there are any."""
    g = torch.Generator().manual_seed(1000 * salt + of_rank)
    if dtype == torch.bool:
        return torch.randint(0, 2, (size,), generator=g).bool()
    if dtype in WHOLE:
        return torch.randint(0, 120, (size,), generator=g).to(dtype)
    real = torch.rand((size,), generator=g, dtype=torch.float64) * 3 - 1
    if dtype.is_complex:
        return torch.complex(real, real.flip(0)).to(dtype)
    return real.to(dtype)


def same(got, want, what):
    global compared
    compared += 1
    if got.dtype != want.dtype or not torch.equal(got.contiguous().view(torch.uint8).flatten(),
                                                   want.contiguous().view(torch.uint8).flatten()):
        sys.exit(f"rank {rank} of {ranks}: {what}: {got.flatten()[:4]} ..., want {want.flatten()[:4]} ...")


COMBINE = {OPS.SUM: torch.add, OPS.AVG: torch.add, OPS.PRODUCT: torch.mul, OPS.MIN: torch.minimum,
           OPS.MAX: torch.maximum, OPS.BAND: torch.bitwise_and, OPS.BOR: torch.bitwise_or, OPS.BXOR: torch.bitwise_xor}


def combined(parts, op, chunk):
    """Rank chunk-1's, then chunk-2's, and so on round to the chunk's own."""
    total = parts[chunk - 1].clone()
    for k in range(2, ranks + 1):
        total = COMBINE[op](parts[(chunk - k) % ranks], total)
    return total.div_(ranks) if op == OPS.AVG else total


def chunk_elements(size, width):
    """As many elements as a rank's segments hold: at most 1 MiB each, two a rank at least, as many for each."""
    segment = min(-(-size * width // (2 * ranks)), 1 << 20)
    segment = -(-segment // width) * width
    segments = max(-(-size * width // segment), 2 * ranks)
    return -(-segments // ranks) * segment // width


def reduced(size, dtype, op, salt, pairs=False):
    """What all ranks' values come to; of complex numbers in chunks of pairs of real ones if `pairs`."""
    parts = [values(r, size, dtype, salt) for r in range(ranks)]
    if size == 0:
        return parts[0]
    if pairs:
        parts = [torch.view_as_real(p).flatten() for p in parts]
    step = chunk_elements(parts[0].numel(), parts[0].element_size())
    whole = torch.cat([combined([p[c * step:(c + 1) * step] for p in parts], op, c) for c in range(ranks)])
    return torch.view_as_complex(whole.view(-1, 2)) if pairs else whole


def ops_of(dtype):
    if dtype in WHOLE or dtype == torch.bool:
        return (OPS.SUM, OPS.PRODUCT, OPS.MIN, OPS.MAX, OPS.BAND, OPS.BOR, OPS.BXOR)
    if dtype.is_complex:
        return (OPS.SUM,)
    return (OPS.SUM, OPS.AVG, OPS.PRODUCT, OPS.MIN, OPS.MAX)


def check_reductions(gloo):
    for salt, dtype in enumerate(WHOLE + FLOATS + OTHERS):
        for op in ops_of(dtype):
            for size in SIZES if op == OPS.SUM else (1, 1000, 65537):
                what = f"{size} {dtype} {op}"
                t = values(rank, size, dtype, salt)
                dist.all_reduce(t, op)
                # PyTorch hands all_reduce the real numbers of complex ones.
                same(t, reduced(size, dtype, op, salt, dtype.is_complex), f"all_reduce, {what}")
                if dtype in GLOO_TYPES and op != OPS.AVG and size:
                    by_gloo = values(rank, size, dtype, salt)
                    dist.all_reduce(by_gloo, op, group=gloo)
                    same(t, by_gloo, f"all_reduce beside gloo, {what}")
                root = size % ranks
                t = values(rank, size, dtype, salt)
                dist.reduce(t, root, op)
                same(t, reduced(size, dtype, op, salt) if rank == root else values(rank, size, dtype, salt),
                     f"reduce, {what}")
            check_reduce_scatter(257, dtype, op, salt)


def check_reduce_scatter(size, dtype, op, salt):
    whole = [values(r, size * ranks, dtype, salt) for r in range(ranks)]
    want = combined([w[rank * size:(rank + 1) * size] for w in whole], op, rank)
    got = torch.empty(size, dtype=dtype)
    dist.reduce_scatter(got, list(whole[rank].split(size)), op)
    same(got, want, f"reduce_scatter, {dtype} {op}")
    got = torch.empty(size, dtype=dtype)
    dist._reduce_scatter_base(got, whole[rank], op)
    same(got, want, f"_reduce_scatter_base, {dtype} {op}")


def check_copies():
    for salt, dtype in enumerate(WHOLE + FLOATS + OTHERS):
        for size in SIZES:
            all_of = [values(r, size, dtype, salt) for r in range(ranks)]
            what = f"{size} {dtype}"
            got = [torch.empty(size, dtype=dtype) for _ in range(ranks)]
            dist.all_gather(got, all_of[rank])
            same(torch.cat(got), torch.cat(all_of), f"all_gather, {what}")
            whole = torch.empty(size * ranks, dtype=dtype)
            dist._all_gather_base(whole, all_of[rank])
            same(whole, torch.cat(all_of), f"_all_gather_base, {what}")
            root = (size + salt) % ranks
            t = all_of[rank].clone()
            dist.broadcast(t, root)
            same(t, all_of[root], f"broadcast, {what}")
            got = [torch.empty(size, dtype=dtype) for _ in range(ranks)] if rank == root else None
            dist.gather(all_of[rank], got, root)
            if rank == root:
                same(torch.cat(got), torch.cat(all_of), f"gather, {what}")
            t = torch.empty(size, dtype=dtype)
            dist.scatter(t, [a.flip(0) for a in all_of] if rank == root else None, root)
            same(t, all_of[rank].flip(0), f"scatter, {what}")


def check_all_to_all():
    for rows in (0, 1, 5, 4000):
        splits = [[rows * ((a + 2 * b) % 3) for b in range(ranks)] for a in range(ranks)]
        sent = [values(r, 3 * sum(splits[r]), torch.float32, 5).view(-1, 3) for r in range(ranks)]
        want = torch.cat([sent[r].split(splits[r])[rank] for r in range(ranks)])
        got = torch.empty_like(want)
        dist.all_to_all_single(got, sent[rank], [splits[r][rank] for r in range(ranks)], splits[rank])
        same(got, want, f"all_to_all_single, {rows} rows")
        pieces = [torch.empty_like(p) for p in want.split([splits[r][rank] for r in range(ranks)])]
        dist.all_to_all(pieces, list(sent[rank].split(splits[rank])))
        same(torch.cat(pieces), want, f"all_to_all, {rows} rows")


def check_strides():
    """A tensor that is no plain piece of memory, and a parameter."""
    t = values(rank, 600, torch.float32, 9).view(20, 30).t()
    want = reduced(600, torch.float32, OPS.MAX, 9)
    flat = t.contiguous().flatten()
    rows = [values(r, 600, torch.float32, 9).view(20, 30).t().contiguous().flatten() for r in range(ranks)]
    step = chunk_elements(600, 4)
    want = torch.cat([combined([p[c * step:(c + 1) * step] for p in rows], OPS.MAX, c) for c in range(ranks)])
    dist.all_reduce(t, OPS.MAX)
    same(t.contiguous().flatten(), want, f"all_reduce of a transposed tensor of {flat.numel()}")
    p = torch.nn.Parameter(values(rank, 10, torch.float32, 9))
    dist.broadcast(p.data, 0)
    dist.all_reduce(p, OPS.SUM)
    same(p.detach(), values(0, 10, torch.float32, 9) * ranks, "all_reduce of a parameter")


def check_coalesced():
    """Several tensors in one call, which hands all of them back."""
    sizes = (5, 0, 70001)
    tensors = [values(rank, n, torch.float32, n) for n in sizes]
    want = [reduced(n, torch.float32, OPS.SUM, n) for n in sizes]
    came = dist.all_reduce_coalesced(tensors, async_op=True).wait()
    assert len(came) == len(tensors)
    for i, n in enumerate(sizes):
        same(tensors[i], want[i], f"all_reduce_coalesced, {n} of {sizes}")
        same(came[i], want[i], f"what all_reduce_coalesced hands back, {n} of {sizes}")
    got = [[torch.empty(n) for n in sizes] for _ in range(ranks)]
    came = dist.all_gather_coalesced(got, [values(rank, n, torch.float32, n) for n in sizes], async_op=True).wait()
    assert len(came) == ranks * len(sizes)
    for r in range(ranks):
        for i, n in enumerate(sizes):
            same(got[r][i], values(r, n, torch.float32, n), f"all_gather_coalesced, {n} of {sizes} of rank {r}")
            same(came[r * len(sizes) + i], got[r][i], f"what all_gather_coalesced hands back, {n} of rank {r}")


def check_async():
    """Many calls under way, waited for from the last; their futures; messages in between."""
    tensors = [values(rank, 3000 + i, torch.float32, i) for i in range(20)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    out = values(rank, 100001, torch.float64, 1)
    into = torch.empty_like(out)
    sent = dist.isend(out, (rank + 1) % ranks, tag=3)
    came = dist.irecv(into, (rank - 1) % ranks, tag=3)
    for work in reversed(works):
        assert work.wait() and work.is_completed() and work.is_success()
    for i, t in enumerate(tensors):
        same(t, reduced(3000 + i, torch.float32, OPS.SUM, i), f"all_reduce {i} of 20 under way")
    sent.wait()
    came.wait()
    same(into, values((rank - 1) % ranks, 100001, torch.float64, 1), "send and receive in between")
    t = values(rank, 50, torch.float32, 3)
    future = dist.all_reduce(t, async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    same(future.wait(), reduced(50, torch.float32, OPS.SUM, 3) * 2, "the future of an all_reduce")


def check_messages():
    for size in SIZES:
        t = values(rank, size, torch.float32, 2)
        got = torch.empty(size)
        # Two to each other rank, received in the other order, some from whoever comes.
        works = [dist.isend(t + tag, r, tag=tag) for r in range(ranks) if r != rank for tag in (0, 1)]
        for r in range(ranks):
            if r != rank:
                dist.recv(got, r, tag=1)
                same(got, values(r, size, torch.float32, 2) + 1, f"recv, {size}")
        for _ in range(ranks - 1):
            source = dist.recv(got, None, tag=0)
            same(got, values(source, size, torch.float32, 2), f"recv from any rank, {size}")
        for work in works:
            work.wait()
        dist.barrier()  # the next message of who is ahead would fit a receive from any rank


def check_groups():
    """A smaller group, in which ranks have other numbers; all make it, some are in it."""
    members = list(range(1, ranks))
    group = dist.new_group(members, backend="mrc")
    if rank in members and len(members) > 1:
        t = torch.ones(7, dtype=torch.int64) * rank
        dist.all_reduce(t, group=group)
        same(t, torch.full((7,), sum(members)), "all_reduce in a smaller group")
        dist.destroy_process_group(group)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("mrc", f"file://{store}", rank=rank, world_size=ranks)
    gloo = dist.new_group(list(range(ranks)), backend="gloo")
    check_reductions(gloo)
    check_copies()
    check_all_to_all()
    check_strides()
    check_coalesced()
    if ranks > 1:
        check_async()
        check_messages()
        check_groups()
    dist.barrier()
    dist.destroy_process_group()
    print(f"{compared} results equal to the last bit", flush=True)


main()
