/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_host.h - the prober of one host: sends what its plan says, takes in what comes back,
 * answers neighbours, and hands what it counted to a sink.
 *
 * 	host = probe_host_create(&cfg, &sink, why, sizeof(why));
 * 	probe_host_receive(host);		once every PROBE_STEP_NS, and then
 * 	probe_host_send(host);
 * 	probe_host_destroy(host);
 *
 * Time is counted in its own steps: a prober that is not run for a while takes nothing for lost
 * that waits in its sockets. One thread at a time; nothing blocks. It knows no clock.
 *
 * Whoever can send to a host can send it what looks like a probe. What comes back counts only with
 * the nonce of one that is under way, and by the port where it has to arrive. Answers to neighbours
 * are as long as what was asked, go to hosts of the fabric alone, and are bounded like probes.
 */
#ifndef SOFTMRC_PROBER_PROBE_HOST_H
#define SOFTMRC_PROBER_PROBE_HOST_H

#include "map/map_doubt.h"
#include "map/probe_plan.h"
#include "prober/probe_book.h"
#include "prober/probe_packet.h"

#define PROBE_NS_PER_S UINT64_C(1000000000)
#define PROBE_STEP_NS MM_PROBE_STEP_NS
/* What a host may send: from one probe a second on each route of a lab to what a core can do. */
#define PROBE_RATE_MIN UINT64_C(100000)
#define PROBE_RATE_MAX UINT64_C(1000000000)
#define PROBE_RATE_USUAL UINT64_C(10000000)
/* Hosts that probe each link. */
#define PROBE_SHARE_MAX 16u
#define PROBE_SHARE_USUAL 4u
/* Routes of a host; a fabric whose plan has more for it is probed in part. */
#define PROBE_ROUTES_MAX 4096u

/* Trains go to a switch and back, to a neighbour, or round by way of another T0. */
enum probe_turn_kind { PROBE_TURN_SHORT, PROBE_TURN_PEER, PROBE_TURN_ROUND, PROBE_TURN_KINDS };

/* Which kind of trains a step has. */
struct probe_turn {
	uint64_t step;		   /* one more; 0: there was none */
	uint64_t since;		   /* when the doubt began for which there are turns */
	enum probe_turn_kind kind; /* PROBE_TURN_KINDS: no trains */
	uint32_t had[PROBE_TURN_KINDS + 1];
};

/* Links whose trains are kept apart; of more, some wait for others. */
#define PROBE_TRAIN_LINKS 4096u

/* What probers that take their steps together have in common; zeros at first. */
struct probe_common {
	struct mm_doubts doubts; /* where one has seen something all look */
	struct probe_turn turn;
	uint64_t train_until[PROBE_TRAIN_LINKS]; /* the step from which on a link has none */
};

struct probe_host_cfg {
	const struct mf_topology *t; /* must outlive the host */
	uint32_t host;
	uint32_t share;		 /* hosts that probe each link: 1 .. PROBE_SHARE_MAX */
	uint64_t rate_bit_s;	 /* PROBE_RATE_MIN .. PROBE_RATE_MAX */
	uint32_t steps_least;	 /* from one pair of a route to the next; 0: as the rate allows */
	const uint32_t *ifindex; /* of the port on each plane; must outlive the host */
	/*
	 * UDP ports of all hosts, in network order; where the own one is 0 a free one is taken and
	 * written there. Must outlive the host.
	 */
	uint16_t *udp_port;
	bool asks_who_lives; /* and rebalances when a neighbour leaves or comes back */
	/*
	 * What the slowest link is sure to carry; 0: not known, and nothing is called slow. Links
	 * of machines are too fast for it: a train is over before a kernel could say when it began.
	 */
	uint64_t link_bit_s;
	/* Of probers that take their steps together; must outlive them. NULL: the host is alone. */
	struct probe_common *common;
};

/* Where what was counted goes. `memo` is the sink's own for a route, MM_NO_ROUTE at first. */
struct probe_sink {
	void *ctx;
	void (*route)(void *ctx, const struct mm_route_of *of, uint32_t *memo,
		      const struct mm_counts *counts);
	void (*plain)(void *ctx, uint32_t host, uint32_t plane, uint32_t sent, uint32_t lost);
	/* A probe of another host was seen on a plane. Anybody can make one up. */
	void (*stray)(void *ctx, uint32_t host, uint32_t plane, const struct probe_packet *packet);
	/* A plain packet to a host went round until a switch gave up. */
	void (*loop)(void *ctx, uint32_t host, uint32_t plane, uint32_t to);
	/* A neighbour's question came. Anybody can make one up. May be NULL. */
	void (*asked)(void *ctx, uint32_t host, const struct probe_packet *packet);
};

/* What the probes of a host came to. */
struct probe_figures {
	uint32_t routes;
	uint32_t left_out;    /* routes of the plan that there was no room for */
	uint32_t round_steps; /* from one pair of a route to the next */
	uint64_t bit_s;	      /* that it sends where nothing is in doubt; else see probe_spare.h */
	uint64_t sent, unsent, lost, asked, unanswered;
	uint64_t got[PROBE_VERDICTS];
	uint32_t neighbours, living; /* on its T0; those that answer */
};

struct probe_host;

/*
 * probe_host_create opens the sockets in the network namespace of the calling thread. NULL, and a
 * sentence: no memory, or a socket that cannot be had. Without the rights for the view of stray
 * probes (CAP_NET_RAW) it goes without, and probe_host_sees_strays says so.
 */
struct probe_host *probe_host_create(const struct probe_host_cfg *cfg,
				     const struct probe_sink *sink, char *why, size_t size);
/* probe_host_destroy frees it; NULL is allowed. */
void probe_host_destroy(struct probe_host *h);

/*
 * A step: probe_host_receive takes in what came and settles what is overdue, probe_host_send sends
 * what is due. Of probers that take their steps together all receive before any sends: what one saw
 * is in doubt for all then, and none has what a host begins with and a burst.
 */
void probe_host_receive(struct probe_host *h);
void probe_host_send(struct probe_host *h);

const struct probe_figures *probe_host_figures(const struct probe_host *h);
bool probe_host_sees_strays(const struct probe_host *h);
/* probe_host_has says whether a packet is one that the host sent lately and that ends at it. */
bool probe_host_has(const struct probe_host *h, const struct probe_packet *packet);
/* probe_host_asks says whether a packet is a question that the host sent lately to a neighbour. */
bool probe_host_asks(const struct probe_host *h, const struct probe_packet *packet);

#endif
