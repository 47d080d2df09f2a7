/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workloads, against what must hold of all of them: slots and flows name each other, needs can be
 * met where the flow begins, dependents are the needs the other way round, and hosts that know
 * only themselves come to the end in whatever order messages arrive.
 */
#include "support/test.h"

#include "sim/workload/workload.h"

static char why[MS_WHY_BYTES];

static struct ms_workload_cfg of_kind(enum ms_workload_kind kind, uint32_t hosts, uint32_t size)
{
	return (struct ms_workload_cfg){
		.kind = kind,
		.hosts = hosts,
		.hosts_per_t0 = 4,
		.seed = 7,
		.bytes = 100000,
		.group_size = size,
		.chunks = 3,
		.local_size = 4,
	};
}

static struct ms_workload *make(const struct ms_workload_cfg *cfg, uint32_t n)
{
	struct ms_workload *w = ms_workload_create(cfg, n, why, NULL);

	assert_string_equal(why, "");
	assert_non_null(w);
	return w;
}

/* ---- what must hold ---- */

static void check_slots(const struct ms_workload *w, uint32_t hosts)
{
	uint64_t ends = 0;

	for (uint32_t host = 0; host < hosts; host++) {
		uint32_t n = ms_workload_slots(w, host), outgoing = ms_workload_outgoing(w, host);

		for (uint32_t slot = 0; slot < n; slot++) {
			uint32_t id = ms_workload_flow_at(w, host, slot);
			struct ms_flow f;

			assert_true(id < ms_workload_flows(w));
			ms_workload_flow(w, id, &f);
			assert_u_eq(slot < outgoing ? f.src : f.dst, host);
			assert_u_eq(slot < outgoing ? f.src_slot : f.dst_slot, slot);
		}
		ends += n;
	}
	assert_u_eq(ends, 2 * (uint64_t)ms_workload_flows(w));
}

static bool depends(const struct ms_workload *w, uint32_t id, enum ms_end end, uint32_t on)
{
	uint32_t found;

	for (uint32_t i = 0; (found = ms_workload_dependent(w, id, end, i)) != MS_FLOW_NONE; i++)
		if (found == on)
			return true;
	return false;
}

static uint32_t dependents(const struct ms_workload *w, uint32_t id, enum ms_end end)
{
	uint32_t n = 0;

	while (ms_workload_dependent(w, id, end, n) != MS_FLOW_NONE)
		n++;
	return n;
}

static void check_needs(const struct ms_workload *w)
{
	uint64_t needs = 0, found = 0;

	for (uint32_t id = 0; id < ms_workload_flows(w); id++) {
		struct ms_flow f, other;

		ms_workload_flow(w, id, &f);
		assert_true(f.src != f.dst && f.messages > 0);
		assert_true(f.bytes - f.message_bytes * (f.messages - 1) <= f.message_bytes);
		for (uint32_t i = 0; i < f.n_needs; i++) {
			struct ms_dependency need;

			ms_workload_dependency(w, id, i, &need);
			ms_workload_flow(w, need.flow, &other);
			assert_u_eq(need.end == MS_SENT ? other.src : other.dst, f.src);
			assert_true(depends(w, need.flow, need.end, id));
		}
		needs += f.n_needs;
		found += dependents(w, id, MS_SENT) + dependents(w, id, MS_RECEIVED);
	}
	assert_u_eq(needs, found);
}

/* ---- a network that delivers one message at a time, of any flow that has one to deliver ---- */

struct progress {
	uint32_t posted, arrived;
};

static bool may_post(const struct ms_workload *w, const struct progress *p, uint32_t id,
		     const struct ms_flow *f)
{
	if (p[id].posted == f->messages)
		return false;
	for (uint32_t i = 0; i < f->n_needs; i++) {
		struct ms_dependency need;
		struct ms_flow other;

		ms_workload_dependency(w, id, i, &need);
		ms_workload_flow(w, need.flow, &other);
		if (p[need.flow].arrived < ms_dependency_count(&need, p[id].posted, other.messages))
			return false;
	}
	return true;
}

static void post_all(const struct ms_workload *w, struct progress *p, uint32_t id)
{
	struct ms_flow f;

	ms_workload_flow(w, id, &f);
	while (may_post(w, p, id, &f))
		p[id].posted++;
}

/* Delivers a message and lets those go on that it lets go on, and nobody else. */
static void deliver(const struct ms_workload *w, struct progress *p, uint32_t id)
{
	p[id].arrived++;
	for (enum ms_end end = MS_RECEIVED; end <= MS_SENT; end++)
		for (uint32_t i = 0, on;
		     (on = ms_workload_dependent(w, id, end, i)) != MS_FLOW_NONE; i++)
			post_all(w, p, on);
}

