/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * case.h - what the deterministic cases share: worlds that explain themselves when an assertion
 * fails, questions to the log, packets made by hand.
 */
#ifndef SIM_CASE_H
#define SIM_CASE_H

#include "support/test.h"
#include "wire/packet.h"
#include "world.h"

/* case_cfg: default world of n_planes planes of n_paths paths, an EV for each path. */
struct sim_world_cfg case_cfg(uint32_t n_planes, uint32_t n_paths);
/* case_open makes a world; NULL for the default configuration. */
struct sim_world *case_open(const struct sim_world_cfg *cfg);
/* case_done runs until all is done and at rest, holds the counters, closes the world. */
void case_done(struct sim_world *w);
/* case_close only checks that nothing failed, and closes. */
void case_close(struct sim_world *w);

/* Assertions that explain the world before they fail. */
#define CASE_EQ(w, got, want) case_check_eq(w, (got), (want), #got " == " #want, __FILE__, __LINE__)
#define CASE_BETWEEN(w, got, low, high) \
	case_check_between(w, (got), (low), (high), #got, __FILE__, __LINE__)
#define CASE_TRUE(w, cond) case_check_eq(w, (cond) ? 1 : 0, 1, #cond, __FILE__, __LINE__)

void case_check_eq(struct sim_world *w, uint64_t got, uint64_t want, const char *what,
		   const char *file, int line);
void case_check_between(struct sim_world *w, uint64_t got, uint64_t low, uint64_t high,
			const char *what, const char *file, int line);

/* Goes through the log, in `for (CASE_EACH(w, s))`: for each line, `s` points to it. */
#define CASE_EACH(w, s)                                                          \
	uint64_t at_##s = net_log_first(&(w)->net);                              \
	at_##s < (w)->net.logged && (s = net_log_line(&(w)->net, at_##s), true); \
	at_##s++

bool case_is_data(const struct net_seen *s);
/* case_count counts the packets of an opcode that a node sent; opcode 0: all data. */
uint64_t case_count(struct sim_world *w, uint32_t src, uint8_t opcode);
/* case_data_of_plane counts the data packets that a node sent by a plane since then. */
uint64_t case_data_of_plane(struct sim_world *w, uint32_t src, uint32_t plane, uint64_t since_ns);
/* case_resent counts the data packets that a node sent again. */
uint64_t case_resent(struct sim_world *w, uint32_t src);
/* case_nth returns the nth packet, from 0, of an opcode from a node; opcode 0: data; or fails. */
const struct net_seen *case_nth(struct sim_world *w, uint32_t src, uint8_t opcode, uint64_t n);
/* case_stats returns a node's counters. */
struct mt_stats case_stats(struct sim_world *w, uint32_t node);
/* case_changed returns how many counters differ, and asserts that `name` grew by n. */
unsigned case_changed(const struct mt_stats *before, const struct mt_stats *after);
/* case_info returns mt_qp_info. */
struct mt_qp_info case_info(const struct sim_qp *qp);

/* case_post posts n ordinary messages of len bytes. */
void case_post(struct sim_qp *qp, uint32_t n, uint32_t len, uint32_t flags);
/* case_send posts n SENDs of len bytes. */
void case_send(struct sim_qp *qp, uint32_t n, uint32_t len, uint32_t flags);
/* case_recvs posts n receives. */
void case_recvs(struct sim_qp *qp, uint32_t n);
/* case_keep_busy posts len byte messages whenever there is room, until `until_ns`. */
void case_keep_busy(struct sim_qp *qp, uint32_t len, uint64_t until_ns);

/* case_pace gives the ports of a node a rate and lets out one packet at a time. */
void case_pace(struct sim_world *w, uint32_t node, uint64_t port_bps);

/* case_kill sets paths from src to dst dead or alive; path NET_NO_NODE: the whole plane. */
void case_kill(struct sim_world *w, uint32_t src, uint32_t dst, uint32_t plane, uint32_t path,
	       bool dead);
/* case_kill_both does so in both directions. */
void case_kill_both(struct sim_world *w, uint32_t plane, uint32_t path, bool dead);
/* case_silence kills or revives every path between nodes 0 and 1, in both directions. */
void case_silence(struct sim_world *w, bool dead);

/* case_hold_first_message is a filter that holds up the packets of MSN 0 for 50 us. */
bool case_hold_first_message(void *ctx, struct net_packet *p);

/* case_meta is that of an intact packet from a node. */
struct mt_rx_meta case_meta(struct sim_world *w, uint32_t src);
/* case_data is a lone intact data packet, PSN `ahead` of the first of qp's flow. */
struct mw_packet case_data(const struct sim_qp *from, uint64_t ahead, uint32_t len);
/* case_give encodes a packet, with zeros for payload, and hands it to a node. */
void case_give(struct sim_world *w, uint32_t node, const struct mt_rx_meta *meta,
	       const struct mw_packet *pkt);

#endif
