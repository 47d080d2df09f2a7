/* SPDX-License-Identifier: BSD-2-Clause */
#include "ud/ud_health.h"

#include <string.h>

#include "base/assert.h"

/* An answer that takes longer than so many of the longest ones lately is none; and never longer
 * than this is waited for. */
#define WAIT_RTTS 4u
#define WAIT_MAX_NS UINT64_C(640000000)

void mu_health_init(struct mu_health *h, struct mu_path_health *paths, uint16_t n_paths,
		    uint64_t now_ns)
{
	memset(paths, 0, n_paths * sizeof(*paths));
	*h = (struct mu_health){
		.n_paths = n_paths,
		.n_good = n_paths,
		.answered = MU_NO_PATH,
		.next_ns = now_ns + MU_ROUND_NS,
		.path = paths,
	};
}

uint64_t mu_health_probe_timeout(const struct mu_health *h)
{
	uint64_t wait = WAIT_RTTS * h->rtt_ns;

	/* Answers that come too late teach no RTT, so silence makes it wait longer. */
	wait = (wait < MU_ROUND_NS ? MU_ROUND_NS : wait) << h->rounds_unanswered;
	return wait < WAIT_MAX_NS ? wait : WAIT_MAX_NS;
}

/* Adds a path to a round that does not have it yet. */
static uint32_t add_path(uint16_t *paths, uint32_t n, uint16_t path)
{
	for (uint32_t i = 0; i < n; i++)
		if (paths[i] == path)
			return n;
	paths[n] = path;
	return n + 1;
}

static bool is_doubtful(const struct mu_path_health *p, uint64_t now_ns)
{
	return p->bad ? p->due_ns <= now_ns : p->streak > 0;
}

/* REQ(ud.health.rounds) */
uint32_t mu_health_choose_paths(struct mu_health *h, uint64_t now_ns,
				uint16_t paths[MU_ROUND_PROBES])
{
	uint32_t n = 0, looked = 0;

	mb_assert(h->n_open == 0);
	h->n_asked = 0;
	if (h->answered != MU_NO_PATH)
		paths[n++] = h->answered;
	for (; looked < h->n_paths && n <= MU_ROUND_DOUBTFUL; looked++) {
		h->next_doubtful = (uint16_t)((h->next_doubtful + 1) % h->n_paths);
		if (is_doubtful(&h->path[h->next_doubtful], now_ns))
			n = add_path(paths, n, h->next_doubtful);
	}
	for (looked = 0; looked < h->n_paths && n < MU_ROUND_PROBES; looked++) {
		if (!h->path[h->next_good].bad)
			n = add_path(paths, n, h->next_good);
		h->next_good = (uint16_t)((h->next_good + 1) % h->n_paths);
	}
	return n;
}

void mu_health_probe_sent(struct mu_health *h, uint16_t path)
{
	mb_assert(h->n_asked < MU_ROUND_PROBES);
	h->asked[h->n_asked++] = (struct mu_probe){.path = path};
	h->n_open++;
}

/* REQ(ud.health.retire) REQ(ud.health.last) */
static bool count_failure(struct mu_health *h, struct mu_path_health *p, uint64_t now_ns)
{
	bool retires = false;

	if (p->bad) {
		p->streak = 0;
		if (p->shift < MU_BAD_SHIFTS)
			p->shift++;
	} else if (p->streak + 1u < MU_TRIES) {
		p->streak++;
		h->doubtful = true;
	} else if (h->n_good > 1) {
		*p = (struct mu_path_health){.bad = true};
		h->n_good--;
		retires = true;
	}
	p->due_ns = now_ns + (MU_BAD_NS << p->shift);
	return retires;
}

/* REQ(ud.health.revive) */
static bool count_answer(struct mu_health *h, struct mu_path_health *p)
{
	if (!p->bad) {
		p->streak = 0;
		return false;
	}
	p->due_ns = 0;
	p->shift = 0;
	if (++p->streak < MU_TRIES)
		return false;
	*p = (struct mu_path_health){.bad = false};
	h->n_good++;
	return true;
}

/* REQ(ud.health.witness) */
static struct mu_change finish_round(struct mu_health *h, uint64_t now_ns)
{
	struct mu_change change = {0};
	bool heard = false;

	for (uint32_t i = 0; i < h->n_asked; i++)
		heard |= h->asked[i].answered;
	if (!heard) {
		if (h->rounds_unanswered < MU_ROUND_SHIFTS)
			h->rounds_unanswered++;
		h->next_ns = now_ns + (MU_ROUND_NS << h->rounds_unanswered);
		return change;
	}
	h->rounds_unanswered = 0;
	h->doubtful = false;
	for (uint32_t i = 0; i < h->n_asked; i++) {
		struct mu_path_health *p = &h->path[h->asked[i].path];

		if (h->asked[i].answered)
			change.revived += count_answer(h, p);
		else
			change.retired += count_failure(h, p, now_ns);
	}
	h->next_ns = now_ns + (h->doubtful ? 0 : MU_ROUND_NS);
	return change;
}

struct mu_change mu_health_probe_ended(struct mu_health *h, uint16_t path, bool was_answered,
				       uint64_t rtt_ns, uint64_t now_ns)
{
	for (uint32_t i = 0; i < h->n_asked; i++)
		if (h->asked[i].path == path)
			h->asked[i].answered = was_answered;
	mb_assert(h->n_open > 0);
	h->n_open--;
	if (was_answered) {
		h->answered = path;
		h->rtt_ns -= h->rtt_ns / 8;
		if (rtt_ns > h->rtt_ns)
			h->rtt_ns = rtt_ns;
	}
	return h->n_open == 0 ? finish_round(h, now_ns) : (struct mu_change){0};
}