static void check_ends(const struct ms_workload *w)
{
	uint32_t n = ms_workload_flows(w), from;
	struct progress *p = calloc(n, sizeof(*p));
	bool moved = true;

	assert_non_null(p);
	for (uint32_t id = 0; id < n; id++)
		post_all(w, p, id);
	while (moved) {
		moved = false;
		from = (uint32_t)test_rand_below(n);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t id = (from + k) % n;

			if (p[id].arrived == p[id].posted)
				continue;
			deliver(w, p, id);
			moved = true;
		}
	}
	for (uint32_t id = 0; id < n; id++) {
		struct ms_flow f;

		ms_workload_flow(w, id, &f);
		assert_u_eq(p[id].arrived, f.messages);
	}
	free(p);
}

static void check_all(const struct ms_workload_cfg *cfg, uint32_t n)
{
	struct ms_workload *w = make(cfg, n);

	check_slots(w, cfg->hosts);
	check_needs(w);
	check_ends(w);
	ms_workload_destroy(w);
}

TEST(ms_workload, all_kinds_and_placements)
{
	for (enum ms_workload_kind kind = 0; kind < MS_LIST; kind++)
		for (enum ms_placement at = 0; at < MS_PLACEMENTS; at++) {
			struct ms_workload_cfg cfg = of_kind(kind, 37, 16);

			cfg.placement = at;
			check_all(&cfg, 1);
			cfg.group_size = 8;
			cfg.parallel = 3;
			check_all(&cfg, 1);
		}
}

TEST(ms_workload, the_smallest_groups)
{
	for (enum ms_workload_kind kind = 0; kind < MS_LIST; kind++) {
		struct ms_workload_cfg cfg = of_kind(kind, 6, 2);

		if (kind == MS_ALL_REDUCE_HIERARCHICAL) {
			cfg.group_size = 4;
			cfg.local_size = 2;
		}
		check_all(&cfg, 1);
	}
}

TEST(ms_workload, any_size_of_tree)
{
	for (uint32_t size = 2; size < 20; size++) {
		struct ms_workload_cfg cfg = of_kind(MS_ALL_REDUCE_TREE, 40, size);

		check_all(&cfg, 1);
	}
}

TEST(ms_workload, parts_side_by_side)
{
	struct ms_workload_cfg cfg[3] = {of_kind(MS_PERMUTATION, 20, 0), of_kind(MS_INCAST, 20, 5),
					 of_kind(MS_ALL_REDUCE_RING, 20, 4)};

	cfg[2].placement = MS_STRIDED;
	check_all(cfg, 3);
}

/* ---- what each is ---- */

TEST(ms_workload, a_permutation_across_t0s)
{
	struct ms_workload_cfg cfg = of_kind(MS_PERMUTATION, 64, 0);
	struct ms_workload *w;

	cfg.across_t0 = true;
	w = make(&cfg, 1);
	assert_u_eq(ms_workload_flows(w), 64);
	for (uint32_t id = 0; id < 64; id++) {
		struct ms_flow f;

		ms_workload_flow(w, id, &f);
		assert_u_eq(f.src, id);
		assert_true(f.src / 4 != f.dst / 4);
	}
	ms_workload_destroy(w);
}

TEST(ms_workload, a_ring_across_t0s)
{
	struct ms_workload_cfg cfg = of_kind(MS_ALL_REDUCE_RING, 131072, 64);
	struct ms_workload *w;
	struct ms_flow f;

	cfg.placement = MS_STRIDED;
	cfg.bytes = 1 << 20;
	w = make(&cfg, 1);
	assert_u_eq(ms_workload_flows(w), 131072);
	ms_workload_flow(w, 131071, &f);
	assert_u_eq(f.messages, 126);
	assert_u_eq(f.message_bytes, 16384);
	assert_u_eq(f.src, 131071);
	assert_u_eq(f.dst, 2047); /* member 0 of the last ring */
	assert_true(ms_workload_bytes(&cfg) < 4096);
	ms_workload_destroy(w);
}

TEST(ms_workload, all_to_all_goes_round)
{
	struct ms_workload_cfg cfg = of_kind(MS_ALL_TO_ALL, 8, 8);
	struct ms_workload *w = make(&cfg, 1);
	struct ms_flow f;

	assert_u_eq(ms_workload_flows(w), 56);
	for (uint32_t k = 0; k < 7; k++) {
		ms_workload_flow(w, ms_workload_flow_at(w, 6, k), &f);
		assert_u_eq(f.dst, (6 + k + 1) % 8);
	}
	ms_workload_destroy(w);
}

/* ---- lists ---- */

