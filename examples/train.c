/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * train - data-parallel training of a byte-level language model on real text.
 *
 * Every rank holds all weights, draws its own positions of the text in each step, and the ranks'
 * gradients are summed by a ring all-reduce over MRC (or TCP, for comparison). All ranks then make
 * the same update, so they stay equal bit for bit, and the digest of the weights at the end is a
 * digest of everything that was ever sent: one wrong or missing byte would change it.
 *
 *	train --ranks 2 --rank 0 --rendezvous /tmp/job &
 *	train --ranks 2 --rank 1 --rendezvous /tmp/job
 */
#include "ring.h"
#include "train_args.h"
#include "train_model.h"
#include "train_report.h"
#include "train_sha256.h"
#include "train_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Computing yields to whoever moves packets: ranks may outnumber cores. */
#define COMPUTE_NICE 10

struct job {
	struct train_args args;
	struct train_text text;
	struct train_model *model;
	struct train_report report;
	struct ring *ring;
	double bigram_bits;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int run_step(struct job *j, uint32_t step)
{
	float *vector = ring_vector(j->ring);
	double positions = (double)j->args.batch * j->args.ranks;
	struct train_step s = {.step = step, .t_start_ns = now_ns()};
	uint64_t comm_start_ns;

	train_model_batch(j->model, &j->text, vector, j->args.batch, j->args.seed, step,
			  j->args.rank);
	comm_start_ns = now_ns();
	if (ring_all_reduce(j->ring, j->args.params))
		return -1;
	s.comm_ns = now_ns() - comm_start_ns;
	s.loss = (float)(vector[0] / positions);
	train_model_update(j->model, vector, positions, (float)j->args.rate);
	s.t_end_ns = now_ns();
	train_report_step(&j->report, &s);
	return 0;
}

/* The loss over the whole text, each rank reading its part of it. */
static int evaluate_model(struct job *j, float *loss)
{
	float *vector = ring_vector(j->ring);
	size_t positions = j->text.len - TRAIN_CONTEXT;
	size_t first = TRAIN_CONTEXT + positions * j->args.rank / j->args.ranks;
	size_t last = TRAIN_CONTEXT + positions * (j->args.rank + 1) / j->args.ranks;

	memset(vector, 0, TRAIN_ROW * sizeof(float));
	vector[0] = (float)train_model_eval(j->model, &j->text, first, last);
	if (ring_all_reduce(j->ring, TRAIN_ROW))
		return -1;
	*loss = (float)(vector[0] / (double)positions);
	return 0;
}

static void digest_weights(const struct train_model *m, char hex[SHA256_HEX_BYTES])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, m->weight, m->weights * sizeof(float));
	sha256_hex(&s, hex);
}

static int run_job(struct job *j)
{
	char hex[SHA256_HEX_BYTES];
	float loss;

	train_report_begin(&j->report, &j->text, j->bigram_bits, j->ring);
	for (uint32_t step = 0; step < j->args.steps; step++)
		if (run_step(j, step))
			return -1;
	if (evaluate_model(j, &loss))
		return -1;
	digest_weights(j->model, hex);
	train_report_end(&j->report, loss, j->bigram_bits, hex);
	return 0;
}

static int open_job(struct job *j)
{
	struct ring_cfg ring = {
		.rank = j->args.rank,
		.ranks = j->args.ranks,
		.kind = j->args.transport,
		.rendezvous = j->args.rendezvous,
		.floats = j->args.params,
	};

	if (train_text_load(&j->text, j->args.data))
		return -1;
	j->bigram_bits = train_text_bigram_bits(&j->text);
	j->model = train_model_create(j->args.params);
	if (!j->model || j->bigram_bits < 0) {
		fprintf(stderr, "train: --params %llu: out of memory\n",
			(unsigned long long)j->args.params);
		return -1;
	}
	if (train_report_open(&j->report, &j->args))
		return -1;
	j->ring = ring_open(&ring);
	if (!j->ring)
		return -1;
	/* Only this thread; what moves packets has started before and keeps its priority. */
	if (j->args.ranks > 1 && setpriority(PRIO_PROCESS, 0, COMPUTE_NICE))
		perror("train: nice");
	return 0;
}

int main(int argc, char **argv)
{
	struct job j = {0};
	int rc;

	switch (train_args_parse(&j.args, argc, argv)) {
	case TRAIN_ARGS_DONE:
		return 0;
	case TRAIN_ARGS_WRONG:
		return 2;
	case TRAIN_ARGS_RUN:
		break;
	}
	rc = open_job(&j);
	if (!rc)
		rc = run_job(&j);
	if (j.ring && !rc)
		rc = ring_close(j.ring);
	else
		ring_abandon(j.ring);
	if (train_report_close(&j.report))
		rc = -1;
	train_model_destroy(j.model);
	train_text_fini(&j.text);
	return rc ? 1 : 0;
}
