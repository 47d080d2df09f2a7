/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_host.c - makes the engine of the NIC and feeds it memory.
 *
 * The engine allocates nothing: it is given a block at the start, and more when a call returns that
 * it lacks some. Memory that it was given stays its own until it ends, so chunks are only collected
 * to be freed then. Nothing here runs for a packet but the placing of payload and atomics, which
 * touch the program's memory and so run under the guard of mem_guard.c.
 */
#include "host/datapath/datapath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/platform/platform.h"

/* Windows of a QP take some 100 KB; one chunk serves several. */
#define CHUNK_MIN (1u << 20)
/* EV and CC profiles of each kind that a controller may make, and the device's own. */
#define ENGINE_PROFILES 16u
_Static_assert(ENGINE_PROFILES >= MN_EV_PROFILES && ENGINE_PROFILES >= MN_CC_PROFILES,
	       "every profile of a state is one of the engine");
#define ENGINE_RING 1024u
#define REVIVE_PROBES 2u
/* About the RTT of sockets under a load that overflows them. */
#define ENGINE_BACKPRESSURE_NS UINT64_C(2000000)
/* Requests to other endpoints under way, or resting for longer than a packet lives. */
#define ENGINE_EP_REQUESTS 1024u
#define ENGINE_EP_ID_REUSE_DELAY_NS UINT64_C(1000000000)
/* How long a program that has no link left is not told: a cable is plugged in again meanwhile. */
#define ENGINE_NO_PORT_NS UINT64_C(10000000000)
/*
 * A switch or a kernel may take this long to say that a link is gone, or is back. Linux drops what
 * leaves meanwhile, such as the answer to an ARP request, and asks again after a second.
 */
#define ENGINE_PORT_STATUS_RETRY_NS UINT64_C(1000000000)
#define PROBE_BACKOFF_MAX 10u
/*
 * A SACK is a call to the kernel at both ends and a wake-up. Holes are judged after milliseconds
 * here, so that 100 us more in which nothing is missing change nothing.
 */
#define ENGINE_SACK_IN_ORDER_BYTES 262144u
/* Probes of bad EVs take a hundredth of what one core can send. */
#define ENGINE_REVIVAL_GAP_NS 100000u
/* Losing more EVs than this at once says more about us than about the paths. */
#define MIN_ACTIVE_SHARE 8u

static void *engine_alloc(size_t size)
{
	void *bytes = aligned_alloc(64, (size + 63) & ~(size_t)63);

	/* Touching it now keeps page faults out of the data path. */
	if (bytes)
		memset(bytes, 0, size);
	return bytes;
}

/*
 * Runs under nic->lock and may fault in a megabyte: that is rare, for the engine uses memory again
 * that a QP gave up, and better than a receiver that refuses for want of memory. Yet peers decide
 * how much is wanted, so that there is a limit.
 */
bool mh_engine_grow(struct mh_nic *nic)
{
	size_t size = mt_engine_memory_wanted(nic->engine);
	uint64_t limit = mh_env_shard_memory(&nic->env);
	struct mh_chunk *chunk;

	if (size < CHUNK_MIN)
		size = CHUNK_MIN;
	if (size > limit || nic->chunk_bytes > limit - size)
		return false;
	chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return false;
	chunk->bytes = engine_alloc(size);
	if (!chunk->bytes) {
		free(chunk);
		return false;
	}
	chunk->next = nic->chunks;
	nic->chunks = chunk;
	nic->chunk_bytes += size;
	mt_engine_add_memory(nic->engine, chunk->bytes, size);
	return true;
}

int mh_engine_errno(int result)
{
	switch ((enum mt_result)result) {
	case MT_OK:
		return 0;
	case MT_ERR_MEMORY:
	case MT_ERR_FULL:
		return ENOMEM;
	case MT_ERR_EXISTS:
		return EEXIST;
	case MT_ERR_ACCESS:
		return EFAULT;
	case MT_ERR_INVALID:
	case MT_ERR_STATE:
		break;
	}
	return EINVAL;
}

/* A null MR takes all bytes and keeps none. */
bool mh_engine_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	(void)ctx;
	return !mr_user || mh_guard_place((uint8_t *)mr_user + offset, src, len);
}

struct engine_atomic {
	void *at;
	const struct mt_atomic *op;
	uint64_t original;
};

