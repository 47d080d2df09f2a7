/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_pair.h - two engines joined by paths of one latency, in virtual time, for measurements.
 *
 * Packets carry lengths only. Every packet is encoded and decoded on its way, as it would be with
 * a wire. Ports have a rate; a path (an EV on a port) may be dead, in both directions at once.
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "support/engine_net.h"
#include "support/engine_node.h"
#include "support/rng.h"

#define PAIR_EVS_MAX 256u

struct pair_cfg {
	uint32_t qps, evs, ports;
	uint32_t messages; /* WRs that each QP of engine 0 keeps posted */
	uint32_t sq_depth; /* 0: 64 */
	uint32_t message_bytes;
	uint64_t one_way_ns;
	uint64_t port_bps; /* 0: ports always have room */
	enum mt_cc_kind cc;
	bool ev_set_each; /* each QP has a destination of its own, hence its own EV set */
	uint32_t denied;  /* so many EVs, the first, denied by a controller */
};

/*
 * Packets on their way when they arrive in random order: those of round r arrive in one of the
 * PAIR_ROUNDS rounds that follow it, there and back, so that some 600 are in flight and a
 * packet may be overtaken by as many again.
 */
#define PAIR_ROUNDS 8u
#define PAIR_ARRIVALS_MAX 4096u

struct pair_packet {
	uint8_t headers[MW_HEADERS_MAX];
	uint32_t tail_len; /* bytes behind the headers: payload and pad */
	uint32_t ev;
	uint32_t dqp;
	uint8_t len; /* of the headers */
	uint8_t port;
	uint8_t to; /* the side */
	bool ce;
};
_Static_assert(sizeof(struct pair_packet) <= 64, "keeping a packet costs one cache line");

struct pair_arrivals {
	uint32_t n;
	struct pair_packet packets[PAIR_ARRIVALS_MAX];
};

struct pair_side {
	struct pair *pair;
	struct engine_node node;
	struct mt_qp **qps;
};

struct pair {
	struct pair_cfg cfg;
	struct pair_side sides[2];
	struct engine_net net;		     /* and the clock */
	uint64_t port_free_ns[MT_PORTS_MAX]; /* of engine 0, the one that sends data */
	uint64_t data_sent, completed;
	/* What a fault did; see pair_break. */
	uint64_t fault_ns, last_on_dead_ns, last_recovered_ns;
	uint64_t lost, recovered;
	uint64_t *lost_psns; /* a bit for each 24-bit PSN of QP 0 */
	/* What is on its way out of order; see pair_exchange_reordered. */
	struct pair_arrivals *arrivals; /* PAIR_ROUNDS + 1 of them */
	uint32_t round;
	struct rng rng;
};

/* pair_open builds the engines, connects the QPs and posts; exits with a message on failure. */
void pair_open(struct pair *p, const struct pair_cfg *cfg);
void pair_close(struct pair *p);
/* pair_exchange moves packets straight from one engine to the other, one_way_ns apart: for
 * speed. */
void pair_exchange(struct pair *p);
/*
 * pair_exchange_reordered does so with packets that arrive in random order within two windows, one
 * in twenty with a mark, to a side that answers packet by packet.
 */
void pair_exchange_reordered(struct pair *p);
/* pair_run advances virtual time to until_ns, event by event: for recovery. Uses QP 0 alone. */
void pair_run(struct pair *p, uint64_t until_ns);
/* pair_break makes every EV dead for which `hit` is true, and starts to watch what is lost. */
void pair_break(struct pair *p, bool (*hit)(uint32_t ev_index, uint8_t port));
/* pair_ev returns EV i of the set: ports take turns. */
struct mt_ev pair_ev(const struct pair_cfg *cfg, uint32_t i);

#endif
