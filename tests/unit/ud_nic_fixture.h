/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_nic_fixture.h - a NIC with one QP of datagrams, UD or UC, and a peer made of bare ports.
 */
#ifndef UNIT_UD_NIC_FIXTURE_H
#define UNIT_UD_NIC_FIXTURE_H

#include "unit/nic_fixture.h"

#include <errno.h>

#include "wire/datagram.h"

#define UD_EV (FIXTURE_EV_BASE + 1)
#define UD_DEPTH 4u
#define UD_RECVS 60u

struct ud_fixture {
	struct nic_fixture *nic;
	struct mh_qp *qp;
	struct rd_ah ah;
};

/* ud_open makes the QP, of a type, in RESET. */
static inline int ud_open(void **state, enum mh_qp_type type)
{
	struct ud_fixture *u = calloc(1, sizeof(*u));
	void *fixture;
	struct mh_qp_init init = {
		.cap = {.max_send_wr = UD_DEPTH,
			.max_recv_wr = UD_RECVS,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline = 32},
		.type = type,
	};

	if (fixture_setup(&fixture))
		return -1;
	u->nic = fixture;
	memcpy(u->ah.dest.b, fixture_addr(0, 9, 0).ip, 16);
	init.pd = u->nic->pd;
	init.send_cq = init.recv_cq = u->nic->cq;
	*state = u;
	return mh_qp_create(&init, &u->qp);
}

static inline int ud_teardown(void **state)
{
	struct ud_fixture *u = *state;
	void *fixture = u->nic;
	int err = mh_qp_destroy(u->qp) || fixture_teardown(&fixture);

	free(u);
	return err;
}

static inline int ud_post(struct ud_fixture *u, const struct rd_send_wr *wr)
{
	return mh_qp_post_send(u->qp, wr, 1, NULL);
}

/* The oldest completion, for which a second is enough. */
static inline struct mh_wc ud_poll(struct ud_fixture *u)
{
	struct mh_wc wc = {.status = RD_WC_FATAL_ERR};

	for (int ms = 0; ms < 1000; ms++) {
		if (mh_cq_poll(u->nic->cq, 1, &wc) == 1)
			return wc;
		poll(NULL, 0, 1);
	}
	fail_msg("no completion");
	return wc;
}

static inline void ud_recv(struct ud_fixture *u, uint32_t len)
{
	struct rd_sge sge = {(uintptr_t)u->nic->buffer, len, mh_mr_lkey(u->nic->mr)};
	struct rd_recv_wr wr = {.wr_id = 8, .sge = &sge, .n_sge = 1};

	assert_i_eq(mh_qp_post_recv(u->qp, &wr, 1, NULL), 0);
}

/* ud_arrive_on sends the QP a datagram of len bytes, all of them 'd', on a plane. */
static inline void ud_arrive_on(struct ud_fixture *u, uint32_t plane, const struct mw_datagram *dg,
				uint8_t tos)
{
	struct mio_addr from = fixture_addr(plane, 9, UD_EV),
			to = fixture_addr(plane, 1, MH_UDP_PORT);
	uint8_t bytes[MIO_FRAME_MAX];
	size_t body = mw_datagram_encode(dg, bytes);
	struct iovec iov = {bytes, 0};
	struct mio_tx frame = {
		.iov = &iov, .n_iov = 1, .ev = UD_EV, .sport = UD_EV, .dst = to, .tos = tos};

	memset(bytes + body, 'd', dg->payload_len + dg->pad);
	body += dg->payload_len + dg->pad;
	fixture_icrc(bytes, body, &from, &to, bytes + body);
	iov.iov_len = frame.len = (uint32_t)(body + 4);
	mio_port_tx(u->nic->peer[plane], 0, &frame, 1);
}

static inline void ud_arrive(struct ud_fixture *u, const struct mw_datagram *dg, uint8_t tos)
{
	ud_arrive_on(u, 0, dg, tos);
}

/* ud_dropped sends the QP what it is to drop, and waits until that is counted. */
static inline void ud_dropped(struct ud_fixture *u, const struct mw_datagram *dg, uint8_t tos,
			      const char *name)
{
	uint64_t before = fixture_counter(u->nic, name);

	ud_arrive(u, dg, tos);
	fixture_wait(u->nic, name, before + 1);
}

#endif
