/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random fabrics of which parts become sick and well at random, operators who deny and allow at
 * random, daemons that are killed: whatever happens, a policy keeps its waits and its cap, never
 * touches what operators denied, and gives everything back in the end.
 */
#include "random_fabric.h"

#include "fabric/fabric_path.h"
#include "map/map_policy.h"

#include <stdlib.h>
#include <string.h>

#define STEP_NS UINT64_C(100000000)
#define AFTER_STEPS 5u
#define BACK_STEPS 40u
#define SICK_MAX 12u

struct world {
	struct mf_topology t;
	struct mm_policy p;
	uint32_t choices, share;
	uint8_t *ours, *theirs,
		*out; /* by choice: denied by the policy, by operators, by anybody */
	struct mm_sick sick[SICK_MAX];
	uint64_t sick_for[SICK_MAX]; /* steps; 0: well */
	uint64_t step, changed_at;
};

static struct mm_part random_part(const struct mf_topology *t, uint32_t host)
{
	uint32_t kind = pick(0, 5), t0 = mf_host_t0(t, host), plane = pick(0, t->cfg.planes - 1);
	uint32_t up = pick(0, t->cfg.t1s - 1);

	switch (kind) {
	case 0:
		return (struct mm_part){.kind = MM_PLANE, .id = plane};
	case 1:
		return (struct mm_part){.kind = MM_SWITCH,
					.id = mf_node_switch(t, MF_T0, plane, t0)};
	case 2:
		return (struct mm_part){.kind = MM_CABLE,
					.id = mf_link_host_t0(t, plane, host, false) >> 1};
	case 3:
		return (struct mm_part){.kind = MM_CABLE, .id = pick(0, t->n_links / 2 - 1)};
	default:
		return (struct mm_part){.kind = MM_CABLE,
					.id = mf_link_t0_t1(t, plane, t0, up, false) >> 1};
	}
}

/* Which of the world's it is; SICK_MAX: none. */
static uint32_t find(const struct world *w, const struct mm_part *part)
{
	uint32_t i = 0;

	while (i < SICK_MAX &&
	       (w->sick[i].part.kind != part->kind || w->sick[i].part.id != part->id))
		i++;
	return i;
}

static void begin_policy(struct world *w, uint32_t host)
{
	const struct mm_policy_cfg cfg = {host, AFTER_STEPS * STEP_NS, BACK_STEPS * STEP_NS,
					  w->share};

	mm_policy_init(&w->p, &w->t, &cfg);
}

static void init(struct world *w)
{
	*w = (struct world){.share = pick(1, MM_POLICY_SHARE_MAX)};
	random_topology(&w->t);
	begin_policy(w, pick(0, w->t.n_hosts - 1));
	w->choices = mf_ev_count(&w->t);
	w->ours = calloc(w->choices, 1);
	w->theirs = calloc(w->choices, 1);
	w->out = calloc(w->choices, 1);
	for (uint32_t i = 0; i < SICK_MAX; i++) {
		w->sick[i].part = random_part(&w->t, w->p.cfg.host);
		/* A part that is there twice is never sick as the second. */
		w->sick[i].kind = find(w, &w->sick[i].part) < i
					  ? MM_REORDERING
					  : (enum mm_kind)pick(0, MM_KINDS - 1);
	}
}

static void sum_up(struct world *w)
{
	for (uint32_t i = 0; i < w->choices; i++)
		w->out[i] = w->ours[i] || w->theirs[i];
}

/* What is left of each plane, and how many planes have something left. */
static uint32_t left_of(const struct world *w, uint32_t plane)
{
	uint32_t n = 0;

	for (uint32_t i = plane; i < w->choices; i += w->t.cfg.planes)
		n += !w->out[i];
	return n;
}

/* A plane of which something is left has the share that must be. */
static void check_cap(const struct world *w, const struct mm_part *part, const uint8_t *before)
{
	uint32_t planes = w->t.cfg.planes, all = w->choices / planes, gone = 0, took_plane = 0;
	uint32_t most = all * w->share / 100, one = all / w->t.cfg.t1s, planes_most;

	most = most > one ? most : one;
	planes_most = planes * w->share / 100 > 1 ? planes * w->share / 100 : 1;
	for (uint32_t plane = 0; plane < planes; plane++) {
		uint32_t left = left_of(w, plane), added = 0, was_left = 0;

		for (uint32_t i = plane; i < w->choices; i += planes) {
			added += w->out[i] && !before[i];
			was_left += !before[i];
		}
		gone += left == 0;
		took_plane += left == 0 && was_left;
		if (added && !mm_policy_takes_plane(&w->p, part, plane) && all - left > most)
			fail_msg("%u of %u choices of plane %u, at %u %%", all - left, all, plane,
				 w->share);
	}
	if (took_plane && (gone >= planes || gone > planes_most))
		fail_msg("%u of %u planes, at %u %%", gone, planes, w->share);
}

