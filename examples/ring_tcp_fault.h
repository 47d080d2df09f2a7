/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_tcp_fault.h - lets kernel TCP feel the fault table, without privilege.
 *
 * To lose everything, a socket asks for a TTL (IP_MINTTL) that no arriving segment has: they vanish
 * before TCP sees them, as on a dead link. To lose a share, a classic BPF filter on the socket
 * draws a random number for each; some kernels refuse filters to ordinary users, and there TCP does
 * not feel random loss. Both are done at both ends of a connection, so that data and
 * acknowledgements are lost alike, each where it arrives.
 *
 * A connection stays on one path, as static ECMP keeps it there: a hash of its two port numbers,
 * modulo the number of paths. Corruption is loss to TCP (its checksum), and so is trimming. Delay,
 * duplication and marks cannot be done at a socket; TCP does not feel them here.
 */
#ifndef EXAMPLES_RING_TCP_FAULT_H
#define EXAMPLES_RING_TCP_FAULT_H

#include <mrc/fault.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define RING_FAULT_CONNECTIONS_MAX 64u
#define RING_FAULT_CERTAIN_PPM 1000000u
/* What segments must be sent with, so that RING_FAULT_MIN_TTL makes them vanish. */
#define RING_FAULT_TTL 64
#define RING_FAULT_MIN_TTL 255

/* One connection as the table sees segments that arrive on it. */
struct ring_fault_flow {
	int fd;
	unsigned plane;
	struct in_addr from, to; /* the sending and the receiving host, by address on plane 0 */
	uint16_t caller_port, called_port;
};

/* What is to be thrown away of a flow now. */
struct ring_fault_verdict {
	uint32_t drop_ppm;  /* 0: nothing; RING_FAULT_CERTAIN_PPM: everything */
	uint32_t data_only; /* 1: only segments with payload */
};

/* ring_fault_path returns the flow's path among `paths`, equal at both ends. */
unsigned ring_fault_path(const struct ring_fault_flow *flow, uint32_t paths);

/* ring_fault_judge says what the table's rules do to a flow; the worst of them holds. */
struct ring_fault_verdict ring_fault_judge(const struct mrc_fault_table *table,
					   const struct ring_fault_flow *flow);

/*
 * ring_fault_start maps the table that MRC_FAULTS names and starts a thread that follows it. The
 * flows are copied; their descriptors must stay open until ring_fault_stop. *watch is NULL when
 * MRC_FAULTS is not set. 0, or -1 after a message on stderr.
 */
struct ring_fault_watch;
int ring_fault_start(struct ring_fault_watch **watch, const struct ring_fault_flow *flows,
		     unsigned n);
void ring_fault_stop(struct ring_fault_watch *watch);

/* ring_fault_filters says whether the kernel lets sockets have filters, for random loss. */
bool ring_fault_filters(const struct ring_fault_watch *watch);

#endif