static struct ms_workload_cfg list(const struct ms_list_flow *flows, uint32_t n,
				   const struct ms_list_need *needs, uint32_t n_needs)
{
	struct ms_workload_cfg cfg = of_kind(MS_LIST, 10, 0);

	cfg.list = flows;
	cfg.n_list = n;
	cfg.list_needs = needs;
	cfg.n_list_needs = n_needs;
	return cfg;
}

TEST(ms_workload, a_list_in_order_of_start)
{
	static const struct ms_list_flow flows[] = {{.src = 1, .dst = 2, .start_ns = 30},
						    {.src = 1, .dst = 3, .start_ns = 10},
						    {.src = 2, .dst = 1, .start_ns = 5},
						    {.src = 1, .dst = 2, .start_ns = 20}};
	struct ms_workload_cfg cfg = list(flows, 4, NULL, 0);
	struct ms_workload *w = make(&cfg, 1);

	assert_u_eq(ms_workload_flow_at(w, 1, 0), 1);
	assert_u_eq(ms_workload_flow_at(w, 1, 1), 3);
	assert_u_eq(ms_workload_flow_at(w, 1, 2), 0);
	assert_u_eq(ms_workload_flow_at(w, 1, 3), 2);
	ms_workload_destroy(w);
	check_all(&cfg, 1);
}

TEST(ms_workload, a_list_with_needs)
{
	static const struct ms_list_need needs[] = {
		{0, MS_RECEIVED}, {1, MS_RECEIVED}, {2, MS_SENT}};
	static const struct ms_list_flow flows[] = {
		{.src = 0, .dst = 5},
		{.src = 1, .dst = 5},
		{.src = 5, .dst = 6, .first_need = 0, .n_needs = 2},
		{.src = 5, .dst = 7, .first_need = 2, .n_needs = 1}};
	struct ms_workload_cfg cfg = list(flows, 4, needs, 3);

	check_all(&cfg, 1);
}

static void refused(const struct ms_workload_cfg *cfg, const char *what)
{
	uint32_t bad = 9;

	assert_null(ms_workload_create(cfg, 1, why, &bad));
	assert_non_null(strstr(why, what));
	assert_u_eq(bad, 0);
}

/* REQ(sim.workload.local) */
TEST(ms_workload_create, names_who_waits_for_whom)
{
	static const struct ms_list_need needs[] = {
		{2, MS_RECEIVED}, {0, MS_RECEIVED}, {1, MS_RECEIVED}};
	static const struct ms_list_flow flows[] = {
		{.src = 0, .dst = 1, .first_need = 0, .n_needs = 1},
		{.src = 1, .dst = 2, .first_need = 1, .n_needs = 1},
		{.src = 2, .dst = 0, .first_need = 2, .n_needs = 1}};
	struct ms_workload_cfg cfg = list(flows, 3, needs, 3);

	refused(&cfg, "flow 0 (0 -> 1) waits for flow 2 (2 -> 0) waits for flow 1 (1 -> 2) waits "
		      "for flow 0 (0 -> 1)");
}

TEST(ms_workload_create, refuses_what_a_host_cannot_know)
{
	static const struct ms_list_need needs[] = {{0, MS_RECEIVED}};
	static const struct ms_list_flow flows[] = {
		{.src = 0, .dst = 1}, {.src = 2, .dst = 1, .first_need = 0, .n_needs = 1}};
	struct ms_workload_cfg cfg = list(flows, 2, needs, 1);

	refused(&cfg, "flow 1 begins at host 2 and waits for what host 1 learns");
}

TEST(ms_workload_create, refuses_bad_fields)
{
	static const struct ms_list_flow self = {.src = 3, .dst = 3};
	struct ms_workload_cfg cfg = list(&self, 1, NULL, 0);

	refused(&cfg, "flow 0: dst = 3: the same host as src");
	cfg = of_kind(MS_ALL_REDUCE_DOUBLING, 10, 6);
	refused(&cfg, "a power of two");
	cfg = of_kind(MS_INCAST, 10, 11);
	refused(&cfg, "group_size = 11: 2 to 10 hosts");
	cfg = of_kind(MS_INCAST, 10, 5);
	cfg.groups = 3;
	refused(&cfg, "groups = 3: of 5 hosts each at most 2 fit");
	cfg = of_kind(MS_ALL_REDUCE_TREE, 10, 5);
	cfg.chunks = 0;
	refused(&cfg, "chunks");
	cfg = of_kind(MS_PERMUTATION, 4, 0);
	cfg.across_t0 = true;
	refused(&cfg, "cannot all send to another T0");
	cfg = of_kind(MS_ALL_TO_ALL, 100000, 100000);
	refused(&cfg, "flows: at most");
}
