/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_counters.h - what the software NIC counts beside the engines: names and meanings, for the
 * NIC that counts and for those who read.
 */
#ifndef SOFTMRC_STATS_HOST_COUNTERS_H
#define SOFTMRC_STATS_HOST_COUNTERS_H

/* Of the NIC. */
#define STATS_NIC_COUNTS(X)                                                            \
	X(rx_outside_subnet, "frames from addresses outside the plane's subnet")       \
	X(rx_other_shard,                                                              \
	  "frames handed to the shard of their QP, having come to another one's port") \
	X(rx_wrong_shard,                                                              \
	  "frames dropped because they came to the port of a shard behind their QP's") \
	X(tx_mr_gone, "packets not built because memory of their MR was gone")         \
	X(cq_overruns, "completions lost because their CQ was full")                   \
	X(node_states, "states of the device that were taken from its store")          \
	X(node_refused, "states of the store that were refused, with a message")

/* Of ports; published as port_NAME, sums over them. */
#define STATS_PORT_COUNTS(X)                                                             \
	X(tx_frames, "frames sent, control included")                                    \
	X(tx_bytes, "UDP payload bytes sent")                                            \
	X(tx_refused, "frames that the system would not take")                           \
	X(tx_backlogged, "frames that waited because a socket was full")                 \
	X(tx_runs, "runs that the system took as one and cuts up")                       \
	X(tx_run_frames, "frames in those runs")                                         \
	X(rx_frames, "frames received")                                                  \
	X(rx_bytes, "UDP payload bytes received")                                        \
	X(rx_overruns, "frames dropped by the system because a receive buffer was full") \
	X(rx_oversize, "frames longer than any packet of MRC")                           \
	X(rx_unsound, "packets whose IP or UDP header no host makes")

#endif
