/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_book.c - see probe_book.h. */
#include "prober/probe_book.h"

#include "base/assert.h"

static struct probe_slot *slot_of(struct probe_book *b, uint32_t seq)
{
	return &b->slot[seq % PROBE_SLOTS];
}

uint32_t probe_book_send(struct probe_book *b, uint64_t nonce, uint64_t step)
{
	uint32_t seq = b->next++;

	mb_assert(b->next - b->settled <= PROBE_SLOTS);
	*slot_of(b, seq) = (struct probe_slot){.nonce = nonce, .step = step, .seq = seq};
	if (b->train_left)
		slot_of(b, seq)->place = (uint8_t)(PROBE_TRAIN + 1 - b->train_left--);
	return seq;
}

void probe_book_train(struct probe_book *b)
{
	b->train_left = PROBE_TRAIN;
}

void probe_book_unsend(struct probe_book *b)
{
	mb_assert(b->next != b->settled);
	b->train_left = 0; /* what did leave of a train is none */
	b->next--;	   /* which hides the slot; one of zeros would be what a forger can guess */
}

bool probe_book_has(const struct probe_book *b, uint32_t seq, uint64_t nonce)
{
	const struct probe_slot *s = &b->slot[seq % PROBE_SLOTS];

	return (int32_t)(seq - b->next) < 0 && s->seq == seq && s->nonce == nonce;
}

enum probe_verdict probe_book_arrive(struct probe_book *b, uint32_t seq, uint64_t nonce, bool whole,
				     uint64_t came_ns)
{
	struct probe_slot *s = slot_of(b, seq);
	bool settled = (int32_t)(seq - b->settled) < 0;
	bool overtaken = (int32_t)(seq - b->newest) < 0;

	if (!probe_book_has(b, seq, nonce))
		return PROBE_FORGED;
	if (s->copies > 1 || (settled && s->copies))
		return PROBE_REPLAYED;
	s->copies++;
	/* Of one that was taken for lost, too, or no other would be waited for. */
	if (overtaken && s->copies == 1 && b->overtaken_step <= s->step)
		b->overtaken_step = s->step + 1;
	if (settled)
		return PROBE_LATE;
	s->damaged = s->damaged || !whole;
	if (s->copies == 2)
		return PROBE_TWICE;
	s->came_ns = came_ns;
	if (b->came_step <= s->step)
		b->came_step = s->step + 1;
	s->overtaken = overtaken;
	if (!overtaken)
		b->newest = seq + 1;
	return PROBE_ANSWERED;
}

static void count(struct mm_counts *c, enum mm_symptom symptom, bool bad)
{
	c->known[symptom]++;
	c->bad[symptom] += bad;
}

/* A train is known when its last one is told and all came back, each once. */
static void count_train(struct mm_counts *c, struct probe_book *b, uint32_t last)
{
	const struct probe_slot *first = slot_of(b, last + 1 - PROBE_TRAIN);
	uint64_t end_ns = slot_of(b, last)->came_ns;

	if (!b->slow_ns || slot_of(b, last)->place != PROBE_TRAIN)
		return;
	for (uint32_t i = 0; i < PROBE_TRAIN; i++) {
		const struct probe_slot *s = slot_of(b, last - i);

		if (s->copies != 1 || !s->came_ns)
			return;
	}
	/* A clock that was set back meanwhile says nothing. */
	if (end_ns >= first->came_ns)
		count(c, MM_SLOWED, end_ns - first->came_ns > b->slow_ns);
}

/* Of one that came back all is known but whether others are lost. */
static void tell(struct mm_counts *c, struct probe_book *b, uint32_t seq)
{
	struct probe_slot *s = slot_of(b, seq);

	s->told = true;
	count(c, MM_CORRUPTED, s->damaged);
	count(c, MM_DUPLICATED, s->copies > 1);
	count(c, MM_REORDERED, s->overtaken);
	count_train(c, b, seq);
}

bool probe_book_misses(const struct probe_book *b, uint64_t step)
{
	bool came = false, missing = false;

	for (uint32_t seq = b->next; seq != b->settled; seq--) {
		const struct probe_slot *s = &b->slot[(seq - 1) % PROBE_SLOTS];

		if (s->step + 1 != step)
			break;
		came |= s->copies > 0;
		missing |= !s->copies;
	}
	return came && missing;
}

static bool is_reordered(const struct probe_book *b, uint64_t step)
{
	return b->overtaken_step != 0 && step < b->overtaken_step + PROBE_REORDER_STEPS;
}

static uint32_t count_came(const struct probe_book *b)
{
	uint32_t n = 0;

	for (uint32_t seq = b->settled; seq != b->next; seq++)
		n += b->slot[seq % PROBE_SLOTS].copies > 0;
	return n;
}

/*
 * Whether one that has not come is lost, where so many that left after it came. Of one that left in
 * an earlier step than another that came, or before some of its own, nothing is left on the way;
 * those of one step may overtake each other.
 */
static bool is_over(const struct probe_book *b, const struct probe_slot *s, uint32_t later,
		    uint64_t step)
{
	if (step - s->step >= PROBE_WAIT_STEPS)
		return true;
	return !is_reordered(b, step) &&
	       (s->step + 1 < b->came_step || (later >= PROBE_OVERTAKES && s->step != step));
}

/*
 * Lost ones are told from late ones by waiting, and good ones wait with them, or a share would
 * look smaller for as long. What came is known to be damaged or not as soon as it is there.
 */
bool probe_book_settle(struct probe_book *b, uint64_t step, struct mm_counts *counts)
{
	bool any = false;
	uint32_t later = count_came(b);

	*counts = (struct mm_counts){0};
	for (uint32_t seq = b->settled; seq != b->next; seq++) {
		const struct probe_slot *s = slot_of(b, seq);

		if (s->copies && !s->told && s->step != step) {
			tell(counts, b, seq);
			any = true;
		}
		later -= s->copies > 0;
		if (!is_over(b, s, later, step))
			continue;
		count(counts, MM_LOST, !s->copies);
		b->settled = seq + 1;
		any = true;
	}
	return any;
}

bool probe_counts_doubtful(const struct mm_counts *c)
{
	uint32_t bad = c->bad[MM_LOST] < c->known[MM_LOST] ? c->bad[MM_LOST] : 0;

	for (enum mm_symptom s = MM_CORRUPTED; s < MM_SLOWED; s++)
		bad += c->bad[s];
	return bad > 0;
}
