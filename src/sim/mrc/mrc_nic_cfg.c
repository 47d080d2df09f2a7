/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_nic_cfg.c - the configuration of MRC: defaults from a topology, checks, and the memory. */
#include <stdio.h>

#include "base/bits.h"
#include "base/pool.h"
#include "core/endpoint/endpoint.h"
#include "core/state/qp.h"
#include "fabric/fabric_path.h"
#include "sim/mrc/mrc_nic_state.h"

#define EVS_ALL_PLANES 256u
#define SLEEP_AFTER_WORK_MAX_NS 2000000u
#define CONTROL_MIN 32u
#define NS_PER_S UINT64_C(1000000000)

static uint64_t rate_of(const struct mf_topology *t)
{
	return t->cfg.links[MF_HOST_T0].bit_s * t->cfg.planes;
}

static uint64_t send_ns(uint64_t bytes, uint64_t bit_s)
{
	return (bytes * 8 * NS_PER_S + bit_s - 1) / bit_s;
}

/* Of a full packet to the farthest host and of the answer back. */
static uint64_t base_rtt_ns(const struct mf_topology *t)
{
	const struct mf_link_cfg *l = t->cfg.links;
	uint64_t full = 4096 + 40 + MS_FRAME_BYTES, answer = 48 + MS_FRAME_BYTES;
	uint64_t rtt = 0;

	for (unsigned kind = MF_HOST_T0; kind < t->cfg.tiers; kind++)
		rtt += 4 * (uint64_t)l[kind].latency_ns +
		       2 * (send_ns(full, l[kind].bit_s) + send_ns(answer, l[kind].bit_s));
	return rtt + 2 * (uint64_t)(2 * t->cfg.tiers - 1) * t->cfg.switch_ns;
}

void ms_mrc_defaults(struct ms_mrc_cfg *cfg, const struct mf_topology *topology)
{
	struct mt_engine_cfg engine;

	mt_engine_cfg_default(&engine, topology->cfg.planes);
	*cfg = (struct ms_mrc_cfg){
		.topology = *topology,
		.threads = 1,
		.seed = 1,
		.path_mtu = 4096,
		.frame_bytes = MS_FRAME_BYTES,
		.evs = (EVS_ALL_PLANES + topology->cfg.planes - 1) / topology->cfg.planes,
		.evs_ordered = true,
		.min_active = 1,
		.revive_probes = 3,
		.ev_feedback = true,
		.ecn_steering = true,
		.ev_probes = true,
		.probe_interval_ns = 100000,
		.probe_interval_max_ns = 10000000,
		.cc = {.kind = MT_CC_NSCC,
		       .trimming = true,
		       .link_bps = rate_of(topology),
		       .base_rtt_ns = base_rtt_ns(topology)},
		.timing = engine.timing,
		.trim_nack = true,
		.mpr = 8,
		.depth = 8,
		.timeout = 8,
		.retry_linear = 7,
		.retry_exp = 7,
		.linger_ns = SLEEP_AFTER_WORK_MAX_NS,
	};
	/* NICs of silicon, which send SACKs as one reader of the specification says. */
	cfg->timing.sack_bytes = 4096;
	cfg->timing.sack_in_order_bytes = 0;
	/* Windows go back when a connection is taken down, which is soon after it was used. */
	cfg->timing.idle_ns = 0;
}

uint32_t ms_mrc_evs(const struct ms_mrc_cfg *cfg)
{
	uint32_t paths = mf_ev_count(&cfg->topology) / cfg->topology.cfg.planes;

	return cfg->evs < paths ? cfg->evs : paths;
}

static bool mtu_valid(uint32_t mtu)
{
	return mtu >= 256 && mtu <= 4096 && mb_is_pow2(mtu);
}

