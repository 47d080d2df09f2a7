/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the first byte picks a reader of the simulator's input files, the rest is the text.
 * What is taken must be within its bounds; what is refused must say why and leave nothing behind.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fabric/topology_toml.h"
#include "sim/import/flow_files.h"

#define HOSTS 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct ms_flow_list *l, uint32_t hosts)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct ms_list_flow *f = &l->flow[i];

		mb_assert(f->src < hosts && f->dst < hosts && f->src != f->dst);
		mb_assert(f->bytes <= MS_LIST_BYTES_MAX && f->start_ns <= MS_LIST_START_MAX_NS);
		mb_assert(f->first_need + f->n_needs <= l->need.n);
		for (uint32_t k = 0; k < f->n_needs; k++) {
			const struct ms_list_need *n = &l->need.at[f->first_need + k];
			const struct ms_list_flow *on = &l->flow[n->flow];

			mb_assert(n->flow < l->n);
			mb_assert((n->end == MS_SENT ? on->src : on->dst) == f->src);
		}
	}
}

static void check_error(bool ok, const struct ms_file_error *error)
{
	mb_assert(ok || strncmp(error->text, "f:", 2) == 0);
	mb_assert(strlen(error->text) < sizeof(error->text));
}

static void read_cm(const char *text)
{
	struct ms_file_error error = {""};
	struct ms_cm *cm = malloc(sizeof(*cm));
	bool ok;

	mb_assert(cm);
	ok = ms_cm_read(cm, "f", text, &error);
	check_error(ok, &error);
	check_list(&cm->flows, cm->nodes);
	ms_cm_fini(cm);
	free(cm);
}

static void read_flows(const char *text)
{
	struct ms_file_error error = {""};
	struct ms_flow_list list;

	check_error(ms_flows_read(&list, HOSTS, "f", text, &error), &error);
	check_list(&list, HOSTS);
	ms_flow_list_fini(&list);
}

static void read_cdf(const char *text)
{
	struct ms_file_error error = {""};
	struct ms_cdf *cdf = malloc(sizeof(*cdf));
	bool ok;

	mb_assert(cdf);
	ok = ms_cdf_read(cdf, "f", text, &error);
	check_error(ok, &error);
	for (uint32_t share = 0; ok && share < MS_CDF_ONE; share += MS_CDF_ONE / 8)
		mb_assert(ms_cdf_bytes(cdf, share) <= cdf->point[cdf->n - 1].bytes);
	mb_assert(!ok || ms_cdf_mean(cdf) <= cdf->point[cdf->n - 1].bytes);
	free(cdf);
}

static void read_topo(const char *text)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("pod");
	struct ms_file_error error = {""};
	struct mf_topology whole;
	struct mf_error wrong;

	check_error(ms_topo_read(&cfg, "f", text, &error), &error);
	mb_assert(mf_topology_init(&whole, &cfg, &wrong));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const char *text) = {read_cm, read_flows, read_cdf,
							    read_topo};
	char *text;

	if (size == 0)
		return 0;
	text = malloc(size);
	mb_assert(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	readers[data[0] % 4](text);
	free(text);
	return 0;
}
