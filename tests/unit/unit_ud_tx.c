/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_ud_tx.c - which path datagrams take, and how many of them: src/ud/ud_tx.c. */
#include "unit/ud_fixture.h"

#define IDLE_NS UINT64_C(20000)
#define DWELL_NS UINT64_C(1000000)
/* The paths of two of the ports, a mask. */
#define OF_PORTS_0_AND_1 3u

/* What is known of a host; paths of the mask lead nowhere. */
static struct mu_peer *know(struct adapter *a, uint8_t host, uint32_t bad)
{
	struct rd_gid dest = {{host}};
	struct mu_peer *peer = mu_peers_find(a->e, NULL, &dest, 1, 1);
	struct mt_ev_change changes[2];

	for (uint16_t path = 0; path < EVS; path++)
		if (bad >> path & 1)
			assert_u_eq(mt_ev_retire(peer->health.set, path, 1, MT_EV_BY_LOSS, changes),
				    1);
	return peer;
}

/* Sends one datagram to host 9 at a time; returns its EV. */
static uint32_t send_at(struct adapter *a, uint64_t now_ns)
{
	assert_true(post_send(a->qp, 9, 1));
	assert_u_eq(run(a, 1, now_ns), 1);
	return a->tx[(a->sent - 1) % KEPT].ev;
}

/* REQ(ud.spray) */
UD_TEST(mu_run, stays_on_its_path_for_a_moment)
{
	struct adapter *a = *state;
	uint64_t now_ns = 1000;
	uint32_t ev;

	make_ready(a->qp);
	ev = send_at(a, now_ns);
	assert_u_eq(send_at(a, now_ns), ev);
	assert_u_eq(send_at(a, now_ns + IDLE_NS - 1), ev);
	now_ns += IDLE_NS - 1 + IDLE_NS;
	assert_true(send_at(a, now_ns) != ev);
	ev = send_at(a, now_ns);
	/* However closely they follow, not for ever. */
	for (uint64_t t = IDLE_NS / 2; t < DWELL_NS; t += IDLE_NS / 2)
		assert_u_eq(send_at(a, now_ns + t), ev);
	assert_true(send_at(a, now_ns + DWELL_NS) != ev);
}

UD_TEST(mu_run, no_more_than_there_is_room_for)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(post_send(a->qp, 9, 1));
	a->room[0] = 2;
	assert_u_eq(mu_run(a->e, ALL_PORTS, 1000), 2);
	assert_u_eq(a->user.completions, 2);
	assert_u_eq(a->flushed, 2);
	a->room[1] = 2;
	assert_u_eq(mu_run(a->e, ALL_PORTS, 1000), 1);
	assert_u_eq(a->flushed, 3);
}

/* REQ(ud.health.avoid) */
UD_TEST(mu_run, each_on_a_path_that_leads_to_its_host)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	for (uint32_t first = 0; first < EVS; first++) {
		know(a, (uint8_t)(20 + first), 1u << first);
		a->qp->path = (struct mu_path){.next = first};
		assert_true(post_send(a->qp, 9, 1));
		assert_true(post_send(a->qp, (uint8_t)(20 + first), 1));
		assert_true(post_send(a->qp, 9, 1));
		a->sent = 0;
		assert_u_eq(run(a, 3, 1000), 3);
		assert_u_eq(a->tx[0].ev, EV_BASE + first);
		assert_true(a->tx[1].ev != EV_BASE + first);
		/* What follows may stay where that one went. */
		assert_u_eq(a->tx[2].ev, a->tx[1].ev);
	}
}

/* A path that leads there is waited for, though others have room. */
UD_TEST(mu_run, waits_for_the_good_port)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	know(a, 9, OF_PORTS_0_AND_1);
	for (uint32_t first = 0; first < EVS; first++) {
		assert_true(post_send(a->qp, 9, 1));
		a->qp->path = (struct mu_path){.next = first};
		a->room[0] = a->room[1] = 1;
		a->room[2] = 0;
		assert_u_eq(mu_run(a->e, ALL_PORTS, 1000), 0);
		assert_u_eq(mu_wanted_ports(a->e, ALL_PORTS), 4);
		a->room[2] = 1;
		assert_u_eq(mu_run(a->e, ALL_PORTS, 1000), 1);
	}
	assert_u_eq(a->user.completions, EVS);
}

