/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi.h - ranks over MPI.
 *
 * What speaks MPI is a library of its own, lib/softmrc/libsoftmrc-mpi.so.1, which is there when MPI
 * was found at build and is loaded when a run asks for it; so nothing else depends on MPI.
 */
#ifndef SOFTMRC_SIM_KERNEL_MPI_H
#define SOFTMRC_SIM_KERNEL_MPI_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/kernel/rank_link.h"

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
