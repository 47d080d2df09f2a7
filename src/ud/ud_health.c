/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_health.c - which EVs lead to one destination of datagrams, found out by rounds of probes.
 *
 * Nothing answers a datagram, so nothing says that it was lost. While datagrams go to a destination
 * it is asked in rounds: EV probes leave on a few EVs together, and the round ends when each was
 * answered or its time is over. An EV without an answer counts as one that failed only if another
 * of the same round was answered; then the destination was there, and it is the path. So a
 * destination that answers no probes at all (another make of device), or is away or busy for a
 * while, loses no EV.
 *
 *	GOOD --- failed in MU_TRIES rounds in a row ---> ASSUMED_BAD
 *	ASSUMED_BAD --- answered in as many ---> GOOD
 *
 * The states, the counts in a row and the back-off are those of an EV set of the MRC engine; only
 * what makes an EV bad is decided here. docs/design/0032-paths-of-datagrams.md.
 */
#include "base/assert.h"
#include "ud/ud_private.h"

/* An answer that takes longer than so many of the longest ones lately is none; and never longer
 * than this is waited for. */
#define WAIT_RTTS 4u
#define WAIT_MAX_NS UINT64_C(640000000)

/* What comes before the set: its EVs stay where they are. */
static size_t shared_size(uint16_t n_evs, uint32_t n_ports)
{
	const struct mt_ev_profile_cfg profile = {.n_evs = n_evs, .is_static = true};

	return mt_ev_shared_size(&profile, n_ports);
}

size_t mu_health_size(uint16_t n_evs, uint32_t n_ports)
{
	return shared_size(n_evs, n_ports) + mt_ev_set_size(n_evs, n_ports) +
	       n_evs * sizeof(struct mt_ev_fault);
}

void mu_health_init(struct mu_health *h, void *mem, const struct mu_cfg *cfg,
		    const struct rd_gid *dest, uint64_t now_ns)
{
	const struct mt_ev_profile_cfg profile = {
		.evs = cfg->evs,
		.is_static = true,
		.n_evs = cfg->n_evs,
		.n_active = cfg->n_evs,
		.revive_probes = MU_TRIES,
		.probe_interval_ns = MU_ROUND_NS,
		.probe_interval_max_ns = MU_BAD_MAX_NS,
	};

	uint8_t *set = (uint8_t *)mem + shared_size(cfg->n_evs, cfg->n_ports);

	*h = (struct mu_health){
		.answered = MT_EV_NONE,
		.next_ns = now_ns + MU_ROUND_NS,
		.set = mt_ev_set_init(set, mt_ev_shared_init(mem, &profile, cfg->n_ports), dest,
				      NULL),
	};
	mt_ev_set_add_faults(h->set, set + mt_ev_set_size(cfg->n_evs, cfg->n_ports));
}

uint64_t mu_health_probe_timeout(const struct mu_health *h)
{
	uint64_t wait = WAIT_RTTS * h->set->probe_rtt_ns;

	/* Answers that come too late teach no RTT, so silence makes it wait longer. */
	wait = (wait < MU_ROUND_NS ? MU_ROUND_NS : wait) << h->rounds_unanswered;
	return wait < WAIT_MAX_NS ? wait : WAIT_MAX_NS;
}

/* Adds an EV to a round that does not have it yet. */
static uint32_t add_ev(uint16_t *evs, uint32_t n, uint16_t ev)
{
	for (uint32_t i = 0; i < n; i++)
		if (evs[i] == ev)
			return n;
	evs[n] = ev;
	return n + 1;
}

/* A good EV that failed last time; a bad one that is due, or may be good again. */
static bool is_doubtful(const struct mt_ev_set *s, uint16_t ev, uint64_t now_ns)
{
	const struct mt_ev_fault *f = mt_ev_fault(s, ev);

	return mt_ev_is_usable(s, ev) ? f->backoff > 0
				      : f->answered > 0 || f->next_probe_ns <= now_ns;
}

