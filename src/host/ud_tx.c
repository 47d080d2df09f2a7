/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_tx.c - sends datagrams.
 *
 * Who uses datagrams keeps order by himself, but takes one that is early for one that is lost. So
 * the datagrams of a QP are not sprayed one by one: they follow each other on one path for as long
 * as they do so closely, a millisecond at most, and then on the next path of all, port by port in
 * turn. What a slow program sends so changes its path each time: a path that loses everything
 * drops no two tries of it, and is left when probes say so (ud_peers.h).
 */
#include "base/assert.h"
#include "host/engine_events.h"
#include "host/engine_host.h"
#include "host/nic_cq.h"
#include "host/nic_tx.h"
#include "host/ud.h"

/* Longer than datagrams of one burst are apart, shorter than a round trip with its wake-ups. */
#define PATH_IDLE_SWITCH_NS UINT64_C(20000)
#define PATH_DWELL_MAX_NS UINT64_C(1000000)
/* One pump holds the NIC's lock for about this many datagrams at most. */
#define PUMP_MAX 256u
#define PSN_MASK 0xFFFFFFu

static struct mh_ud_send *ud_oldest_send(const struct mh_ud *ud)
{
	return &ud->send[ud->sent % ud->qp->init.cap.max_send_wr];
}

void mh_ud_complete_send(struct mh_ud *ud, enum rd_wc_status status)
{
	const struct mh_ud_send *send = ud_oldest_send(ud);
	struct mh_qp *qp = ud->qp;
	struct mh_cqe cqe = {.qp = qp, .wr = ++ud->sent};

	if (status == RD_WC_SUCCESS && !qp->init.signal_all && !(send->flags & RD_SEND_SIGNALED))
		return;
	cqe.wc = (struct mh_wc){
		.wr_id = send->wr_id,
		.status = status,
		.opcode = RD_WC_SEND,
		.byte_len = send->bytes,
		.qpn = qp->number,
		.qp_owner = qp->init.owner,
	};
	mh_completion_push(qp->dev->nic, qp->init.send_cq, &cqe);
}

static void ud_switch_path(const struct mh_nic *nic, struct mh_ud_path *path, uint32_t number,
			   uint64_t now_ns)
{
	path->number = number;
	path->port = number % nic->ports.n;
	path->ev = mh_engine_ev(&nic->env, path->port, number / nic->ports.n);
	path->until_ns = now_ns + PATH_DWELL_MAX_NS;
}

/*
 * ud_next_path takes the next good path to a destination, of a port that has room; false: none has.
 * Where all ports are down from which good paths leave, any path will do: what is known of it may
 * be old. REQ(ud.spray) REQ(ud.health.avoid)
 */
static bool ud_next_path(struct mh_nic *nic, struct mh_ud_path *path, const struct mh_ud_peer *peer,
			 uint64_t now_ns)
{
	uint32_t paths = nic->ports.n * nic->env.evs;
	bool good = false; /* some path is, and its port is up */

	for (uint32_t tried = 0; tried < 2 * paths && !(good && tried >= paths); tried++) {
		uint32_t number = path->next++ % paths, port = number % nic->ports.n;

		if (tried < paths && mh_ud_peer_is_path_bad(peer, number))
			continue;
		good |= tried < paths && nic->ports.port[port].up;
		if (mh_tx_budget(nic, port, now_ns) == 0)
			continue;
		ud_switch_path(nic, path, number, now_ns);
		return true;
	}
	return false;
}

/* ud_send_budget returns how many datagrams may go now to a destination on the path that it
 * chooses. */
static uint32_t ud_send_budget(struct mh_nic *nic, struct mh_ud_path *path,
			       const struct mh_ud_peer *peer, uint64_t now_ns)
{
	uint32_t room = mh_tx_budget(nic, path->port, now_ns);

	if (room == 0 || now_ns >= path->until_ns ||
	    now_ns >= path->used_ns + PATH_IDLE_SWITCH_NS ||
	    mh_ud_peer_is_path_bad(peer, path->number)) {
		if (!ud_next_path(nic, path, peer, now_ns))
			return 0;
		room = mh_tx_budget(nic, path->port, now_ns);
	}
	path->used_ns = now_ns;
	return room;
}

/* ud_find_peer looks up where a datagram goes. */
static const struct mh_ud_peer *ud_find_peer(struct mh_ud *ud, const struct mh_ud_send *send,
					     uint64_t now_ns)
{
	ud->peer = mh_ud_peers_find(ud->qp->dev->nic, ud->peer, &send->dest, send->qpn, now_ns);
	return ud->peer;
}

/* ud_are_sges_valid says whether all bytes to be sent belong to MRs of the QP's PD. */
static bool ud_are_sges_valid(const struct mh_ud *ud, const struct mh_ud_send *send,
			      const struct rd_sge *sge)
{
	const struct mh_qp *qp = ud->qp;

	if (send->flags & RD_SEND_INLINE)
		return true;
	for (uint32_t i = 0; i < send->n_sge; i++)
		if (!mh_engine_find_mr(qp->dev->nic, qp->init.pd, 0, &sge[i], 0, sge[i].length))
			return false;
	return true;
}

/* ud_send_one puts the WR with this number into the burst of its port; false: its memory is
 * gone. */
