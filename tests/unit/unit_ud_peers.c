/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ud_peers.c - datagrams keep to the paths that lead to their destination: src/ud/ud_peers.c
 * and what ud_tx.c makes of it. The peer is two bare ports, of which the test decides what each
 * answers.
 */
#include "unit/nic_fixture.h"

#include <string.h>

#include "node/node_state.h"
#include "ud/ud_private.h"
#include "wire/datagram.h"
#include "wire/packet.h"

#define PEERS_TEST(function, name) TEST_WITH(peers_setup, peers_teardown, function, name)
#define PATIENCE_NS UINT64_C(20000000000)
/* So many datagrams take each path several times. */
#define RUN (4 * FIXTURE_PLANES * FIXTURE_EVS)

struct peers_fixture {
	struct nic_fixture *nic;
	struct mh_qp *qp;
	struct rd_ah ah;
	uint32_t answers; /* planes on which the peer answers probes, a mask */
	uint32_t probes;
	uint32_t in_a_row[FIXTURE_PLANES]; /* datagrams, since one came on another plane */
};

static int peers_setup(void **state)
{
	struct peers_fixture *p = calloc(1, sizeof(*p));
	struct mh_qp_init init = {.cap = {.max_send_wr = 8, .max_send_sge = 1}, .type = MH_QPT_UD};
	struct rd_qp_attr attr = {.q_key = 1};
	void *fixture;

	if (fixture_setup(&fixture))
		return -1;
	p->nic = fixture;
	memcpy(p->ah.dest.b, fixture_addr(0, 9, 0).ip, 16);
	init.pd = p->nic->pd;
	init.send_cq = init.recv_cq = p->nic->cq;
	*state = p;
	if (mh_qp_create(&init, &p->qp))
		return -1;
	for (attr.state = RD_QPS_INIT; attr.state <= RD_QPS_RTS; attr.state++)
		if (mh_qp_modify(p->qp, &attr,
				 RD_QP_STATE | (attr.state == RD_QPS_INIT ? RD_QP_Q_KEY : 0) |
					 (attr.state == RD_QPS_RTS ? RD_QP_SQ_PSN : 0)))
			return -1;
	return 0;
}

static int peers_teardown(void **state)
{
	struct peers_fixture *p = *state;
	void *fixture = p->nic;
	int err = mh_qp_destroy(p->qp) || fixture_teardown(&fixture);

	free(p);
	return err;
}

/* Answers a probe as an engine does. */
static void answer(struct peers_fixture *p, uint32_t plane, const struct mw_packet *probe)
{
	struct mio_addr from = fixture_addr(plane, 9, FIXTURE_EV_BASE);
	struct mio_addr to = fixture_addr(plane, 1, MH_UDP_PORT);
	struct mw_packet pkt = {
		.bth = {.opcode = MW_EP_RESPONSE,
			.p_key = MW_P_KEY_DEFAULT,
			.dqp = MW_QPN_ENDPOINT,
			.psn = probe->bth.psn},
		.eeth = {.op = probe->erth.op, .tx_timestamp = probe->erth.ts.tx_timestamp}};
	uint8_t bytes[MIO_FRAME_MAX];
	size_t body = mw_packet_encode(&pkt, bytes);
	struct iovec iov = {bytes, body + 4};
	struct mio_tx frame = {.iov = &iov,
			       .n_iov = 1,
			       .len = (uint32_t)body + 4,
			       .ev = FIXTURE_EV_BASE,
			       .sport = FIXTURE_EV_BASE,
			       .dst = to};

	fixture_icrc(bytes, body, &from, &to, bytes + body);
	mio_port_tx(p->nic->peer[plane], 0, &frame, 1);
}

static void take(struct peers_fixture *p, uint32_t plane, const struct mio_rx *frame)
{
	struct mw_packet pkt;
	size_t headers;

	if (mw_is_datagram(frame->bytes[0])) {
		for (uint32_t i = 0; i < FIXTURE_PLANES; i++)
			p->in_a_row[i] = i == plane ? p->in_a_row[i] + 1 : 0;
		return;
	}
	assert_int_equal(mw_packet_decode(frame->bytes, frame->len - 4, false, &pkt, &headers),
			 MW_OK);
	assert_u_eq(pkt.bth.opcode, MW_EP_REQUEST);
	assert_u_eq(pkt.erth.op, MW_EP_EV_PROBE);
	p->probes++;
	if (p->answers >> plane & 1)
		answer(p, plane, &pkt);
}

