/* SPDX-License-Identifier: BSD-2-Clause */
/* node.h - what world.c and node.c share. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "world.h"

/* sim_node_deliver is engine_net.deliver; ctx is the world. */
void sim_node_deliver(void *ctx, struct net_packet *p);
/* sim_node_due returns when a node's timers will be served. */
uint64_t sim_node_due(const struct sim_node *node);
void sim_node_tick(struct sim_node *node);
/* sim_make_sges splits `left` bytes of an MR into n pieces that do not lie side by side. */
void sim_make_sges(struct sim_node *node, struct sim_mr *mr, uint32_t left, struct rd_sge *sge,
		   uint32_t n);
/* sim_mr_of_pd returns the large MR of a protection domain, made when it is first needed. */
struct sim_mr *sim_mr_of_pd(struct sim_node *node, uint32_t pd);
/* sim_clock_when returns when, in the world, the clock of a node shows ns; 0: long ago. */
uint64_t sim_clock_when(const struct sim_node *node, uint64_t ns);
/* sim_make_flow begins the flow of one end; sim_to_rts takes its QP from RESET to RTS. */
void sim_make_flow(struct sim_qp *qp);
void sim_to_rts(struct sim_qp *qp);
/* sim_fresh_qpn draws a number for the QP that is at `index` of its node. */
uint32_t sim_fresh_qpn(struct sim_node *node, uint32_t index);
/* sim_open_engine makes the engine of a node, without anything in it. */
void sim_open_engine(struct sim_node *node);
/* sim_make_answers begins the flow of answers of one end. */
void sim_make_answers(struct sim_qp *qp);
/* What an engine_node asks of its owner, which is a node; sim_atomic_run is env.atomic. */
void sim_node_send(void *ctx, const struct mt_tx_desc *d, uint32_t free_ports);
uint32_t sim_node_free_ports(void *ctx, uint32_t n);
void sim_node_event(void *ctx, const struct mt_event *ev);
bool sim_node_refuses(void *ctx);
bool sim_atomic_run(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		    uint64_t *original);
/* sim_set_current names the world that a panic is to explain. */
void sim_set_current(struct sim_world *w);

#endif
