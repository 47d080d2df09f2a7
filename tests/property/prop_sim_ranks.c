/* SPDX-License-Identifier: BSD-2-Clause */
/* The same world on 1, 2, 3 ranks of 1, 2, 3 threads gives the same bits, faults and all. */
#include "support/test.h"

#include <stdio.h>

#define LINE_MAX_BYTES 200

/* What `ranks` ranks print as their result; one does without mpirun. */
static void run(unsigned ranks, unsigned threads, uint64_t seed, char line[LINE_MAX_BYTES])
{
	char mpirun[300] = "", command[1000];
	FILE *from;

	if (ranks > 1)
		snprintf(mpirun, sizeof(mpirun),
			 "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
			 "OMPI_MCA_mpi_yield_when_idle=1 %s --oversubscribe -np %u",
			 MPIRUN, ranks);
	/* Open MPI's memory is its own business. */
	snprintf(command, sizeof(command),
		 "ASAN_OPTIONS=detect_leaks=0 MRC_SEED=%" PRIu64
		 " %s %s %u 2>&1 | grep -v MRC_SEED",
		 seed, mpirun, NODE, threads);
	from = popen(command, "r");
	assert_non_null(from);
	line[0] = 0;
	if (!fgets(line, LINE_MAX_BYTES, from))
		line[0] = 0;
	pclose(from);
	if (strncmp(line, "result ", 7) != 0)
		fail_msg("%u ranks of %u threads: %s", ranks, threads, line);
}

/* A world in which something happens. */
static uint64_t busy_world(char line[LINE_MAX_BYTES])
{
	uint64_t hops = 0, seed = 0;
	unsigned faults = 0;

	while (hops < 3000 || faults < 5) {
		seed = test_rand();
		run(1, 1, seed, line);
		assert_i_eq(sscanf(line, "result hops %" SCNu64 " delivered %*u faults %u", &hops,
				   &faults),
			    2);
	}
	printf("# %s", line);
	return seed;
}

/* REQ(sim.same-bits) */
TEST(ms_ranks, change_nothing)
{
	char first[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
	unsigned most = test_takes_sample() ? 2 : 3;

	if (!MPIRUN[0])
		test_skip("built without MPI");
	for (size_t world = 0; world < test_rounds(1); world++) {
		uint64_t seed = busy_world(first);

		for (unsigned ranks = 1; ranks <= most; ranks++) {
			for (unsigned threads = 1; threads <= most; threads++) {
				run(ranks, threads, seed, line);
				assert_string_equal(line, first);
			}
		}
	}
}