/* Sends a datagram, waits a moment, and takes what has come to the peer. */
static void ping(struct peers_fixture *p)
{
	struct rd_sge sge = {(uintptr_t)p->nic->buffer, 8, mh_mr_lkey(p->nic->mr)};
	struct rd_send_wr wr = {.sge = &sge,
				.n_sge = 1,
				.flags = RD_SEND_SIGNALED,
				.opcode = RD_WR_SEND,
				.ud = {&p->ah, FIXTURE_PEER_QPN, 1}};
	struct mio_rx frame;
	struct mh_wc wc;

	assert_i_eq(mh_qp_post_send(p->qp, &wr, 1, NULL), 0);
	while (mh_cq_poll(p->nic->cq, 1, &wc) != 1)
		poll(NULL, 0, 1);
	poll(NULL, 0, 1);
	for (uint32_t plane = 0; plane < FIXTURE_PLANES; plane++)
		while (mio_port_rx(p->nic->peer[plane], 0, &frame, 1) == 1)
			take(p, plane, &frame);
}

/* Pings until so many datagrams in a row have come on a plane; says whether they did in time. */
static bool ping_until(struct peers_fixture *p, uint32_t plane, uint32_t in_a_row)
{
	uint64_t begin = mh_now_ns();

	memset(p->in_a_row, 0, sizeof(p->in_a_row));
	while (p->in_a_row[plane] < in_a_row && mh_now_ns() - begin < PATIENCE_NS)
		ping(p);
	return p->in_a_row[plane] >= in_a_row;
}

/* REQ(ud.health.avoid) */
PEERS_TEST(mu_run, leaves_a_dead_plane_and_comes_back)
{
	struct peers_fixture *p = *state;

	p->answers = 1;
	assert_true(ping_until(p, 0, RUN));
	assert_true(fixture_counter(p->nic, "ud_evs_retired") >= FIXTURE_EVS);
	p->answers = 3;
	assert_true(ping_until(p, 1, 1));
	assert_true(fixture_counter(p->nic, "ud_evs_revived") > 0);
}

/* Denies the EVs of plane 1, or allows them again. */
static int deny_plane_1(struct mn_state *s, const struct mn_device *d, void *ctx)
{
	const bool *denied = ctx;
	struct mn_ev_op op = {.ev = {.port = 2}, .denied = *denied};
	int err = 0;

	for (uint32_t i = 0; i < FIXTURE_EVS && !err; i++) {
		uint32_t value = FIXTURE_EV_BASE + i;

		memcpy(op.ev.val, &value, sizeof(value));
		err = mn_ev_modify(s, d, MN_OWN_PROFILE, &op);
	}
	return err;
}

/* REQ(ctl.ev-denied) */
PEERS_TEST(mu_path_deny, by_a_controller)
{
	struct peers_fixture *p = *state;
	bool denied = true;

	assert_i_eq(mh_node_change(p->nic->dev, deny_plane_1, &denied, NULL), 0);
	for (uint32_t i = 0; i < RUN; i++)
		ping(p);
	assert_u_eq(p->in_a_row[0], RUN);
	denied = false;
	assert_i_eq(mh_node_change(p->nic->dev, deny_plane_1, &denied, NULL), 0);
	assert_true(ping_until(p, 1, 1));
}

/* Any maker's device may be there, which knows no probes. REQ(ud.health.witness) */
PEERS_TEST(mu_run, uses_all_paths_to_who_answers_nothing)
{
	struct peers_fixture *p = *state;
	uint64_t begin = mh_now_ns();

	while (p->probes < 4 * MU_ROUND_PROBES && mh_now_ns() - begin < PATIENCE_NS)
		ping(p);
	assert_true(p->probes >= 4 * MU_ROUND_PROBES);
	assert_u_eq(fixture_counter(p->nic, "ud_evs_retired"), 0);
	assert_true(ping_until(p, 0, 1));
	assert_true(ping_until(p, 1, 1));
}

