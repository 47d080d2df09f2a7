/* SPDX-License-Identifier: BSD-2-Clause */
/* map_hour.c - an hour of faults before the map: see map_hour.h. */
#include "study/map_hour.h"

#include "sim/scenario/scenario_keys.h"
#include "study/map_deny.h"
#include "study/map_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS UINT64_C(1000000)
#define S_NS (1000 * MS_NS)
/* A fault is watched closely for so long, or until it is named; then now and then. */
#define CLOSE_DEAD_NS S_NS
#define CLOSE_LOSSY_NS (5 * S_NS)
/* After its end a fault is heard of until the map has seen that all is well. */
#define AFTER_NS (15 * S_NS)
/*
 * And what is named because of it is right for so long: counts are kept for 20 s, what was found in
 * them is taken back as long after, and five more are to spare.
 */
#define REMEMBERED_NS (45 * S_NS)

/* Another part than the one at fault that was named, so that it is counted once. */
struct named {
	struct mm_part part;
	uint64_t last_ns;
};
#define NAMED_MAX 256u

/* What a plane's map said last. */
struct said {
	struct mm_sick sick[STUDY_MAP_SICK_MAX];
	size_t n;
	bool cut; /* there was no room for all */
};

struct hour {
	const struct study_map_cfg *cfg;
	struct study_map_result *r;
	struct study_map_watch w;
	struct study_map_deny deny;
	struct said *said;		  /* of each plane */
	struct mm_sick *sick;		  /* all of it */
	struct study_map_reporters *list; /* of each fault */
	uint32_t begun, forgotten;	  /* faults[forgotten .. begun - 1] are being heard of */
	struct named named[NAMED_MAX];
	uint32_t n_named;
	uint64_t now_ns, next_lost_ns;
	uint32_t step;
	struct mb_prng background;
};

static const struct study_map_class *class_of(const struct hour *h, const struct study_map_fault *f)
{
	return &h->cfg->classes[f->class];
}

static bool is_heard(const struct hour *h, uint32_t i)
{
	return h->now_ns < h->r->fault[i].until_ns + AFTER_NS;
}

/* Whether a fault is new: its reports come with every step. */
static bool is_close(const struct hour *h, uint32_t i)
{
	const struct study_map_fault *f = &h->r->fault[i];
	bool dead = class_of(h, f)->loss_ppm == MS_SHARE_ONE;

	return !f->named_ns && h->now_ns < f->until_ns &&
	       h->now_ns < f->at_ns + (dead ? CLOSE_DEAD_NS : CLOSE_LOSSY_NS);
}

/* ---- what the map says ---- */

static bool touches(const struct mf_topology *t, const struct mm_part *part,
		    const struct mm_part *fault)
{
	uint32_t link;

	for (uint32_t i = 0; (link = mm_part_link(t, fault, i)) != MF_LINK_NONE; i++)
		if (mm_part_has(t, part, link))
			return true;
	return false;
}

/* What is named, and is no part at fault: once for as long as it goes on. */
static void count_wrong(struct hour *h, const struct mm_part *part, bool near_one)
{
	struct named *oldest = &h->named[0];

	for (uint32_t i = 0; i < h->n_named; i++) {
		struct named *n = &h->named[i];

		if (mm_part_same(&n->part, part) && h->now_ns - n->last_ns < REMEMBERED_NS) {
			n->last_ns = h->now_ns;
			return;
		}
		if (n->last_ns < oldest->last_ns)
			oldest = n;
	}
	if (h->n_named < NAMED_MAX)
		oldest = &h->named[h->n_named++];
	*oldest = (struct named){*part, h->now_ns};
	h->r->misnamed += near_one;
	h->r->false_accusations += !near_one;
}

/* Of a part that failed more than once the name is of the last fault, and of those that go on. */
static void take_named(struct hour *h, const struct mm_sick *s)
{
	bool near_one = false, right = false;

	for (uint32_t i = h->begun; i > h->forgotten; i--) {
		struct study_map_fault *f = &h->r->fault[i - 1];

		if (h->now_ns > f->until_ns + REMEMBERED_NS)
			continue;
		if (f->part.kind == s->part.kind && f->part.id == s->part.id) {
			if (!f->named_ns && (!right || h->now_ns < f->until_ns))
				f->named_ns = h->now_ns + STUDY_MAP_WAIT_NS;
			right = true;
		} else {
			near_one |= !right && touches(h->cfg->t, &s->part, &f->part);
		}
	}
	if (!right)
		count_wrong(h, &s->part, near_one);
}

