/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_nic.h - RoCEv2 RC in the simulated NICs, for comparison with MRC in the same fabric and run.
 *
 * A flow has one to sixteen QPs. Each message is cut evenly over them, as collective libraries do,
 * and each QP sends its part as a WRITE: packets in order, all on one path, which switches choose
 * by a hash of addresses and of the UDP source port that follows from the QPN (ecmp_routing.c). The
 * plane is the port of the NIC that the QP is bonded to; it never changes.
 *
 * Reliability is go-back-N. The receiver takes the packet that it expects and nothing else; the
 * first one out of order is answered by a NAK, and the sender goes back to what was expected. So it
 * does when nothing was acknowledged for the ACK timeout. When that has happened retry_cnt times
 * and once more without progress, the QP is dead, and its flow has failed. Acknowledgements are
 * coalesced: one for ack_every packets and one at the end of a message.
 *
 * Congestion control is DCQCN (roce_nic.h) or none. There is no window.
 *
 * Checked all along: each packet brings the next bytes of its QP, once and in order, messages are
 * whole when they are reported, and what NICs count is what the fabric counts.
 *
 * Threads: as sim_net.h says.
 */
#ifndef SOFTMRC_SIM_ROCE_ROCE_NIC_H
#define SOFTMRC_SIM_ROCE_ROCE_NIC_H

#include "sim/nic/sim_nic.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * DCQCN, the congestion control of RoCEv2 (Zhu et al., SIGCOMM 2015): the sender's rate.
 *
 * The receiver answers marked packets with a CNP, at most one in cnp_interval. For each the sender
 * remembers its rate as the target and cuts it by half of alpha, its estimate of how much is
 * marked, which rises with each CNP and sinks whenever alpha_timer passes without one. A timer and
 * a byte counter lead the rate back up: the first `fast_rounds` times of either half of the way to
 * the target, then the target rises by rate_ai each time, and by ever more of rate_hai once both
 * have come so far.
 *
 * Timers are not events: what they would have done is done when the rate is asked for, in its
 * order. Whole numbers only, so that every machine gets the same.
 */

/* Parts of a whole in which alpha is kept. */
#define MS_DCQCN_ONE (UINT32_C(1) << 20)

struct ms_dcqcn_cfg {
	uint64_t line_bps;	  /* of the port: the largest rate, 10^6 .. 10^13 */
	uint64_t min_bps;	  /* the smallest, 1 .. line_bps */
	uint64_t rate_ai_bps;	  /* R_AI */
	uint64_t rate_hai_bps;	  /* R_HAI */
	uint64_t alpha_timer_ns;  /* above 0 */
	uint64_t rate_timer_ns;	  /* T, above 0 */
	uint64_t byte_counter;	  /* B, above 0 */
	uint64_t cnp_interval_ns; /* the receiver's */
	uint32_t fast_rounds;	  /* F */
	uint8_t g_shift;	  /* g is 1 / 2^this, 1 .. 16 */
};

/* All zero but for rates: nothing has been marked. */
struct ms_dcqcn {
	uint64_t rate_bps, target_bps; /* R_C, R_T */
	uint64_t alpha_next_ns, rate_next_ns;
	uint64_t bytes; /* since the byte counter was last full */
	uint32_t alpha; /* of MS_DCQCN_ONE */
	uint32_t timer_rounds, byte_rounds;
	bool limited; /* the rate is below the line's, or alpha not yet 0: timers run */
};

/*
 * ms_dcqcn_defaults fills in what the paper publishes for 40G (g 1/256, timers of 55 us, byte
 * counter 10 MB, F 5, R_AI 40 Mb/s, R_HAI ten times that, CNPs 50 us apart), rates and bytes in
 * proportion to the port's rate.
 */
void ms_dcqcn_defaults(struct ms_dcqcn_cfg *cfg, uint64_t line_bps);
/* ms_dcqcn_valid says whether every value is within its range. */
bool ms_dcqcn_valid(const struct ms_dcqcn_cfg *cfg);
/* ms_dcqcn_init begins at line rate, with alpha 1. */
void ms_dcqcn_init(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg);
/* ms_dcqcn_cnp takes a CNP. */
void ms_dcqcn_cnp(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns);
/* ms_dcqcn_sent counts bytes that were sent. */
void ms_dcqcn_sent(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns,
		   uint32_t bytes);
/* ms_dcqcn_rate returns the rate at now_ns, not before any time given so far; bits a second. */
uint64_t ms_dcqcn_rate(struct ms_dcqcn *c, const struct ms_dcqcn_cfg *cfg, uint64_t now_ns);

