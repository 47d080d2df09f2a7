/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_fixture.h - a device on two loopback planes with one QP, and a peer made of two bare ports,
 * so that a test sees every frame and can send any.
 */
#ifndef UNIT_NIC_FIXTURE_H
#define UNIT_NIC_FIXTURE_H

#include "support/test.h"

#include <poll.h>

#include "host/state/nic_context.h"
#include "io/drivers.h"
#include "support/frame_icrc.h"
#include "support/nic_counters.h"
#include "unit/loopback.h"
#include "wire/headers.h"

#define FIXTURE_PLANES 2u
#define FIXTURE_EV_BASE 53400u
#define FIXTURE_EVS 4u
#define FIXTURE_BUFFER 65536u
#define FIXTURE_PEER_QPN 77u

struct nic_fixture {
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_cq *cq;
	struct mh_qp *qp;
	struct mh_mr *mr;
	uint8_t *buffer;
	struct mio_port *peer[FIXTURE_PLANES];
};

static inline struct mio_addr fixture_addr(uint32_t plane, uint8_t host, uint16_t port)
{
	struct mio_addr addr = {.udp_port = port};

	mh_addr_from_ip(loopback_ip(plane, host), addr.ip);
	return addr;
}

static inline int fixture_open_peer(struct nic_fixture *fixture, uint32_t plane)
{
	struct mio_udp_cfg cfg = {.local = fixture_addr(plane, 9, MH_UDP_PORT),
				  .ev_base = FIXTURE_EV_BASE,
				  .n_evs = FIXTURE_EVS,
				  .max_run = 1,
				  .rx_buffer_bytes = 1u << 20};
	struct mio_error error;
	int fd;

	return mio_udp_claim(&cfg.local, NULL, &fd, &error) ||
	       mio_udp_open(&cfg, fd, &fixture->peer[plane], &error);
}

static inline int fixture_open_qp(struct nic_fixture *fixture)
{
	uint32_t access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;
	struct mh_qp_init init = {
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 3, .max_inline = 32},
		.owner = fixture,
	};

	if (mh_pd_create(fixture->dev, NULL, &fixture->pd) ||
	    mh_cq_create(fixture->dev, 64, NULL, NULL, &fixture->cq) ||
	    mh_mr_reg(fixture->pd, fixture->buffer, FIXTURE_BUFFER, (uintptr_t)fixture->buffer,
		      access, &fixture->mr))
		return -1;
	init.pd = fixture->pd;
	init.send_cq = init.recv_cq = fixture->cq;
	return mh_qp_create(&init, &fixture->qp);
}

static inline int fixture_setup(void **state)
{
	struct nic_fixture *fixture = calloc(1, sizeof(*fixture));

	loopback_env(FIXTURE_PLANES);
	setenv("MRC_EV_BASE", "53400", 1);
	setenv("MRC_EVS", "4", 1);
	/* Long floors: what a test sees is what it did, not what a timer did meanwhile. */
	setenv("MRC_TAIL_PROBE_US", "5000000", 1);
	setenv("MRC_RTO_MIN_US", "5000000", 1);
	*state = fixture;
	fixture->buffer = malloc(FIXTURE_BUFFER);
	test_rand_bytes(fixture->buffer, FIXTURE_BUFFER);
	if (fixture_open_peer(fixture, 0) || fixture_open_peer(fixture, 1) ||
	    mh_device_open(0, NULL, &fixture->dev))
		return -1;
	return fixture_open_qp(fixture);
}

static inline int fixture_teardown(void **state)
{
	struct nic_fixture *fixture = *state;
	int err = mh_qp_destroy(fixture->qp) || mh_mr_dereg(fixture->mr) ||
		  mh_cq_destroy(fixture->cq) || mh_pd_destroy(fixture->pd) ||
		  mh_device_close(fixture->dev);

	for (uint32_t i = 0; i < FIXTURE_PLANES; i++)
		mio_port_close(fixture->peer[i]);
	free(fixture->buffer);
	free(fixture);
	return err;
}

/* fixture_connect takes the QP to RTS; the peer is host 9. Returns the first error. */
static inline int fixture_connect(struct nic_fixture *fixture)
{
	struct mio_addr peer = fixture_addr(0, 9, 0);
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	attr.dest_qpn = FIXTURE_PEER_QPN;
	memcpy(attr.dest.b, peer.ip, 16);
	attr.rq_psn = 1000;
	attr.sq_psn = 2000;
	attr.path_mtu = 4096;
	attr.access = RD_ACCESS_REMOTE_WRITE;
	attr.state = RD_QPS_INIT;
	if (mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_ACCESS))
		return 1;
	attr.state = RD_QPS_RTR;
	if (mh_qp_modify(fixture->qp, &attr,
			 RD_QP_STATE | RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU))
		return 2;
	attr.state = RD_QPS_RTS;
	return mh_qp_modify(fixture->qp, &attr, RD_QP_STATE | RD_QP_SQ_PSN) ? 3 : 0;
}

/* fixture_receive waits up to a second for one frame at the peer on any plane; UINT32_MAX: none. */
static inline uint32_t fixture_receive(struct nic_fixture *fixture, struct mio_rx *frame)
{
	for (int ms = 0; ms < 1000; ms++) {
		struct pollfd pfd[FIXTURE_PLANES] = {{fixture->peer[0]->status->fd, POLLIN, 0},
						     {fixture->peer[1]->status->fd, POLLIN, 0}};

		for (uint32_t i = 0; i < FIXTURE_PLANES; i++)
			if (mio_port_rx(fixture->peer[i], 0, frame, 1) == 1)
				return i;
		poll(pfd, FIXTURE_PLANES, 1);
	}
	return UINT32_MAX;
}

/* fixture_icrc computes the ICRC of a frame with the portable routine. */
static inline void fixture_icrc(const uint8_t *bytes, size_t body, const struct mio_addr *from,
				const struct mio_addr *to, uint8_t out[4])
{
	const struct frame_ends ends = {true, from->ip + 12, to->ip + 12, from->udp_port,
					to->udp_port};

	frame_icrc(&ends, bytes, body, out);
}

static inline uint64_t fixture_counter(struct nic_fixture *fixture, const char *name)
{
	struct mh_counter all[MH_COUNTERS_MAX];
	uint32_t n = nic_counters(fixture->dev, all);

	for (uint32_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

/* fixture_wait waits up to a minute until a counter is `want`, and checks that it is. */
static inline void fixture_wait(struct nic_fixture *fixture, const char *name, uint64_t want)
{
	for (int ms = 0; ms < 60000 && fixture_counter(fixture, name) < want; ms++)
		poll(NULL, 0, 1);
	test_check_u(fixture_counter(fixture, name), want, name, __FILE__, __LINE__);
}

#endif