static void judge(struct hour *h, uint32_t plane)
{
	struct mm_sick sick[STUDY_MAP_SICK_MAX];
	size_t n = mm_map_judge(h->w.map[plane], h->now_ns, sick, STUDY_MAP_SICK_MAX);
	struct said *said = &h->said[plane];

	h->r->judgements++;
	said->n = 0;
	said->cut = n == STUDY_MAP_SICK_MAX;
	/* Routes of neighbours cross two planes; what is of the other one its own map says. */
	for (size_t i = 0; i < n; i++)
		if (sick[i].part.kind == MM_HOST || sick[i].part.kind == MM_PLANE ||
		    study_map_plane(h->cfg->t, &sick[i].part) == plane) {
			take_named(h, &sick[i]);
			said->sick[said->n++] = sick[i];
		}
}

/* ---- what hosts do about it ---- */

static uint32_t fault_of(const void *ctx, const struct mm_part *part)
{
	const struct hour *h = ctx;

	for (uint32_t i = h->begun; i > h->forgotten; i--) {
		const struct study_map_fault *f = &h->r->fault[i - 1];

		if (f->named_ns && f->part.kind == part->kind && f->part.id == part->id)
			return i - 1;
	}
	return UINT32_MAX;
}

static int deny(struct hour *h)
{
	struct study_map_look look = {.sick = h->sick,
				      .now_ns = h->now_ns + STUDY_MAP_WAIT_NS,
				      .r = h->r,
				      .fault_of = fault_of,
				      .ctx = h};

	for (uint32_t plane = 0; plane < h->cfg->t->cfg.planes; plane++) {
		const struct said *said = &h->said[plane];

		memcpy(h->sick + look.n_sick, said->sick, said->n * sizeof(*said->sick));
		look.n_sick += said->n;
		look.cut |= said->cut || mm_map_is_full(h->w.map[plane]);
	}
	return study_map_deny_see(&h->deny, &look);
}

/* ---- a step ---- */

/* Reports of a plane's faults: those that are new, or all. */
static void report(struct hour *h, uint32_t plane, bool all)
{
	for (uint32_t i = h->forgotten; i < h->begun; i++)
		if (study_map_plane(h->cfg->t, &h->r->fault[i].part) == plane && is_heard(h, i) &&
		    (all || is_close(h, i)))
			h->r->reports += study_map_report(&h->w, &h->list[i], h->step, h->now_ns);
}

static bool any_close(const struct hour *h, uint32_t plane)
{
	for (uint32_t i = h->forgotten; i < h->begun; i++)
		if (study_map_plane(h->cfg->t, &h->r->fault[i].part) == plane && is_close(h, i))
			return true;
	return false;
}

/* The shares that the faults of this moment have links lose; others stay as they are. */
static void apply(struct hour *h, uint32_t i)
{
	const struct study_map_fault *f = &h->r->fault[i];

	study_map_lose(&h->w, &f->part, h->now_ns < f->until_ns ? class_of(h, f)->loss_ppm : 0,
		       false);
}

/* A fault that came or went: first what was before is reported, then it holds. */
static void change(struct hour *h, uint32_t i)
{
	const struct mm_part *part = &h->r->fault[i].part;

	report(h, study_map_plane(h->cfg->t, part), true);
	study_map_lose(&h->w, part, 0, true);
	for (uint32_t k = h->forgotten; k < h->begun; k++)
		apply(h, k);
}

static int begin_faults(struct hour *h)
{
	while (h->begun < h->r->n_faults && h->r->fault[h->begun].at_ns <= h->now_ns) {
		uint32_t i = h->begun;
		int err = study_map_reporters_find(&h->w, &h->r->fault[i].part, &h->list[i]);

		if (err)
			return err;
		h->begun++;
		change(h, i);
		study_map_reporters_begin(&h->w, &h->list[i], h->step);
	}
	return 0;
}

