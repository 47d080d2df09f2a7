/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is what a network does to one host: a first byte that says how the host is
 * configured, then steps, each a byte that says what happens and the bytes it needs. Frames come
 * from the peer of its QPs and from others, with a right ICRC unless a step says otherwise, and go
 * the whole way: address map, engine, endpoint requests, datagrams, answers.
 *
 * Nothing that arrives is ever asserted. Frames from others than the peer change no memory, and no
 * frame changes what peers may not write. What leaves is well formed, goes only to the peer and to
 * hosts that may ask, and to these at most one short answer for each of their frames.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "host/progress/progress.h"
#include "support/fuzz_input.h"
#include "support/packet.h"
#include "support/virtual_nic.h"
#include "wire/datagram.h"
#include "wire/dscp.h"
#include "wire/icrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 300u
#define START_NS UINT64_C(1000000000)
#define BTH_BYTES 12u
#define PEER_QPN 0x14077u
#define RQ_PSN 1000u
#define SQ_PSN 0xFFFFF0u
#define Q_KEY 0x11111111u
#define FRAME_MAX 1200u
/* BTH, EETH and ICRC: what an endpoint request, which has 32, may be answered with. */
#define ANSWER_BYTES 52u

/* ---- memory: regions with a gap before and behind each ---- */

#define GAP 4096u
enum region { OPEN, READ_ONLY, LOCAL, REGIONS };
#define REGION_BYTES 8192u
#define ARENA (GAP + REGIONS * (REGION_BYTES + GAP))

/* ---- hosts ---- */

enum host { PEER, STRANGER, OURSELVES, OUTSIDE, OTHER_FAMILY, HOSTS };

enum { RC_EXTENDED, RC_PLAIN, UD, QPS };

struct world {
	struct fuzz_input in;
	struct virtual_nic *v;
	struct mh_nic *nic;
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_cq *cq;
	struct mh_mr *mr[REGIONS], *null_mr;
	struct mh_mw *mw;
	struct mh_qp *qp[QPS];
	/* What the peer of a QP sends next, and what it got last. */
	uint32_t next_psn[QPS], last_psn[QPS];
	uint16_t next_msn[QPS], next_rqmsn[QPS], last_probe[QPS];
	uint8_t *arena, *before;
	uint64_t wr_id;
	uint32_t got[HOSTS], sent[HOSTS]; /* frames, by the host that they came from or go to */
};

static const char *const configurations[] = {
	"MRC_PORTS=10.1.0.1,10.1.1.1\nMRC_MTU=1024",
	"MRC_PORTS=fd00:1::1,fd00:2::1\nMRC_MTU=1024",
	/* Each address is one of the host's subnet. */
	"MRC_PORTS=fd00:1::1\nMRC_PORT_PREFIX=0\nMRC_MTU=1024",
	"MRC_PORTS=fd00:1::1,fd00:2::1\nMRC_DRIVER=raw41\nMRC_MTU=1024",
	("MRC_PORTS=lo\nMRC_SRV6_GID=fd4d:5243::1\nMRC_MTU=1024\n"
	 "MRC_SRV6_ROWS=fd4d:5243::1/120 = fcbbbb00+plane a000 1000+host:4\nMRC_SRV6_UPLINKS=4"),
	"MRC_PORTS=10.1.0.1,10.1.1.1\nMRC_MTU=1024\nMRC_ICRC=off\nMRC_PACE=1M",
	"MRC_PORTS=fd00:1::1,fd00:2::1\nMRC_MTU=1024\nMRC_EV_FORMAT=stev\nMRC_SVC_TIME=on",
	"MRC_PORTS=10.1.0.1\nMRC_PORT_PREFIX=0\nMRC_MTU=1024\nMRC_ORDER=relaxed",
};
#define CONFIGURATIONS (sizeof(configurations) / sizeof(configurations[0]))

/* address_of writes the address of a host on a plane; what others use lies in the last bytes. */
static void address_of(const struct world *w, enum host host, uint32_t plane, uint8_t ip[16])
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

