/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h - two processes that talk MRC over loopback, for tests.
 *
 * A case runs live_run with two functions: the target in a forked child, the initiator in the
 * test's process. Both open the device, connect one QP over a socketpair and have a buffer
 * registered. The fork comes before anything is opened. A check that fails in the child ends it
 * with a message, and then fails the case.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <mrc/fault.h>
#include <mrc/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/nic.h"

#define LIVE_PLANES 4u
#define LIVE_EVS 8u
#define LIVE_DEPTH 128u

/* What each side must know of the other. */
struct live_card {
	struct rd_gid gid;
	uint32_t qpn, psn, rkey;
	uint64_t addr;
};

struct live_side;

struct live_setup {
	size_t bytes;		 /* of the buffer of each side */
	const char *pace;	 /* MRC_PACE, NULL: none */
	const char *icrc;	 /* MRC_ICRC, NULL: default */
	const char *target_icrc; /* that of the target, NULL: the same */
	const char *cc;		 /* MRC_CC, NULL: default */
	const char *driver;	 /* MRC_DRIVER, NULL: default */
	const char *capture;	 /* MRC_CAPTURE of the initiator, NULL: none */
	const char *ports; /* MRC_PORTS with * for the host's number; NULL: four planes of IPv4 */
	const char *ev_format; /* MRC_EV_FORMAT, NULL: default */
	const char *rows;      /* MRC_SRV6_ROWS, NULL: none; GIDs and uplinks go with them */
	const char *gid;       /* MRC_SRV6_GID with * for the host's number */
	const char *uplinks;   /* MRC_SRV6_UPLINKS, and as many EVs */
	bool own_ev_bases;     /* each host has source ports of its own */
	/* Called in the process of each side (host 1 or 2) before anything else; NULL: nothing. */
	void (*enter)(struct live_side *s, uint32_t host);
	uint8_t timeout; /* of the QP; 0: 14 */
	uint8_t retry_linear, retry_exp;
	uint32_t cqe;	   /* 0: enough */
	bool extended;	   /* the QPs; they wait 10 us for receivers, for ever */
	bool reads;	   /* the peer may READ, one at a time; they are extended */
	const char *order; /* MRC_ORDER, NULL: default */
	bool one_cq;	   /* the QPs of live_more use the CQ and the channel of the first */
	uint32_t limit_s;  /* after which a side is ended by SIGALRM; 0: 180 */
};

struct live_side {
	const struct live_setup *setup;
	struct mrc_fault_table *faults; /* shared by both processes; no rule is set */
	int sock;			/* to the other side */
	struct mh_device *dev;
	struct mh_pd *pd;
	struct mh_channel *channel;
	struct mh_cq *cq;
	struct mh_qp *qp;
	struct mh_mr *mr;
	uint8_t *buffer; /* setup->bytes long, zero */
	struct live_card mine, peer;
	const struct mrc_stats_segment *stats; /* own, mapped by live_stats */
};

/* Runs a case; returns when both sides are done and everything is closed. */
void live_run(const struct live_setup *setup, void (*initiator)(struct live_side *),
	      void (*target)(struct live_side *));

/*
 * live_more gives both sides, which call it at the same time, one more QP with a CQ and a channel
 * of its own on the same device and memory; live_less takes it away.
 */
void live_more(const struct live_side *s, struct live_side *more);
void live_less(struct live_side *more);

/* live_check ends the case with a message when cond does not hold. */
#define live_check(cond) ((cond) ? (void)0 : live_fail(__FILE__, __LINE__, #cond))
_Noreturn void live_fail(const char *file, int line, const char *what);

/* Sends and receives len bytes over the socketpair; a barrier is one byte each way. */
void live_tell(struct live_side *s, const void *bytes, size_t len);
void live_hear(struct live_side *s, void *bytes, size_t len);
void live_barrier(struct live_side *s);

uint64_t live_counter(struct live_side *s, const char *name);
/* live_wait_counter waits until a counter is at least `want`; false: not within ms. */
bool live_wait_counter(struct live_side *s, const char *name, uint64_t want, uint32_t ms);
/* live_stats returns the statistics segment of this process. */
const struct mrc_stats_segment *live_stats(struct live_side *s);
/* live_wait takes n completions, blocking on the channel, for at most 20 s. */
void live_wait(struct live_side *s, struct mh_wc *wc, uint32_t n);
/* live_expect checks the identity and the status of a completion and prints them when wrong. */
#define live_expect(wc, id, want) live_expect_at(__FILE__, __LINE__, (wc), (id), (want))
void live_expect_at(const char *file, int line, const struct mh_wc *wc, uint64_t wr_id,
		    enum rd_wc_status status);
/* live_write posts a WRITE of buffer[offset..offset+len) to the same place at the peer. */
void live_write(struct live_side *s, uint64_t wr_id, size_t offset, uint32_t len, uint32_t flags,
		uint32_t imm);
/* live_write_pieces writes the first n pieces of so many bytes, and waits until they are there. */
void live_write_pieces(struct live_side *s, uint32_t n, uint32_t bytes);
void live_post_recv(struct live_side *s, uint32_t n);
/* live_fill writes, and live_compare checks, the pattern of a seed. */
void live_fill(uint8_t *bytes, size_t len, uint64_t seed);
bool live_compare(const uint8_t *bytes, size_t len, uint64_t seed);

/* live_rule adds a rule for all planes, paths and hosts. */
struct mrc_fault_rule *live_rule(struct live_side *s, uint32_t i, enum mrc_fault_kind kind,
				 uint32_t chance_ppm);
void live_rule_on(struct mrc_fault_rule *rule, enum mrc_fault_kind kind);

#endif
