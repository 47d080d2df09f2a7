/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nccl_ranks RANK RANKS ID_FILE SECONDS MAX_BYTES - a rank of NCCL's collectives that checks every
 * element.
 *
 * Rank 0 writes NCCL's unique id to ID_FILE, the others wait for it. All take GPU 0: NCCL lets
 * two ranks of a communicator share a GPU only if they say that they are on different hosts
 * (NCCL_HOSTID). Sizes go from 8 bytes to MAX_BYTES by factors of 8, each at least once and over
 * again until SECONDS have passed. What a rank puts in and expects is whole numbers, so that sums
 * are exact. Rank 0 prints a line of JSON for each operation and size. Built and started by
 * tools/nccl.
 */
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ID_WAIT_S 60
#define WARM_ROUNDS 1
#define ROUNDS 5
#define ELEMENT_MOD 1000u

struct world {
	int rank, ranks;
	size_t max_bytes;
	double seconds;
	ncclComm_t comm;
	cudaStream_t stream;
	float *send, *recv; /* on the GPU, max_bytes * ranks */
	float *host;	    /* the same on the host */
};

static void check_cuda(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "nccl_ranks: %s: %s\n", what, cudaGetErrorString(e));
	exit(1);
}

static void check_nccl(ncclResult_t r, const char *what)
{
	if (r == ncclSuccess)
		return;
	fprintf(stderr, "nccl_ranks: %s: %s\n", what, ncclGetErrorString(r));
	exit(1);
}

#define CUDA(call) check_cuda(call, #call)
#define NCCL(call) check_nccl(call, #call)

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- NCCL's id, from rank 0 to all by a file ---- */

static void write_id(const char *path, const ncclUniqueId *id)
{
	char part[4096];
	FILE *f;

	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "wb");
	if (!f || fwrite(id, sizeof(*id), 1, f) != 1 || fclose(f) || rename(part, path)) {
		perror(path);
		exit(1);
	}
}

static void read_id(const char *path, ncclUniqueId *id)
{
	double until = now_s() + ID_WAIT_S;
	FILE *f;

	while (!(f = fopen(path, "rb")) && now_s() < until)
		usleep(10000);
	if (!f || fread(id, sizeof(*id), 1, f) != 1) {
		fprintf(stderr, "nccl_ranks: no id in %s after %d s\n", path, ID_WAIT_S);
		exit(1);
	}
	fclose(f);
}

/* ---- operations: what a rank puts in, and what it must get ---- */

/* Element i of rank r's vector in a round: differs from rank to rank and from round to round. */
static float element(size_t i, int rank, unsigned round)
{
	return (float)((i + 7u * round) % ELEMENT_MOD) + (float)rank;
}

static float sum_of_ranks(size_t i, int ranks, unsigned round)
{
	return element(i, 0, round) * (float)ranks + (float)(ranks * (ranks - 1) / 2);
}

struct operation {
	const char *name;
	/* Elements in and out for n elements a rank. */
	size_t (*out)(const struct world *w, size_t n);
	size_t (*in)(const struct world *w, size_t n);
	void (*start)(const struct world *w, size_t n);
	float (*want)(const struct world *w, size_t i, size_t n, unsigned round);
};

static size_t one(const struct world *w, size_t n)
{
	(void)w;
	return n;
}

static size_t all(const struct world *w, size_t n)
{
	return n * (size_t)w->ranks;
}

static void start_all_reduce(const struct world *w, size_t n)
{
	NCCL(ncclAllReduce(w->send, w->recv, n, ncclFloat, ncclSum, w->comm, w->stream));
}

static float want_sum(const struct world *w, size_t i, size_t n, unsigned round)
{
	(void)n;
	return sum_of_ranks(i, w->ranks, round);
}

static void start_all_gather(const struct world *w, size_t n)
{
	NCCL(ncclAllGather(w->send, w->recv, n, ncclFloat, w->comm, w->stream));
}

static float want_gathered(const struct world *w, size_t i, size_t n, unsigned round)
{
	(void)w;
	return element(i % n, (int)(i / n), round);
}

static void start_reduce_scatter(const struct world *w, size_t n)
{
	NCCL(ncclReduceScatter(w->send, w->recv, n, ncclFloat, ncclSum, w->comm, w->stream));
}

static float want_scattered(const struct world *w, size_t i, size_t n, unsigned round)
{
	return sum_of_ranks(i + n * (size_t)w->rank, w->ranks, round);
}

static void start_broadcast(const struct world *w, size_t n)
{
	NCCL(ncclBroadcast(w->send, w->recv, n, ncclFloat, w->ranks - 1, w->comm, w->stream));
}

static float want_broadcast(const struct world *w, size_t i, size_t n, unsigned round)
{
	(void)n;
	return element(i, w->ranks - 1, round);
}