/* REQ(ud.health.rounds) */
uint32_t mu_health_choose_evs(struct mu_health *h, uint64_t now_ns, uint16_t evs[MU_ROUND_PROBES])
{
	const struct mt_ev_set *s = h->set;
	uint32_t n = 0, looked = 0;

	mb_assert(h->n_open == 0);
	h->n_asked = 0;
	if (h->answered != MT_EV_NONE)
		evs[n++] = h->answered;
	for (; looked < s->n_evs && n <= MU_ROUND_DOUBTFUL; looked++) {
		h->next_doubtful = (uint16_t)((h->next_doubtful + 1) % s->n_evs);
		if (is_doubtful(s, h->next_doubtful, now_ns))
			n = add_ev(evs, n, h->next_doubtful);
	}
	for (looked = 0; looked < s->n_evs && n < MU_ROUND_PROBES; looked++) {
		if (mt_ev_is_usable(s, h->next_good))
			n = add_ev(evs, n, h->next_good);
		h->next_good = (uint16_t)((h->next_good + 1) % s->n_evs);
	}
	return n;
}

void mu_health_probe_sent(struct mu_health *h, uint16_t ev)
{
	mb_assert(h->n_asked < MU_ROUND_PROBES);
	h->asked[h->n_asked++] = (struct mu_probe){.ev = ev};
	h->n_open++;
}

/* count_failure returns whether it retired the EV. REQ(ud.health.retire) REQ(ud.health.last) */
static bool count_failure(struct mu_health *h, uint16_t ev, uint64_t now_ns)
{
	struct mt_ev_set *s = h->set;
	struct mt_ev_change changes[2];

	if (!mt_ev_is_usable(s, ev)) {
		mt_ev_count_failure(s, ev, now_ns);
	} else if (mt_ev_fault(s, ev)->backoff + 1u < MU_TRIES) {
		mt_ev_count_failure(s, ev, now_ns);
		h->doubtful = true;
	} else if (s->n_usable > 1) {
		return mt_ev_retire(s, ev, now_ns, MT_EV_BY_LOSS, changes) > 0;
	}
	return false;
}

/* count_answer returns whether it revived the EV. REQ(ud.health.revive) */
static bool count_answer(struct mu_health *h, uint16_t ev, uint64_t now_ns)
{
	if (!mt_ev_count_answer(h->set, ev, now_ns))
		return false;
	mt_ev_fault(h->set, ev)->revived =
		0; /* here an EV that flaps is not kept away for longer */
	return true;
}

/* REQ(ud.health.witness) */
static void finish_round(struct mu_health *h, uint64_t now_ns, struct mu_counts *counts)
{
	bool heard = false;

	for (uint32_t i = 0; i < h->n_asked; i++)
		heard |= h->asked[i].answered;
	if (!heard) {
		if (h->rounds_unanswered < MU_ROUND_SHIFTS)
			h->rounds_unanswered++;
		h->next_ns = now_ns + (MU_ROUND_NS << h->rounds_unanswered);
		return;
	}
	h->rounds_unanswered = 0;
	h->doubtful = false;
	for (uint32_t i = 0; i < h->n_asked; i++) {
		if (h->asked[i].answered)
			counts->ud_evs_revived += count_answer(h, h->asked[i].ev, now_ns);
		else
			counts->ud_evs_retired += count_failure(h, h->asked[i].ev, now_ns);
	}
	h->next_ns = now_ns + (h->doubtful ? 0 : MU_ROUND_NS);
}

void mu_health_probe_ended(struct mu_health *h, uint16_t ev, bool was_answered, uint64_t rtt_ns,
			   uint64_t now_ns, struct mu_counts *counts)
{
	for (uint32_t i = 0; i < h->n_asked; i++)
		if (h->asked[i].ev == ev)
			h->asked[i].answered = was_answered;
	mb_assert(h->n_open > 0);
	h->n_open--;
	if (was_answered) {
		h->answered = ev;
		mt_ev_set_sample_rtt(h->set, rtt_ns);
	}
	if (h->n_open == 0)
		finish_round(h, now_ns, counts);
}