static void end_faults(struct hour *h)
{
	for (uint32_t i = h->forgotten; i < h->begun; i++) {
		uint64_t until = h->r->fault[i].until_ns;

		if (until <= h->now_ns && until + MM_PROBE_STEP_NS > h->now_ns)
			change(h, i);
		if (!is_heard(h, i))
			study_map_reporters_free(&h->list[i]);
	}
	while (h->forgotten < h->begun &&
	       h->now_ns > h->r->fault[h->forgotten].until_ns + REMEMBERED_NS) {
		study_map_reporters_free(&h->list[h->forgotten]);
		h->forgotten++;
	}
}

/* Probes that are lost anywhere where nothing is wrong: each is reported alone. */
static void lose_some(struct hour *h)
{
	uint64_t between =
		h->cfg->background_ppb
			? (uint64_t)(1e9 / h->cfg->background_ppb * (double)MM_PROBE_STEP_NS /
				     ((double)MM_PROBE_PAIR * (double)h->w.fabric.routes))
			: 0;

	while (between && h->next_lost_ns <= h->now_ns) {
		study_map_lost_one(&h->w, mb_prng_below(&h->background, h->w.fabric.routes),
				   h->step, h->now_ns);
		h->next_lost_ns += 1 + ms_exponential(&h->background, between);
	}
}

static int one_step(struct hour *h)
{
	int err;

	end_faults(h);
	err = begin_faults(h);
	if (err)
		return err;
	lose_some(h);
	for (uint32_t plane = 0; plane < h->cfg->t->cfg.planes; plane++) {
		bool slow = (h->step + plane) % STUDY_MAP_SLOW_STEPS == 0;

		if (!slow && !any_close(h, plane))
			continue;
		report(h, plane, slow);
		judge(h, plane);
	}
	return h->step % STUDY_MAP_DENY_STEPS ? 0 : deny(h);
}

static int go_through(struct hour *h)
{
	int err = 0;

	/* The map's clock does not begin at zero, lest a count look as if it were before. */
	for (h->step = 1; !err; h->step++) {
		h->now_ns = h->step * MM_PROBE_STEP_NS;
		if (h->now_ns > h->cfg->horizon_ns)
			break;
		h->r->passed_ns = h->now_ns;
		err = one_step(h);
		if (!err && h->step % 100 == 0 && h->cfg->stop && h->cfg->stop())
			err = EINTR;
	}
	return err;
}

static int begin(struct hour *h)
{
	const struct mf_topology *t = h->cfg->t;
	int err = study_map_faults(h->cfg, h->r);

	if (err)
		return err;
	mb_prng_init(&h->background, ms_mix(h->cfg->seed + MS_CLASSES + 1));
	h->list = calloc(h->r->n_faults + (size_t)1, sizeof(*h->list));
	h->said = calloc(t->cfg.planes, sizeof(*h->said));
	h->sick = calloc(t->cfg.planes, sizeof(h->said->sick));
	if (!h->list || !h->said || !h->sick || study_map_deny_init(&h->deny, t))
		return ENOMEM;
	return study_map_watch_init(&h->w, t, h->cfg->watchers, h->cfg->seed);
}

static void end(struct hour *h)
{
	for (uint32_t i = 0; h->list && i < h->r->n_faults; i++)
		study_map_reporters_free(&h->list[i]);
	if (h->w.t)
		study_map_watch_fini(&h->w);
	study_map_deny_fini(&h->deny);
	free(h->sick);
	free(h->said);
	free(h->list);
}

int study_map_hour(const struct study_map_cfg *cfg, struct study_map_result *r)
{
	struct hour *h = calloc(1, sizeof(*h));
	int err;

	*r = (struct study_map_result){0};
	if (!h)
		return ENOMEM;
	h->cfg = cfg;
	h->r = r;
	err = begin(h);
	if (!err) {
		r->routes = h->w.fabric.routes;
		r->routes_most = h->w.fabric.most;
		err = go_through(h);
	}
	end(h);
	free(h);
	return err;
}

void study_map_fini(struct study_map_result *r)
{
	free(r->fault);
	free(r->denial);
	*r = (struct study_map_result){0};
}
