/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_tx.c - sends datagrams.
 *
 * A program that uses datagrams keeps their order itself, but takes one that is early for one that
 * is lost. So the datagrams of a QP are not sprayed one by one: they follow each other on one path
 * for as long as they do so closely, a millisecond at most, and then on the next path of all, port
 * by port in turn. What a slow program sends so changes its path each time: a path that loses
 * everything drops no two tries of it, and is left when probes say so (ud_peers.c).
 */
#include "ud/ud_private.h"

/* Longer than datagrams of one burst are apart, shorter than a round trip with its wake-ups. */
#define PATH_IDLE_SWITCH_NS UINT64_C(20000)
#define PATH_DWELL_MAX_NS UINT64_C(1000000)
/* One run holds the adapter's lock for about this many datagrams at most. */
#define RUN_MAX 256u

static const struct mu_send *oldest_send(const struct mu_qp *qp)
{
	return &qp->send[qp->done % qp->depth];
}

void mu_complete_send(struct mu_qp *qp, enum rd_wc_status status)
{
	const struct mu_send *send = oldest_send(qp);
	struct mu_completion c = {
		.wr_id = send->wr_id,
		.wr = ++qp->done,
		.status = status,
		.byte_len = send->bytes,
	};

	qp->e->env.complete(qp->user, &c);
}

static bool is_up(const struct mu_engine *e, uint32_t path, uint32_t up)
{
	return up >> e->evs[path].port & 1;
}

static uint32_t tx_budget(const struct mu_engine *e, uint32_t path, uint64_t now_ns)
{
	return e->env.tx_budget(e->env.ctx, e->evs[path].port, now_ns);
}

/*
 * next_path takes the next good path to a destination, of a port that has room; false: none has.
 * Where all ports are down from which good paths leave, any path will do that is not denied: what
 * is known of it may be old. REQ(ud.spray) REQ(ud.health.avoid)
 */
static bool next_path(struct mu_qp *qp, uint32_t up, uint64_t now_ns)
{
	const struct mu_engine *e = qp->e;
	uint32_t paths = e->cfg.n_evs;
	bool good = false; /* some path is, and its port is up */

	for (uint32_t tried = 0; tried < 2 * paths && !(good && tried >= paths); tried++) {
		uint32_t number = qp->path.next++ % paths;

		if (mu_is_path_denied(e, number) ||
		    (tried < paths && mu_peer_is_path_bad(qp->peer, number)))
			continue;
		good |= tried < paths && is_up(e, number, up);
		if (tx_budget(e, number, now_ns) == 0)
			continue;
		qp->path.number = number;
		qp->path.until_ns = now_ns + PATH_DWELL_MAX_NS;
		return true;
	}
	return false;
}

/* send_budget returns how many datagrams may go to qp->peer now, on the path that it chooses. */
static uint32_t send_budget(struct mu_qp *qp, uint32_t up, uint64_t now_ns)
{
	struct mu_path *path = &qp->path;
	uint32_t room = tx_budget(qp->e, path->number, now_ns);

	if (room == 0 || now_ns >= path->until_ns ||
	    now_ns >= path->used_ns + PATH_IDLE_SWITCH_NS ||
	    mu_is_path_denied(qp->e, path->number) || mu_peer_is_path_bad(qp->peer, path->number)) {
		if (!next_path(qp, up, now_ns))
			return 0;
		room = tx_budget(qp->e, path->number, now_ns);
	}
	path->used_ns = now_ns;
	return room;
}

/* find_peer looks up where a datagram goes. */
static void find_peer(struct mu_qp *qp, const struct mu_send *send, uint64_t now_ns)
{
	qp->peer = mu_peers_find(qp->e, qp->peer, &send->dest, send->qpn, now_ns);
}

/* are_sges_valid says whether all bytes to be sent belong to MRs of the QP's PD. */
static bool are_sges_valid(const struct mu_qp *qp, const struct mu_send *send,
			   const struct rd_sge *sge)
{
	struct mt_mr_part part;

	if (send->flags & RD_SEND_INLINE)
		return true;
	for (uint32_t i = 0; i < send->n_sge; i++)
		if (!mu_find_mr(qp->e, qp->pd, 0, &sge[i], &part))
			return false;
	return true;
}

