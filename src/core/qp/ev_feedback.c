/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_feedback.c - what a QP has learnt of an EV: it is retired or back in use, with all EVs of its
 * group, and a controller hears of each change.
 */
#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"

/* Retiring one EV may activate another in its place: each change is an event of its own. */
static void retire_ev(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause)
{
	struct mt_ev_change changes[2];
	unsigned n = mt_ev_retire(qp->ev_set, ev, now_ns, cause, changes);

	mb_assert(n <= 2);
	qp->engine->stats.evs_retired += n > 0;
	for (unsigned i = 0; i < n; i++)
		mt_engine_report_ev(qp->engine, qp->ev_set, &changes[i]);
}

/*
 * The EVs of a group lead over the same links, so that what one of them lost the others would
 * lose, too. REQ(req.ev.same-path)
 */
void mt_qp_retire_ev_group(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause)
{
	uint16_t next = mt_ev_group_next(qp->ev_set, ev);

	mb_assert(ev < qp->ev_set->n_evs && next < qp->ev_set->n_evs);
	retire_ev(qp, ev, now_ns, cause);
	for (; next != ev; next = mt_ev_group_next(qp->ev_set, next))
		retire_ev(qp, next, now_ns, cause);
	mt_ev_sets_arm_probes(qp->engine, qp->ev_set);
}

/* Whether an EV of the group that was revived follows it, as its links are the same. */
static bool follow_revived(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause)
{
	return cause == MT_EV_BY_LATE ? mt_ev_clear_of_loss(qp->ev_set, ev)
				      : mt_ev_restore(qp->ev_set, ev, now_ns);
}

/* What reached the peer by one EV proves the links of the whole group. REQ(req.ev.same-path) */
void mt_qp_ev_group_revived(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause)
{
	struct mt_ev_change back = {ev, MT_EV_GOOD, (uint8_t)cause};

	mb_assert(ev < qp->ev_set->n_evs);
	do {
		qp->engine->stats.evs_revived++;
		mt_engine_report_ev(qp->engine, qp->ev_set, &back);
		do
			back.ev = mt_ev_group_next(qp->ev_set, back.ev);
		while (back.ev != ev && !follow_revived(qp, back.ev, now_ns, cause));
	} while (back.ev != ev);
}

bool mt_qp_ev_suspect(struct mt_qp *qp, uint64_t now_ns, uint32_t i)
{
	struct mt_ev_change bad = {(uint16_t)i, MT_EV_ASSUMED_BAD, MT_EV_BY_HINT};

	if (!qp->ev_set || i >= qp->ev_set->n_evs || !mt_ev_suspect(qp->ev_set, bad.ev, now_ns))
		return false;
	qp->engine->stats.evs_hinted++;
	mt_engine_report_ev(qp->engine, qp->ev_set, &bad);
	mt_ev_sets_arm_probes(qp->engine, qp->ev_set);
	return true;
}

uint64_t mt_qp_longest_rtt_ns(const struct mt_qp *qp)
{
	const struct mt_rtt *rtt = &qp->req.rtt;

	return rtt->smoothed_ns ? rtt->smoothed_ns + qp->engine->cfg.timing.reorder_max_ns
				: UINT64_MAX;
}

/* REQ(req.ev.late) REQ(req.ev.endpoint) */
bool mt_qp_ev_is_left_behind(const struct mt_qp *qp, uint16_t ev, uint64_t rtt_ns)
{
	return rtt_ns > mt_qp_longest_rtt_ns(qp) && !mt_ev_is_usable(qp->ev_set, ev);
}

/* REQ(req.loss.late) REQ(req.ev.late) */
void mt_qp_ev_late(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, bool in_time)
{
	struct mt_ev_set *s = qp->ev_set;
	struct mt_ev_change late = {ev, MT_EV_ASSUMED_BAD, MT_EV_BY_LATE};

	mb_assert(ev < s->n_evs);
	if (in_time) {
		if (mt_ev_clear_of_loss(s, ev)) /* REQ(req.ev.flapping) */
			mt_qp_ev_group_revived(qp, ev, now_ns, MT_EV_BY_LATE);
	} else if (mt_ev_state_of(s, ev) == MT_EV_ASSUMED_BAD) {
		mt_engine_report_ev(qp->engine, s, &late);
	} else {
		mt_qp_retire_ev_group(qp, ev, now_ns, MT_EV_BY_LATE);
	}
}
