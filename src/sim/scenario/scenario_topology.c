/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_topology.c - the fabric of a scenario, and what follows from it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology_toml.h"
#include "sim/import/flow_files.h"
#include "sim/import/input.h"
#include "sim/scenario/scenario_build.h"

/* What a topology file of htsim does not say (names, addresses, MTU) is as in this preset. */
#define LIKE "pod"

struct topology_reading {
	struct mf_topology_file *f;
	const char *path;
};

static int on_item(void *ctx, const struct mb_toml_item *item)
{
	struct topology_reading *r = ctx;

	switch (mf_topology_file_item(r->f, item)) {
	case MF_ITEM_TAKEN:
		return 0;
	case MF_ITEM_WRONG:
		return 1;
	case MF_ITEM_FOREIGN:
		snprintf(r->f->error, sizeof(r->f->error),
			 "%s:%u: %s: is no key of a topology file", r->path, item->line,
			 item->name);
		return 1;
	}
	return 1;
}

static bool from_toml(const struct ms_scenario *s, struct mf_topology_file *f, const char *path,
		      const char *text)
{
	struct topology_reading r = {f, path};
	const char *was = f->file, *why;
	uint32_t line;
	int err;

	f->file = path;
	err = mb_toml_read(text, on_item, &r, &line, &why);
	f->file = was;
	if (why)
		return ms_file_set_error(s->error, path, line, "%s", why);
	if (err)
		snprintf(s->error->text, sizeof(s->error->text), "%s", f->error);
	return !err;
}

bool ms_scenario_topology_from(struct ms_scenario *s, struct mf_topology_file *f)
{
	const char *name = s->topology.file[0] ? s->topology.file : s->topology.htsim;
	char path[2 * MS_PATH_BYTES];
	char *text;
	bool ok;

	if ((s->topology.file[0] && s->topology.htsim[0]) || f->first_line > 0)
		return ms_scenario_refuse(
			s, 0,
			"topology: expected one of base, file and htsim, as its first "
			"key");
	if (!ms_file_sibling_path(s->name, name, path, sizeof(path)))
		return ms_scenario_refuse(s, 0, "topology: the path %s is too long", name);
	text = ms_file_load(path, s->error);
	if (!text)
		return false;
	if (s->topology.htsim[0]) {
		f->cfg = mf_preset_cfg(LIKE);
		snprintf(f->cfg.name, sizeof(f->cfg.name), "htsim");
		ok = ms_topo_read(&f->cfg, path, text, s->error);
	} else {
		ok = from_toml(s, f, path, text);
	}
	free(text);
	return ok;
}

static void no_marking(struct ms_queue_cfg *q)
{
	q->ecn_min_bytes = 0;
	q->ecn_max_bytes = 0;
}

void ms_scenario_run_defaults(struct ms_scenario *s)
{
	struct ms_run_cfg *run = &s->run;

	ms_run_defaults(run, &s->fabric);
	if (s->transport.kind == MS_ROCE) {
		ms_roce_queues(&s->fabric, run->queue);
		ms_roce_pfc(&s->fabric, &run->pfc);
	}
	run->mrc.trim_nack = s->queues.trimming;
	run->mrc.cc.trimming = s->queues.trimming;
	if (!s->queues.trimming && s->transport.kind == MS_MRC)
		ms_queue_defaults(&s->fabric, false, run->queue);
	if (s->queues.trim_to_bytes)
		run->trim_to_bytes = s->queues.trim_to_bytes;
	if (s->queues.ecn_last_hop && s->transport.kind == MS_MRC) {
		const struct ms_queue_cfg *like = &run->queue[MS_PORT_T1_DOWN];

		run->queue[MS_PORT_T0_DOWN].ecn_min_bytes = like->ecn_min_bytes;
		run->queue[MS_PORT_T0_DOWN].ecn_max_bytes = like->ecn_max_bytes;
		run->queue[MS_PORT_T0_DOWN].ecn_ppm = like->ecn_ppm;
	}
	for (int kind = 0; kind < MS_PORT_KINDS && !s->queues.ecn; kind++)
		no_marking(&run->queue[kind]);
	run->seed = s->head.seed;
	run->threads = s->head.threads;
	run->end_ps = s->head.end_ns ? s->head.end_ns * MS_PS_PER_NS : MS_NEVER;
}
