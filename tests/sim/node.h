/* SPDX-License-Identifier: BSD-2-Clause */
/* node.h - what world.c and node.c share. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "world.h"

/* sim_node_deliver is the fabric's way into a node; ctx is the world. */
void sim_node_deliver(void *ctx, struct sim_packet *p);
/* sim_node_due returns when a node's timers will be served. */
uint64_t sim_node_due(const struct sim_node *node);
void sim_node_tick(struct sim_node *node);
/* sim_set_current names the world that a panic is to explain. */
void sim_set_current(struct sim_world *w);

#endif