static bool is_tunnelled(const struct world *w)
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
	struct mw_icrc_carrier carrier = {.ip_version = mh_env_is_ipv4(&w->nic->env) ? 4 : 6,
					  .ip_frag = 0x4000,
					  .udp_sport = frame->sport,
					  .udp_dport = frame->dst.udp_port,
					  .udp_len = (uint16_t)(frame->len + 8)};
	const uint8_t *src = w->nic->env.port[is_tunnelled(w) ? 0 : port].ip;
	const uint8_t *dst = is_tunnelled(w) ? frame->dst_gid : frame->dst.ip;
	bool v4 = carrier.ip_version == 4;
	uint8_t want[4] = {0};
	uint32_t crc;

	carrier.ip_len = (uint16_t)(carrier.udp_len + (v4 ? 20 : 0));
	memcpy(carrier.src, v4 ? src + 12 : src, v4 ? 4 : 16);
	memcpy(carrier.dst, v4 ? dst + 12 : dst, v4 ? 4 : 16);
	crc = mw_icrc_start(mw_crc32_update, &carrier, bytes);
	crc = mw_crc32_update(crc, bytes + BTH_BYTES, frame->len - 4 - BTH_BYTES);
	if (w->nic->env.icrc)
		mw_icrc_finish(crc, want);
	mb_assert(memcmp(want, bytes + frame->len - 4, 4) == 0);
}

static enum host host_of(const struct world *w, const uint8_t gid[16])
{
	enum host host = PEER;
	uint8_t ip[16];

	for (; host < HOSTS; host++) {
		address_of(w, host, 0, ip);
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
	address_of(w, host, port, ip);
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

static uint8_t *region_at(const struct world *w, enum region r)
{
	return w->arena + GAP + r * (REGION_BYTES + GAP);
}

static void add_region(struct world *w, enum region r)
{
	static const uint32_t access[REGIONS] = {
		RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ |
			RD_ACCESS_REMOTE_ATOMIC | RD_ACCESS_MW_BIND,
		RD_ACCESS_REMOTE_READ, RD_ACCESS_LOCAL_WRITE};
	uint8_t *at = region_at(w, r);

	mb_assert(mh_mr_reg(w->pd, at, REGION_BYTES, (uintptr_t)at, access[r], &w->mr[r]) == 0);
}

static void connect_qp(struct world *w, uint32_t i)
{
	uint32_t mask = RD_QP_STATE | (i == UD ? (uint32_t)RD_QP_Q_KEY : RD_QP_ACCESS);
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	attr.dest_qpn = PEER_QPN + i;
	address_of(w, PEER, 0, attr.dest.b);
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
			mask |= RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU |
				RD_QP_MAX_DEST_RD_ATOMIC;
		if (i != UD && attr.state == RD_QPS_RTR)
			mask |= RD_QP_SQ_PSN | RD_QP_MAX_RD_ATOMIC | RD_QP_TIMEOUT;
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
				  .type = i == UD ? MH_QPT_UD : MH_QPT_RC};

	mb_assert(mh_qp_create(&init, &w->qp[i]) == 0);
	connect_qp(w, i);
}

static void open_world(struct world *w, const struct mh_env *env)
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
		add_region(w, r);
	for (uint32_t i = 0; i < QPS; i++)
		open_qp(w, i);
}

/* What no peer may write is as it was. */
static void check_memory(const struct world *w)
{
	const uint8_t *open = region_at(w, OPEN), *local = region_at(w, LOCAL);
	size_t a = (size_t)(open - w->arena), b = (size_t)(local - w->arena);

	mb_assert(memcmp(w->arena, w->before, a) == 0);
	mb_assert(memcmp(open + REGION_BYTES, w->before + a + REGION_BYTES, b - a - REGION_BYTES) ==
		  0);
	mb_assert(memcmp(local + REGION_BYTES, w->before + b + REGION_BYTES, GAP) == 0);
}

static void close_world(struct world *w)
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

/* ---- frames ---- */