/* With the CPU's own atomics, for programs use theirs on the same words. */
static void engine_atomic_run(void *ctx)
{
	struct engine_atomic *a = ctx;

	if (a->op->stores)
		a->original = mh_atomic_store(a->at, a->op->swap_add);
	else
		a->original = a->op->swaps ? mh_atomic_swap(a->at, a->op->compare, a->op->swap_add)
					   : mh_atomic_add(a->at, a->op->swap_add);
}

/* The address was aligned as the MR counts; one registered askew is none to be atomic on. */
static bool engine_atomic(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
			  uint64_t *original)
{
	struct engine_atomic a = {.op = op};

	(void)ctx;
	a.at = (uint8_t *)mr_user + offset;
	if ((uintptr_t)a.at % sizeof(uint64_t) != 0 ||
	    !mh_guard_run(a.at, sizeof(uint64_t), engine_atomic_run, &a))
		return false;
	*original = a.original;
	return true;
}

/*
 * Times come from the settings or are a software NIC's: what it talks to is scheduled by an
 * operating system, so they are longer than a NIC of silicon has.
 */
static void engine_configure(const struct mh_nic *nic, struct mt_engine_cfg *cfg)
{
	const struct mh_env *env = &nic->env;

	mt_engine_cfg_default(cfg, env->n_ports);
	cfg->max_qps = MH_QPN_INDEX_MASK + 1;
	cfg->max_mrs = MH_MRS_MAX;
	cfg->max_profiles = ENGINE_PROFILES;
	cfg->control_ring = ENGINE_RING;
	cfg->event_ring = ENGINE_RING;
	cfg->ep_requests = ENGINE_EP_REQUESTS;
	cfg->endpoint = nic->ports.slot;
	cfg->qpn_index_bits = MH_QPN_INDEX_BITS;
	cfg->timing.ep_quarantine_ns = ENGINE_EP_ID_REUSE_DELAY_NS;
	cfg->timing.port_notice_ns = ENGINE_PORT_STATUS_RETRY_NS;
	cfg->timing.no_port_ns = ENGINE_NO_PORT_NS;
	cfg->timing.revival_gap_ns = ENGINE_REVIVAL_GAP_NS;
	cfg->svc_time = env->svc_time;
	cfg->timing.rto_min_ns = env->rto_min_ns;
	/* Sockets lose what is not read in time: windows are never larger than what they hold. */
	cfg->dynamic_mpr = true;
	cfg->timing.backpressure_ns = ENGINE_BACKPRESSURE_NS;
	cfg->timing.sack_in_order_bytes = ENGINE_SACK_IN_ORDER_BYTES;
	cfg->timing.tail_probe_min_ns = env->tail_probe_ns;
	cfg->timing.reorder_min_ns = env->reorder_min_ns;
	cfg->timing.reorder_max_ns = env->reorder_max_ns;
	cfg->seed = nic->seed; /* processes must not spray alike */
}

/* An odd number: consecutive EVs differ in many bits of the flow label. */
#define LABEL_STEP 40503u

uint32_t mh_engine_ev(const struct mh_env *env, uint32_t port, uint32_t i)
{
	uint32_t sport = env->ev_base + i;

	if (mh_env_is_srv6(env))
		return mh_srv6_ev(&env->srv6, port, i);
	return env->ev_format == MW_EV_STEV ? sport << 16 | ((i + 1) * LABEL_STEP & 0xFFFF) : sport;
}

uint16_t mh_engine_n_evs(const struct mh_env *env)
{
	uint32_t n = env->n_ports * env->evs;

	return (uint16_t)(n > MT_EVS_MAX ? MT_EVS_MAX / env->n_ports * env->n_ports : n);
}

uint16_t mh_engine_min_active(uint16_t n_evs)
{
	return (uint16_t)(n_evs < MIN_ACTIVE_SHARE ? 1 : n_evs / MIN_ACTIVE_SHARE);
}

uint16_t mh_engine_evs(const struct mh_env *env, struct mt_ev evs[MT_EVS_MAX])
{
	uint16_t n = mh_engine_n_evs(env);

	for (uint32_t i = 0; i < n; i++)
		evs[i] = (struct mt_ev){
			.value = mh_engine_ev(env, i % env->n_ports, i / env->n_ports),
			.port = (uint8_t)(i % env->n_ports)};
	return n;
}

