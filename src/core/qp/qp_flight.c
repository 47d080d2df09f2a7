/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_flight.c - while planes are unlike, counts the packets that a QP has in flight on each port,
 * so that a plane that carries less than the others gets less. See core/ev/flight.h.
 */
#include "base/bits.h"
#include "core/qp/halves.h"

/*
 * What any port may have in flight: its part of the window, if that is less than two runs and a
 * few packets. Those are about what a NIC sends of one QP in a turn: with less, ports would be
 * passed over all the time where each of many QPs has a few packets in flight.
 */
#define FEW 4u
/* A port with less waits for answers, however slow the plane. */
#define FEWEST 4u

/*
 * No port needs more than two and a half times its part of the window: the others of a long plane
 * want most of what is left.
 */
static struct mt_flight_bounds bounds_of(const struct mt_qp *qp)
{
	uint32_t n_ports = mb_popcount64(mt_ev_set_useful_ports(qp->ev_set));
	uint64_t window = mt_qp_window_packets(qp), part = window / (n_ports ? n_ports : 1);
	uint64_t share = part + part + (part + 1) / 2, least = 2 * qp->engine->cfg.max_run + FEW;

	if (part < least)
		least = part < FEWEST ? FEWEST : part;
	return (struct mt_flight_bounds){
		.smoothed_ns = qp->req.rtt.smoothed_ns,
		.least = (uint32_t)least,
		.share = (uint32_t)share,
	};
}

static struct mt_flights *flights(const struct mt_qp *qp)
{
	return mt_spray_flights(&qp->req.spray, qp->ev_set);
}

/*
 * A QP without room may use ports that it passed over when something is lost, or when the last of
 * the others has enough in flight as well.
 */
static void await_all_ports(struct mt_qp *qp)
{
	qp->engine->no_room_ports |= mt_ev_set_useful_ports(qp->ev_set);
}

static void set_full(struct mt_qp *qp, uint32_t port, bool full)
{
	struct mt_flights *fs = flights(qp);
	uint32_t bit = UINT32_C(1) << port;

	if (full) {
		fs->full |= bit;
		fs->calm = 0;
	} else if (fs->full & bit) {
		fs->full &= ~bit;
		qp->engine->no_room_ports |= bit;
	}
}

/* What is in flight already counts as well, so that a port is full as soon as it is judged. */
static void begin(struct mt_qp *qp)
{
	const struct mt_tx_window *w = &qp->req.window;
	struct mt_flights *fs = flights(qp);

	*fs = (struct mt_flights){0};
	for (uint32_t p = 0; p < qp->ev_set->n_ports; p++)
		mt_flight_init(&fs->port[p]);
	for (uint64_t psn = w->una; psn < w->next; psn++) {
		const struct mt_tx_rec *rec = mt_tx_rec(w, psn);

		if (rec->state == MT_TX_OUTSTANDING)
			fs->port[mt_ev_port(qp->ev_set, rec->ev)].packets++;
	}
	qp->req.spray.counts = true;
	qp->engine->n_counting++;
}

static void end(struct mt_qp *qp)
{
	mb_assert(qp->engine->n_counting > 0);
	qp->req.spray.counts = false;
	qp->engine->n_counting--;
	await_all_ports(qp);
}

/*
 * So many RTT samples of planes that are alike, with no port passed over, end the count: some
 * windows of a QP that asks for few SACKs. After less, planes on the verge would begin it again and
 * again; to begin costs a look at all that is in flight.
 */
#define CALM_MAX 128u

/* REQ(req.spray.flight) */
void mt_qp_flight_judge(struct mt_qp *qp, uint32_t port)
{
	bool unlike = mt_spray_is_unlike(&qp->req.spray, qp->ev_set, port);

	if (!qp->req.spray.counts) {
		if (unlike)
			begin(qp);
	} else if (unlike) {
		flights(qp)->calm = 0;
	} else if (++flights(qp)->calm >= CALM_MAX) {
		end(qp);
	}
}

void mt_qp_flight_sent(struct mt_qp *qp, uint16_t ev)
{
	uint32_t port = mt_ev_port(qp->ev_set, ev);
	struct mt_flight *f = &flights(qp)->port[port];

	mt_flight_sent(f);
	if (mt_flight_is_enough(f))
		set_full(qp, port, true);
}

void mt_qp_flight_left(struct mt_qp *qp, const struct mt_tx_rec *rec)
{
	uint32_t port = mt_ev_port(qp->ev_set, rec->ev);
	struct mt_flight *f = &flights(qp)->port[port];

	mt_flight_left(f);
	set_full(qp, port, mt_flight_is_enough(f));
	await_all_ports(qp);
}

/* What was sent again may have arrived before, so that nobody knows how long it took. */
void mt_qp_flight_arrived(struct mt_qp *qp, const struct mt_tx_rec *rec, uint64_t now_ns)
{
	uint32_t port = mt_ev_port(qp->ev_set, rec->ev);
	struct mt_flight *f = &flights(qp)->port[port];
	struct mt_flight_bounds b;

	if (mt_flight_arrived(f, rec->sent_ns, rec->tries == 0 ? now_ns : 0)) {
		b = bounds_of(qp);
		mt_flight_end_round(f, now_ns, &b);
		await_all_ports(qp);
	}
	set_full(qp, port, mt_flight_is_enough(f));
}