static uint32_t pick_key(struct world *w, uint8_t which)
{
	struct mh_mr *mr = which % 4 < REGIONS ? w->mr[which % 4] : NULL;

	if (which & 0x80)
		return fuzz_u32(&w->in);
	if (which % 4 == 3)
		return mh_mw_rkey(w->mw);
	return (mr ? mh_mr_rkey(mr) : 0) ^ (which >> 4 & 1);
}

/* An address in a region, near its end with bit 6. */
static uint64_t pick_address(struct world *w, uint8_t which, uint8_t offset)
{
	uint64_t at = (uintptr_t)region_at(w, which % REGIONS);

	return at + (which & 0x40 ? REGION_BYTES - 2u * offset : offset * 8u);
}

/* number_message writes which message a packet is of, and goes on to the next behind its end. */
static void number_message(struct world *w, uint32_t i, struct mw_packet *pkt)
{
	uint16_t flags = mw_opcode_info(pkt->bth.opcode)->flags;

	pkt->data.meth.msn = w->next_msn[i];
	pkt->data.meth.rqmsn = w->next_rqmsn[i];
	if (!(flags & MW_OP_END) || flags & MW_OP_RESPONSE)
		return;
	w->next_msn[i]++;
	if (flags & (MW_OP_SEND | MW_OP_IMM))
		w->next_rqmsn[i]++;
}

static void fill_data(struct world *w, uint32_t i, struct mw_packet *pkt, uint8_t how)
{
	uint8_t key = fuzz_u8(&w->in);
	bool in_order = !(how & 1);

	pkt->bth.psn = w->next_psn[i];
	if (!in_order)
		pkt->bth.psn += fuzz_u8(&w->in) - 128u;
	pkt->bth.psn &= 0xFFFFFF;
	w->next_psn[i] += in_order;
	pkt->payload_len = how & 2 ? fuzz_u8(&w->in) * 4u - (how >> 7) : 8;
	if (pkt->payload_len > 1024)
		pkt->payload_len = 1;
	if (pkt->bth.opcode == MW_READ_REQUEST)
		pkt->payload_len = 0;
	if (pkt->bth.opcode == MW_COMPARE_SWAP || pkt->bth.opcode == MW_FETCH_ADD)
		pkt->payload_len = MW_ATOMIC_BYTES;
	pkt->bth.a = how >> 2 & 1;
	pkt->bth.ts = how >> 3 & 1;
	pkt->data.tseth.ftype = MW_FTYPE_TIMESTAMP;
	pkt->data.reth.dmalen = pkt->payload_len;
	number_message(w, i, pkt);
	if (how & 0x40) {
		pkt->data.meth.msn = fuzz_u8(&w->in);
		pkt->data.meth.rqmsn = fuzz_u8(&w->in);
	}
	if (how & 0x10)
		pkt->data.reth.dmalen = fuzz_u16(&w->in);
	if (mw_opcode_info(pkt->bth.opcode)->flags & MW_OP_SEND)
		return;
	pkt->data.reth.rkey = pick_key(w, key);
	pkt->data.reth.va = pick_address(w, key, fuzz_u8(&w->in));
	pkt->data.imm = how & 0x20 ? fuzz_u16(&w->in) : 64;
}

static void fill_sack(struct world *w, uint32_t i, struct mw_packet *pkt, uint8_t how)
{
	pkt->seth = (struct mw_seth){.pr = how >> 2 & 1,
				     .m = how >> 3 & 3,
				     .cack_psn = pkt->bth.psn,
				     .mpr = how & 1 ? fuzz_u8(&w->in) : 8,
				     .sack_bitmap = how & 2 ? fuzz_u32(&w->in) : 0,
				     .entropy = MH_EV_BASE,
				     .spdcid = (uint16_t)(PEER_QPN + i),
				     .dpdcid = (uint16_t)mh_qp_number(w->qp[i])};
	if (pkt->seth.pr) {
		pkt->seth.probe_id = w->last_probe[i];
		pkt->seth.ext = how & 0x20 ? 0 : MW_EXT_VERSION | 0x1F;
	}
}

