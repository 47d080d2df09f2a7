/* SPDX-License-Identifier: BSD-2-Clause */
/* frames_world.c - opens and closes the world of fuzz_frames.c, and judges what leaves. */
#include "fuzz/frames_world.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "support/frame_icrc.h"
#include "wire/datagram.h"

#define START_NS UINT64_C(1000000000)
/* BTH, EETH and ICRC: what an endpoint request, which has 32, may be answered with. */
#define ANSWER_BYTES 52u

/* world_address writes the address of a host on a plane; what others use lies in the last bytes. */
void world_address(const struct world *w, enum host host, uint32_t plane, uint8_t ip[16])
{
	static const uint8_t other[2][16] = {{0xFD, 0, 0, 1, [15] = 9},
					     {[10] = 0xFF, [11] = 0xFF, [12] = 10, 1, 0, 9}};
	static const uint8_t last[HOSTS] = {9, 11, 1, 9, 9};
	const struct mh_env *env = &w->nic->env;

	memcpy(ip, env->port[plane].ip, 16);
	ip[15] = last[host];
	if (host == OUTSIDE)
		ip[mh_env_is_ipv4(env) ? 13 : 2] ^= 0x40;
	if (host == OTHER_FAMILY)
		memcpy(ip, other[mh_env_is_ipv4(env) ? 0 : 1], 16);
}

bool world_is_tunnelled(const struct world *w)
{
	return w->nic->env.driver == MH_DRIVER_RAW41 || mh_env_is_srv6(&w->nic->env);
}

/* Where a prefix is 0, nobody of the family is outside. */
static bool may_ask(const struct world *w, enum host host)
{
	return host < OUTSIDE ||
	       (host == OUTSIDE && w->nic->env.prefix % 96 == 0 && !mh_env_is_srv6(&w->nic->env));
}

/* ---- what leaves ---- */

static void check_icrc(const struct world *w, uint32_t port, const struct mio_tx *frame,
		       const uint8_t *bytes)
{
	const uint8_t *src = w->nic->env.port[world_is_tunnelled(w) ? 0 : port].ip;
	const uint8_t *dst = world_is_tunnelled(w) ? frame->dst_gid : frame->dst.ip;
	bool v4 = mh_env_is_ipv4(&w->nic->env);
	const struct frame_ends ends = {v4, v4 ? src + 12 : src, v4 ? dst + 12 : dst, frame->sport,
					frame->dst.udp_port};
	uint8_t want[4] = {0};

	if (w->nic->env.icrc)
		frame_icrc(&ends, bytes, frame->len - 4, want);
	mb_assert(memcmp(want, bytes + frame->len - 4, 4) == 0);
}

static enum host host_of(const struct world *w, const uint8_t gid[16])
{
	enum host host = PEER;
	uint8_t ip[16];

	for (; host < HOSTS; host++) {
		world_address(w, host, 0, ip);
		if (memcmp(ip, gid, 16) == 0)
			break;
	}
	return host;
}

static void check_destination(struct world *w, uint32_t port, const struct mio_tx *frame)
{
	enum host host = host_of(w, frame->dst_gid);
	uint8_t ip[16];

	mb_assert(host < HOSTS && may_ask(w, host));
	world_address(w, host, port, ip);
	if (mh_env_is_srv6(&w->nic->env))
		mb_assert(frame->dst.ip[0] == 0xFC && frame->dst.ip[1] == 0xBB);
	else
		mb_assert(memcmp(ip, frame->dst.ip, 16) == 0);
	mb_assert(frame->dst.udp_port >= MH_UDP_PORT &&
		  frame->dst.udp_port < MH_UDP_PORT + MH_SLOTS);
	w->sent[host]++;
	mb_assert(host == PEER || (w->sent[host] <= w->got[host] && frame->len <= ANSWER_BYTES));
}

/* note_packet keeps what the peer will speak of. */
static void note_packet(struct world *w, const struct mw_packet *pkt)
{
	uint32_t i = pkt->bth.dqp - PEER_QPN;

	if (i >= UD)
		return;
	if (pkt->bth.opcode == MW_PROBE)
		w->last_probe[i] = pkt->peth.probe_id;
	else if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_DATA)
		w->last_psn[i] = pkt->bth.psn;
}

static void judge(void *ctx, uint32_t port, const struct mio_tx *frame)
{
	struct world *w = ctx;
	uint8_t bytes[MIO_FRAME_MAX];
	struct mw_datagram dg;
	struct mw_packet pkt;
	uint32_t len = 0;
	size_t headers;

	for (uint32_t i = 0; i < frame->n_iov; i++)
		len += (uint32_t)frame->iov[i].iov_len;
	mb_assert(len == frame->len && len >= BTH_BYTES + 4 && len <= MIO_FRAME_MAX);
	mb_assert(port < w->nic->ports.n && w->nic->ports.port[port].up);
	mb_assert(mio_tx_gather(frame, bytes));
	if (mw_is_datagram(bytes[0])) {
		mb_assert(mw_datagram_decode(bytes, len - 4, &dg, &headers) == MW_OK);
	} else {
		mb_assert(mw_packet_decode(bytes, len - 4, false, &pkt, &headers) == MW_OK);
		note_packet(w, &pkt);
	}
	check_icrc(w, port, frame, bytes);
	check_destination(w, port, frame);
}

/* ---- set-up ---- */