/* But not for a port that is down: what is known of the others may be old. */
UD_TEST(mu_run, takes_any_when_the_good_port_is_down)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	know(a, 9, OF_PORTS_0_AND_1);
	for (uint32_t first = 0; first < EVS; first++) {
		assert_true(post_send(a->qp, 9, 1));
		a->qp->path = (struct mu_path){.next = first};
		a->room[0] = a->room[2] = 0;
		a->room[1] = 1;
		assert_u_eq(mu_run(a->e, 3, 1000), 1);
		assert_u_eq(a->tx[first].port, 1);
	}
	assert_true(post_send(a->qp, 9, 1));
	assert_u_eq(mu_wanted_ports(a->e, 3), 3);
}

/* Whatever else is known or up. REQ(ctl.ev-denied) */
UD_TEST(mu_path_deny, no_datagram_takes_it)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(mu_path_deny(a->e, 1, true));
	for (uint32_t i = 0; i < 3 * EVS; i++)
		assert_true(send_at(a, 1000 + i * IDLE_NS) != EV_BASE + 1);
	/* The one that is left is bad, and then its port is down. */
	know(a, 9, 4);
	assert_true(mu_path_deny(a->e, 0, true));
	assert_u_eq(send_at(a, 1000000), EV_BASE + 2);
	assert_true(post_send(a->qp, 9, 1));
	a->room[0] = a->room[1] = 1;
	a->room[2] = 0;
	assert_u_eq(mu_wanted_ports(a->e, ALL_PORTS), 4);
	assert_u_eq(mu_run(a->e, ALL_PORTS, 1000000), 0);
	assert_u_eq(mu_run(a->e, OF_PORTS_0_AND_1, 1000000), 0);
	assert_u_eq(mu_counts(a->e)->ud_tx_unsent, 1);
	assert_u_eq(mu_wanted_ports(a->e, OF_PORTS_0_AND_1), 0);
}

UD_TEST(mu_path_deny, is_left_by_the_next_datagram)
{
	struct adapter *a = *state;
	uint32_t ev;

	make_ready(a->qp);
	ev = send_at(a, 1000);
	assert_true(mu_path_deny(a->e, (uint16_t)(ev - EV_BASE), true));
	assert_true(send_at(a, 1001) != ev);
}

/* REQ(ctl.ev-denied) */
UD_TEST(mu_path_deny, not_the_last_one)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(mu_path_deny(a->e, 0, true));
	assert_true(mu_path_deny(a->e, 1, true));
	assert_false(mu_path_deny(a->e, 2, true));
	assert_true(mu_path_deny(a->e, 1, true));
	assert_u_eq(send_at(a, 1000), EV_BASE + 2);
	assert_true(mu_path_deny(a->e, 1, false));
	assert_true(mu_path_deny(a->e, 2, true));
	assert_u_eq(send_at(a, 1000 + IDLE_NS), EV_BASE + 1);
}

UD_TEST(mu_run, nothing_waits_when_all_ports_are_down)
{
	struct adapter *a = *state;

	make_ready(a->qp);
	assert_true(post_send(a->qp, 9, 1));
	assert_u_eq(run(a, 0, 1000), 0);
	assert_u_eq(a->user.completions, 0); /* they have no room now */
	assert_u_eq(mu_run(a->e, 0, 1000), 0);
	assert_u_eq(a->user.completions, 1);
	assert_u_eq(mu_counts(a->e)->ud_tx_unsent, 1);
}

UD_TEST(mu_run, qps_take_turns)
{
	struct adapter *a = *state;
	struct user other = {0};
	struct mu_qp *qp = create_qp(a->e, NULL, &other);

	make_ready(a->qp);
	make_ready(qp);
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_true(post_send(a->qp, 9, 1));
		assert_true(post_send(qp, 9, 1));
	}
	for (uint32_t i = 1; i <= DEPTH; i++) {
		a->room[0] = 2;
		a->qp->path.until_ns = qp->path.until_ns = 0;
		while (a->room[0] > 0) {
			uint32_t left = a->room[0];

			a->room[0] = 1;
			assert_u_eq(mu_run(a->e, ALL_PORTS, 1000), 1);
			a->room[0] = left - 1;
		}
		assert_u_eq(a->user.completions, i);
		assert_u_eq(other.completions, i);
	}
	mu_qp_destroy(qp);
}