void mh_engine_ev_cfg(const struct mh_env *env, const struct mt_ev *evs, uint16_t n,
		      struct mt_ev_profile_cfg *cfg)
{
	*cfg = (struct mt_ev_profile_cfg){
		.evs = evs,
		.n_evs = n,
		.n_active = n,
		.min_active = mh_engine_min_active(n),
		.revive_probes = REVIVE_PROBES,
		.probe_interval_ns = env->probe_ns,
		.probe_interval_max_ns = env->probe_ns * PROBE_BACKOFF_MAX,
	};
}

/* engine_ev_profile is profile 0: all EVs of all ports. */
static int engine_ev_profile(struct mh_nic *nic)
{
	struct mt_ev evs[MT_EVS_MAX];
	uint16_t n = mh_engine_evs(&nic->env, evs);
	struct mt_ev_profile_cfg cfg;
	int result;

	mh_engine_ev_cfg(&nic->env, evs, n, &cfg);
	MH_ENGINE_CALL(nic, result, mt_ev_profile_set(nic->engine, 0, &cfg));
	return mh_engine_errno(result);
}

void mh_engine_own_cc(const struct mh_env *env, struct mt_cc_profile_cfg *cfg)
{
	*cfg = (struct mt_cc_profile_cfg){
		.kind = (uint8_t)env->cc,
		/* Sockets show no trims, and an RTT without a reschedule is not the usual one. */
		.trimming = env->driver == MH_DRIVER_RAW41 || mh_env_is_srv6(env),
		.base_rtt_min_ns = env->base_rtt_ns,
		.link_bps = mh_env_shard_pace(env) * env->n_ports,
		.base_rtt_ns = env->base_rtt_ns,
	};
}

static int engine_cc_profile(struct mh_nic *nic)
{
	struct mt_cc_profile_cfg cfg;
	int result;

	mh_engine_own_cc(&nic->env, &cfg);
	MH_ENGINE_CALL(nic, result, mt_cc_profile_set(nic->engine, 0, &cfg));
	return mh_engine_errno(result);
}

/*
 * engine_capacity returns how many packets all receive buffers hold. The kernel grants twice of
 * what it says and books twice what a frame has, so that these cancel out; but of what was read it
 * gives back only when a quarter of the buffer has come together, which is room that cannot be
 * counted on.
 */
static uint32_t engine_capacity(const struct mh_ports *ports)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ports->n; i++)
		bytes += ports->port[i].io->status->rx_buffer_bytes;
	return (uint32_t)(bytes / 4 * 3 / MIO_FRAME_MAX);
}

void mh_engine_report_ports(struct mh_nic *nic, uint64_t now_ns)
{
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		int r = mt_engine_port_set(nic->engine, now_ns, i, nic->ports.port[i].up);

		mb_assert(r == MT_OK);
	}
}

int mh_engine_create(struct mh_nic *nic, uint64_t now_ns)
{
	struct mt_env env = {.ctx = nic, .place = mh_engine_place, .atomic = engine_atomic};
	struct mt_engine_cfg cfg;
	size_t size;
	int err;

	engine_configure(nic, &cfg);
	cfg.max_run = mh_ports_max_run(&nic->ports, nic->env.run);
	size = mt_engine_size(&cfg);
	mb_assert(size > 0);
	nic->engine_memory = engine_alloc(size);
	if (!nic->engine_memory)
		return ENOMEM;
	nic->engine = mt_engine_init(nic->engine_memory, &cfg, &env, now_ns);
	err = mh_engine_grow(nic) ? engine_ev_profile(nic) : ENOMEM;
	if (!err)
		err = engine_cc_profile(nic);
	if (err) {
		mh_engine_destroy(nic);
		return err;
	}
	mt_engine_rx_capacity(nic->engine, engine_capacity(&nic->ports));
	mh_engine_report_ports(nic, now_ns);
	return 0;
}

/* QPs are gone by then: a device closes only when nothing of its openings is left. */
void mh_engine_destroy(struct mh_nic *nic)
{
	while (nic->chunks) {
		struct mh_chunk *chunk = nic->chunks;

		nic->chunks = chunk->next;
		free(chunk->bytes);
		free(chunk);
	}
	free(nic->engine_memory);
	nic->engine = NULL;
	nic->engine_memory = NULL;
}
