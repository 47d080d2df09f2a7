/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_collectives [LONGEST] - every collective of MPI-3, blocking and not, on four types and sizes
 * up to LONGEST bytes (2 MiB) a rank, each result compared with what arithmetic says.
 *
 * Blocking and nonblocking calls share one table entry: an entry fills the buffers, starts the
 * call, waits and compares. See mpi_check.h for the values.
 */
#include "mpi_check.h"

#include <string.h>

/* One call of a collective: n elements of a kind a rank. */
struct call {
	struct check *c;
	const struct kind *k;
	int n;
	int root;
	int nonblocking;
	MPI_Request request;
};

/* The nonblocking form, completed, or the blocking one. */
#define RUN(a, blocking, starting, ...)                                             \
	do {                                                                        \
		if ((a)->nonblocking) {                                             \
			MPI_##starting(__VA_ARGS__, MPI_COMM_WORLD, &(a)->request); \
			MPI_Wait(&(a)->request, MPI_STATUS_IGNORE);                 \
		} else {                                                            \
			MPI_##blocking(__VA_ARGS__, MPI_COMM_WORLD);                \
		}                                                                   \
	} while (0)
/* The v-variants: rank r has n + r elements, each block one element behind the one before. */
#define V_COUNT(a, r) ((a)->n + (r))

static long long others(const struct call *a, long elements)
{
	return (long long)(a->c->ranks - 1) * elements * (long long)a->k->bytes;
}

static int *ints(const struct call *a)
{
	return calloc((size_t)a->c->ranks, sizeof(int));
}

/* Counts of the v-variants and where each block begins; returns the end of the last. */
static long v_blocks(const struct call *a, int *count, int *at)
{
	long end = 0;

	for (int r = 0; r < a->c->ranks; r++) {
		count[r] = V_COUNT(a, r);
		at[r] = (int)end;
		end += count[r] + 1;
	}
	return end;
}

