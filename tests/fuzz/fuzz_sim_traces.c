/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the first byte picks a reader of traces, the rest is what its files hold: a schedule
 * in GOAL, a trace of Chakra that stands for all ranks, or one for each of two ranks (the second
 * and third byte: where it is cut). What is refused must say why and of which file; what is taken
 * must be a graph that comes to its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "sim/import/trace.h"
#include "sim/workload/graph.h"

#define HOSTS 16u
#define RANKS_OF_ONE 4u /* a trace stands for */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ms_trace_place place = {.hosts = HOSTS, .hosts_per_t0 = 4};

#define PATH_BYTES 96u

/* Where files are written, one input after another; in memory where that can be had. */
struct folder {
	char path[40];
	const char *file[2];
	unsigned n;
};

static void folder_open(struct folder *f)
{
	f->n = 0;
	snprintf(f->path, sizeof(f->path), "%s/fuzz_sim_traces.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	mb_assert(mkdtemp(f->path));
}

static const char *folder_at(const struct folder *f, const char *name, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", f->path, name);
	return path;
}

static void folder_put(struct folder *f, const char *name, const uint8_t *data, size_t size)
{
	char path[PATH_BYTES];
	FILE *file = fopen(folder_at(f, name, path), "wbe");

	mb_assert(file);
	mb_assert(fwrite(data, 1, size, file) == size);
	mb_assert(fclose(file) == 0);
	f->file[f->n++] = name;
}

static void folder_close(struct folder *f)
{
	char path[PATH_BYTES];

	while (f->n > 0)
		mb_assert(unlink(folder_at(f, f->file[--f->n], path)) == 0);
	mb_assert(rmdir(f->path) == 0);
}

/* All nodes begin and come to their end; computes take as long as they say. */
static void check_ends(const struct ms_graph *g)
{
	struct ms_graph_exec *p = ms_ideal_run(g, 0, ms_ideal_free, NULL);
	const struct ms_node_times *times;

	mb_assert(p);
	times = p->times;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct ms_node *n = &g->node[i];

		mb_assert(n->host < HOSTS && (n->kind == MS_COMPUTE || n->peer < HOSTS));
		mb_assert(times[i].begin_ns <= times[i].end_ns);
		mb_assert(n->kind == MS_TRANSFER ||
			  times[i].end_ns - times[i].begin_ns == n->amount);
		mb_assert(times[i].end_ns <= ms_ideal_end_ns(p));
	}
	ms_graph_exec_destroy(p);
}

static void check(struct ms_graph *g, const struct folder *f, const struct ms_file_error *error)
{
	mb_assert(strlen(error->text) < sizeof(error->text));
	mb_assert(g || strncmp(error->text, f->path, strlen(f->path)) == 0);
	if (g)
		check_ends(g);
	ms_graph_destroy(g);
}

static void goal(struct folder *f, const uint8_t *data, size_t size)
{
	struct ms_file_error error = {""};
	char path[PATH_BYTES];

	folder_put(f, "goal", data, size);
	check(ms_goal_read(folder_at(f, "goal", path), &place, &error), f, &error);
}

static void chakra_of_all(struct folder *f, const uint8_t *data, size_t size)
{
	struct ms_file_error error = {""};
	char path[PATH_BYTES];

	folder_put(f, "all.et", data, size);
	check(ms_chakra_read(folder_at(f, "all.et", path), NULL, RANKS_OF_ONE, &place, &error), f,
	      &error);
}

static void chakra_of_two(struct folder *f, const uint8_t *data, size_t size)
{
	struct ms_file_error error = {""};
	char path[PATH_BYTES];
	size_t cut;

	if (size < 2)
		return;
	cut = (size_t)(data[0] | data[1] << 8) % (size - 1);
	folder_put(f, "t.0.et", data + 2, cut);
	folder_put(f, "t.1.et", data + 2 + cut, size - 2 - cut);
	check(ms_chakra_read(folder_at(f, "t", path), NULL, 2, &place, &error), f, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(struct folder * f, const uint8_t *data,
				       size_t size) = {goal, chakra_of_all, chakra_of_two};
	struct folder f;

	if (size == 0)
		return 0;
	folder_open(&f);
	readers[data[0] % 3](&f, data + 1, size - 1);
	folder_close(&f);
	return 0;
}
