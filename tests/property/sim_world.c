/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_world.c - see sim_world.h. */
#include "sim_world.h"

#include <stdlib.h>

#include "fabric/fabric_path.h"
#include "sim/kernel/random.h"
#include "support/test.h"

static void note(struct world *w, uint32_t host, uint64_t t, uint64_t what)
{
	struct actor *a = &w->actor[host];

	if (a->n < LOG_MAX)
		a->log[a->n] = (struct seen){t, what};
	a->n++;
}

static uint32_t any_ev(struct actor *a, const struct mf_topology *t, uint32_t plane)
{
	uint32_t up = t->cfg.tiers == 3 ? t->cfg.t1_uplinks : 1;

	return mf_ev_of(plane, mb_prng_below(&a->random, t->cfg.t1s),
			mb_prng_below(&a->random, up));
}

static void send_one(struct world *w, const struct ref_out *out, uint32_t host, uint32_t to,
		     uint32_t cls, uint16_t bytes)
{
	struct actor *a = &w->actor[host];
	uint32_t plane = mb_prng_below(&a->random, w->cfg.topology.cfg.planes);
	struct ms_packet p = {.bytes = bytes, .head = (uint16_t)a->sent, .body = {a->sent++}};

	p.src = host & (MS_HOSTS_MAX - 1);
	p.dst = to & (MS_HOSTS_MAX - 1);
	p.plane = plane & MS_PLANE_MASK;
	p.cls = cls & 7u;
	p.ev = any_ev(a, &w->cfg.topology, plane);
	out->send(out->model, host, &p);
}

static void on_receive(void *ctx, const struct ref_out *out, uint32_t host, uint64_t now_ps,
		       const struct ms_packet *p)
{
	struct world *w = ctx;
	struct actor *a = &w->actor[host];

	note(w, host, now_ps,
	     p->body[0] << 40 ^ (uint64_t)p->src << 28 ^ (uint64_t)p->bytes << 8 ^
		     (uint64_t)p->cls << 4 ^ (uint64_t)p->ce << 1 ^ p->corrupt ^ p->plane << 24);
	if (p->cls < MW_DSCP_TRIMMED && mb_prng_chance(&a->random, 500000))
		send_one(w, out, host, p->src, MW_DSCP_CONTROL,
			 (uint16_t)(64 + mb_prng_below(&a->random, 200)));
}

static void on_wake(void *ctx, const struct ref_out *out, uint32_t host, uint64_t now_ps)
{
	struct world *w = ctx;
	struct actor *a = &w->actor[host];
	uint32_t hosts = w->cfg.topology.n_hosts, burst = 1 + mb_prng_below(&a->random, 12);
	uint32_t to =
		mb_prng_chance(&a->random, 500000) ? w->hot : mb_prng_below(&a->random, hosts);

	note(w, host, now_ps, UINT64_MAX);
	for (uint32_t i = 0; i < burst && to != host; i++)
		send_one(w, out, host, to, mb_prng_below(&a->random, 3),
			 (uint16_t)(64 + mb_prng_below(&a->random, 4200)));
	if (now_ps < w->stop_ps)
		out->wake_at(out->model, host,
			     now_ps + mb_prng_u64(&a->random) % (2 * w->pause_ps));
}

static void on_carrier(void *ctx, uint32_t host, uint64_t now_ps, uint32_t plane, bool up)
{
	note(ctx, host, now_ps, UINT64_C(0xCA) << 48 | plane << 1 | up);
}

/* ---- the kernel's hosts ---- */

static void kernel_send(void *model, uint32_t host, const struct ms_packet *p)
{
	(void)host;
	ms_send(model, p);
}

static void kernel_wake_at(void *model, uint32_t host, uint64_t at_ps)
{
	(void)host;
	ms_wake_at(model, at_ps);
}

static void kernel_receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			   const struct ms_packet *p)
{
	on_receive(ctx, &(struct ref_out){worker, kernel_send, kernel_wake_at}, host, now_ps, p);
}

static void kernel_wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	on_wake(ctx, &(struct ref_out){worker, kernel_send, kernel_wake_at}, host, now_ps);
}

static void kernel_carrier(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
			   uint32_t plane, bool up)
{
	(void)worker;
	on_carrier(ctx, host, now_ps, plane, up);
}

/* ---- random worlds ---- */

static uint64_t any_rate(void)
{
	static const uint64_t rates[] = {100000000000, 400000000000, 37000000000, 10000000000};

	return rates[test_rand_below(4)];
}

static void random_topology(struct mf_topology *t)
{
	bool three = test_rand_chance(1, 3);
	struct mf_topology_cfg cfg = {
		.dscp = mw_dscp_map_default(),
		.name = "random",
		.planes = 1 + (uint32_t)test_rand_below(3),
		.tiers = three ? 3 : 2,
		.pods = three ? 2 : 1,
		.hosts_per_t0 = 1 + (uint32_t)test_rand_below(4),
		.t0s = 1 + (uint32_t)test_rand_below(4),
		.t1s = 1 + (uint32_t)test_rand_below(3),
		.t1_uplinks = three ? 1 + (uint32_t)test_rand_below(3) : 0,
		.rails = 1,
		.switch_ns = (uint32_t)test_rand_below(800),
		.mtu = 4300,
		.usid = {.block = 0xfcbbbb00, .planes = MF_PLANE_IN_USID},
		.address_block = 0xfd6d7263,
	};
	struct mf_error error = {"", "", ""};

	for (uint32_t i = 0; i < MF_LINK_KINDS; i++)
		cfg.links[i] =
			(struct mf_link_cfg){any_rate(), 100 + (uint32_t)test_rand_below(2000)};
	/* Links to far away, longer than windows and boxes reach. */
	if (test_rand_chance(1, 6))
		cfg.links[test_rand_below(MF_LINK_KINDS)].latency_ns +=
			(uint32_t)test_rand_below(500000);
	if (cfg.hosts_per_t0 * cfg.t0s * cfg.pods == 1)
		cfg.hosts_per_t0 = 2;
	if (!mf_topology_init(t, &cfg, &error))
		fail_msg("%s = %s: %s", error.field, error.value, error.what);
}