static void fill_control(struct world *w, uint32_t i, struct mw_packet *pkt, uint8_t how)
{
	uint32_t psn = (w->last_psn[i] + fuzz_u8(&w->in) - 4u) & 0xFFFFFF;
	struct mw_tseth ts = {.ftype = MW_FTYPE_TIMESTAMP};

	pkt->bth.psn = psn;
	switch (mw_opcode_info(pkt->bth.opcode)->kind) {
	case MW_HDR_AETH:
		pkt->aeth.syndrome = how & 1 ? fuzz_u8(&w->in) : MW_ACK_NO_CREDIT;
		pkt->aeth.msn = fuzz_u8(&w->in);
		return;
	case MW_HDR_SETH:
		fill_sack(w, i, pkt, how);
		return;
	case MW_HDR_NETH:
		pkt->neth = (struct mw_neth){.reason = fuzz_u8(&w->in),
					     .vendor_info = how,
					     .entropy = MH_EV_BASE,
					     .spdcid = (uint16_t)(PEER_QPN + i),
					     .dpdcid = (uint16_t)mh_qp_number(w->qp[i]),
					     .nack_psn = psn,
					     .cc_type = 2};
		return;
	case MW_HDR_PETH:
		pkt->peth.ext = how & 1 ? 0 : MW_EXT_VERSION | 0x1F;
		pkt->peth.probe_id = how;
		pkt->peth.ts = ts;
		return;
	case MW_HDR_ERTH:
		pkt->erth.op = how & 1;
		pkt->erth.port_status_mask = fuzz_u8(&w->in);
		pkt->erth.ts = ts;
		return;
	case MW_HDR_EETH:
		pkt->bth.psn = how;
		return;
	default:
		return;
	}
}

/* make_packet writes headers, payload and pad and returns how many bytes these are. */
static size_t make_packet(struct world *w, uint8_t *out)
{
	uint8_t kind = fuzz_u8(&w->in), how = fuzz_u8(&w->in);
	uint32_t i = kind >> 6 == UD ? RC_EXTENDED : (kind >> 6) % UD;
	struct mw_packet pkt = {.bth = {.opcode = packet_opcodes[(kind & 63) % PACKET_OPCODES],
					.p_key = 0xFFFF,
					.dqp = mh_qp_number(w->qp[i])}};
	uint16_t flags = mw_opcode_info(pkt.bth.opcode)->flags;
	size_t n;

	if (flags & MW_OP_ENDPOINT)
		pkt.bth.dqp = MW_QPN_ENDPOINT;
	if (flags & MW_OP_DATA)
		fill_data(w, i, &pkt, how);
	else
		fill_control(w, i, &pkt, how);
	pkt.bth.pad = -pkt.payload_len & 3u;
	n = mw_packet_encode(&pkt, out);
	memset(out + n, how, pkt.payload_len + pkt.bth.pad);
	return n + pkt.payload_len + pkt.bth.pad;
}

static size_t make_datagram(struct world *w, uint8_t *out)
{
	uint8_t how = fuzz_u8(&w->in);
	struct mw_datagram dg = {.with_imm = how & 1,
				 .p_key = 0xFFFF,
				 .dqp = mh_qp_number(w->qp[how & 2 ? RC_PLAIN : UD]),
				 .q_key = how & 4 ? fuzz_u32(&w->in) : Q_KEY,
				 .src_qpn = PEER_QPN,
				 .payload_len = 4u * fuzz_u8(&w->in)};
	size_t n = mw_datagram_encode(&dg, out);

	memset(out + n, how, dg.payload_len);
	return n + dg.payload_len;
}