static bool is_kind_denied(enum mm_kind kind)
{
	return kind == MM_DEAD || kind == MM_LOSSY || kind == MM_CORRUPTING ||
	       kind == MM_FLAPPING || kind == MM_WRONG_CABLE;
}

static uint64_t sick_for(const struct world *w, const struct mm_part *part)
{
	uint32_t i = find(w, part);

	return i < SICK_MAX && is_kind_denied(w->sick[i].kind) ? w->sick_for[i] : 0;
}

static void obey(struct world *w, struct mm_policy_part *part)
{
	bool denies = part->state != MM_POLICY_DENIED;
	uint8_t *before = malloc(w->choices);
	uint32_t changed = 0;

	memcpy(before, w->out, w->choices);
	for (uint32_t i = 0; i < w->choices; i++) {
		if (!mm_policy_touches(&w->p, &part->sick.part, mf_ev_nth(&w->t, i)))
			continue;
		changed += w->ours[i] != denies;
		w->ours[i] = denies && !w->theirs[i];
	}
	sum_up(w);
	if (denies) {
		assert_true(changed > 0);
		assert_true(sick_for(w, &part->sick.part) > AFTER_STEPS);
		check_cap(w, &part->sick.part, before);
	} else {
		assert_u_eq(sick_for(w, &part->sick.part), 0);
	}
	free(before);
	mm_policy_done(&w->p, part, true, w->step * STEP_NS);
}

static size_t list_sick(const struct world *w, struct mm_sick list[SICK_MAX])
{
	size_t n = 0;

	for (uint32_t i = 0; i < SICK_MAX; i++)
		if (w->sick_for[i])
			list[n++] = w->sick[i];
	return n;
}

static void step(struct world *w)
{
	struct mm_sick list[SICK_MAX];
	struct mm_policy_part *part;

	w->step++;
	mm_policy_see(&w->p, list, list_sick(w, list), false, w->step * STEP_NS);
	sum_up(w);
	for (uint32_t i = 0; (part = mm_policy_due(&w->p, w->out, w->step * STEP_NS)); i++) {
		assert_true(i < 2 * MM_POLICY_PARTS);
		obey(w, part);
	}
	for (uint32_t i = 0; i < SICK_MAX; i++)
		w->sick_for[i] += w->sick_for[i] > 0;
}

/* Operators deny what nobody has, and give back what is theirs. */
static void disturb(struct world *w)
{
	uint32_t i = pick(0, SICK_MAX - 1), c = pick(0, w->choices - 1);

	if (test_rand_chance(1, 8))
		w->sick_for[i] = w->sick_for[i] ? 0 : 1;
	if (test_rand_chance(1, 50))
		w->theirs[c] = w->theirs[c] ? 0 : !w->ours[c];
}

static void fini(struct world *w)
{
	free(w->ours);
	free(w->theirs);
	free(w->out);
}

/* Two policies' denials differ by the part alone: those of one are given back whole. */
static void kill_and_restart(struct world *w)
{
	struct mm_policy was = w->p;

	begin_policy(w, was.cfg.host);
	for (uint32_t i = 0; i < was.n_parts; i++)
		if (was.part[i].state == MM_POLICY_DENIED)
			assert_true(mm_policy_restore(&w->p, &was.part[i].sick.part,
						      w->step * STEP_NS));
}

static void run_world(void)
{
	struct world w;
	uint8_t *theirs;

	init(&w);
	for (uint32_t i = 0; i < 600; i++) {
		disturb(&w);
		if (test_rand_chance(1, 200))
			kill_and_restart(&w);
		step(&w);
	}
	memset(w.sick_for, 0, sizeof(w.sick_for));
	theirs = malloc(w.choices);
	memcpy(theirs, w.theirs, w.choices);
	for (uint32_t i = 0; i < 17 * BACK_STEPS; i++)
		step(&w);
	for (uint32_t i = 0; i < w.choices; i++)
		assert_false(w.ours[i]);
	assert_bytes_eq(w.theirs, theirs, w.choices);
	free(theirs);
	fini(&w);
}

TEST(mm_policy, keeps_its_waits_and_its_cap)
{
	for (uint32_t i = 0; i < test_long_rounds(60); i++)
		run_world();
}