/* Who sends nothing asks nothing, once his doubts are settled. */
PEERS_TEST(mu_peers_find, asks_only_while_datagrams_go)
{
	struct peers_fixture *p = *state;
	uint64_t begin = mh_now_ns(), before, sent = 0;

	p->answers = 3;
	while (p->probes == 0 && mh_now_ns() - begin < PATIENCE_NS)
		ping(p);
	do {
		before = sent;
		poll(NULL, 0, 200);
		sent = fixture_counter(p->nic, "tx_ep_requests");
	} while (sent != before && mh_now_ns() - begin < PATIENCE_NS);
	assert_true(sent > 0);
	assert_u_eq(sent, before);
}

/* Engines at one address are destinations of their own. REQ(ud.health.endpoint) */
PEERS_TEST(mu_peers_find, one_for_each_engine)
{
	struct peers_fixture *p = *state;
	struct mh_nic *nic = p->nic->dev->nic;
	struct mu_peer *first, *second;

	mh_nic_lock(nic);
	first = mu_peers_find(nic->ud, NULL, &p->ah.dest, FIXTURE_PEER_QPN, 1);
	assert_ptr_equal(mu_peers_find(nic->ud, first, &p->ah.dest, FIXTURE_PEER_QPN + 1, 2),
			 first);
	second = mu_peers_find(nic->ud, first, &p->ah.dest, FIXTURE_PEER_QPN | 1u << 23, 3);
	mh_nic_unlock(nic);
	assert_non_null(second);
	assert_true(second != first);
	assert_u_eq(first->endpoint, 0);
	assert_u_eq(second->endpoint, 512);
}

/* Callers' clocks differ a little; only after long what is known is forgotten. */
PEERS_TEST(mu_peers_find, remembers)
{
	struct peers_fixture *p = *state;
	struct mh_nic *nic = p->nic->dev->nic;
	uint64_t now_ns = mh_now_ns();
	struct mt_ev_change changes[2];
	struct mu_peer *peer;

	mh_nic_lock(nic);
	peer = mu_peers_find(nic->ud, NULL, &p->ah.dest, FIXTURE_PEER_QPN, now_ns);
	assert_u_eq(mt_ev_retire(peer->health.set, 1, now_ns, MT_EV_BY_LOSS, changes), 1);
	mu_peers_find(nic->ud, peer, &p->ah.dest, FIXTURE_PEER_QPN, now_ns - 1);
	assert_true(mu_peer_is_path_bad(peer, 1));
	mu_peers_find(nic->ud, peer, &p->ah.dest, FIXTURE_PEER_QPN, now_ns + UINT64_C(10000000000));
	peer->health.n_open = 0;
	assert_true(mu_peer_is_path_bad(peer, 1));
	mu_peers_find(nic->ud, peer, &p->ah.dest, FIXTURE_PEER_QPN, now_ns + UINT64_C(20000000001));
	assert_false(mu_peer_is_path_bad(peer, 1));
	peer->health.n_open = 2 * MU_ROUND_PROBES; /* which may all end yet */
	mh_nic_unlock(nic);
}

/* REQ(ud.health.bounded) */
PEERS_TEST(mu_peers_find, keeps_no_more_than_it_has_room_for)
{
	struct peers_fixture *p = *state;
	struct mh_nic *nic = p->nic->dev->nic;
	struct rd_gid dest = p->ah.dest;
	uint32_t kept = 0;

	mh_nic_lock(nic);
	for (uint32_t i = 0; i < 10000; i++) {
		struct mu_peer *peer;

		memcpy(dest.b + 12, &i, sizeof(i));
		peer = mu_peers_find(nic->ud, NULL, &dest, FIXTURE_PEER_QPN, i);
		assert_non_null(peer);
		assert_ptr_equal(mu_peers_find(nic->ud, NULL, &dest, FIXTURE_PEER_QPN, i), peer);
	}
	for (uint32_t i = 0; i < MU_PEER_SETS * MU_PEER_WAYS; i++)
		kept += nic->ud->peer[i] != NULL;
	mh_nic_unlock(nic);
	assert_u_eq(kept, MU_PEER_SETS * MU_PEER_WAYS);
}