static void seal(const struct world *w, const struct mio_rx *frame, uint32_t port, uint8_t *bytes,
		 size_t body)
{
	struct mw_icrc_carrier carrier = {.ip_frag = 0x4000,
					  .udp_sport = frame->src.udp_port,
					  .udp_dport = MH_UDP_PORT,
					  .udp_len = (uint16_t)(body + 12)};
	const uint8_t *dst = w->nic->env.port[is_tunnelled(w) ? 0 : port].ip;
	bool v4 = mh_addr_is_ipv4(frame->src.ip);
	uint32_t crc;

	carrier.ip_version = v4 ? 4 : 6;
	carrier.ip_len = (uint16_t)(carrier.udp_len + (v4 ? 20 : 0));
	memcpy(carrier.src, v4 ? frame->src.ip + 12 : frame->src.ip, v4 ? 4 : 16);
	memcpy(carrier.dst, v4 ? dst + 12 : dst, v4 ? 4 : 16);
	crc = mw_icrc_start(mw_crc32_update, &carrier, bytes);
	crc = mw_crc32_update(crc, bytes + BTH_BYTES, body - BTH_BYTES);
	mw_icrc_finish(crc, bytes + body);
}

/* give lets a frame arrive from a host, and sees what becomes of it. */
static void give(struct world *w, uint8_t *bytes, size_t body, uint8_t who)
{
	enum host host = who & 0x40 ? (who & 7) % HOSTS : PEER;
	uint32_t port = (who >> 3 & 1) % w->nic->ports.n;
	struct mio_rx frame = {.bytes = bytes,
			       .src.udp_port = (uint16_t)(MH_EV_BASE + (who & 7)),
			       .flow_label = who * 77u,
			       .stamp_ns = who & 0x10 ? virtual_time() : 0};
	uint8_t *open = region_at(w, OPEN);

	address_of(w, host, is_tunnelled(w) ? 0 : port, frame.src.ip);
	if (who & 0x20) {
		uint8_t tos = fuzz_u8(&w->in);

		frame.tos =
			(uint8_t)(tos & 4 ? tos & 0xFC
					  : mw_dscp_encode(&w->nic->env.dscp, tos % MW_DSCP_CLASSES)
						    << 2);
		frame.tos |= tos >> 6 & 3;
	}
	if (body >= BTH_BYTES && !(who & 0x80))
		seal(w, &frame, port, bytes, body);
	frame.len = (uint32_t)body + 4;
	w->got[host]++;
	memcpy(w->before + (open - w->arena), open, REGION_BYTES);
	virtual_nic_give(w->v, port, &frame);
	mh_progress_poll(w->nic);
	if (host != PEER)
		mb_assert(memcmp(w->before + (open - w->arena), open, REGION_BYTES) == 0);
}

static void step_frame(struct world *w, uint8_t op)
{
	uint8_t bytes[FRAME_MAX + 4] = {0}, who = fuzz_u8(&w->in);
	size_t body = op & 0x10 ? make_datagram(w, bytes) : make_packet(w, bytes);

	for (uint32_t i = op >> 5; i > 0; i--) {
		size_t at = fuzz_u8(&w->in) % body;

		bytes[at] = fuzz_u8(&w->in);
	}
	if (op & 8) /* a switch cut it */
		body -= fuzz_u8(&w->in) % body;
	give(w, bytes, body, who);
}

static void step_raw(struct world *w)
{
	uint8_t bytes[FRAME_MAX + 4] = {0}, who = fuzz_u8(&w->in);

	give(w, bytes, fuzz_take(&w->in, bytes, fuzz_u8(&w->in)), who);
}

/* ---- what the program does ---- */

