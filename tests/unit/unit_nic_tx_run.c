/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_nic_tx_run.c - how many packets the NIC asks its engine for, which frames it makes of them,
 * and when it asks again: descriptors are the test's, and its ports are memory.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "host/datapath/datapath.h"
#include "support/virtual_nic.h"
#include "wire/headers.h"
#include "wire/opcode.h"

#define NOW_NS UINT64_C(1000000000)
#define EV_BASE 53400u
#define EVS 4u
#define PLANES 2u
/* A run that has so much to send ends with it. */
#define RUN_MAX 512u

static struct {
	struct virtual_nic *v;
	struct mh_nic *nic;
	/* What the engine has, how much of it, and whether there is more that waits for a port. */
	struct mt_tx_desc desc[8];
	uint32_t n, asked, free_ports;
	bool endless, blocked;
	/* What was sent. */
	uint32_t frames;
	struct mio_tx frame;
	uint8_t bytes[4096 + 256];
	uint8_t payload[16];
	struct rd_sge sge;
} t;

__typeof__(mt_engine_tx) __real_mt_engine_tx, __wrap_mt_engine_tx;
uint32_t __wrap_mt_engine_tx(struct mt_engine *engine, uint64_t now_ns, uint32_t free_ports,
			     struct mt_tx_desc *desc, uint32_t n)
{
	uint32_t got = t.endless ? n : t.n < n ? t.n : n;

	(void)engine;
	(void)now_ns;
	t.asked++;
	t.free_ports = free_ports;
	for (uint32_t i = 0; i < got; i++)
		desc[i] = t.desc[t.endless ? 0 : i];
	t.n = 0;
	return got;
}

__typeof__(mt_engine_tx_is_blocked) __real_mt_engine_tx_is_blocked, __wrap_mt_engine_tx_is_blocked;
bool __wrap_mt_engine_tx_is_blocked(const struct mt_engine *engine)
{
	(void)engine;
	return t.blocked;
}

static void note(void *ctx, uint32_t port, const struct mio_tx *frame)
{
	size_t at = 0;

	(void)ctx;
	(void)port;
	t.frames++;
	t.frame = *frame;
	for (uint32_t i = 0; i < frame->n_iov; i++) {
		assert_true(at + frame->iov[i].iov_len <= sizeof(t.bytes));
		memcpy(t.bytes + at, frame->iov[i].iov_base, frame->iov[i].iov_len);
		at += frame->iov[i].iov_len;
	}
	assert_u_eq(at, frame->len);
}

static int setup(void **state)
{
	static const char text[] = "MRC_PORTS=10.1.0.1,10.1.1.1\nMRC_PACE=4M\nMRC_EV_BASE=53400\n"
				   "MRC_EVS=4\n";
	struct mh_env env;

	(void)state;
	memset(&t, 0, sizeof(t));
	virtual_nic_env(text, 0, &env);
	virtual_time_set(NOW_NS);
	t.v = virtual_nic_open(&env, note, NULL);
	t.nic = virtual_nic_of(t.v);
	t.sge = (struct rd_sge){(uintptr_t)t.payload, sizeof(t.payload), MT_LKEY_ADAPTER};
	mh_nic_lock(t.nic);
	return t.nic->ports.n != PLANES;
}

static int teardown(void **state)
{
	(void)state;
	mh_nic_unlock(t.nic);
	virtual_nic_close(t.v);
	virtual_time_set(0);
	return 0;
}

#define TX_TEST(function, name) TEST_WITH(setup, teardown, function, name)

/* A SEND of one packet with some bytes, over port 0. */
static struct mt_tx_desc send_of(uint32_t ev, uint32_t len)
{
	struct mt_tx_desc d = {.sge = &t.sge,
			       .n_sge = len > 0,
			       .ev = ev,
			       .tclass = len > 0 ? MW_DSCP_TRIMMABLE : MW_DSCP_CONTROL};

	d.pkt.bth = (struct mw_bth){
		.opcode = MW_SEND_ONLY, .pad = -len & 3u, .p_key = 0xFFFF, .dqp = 77};
	d.pkt.payload_len = len;
	mh_addr_from_ip(10u << 24 | 1u << 16 | 9, d.dst.b);
	return d;
}

static void send_one(uint32_t ev, uint32_t len)
{
	t.desc[0] = send_of(ev, len);
	t.n = 1;
	t.frames = 0;
	assert_u_eq(mh_tx_run(t.nic, NOW_NS), 1);
	assert_u_eq(t.frames, 1);
	assert_bytes_eq(t.frame.dst_gid, t.desc[0].dst.b, 16);
}

/* ---- frames ---- */

/* A socket has its own source ports alone; whoever makes UDP headers has all. */
TX_TEST(mh_tx_run, sends_an_ev_of_the_peer_from_a_port_that_it_has)
{
	const uint32_t evs[] = {EV_BASE, EV_BASE + EVS - 1, EV_BASE + EVS, EV_BASE - 1, 7};

	for (size_t i = 0; i < sizeof(evs) / sizeof(evs[0]); i++) {
		bool own = evs[i] >= EV_BASE && evs[i] < EV_BASE + EVS;

		t.nic->env.driver = MH_DRIVER_UDP;
		send_one(evs[i], 0);
		assert_u_eq(t.frame.sport, own ? evs[i] : EV_BASE + evs[i] % EVS);
		t.nic->env.driver = MH_DRIVER_AF_PACKET;
		send_one(evs[i], 0);
		assert_u_eq(t.frame.sport, evs[i]);
	}
}