static bool evs_valid(const struct ms_mrc_cfg *c, char *why)
{
	uint32_t planes = c->topology.cfg.planes, evs = ms_mrc_evs(c);

	if (c->evs == 0 || evs * planes > MT_EVS_MAX)
		return ms_refuse(why, "evs = %u: 1 to %u of each plane", c->evs,
				 MT_EVS_MAX / planes);
	if (c->evs_active > c->evs)
		return ms_refuse(why, "evs_active = %u: 0 (all) to %u", c->evs_active, c->evs);
	if (c->min_active == 0 || c->min_active > evs * planes)
		return ms_refuse(why, "min_active = %u: 1 to %u", c->min_active, evs * planes);
	if (c->revive_probes == 0 || c->revive_probes > 16)
		return ms_refuse(why, "revive_probes = %u: 1 to 16", c->revive_probes);
	if (c->probe_interval_ns == 0 || c->probe_interval_ns > c->probe_interval_max_ns)
		return ms_refuse(why,
				 "probe_interval = %llu ns: more than 0, and no more than "
				 "probe_interval_max = %llu ns",
				 (unsigned long long)c->probe_interval_ns,
				 (unsigned long long)c->probe_interval_max_ns);
	return true;
}

bool ms_mrc_check(const struct ms_mrc_cfg *c, char *why)
{
	struct mt_engine_cfg engine;
	struct mt_range_error error;

	if (!mtu_valid(c->path_mtu))
		return ms_refuse(why, "mtu = %u: 256, 512, 1024, 2048 or 4096", c->path_mtu);
	if (c->frame_bytes > 1024)
		return ms_refuse(why, "frame_bytes = %u: 0 to 1024", c->frame_bytes);
	if (!evs_valid(c, why))
		return false;
	if (!mt_cc_profile_check(&c->cc, &error))
		return ms_refuse(why, "cc.%s = %llu: 0 (derived) or %llu to %llu", error.field,
				 (unsigned long long)error.value, (unsigned long long)error.low,
				 (unsigned long long)error.high);
	if (c->mpr == 0)
		return ms_refuse(why, "mpr = 0: 1 to 255 units of 128 packets");
	if (c->depth == 0 || c->depth > 1024)
		return ms_refuse(why, "depth = %u: 1 to 1024 messages", c->depth);
	if (c->timeout > RD_TIMEOUT_MAX)
		return ms_refuse(why, "timeout = %u: 0 to %u", c->timeout, RD_TIMEOUT_MAX);
	if (c->retry_linear > RD_RETRY_LINEAR_MAX || c->retry_exp > RD_RETRY_EXP_FOREVER)
		return ms_refuse(why, "retries = %u, %u: at most %u linear and %u exponential ones",
				 c->retry_linear, c->retry_exp, RD_RETRY_LINEAR_MAX,
				 RD_RETRY_EXP_FOREVER);
	ms_mrc_engine_cfg(c, 1, 1, &engine);
	if (mt_engine_size(&engine) == 0)
		return ms_refuse(why, "timing: a value is out of its range");
	return true;
}

/* Rings of the least size that holds what can happen between two rounds of a NIC. */
void ms_mrc_engine_cfg(const struct ms_mrc_cfg *cfg, uint32_t slots, uint32_t incoming,
		       struct mt_engine_cfg *engine)
{
	mt_engine_cfg_default(engine, cfg->topology.cfg.planes);
	engine->max_qps = mb_pow2_ceil(slots ? slots : 1);
	engine->max_mrs = incoming ? incoming : 1;
	engine->max_profiles = 1;
	/* A round empties it; between two a QP may be sent a packet for an answer on each plane. */
	engine->control_ring = 4 * mb_pow2_ceil(cfg->topology.cfg.planes);
	if (engine->control_ring < CONTROL_MIN)
		engine->control_ring = CONTROL_MIN;
	/* No caller polls them here. */
	engine->event_ring = 1;
	engine->ep_requests = 2;
	engine->timing = cfg->timing;
}