static bool ud_send_one(struct mh_ud *ud, uint64_t number)
{
	struct mh_qp *qp = ud->qp;
	struct mh_nic *nic = qp->dev->nic;
	uint64_t at = number % qp->init.cap.max_send_wr;
	const struct mh_ud_send *send = &ud->send[at];
	struct mh_tx_datagram out = {
		.headers = {.se = (send->flags & RD_SEND_SOLICITED) != 0,
			    .with_imm = (send->flags & RD_SEND_IMM) != 0,
			    .pad = -send->bytes & 3,
			    .p_key = ud->p_key,
			    .dqp = send->qpn,
			    .psn = ud->sq_psn,
			    .q_key = send->q_key,
			    .src_qpn = qp->number,
			    .imm = send->imm,
			    .payload_len = send->bytes},
		.dest = send->dest,
		.port = ud->path.port,
		.ev = ud->path.ev,
		.traffic_class = send->traffic_class,
		.sge = ud->send_sge + at * qp->init.cap.max_send_sge,
		.n_sge = send->n_sge,
	};

	if (!ud_are_sges_valid(ud, send, out.sge) || !mh_tx_datagram(nic, &out))
		return false;
	ud->sq_psn = (ud->sq_psn + 1) & PSN_MASK;
	nic->counts.ud_tx++;
	nic->counts.ud_tx_bytes += send->bytes;
	return true;
}

/*
 * ud_send_burst sends at most `room` datagrams of a QP, as long as its path leads where they go,
 * and returns how many. Their WRs complete when the driver has had them, for only then may the
 * program change their memory.
 */
static uint32_t ud_send_burst(struct mh_ud *ud, uint32_t room, uint64_t now_ns)
{
	struct mh_nic *nic = ud->qp->dev->nic;
	uint64_t end = ud->sent;
	uint32_t sent = 0;
	bool gone = false;

	for (; sent < room && end < ud->qp->send.posted && !gone; end++) {
		const struct mh_ud_send *send = &ud->send[end % ud->qp->init.cap.max_send_wr];

		if (mh_ud_peer_is_path_bad(ud_find_peer(ud, send, now_ns), ud->path.number))
			break;
		if (send->bytes > nic->env.mtu) { /* REQ(ud.too-long) */
			nic->counts.ud_tx_unsent++;
		} else {
			gone = !ud_send_one(ud, end);
			sent += !gone;
		}
	}
	mh_tx_flush(nic, ud->path.port, now_ns);
	while (ud->sent < end - gone)
		mh_ud_complete_send(ud, RD_WC_SUCCESS);
	if (gone) {
		nic->counts.tx_mr_gone++;
		mh_ud_complete_send(ud, RD_WC_LOC_PROT_ERR);
		mh_ud_to_err(ud);
	}
	return sent;
}

/* ud_complete_unsent completes what is posted while no port is up: nobody can have it. */
static void ud_complete_unsent(struct mh_ud *ud)
{
	for (; ud->sent < ud->qp->send.posted; ud->qp->dev->nic->counts.ud_tx_unsent++)
		mh_ud_complete_send(ud, RD_WC_SUCCESS);
}

uint32_t mh_ud_tx_run(struct mh_nic *nic, uint64_t now_ns)
{
	uint32_t all = 0;

	while (!mb_link_is_empty(&nic->ud_senders) && all < PUMP_MAX) {
		struct mh_ud *ud = mb_container_of(nic->ud_senders.next, struct mh_ud, sender);
		const struct mh_ud_peer *peer = ud_find_peer(ud, ud_oldest_send(ud), now_ns);
		uint32_t room = ud_send_budget(nic, &ud->path, peer, now_ns);

		if (room > 0)
			all += ud_send_burst(ud, room, now_ns);
		else if (!mh_ports_is_any_up(&nic->ports))
			ud_complete_unsent(ud);
		else
			break;
		if (ud->sent == ud->qp->send.posted)
			mb_link_remove(&ud->sender);
		else
			mb_list_rotate(&nic->ud_senders);
	}
	nic->ud_sent_since_rx += all;
	mh_ud_peers_flush(nic, now_ns);
	return all;
}

/* ud_has_good_path_on says whether a good path to a destination leaves from a port, which is up. */
static bool ud_has_good_path_on(const struct mh_nic *nic, const struct mh_ud_peer *peer,
				uint32_t port)
{
	if (!nic->ports.port[port].up)
		return false;
	for (uint32_t i = 0; i < nic->env.evs; i++)
		if (!mh_ud_peer_is_path_bad(peer, i * nic->ports.n + port))
			return true;
	return false;
}

uint64_t mh_ud_deadline(const struct mh_nic *nic)
{
	const struct mh_ud_peer *peer;
	uint64_t next = UINT64_MAX;
	uint32_t wanted = 0;

	if (mb_link_is_empty(&nic->ud_senders))
		return next;
	/* The first sender waits for a port that leads to where it sends, if one does. */
	peer = mb_container_of(nic->ud_senders.next, struct mh_ud, sender)->peer;
	for (uint32_t i = 0; i < nic->ports.n; i++)
		wanted |= (uint32_t)ud_has_good_path_on(nic, peer, i) << i;
	for (uint32_t i = 0; i < nic->ports.n; i++) {
		const struct mh_port *port = &nic->ports.port[i];
		uint64_t at = mh_pace_deadline(&port->pace);

		/* A blocked port has a deadline of its own; one that is down never sends. */
		if (port->up && !port->io->status->blocked && (!wanted || wanted >> i & 1) &&
		    at < next)
			next = at;
	}
	return next;
}
