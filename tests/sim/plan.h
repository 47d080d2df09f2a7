/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - a random world as a list of numbers.
 *
 * A seed makes a plan, and a plan together with its seed makes a world. Because a plan is nothing
 * but named numbers, each with a simplest value, it can be printed, and when its world fails it can
 * be made simpler by anyone who does not know what the numbers mean.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* name, simplest value, meaning */
#define SIM_PLAN(X)                                                           \
	X(nodes, 2, "engines")                                                \
	X(planes, 1, "planes")                                                \
	X(paths, 1, "paths a plane and direction")                            \
	X(alias, 0, "further EVs for each path; 2: known")                    \
	X(backups, 0, "EVs of a plane kept out of the rotation")              \
	X(min_active, 1, "EVs that are never given up")                       \
	X(revive, 1, "probes that bring an EV back")                          \
	X(conns, 1, "connections")                                            \
	X(messages, 1, "messages each way of a connection")                   \
	X(one_way, 0, "only the first node of a connection sends")            \
	X(imm_share, 0, "WRITE_WITH_IMM, of 100")                             \
	X(big_share, 0, "messages of 1 MiB, of 1000")                         \
	X(small, 0, "no message is larger than three packets")                \
	X(silent_share, 0, "not signalled, of 100")                           \
	X(pause_ns, 0, "pauses between messages, up to")                      \
	X(mtu, 0, "log2 of MTU / 256; 5: each its own")                       \
	X(mpr, 0, "units of 128 PSNs; 0: each its own")                       \
	X(wimm, 0, "max_wimm; 0: each its own")                               \
	X(sq_depth, 64, "send queue")                                         \
	X(wrap, 0, "first PSNs near the wrap")                                \
	X(cc, 0, "0 none, 1 NSCC, 2 each its own")                            \
	X(decoded, 0, "packets as structs")                                   \
	X(tx_batch, 16, "descriptors a call")                                 \
	X(late_ns, 0, "timers are late by up to")                             \
	X(latency_ns, 5000, "one way")                                        \
	X(spread_ns, 0, "paths differ by up to")                              \
	X(jitter_ns, 0, "jitter")                                             \
	X(egress_mbps, 0, "rate of a port")                                   \
	X(lasthop_mbps, 0, "rate in front of a receiver's port")              \
	X(lasthop_trims, 0, "a full last hop trims")                          \
	X(bad_share, 0, "paths that have the faults below, of 1000")          \
	X(dead_up, 0, "paths to a higher node dead from the start, of 1000")  \
	X(dead_down, 0, "paths to a lower node dead from the start, of 1000") \
	X(loss_ppm, 0, "loss")                                                \
	X(corrupt_ppm, 0, "corruption")                                       \
	X(dup_ppm, 0, "doubling")                                             \
	X(reorder_ppm, 0, "held back")                                        \
	X(reorder_ns, 0, "by up to")                                          \
	X(ecn_ppm, 0, "marks")                                                \
	X(trim_ppm, 0, "trims on the way")                                    \
	X(trim_last_ppm, 0, "trims at the last hop")                          \
	X(faults, 0, "paths, planes and nodes that fail during the run")      \
	X(fault_ns, 0, "such a failure lasts up to")                          \
	X(stops, 0, "nodes that stop for a while")                            \
	X(rx_packet_ns, 0, "a receiver takes a packet each")                  \
	X(rx_room, 4096, "packets that wait for a slow receiver")             \
	X(rx_told, 0, "receivers tell their room to their engine")            \
	X(dynamic_mpr, 0, "dynamic MPR: 0 none, 1 all, 2 each its own")       \
	X(service_ns, 0, "a busy node takes a packet each, port by port")     \
	X(deaf, 0, "what arrives at a stopped node is lost")                  \
	X(ports, 0, "ports that go down for a while")                         \
	X(extended, 0, "QPs with extensions: 1 all, 2 one of each two")       \
	X(send_share, 0, "SENDs, of 100")                                     \
	X(recv_pause_ns, 0, "receives are posted only each")                  \
	X(ask_share, 0, "READs and atomics, of 100")                          \
	X(rd_atomic, 1, "of these at a time")                                 \
	X(host, 1, "engines at an address")                                   \
	X(clocks, 0, "clocks that jump or stand still")                       \
	X(clock_ns, 0, "by or for up to")                                     \
	X(refused, 0, "memory that is not to be had, of 100 times")           \
	X(srq_share, 0, "QPs that take receives from their node's, of 100")   \
	X(srq_depth, 64, "receives that a node has for them")                 \
	X(srq_room, 65536, "bytes of each")                                   \
	X(srq_changes, 0, "resizes and limits, of 100 times")                 \
	X(withheld, 0, "of these, whose first message comes last of all")     \
	X(mw_share, 0, "WRITEs and READs through windows, of 100")            \
	X(mw_bytes, 65536, "of a window")                                     \
	X(mw_stale, 0, "old keys are used in the end")                        \
	X(zero_based, 0, "MRs begin at 0; 2: and have all addresses")         \
	X(atomic_write, 0, "ATOMIC WRITEs, of 100 atomics")

struct sim_plan {
	uint64_t seed;
#define SIM_PLAN_FIELD(name, simplest, text) uint64_t name;
	SIM_PLAN(SIM_PLAN_FIELD)
#undef SIM_PLAN_FIELD
};

/* What became of a world. */
struct sim_outcome {
	bool failed;
	char why[400];
	uint64_t packets, ended_ns;
};

/* sim_plan_draw makes the plan of a seed. */
void sim_plan_draw(struct sim_plan *plan, uint64_t seed);
/* sim_plan_run builds and runs the world; `explain` prints it when it fails. */
void sim_plan_run(const struct sim_plan *plan, struct sim_outcome *outcome, bool explain);
/* sim_plan_write writes what is not at its simplest, each line behind `before`. */
void sim_plan_write(const struct sim_plan *plan, FILE *out, const char *before);
/* sim_plan_read reads what that wrote; false at a line that it does not understand. */
bool sim_plan_read(struct sim_plan *plan, FILE *in, unsigned *bad_line);
/* sim_plan_shrink makes a failing plan simpler as long as it fails, in at most `tries` runs. */
void sim_plan_shrink(struct sim_plan *plan, unsigned tries);

/*
 * sim_plan_explain prints a plan that fails and its simplest form that still does, shows that one's
 * world, and leaves it as a file in the current folder, to be kept.
 */
void sim_plan_explain(const struct sim_plan *plan);

#endif