static void do_barrier(struct call *a)
{
	if (a->nonblocking) {
		MPI_Ibarrier(MPI_COMM_WORLD, &a->request);
		MPI_Wait(&a->request, MPI_STATUS_IGNORE);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

static void do_bcast(struct call *a)
{
	void *data = room(a->k, a->n);

	if (a->c->rank == a->root)
		give(a->k, data, a->root, 0, a->n);
	RUN(a, Bcast, Ibcast, data, a->n, a->k->type, a->root);
	expect_given(a->c, a->k, "bcast", data, 0, a->root, 0, a->n);
	if (a->c->rank == a->root)
		a->c->mine += others(a, a->n);
	free(data);
}

static void do_gather(struct call *a)
{
	void *in = room(a->k, a->n), *out = room(a->k, (long)a->n * a->c->ranks);

	give(a->k, in, a->c->rank, 0, a->n);
	RUN(a, Gather, Igather, in, a->n, a->k->type, out, a->n, a->k->type, a->root);
	for (int r = 0; r < a->c->ranks && a->c->rank == a->root; r++)
		expect_given(a->c, a->k, "gather", out, (long)r * a->n, r, 0, a->n);
	if (a->c->rank == a->root)
		a->c->mine += others(a, a->n);
	free(in);
	free(out);
}

static void do_gatherv(struct call *a)
{
	int *count = ints(a), *at = ints(a);
	long end = v_blocks(a, count, at);
	void *in = room(a->k, count[a->c->rank]), *out = room(a->k, end);

	give(a->k, in, a->c->rank, 0, count[a->c->rank]);
	RUN(a, Gatherv, Igatherv, in, count[a->c->rank], a->k->type, out, count, at, a->k->type,
	    a->root);
	for (int r = 0; r < a->c->ranks && a->c->rank == a->root; r++)
		expect_given(a->c, a->k, "gatherv", out, at[r], r, 0, count[r]);
	free(count);
	free(at);
	free(in);
	free(out);
}

static void do_scatter(struct call *a)
{
	long all = (long)a->n * a->c->ranks;
	void *in = room(a->k, all), *out = room(a->k, a->n);

	give(a->k, in, a->root, 0, all);
	RUN(a, Scatter, Iscatter, in, a->n, a->k->type, out, a->n, a->k->type, a->root);
	expect_given(a->c, a->k, "scatter", out, 0, a->root, (long)a->c->rank * a->n, a->n);
	if (a->c->rank == a->root)
		a->c->mine += others(a, a->n);
	free(in);
	free(out);
}

static void do_scatterv(struct call *a)
{
	int *count = ints(a), *at = ints(a);
	long end = v_blocks(a, count, at);
	void *in = room(a->k, end), *out = room(a->k, count[a->c->rank]);

	give(a->k, in, a->root, 0, end);
	RUN(a, Scatterv, Iscatterv, in, count, at, a->k->type, out, count[a->c->rank], a->k->type,
	    a->root);
	expect_given(a->c, a->k, "scatterv", out, 0, a->root, at[a->c->rank], count[a->c->rank]);
	free(count);
	free(at);
	free(in);
	free(out);
}

static void do_allgather(struct call *a)
{
	void *in = room(a->k, a->n), *out = room(a->k, (long)a->n * a->c->ranks);

	give(a->k, in, a->c->rank, 0, a->n);
	RUN(a, Allgather, Iallgather, in, a->n, a->k->type, out, a->n, a->k->type);
	for (int r = 0; r < a->c->ranks; r++)
		expect_given(a->c, a->k, "allgather", out, (long)r * a->n, r, 0, a->n);
	a->c->mine += others(a, a->n);
	free(in);
	free(out);
}

static void do_allgatherv(struct call *a)
{
	int *count = ints(a), *at = ints(a);
	long end = v_blocks(a, count, at);
	void *in = room(a->k, count[a->c->rank]), *out = room(a->k, end);

	give(a->k, in, a->c->rank, 0, count[a->c->rank]);
	RUN(a, Allgatherv, Iallgatherv, in, count[a->c->rank], a->k->type, out, count, at,
	    a->k->type);
	for (int r = 0; r < a->c->ranks; r++)
		expect_given(a->c, a->k, "allgatherv", out, at[r], r, 0, count[r]);
	free(count);
	free(at);
	free(in);
	free(out);
}

static void do_alltoall(struct call *a)
{
	long all = (long)a->n * a->c->ranks;
	void *in = room(a->k, all), *out = room(a->k, all);

	give(a->k, in, a->c->rank, 0, all);
	RUN(a, Alltoall, Ialltoall, in, a->n, a->k->type, out, a->n, a->k->type);
	for (int r = 0; r < a->c->ranks; r++)
		expect_given(a->c, a->k, "alltoall", out, (long)r * a->n, r,
			     (long)a->c->rank * a->n, a->n);
	a->c->mine += others(a, a->n);
	free(in);
	free(out);
}

/* Everybody sends n + receiver elements to each receiver. */
static void do_alltoallv(struct call *a)
{
	int *send = ints(a), *send_at = ints(a), *recv = ints(a), *recv_at = ints(a);
	long end = v_blocks(a, send, send_at), block = V_COUNT(a, a->c->rank);
	void *in = room(a->k, end), *out = room(a->k, block * a->c->ranks);

	for (int r = 0; r < a->c->ranks; r++) {
		recv[r] = (int)block;
		recv_at[r] = (int)block * r;
	}
	give(a->k, in, a->c->rank, 0, end);
	RUN(a, Alltoallv, Ialltoallv, in, send, send_at, a->k->type, out, recv, recv_at,
	    a->k->type);
	for (int r = 0; r < a->c->ranks; r++)
		expect_given(a->c, a->k, "alltoallv", out, recv_at[r], r, send_at[a->c->rank],
			     block);
	free(send);
	free(send_at);
	free(recv);
	free(recv_at);
	free(in);
	free(out);
}

/* As alltoallv, with places in bytes and a type for each peer. */
static void do_alltoallw(struct call *a)
{
	int ranks = a->c->ranks;
	int *count = ints(a), *at = ints(a);
	MPI_Datatype *type = calloc((size_t)ranks, sizeof(*type));
	void *in = room(a->k, (long)a->n * ranks), *out = room(a->k, (long)a->n * ranks);

	for (int r = 0; r < ranks; r++) {
		count[r] = a->n;
		at[r] = r * a->n * (int)a->k->bytes;
		type[r] = a->k->type;
	}
	give(a->k, in, a->c->rank, 0, (long)a->n * ranks);
	RUN(a, Alltoallw, Ialltoallw, in, count, at, type, out, count, at, type);
	for (int r = 0; r < ranks; r++)
		expect_given(a->c, a->k, "alltoallw", out, (long)r * a->n, r,
			     (long)a->c->rank * a->n, a->n);
	free(count);
	free(at);
	free(type);
	free(in);
	free(out);
}

static void do_reduce(struct call *a)
{
	void *in = room(a->k, a->n), *out = room(a->k, a->n);

	give(a->k, in, a->c->rank, 0, a->n);
	RUN(a, Reduce, Ireduce, in, out, a->n, a->k->type, MPI_SUM, a->root);
	if (a->c->rank == a->root) {
		expect_sum(a->c, a->k, "reduce", out, a->c->ranks, 0, a->n);
		a->c->mine += others(a, a->n);
	}
	free(in);
	free(out);
}

static void do_allreduce(struct call *a)
{
	void *in = room(a->k, a->n), *out = room(a->k, a->n);

	give(a->k, in, a->c->rank, 0, a->n);
	RUN(a, Allreduce, Iallreduce, in, out, a->n, a->k->type, MPI_SUM);
	expect_sum(a->c, a->k, "allreduce", out, a->c->ranks, 0, a->n);
	if (a->c->rank == 0)
		a->c->mine += others(a, a->n);
	free(in);
	free(out);
}

static void do_reduce_scatter(struct call *a)
{
	int *count = ints(a), *at = ints(a);
	long end = 0;
	void *in, *out;

	for (int r = 0; r < a->c->ranks; r++) {
		count[r] = V_COUNT(a, r);
		at[r] = (int)end;
		end += count[r];
	}
	in = room(a->k, end);
	out = room(a->k, count[a->c->rank]);
	give(a->k, in, a->c->rank, 0, end);
	RUN(a, Reduce_scatter, Ireduce_scatter, in, out, count, a->k->type, MPI_SUM);
	expect_sum(a->c, a->k, "reduce_scatter", out, a->c->ranks, at[a->c->rank],
		   count[a->c->rank]);
	free(count);
	free(at);
	free(in);
	free(out);
}

static void do_reduce_scatter_block(struct call *a)
{
	long all = (long)a->n * a->c->ranks;
	void *in = room(a->k, all), *out = room(a->k, a->n);

	give(a->k, in, a->c->rank, 0, all);
	RUN(a, Reduce_scatter_block, Ireduce_scatter_block, in, out, a->n, a->k->type, MPI_SUM);
	expect_sum(a->c, a->k, "reduce_scatter_block", out, a->c->ranks, (long)a->c->rank * a->n,
		   a->n);
	free(in);
	free(out);
}

static void do_scan(struct call *a)
{
	void *in = room(a->k, a->n), *out = room(a->k, a->n);

	give(a->k, in, a->c->rank, 0, a->n);
	RUN(a, Scan, Iscan, in, out, a->n, a->k->type, MPI_SUM);
	expect_sum(a->c, a->k, "scan", out, a->c->rank + 1, 0, a->n);
	free(in);
	free(out);
}

static void do_exscan(struct call *a)
{
	void *in = room(a->k, a->n), *out = room(a->k, a->n);

	give(a->k, in, a->c->rank, 0, a->n);
	RUN(a, Exscan, Iexscan, in, out, a->n, a->k->type, MPI_SUM);
	if (a->c->rank > 0) /* rank 0 gets nothing */
		expect_sum(a->c, a->k, "exscan", out, a->c->rank, 0, a->n);
	free(in);
	free(out);
}

/* In a ring, with the ranks beside one as neighbours. */
static void do_neighbor(struct call *a)
{
	int left = (a->c->rank + a->c->ranks - 1) % a->c->ranks;
	int right = (a->c->rank + 1) % a->c->ranks;
	void *in = room(a->k, 2L * a->n), *out = room(a->k, 2L * a->n);
	MPI_Comm ring;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &a->c->ranks, (int[]){1}, 0, &ring);
	give(a->k, in, a->c->rank, 0, 2L * a->n);
	MPI_Neighbor_allgather(in, a->n, a->k->type, out, a->n, a->k->type, ring);
	expect_given(a->c, a->k, "neighbor_allgather", out, 0, left, 0, a->n);
	expect_given(a->c, a->k, "neighbor_allgather", out, a->n, right, 0, a->n);
	if (a->c->ranks >
	    2) { /* with two both neighbours are one, and which block is whose is open */
		MPI_Ineighbor_alltoall(in, a->n, a->k->type, out, a->n, a->k->type, ring,
				       &a->request);
		MPI_Wait(&a->request, MPI_STATUS_IGNORE);
		expect_given(a->c, a->k, "neighbor_alltoall", out, 0, left, a->n, a->n);
		expect_given(a->c, a->k, "neighbor_alltoall", out, a->n, right, 0, a->n);
	}
	MPI_Comm_free(&ring);
	free(in);
	free(out);
}

static void (*const collectives[])(struct call *) = {
	do_barrier,   do_bcast,	    do_gather,	   do_gatherv,	      do_scatter,
	do_scatterv,  do_allgather, do_allgatherv, do_alltoall,	      do_alltoallv,
	do_alltoallw, do_reduce,    do_allreduce,  do_reduce_scatter, do_reduce_scatter_block,
	do_scan,      do_exscan,    do_neighbor,
};

/* Each collective, blocking and not, with another root each time. */
static void run_all(struct check *c, const struct kind *k, long bytes)
{
	struct call a = {.c = c, .k = k, .n = (int)(bytes / (long)k->bytes)};

	for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++) {
		for (a.nonblocking = 0; a.nonblocking < 2; a.nonblocking++) {
			a.root = (a.root + 1) % c->ranks;
			collectives[i](&a);
		}
	}
}

int main(int argc, char **argv)
{
	/* One element, odd, around UCX's eager limits, and long. */
	static const long sizes[] = {8, 1000, 8192, 70000};
	long longest = argc > 1 ? atol(argv[1]) : 2 << 20;
	struct check c = {0};
	double begin;
	int status;

	MPI_Init(&argc, &argv);
	check_init(&c);
	begin = MPI_Wtime();
	for (int k = 0; k < KINDS; k++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			run_all(&c, &c.kind[k], sizes[s]);
	run_all(&c, &c.kind[2], longest);
	status = check_report(&c);
	if (c.rank == 0)
		printf("%d ranks: %.2f seconds\n", c.ranks, MPI_Wtime() - begin);
	MPI_Finalize();
	return status;
}