/* Bytes of the BTH, the one IBTA header that most data packets have. */
#define MS_ROCE_BTH 12u
/* QPs of a flow. */
#define MS_ROCE_QPS_MAX 16u
/* IBTA: codes of the ACK timeout, 4.096 us x 2^code, and retries. */
#define MS_ROCE_TIMEOUT_MAX 31u
#define MS_ROCE_RETRY_MAX 7u

struct ms_roce;

struct ms_roce_cfg {
	struct mf_topology topology;
	uint32_t threads;
	uint64_t seed;
	uint32_t path_mtu;	    /* payload bytes of a packet: 256 .. 4096 */
	uint32_t frame_bytes;	    /* on the wire in addition to IBTA headers and payload */
	uint32_t qps;		    /* of a flow, 1 .. MS_ROCE_QPS_MAX */
	uint32_t ack_every;	    /* packets, 1 .. 65535 */
	uint16_t depth;		    /* messages of a flow posted at once, at most */
	uint8_t timeout;	    /* 0 .. MS_ROCE_TIMEOUT_MAX; 0: 4.096 us too */
	uint8_t retry_cnt;	    /* 0 .. MS_ROCE_RETRY_MAX */
	uint8_t congestion_control; /* 1: DCQCN, 0: none */
	struct ms_dcqcn_cfg dcqcn;
};

/* What is counted, over all NICs of this rank. */
#define MS_ROCE_STATS(X)                                        \
	X(tx_data_packets, "data packets sent, again ones too") \
	X(tx_retransmits, "of these sent again")                \
	X(tx_acks, "ACKs sent")                                 \
	X(tx_naks, "NAKs sent: a packet came out of order")     \
	X(tx_cnps, "CNPs sent: a marked packet came")           \
	X(rx_data_packets, "data packets taken in order")       \
	X(rx_data_bytes, "payload bytes of these")              \
	X(rx_duplicates, "that had been taken before")          \
	X(rx_out_of_order, "dropped: out of order (go-back-N)") \
	X(rx_acks, "ACKs received")                             \
	X(rx_naks, "NAKs received")                             \
	X(rx_cnps, "CNPs received")                             \
	X(rx_late, "answers to QPs that are over or dead")      \
	X(rx_corrupt, "packets with a wrong ICRC")              \
	X(timeouts, "ACK timeouts")                             \
	X(qps_dead, "QPs that used up their retries")

struct ms_roce_stats {
#define MEMBER(name, text) uint64_t name;
	MS_ROCE_STATS(MEMBER)
#undef MEMBER
};

/*
 * ms_roce_defaults fills in a configuration for a topology: MTU 4096, one QP, an ACK for 16
 * packets, timeout 14 (67 ms), 7 retries, DCQCN at the rate of the port.
 */
void ms_roce_defaults(struct ms_roce_cfg *cfg, const struct mf_topology *topology);
/* ms_roce_check says whether NICs can be made so; else why (MS_WHY_BYTES) says what is wrong. */
bool ms_roce_check(const struct ms_roce_cfg *cfg, char *why);
/* ms_roce_queues fills in the queues that DCQCN publishes for 40G: marks from 5 KB on, all from
 * 200 KB on, 1 % just below, at every switch port, bytes in proportion to its rate; a limit of 5
 * BDP where nothing else holds packets back. */
void ms_roce_queues(const struct mf_topology *t, struct ms_queue_cfg queue[MS_PORT_KINDS]);
/* ms_roce_pfc fills in PFC, switched on, with such queues: an xoff above the length from which on
 * all is marked, so that DCQCN acts first. */
void ms_roce_pfc(const struct mf_topology *t, struct ms_pfc_cfg *pfc);
/* ms_roce_memory returns what QPs of `hosts` hosts take at most with n checked workloads; 0: none
 * of the workloads uses RoCE. */
uint64_t ms_roce_memory(const struct ms_roce_cfg *cfg, const struct ms_workload_cfg *workload,
			uint32_t n, uint64_t hosts);

/* ms_roce_create adds RoCE to the NICs, which free it; cfg is copied. NULL: why (MS_WHY_BYTES) says
 * what is wrong. */
struct ms_roce *ms_roce_create(const struct ms_roce_cfg *cfg, struct ms_nics *nics, char *why);
/* ms_roce_stats adds up the counters of this rank; between runs and at edges. */
void ms_roce_stats(const struct ms_roce *roce, struct ms_roce_stats *sum);

#endif
