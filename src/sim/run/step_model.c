/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_model.c - from event to event: a fault comes, one is repaired, the job has done what it was
 * at.
 * See step_model.h.
 */
#include "sim/run/step_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "sim/kernel/common.h"
#include "sim/kernel/random.h"

#define NEVER UINT64_MAX

/* What the job is at. */
enum doing {
	WORKING,
	STALLED,
	SAVING,
	RESTARTING,
};

/* A fault that lasts; the number of its end is its class. */
struct lasting {
	struct ms_heap_key until; /* ns */
};

struct trial {
	const struct ms_steps_cfg *c;
	struct ms_steps_result *r;
	struct mb_prng prng;
	uint64_t now_ns, next_fault_ns, over_ns; /* over: what it is at, but work */
	enum doing doing;
	uint64_t every_ns;
	uint64_t done_ns, kept_ns; /* work: in all, and at the last checkpoint */
	/* Since the last checkpoint: where time went that an interruption would waste. */
	uint64_t slow_ns, stalled_ns, saving_ns;
	uint32_t slow;			 /* pace now */
	MS_GROW(struct lasting) lasting; /* a heap */
	uint32_t count[MS_STEPS_CLASSES];
	double mean_gap_ns;
};

/* ---- rates ---- */

static double fault_rate(const struct ms_steps_cfg *c, const struct ms_steps_class *k)
{
	return k->per_gpu * c->gpus / k->mtbf_ns;
}

/* The share of a class that interrupts the job: outages that last longer than it waits. */
static double interrupts_job(const struct ms_steps_class *k)
{
	if (k->interrupts)
		return 1;
	if (k->dies_ns == 0 || k->outage_ns <= k->dies_ns || k->repair_ns == 0)
		return 0;
	return exp(-(double)k->dies_ns / (double)k->repair_ns);
}

double ms_steps_mtbi_ns(const struct ms_steps_cfg *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->n_classes; i++)
		sum += fault_rate(c, &c->classes[i]) * interrupts_job(&c->classes[i]);
	return sum > 0 ? 1 / sum : HUGE_VAL;
}

uint64_t ms_steps_best_ns(const struct ms_steps_cfg *c)
{
	double mtbi = ms_steps_mtbi_ns(c), best;

	if (isinf(mtbi))
		return c->horizon_ns;
	best = sqrt(2 * (double)c->checkpoint_ns * mtbi);
	if (best > (double)c->horizon_ns)
		return c->horizon_ns;
	return best > (double)c->checkpoint_ns ? (uint64_t)best : c->checkpoint_ns + 1;
}

double ms_steps_daly(const struct ms_steps_cfg *c)
{
	double mtbi = ms_steps_mtbi_ns(c);
	double work =
		(double)(c->checkpoint_every_ns ? c->checkpoint_every_ns : ms_steps_best_ns(c));
	double save = (double)c->checkpoint_ns;

	if (isinf(mtbi))
		return work / (work + save);
	return work / (mtbi * exp((double)c->restart_ns / mtbi) * expm1((work + save) / mtbi));
}

const char *ms_steps_check(const struct ms_steps_cfg *c)
{
	double sum = 0;

	if (c->n_classes > MS_STEPS_CLASSES)
		return "more than 32 classes of faults";
	if (c->gpus == 0 || c->horizon_ns == 0)
		return "no GPUs, or no time";
	for (uint32_t i = 0; i < c->n_classes; i++) {
		if (!(c->classes[i].mtbf_ns > 0) || !(c->classes[i].per_gpu >= 0))
			return "a rate that is negative or no number";
		if (c->classes[i].slow < MS_STEPS_ONE)
			return "a fault with which steps are faster";
		sum += fault_rate(c, &c->classes[i]);
	}
	if (sum * (double)c->horizon_ns > (double)MS_STEPS_FAULTS_MAX)
		return "more than a hundred million faults";
	return NULL;
}

/* ---- faults that last ---- */

/* The pace that the worst of the faults that last leaves. */
static void set_pace(struct trial *t)
{
	t->slow = MS_STEPS_ONE;
	for (uint32_t i = 0; i < t->c->n_classes; i++)
		if (t->count[i] > 0 && t->c->classes[i].slow > t->slow)
			t->slow = t->c->classes[i].slow;
}

static double draw_fault(struct trial *t)
{
	return (double)ms_exponential_unit(&t->prng) / 4294967296.0;
}

static void draw_next_fault(struct trial *t)
{
	double gap = t->mean_gap_ns * draw_fault(t);

	t->next_fault_ns = gap < (double)(NEVER / 2) ? t->now_ns + (uint64_t)gap : NEVER;
}

static uint32_t draw_class(struct trial *t)
{
	double left = (double)(mb_prng_u64(&t->prng) >> 11) / 9007199254740992.0 / t->mean_gap_ns;
	uint32_t i = 0;

	while (i + 1 < t->c->n_classes && left >= fault_rate(t->c, &t->c->classes[i]))
		left -= fault_rate(t->c, &t->c->classes[i++]);
	return i;
}

/* ---- the job ---- */

