/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of a rank, JSON lines that examples/train_report.h describes, and its steps in
 * figures.
 */
#include "demo/measure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void demo_report_open(struct demo_report *r, const char *path)
{
	*r = (struct demo_report){0};
	snprintf(r->path, sizeof(r->path), "%s", path);
}

void demo_report_close(struct demo_report *r)
{
	if (r->file)
		fclose(r->file);
	free(r->steps);
	*r = (struct demo_report){0};
}

static bool take_paths(struct demo_report *r, const json_t *paths)
{
	size_t n = json_array_size(paths);

	if (n > DEMO_REPORT_PLANES)
		return false;
	for (size_t i = 0; i < n; i++)
		r->tcp_path[i] = (uint32_t)json_integer_value(json_array_get(paths, i));
	r->tcp_paths = (uint32_t)n;
	return true;
}

static bool take_begin(struct demo_report *r, json_t *o)
{
	const char *transport;
	json_int_t files, bytes;
	json_t *paths;
	int feels_loss;

	if (json_unpack(o, "{s:I, s:I, s:F, s:s, s:o, s:b}", "files", &files, "bytes", &bytes,
			"bigram_bits", &r->bigram_bits, "transport", &transport, "tcp_paths",
			&paths, "tcp_feels_loss", &feels_loss) ||
	    !take_paths(r, paths))
		return false;
	r->tcp_feels_loss = feels_loss;
	r->files = (uint32_t)files;
	r->bytes = (uint64_t)bytes;
	snprintf(r->transport, sizeof(r->transport), "%s", transport);
	r->begun = true;
	return true;
}

static bool take_step(struct demo_report *r, json_t *o)
{
	json_int_t step, start, end, comm;
	double loss;

	if (json_unpack(o, "{s:I, s:I, s:I, s:I, s:F}", "step", &step, "t_start_ns", &start,
			"t_end_ns", &end, "comm_ns", &comm, "loss", &loss))
		return false;
	if (r->n == r->capacity) {
		size_t capacity = r->capacity ? 2 * r->capacity : 128;
		struct demo_step *grown = realloc(r->steps, capacity * sizeof(*grown));

		if (!grown) {
			fprintf(stderr, "mrc: out of memory\n");
			exit(1);
		}
		r->steps = grown;
		r->capacity = capacity;
	}
	r->steps[r->n++] = (struct demo_step){
		.step = (uint32_t)step,
		.start_ns = (uint64_t)start,
		.end_ns = (uint64_t)end,
		.comm_ns = (uint64_t)comm,
		.loss = loss,
	};
	return true;
}

static bool take_end(struct demo_report *r, json_t *o)
{
	const char *sha256;

	if (json_unpack(o, "{s:F, s:s}", "loss", &r->final_loss, "sha256", &sha256) ||
	    strlen(sha256) != sizeof(r->sha256) - 1)
		return false;
	memcpy(r->sha256, sha256, sizeof(r->sha256));
	r->ended = true;
	return true;
}

bool demo_report_line(struct demo_report *r, const char *line)
{
	json_t *o = json_loads(line, 0, NULL);
	json_t *begin = json_object_get(o, "begin"), *end = json_object_get(o, "end");
	bool good = false;

	if (begin)
		good = take_begin(r, begin);
	else if (end)
		good = take_end(r, end);
	else if (o)
		good = take_step(r, o);
	json_decref(o);
	return good;
}

static void take_bytes(struct demo_report *r, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n' && r->line_len + 1 < sizeof(r->line)) {
			r->line[r->line_len++] = bytes[i];
			continue;
		}
		r->line[r->line_len] = '\0';
		r->line_len = 0;
		if (!demo_report_line(r, r->line))
			r->broken = true;
	}
}

void demo_report_read(struct demo_report *r)
{
	char bytes[4096];
	size_t n;

	if (!r->file)
		r->file = fopen(r->path, "re");
	if (!r->file)
		return;
	clearerr(r->file);
	while ((n = fread(bytes, 1, sizeof(bytes), r->file)) > 0)
		take_bytes(r, bytes, n);
}

static int compare_doubles(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t demo_figures_median(uint64_t *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[(n - 1) / 2];
}

struct demo_figure demo_figures_between(const struct demo_step *steps, size_t n, uint64_t from_ns,
					uint64_t to_ns)
{
	struct demo_figure f = {0};
	uint64_t *whole = calloc(2 * n + 1, sizeof(*whole));
	uint64_t *comm = whole + n;

	if (!whole) {
		fprintf(stderr, "mrc: out of memory\n");
		exit(1);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t ns = steps[i].end_ns - steps[i].start_ns;

		if (steps[i].start_ns < from_ns || steps[i].end_ns > to_ns)
			continue;
		whole[f.n] = ns;
		comm[f.n] = steps[i].comm_ns;
		f.max_ns = ns > f.max_ns ? ns : f.max_ns;
		f.n++;
	}
	f.step_ns = demo_figures_median(whole, f.n);
	f.comm_ns = demo_figures_median(comm, f.n);
	free(whole);
	return f;
}

uint64_t demo_figures_expect(const struct demo_figure *before, uint32_t num, uint32_t den)
{
	if (!den || !before->n)
		return 0;
	return before->step_ns - before->comm_ns + before->comm_ns * num / den;
}