uint8_t ms_mrc_window(const struct ms_mrc_cfg *cfg, uint64_t packets)
{
	uint64_t bdp = cfg->cc.link_bps / 8 * cfg->cc.base_rtt_ns / NS_PER_S;
	uint64_t cwnd = cfg->cc.max_cwnd_bytes ? cfg->cc.max_cwnd_bytes : bdp * 3 / 2;
	uint64_t most = 3 * cwnd / cfg->path_mtu + 1, units;

	if (cfg->cc.kind != MT_CC_NONE && packets > most)
		packets = most;
	units = (packets + MT_MPR_UNIT - 1) / MT_MPR_UNIT;
	return units < cfg->mpr ? (uint8_t)units : cfg->mpr;
}

/* A block of an engine's pool. */
static uint64_t pool_bytes(size_t size)
{
	return mb_pool_block_size(size);
}

static uint64_t path_set_bytes(const struct ms_mrc_cfg *cfg)
{
	uint16_t evs = (uint16_t)(ms_mrc_evs(cfg) * cfg->topology.cfg.planes);

	return pool_bytes(mt_ev_sets_bytes(evs, cfg->topology.cfg.planes));
}

/* What the EV sets of a host share. */
static uint64_t shared_ev_bytes(const struct ms_mrc_cfg *cfg)
{
	const struct mt_ev_profile_cfg profile = {
		.n_evs = (uint16_t)(ms_mrc_evs(cfg) * cfg->topology.cfg.planes),
		.is_static = true,
	};

	return pool_bytes(mt_ev_shared_size(&profile, cfg->topology.cfg.planes));
}

/* Both ends of a flow of `packets` in messages of which `depth` may be under way. */
static uint64_t flow_bytes(const struct ms_mrc_cfg *cfg, const struct ms_flow *f)
{
	uint64_t per = f->message_bytes ? (f->message_bytes - 1) / cfg->path_mtu + 1 : 1;
	uint64_t depth = f->messages < cfg->depth ? f->messages : cfg->depth;
	uint32_t window = (uint32_t)ms_mrc_window(cfg, per * depth) * MT_MPR_UNIT;
	struct mt_qp_cap out = {.sq_depth = (uint32_t)depth, .max_sge = 1};
	struct mt_qp_cap in = {.sq_depth = 1, .rq_depth = (uint32_t)depth, .max_sge = 1};

	return 2 * sizeof(struct ms_conn) + mt_qp_size(&out) + mt_qp_size(&in) +
	       pool_bytes(mb_pow2_ceil(window) * sizeof(struct mt_tx_rec)) +
	       pool_bytes(mt_rx_window_size(window)) +
	       pool_bytes(mt_imm_stash_size((uint32_t)depth)) + f->messages * per / 8 +
	       2 * path_set_bytes(cfg) + 512;
}

uint64_t ms_mrc_memory(const struct ms_mrc_cfg *cfg, const struct ms_workload_cfg *workload,
		       uint32_t n, uint64_t hosts)
{
	uint64_t all = cfg->topology.n_hosts, flows = 0, ends = 0, slots, fixed;
	struct mt_engine_cfg engine;
	struct ms_flow f;
	bool is_used = false;

	for (uint32_t i = 0; i < n; i++) {
		if (workload[i].transport != MS_MRC)
			continue;
		is_used = true;
		ms_workload_shape(&workload[i], &f);
		flows += ms_workload_count(&workload[i]);
		ends += ms_workload_count(&workload[i]) * flow_bytes(cfg, &f);
	}
	if (!is_used)
		return 0;
	slots = 2 * flows / all + 1;
	ms_mrc_engine_cfg(cfg, (uint32_t)(slots < MS_SLOTS_MAX ? slots : MS_SLOTS_MAX),
			  (uint32_t)slots, &engine);
	fixed = mt_engine_size(&engine) + sizeof(struct ms_mrc_host) + slots * sizeof(void *) +
		shared_ev_bytes(cfg);
	return hosts * fixed + ends / all * hosts + (uint64_t)cfg->threads * ((uint64_t)1 << 21);
}
