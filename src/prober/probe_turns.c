/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_turns.c - see probe_turns.h. */
#include "prober/probe_turns.h"

#include "prober/probe_spare.h"

/*
 * A train in each step fills half of what is slow, beside the plan's probes, so it is every other
 * step; but for some at first, for half a dozen trains decide.
 */
#define EVERY 2u
#define EACH_STEPS 10u
/* A kind that has had fewer turns, times this, than the others is next. */
static const uint32_t weight[PROBE_TURN_KINDS] = {
	[PROBE_TURN_SHORT] = 2, [PROBE_TURN_PEER] = 1, [PROBE_TURN_ROUND] = 2};

static enum probe_turn_kind kind_of(const struct probe_stream *s)
{
	if (s->of.peer != MM_NO_HOST)
		return PROBE_TURN_PEER;
	return probe_spare_is_short(&s->of) ? PROBE_TURN_SHORT : PROBE_TURN_ROUND;
}

/* ---- which kind a step has ---- */

static bool has_something_to_tell(const struct probe_host_cfg *cfg, const struct mm_doubts *doubts,
				  enum probe_turn_kind kind, uint64_t step)
{
	if (kind == PROBE_TURN_PEER)
		return cfg->t->cfg.hosts_per_t0 > 1 &&
		       mm_doubts_any_slow(doubts, cfg->t, true, step);
	return kind == PROBE_TURN_SHORT || mm_doubts_any_slow(doubts, cfg->t, false, step);
}

static void decide(struct probe_turn *turn, const struct probe_host_cfg *cfg,
		   const struct mm_doubts *doubts, uint64_t step)
{
	uint64_t since = doubts->since[MM_DOUBT_SLOW];
	uint32_t least = UINT32_MAX;

	if (turn->step == step + 1)
		return;
	if (turn->since != since || turn->step == 0)
		*turn = (struct probe_turn){.since = since};
	turn->step = step + 1;
	turn->kind = PROBE_TURN_KINDS;
	if (step - since >= EACH_STEPS && (step - since) % EVERY)
		return;
	for (enum probe_turn_kind k = 0; k < PROBE_TURN_KINDS; k++) {
		uint32_t had = turn->had[k] * weight[k];

		if (had >= least || !has_something_to_tell(cfg, doubts, k, step))
			continue;
		least = had;
		turn->kind = k;
	}
	turn->had[turn->kind]++;
}

/* ---- what a host sends in it ---- */

struct taking {
	const struct probe_host_cfg *cfg;
	const struct probe_turn *turn;
	uint32_t turns; /* of the kind, before */
	uint32_t asked; /* the neighbour */
};

/* Hosts of a T0 have a number each: which of them share in a link is the plan's to say. */
static bool is_turn_of(const struct taking *t, uint32_t n)
{
	return (t->cfg->host + n) % t->cfg->t->cfg.hosts_per_t0 == 0;
}

static bool goes_up_by(const struct taking *t, const struct probe_stream *s, uint32_t uplink)
{
	uint32_t t0 = mf_host_t0(t->cfg->t, t->cfg->host);

	return s->of.link[1] == mf_link_t0_t1(t->cfg->t, s->plane, t0, uplink, false);
}

/* Only by one of the uplinks that are the host's in this turn, or to the T0. */
static bool may_go_up(const struct taking *t, const struct probe_stream *s)
{
	for (uint32_t up = 0; up < t->cfg->t->cfg.t1s && s->of.links > 2; up++)
		if (goes_up_by(t, s, up))
			return is_turn_of(t, up + t->turns);
	return true;
}

static bool may_go_round(const struct taking *t, const struct probe_stream *s)
{
	const struct mf_topology *fabric = t->cfg->t;
	bool is_square = fabric->cfg.t1s == 2 && fabric->n_t0s == 2;
	uint32_t at_once = is_square ? 2 : 1, n = t->turns / at_once;
	uint32_t groups = fabric->n_t0s / at_once;

	if (is_square && !goes_up_by(t, s, t->turns % 2))
		return false;
	return mf_host_t0(fabric, t->cfg->host) / at_once == n % groups &&
	       is_turn_of(t, n / groups);
}

static bool may_send(const struct taking *t, const struct probe_stream *s)
{
	if (t->turn->kind == PROBE_TURN_PEER)
		return s->of.peer == t->asked;
	return t->turn->kind == PROBE_TURN_SHORT ? may_go_up(t, s) : may_go_round(t, s);
}

/* The neighbour that a host asks in a turn; all of a T0 go by the same distance. */
static uint32_t asked_in(const struct probe_host_cfg *cfg, uint32_t turn)
{
	uint32_t n = cfg->t->cfg.hosts_per_t0, first = cfg->host / n * n;

	return n < 2 ? cfg->host : first + (cfg->host - first + 1 + turn % (n - 1)) % n;
}

static bool tells(const struct probe_stream *s, const struct mm_doubts *doubts, uint64_t step)
{
	const struct mm_route_of of = probe_train_of(s);

	return mm_doubts_has(doubts, &of, MM_DOUBT_SLOW, step);
}

struct probe_stream *probe_turns_take(uint32_t next[PROBE_TURN_KINDS],
				      const struct probe_host_cfg *cfg,
				      const struct probe_streams *streams,
				      struct probe_common *common, uint64_t step)
{
	struct taking t = {.cfg = cfg, .turn = &common->turn};

	if (common->doubts.until[MM_DOUBT_SLOW] <= step)
		return NULL;
	decide(&common->turn, cfg, &common->doubts, step);
	if (t.turn->kind == PROBE_TURN_KINDS)
		return NULL;
	t.turns = t.turn->had[t.turn->kind] - 1;
	t.asked = asked_in(cfg, t.turns);
	for (uint32_t i = 0; i < streams->room; i++) {
		uint32_t number = (next[t.turn->kind] + i) % streams->room;
		struct probe_stream *s = &streams->stream[number];

		if (s->kind != PROBE_ROUTE || kind_of(s) != t.turn->kind || !may_send(&t, s) ||
		    !tells(s, &common->doubts, step))
			continue;
		next[t.turn->kind] = number + 1;
		return s;
	}
	return NULL;
}