uint8_t *world_region(const struct world *w, enum region r)
{
	return w->arena + GAP + r * (REGION_BYTES + GAP);
}

void world_add_region(struct world *w, enum region r)
{
	static const uint32_t access[REGIONS] = {
		RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ |
			RD_ACCESS_REMOTE_ATOMIC | RD_ACCESS_MW_BIND,
		RD_ACCESS_REMOTE_READ, RD_ACCESS_LOCAL_WRITE};
	uint8_t *at = world_region(w, r);

	mb_assert(mh_mr_reg(w->pd, at, REGION_BYTES, (uintptr_t)at, access[r], &w->mr[r]) == 0);
}

void world_connect(struct world *w, uint32_t i)
{
	uint32_t mask = RD_QP_STATE | (i == UD ? (uint32_t)RD_QP_Q_KEY : RD_QP_ACCESS);
	uint32_t rtr = RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU, rts = RD_QP_SQ_PSN;
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	attr.dest_qpn = PEER_QPN + i;
	world_address(w, PEER, 0, attr.dest.b);
	if (i < UD) {
		rtr |= RD_QP_MAX_DEST_RD_ATOMIC;
		rts |= RD_QP_MAX_RD_ATOMIC | RD_QP_TIMEOUT;
	}
	attr.rq_psn = RQ_PSN;
	attr.sq_psn = SQ_PSN;
	attr.path_mtu = 256;
	attr.access = RD_QP_ACCESS_ALL;
	attr.max_rd_atomic = attr.max_dest_rd_atomic = 4;
	attr.timeout = 6;
	attr.q_key = Q_KEY;
	w->next_psn[i] = RQ_PSN;
	w->last_psn[i] = SQ_PSN - 1;
	w->next_msn[i] = w->next_rqmsn[i] = 0;
	for (attr.state = RD_QPS_INIT; attr.state <= RD_QPS_RTS; attr.state++) {
		if (mh_qp_modify(w->qp[i], &attr, mask))
			return; /* it is in another state */
		mask = RD_QP_STATE;
		if (i != UD && attr.state == RD_QPS_INIT)
			mask |= rtr;
		if (i != UD && attr.state == RD_QPS_RTR)
			mask |= rts;
	}
}

static void open_qp(struct world *w, uint32_t i)
{
	struct mh_qp_init init = {.pd = w->pd,
				  .send_cq = w->cq,
				  .recv_cq = w->cq,
				  .cap = {.max_send_wr = 8,
					  .max_recv_wr = 8,
					  .max_send_sge = 2,
					  .max_recv_sge = 2,
					  .max_inline = 64},
				  .signal_all = true,
				  .extended = i == RC_EXTENDED,
				  .type = i == UD   ? MH_QPT_UD
					  : i == UC ? MH_QPT_UC
						    : MH_QPT_RC};

	mb_assert(mh_qp_create(&init, &w->qp[i]) == 0);
	world_connect(w, i);
}

void world_open(struct world *w, const struct mh_env *env)
{
	virtual_time_set(START_NS);
	w->v = virtual_nic_open(env, judge, w);
	w->nic = virtual_nic_of(w->v);
	w->arena = malloc(ARENA);
	w->before = malloc(ARENA);
	mb_assert(w->arena && w->before);
	for (uint32_t i = 0; i < ARENA; i++)
		w->before[i] = w->arena[i] = (uint8_t)(i * 7 + 3);
	mb_assert(mh_device_open(env->device, NULL, &w->dev) == 0);
	mb_assert(mh_pd_create(w->dev, NULL, &w->pd) == 0);
	mb_assert(mh_cq_create(w->dev, 64, NULL, NULL, &w->cq) == 0);
	mb_assert(mh_mr_reg_null(w->pd, &w->null_mr) == 0);
	mb_assert(mh_mw_alloc(w->pd, RD_MW_TYPE_2, &w->mw) == 0);
	for (enum region r = OPEN; r < REGIONS; r++)
		world_add_region(w, r);
	for (uint32_t i = 0; i < QPS; i++)
		open_qp(w, i);
}

/* What no peer may write is as it was. */
static void check_memory(const struct world *w)
{
	const uint8_t *open = world_region(w, OPEN), *local = world_region(w, LOCAL);
	size_t a = (size_t)(open - w->arena), b = (size_t)(local - w->arena);

	mb_assert(memcmp(w->arena, w->before, a) == 0);
	mb_assert(memcmp(open + REGION_BYTES, w->before + a + REGION_BYTES, b - a - REGION_BYTES) ==
		  0);
	mb_assert(memcmp(local + REGION_BYTES, w->before + b + REGION_BYTES, GAP) == 0);
}

void world_close(struct world *w)
{
	for (uint32_t i = 0; i < QPS; i++)
		mb_assert(mh_qp_destroy(w->qp[i]) == 0);
	mb_assert(mh_mw_dealloc(w->mw) == 0 && mh_mr_dereg(w->null_mr) == 0);
	for (enum region r = OPEN; r < REGIONS; r++)
		mb_assert(!w->mr[r] || mh_mr_dereg(w->mr[r]) == 0);
	mb_assert(mh_cq_destroy(w->cq) == 0 && mh_pd_destroy(w->pd) == 0);
	mb_assert(mh_device_close(w->dev) == 0);
	virtual_nic_close(w->v);
	virtual_time_set(0);
	check_memory(w);
	free(w->arena);
	free(w->before);
}
