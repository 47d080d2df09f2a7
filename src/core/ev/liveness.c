/* SPDX-License-Identifier: BSD-2-Clause */
/* liveness.c - the states of a peer, and the cause of a loss. */
#include "core/ev/liveness.h"

#include "base/assert.h"
#include "core/types.h"

/* A silence so soon after another, in settle time-outs, is not waited for again. */
#define REPEATED 8u

#define TO(state) (1u << MT_PEER_##state)

static const uint8_t legal[MT_PEER_STATES] = {
	[MT_PEER_ALIVE] = TO(SILENT),
	[MT_PEER_SILENT] = TO(RESUMING) | TO(ALIVE),
	[MT_PEER_RESUMING] = TO(SILENT) | TO(ALIVE),
};

static void set_state(struct mt_liveness *p, enum mt_liveness_state state)
{
	mb_assert(legal[p->state] >> state & 1);
	p->state = (uint8_t)state;
}

void mt_liveness_init(struct mt_liveness *p)
{
	*p = (struct mt_liveness){.silence_limit_ns = UINT64_MAX / 4};
}

void mt_liveness_count_waiter(struct mt_liveness *p, uint64_t now_ns, bool waits)
{
	mb_assert(waits || p->waiting > 0);
	if (p->waiting == 0)
		p->rx_ns = now_ns;
	if (waits)
		p->waiting++;
	else if (--p->waiting == 0 && p->state == MT_PEER_SILENT)
		set_state(p, MT_PEER_ALIVE);
}

void mt_liveness_silence(struct mt_liveness *p)
{
	if (p->state == MT_PEER_SILENT)
		return;
	p->unsettled = p->state == MT_PEER_RESUMING;
	set_state(p, MT_PEER_SILENT);
}

void mt_liveness_heard(struct mt_liveness *p)
{
	set_state(p, MT_PEER_RESUMING);
}

/*
 * Whether the silence follows closely on another one in which the peer had not stopped, or cut its
 * waiting short: where answers are so far apart that each of them ends a silence, nothing would be
 * decided for ever.
 */
static bool is_repeated(const struct mt_liveness *p, uint64_t now_ns)
{
	return p->resumed_ns && !p->stopped &&
	       (p->unsettled || now_ns - p->resumed_ns < REPEATED * p->settle_timeout_ns);
}

void mt_liveness_resume(struct mt_liveness *p, uint64_t now_ns, uint32_t planes)
{
	bool waited_for = !is_repeated(p, now_ns);

	mb_assert(p->state == MT_PEER_RESUMING);
	p->settle_timeout_ns = 2 * p->silence_limit_ns;
	if (waited_for)
		p->settled_ns = now_ns + p->settle_timeout_ns;
	p->resumed_ns = now_ns;
	p->round_ns = now_ns;
	p->unanswered = p->planes = planes;
	p->retired_planes = 0;
	p->stopped = false;
	if (planes == 0)
		set_state(p, MT_PEER_ALIVE);
}

/* A round is over in which each plane answered; one that took long left queues that are long. */
static void end_round(struct mt_liveness *p, uint64_t now_ns)
{
	p->settled_ns = now_ns;
	if (now_ns - p->round_ns <= p->settle_timeout_ns) {
		set_state(p, MT_PEER_ALIVE);
		return;
	}
	p->round_ns = now_ns;
	p->unanswered = p->planes;
	p->settled_ns += p->settle_timeout_ns;
}

void mt_liveness_note_sack(struct mt_liveness *p, uint64_t now_ns, uint8_t plane, uint64_t sent_ns)
{
	mb_assert(plane < MT_PORTS_MAX && (p->unanswered & ~p->planes) == 0);
	if (p->state != MT_PEER_RESUMING)
		return;
	if (now_ns - sent_ns > p->settle_timeout_ns / 2) {
		p->stopped = p->stopped || sent_ns < p->resumed_ns;
		p->settled_ns = now_ns + p->settle_timeout_ns;
	} else if (now_ns >= p->settled_ns) {
		set_state(p, MT_PEER_ALIVE);
		return;
	}
	if (sent_ns < p->round_ns)
		return;
	p->unanswered &= ~(UINT32_C(1) << plane);
	if (p->unanswered == 0)
		end_round(p, now_ns);
}

uint64_t mt_liveness_clamp_rtt(const struct mt_liveness *p, uint64_t sent_ns, uint64_t rtt_ns)
{
	return sent_ns < p->resumed_ns && rtt_ns > p->settle_timeout_ns ? p->settle_timeout_ns
									: rtt_ns;
}

enum mt_loss_cause mt_liveness_attribute_loss(const struct mt_liveness *p, uint64_t sent_ns,
					      uint8_t plane, uint64_t trigger_sent_ns,
					      uint8_t trigger_plane)
{
	mb_assert(plane < MT_PORTS_MAX && trigger_plane < MT_PORTS_MAX);
	if (plane != trigger_plane && sent_ns < p->settled_ns && trigger_sent_ns < p->settled_ns)
		return MT_LOSS_UNDECIDED;
	if (sent_ns >= p->resumed_ns)
		return MT_LOSS_PATH_FAULT;
	return p->stopped || p->retired_planes >> plane & 1 ? MT_LOSS_NOT_PATH : MT_LOSS_PATH_FAULT;
}

void mt_liveness_note_retired(struct mt_liveness *p, uint64_t sent_ns, uint8_t plane)
{
	mb_assert(plane < MT_PORTS_MAX);
	if (sent_ns < p->resumed_ns)
		p->retired_planes |= UINT32_C(1) << plane;
}