TX_TEST(mh_tx_run, pads_with_zeros_where_the_frame_before_had_its_icrc)
{
	send_one(EV_BASE, 4);
	send_one(EV_BASE, 5);
	assert_u_eq(t.bytes[t.frame.len - 7] | t.bytes[t.frame.len - 6] | t.bytes[t.frame.len - 5],
		    0);
}

TX_TEST(mh_tx_run, says_which_frames_have_payload)
{
	send_one(EV_BASE, 1);
	assert_true(t.frame.is_data);
	send_one(EV_BASE, 0);
	assert_false(t.frame.is_data);
}

/* Memory that is gone fails the QP, in the next run of the poll loop. */
TX_TEST(mh_tx_run, marks_a_qp_whose_memory_is_gone)
{
	static struct mh_qp qp;

	qp.nic = t.nic;
	mb_link_init(&qp.failed);
	t.sge.lkey = 0x12345600;
	t.desc[0] = send_of(EV_BASE, 16);
	t.desc[0].qp_user = &qp;
	t.n = 1;
	assert_u_eq(mh_tx_run(t.nic, NOW_NS), 1);
	assert_u_eq(t.frames, 0);
	assert_u_eq(t.nic->counts.tx_mr_gone, 1);
	assert_ptr_equal(t.nic->failed.next, &qp.failed);
	mb_link_remove(&qp.failed);
}

/* No byte behind the payload is looked at, where a whole page ends. */
TX_TEST(mh_tx_run, looks_at_the_payload_alone_without_an_icrc)
{
	uint8_t *page = malloc(4096);

	assert_non_null(page);
	memset(page, 1, 4096);
	t.nic->env.icrc = false;
	t.sge = (struct rd_sge){(uintptr_t)page, 4096, MT_LKEY_ADAPTER};
	send_one(EV_BASE, 4096);
	free(page);
	assert_u_eq(t.bytes[t.frame.len - 5], 1);
	assert_u_eq(t.bytes[t.frame.len - 4], 0);
}

TX_TEST(mh_tx_datagram, takes_the_tokens_of_its_port)
{
	const struct mw_datagram headers = {.p_key = 0xFFFF, .dqp = 77, .payload_len = 16};
	struct mh_pace *pace = &t.nic->ports.port[0].pace;
	struct mt_tx_desc d = send_of(EV_BASE, 16);
	uint64_t before = pace->tokens;

	assert_true(mh_tx_datagram(t.nic, &d, &headers, 0));
	mh_tx_flush(t.nic, 0, NOW_NS);
	assert_u_eq(t.frames, 1);
	assert_u_eq(before - pace->tokens, t.frame.len * 8 * UINT64_C(1000000000));
}

/* ---- runs ---- */

/* What lies behind the ports of the NIC is none of it, even where it looks like one. */
TX_TEST(mh_tx_run, asks_for_its_ports_alone)
{
	struct mh_port *behind = &t.nic->ports.port[PLANES];

	*behind = t.nic->ports.port[0];
	t.blocked = true;
	t.nic->ports.port[0].up = t.nic->ports.port[1].up = false;
	mh_tx_run(t.nic, NOW_NS);
	assert_u_eq(t.free_ports, 0);
	assert_u_eq(behind->pace.tokens, behind->pace.depth);
	assert_u_eq(mh_tx_deadline(t.nic), UINT64_MAX);
	memset(behind, 0, sizeof(*behind));
}

/* The thread that posts holds the lock no longer, and the rest is due at once. */
TX_TEST(mh_tx_run, ends_with_so_many_though_there_is_more)
{
	t.desc[0] = send_of(EV_BASE, 0);
	t.endless = true;
	for (uint32_t i = 0; i < PLANES; i++)
		mh_pace_init(&t.nic->ports.port[i].pace, 0, MIO_FRAME_MAX, NOW_NS);
	assert_u_eq(mh_tx_run(t.nic, NOW_NS), RUN_MAX);
	assert_u_eq(t.frames, RUN_MAX);
	assert_u_eq(t.asked, RUN_MAX / MIO_BURST_MAX);
	assert_u_eq(mh_tx_deadline(t.nic), 0);
}

/* ---- when to ask again ---- */

/* A port that has no tokens, while the engine has packets for it. */
static void use_up(uint32_t port)
{
	struct mh_pace *pace = &t.nic->ports.port[port].pace;

	mh_pace_consume(pace, (uint32_t)(pace->tokens / (8 * UINT64_C(1000000000))));
}

TX_TEST(mh_tx_deadline, is_when_a_port_that_is_waited_for_has_tokens)
{
	struct mh_port *port = t.nic->ports.port;
	uint64_t first, second;

	use_up(0);
	use_up(1);
	port[1].pace.filled_ns += 1000;
	first = mh_pace_deadline(&port[0].pace);
	second = mh_pace_deadline(&port[1].pace);
	t.blocked = true;
	mh_tx_run(t.nic, NOW_NS);
	assert_u_eq(t.free_ports, 0);
	assert_u_eq(mh_tx_deadline(t.nic), first);
	/* Down, or with a deadline of its own. */
	port[0].up = false;
	assert_u_eq(mh_tx_deadline(t.nic), second);
	virtual_nic_block(t.v, 1, true);
	assert_u_eq(mh_tx_deadline(t.nic), UINT64_MAX);
	virtual_nic_block(t.v, 1, false);
	assert_u_eq(mh_tx_deadline(t.nic), second);
	/* Nothing waits. */
	t.blocked = false;
	assert_u_eq(mh_tx_deadline(t.nic), UINT64_MAX);
}