static void step_post(struct world *w)
{
	uint8_t how = fuzz_u8(&w->in), key = fuzz_u8(&w->in);
	uint32_t i = (how >> 4) % QPS;
	uint64_t at = (uintptr_t)region_at(w, key & 1 ? LOCAL : OPEN);
	struct mh_mr *mr = key & 2 ? w->null_mr : w->mr[key & 1 ? LOCAL : OPEN];
	struct rd_sge sge[2] = {{at, fuzz_u8(&w->in) * 4u, mr ? mh_mr_lkey(mr) : 1}, {at, 8, 0}};
	struct rd_ah ah = {.traffic_class = how};
	struct rd_bind bind = {.mw = w->mw,
			       .mr = w->mr[OPEN],
			       .addr = (uintptr_t)region_at(w, OPEN),
			       .length = key * 8u,
			       .access = RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ};
	struct rd_send_wr wr = {.wr_id = w->wr_id++,
				.sge = sge,
				.n_sge = 1,
				.flags = key >> 4 & RD_SEND_IMM,
				.rkey = 0x1234,
				.opcode = i == UD ? RD_WR_SEND : (how & 15) % RD_WR_OPCODES,
				.ud = {&ah, PEER_QPN, Q_KEY}};

	address_of(w, PEER, 0, ah.dest.b);
	if (wr.opcode >= RD_WR_COMPARE_SWAP && wr.opcode <= RD_WR_ATOMIC_WRITE)
		sge[0].length = 8;
	if (wr.opcode == RD_WR_BIND_MW) {
		if (!w->mr[OPEN])
			return;
		wr.bind = &bind;
		wr.rkey = mh_mw_rkey(w->mw) + 1;
	}
	mh_qp_post_send(w->qp[i], &wr, 1, NULL);
}

static void step_recv(struct world *w)
{
	uint8_t how = fuzz_u8(&w->in);
	struct rd_sge sge = {(uintptr_t)region_at(w, LOCAL), how * 8u,
			     w->mr[LOCAL] ? mh_mr_lkey(w->mr[LOCAL]) : 1};
	struct rd_recv_wr wr = {w->wr_id++, &sge, how % QPS == RC_PLAIN ? 0 : 1};

	mh_qp_post_recv(w->qp[how % QPS], &wr, 1, NULL);
}

static void step_region(struct world *w, uint8_t op)
{
	enum region r = op >> 4 & 1 ? LOCAL : OPEN;

	if (!w->mr[r])
		add_region(w, r);
	else if (mh_mr_dereg(w->mr[r]) == 0)
		w->mr[r] = NULL;
}

static void step_state(struct world *w, uint8_t op)
{
	static const enum rd_qp_state states[] = {RD_QPS_RESET, RD_QPS_ERR, RD_QPS_SQD, RD_QPS_RTS};
	struct rd_qp_attr attr = {.state = states[op >> 4 & 3]};
	uint32_t i = (op >> 6) % QPS;

	if (mh_qp_modify(w->qp[i], &attr, RD_QP_STATE) == 0 && attr.state == RD_QPS_RESET)
		connect_qp(w, i);
}

static void step_port(struct world *w, uint8_t op)
{
	uint32_t port = (op >> 4 & 1) % w->nic->ports.n;

	if (op & 0x40)
		virtual_nic_block(w->v, port, op >> 5 & 1);
	else
		virtual_nic_set_link(w->v, port, op >> 5 & 1);
}

static void run_for(struct world *w, uint64_t ns)
{
	virtual_time_set(virtual_time() + ns);
	mh_progress_poll(w->nic);
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(&w->in);
	struct mh_wc wc[4];

	switch (op & 7) {
	case 0:
	case 1:
	case 2:
		step_frame(w, op);
		break;
	case 3:
		if (op & 8)
			step_raw(w);
		else
			step_region(w, op);
		break;
	case 4:
		step_post(w);
		break;
	case 5:
		step_recv(w);
		break;
	case 6:
		if (op & 8)
			step_port(w, op);
		else
			step_state(w, op);
		break;
	default:
		mh_cq_poll(w->cq, 4, wc);
		run_for(w, UINT64_C(1) << (op >> 3));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mh_env env[CONFIGURATIONS];
	static bool is_read[CONFIGURATIONS];
	struct world *w = calloc(1, sizeof(*w));
	uint32_t c;

	mb_assert(w);
	w->in = (struct fuzz_input){data, size};
	c = fuzz_below(&w->in, CONFIGURATIONS);
	if (!is_read[c])
		virtual_nic_env(configurations[c], 0, &env[c]);
	is_read[c] = true;
	open_world(w, &env[c]);
	for (uint32_t k = 0; w->in.left > 0 && k < STEPS_MAX; k++)
		step(w);
	for (uint32_t k = 20; k < 36; k++)
		run_for(w, UINT64_C(1) << k);
	close_world(w);
	free(w);
	return 0;
}
