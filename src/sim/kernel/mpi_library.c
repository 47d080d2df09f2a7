/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_library.c - ms_ranks over MPI: the one file that knows of MPI. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kernel/ranks.h"

/* What the calls of one run share. */
struct state {
	uint32_t ranks;
	uint8_t *out, *in;
	size_t out_room, in_room;
	int out_n[MS_RANKS_MAX], out_at[MS_RANKS_MAX];
	int in_n[MS_RANKS_MAX], in_at[MS_RANKS_MAX];
};

static bool ensure_buffer(uint8_t **at, size_t *have, size_t want)
{
	uint8_t *more;

	if (want <= *have)
		return true;
	more = realloc(*at, want * 2);
	if (!more)
		return false;
	*at = more;
	*have = want * 2;
	return true;
}

/* Offsets from lengths; false: more than MPI can count. */
static bool sum_offsets(const int *n, int *at, uint32_t ranks, size_t *all)
{
	*all = 0;
	for (uint32_t r = 0; r < ranks; r++) {
		if (*all > INT_MAX)
			return false;
		at[r] = (int)*all;
		*all += (size_t)n[r];
	}
	return *all <= INT_MAX;
}

static bool exchange_bytes(void *ctx, const struct ms_bytes *out, struct ms_bytes *in)
{
	struct state *s = ctx;
	size_t all_out, all_in;

	for (uint32_t r = 0; r < s->ranks; r++) {
		if (out[r].n > INT_MAX)
			return false;
		s->out_n[r] = (int)out[r].n;
	}
	if (MPI_Alltoall(s->out_n, 1, MPI_INT, s->in_n, 1, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS)
		return false;
	if (!sum_offsets(s->out_n, s->out_at, s->ranks, &all_out) ||
	    !sum_offsets(s->in_n, s->in_at, s->ranks, &all_in) ||
	    !ensure_buffer(&s->out, &s->out_room, all_out) ||
	    !ensure_buffer(&s->in, &s->in_room, all_in))
		return false;
	for (uint32_t r = 0; r < s->ranks; r++)
		if (out[r].n)
			memcpy(s->out + s->out_at[r], out[r].at, out[r].n);
	if (MPI_Alltoallv(s->out, s->out_n, s->out_at, MPI_BYTE, s->in, s->in_n, s->in_at, MPI_BYTE,
			  MPI_COMM_WORLD) != MPI_SUCCESS)
		return false;
	for (uint32_t r = 0; r < s->ranks; r++)
		in[r] = (struct ms_bytes){s->in + s->in_at[r], (size_t)s->in_n[r]};
	return true;
}

static bool reduce_numbers(uint64_t *numbers, uint32_t n, MPI_Op op)
{
	return MPI_Allreduce(MPI_IN_PLACE, numbers, (int)n, MPI_UINT64_T, op, MPI_COMM_WORLD) ==
	       MPI_SUCCESS;
}

static bool reduce_min(void *ctx, uint64_t *numbers, uint32_t n)
{
	(void)ctx;
	return reduce_numbers(numbers, n, MPI_MIN);
}

static bool reduce_sum(void *ctx, uint64_t *numbers, uint32_t n)
{
	(void)ctx;
	return reduce_numbers(numbers, n, MPI_SUM);
}

static bool open_mpi(struct ms_ranks *ranks)
{
	struct state *s = calloc(1, sizeof(*s));
	int provided, rank, size;

	if (!s)
		return false;
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
	    provided < MPI_THREAD_FUNNELED || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
	    MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) {
		free(s);
		return false;
	}
	/* A rank that is lost is an error of the call, not the end of the process. */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	s->ranks = (uint32_t)size;
	*ranks = (struct ms_ranks){
		.ctx = s,
		.rank = (uint32_t)rank,
		.ranks = (uint32_t)size,
		.exchange = exchange_bytes,
		.least = reduce_min,
		.sum = reduce_sum,
	};
	return true;
}

static void close_mpi(struct ms_ranks *ranks)
{
	struct state *s = ranks->ctx;

	MPI_Finalize();
	free(s->out);
	free(s->in);
	free(s);
}

extern const struct ms_mpi_library ms_mpi_library;
const struct ms_mpi_library ms_mpi_library = {open_mpi, close_mpi};
