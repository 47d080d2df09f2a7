/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_turns.c - a QP that takes turns with many others, each with a peer of its own: between two
 * turns it waits for nothing, so that nothing is heard, and that is no silence of its peer.
 */
#include "case.h"

#define DESTS 64u
#define PLANES 4u
#define PATHS 8u
/*
 * Each port lets a packet out in 16 us, so that eight of a QP take 32 us, and all turns 2 ms. The
 * first four of a turn arrive together.
 */
#define PORT_BPS (UINT64_C(16900000000) / 8)
#define TURN_NS (32 * SIM_US + 450)
#define TURN_PACKETS 8u
#define ROUND_NS (DESTS * TURN_NS)
#define ARRIVAL_NS (20 * SIM_US)
#define SERVICE_NS 200u
#define MESSAGE (4096u * 256u)
/* Every second turn asks for an answer; the one after these does not. */
#define WARM_UP 21u
#define TWO_TURNS (2 * TURN_PACKETS * 4096)

static struct sim_world *world;
static struct sim_qp *qps[DESTS + 1]; /* by node */

/*
 * All EVs were heard, and windows are settled. Nodes empty their sockets one after the other, and
 * are asked after so many bytes.
 */
static void open_world_asked(uint32_t bytes)
{
	struct sim_world_cfg cfg = case_cfg(PLANES, PATHS);
	struct sim_qp_cfg def;

	cfg.net.n_nodes = DESTS + 1;
	cfg.net.log_room = 1 << 14;
	/* Where something is missing, each packet is answered. */
	cfg.engine.timing.sack_bytes = 4096;
	cfg.engine.timing.sack_in_order_bytes = bytes;
	world = case_open(&cfg);
	case_pace(world, 0, PORT_BPS);
	sim_qp_cfg_default(&def);
	def.attr.timeout = 14; /* longer than a round */
	for (uint32_t i = 1; i <= DESTS; i++) {
		world->nodes[i].service_ns = SERVICE_NS;
		qps[i] = sim_connect(world, 0, i, &def, &def);
		case_post(qps[i], 8, MESSAGE, 0);
	}
	sim_run_for(world, WARM_UP * ROUND_NS);
}

static void open_world(void)
{
	open_world_asked(TWO_TURNS);
}

/* REQ(req.ev.endpoint) */
TEST(sim_turns, no_peer_is_silent_that_was_asked_for_nothing)
{
	struct mt_stats before, after;

	open_world();
	before = case_stats(world, 0);
	sim_run_for(world, 20 * ROUND_NS);
	after = case_stats(world, 0);
	CASE_BETWEEN(world, after.tx_data_packets - before.tx_data_packets,
		     18 * DESTS * TURN_PACKETS, 22 * DESTS * TURN_PACKETS);
	CASE_EQ(world, after.tx_probes - before.tx_probes, 0);
	case_close(world);
}

static void stop_node(void *ctx, uint64_t for_ns)
{
	sim_node_stop(ctx, for_ns, false);
}

/* The next packet to node i begins its turn. */
static void run_to_turn(uint32_t i)
{
	uint64_t sent = qps[i]->out.sent;

	while (qps[i]->out.sent == sent)
		sim_run_for(world, 50);
}

/*
 * Each node stops when it has taken some packets of its turn, none of which asked for an answer,
 * and goes on so long after its next turn has begun. No packet is lost: those of before wait in
 * sockets while some of the next turn are answered.
 */
static void stop_each(uint32_t asked_bytes, uint64_t beyond_ns)
{
	uint64_t again;

	open_world_asked(asked_bytes);
	again = case_resent(world, 0);
	for (uint32_t i = 1; i <= DESTS; i++) {
		uint64_t after_ns = ARRIVAL_NS + i * SERVICE_NS * PLANES / (DESTS / 2);

		run_to_turn(i);
		engine_net_at(&world->net, world->net.now_ns + after_ns, stop_node,
			      &world->nodes[i], ROUND_NS - after_ns + beyond_ns);
	}
	sim_run_for(world, 4 * ROUND_NS);
	CASE_EQ(world, case_stats(world, 0).evs_retired, 0);
	CASE_EQ(world, case_resent(world, 0) - again, 0);
	case_close(world);
}

/* Before an answer to what was asked in that turn is missed. */
TEST(sim_turns, peers_that_stop_between_two_turns_lose_no_ev)
{
	stop_each(TWO_TURNS, 24 * SIM_US);
	stop_each(TWO_TURNS, 40 * SIM_US);
}

TEST(sim_turns, peers_that_stop_until_after_their_next_turn_lose_no_ev)
{
	stop_each(TWO_TURNS, 20 * TURN_NS);
}

/* Each packet that shows a hole is answered, whether or not an answer is due by then. */
TEST(sim_turns, peers_that_are_heard_before_they_are_asked_lose_no_ev)
{
	stop_each(4 * TWO_TURNS, 0);
	stop_each(4 * TWO_TURNS, 40 * SIM_US);
}

/* What is missing from before is lost all the same, when each plane has answered since. */
TEST(sim_turns, a_dead_path_is_found)
{
	open_world();
	for (uint32_t i = 1; i <= DESTS; i++)
		case_kill(world, 0, i, 1, 3, true);
	sim_run_for(world, 12 * ROUND_NS);
	CASE_EQ(world, case_stats(world, 0).evs_retired, DESTS);
	for (uint32_t i = 1; i <= DESTS; i++)
		CASE_EQ(world, case_info(qps[i]).evs_bad, 1);
	CASE_EQ(world, case_stats(world, 0).uplinks_left, 0);
	case_close(world);
}