/* To the next rank, from the one before. */
static void start_send_recv(const struct world *w, size_t n)
{
	NCCL(ncclGroupStart());
	NCCL(ncclSend(w->send, n, ncclFloat, (w->rank + 1) % w->ranks, w->comm, w->stream));
	NCCL(ncclRecv(w->recv, n, ncclFloat, (w->rank + w->ranks - 1) % w->ranks, w->comm,
		      w->stream));
	NCCL(ncclGroupEnd());
}

static float want_received(const struct world *w, size_t i, size_t n, unsigned round)
{
	(void)n;
	return element(i, (w->rank + w->ranks - 1) % w->ranks, round);
}

static const struct operation operations[] = {
	{"all_reduce", one, one, start_all_reduce, want_sum},
	{"all_gather", one, all, start_all_gather, want_gathered},
	{"reduce_scatter", all, one, start_reduce_scatter, want_scattered},
	{"broadcast", one, one, start_broadcast, want_broadcast},
	{"send_recv", one, one, start_send_recv, want_received},
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static void fill(const struct world *w, const struct operation *op, size_t n, unsigned round)
{
	size_t out = op->out(w, n);

	for (size_t i = 0; i < out; i++)
		w->host[i] = element(i, w->rank, round);
	CUDA(cudaMemcpy(w->send, w->host, out * sizeof(float), cudaMemcpyHostToDevice));
	CUDA(cudaMemset(w->recv, 0xff, op->in(w, n) * sizeof(float)));
}

static void verify(const struct world *w, const struct operation *op, size_t n, unsigned round)
{
	size_t in = op->in(w, n);

	CUDA(cudaMemcpy(w->host, w->recv, in * sizeof(float), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < in; i++) {
		float want = op->want(w, i, n, round);

		if (w->host[i] == want)
			continue;
		fprintf(stderr,
			"nccl_ranks: %s of %zu bytes, rank %d, round %u: element %zu is %g, not "
			"%g\n",
			op->name, n * sizeof(float), w->rank, round, i, (double)w->host[i],
			(double)want);
		exit(1);
	}
}

static void run(const struct world *w, const struct operation *op, size_t n, unsigned *round)
{
	double best = 1e9, from;

	for (int i = 0; i < WARM_ROUNDS + ROUNDS; i++, ++*round) {
		fill(w, op, n, *round);
		from = now_s();
		op->start(w, n);
		CUDA(cudaStreamSynchronize(w->stream));
		if (i >= WARM_ROUNDS && now_s() - from < best)
			best = now_s() - from;
		verify(w, op, n, *round);
	}
	if (w->rank == 0)
		printf("{\"operation\": \"%s\", \"bytes\": %zu, \"best_us\": %.1f, \"rounds\": "
		       "%d}\n",
		       op->name, n * sizeof(float), best * 1e6, WARM_ROUNDS + ROUNDS);
	fflush(stdout);
}

/* Whether to go on is rank 0's clock alone: all ranks must do the same operations. */
static bool all_go_on(const struct world *w, double until)
{
	float go = now_s() < until;

	CUDA(cudaMemcpy(w->send, &go, sizeof(go), cudaMemcpyHostToDevice));
	NCCL(ncclBroadcast(w->send, w->recv, 1, ncclFloat, 0, w->comm, w->stream));
	CUDA(cudaStreamSynchronize(w->stream));
	CUDA(cudaMemcpy(&go, w->recv, sizeof(go), cudaMemcpyDeviceToHost));
	return go != 0;
}

int main(int argc, char **argv)
{
	struct world w = {0};
	unsigned round = 0;
	ncclUniqueId id;
	double until;

	if (argc != 6) {
		fprintf(stderr, "usage: nccl_ranks RANK RANKS ID_FILE SECONDS MAX_BYTES\n");
		return 2;
	}
	w.rank = atoi(argv[1]);
	w.ranks = atoi(argv[2]);
	w.seconds = atof(argv[4]);
	w.max_bytes = strtoull(argv[5], NULL, 10);
	CUDA(cudaSetDevice(0));
	CUDA(cudaStreamCreate(&w.stream));
	CUDA(cudaMalloc((void **)&w.send, w.max_bytes * (size_t)w.ranks));
	CUDA(cudaMalloc((void **)&w.recv, w.max_bytes * (size_t)w.ranks));
	CUDA(cudaMallocHost((void **)&w.host, w.max_bytes * (size_t)w.ranks));
	if (w.rank == 0) {
		NCCL(ncclGetUniqueId(&id));
		write_id(argv[3], &id);
	} else {
		read_id(argv[3], &id);
	}
	NCCL(ncclCommInitRank(&w.comm, w.ranks, id, w.rank));
	until = now_s() + w.seconds;
	do {
		for (size_t o = 0; o < OPERATIONS; o++)
			for (size_t bytes = 8; bytes <= w.max_bytes; bytes *= 8)
				run(&w, &operations[o], bytes / sizeof(float), &round);
	} while (all_go_on(&w, until));
	NCCL(ncclCommDestroy(w.comm));
	return 0;
}
