/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_turns.c - see probe_turns.h. */
#include "prober/probe_turns.h"

#include "prober/probe_spare.h"

/*
 * Of the steps in which hosts of a T0 may ask neighbours they take every other one, lest they fill
 * what is slow; but for some at first, for three trains of a neighbour decide.
 */
#define ASK_EVERY 2u
#define ASK_EACH_STEPS 10u

static bool tells(const struct probe_stream *s, const struct mm_doubts *doubts, uint64_t step)
{
	const struct mm_route_of of = probe_train_of(s);

	return s->kind == PROBE_ROUTE && mm_doubts_has(doubts, &of, MM_DOUBT_SLOW, step);
}

static enum probe_turn_kind kind_of(const struct probe_stream *s)
{
	if (s->of.peer != MM_NO_HOST)
		return PROBE_TURN_PEER;
	return probe_spare_is_short(&s->of) ? PROBE_TURN_SHORT : PROBE_TURN_ROUND;
}

static struct probe_stream *take_kind(struct probe_turns *turns,
				      const struct probe_streams *streams,
				      const struct mm_doubts *doubts, uint64_t step)
{
	uint32_t first = turns->next[turns->kind];

	for (uint32_t i = 0; i < streams->room; i++) {
		uint32_t number = (first + i) % streams->room;
		struct probe_stream *s = &streams->stream[number];

		if (kind_of(s) != turns->kind || !tells(s, doubts, step))
			continue;
		turns->next[turns->kind] = number + 1;
		return s;
	}
	return NULL;
}

static struct probe_stream *take_turn(struct probe_turns *turns,
				      const struct probe_streams *streams,
				      const struct mm_doubts *doubts, uint64_t step)
{
	struct probe_stream *s = NULL;

	for (uint32_t i = 0; !s && i < PROBE_TURN_KINDS; i++) {
		s = take_kind(turns, streams, doubts, step);
		turns->kind = (turns->kind + 1) % PROBE_TURN_KINDS;
	}
	return s;
}

/* The neighbour that a host asks in a turn; all of a T0 go by the same distance. */
static uint32_t asked_in(const struct probe_host_cfg *cfg, uint64_t turn)
{
	uint32_t n = cfg->t->cfg.hosts_per_t0, first = cfg->host / n * n;
	uint32_t distance = 1 + (uint32_t)(turn % (n - 1));

	return first + (cfg->host - first + distance) % n;
}

static struct probe_stream *ask(struct probe_turns *turns, const struct probe_streams *streams,
				const struct mm_doubts *doubts, uint64_t step, uint32_t asked)
{
	uint32_t first = turns->next[PROBE_TURN_PEER];

	for (uint32_t i = 0; i < streams->room; i++) {
		uint32_t number = (first + i) % streams->room;
		struct probe_stream *s = &streams->stream[number];

		if (s->of.peer != asked || !tells(s, doubts, step))
			continue;
		turns->next[PROBE_TURN_PEER] = number + 1;
		return s;
	}
	return NULL;
}

struct probe_stream *probe_turns_take(struct probe_turns *turns, const struct probe_host_cfg *cfg,
				      const struct probe_streams *streams,
				      const struct mm_doubts *doubts, uint64_t step)
{
	uint32_t every = probe_spare_turn(cfg), hosts = cfg->t->cfg.hosts_per_t0, at;
	uint64_t of_t0 = step + (uint64_t)(cfg->host / hosts) * (every / 2);

	if (doubts->until[MM_DOUBT_SLOW] <= step)
		return NULL;
	if ((step + cfg->host) % every == 0)
		return take_turn(turns, streams, doubts, step);
	/* From 1 to half of them no host of the T0 has its turn, if all of them share in links. */
	at = (uint32_t)(of_t0 % every);
	if (hosts < 2 || at == 0 || at > every / 2)
		return NULL;
	if (at % ASK_EVERY == 0 && step - doubts->since[MM_DOUBT_SLOW] >= ASK_EACH_STEPS)
		return NULL;
	return ask(turns, streams, doubts, step, asked_in(cfg, of_t0 / every + at));
}