static void stall_job(struct trial *t, uint64_t ns)
{
	if (ns == 0 || t->doing == RESTARTING || t->doing == SAVING)
		return;
	if (t->doing == STALLED && t->over_ns >= t->now_ns + ns)
		return;
	t->doing = STALLED;
	t->over_ns = t->now_ns + ns;
}

/* REQ(sim.steps.theory) What was done since the last checkpoint is lost, with all the time it
 * took. */
static void interrupt_job(struct trial *t)
{
	t->r->interruptions++;
	t->r->lost_ns += t->done_ns - t->kept_ns + t->slow_ns + t->stalled_ns + t->saving_ns;
	t->done_ns = t->kept_ns;
	t->slow_ns = t->stalled_ns = t->saving_ns = 0;
	t->doing = RESTARTING;
	t->over_ns = t->now_ns + t->c->restart_ns;
}

static void save_checkpoint(struct trial *t)
{
	t->kept_ns = t->done_ns;
	t->r->slow_ns += t->slow_ns;
	t->r->stalled_ns += t->stalled_ns;
	t->r->saving_ns += t->saving_ns;
	t->slow_ns = t->stalled_ns = t->saving_ns = 0;
}

/* When work comes to the next checkpoint, at this pace. */
static uint64_t work_over_ns(const struct trial *t)
{
	double left = (double)(t->every_ns - (t->done_ns - t->kept_ns));

	return t->now_ns + (uint64_t)ceil(left * t->slow / MS_STEPS_ONE);
}

static void advance_time(struct trial *t, uint64_t until_ns)
{
	uint64_t ns = until_ns - t->now_ns, work, left = t->every_ns - (t->done_ns - t->kept_ns);

	t->now_ns = until_ns;
	switch (t->doing) {
	case WORKING:
		work = (uint64_t)((double)ns * MS_STEPS_ONE / t->slow + 0.5);
		work = work < left ? work : left;
		work = work < ns ? work : ns;
		t->done_ns += work;
		t->slow_ns += ns - work;
		break;
	case STALLED:
		t->stalled_ns += ns;
		break;
	case SAVING:
		t->saving_ns += ns;
		break;
	case RESTARTING:
		t->r->restarting_ns += ns;
		break;
	}
}

/* The job has done what it was at. */
static void go_on(struct trial *t)
{
	if (t->doing == WORKING) {
		t->doing = SAVING;
		t->over_ns = t->now_ns + t->c->checkpoint_ns;
		return;
	}
	if (t->doing == SAVING)
		save_checkpoint(t);
	t->doing = WORKING;
}

/* ---- events ---- */

static bool fault_comes(struct trial *t)
{
	uint32_t kind = draw_class(t);
	const struct ms_steps_class *k = &t->c->classes[kind];
	uint64_t lasts = (uint64_t)((double)k->repair_ns * draw_fault(t));
	const struct lasting one = {{t->now_ns + lasts, kind}};
	uint64_t outage = ms_min(k->outage_ns, lasts);

	t->r->faults++;
	draw_next_fault(t);
	if (k->interrupts) {
		interrupt_job(t);
		return true;
	}
	if (!ms_heap_add(&t->lasting, &one))
		return false;
	t->count[kind]++;
	set_pace(t);
	if (k->dies_ns > 0 && outage > k->dies_ns)
		interrupt_job(t);
	else
		stall_job(t, k->onset_ns + outage);
	return true;
}

static void fault_goes(struct trial *t)
{
	uint64_t kind = ms_heap_take(&t->lasting)->until.number;

	t->count[kind]--;
	set_pace(t);
	stall_job(t, t->c->classes[kind].recovery_ns);
}

static bool advance_step(struct trial *t)
{
	uint64_t repaired = t->lasting.n > 0 ? t->lasting.at[0].until.key : NEVER;
	uint64_t over = t->doing == WORKING ? work_over_ns(t) : t->over_ns;
	uint64_t at = t->c->horizon_ns;

	at = over < at ? over : at;
	at = repaired < at ? repaired : at;
	at = t->next_fault_ns < at ? t->next_fault_ns : at;
	advance_time(t, at);
	if (at == t->c->horizon_ns)
		return true;
	if (at == t->next_fault_ns)
		return fault_comes(t);
	if (at == repaired)
		fault_goes(t);
	else
		go_on(t);
	return true;
}

bool ms_steps_run(const struct ms_steps_cfg *c, struct ms_steps_result *r)
{
	struct trial t = {.c = c, .r = r, .slow = MS_STEPS_ONE, .doing = WORKING};
	double sum = 0;
	bool ok = ms_steps_check(c) == NULL;

	memset(r, 0, sizeof(*r));
	r->horizon_ns = c->horizon_ns;
	t.every_ns = c->checkpoint_every_ns ? c->checkpoint_every_ns : ms_steps_best_ns(c);
	for (uint32_t i = 0; ok && i < c->n_classes; i++)
		sum += fault_rate(c, &c->classes[i]);
	t.mean_gap_ns = sum > 0 ? 1 / sum : HUGE_VAL;
	mb_prng_init(&t.prng, c->seed);
	if (ok)
		draw_next_fault(&t);
	while (ok && t.now_ns < c->horizon_ns)
		ok = advance_step(&t);
	save_checkpoint(&t);
	r->useful_ns = t.kept_ns;
	ms_grow_free(&t.lasting);
	return ok;
}
