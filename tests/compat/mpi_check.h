/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_check.h - what the MPI programs here share: values that every rank can compute, types of
 * several sizes, and comparing.
 *
 * Element i of what rank r gives is value(r, i), a small whole number, so that a sum over ranks is
 * exact in every type and any order.
 */
#ifndef SOFTMRC_TESTS_COMPAT_MPI_CHECK_H
#define SOFTMRC_TESTS_COMPAT_MPI_CHECK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 4 };

struct kind {
	const char *name;
	MPI_Datatype type;
	size_t bytes;
	long top; /* values are 0 to top - 1: sums over 8 ranks fit, whatever the type */
};

struct check {
	int rank, ranks;
	struct kind kind[KINDS];
	/*
	 * Bytes that ranks must at least have sent to others, counted by the sender or receiver but
	 * not both. `mine` of this rank.
	 */
	long long mine;
	long long wrong;
	long long verified; /* results of operations that were compared */
};

static inline void check_init(struct check *c)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
	c->kind[0] = (struct kind){"int8", MPI_INT8_T, 1, 15};
	c->kind[1] = (struct kind){"int32", MPI_INT32_T, 4, 10007};
	c->kind[2] = (struct kind){"float", MPI_FLOAT, 4, 10007};
	c->kind[3] = (struct kind){"double", MPI_DOUBLE, 8, 1000003};
}

static inline long value(const struct kind *k, int rank, long i)
{
	return (rank * 31 + i * 7 + 5) % k->top;
}

static inline void put(const struct kind *k, void *at, long i, long v)
{
	if (k->type == MPI_INT8_T)
		((int8_t *)at)[i] = (int8_t)v;
	else if (k->type == MPI_INT32_T)
		((int32_t *)at)[i] = (int32_t)v;
	else if (k->type == MPI_FLOAT)
		((float *)at)[i] = (float)v;
	else
		((double *)at)[i] = (double)v;
}

static inline long get(const struct kind *k, const void *at, long i)
{
	if (k->type == MPI_INT8_T)
		return ((const int8_t *)at)[i];
	if (k->type == MPI_INT32_T)
		return ((const int32_t *)at)[i];
	if (k->type == MPI_FLOAT)
		return (long)((const float *)at)[i];
	return (long)((const double *)at)[i];
}

/* Elements first.. of what a rank gives, at `at`. */
static inline void give(const struct kind *k, void *at, int rank, long first, long n)
{
	for (long i = 0; i < n; i++)
		put(k, at, i, value(k, rank, first + i));
}

static inline void *room(const struct kind *k, long n)
{
	void *at = calloc((size_t)(n > 0 ? n : 1), k->bytes);

	if (!at) {
		fprintf(stderr, "no memory for %ld elements\n", n);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	return at;
}

static inline void expect(struct check *c, const struct kind *k, const char *what, const void *at,
			  long i, long want)
{
	long is = get(k, at, i);

	if (is == want)
		return;
	if (c->wrong++ < 4)
		fprintf(stderr, "rank %d: %s of %s: element %ld is %ld, not %ld\n", c->rank, what,
			k->name, i, is, want);
}

/* That `n` elements at `at`+skip are what rank gives from `first` on. */
static inline void expect_given(struct check *c, const struct kind *k, const char *what,
				const void *at, long skip, int rank, long first, long n)
{
	for (long i = 0; i < n; i++)
		expect(c, k, what, at, skip + i, value(k, rank, first + i));
	c->verified++;
}

/* That `n` elements at `at` are the sums over ranks below `ranks` of what they give from
 * `first`. */
static inline void expect_sum(struct check *c, const struct kind *k, const char *what,
			      const void *at, int ranks, long first, long n)
{
	for (long i = 0; i < n; i++) {
		long sum = 0;

		for (int rank = 0; rank < ranks; rank++)
			sum += value(k, rank, first + i);
		expect(c, k, what, at, i, sum);
	}
	c->verified++;
}

/* Prints the sums over all ranks; returns the exit status of the program. */
static inline int check_report(struct check *c)
{
	long long mine[3] = {c->mine, c->wrong, c->verified}, all[3];

	MPI_Allreduce(mine, all, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (c->rank == 0)
		printf("%lld results verified, %lld elements wrong\nbytes %lld\n", all[2], all[1],
		       all[0]);
	return all[1] != 0 || all[2] == 0;
}

#endif
