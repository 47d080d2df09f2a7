/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_modify.c - the states of a QP and everything that changes them from outside.
 *
 *	RESET -> INIT -> RTR -> RTS <-> SQD, and from each to RESET and ERR.
 *
 * A call is checked whole before anything changes. REQ(api.qp.modify.order)
 */
#include <string.h>

#include "base/assert.h"
#include "base/serial.h"
#include "core/endpoint/endpoint.h"
#include "core/ext/ext.h"

#define TO(s) (1u << RD_QPS_##s)

static const uint8_t allowed[RD_QPS_COUNT] = {
	[RD_QPS_RESET] = TO(RESET) | TO(INIT) | TO(ERR),
	[RD_QPS_INIT] = TO(RESET) | TO(INIT) | TO(RTR) | TO(ERR),
	[RD_QPS_RTR] = TO(RESET) | TO(RTS) | TO(ERR),
	[RD_QPS_RTS] = TO(RESET) | TO(RTS) | TO(SQD) | TO(ERR),
	[RD_QPS_SQD] = TO(RESET) | TO(RTS) | TO(SQD) | TO(ERR),
	[RD_QPS_ERR] = TO(RESET) | TO(ERR),
};

bool mt_qp_can_move(enum rd_qp_state from, enum rd_qp_state to)
{
	mb_assert(from < RD_QPS_COUNT && to < RD_QPS_COUNT);
	return allowed[from] >> to & 1;
}

/* What the move to RTR uses and the one to RTS may still change: what MRC adds to verbs. */
#define CHANGED_IN_RTR (RD_QP_MPR_DEST | RD_QP_MAX_WIMM_DEST | RD_QP_EV_PROFILE)
/* What may no longer be set once the QP receives (RTR) or sends (RTS). */
#define FIXED_FROM_RTR (RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU | RD_QP_P_KEY)
#define FIXED_FROM_RTS                                                                   \
	(FIXED_FROM_RTR | CHANGED_IN_RTR | RD_QP_SQ_PSN | RD_QP_MPR | RD_QP_CC_PROFILE | \
	 RD_QP_MAX_WIMM | RD_QP_TIMEOUT | RD_QP_RETRY | RD_QP_DYNAMIC_MPR)

/* REQ(wire.pmtu) */
static bool mtu_valid(uint32_t mtu)
{
	return mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096;
}

