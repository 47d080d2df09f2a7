/* SPDX-License-Identifier: BSD-2-Clause */
/* ranks.h - ranks: several processes that run one simulation together, over MPI. */
#ifndef SOFTMRC_SIM_KERNEL_RANKS_H
#define SOFTMRC_SIM_KERNEL_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How several processes run one net: what it needs of MPI, and nothing else knows of MPI. */
/* More processes than this are not worth their exchange. */
#define MS_RANKS_MAX 256u

/* Bytes for or from one rank. */
struct ms_bytes {
	const void *at;
	size_t n;
};

/*
 * The other ranks. Each call is made by all ranks, in the same order, by one thread each; false: a
 * rank is lost, and the run with it.
 */
struct ms_ranks {
	void *ctx;
	uint32_t rank, ranks;
	/* Gives out[r] to rank r; in[r] is what rank r gave, valid until the next call. */
	bool (*exchange)(void *ctx, const struct ms_bytes *out, struct ms_bytes *in);
	/* Replaces each of n numbers by the smallest, or by the sum modulo 2^64, over all ranks. */
	bool (*least)(void *ctx, uint64_t *numbers, uint32_t n);
	bool (*sum)(void *ctx, uint64_t *numbers, uint32_t n);
};

/*
 * Ranks over MPI.
 *
 * What speaks MPI is a library of its own, lib/softmrc/libsoftmrc-mpi.so.1, which is there when
 * MPI was found at build and is loaded when a run asks for it; so nothing else depends on MPI.
 */
struct ms_mpi;

/* ms_mpi_expected says whether mpirun, or another launcher of MPI, has started this process. */
bool ms_mpi_expected(void);
/*
 * ms_mpi_open joins the ranks that were started together. NULL: `why`, of `size` bytes, says what
 * is missing. Once in a process, by the thread that calls ms_net_run.
 */
struct ms_mpi *ms_mpi_open(char *why, size_t size);
/* ms_mpi_ranks returns what a net takes; valid until ms_mpi_close. */
const struct ms_ranks *ms_mpi_ranks(const struct ms_mpi *mpi);
/* ms_mpi_close leaves; all ranks call it. After it the process can have no other. */
void ms_mpi_close(struct ms_mpi *mpi);

/* What the library exports, under the name MS_MPI_SYMBOL. */
struct ms_mpi_library {
	/* Fills in *ranks; false: MPI does not start. */
	bool (*open)(struct ms_ranks *ranks);
	void (*close)(struct ms_ranks *ranks);
};
#define MS_MPI_SYMBOL "ms_mpi_library"

#endif
