/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_altered.c - packets of honest peers that are altered on their way, with the ICRC made right:
 * what a faulty device does that writes headers again, or an attacker on the path. Every state of
 * both ends is met by packets that are almost right, which bytes made up from nothing never are.
 *
 * Such packets may end QPs, complete falsely and place the wrong bytes: nobody can tell. But they
 * crash nothing, trip no assertion, and place nothing outside of a registered region.
 */
#include <stdio.h>

#include "case.h"

#define WORLDS 60u
#define ALTERED_PPM 50000u

/* Where in a header interesting values are: small, at a sign, all ones. */
static uint8_t odd_byte(void)
{
	static const uint8_t odd[] = {0, 1, 0x7F, 0x80, 0xFF};

	return test_rand_chance(1, 2) ? odd[test_rand_below(sizeof(odd))] : (uint8_t)test_rand();
}

/* The UDP header goes first and the ICRC last: neither is here. */
static bool alter(void *ctx, struct net_packet *p)
{
	uint64_t *altered = ctx;
	size_t at = test_rand_below(p->headers_len);

	if (!test_rand_chance(ALTERED_PPM, 1000000))
		return true;
	++*altered;
	switch (test_rand_below(4)) {
	case 0:
		p->bytes[at] = odd_byte();
		break;
	case 1: /* a whole field */
		for (size_t n = 1 + test_rand_below(4); n > 0 && at < p->headers_len; n--)
			p->bytes[at++] = odd_byte();
		break;
	case 2: /* one more or less */
		p->bytes[at] = (uint8_t)(p->bytes[at] + 1 - 2 * (test_rand() & 1));
		break;
	default:
		p->bytes[at] ^= (uint8_t)(1u << test_rand_below(8));
		break;
	}
	return true;
}

/* The checker objects to much of what follows; what it must not say is that memory was left. */
static void run_on(struct sim_world *w, uint64_t until)
{
	while (w->net.now_ns < until) {
		if (!sim_step(w, until) && !w->check.failed)
			return;
		if (w->check.outside)
			fail_msg("%s", w->check.why);
		w->check.failed = false;
	}
}

static void post_some(struct sim_qp *qp)
{
	static const enum rd_wr_opcode opcodes[] = {RD_WR_WRITE, RD_WR_WRITE, RD_WR_SEND,
						    RD_WR_READ, RD_WR_FETCH_ADD};
	int result;

	for (size_t n = test_rand_below(6); n > 0; n--) {
		struct sim_wr wr = {.len = (uint32_t)test_rand_below(20000),
				    .opcode = opcodes[test_rand_below(5)]};

		if (wr.opcode == RD_WR_WRITE && test_rand_chance(1, 4))
			wr.flags = RD_SEND_IMM;
		sim_post_wr(qp, &wr, &result);
		if (case_info(qp->peer).state == RD_QPS_RTS)
			sim_post_recv(qp->peer);
	}
	sim_node_run(qp->node);
}

static void live(uint64_t *altered)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_qp_cfg ends;
	struct sim_world *w;
	struct sim_qp *qps[4];

	cfg.net.path.loss_ppm = (uint32_t)test_rand_below(20000);
	cfg.net.path.trim_ppm = (uint32_t)test_rand_below(20000);
	cfg.net.log_room = 64;
	w = case_open(&cfg);
	sim_qp_cfg_asking(&ends);
	ends.cap.in_order = test_rand() & 1;
	ends.attr.cc_profile = test_rand() & 1;
	for (unsigned i = 0; i < 2; i++) {
		qps[i] = sim_connect(w, 0, 1, &ends, &ends);
		qps[2 + i] = qps[i]->peer;
	}
	for (unsigned i = 0; i < 4; i++)
		qps[i]->may_fail = true;
	w->net.filter = alter;
	w->net.filter_ctx = altered;
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 4; i++)
			if (case_info(qps[i]).state == RD_QPS_RTS)
				post_some(qps[i]);
		run_on(w, w->net.now_ns + test_rand_below(100) * SIM_US);
	}
	run_on(w, w->net.now_ns + 5 * SIM_MS);
	w->check.failed = false;
	case_close(w);
}

TEST(sim_altered, nothing_crashes_and_no_memory_is_left)
{
	uint64_t altered = 0;

	for (size_t i = 0; i < test_rounds(WORLDS); i++)
		live(&altered);
	printf("# %" PRIu64 " packets altered\n", altered);
	assert_true(altered > WORLDS);
}