static void random_queues(struct ms_queue_cfg queue[MS_PORT_KINDS])
{
	for (uint32_t i = 0; i < MS_PORT_KINDS; i++) {
		uint32_t unit = 4096 + (uint32_t)test_rand_below(30000);
		bool off = test_rand_chance(1, 4);

		queue[i] = (struct ms_queue_cfg){
			.ecn_min_bytes = unit / 5,
			.ecn_max_bytes = off ? 0 : unit,
			.ecn_ppm = (uint32_t)test_rand_below(1000001),
			.trim_bytes = test_rand_chance(1, 3) ? 0 : unit + 5000,
			.data_limit_bytes = test_rand_chance(1, 4) ? 0 : 2 * unit,
			.control_limit_bytes = test_rand_chance(1, 2) ? 0 : 600,
		};
		if (off)
			queue[i].ecn_min_bytes = 0;
	}
}

static uint32_t any_value(enum ms_fault_kind kind)
{
	if (kind == MS_FAULT_RATE)
		return 10000 + (uint32_t)test_rand_below(990001);
	return (uint32_t)test_rand_below(kind == MS_FAULT_BLACKHOLE ? 2 : 300000);
}

static void random_faults(struct world *w)
{
	static const uint8_t kinds[] = {MS_FAULT_DOWN, MS_FAULT_DOWN,	   MS_FAULT_UP,
					MS_FAULT_UP,   MS_FAULT_BLACKHOLE, MS_FAULT_LOSS,
					MS_FAULT_RATE, MS_FAULT_CORRUPT};

	w->faults = test_rand_chance(1, 4) ? 0 : (uint32_t)test_rand_below(FAULTS_MAX + 1);
	for (uint32_t i = 0; i < w->faults; i++) {
		uint8_t kind = kinds[test_rand_below(sizeof(kinds))];

		w->fault[i] = (struct ms_fault){
			.at_ps = test_rand_below(w->stop_ps),
			.link = (uint32_t)test_rand_below(w->cfg.topology.n_links),
			.value = any_value(kind),
			.kind = kind,
		};
	}
}

void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	random_topology(&w->cfg.topology);
	random_queues(w->cfg.queue);
	w->cfg.trim_to_bytes = (uint16_t)(64 + test_rand_below(100));
	w->cfg.seed = test_rand();
	w->cfg.hosts = (struct ms_hosts){.ctx = w,
					 .receive = kernel_receive,
					 .wake = kernel_wake,
					 .carrier = kernel_carrier};
	w->stop_ps = 20000000 + test_rand_below(80000000);
	w->pause_ps = 200000 + test_rand_below(8000000);
	w->hot = (uint32_t)test_rand_below(w->cfg.topology.n_hosts);
	random_faults(w);
	w->actor = calloc(w->cfg.topology.n_hosts, sizeof(*w->actor));
	assert_non_null(w->actor);
}

static void actors_init(struct world *w)
{
	for (uint32_t i = 0; i < w->cfg.topology.n_hosts; i++) {
		w->actor[i].n = 0;
		w->actor[i].sent = 0;
		mb_prng_init(&w->actor[i].random, w->cfg.seed + i);
	}
}

static uint64_t first_wake(const struct world *w, uint32_t host)
{
	return ms_mix(w->cfg.seed ^ host) % w->stop_ps;
}

void world_run(struct world *w, const struct ms_ranks *ranks, uint32_t threads, uint64_t step_ps,
	       struct ms_counters *c)
{
	char why[MS_WHY_BYTES] = "";
	struct ms_net *net;

	actors_init(w);
	w->cfg.threads = threads;
	w->cfg.ranks = ranks;
	net = ms_net_create(&w->cfg, why);
	if (!net)
		fail_msg("%s", why);
	for (uint32_t i = 0; i < w->cfg.topology.n_hosts; i++)
		ms_net_wake(net, i, first_wake(w, i));
	for (uint32_t i = 0; i < w->faults; i++)
		assert_true(ms_net_add_fault(net, &w->fault[i]));
	while (ms_net_run(net, step_ps == MS_NEVER ? MS_NEVER : ms_net_now_ps(net) + step_ps) ==
	       MS_END_TIME)
		;
	assert_true(ms_net_counters(net, true, c));
	assert_true(ms_counters_are_conserved(c));
	ms_net_destroy(net);
}

void world_run_reference(struct world *w, struct ms_counters *c)
{
	const struct ref_hosts hosts = {w, on_receive, on_wake, on_carrier};
	struct ref_net *r = ref_create(&w->cfg, &hosts);

	actors_init(w);
	for (uint32_t i = 0; i < w->cfg.topology.n_hosts; i++)
		ref_wake(r, i, first_wake(w, i));
	for (uint32_t i = 0; i < w->faults; i++)
		ref_fault(r, &w->fault[i]);
	ref_run(r, MS_NEVER);
	ref_counters(r, c);
	ref_destroy(r);
}

struct actor *world_take_log(struct world *w)
{
	struct actor *log = w->actor;

	w->actor = calloc(w->cfg.topology.n_hosts, sizeof(*w->actor));
	assert_non_null(w->actor);
	return log;
}

void world_fini(struct world *w)
{
	free(w->actor);
}
