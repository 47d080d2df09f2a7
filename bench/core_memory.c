/* SPDX-License-Identifier: BSD-2-Clause */
/* core_memory.c - see core_memory.h. */
#include "core_memory.h"

#include <stdio.h>

#include "core/state/engine_state.h"
#include "engine_pair.h"

#define QPS 131072u
#define EVS 256u

/* All that the adapter gives an engine for its QPs. */
static size_t bytes_in_use(const struct pair *p, const struct mt_qp_cap *cap)
{
	const struct mt_engine *e = p->sides[0].node.engine;

	return mt_engine_size(&e->cfg) + QPS * mt_qp_size(cap) + mt_engine_memory_used(e);
}

/* Each QP of side 0 sends one probe, and all are answered. */
static void probe_all(struct pair *p)
{
	struct pair_side *side = &p->sides[0];
	uint64_t answered;
	struct mt_stats st;

	for (uint32_t i = 0; i < QPS; i++) {
		mt_engine_queue_probe(side->node.engine, side->qps[i], (uint16_t)(i % EVS),
				      MT_PROBE_TAIL);
		pair_exchange(p);
	}
	mt_engine_stats(side->node.engine, &st);
	answered = st.rx_sacks;
	if (answered < QPS)
		fprintf(stderr, "bench: %llu of %u probes were answered\n",
			(unsigned long long)answered, QPS);
}

static void print(bool as_json, const char *state, size_t bytes)
{
	if (as_json)
		printf("{\"bench\": \"core, memory\", \"state\": \"%s\", \"qps\": %u, "
		       "\"evs\": %u, \"bytes\": %zu, \"bytes_per_qp\": %zu}\n",
		       state, QPS, EVS, bytes, bytes / QPS);
	else
		printf("core, memory: %.2f GB, %zu bytes a QP, %s (%u QPs with one WR, a "
		       "destination of %u EVs each)\n",
		       (double)bytes / 1e9, bytes / QPS, state, QPS, EVS);
}

void print_core_memory(bool as_json)
{
	static struct pair p;
	const struct mt_qp_cap cap = {.sq_depth = 1, .max_sge = 1, .signal_all = true};
	const struct pair_cfg cfg = {
		.qps = QPS,
		.evs = EVS,
		.ports = 8,
		.sq_depth = cap.sq_depth,
		.one_way_ns = 6000,
		.cc = MT_CC_NSCC,
		.ev_set_each = true,
	};

	pair_open(&p, &cfg);
	print(as_json, "idle", bytes_in_use(&p, &cap));
	probe_all(&p);
	print(as_json, "probed once", bytes_in_use(&p, &cap));
	pair_close(&p);
}
