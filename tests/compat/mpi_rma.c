/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_rma [LONGEST] - one-sided MPI: put, get, accumulate and the atomic calls between all pairs of
 * ranks, with fences, locks, and post-start-complete-wait; each result compared with what
 * arithmetic says. See mpi_check.h for the values.
 */
#include "mpi_check.h"

/* A window with one block of n elements for each rank. */
struct field {
	struct check *c;
	const struct kind *k;
	int n;
	MPI_Win win;
	void *at; /* our part of it */
	void *in; /* what we give */
};

static void field_open(struct field *f)
{
	long all = (long)f->n * f->c->ranks;

	MPI_Win_allocate((MPI_Aint)((size_t)all * f->k->bytes), (int)f->k->bytes, MPI_INFO_NULL,
			 MPI_COMM_WORLD, (void *)&f->at, &f->win);
	f->in = room(f->k, all);
	for (long i = 0; i < all; i++)
		put(f->k, f->at, i, 0);
	give(f->k, f->in, f->c->rank, 0, all);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void field_close(struct field *f)
{
	MPI_Win_free(&f->win);
	free(f->in);
}

/* Our block for rank r begins here, in f->in and in the window of each rank. */
static void *block_for(const struct field *f, int r)
{
	return (char *)f->in + (size_t)r * (size_t)f->n * f->k->bytes;
}

static void count_bytes(const struct field *f)
{
	f->c->mine += (long long)(f->c->ranks - 1) * f->n * (long long)f->k->bytes;
}

/* After everybody put into everybody: block r is what rank r gave to us. */
static void expect_blocks(const struct field *f, const char *what, const void *at)
{
	for (int r = 0; r < f->c->ranks; r++)
		expect_given(f->c, f->k, what, at, (long)r * f->n, r, (long)f->c->rank * f->n,
			     f->n);
}

static void put_and_fence(struct field *f)
{
	MPI_Win_fence(0, f->win);
	for (int r = 0; r < f->c->ranks; r++)
		MPI_Put(block_for(f, r), f->n, f->k->type, r, (MPI_Aint)f->c->rank * f->n, f->n,
			f->k->type, f->win);
	MPI_Win_fence(0, f->win);
	expect_blocks(f, "put", f->at);
	count_bytes(f);
}

/* What put_and_fence left there, read back by who gave it. */
static void get_with_locks(struct field *f)
{
	void *out = room(f->k, (long)f->n * f->c->ranks);

	for (int r = 0; r < f->c->ranks; r++) {
		MPI_Win_lock(MPI_LOCK_SHARED, r, 0, f->win);
		MPI_Get((char *)out + (size_t)r * (size_t)f->n * f->k->bytes, f->n, f->k->type, r,
			(MPI_Aint)f->c->rank * f->n, f->n, f->k->type, f->win);
		MPI_Win_unlock(r, f->win);
	}
	expect_given(f->c, f->k, "get", out, 0, f->c->rank, 0, (long)f->n * f->c->ranks);
	count_bytes(f);
	MPI_Barrier(MPI_COMM_WORLD);
	free(out);
}

/* All ranks add what they give into block 0 of rank 0, after it was cleared. */
static void accumulate(struct field *f)
{
	for (int i = 0; i < f->n; i++)
		put(f->k, f->at, i, 0);
	MPI_Win_fence(0, f->win);
	MPI_Accumulate(f->in, f->n, f->k->type, 0, 0, f->n, f->k->type, MPI_SUM, f->win);
	MPI_Win_fence(0, f->win);
	if (f->c->rank == 0) {
		expect_sum(f->c, f->k, "accumulate", f->at, f->c->ranks, 0, f->n);
		count_bytes(f);
	}
}

/* Each puts to the rank on its right, which has opened its window to the left one only. */
static void post_start_complete_wait(struct field *f)
{
	int left = (f->c->rank + f->c->ranks - 1) % f->c->ranks;
	int right = (f->c->rank + 1) % f->c->ranks;
	MPI_Group world, from, to;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &left, &from);
	MPI_Group_incl(world, 1, &right, &to);
	MPI_Win_post(from, 0, f->win);
	MPI_Win_start(to, 0, f->win);
	MPI_Put(f->in, f->n, f->k->type, right, 0, f->n, f->k->type, f->win);
	MPI_Win_complete(f->win);
	MPI_Win_wait(f->win);
	expect_given(f->c, f->k, "put after post", f->at, 0, left, 0, f->n);
	f->c->mine += (long long)f->n * (long long)f->k->bytes;
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Group_free(&world);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void run_field(struct check *c, const struct kind *k, long bytes)
{
	struct field f = {.c = c, .k = k, .n = (int)(bytes / (long)k->bytes)};

	field_open(&f);
	put_and_fence(&f);
	get_with_locks(&f);
	MPI_Barrier(MPI_COMM_WORLD);
	accumulate(&f);
	post_start_complete_wait(&f);
	field_close(&f);
}

/* Everybody draws tickets: each number once. And compare-and-swap hands a token around. */
static void draw_tickets(struct check *c, int each)
{
	long long one = 1, ticket = 0, sum = 0, all = 0, total = (long long)each * c->ranks;
	long long *counter;
	MPI_Win win;

	MPI_Win_allocate(2 * sizeof(*counter), sizeof(*counter), MPI_INFO_NULL, MPI_COMM_WORLD,
			 (void *)&counter, &win);
	counter[0] = counter[1] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < each; i++) {
		MPI_Fetch_and_op(&one, &ticket, MPI_LONG_LONG, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		sum += ticket;
	}
	for (long long mine = c->rank, next = mine + 1, was = -1; was != mine;) {
		MPI_Compare_and_swap(&next, &mine, &was, MPI_LONG_LONG, 0, 1, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock_all(win);
	MPI_Reduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (c->rank == 0) {
		c->wrong += counter[0] != total || all != total * (total - 1) / 2;
		c->wrong += counter[1] != c->ranks;
		c->verified += 2;
	}
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	static const long sizes[] = {8, 1000, 8192, 70000};
	long longest = argc > 1 ? atol(argv[1]) : 1 << 20;
	struct check c = {0};
	double begin;
	int status;

	MPI_Init(&argc, &argv);
	check_init(&c);
	begin = MPI_Wtime();
	for (int k = 0; k < KINDS; k++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			run_field(&c, &c.kind[k], sizes[s]);
	run_field(&c, &c.kind[3], longest);
	draw_tickets(&c, 100);
	status = check_report(&c);
	if (c.rank == 0)
		printf("%d ranks: %.2f seconds\n", c.ranks, MPI_Wtime() - begin);
	MPI_Finalize();
	return status;
}
