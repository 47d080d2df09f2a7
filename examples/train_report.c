/* SPDX-License-Identifier: BSD-2-Clause */
/* What `train` tells, in text and in JSON: see train_report.h. */
#include "train_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PLANES_MAX 32u

int train_report_open(struct train_report *r, const struct train_args *args)
{
	*r = (struct train_report){.args = args, .loud = args->rank == 0};
	/* Whole lines, also into a pipe: whoever follows sees each step when it is done. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!args->report)
		return 0;
	r->file = fopen(args->report, "we");
	if (!r->file) {
		fprintf(stderr, "train: --report %s: %s\n", args->report, strerror(errno));
		return -1;
	}
	setvbuf(r->file, NULL, _IOLBF, 0);
	return 0;
}

static void put_begin(FILE *f, const struct train_report *r, const struct train_text *text,
		      double bigram_bits, const struct ring *ring)
{
	const struct train_args *a = r->args;
	unsigned path[PLANES_MAX];
	unsigned planes = ring_tcp_paths(ring, path, PLANES_MAX);

	fprintf(f,
		"{\"begin\": {\"rank\": %u, \"ranks\": %u, \"steps\": %u, \"params\": %" PRIu64
		", \"files\": %u, \"bytes\": %zu, \"bigram_bits\": %.6f, \"transport\": "
		"\"%s\", \"tcp_paths\": [",
		a->rank, a->ranks, a->steps, a->params, text->files, text->len, bigram_bits,
		ring_transport_text(ring));
	for (unsigned p = 0; p < planes; p++)
		fprintf(f, "%s%u", p ? ", " : "", path[p]);
	fprintf(f, "], \"tcp_feels_loss\": %s}}\n", ring_tcp_feels_loss(ring) ? "true" : "false");
}

void train_report_begin(struct train_report *r, const struct train_text *text, double bigram_bits,
			const struct ring *ring)
{
	const struct train_args *a = r->args;

	if (r->file)
		put_begin(r->file, r, text, bigram_bits, ring);
	if (!r->loud)
		return;
	if (a->json) {
		put_begin(stdout, r, text, bigram_bits, ring);
		return;
	}
	printf("text       %s: %u files, %zu bytes\n", a->data, text->files, text->len);
	printf("bigram     %.4f bits per byte: entropy of a byte given the one before it\n",
	       bigram_bits);
	printf("job        %u ranks, %u positions each a step, %" PRIu64 " floats summed a step\n",
	       a->ranks, a->batch, a->params);
	printf("transport  %s\n", ring_transport_text(ring));
}

static void put_step(FILE *f, const struct train_step *s)
{
	fprintf(f,
		"{\"step\": %u, \"t_start_ns\": %" PRIu64 ", \"t_end_ns\": %" PRIu64
		", \"comm_ns\": %" PRIu64 ", \"loss\": %.9g}\n",
		s->step, s->t_start_ns, s->t_end_ns, s->comm_ns, (double)s->loss);
}

void train_report_step(struct train_report *r, const struct train_step *s)
{
	if (r->file)
		put_step(r->file, s);
	if (!r->loud)
		return;
	if (r->args->json)
		put_step(stdout, s);
	else
		printf("step %5u  loss %.4f  %6.1f ms, %.1f of it all-reduce\n", s->step,
		       (double)s->loss, (double)(s->t_end_ns - s->t_start_ns) / 1e6,
		       (double)s->comm_ns / 1e6);
}

void train_report_end(struct train_report *r, float loss, double bigram_bits, const char *sha256)
{
	static const char json[] = "{\"end\": {\"loss\": %.9g, \"sha256\": \"%s\"}}\n";

	if (r->file)
		fprintf(r->file, json, (double)loss, sha256);
	if (!r->loud)
		return;
	if (r->args->json) {
		printf(json, (double)loss, sha256);
		return;
	}
	printf("final      %.4f bits per byte over the whole text; bigram entropy %.4f\n",
	       (double)loss, bigram_bits);
	printf("weights    sha256 %s\n", sha256);
}

int train_report_close(struct train_report *r)
{
	bool bad = ferror(stdout) || fflush(stdout);

	if (bad)
		fprintf(stderr, "train: standard output could not be written\n");
	if (!r->file)
		return bad ? -1 : 0;
	if (ferror(r->file) || fclose(r->file)) {
		fprintf(stderr, "train: --report %s: could not be written\n", r->args->report);
		bad = true;
	}
	r->file = NULL;
	return bad ? -1 : 0;
}