/* send_one puts the WR with this number into the burst of its port; false: its memory is gone. */
static bool send_one(struct mu_qp *qp, uint64_t number)
{
	struct mu_engine *e = qp->e;
	const struct mu_send *send = &qp->send[number % qp->depth];
	struct mw_datagram headers = {
		.se = (send->flags & RD_SEND_SOLICITED) != 0,
		.with_imm = (send->flags & RD_SEND_IMM) != 0,
		.pad = -send->bytes & 3,
		.p_key = qp->attr.p_key,
		.dqp = send->qpn,
		.psn = qp->attr.sq_psn,
		.q_key = send->q_key,
		.src_qpn = qp->number,
		.imm = send->imm,
		.payload_len = send->bytes,
	};
	struct mt_tx_desc d = {
		.pkt = {.bth = {.dqp = send->qpn, .pad = headers.pad}, .payload_len = send->bytes},
		.dst = send->dest,
		.sge = qp->sge + number % qp->depth * qp->max_sge,
		.n_sge = send->n_sge,
		.ev = e->evs[qp->path.number].value,
		.port = e->evs[qp->path.number].port,
		.tclass = MW_DSCP_NO_TRIM,
	};

	if (!are_sges_valid(qp, send, d.sge) ||
	    !e->env.tx(e->env.ctx, &d, &headers, send->traffic_class))
		return false;
	qp->attr.sq_psn = (qp->attr.sq_psn + 1) & RD_BITS_24;
	e->counts.ud_tx++;
	e->counts.ud_tx_bytes += send->bytes;
	return true;
}

/*
 * send_burst sends at most `room` datagrams of a QP, as long as its path leads where they go, and
 * returns how many. Their WRs complete when the driver has had them, for only then may the program
 * change their memory.
 */
static uint32_t send_burst(struct mu_qp *qp, uint32_t room, uint64_t now_ns)
{
	struct mu_engine *e = qp->e;
	const struct mu_peer *chosen_for = qp->peer;
	uint64_t end = qp->done;
	uint32_t sent = 0;
	bool gone = false;

	for (; sent < room && end < qp->posted && !gone; end++) {
		const struct mu_send *send = &qp->send[end % qp->depth];

		find_peer(qp, send, now_ns);
		/* For the first destination it may be bad, if all are: or nothing would ever go. */
		if (qp->peer != chosen_for && mu_peer_is_path_bad(qp->peer, qp->path.number))
			break;
		if (send->bytes > e->cfg.mtu) { /* REQ(ud.too-long) */
			e->counts.ud_tx_unsent++;
		} else {
			gone = !send_one(qp, end);
			sent += !gone;
		}
	}
	e->env.tx_flush(e->env.ctx, e->evs[qp->path.number].port, now_ns);
	while (qp->done < end - gone)
		mu_complete_send(qp, RD_WC_SUCCESS);
	if (gone) {
		mu_complete_send(qp, RD_WC_LOC_PROT_ERR);
		mu_qp_to_err(qp);
	}
	return sent;
}

/* complete_unsent completes what is posted while no port is up that it may leave by. */
static void complete_unsent(struct mu_qp *qp)
{
	for (; qp->done < qp->posted; qp->e->counts.ud_tx_unsent++)
		mu_complete_send(qp, RD_WC_SUCCESS);
}

uint32_t mu_run(struct mu_engine *e, uint32_t up, uint64_t now_ns)
{
	uint32_t all = 0;

	while (!mb_link_is_empty(&e->senders) && all < RUN_MAX) {
		struct mu_qp *qp = mb_container_of(e->senders.next, struct mu_qp, sender);
		uint32_t room;

		find_peer(qp, oldest_send(qp), now_ns);
		room = send_budget(qp, up, now_ns);
		if (room > 0)
			all += send_burst(qp, room, now_ns);
		else if ((up & e->allowed_ports) == 0)
			complete_unsent(qp);
		else
			break;
		if (qp->done == qp->posted)
			mb_link_remove(&qp->sender);
		else
			mb_list_rotate(&e->senders);
	}
	mu_peers_flush(e, now_ns);
	return all;
}

uint32_t mu_wanted_ports(const struct mu_engine *e, uint32_t up)
{
	const struct mu_peer *peer;
	uint32_t good = 0, allowed = up & e->allowed_ports;

	if (mb_link_is_empty(&e->senders))
		return 0;
	/* The first sender waits for a port that leads to where it sends, if one does. */
	peer = mb_container_of(e->senders.next, struct mu_qp, sender)->peer;
	for (uint32_t path = 0; path < e->cfg.n_evs; path++)
		if (!mu_is_path_denied(e, path) && !mu_peer_is_path_bad(peer, path))
			good |= 1u << e->evs[path].port;
	return good & allowed ? good & allowed : allowed;
}
