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
#include "fuzz/frames_world.h"
#include "host/progress/progress.h"
#include "support/frame_icrc.h"
#include "support/packet.h"
#include "wire/datagram.h"
#include "wire/dscp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 300u
#define FRAME_MAX 1200u

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
	uint64_t at = (uintptr_t)world_region(w, which % REGIONS);

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
	uint32_t i = how & 8 ? UC : how & 2 ? RC_PLAIN : UD;
	struct mw_datagram dg = {.with_imm = how & 1,
				 .p_key = 0xFFFF,
				 .dqp = mh_qp_number(w->qp[i]),
				 .q_key = how & 4   ? fuzz_u32(&w->in)
					  : how & 8 ? MW_Q_KEY_UC
						    : Q_KEY,
				 .src_qpn = PEER_QPN + (how & 16 ? RC_PLAIN : i),
				 .payload_len = 4u * fuzz_u8(&w->in)};
	size_t n = mw_datagram_encode(&dg, out);

	memset(out + n, how, dg.payload_len);
	return n + dg.payload_len;
}

static void seal(const struct world *w, const struct mio_rx *frame, uint32_t port, uint8_t *bytes,
		 size_t body)
{
	const uint8_t *src = frame->src.ip;
	const uint8_t *dst = w->nic->env.port[world_is_tunnelled(w) ? 0 : port].ip;
	bool v4 = mh_addr_is_ipv4(src);
	const struct frame_ends ends = {v4, v4 ? src + 12 : src, v4 ? dst + 12 : dst,
					frame->src.udp_port, MH_UDP_PORT};

	frame_icrc(&ends, bytes, body, bytes + body);
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
	uint8_t *open = world_region(w, OPEN);

	world_address(w, host, world_is_tunnelled(w) ? 0 : port, frame.src.ip);
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
	mh_progress_poll(w->nic, true);
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
	uint64_t at = (uintptr_t)world_region(w, key & 1 ? LOCAL : OPEN);
	struct mh_mr *mr = key & 2 ? w->null_mr : w->mr[key & 1 ? LOCAL : OPEN];
	struct rd_sge sge[2] = {{at, fuzz_u8(&w->in) * 4u, mr ? mh_mr_lkey(mr) : 1}, {at, 8, 0}};
	struct rd_ah ah = {.traffic_class = how};
	struct rd_bind bind = {.mw = w->mw,
			       .mr = w->mr[OPEN],
			       .addr = (uintptr_t)world_region(w, OPEN),
			       .length = key * 8u,
			       .access = RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ};
	struct rd_send_wr wr = {.wr_id = w->wr_id++,
				.sge = sge,
				.n_sge = 1,
				.flags = key >> 4 & RD_SEND_IMM,
				.rkey = 0x1234,
				.opcode = i >= UD ? RD_WR_SEND : (how & 15) % RD_WR_OPCODES,
				.ud = {&ah, PEER_QPN, Q_KEY}};

	world_address(w, PEER, 0, ah.dest.b);
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
	struct rd_sge sge = {(uintptr_t)world_region(w, LOCAL), how * 8u,
			     w->mr[LOCAL] ? mh_mr_lkey(w->mr[LOCAL]) : 1};
	struct rd_recv_wr wr = {w->wr_id++, &sge, how % QPS == RC_PLAIN ? 0 : 1};

	mh_qp_post_recv(w->qp[how % QPS], &wr, 1, NULL);
}

static void step_region(struct world *w, uint8_t op)
{
	enum region r = op >> 4 & 1 ? LOCAL : OPEN;

	if (!w->mr[r])
		world_add_region(w, r);
	else if (mh_mr_dereg(w->mr[r]) == 0)
		w->mr[r] = NULL;
}

static void step_state(struct world *w, uint8_t op)
{
	static const enum rd_qp_state states[] = {RD_QPS_RESET, RD_QPS_ERR, RD_QPS_SQD, RD_QPS_RTS};
	struct rd_qp_attr attr = {.state = states[op >> 4 & 3]};
	uint32_t i = (op >> 6) % QPS;

	if (mh_qp_modify(w->qp[i], &attr, RD_QP_STATE) == 0 && attr.state == RD_QPS_RESET)
		world_connect(w, i);
}

static void step_port(struct world *w, uint8_t op)
{
	uint32_t port = (op >> 4 & 1) % w->nic->ports.n;

	if (op & 0x40)
		virtual_nic_block(w->v, port, op >> 5 & 1);
	else
		virtual_nic_set_link(w->v, port, op >> 5 & 1);
}

/* What a UC QP received came from its peer. */
static void step_poll(struct world *w)
{
	struct mh_wc wc[4];
	int n = mh_cq_poll(w->cq, 4, wc);

	for (int i = 0; i < n; i++)
		if (wc[i].qpn == mh_qp_number(w->qp[UC]) && wc[i].opcode == RD_WC_RECV)
			mb_assert(wc[i].status != RD_WC_SUCCESS || wc[i].src_qpn == PEER_QPN + UC);
}

static void run_for(struct world *w, uint64_t ns)
{
	virtual_time_set(virtual_time() + ns);
	mh_progress_poll(w->nic, true);
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(&w->in);

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
		step_poll(w);
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
	world_open(w, &env[c]);
	for (uint32_t k = 0; w->in.left > 0 && k < STEPS_MAX; k++)
		step(w);
	for (uint32_t k = 20; k < 36; k++)
		run_for(w, UINT64_C(1) << k);
	world_close(w);
	free(w);
	return 0;
}
