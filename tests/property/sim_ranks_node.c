/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One rank of a random world: sim_ranks_node THREADS, started by mpirun, or alone. Rank 0 prints
 * what came of it. MRC_SEED chooses the world.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/kernel/ranks.h"
#include "sim_world.h"
#include "support/test.h"

int main(int argc, char **argv)
{
	const struct ms_ranks *ranks = NULL;
	struct ms_mpi *mpi = NULL;
	struct ms_counters c;
	struct world w;
	char why[200];

	if (argc != 2) {
		fprintf(stderr, "sim_ranks_node: want THREADS\n");
		return 2;
	}
	if (ms_mpi_expected()) {
		mpi = ms_mpi_open(why, sizeof(why));
		if (!mpi) {
			fprintf(stderr, "sim_ranks_node: %s\n", why);
			return 2;
		}
		ranks = ms_mpi_ranks(mpi);
	}
	world_init(&w);
	world_run(&w, ranks, (uint32_t)strtoul(argv[1], NULL, 10), MS_NEVER, &c);
	if (!ranks || ranks->rank == 0)
		printf("result hops %" PRIu64 " delivered %" PRIu64 " faults %u hash %016" PRIx64
		       "\n",
		       c.hops, c.delivered, w.faults, c.hash);
	world_fini(&w);
	ms_mpi_close(mpi);
	return 0;
}
