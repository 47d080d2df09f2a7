/* SPDX-License-Identifier: BSD-2-Clause */
/* Which EVs a drained part takes from which host, and who is left without one. */
#include "cli/lab/drain.h"
#include "fabric_fixture.h"

struct plan {
	struct mf_topology t;
	struct drain_set before, after;
	bool *broken;
};

static struct drain_set new_set(const struct mf_topology *t)
{
	uint32_t evs = mf_ev_count(t);
	struct drain_set set = {t->n_hosts, evs, calloc((size_t)t->n_hosts * evs, 1)};

	assert_non_null(set.set);
	return set;
}

static struct plan plan_of(const char *name)
{
	struct plan p = {.t = fabric(name)};

	p.before = new_set(&p.t);
	p.after = new_set(&p.t);
	p.broken = calloc(p.t.n_links, sizeof(*p.broken));
	assert_non_null(p.broken);
	return p;
}

static void plan_free(struct plan *p)
{
	free(p->before.set);
	free(p->after.set);
	free(p->broken);
}

static void drain(struct plan *p, const char *name)
{
	struct mf_target part = fabric_part(&p->t, name);

	drain_set_part(&p->t, &part, &p->after);
}

static uint32_t count(const struct drain_set *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->hosts * set->evs; i++)
		n += set->set[i];
	return n;
}

static bool ends(const struct plan *p, uint32_t src, uint32_t dst)
{
	uint32_t s, d;

	return drain_set_ends(&p->t, &p->before, &p->after, p->broken, &s, &d) && s == src &&
	       d == dst;
}

static bool ends_none(const struct plan *p)
{
	uint32_t s, d;

	return !drain_set_ends(&p->t, &p->before, &p->after, p->broken, &s, &d);
}

TEST(drain_set_part, adds_what_each_host_sends_over_it)
{
	struct plan p = plan_of("lab");

	drain(&p, "plane1.t1-0");
	assert_u_eq(count(&p.after), 8);
	/* A cable of that T1 takes nothing more. */
	drain(&p, "plane1.t0-1.t1-0");
	assert_u_eq(count(&p.after), 8);
	drain(&p, "plane2.t0-1");
	assert_u_eq(count(&p.after), 8 + 16);
	plan_free(&p);
}

TEST(drain_same_part, a_cable_from_either_end)
{
	struct mf_topology t = fabric("lab");
	struct mf_target a = fabric_part(&t, "plane1.t0-0.t1-1"),
			 b = fabric_part(&t, "plane1.t1-1.t0-0");
	struct mf_target c = fabric_part(&t, "plane1.t0-0.u1"),
			 d = fabric_part(&t, "plane1.t0-0.u0");
	struct mf_target sw = fabric_part(&t, "plane1.t0-0"), plane = fabric_part(&t, "plane1");
	struct mf_target tr = fabric_part(&t, "plane1.t0-0.transceiver0"),
			 host = fabric_part(&t, "host0");

	assert_true(drain_same_part(&t, &a, &b) && drain_same_part(&t, &a, &c));
	assert_false(drain_same_part(&t, &a, &d));
	assert_true(drain_same_part(&t, &sw, &sw));
	assert_false(drain_same_part(&t, &sw, &plane) || drain_same_part(&t, &sw, &tr) ||
		     drain_same_part(&t, &host, &plane));
}

TEST(drain_set_ends, the_last_evs_of_a_pair)
{
	struct plan p = plan_of("tiny");

	drain(&p, "plane0");
	drain(&p, "plane1.t1-1");
	assert_true(ends_none(&p));
	drain(&p, "plane1.t1-0");
	assert_true(ends(&p, 0, 1));
	plan_free(&p);
}

/* What is broken takes EVs as a denial does, but only of pairs whose paths meet it. */
TEST(drain_set_ends, what_is_broken_counts)
{
	struct plan p = plan_of("tiny");
	uint32_t cable = mf_link_t0_t1(&p.t, 1, 0, 0, false);

	drain(&p, "plane0");
	drain(&p, "plane1.t1-1");
	p.broken[cable] = true;
	assert_true(ends(&p, 0, 2));
	/* In either direction: answers come the other way. */
	p.broken[cable] = false;
	p.broken[mf_link_reverse(cable)] = true;
	assert_true(ends(&p, 0, 2));
	plan_free(&p);
}

TEST(drain_set_ends, who_had_none_loses_none)
{
	struct plan p = plan_of("tiny");

	for (uint32_t plane = 0; plane < 2; plane++)
		p.broken[mf_link_host_t0(&p.t, plane, 3, false)] = true;
	drain(&p, "plane0");
	assert_true(ends_none(&p));
	/* A pair of other hosts. */
	memset(p.before.set, 1, p.before.evs);
	memset(p.after.set, 1, p.after.evs);
	assert_true(ends_none(&p));
	memset(p.after.set + p.after.evs, 1, p.after.evs);
	assert_true(ends(&p, 1, 0));
	plan_free(&p);
}
