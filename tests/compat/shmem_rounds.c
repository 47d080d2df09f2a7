/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shmem_rounds ROUNDS [BYTES] - OpenSHMEM: each PE puts a block to the next one, then, behind a
 * fence, the number of the round as a flag. Whoever sees the flag must see the block. Then an
 * atomic counter and a sum over all PEs.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

/* The 8-byte words of a block in a round. */
static long word(int pe, long round, long i)
{
	return round * 1000003 + i * 31 + pe;
}

/* One round: what came from the left must be whole. Returns wrong words. */
static long play(long round, long words, long *in, long *out, long *flag, long *seen)
{
	int me = shmem_my_pe(), pes = shmem_n_pes();
	int right = (me + 1) % pes, left = (me + pes - 1) % pes;
	long wrong = 0;

	for (long i = 0; i < words; i++)
		out[i] = word(me, round, i);
	shmem_long_put(in, out, (size_t)words, right);
	shmem_fence();
	shmem_long_p(flag, round, right);
	shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
	for (long i = 0; i < words; i++)
		wrong += in[i] != word(left, round, i);
	/* The left one may overwrite the block now. */
	shmem_long_p(seen, round, left);
	shmem_long_wait_until(seen, SHMEM_CMP_GE, round);
	return wrong;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000, bytes = argc > 2 ? atol(argv[2]) : 20000;
	long words = bytes / (long)sizeof(long), wrong = 0;
	static long flag, seen, counter, given, sum, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
	static long sync[SHMEM_REDUCE_SYNC_SIZE];
	long *in, *out;
	int pes;

	for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		sync[i] = SHMEM_SYNC_VALUE;
	shmem_init();
	pes = shmem_n_pes();
	in = shmem_malloc((size_t)bytes);
	out = shmem_malloc((size_t)bytes);
	shmem_barrier_all();
	for (long round = 1; round <= rounds; round++)
		wrong += play(round, words, in, out, &flag, &seen);
	shmem_long_atomic_add(&counter, 1 + shmem_my_pe(), 0);
	shmem_barrier_all();
	wrong += shmem_my_pe() == 0 && counter != (long)pes * (pes + 1) / 2;
	given = wrong;
	shmem_long_sum_to_all(&sum, &given, 1, 0, 0, pes, work, sync);
	if (shmem_my_pe() == 0)
		printf("%ld rounds, %ld words wrong\nbytes %ld\n", rounds, sum,
		       rounds * words * (long)sizeof(long) * pes);
	shmem_barrier_all();
	shmem_free(in);
	shmem_free(out);
	shmem_finalize();
	return sum != 0;
}
