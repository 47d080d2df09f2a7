/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allreduce BYTES ROUNDS - the time of an MPI_Allreduce of floats, the mean of many. Each sum is
 * compared with what it must be.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

/* What rank r adds in a round: small whole numbers, so that sums of floats are exact. */
static void fill(float *data, int n, int rank, int round)
{
	for (int i = 0; i < n; i++)
		data[i] = (float)((i + round) % 1000 + rank);
}

static int wrong(const float *sum, int n, int ranks, int round)
{
	int bad = 0;

	for (int i = 0; i < n; i++)
		bad += sum[i] != (float)(ranks * ((i + round) % 1000) + ranks * (ranks - 1) / 2);
	return bad;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[1]) / (int)sizeof(float) : 0;
	int rounds = argc == 3 ? atoi(argv[2]) : 0;
	int rank, ranks, bad = 0;
	float *data, *sum;
	double spent = 0;

	if (n < 1 || rounds < 1) {
		fprintf(stderr, "usage: allreduce BYTES ROUNDS\n");
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	data = malloc((size_t)n * sizeof(*data));
	sum = malloc((size_t)n * sizeof(*sum));
	if (!data || !sum)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int round = 0; round < rounds; round++) {
		double begin;

		fill(data, n, rank, round);
		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		MPI_Allreduce(data, sum, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		spent += MPI_Wtime() - begin;
		bad += wrong(sum, n, ranks, round);
	}
	if (rank == 0)
		printf("%d bytes, %d rounds: %.1f us each\n", n * (int)sizeof(float), rounds,
		       spent / rounds * 1e6);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	free(data);
	free(sum);
	MPI_Finalize();
	return bad ? 1 : 0;
}