/* A place with probes under way is not given to another. */
PEERS_TEST(mu_peers_find, no_place)
{
	struct peers_fixture *p = *state;
	struct mh_nic *nic = p->nic->dev->nic;
	struct rd_gid dest = p->ah.dest;
	uint32_t refused = 0;

	mh_nic_lock(nic);
	for (uint32_t i = 0; i < 1000; i++) {
		struct mu_peer *peer;

		memcpy(dest.b + 12, &i, sizeof(i));
		peer = mu_peers_find(nic->ud, NULL, &dest, FIXTURE_PEER_QPN, i);
		refused += peer == NULL;
		assert_false(mu_peer_is_path_bad(peer, 0));
		if (peer)
			peer->health.n_open = 1;
	}
	mh_nic_unlock(nic);
	assert_u_eq(refused, 1000 - MU_PEER_SETS * MU_PEER_WAYS);
}

/* How many frames have come to the peer by now. */
static uint32_t come(struct peers_fixture *p)
{
	struct mio_rx frame;
	uint32_t n = 0;

	for (uint32_t plane = 0; plane < FIXTURE_PLANES; plane++)
		while (mio_port_rx(p->nic->peer[plane], 0, &frame, 1) == 1)
			n++;
	return n;
}

/* Nobody else sends here, for the lock is held. */
PEERS_TEST(mu_peers_flush, sends_probes_at_once)
{
	struct peers_fixture *p = *state;
	struct mh_nic *nic = p->nic->dev->nic;
	uint64_t now_ns = mh_now_ns();
	struct mu_peer *peer;
	uint32_t asked;

	mh_nic_lock(nic);
	peer = mu_peers_find(nic->ud, NULL, &p->ah.dest, FIXTURE_PEER_QPN, now_ns);
	assert_false(nic->ud->has_probes);
	now_ns += MU_ROUND_NS;
	mu_peers_find(nic->ud, peer, &p->ah.dest, FIXTURE_PEER_QPN, now_ns);
	asked = peer->health.n_open;
	assert_true(asked > 0);
	assert_u_eq(come(p), 0);
	mu_peers_flush(nic->ud, now_ns);
	assert_u_eq(come(p), asked);
	assert_false(nic->ud->has_probes);
	/* As each run does, whatever else it sends. */
	peer->health.n_open = 0;
	now_ns += MU_ROUND_NS;
	mu_peers_find(nic->ud, peer, &p->ah.dest, FIXTURE_PEER_QPN, now_ns);
	assert_true(nic->ud->has_probes);
	mu_run(nic->ud, 0, now_ns);
	assert_false(nic->ud->has_probes);
	peer->health.n_open = 2 * MU_ROUND_PROBES; /* which may all end yet */
	mh_nic_unlock(nic);
}

/* The end of the only probe of a round of which another EV's was answered. */
static void fail_round(struct mh_nic *nic, struct mu_peer *peer, uint64_t now_ns)
{
	struct mt_event end = {.wr_id = (uint64_t)peer->number << 17 | 1,
			       .ep_status = MT_EP_TIMED_OUT};

	peer->health.n_asked = 0;
	mu_health_probe_sent(&peer->health, 0);
	mu_health_probe_sent(&peer->health, 1);
	mu_health_probe_ended(&peer->health, 1, true, 1, now_ns, &nic->ud->counts);
	assert_true(mu_deliver_probe(nic->ud, &end, now_ns));
}

/* A doubt is settled though no datagram goes, and it alone; not long after the last one. */
PEERS_TEST(mu_deliver_probe, asks_again_in_doubt)
{
	struct peers_fixture *p = *state;
	struct mh_nic *nic = p->nic->dev->nic;
	uint64_t now_ns = mh_now_ns();
	struct mt_event end = {.wr_id = 2};
	struct mu_peer *peer;

	mh_nic_lock(nic);
	assert_false(mu_deliver_probe(nic->ud, &end, now_ns)); /* not of these */
	peer = mu_peers_find(nic->ud, NULL, &p->ah.dest, FIXTURE_PEER_QPN, now_ns);
	fail_round(nic, peer, now_ns + UINT64_C(2000000000));
	assert_true(peer->health.doubtful);
	assert_u_eq(come(p), 0);
	fail_round(nic, peer, now_ns + MU_ROUND_NS);
	assert_true(peer->health.n_open > 0);
	assert_u_eq(come(p), peer->health.n_open);
	mh_nic_unlock(nic);
}