/* REQ(api.qp.ranges) */
static bool numbers_valid(const struct rd_qp_attr *a, uint32_t mask)
{
#define CHECK(bit, type, field, value, least, most)                                \
	if (mask & RD_QP_##bit && (uint64_t)a->field - (least) > (most) - (least)) \
		return false;
	RD_QP_ATTRS(CHECK)
#undef CHECK
	return true;
}

/* A QP keeps a pointer into its profiles, so a profile must be defined before a QP names it. */
static bool profiles_valid(const struct mt_engine *e, const struct rd_qp_attr *a, uint32_t mask)
{
	if (mask & RD_QP_EV_PROFILE &&
	    (a->ev_profile >= e->cfg.max_profiles || !e->ev_profiles[a->ev_profile].cfg.evs))
		return false;
	return !(mask & RD_QP_CC_PROFILE) ||
	       (a->cc_profile < e->cfg.max_profiles && e->cc_profiles[a->cc_profile].set);
}

/*
 * Checks a whole call before anything changes. What a state has used already is fixed from then on.
 */
static int check_attrs(const struct mt_qp *qp, const struct rd_qp_attr *a, uint32_t mask)
{
	uint32_t fixed = 0;

	if (mask & RD_QP_STATE) {
		if ((unsigned)a->state >= RD_QPS_COUNT)
			return MT_ERR_INVALID;
		if (!mt_qp_can_move(qp->state, a->state))
			return MT_ERR_STATE;
		if (a->state == RD_QPS_RESET || a->state == RD_QPS_ERR)
			return MT_OK; /* nothing else is looked at */
	}
	if (qp->state == RD_QPS_RTR)
		fixed = FIXED_FROM_RTR;
	else if (qp->state >= RD_QPS_RTS)
		fixed = FIXED_FROM_RTS;
	if (qp->state >= RD_QPS_RTR && !(qp->ext && qp->ext->rd_atomic))
		fixed |= RD_QP_MAX_DEST_RD_ATOMIC |
			 (qp->state >= RD_QPS_RTS ? RD_QP_MAX_RD_ATOMIC : 0);
	if (mask & fixed)
		return MT_ERR_STATE;
	if (mask & RD_QP_PATH_MTU && !mtu_valid(a->path_mtu))
		return MT_ERR_INVALID;
	if (!numbers_valid(a, mask) || !profiles_valid(qp->engine, a, mask))
		return MT_ERR_INVALID;
	if (mask & RD_QP_STATE && a->state == RD_QPS_RTR && !(mask & RD_QP_DEST) &&
	    qp->attr.dest_qpn == 0)
		return MT_ERR_INVALID;
	return MT_OK;
}

static void copy_attrs(struct rd_qp_attr *to, const struct rd_qp_attr *a, uint32_t mask)
{
#define COPY(bit, type, field, value, least, most) \
	if (mask & RD_QP_##bit)                    \
		to->field = a->field;
	RD_QP_ATTRS(COPY)
#undef COPY
	if (mask & RD_QP_DEST)
		to->dest = a->dest;
}

/* The order matters: windows refer to EVs of the set, so they go first. */
static void drop_memory(struct mt_qp *qp)
{
	struct mt_engine *e = qp->engine;

	mt_qp_free_memory(qp);
	if (qp->peer)
		mt_peer_leave(e, qp->peer);
	qp->peer = NULL;
	if (qp->ev_set)
		mt_ev_sets_release(e, qp->ev_set, &qp->ev_set_user);
	qp->ev_set = NULL;
}

/*
 * Takes the QP off all lists of the engine and empties it. Control packets that it queued are
 * dropped, for they name what it was.
 */
static void to_reset(struct mt_qp *qp)
{
	struct mt_engine *e = qp->engine;
	struct mt_sq sq = qp->req.sq;
	struct mt_rq rq;

	if (qp->rsp.rq.srq)
		mt_srq_return(&qp->rsp.rq);
	rq = qp->rsp.rq;
	mt_qp_stop_timer(qp);
	if (qp->ext) {
		mt_rd_atomic_free(qp);
		mt_local_wr_free(qp);
	}
	drop_memory(qp);
	mb_link_remove(&qp->ready);
	mb_link_remove(&qp->control);
	mb_link_remove(&qp->completion);
	mt_control_clear(&e->controls, &qp->named_control);
	qp->req = (struct mt_requester){.sq = sq};
	qp->rsp = (struct mt_responder){.rq = rq};
	if (qp->ext) {
		*qp->ext = (struct mt_qp_ext){
			.operands = qp->ext->operands,
			.negotiation = {.offered = qp->ext->negotiation.offered}};
		mt_in_order_init(&qp->ext->in_order);
	}
	mt_sq_reset(&qp->req.sq);
	mt_rq_reset(&qp->rsp.rq);
	mb_assert(!qp->ev_set && !qp->peer && !mb_timer_is_armed(&qp->timer));
	mb_assert(mb_link_is_empty(&qp->window_owner) && mb_link_is_empty(&qp->ev_set_user));
	qp->failure_unreported = false;
	qp->last_wqe_unreported = false;
	mt_qp_attr_default(&qp->attr);
}

/* Windows are taken when packets come; an adapter that has none to spare should know it now. */
static bool has_spare_memory(struct mt_engine *e, const struct rd_qp_attr *a)
{
	size_t bitmaps = mt_rx_window_size(a->mpr_dest * MT_MPR_UNIT);
	size_t stash = mt_imm_stash_size(a->max_wimm_dest);
	void *first = mt_engine_alloc(e, bitmaps), *second = mt_engine_alloc(e, stash);

	mb_pool_put(&e->pool, first, bitmaps);
	mb_pool_put(&e->pool, second, stash);
	return first && second;
}

/* An EV set and the engine behind it, while a QP joins them or leaves. */
struct route {
	struct mt_ev_set *ev_set;
	struct mt_peer *peer;
	struct mb_link user;
};

static void release_route(struct mt_engine *e, struct route *route)
{
	mt_peer_leave(e, route->peer);
	mt_ev_sets_release(e, route->ev_set, &route->user);
}

/* Takes both or none, so that the caller has one thing to undo. */
static bool acquire_route(struct mt_engine *e, const struct rd_qp_attr *a, uint64_t now_ns,
			  struct route *route)
{
	mb_link_init(&route->user);
	route->ev_set = mt_ev_sets_acquire(e, a->ev_profile, &a->dest, &route->user);
	if (!route->ev_set)
		return false;
	route->peer = mt_peer_join(e, route->ev_set, a->dest_qpn, now_ns);
	if (route->peer)
		return true;
	mt_ev_sets_release(e, route->ev_set, &route->user);
	return false;
}

/* The QP becomes the user of the set in place of the route that held the place. */
static void install_route(struct mt_qp *qp, struct route *route)
{
	mb_assert(route->ev_set && route->peer && mb_link_is_empty(&qp->ev_set_user));
	mb_link_remove(&route->user);
	mb_list_push(&route->ev_set->users, &qp->ev_set_user);
	qp->ev_set = route->ev_set;
	qp->peer = route->peer;
}

/*
 * Until it sends, a QP may be given another EV profile and other limits as responder, even when
 * packets have come already. All or nothing.
 */
static int change_in_rtr(struct mt_qp *qp, const struct rd_qp_attr *a, uint64_t now_ns)
{
	struct mt_engine *e = qp->engine;
	bool moves = a->ev_profile != qp->attr.ev_profile;
	struct route route;

	mb_assert(qp->state == RD_QPS_RTR && qp->ev_set && mt_tx_is_empty(&qp->req.window));
	if (moves && !acquire_route(e, a, now_ns, &route))
		return MT_ERR_MEMORY;
	if (!mt_qp_resize(qp, a->mpr_dest * MT_MPR_UNIT, a->max_wimm_dest)) {
		if (moves)
			release_route(e, &route);
		return MT_ERR_MEMORY;
	}
	if (!moves)
		return MT_OK;
	mt_peer_leave(e, qp->peer);
	mt_ev_sets_release(e, qp->ev_set, &qp->ev_set_user);
	install_route(qp, &route);
	return MT_OK;
}

/* Memory for `most` READs and atomics, if there can be any; false: none to be had. */
static bool alloc_rd_atomic(struct mt_qp *qp, uint8_t most, void **mem)
{
	bool wanted = most > 0 &&
		      qp->cap.extensions & (MW_EXT_READ | MW_EXT_ATOMIC | MW_EXT_ATOMIC_WRITE) &&
		      !qp->ext->rd_atomic;

	*mem = wanted ? mt_engine_alloc(qp->engine, sizeof(struct mt_rd_atomic)) : NULL;
	return *mem || !wanted;
}

/* Ready to receive: where the windows begin, and the EVs on which the answers return. */
static int to_rtr(struct mt_qp *qp, const struct rd_qp_attr *a, uint64_t now_ns)
{
	struct mt_engine *e = qp->engine;
	void *responses;
	struct route route;

	mb_assert(qp->state == RD_QPS_INIT && !qp->ev_set && !qp->peer);
	if (!alloc_rd_atomic(qp, a->max_dest_rd_atomic, &responses))
		return MT_ERR_MEMORY;
	if (!acquire_route(e, a, now_ns, &route))
		goto no_way;
	if (!has_spare_memory(e, a))
		goto no_memory;
	install_route(qp, &route);
	mt_qp_begin_receiving(qp, a);
	mt_spray_init(&qp->req.spray, mb_prng_u64(&e->prng));
	if (responses)
		mt_rd_atomic_attach(qp, responses, a);
	return MT_OK;

no_memory:
	release_route(e, &route);
no_way:
	mb_pool_put(&e->pool, responses, sizeof(struct mt_rd_atomic));
	return MT_ERR_MEMORY;
}

/*
 * The response QP could not receive before, since only now is the PSN known with which our
 * requests begin.
 */
static int to_rts(struct mt_qp *qp, const struct rd_qp_attr *a, uint64_t now_ns)
{
	void *responses;

	mb_assert(qp->state == RD_QPS_RTR && qp->ev_set && qp->peer);
	if (!alloc_rd_atomic(qp, a->max_rd_atomic, &responses))
		return MT_ERR_MEMORY;
	if (responses)
		mt_rd_atomic_attach(qp, responses, a);
	mt_qp_begin_sending(qp, a, now_ns);
	if (qp->ext && qp->ext->rd_atomic)
		mt_rd_atomic_enable_rx(qp, a);
	return MT_OK;
}

/* The caller asked for ERR, so that the event which reports a failure is suppressed. */
static void to_err(struct mt_qp *qp)
{
	if (qp->state == RD_QPS_ERR)
		return;
	mt_qp_fail(qp, RD_WC_WR_FLUSH_ERR, RD_WC_WR_FLUSH_ERR);
	qp->failure_unreported = false; /* the caller knows */
}

/* Does what entering a state needs; the caller sets the state when it succeeded. */
static int enter_state(struct mt_qp *qp, enum rd_qp_state state, const struct rd_qp_attr *a,
		       uint64_t now_ns)
{
	switch (state) {
	case RD_QPS_RTR:
		return to_rtr(qp, a, now_ns);
	case RD_QPS_RTS:
		return qp->state == RD_QPS_RTR ? to_rts(qp, a, now_ns) : MT_OK;
	case RD_QPS_SQD:
		qp->drain_unreported = true;
		mt_qp_queue_for_poll(qp);
		return MT_OK;
	case RD_QPS_RESET:
	case RD_QPS_INIT:
	case RD_QPS_ERR:
	case RD_QPS_COUNT:
		return MT_OK;
	}
	mb_unreachable();
}

/*
 * RESET and ERR are always possible and look at no other attribute; any other call changes all it
 * names, or nothing.
 */
int mt_qp_modify(struct mt_qp *qp, uint64_t now_ns, const struct rd_qp_attr *attr, uint32_t mask)
{
	struct rd_qp_attr next = qp->attr;
	int r = check_attrs(qp, attr, mask);

	if (r != MT_OK)
		return r;
	if (mask & RD_QP_STATE && attr->state == RD_QPS_RESET) {
		to_reset(qp);
		qp->state = RD_QPS_RESET;
		return MT_OK;
	}
	if (mask & RD_QP_STATE && attr->state == RD_QPS_ERR) {
		to_err(qp);
		return MT_OK;
	}
	copy_attrs(&next, attr, mask);
	if (mask & RD_QP_STATE && attr->state >= RD_QPS_RTR &&
	    !profiles_valid(qp->engine, &next, RD_QP_EV_PROFILE | RD_QP_CC_PROFILE))
		return MT_ERR_INVALID; /* the default profile is not defined */
	if (qp->state == RD_QPS_RTR && mask & CHANGED_IN_RTR) {
		r = change_in_rtr(qp, &next, now_ns);
		if (r != MT_OK)
			return r;
	}
	if (mask & RD_QP_STATE) {
		r = enter_state(qp, attr->state, &next, now_ns);
		if (r != MT_OK)
			return r;
		qp->state = attr->state;
	}
	qp->attr = next;
	mb_assert(!mt_qp_may_receive(qp) || (qp->ev_set && qp->peer));
	mb_assert(!mt_qp_may_send(qp) || qp->req.mpr > 0);
	mt_qp_queue_for_tx(qp);
	return MT_OK;
}

void mt_qp_query(const struct mt_qp *qp, struct rd_qp_attr *attr)
{
	*attr = qp->attr;
	attr->state = qp->state;
	attr->draining = qp->state == RD_QPS_SQD && mt_qp_has_begun_wr(qp);
}
