/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_nic.h - RoCEv2 RC in the simulated NICs, for comparison with MRC in the same fabric and run.
 *
 * A flow has one to sixteen QPs. Each message is cut evenly over them, as collective libraries do,
 * and each QP sends its part as a WRITE: packets in order, all on one way, which switches choose by
 * a hash of addresses and of the UDP source port that follows from the QPN (ecmp_routing.h). The
 * plane is the port of the NIC that the QP is bonded to; it never changes.
 *
 * Reliability is go-back-N. The receiver takes the packet that it expects and nothing else; the
 * first one out of order is answered by a NAK, and the sender goes back to what was expected. So it
 * does when nothing was acknowledged for the ACK timeout. When that has happened retry_cnt times
 * and once more without progress, the QP is dead, and its flow has failed. Acknowledgements are
 * coalesced: one for ack_every packets and one at the end of a message.
 *
 * Congestion control is DCQCN (dcqcn.h) or none. There is no window.
 *
 * Checked all along: each packet brings the next bytes of its QP, once and in order, messages are
 * whole when they are reported, and what NICs count is what the fabric counts.
 *
 * Threads: as sim_net.h says.
 */
#ifndef SOFTMRC_SIM_ROCE_ROCE_NIC_H
#define SOFTMRC_SIM_ROCE_ROCE_NIC_H

#include "sim/nic/sim_nic.h"
#include "sim/roce/dcqcn.h"

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
/* ms_roce_headers returns the bytes of IBTA headers that most data packets have: the BTH. */
uint32_t ms_roce_headers(void);

/* ms_roce_create adds RoCE to the NICs, which free it; cfg is copied. NULL: why (MS_WHY_BYTES) says
 * what is wrong. */
struct ms_roce *ms_roce_create(const struct ms_roce_cfg *cfg, struct ms_nics *nics, char *why);
/* ms_roce_stats adds up the counters of this rank; between runs and at edges. */
void ms_roce_stats(const struct ms_roce *roce, struct ms_roce_stats *sum);

#endif
