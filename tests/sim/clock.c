/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.c - clocks of nodes that are not the time of the world. They jump ahead, as those of a
 * machine that was suspended do, or stand still, as a clock that is read too seldom; none ever goes
 * back, which no adapter may do to an engine.
 */
#include "node.h"

static bool stands(const struct sim_node *node)
{
	return node->w->net.now_ns < node->clock.stands_until_ns;
}

uint64_t sim_node_now(const struct sim_node *node)
{
	if (stands(node))
		return node->clock.shows_ns;
	return node->w->net.now_ns + node->clock.ahead_ns;
}

uint64_t sim_clock_when(const struct sim_node *node, uint64_t ns)
{
	const struct sim_clock *c = &node->clock;
	int64_t when = (int64_t)(ns - c->ahead_ns);

	if (stands(node) && ns <= c->shows_ns)
		return c->stands_since_ns;
	if (stands(node) && when < (int64_t)c->stands_until_ns)
		return c->stands_until_ns;
	return when < 0 ? 0 : (uint64_t)when;
}

static void goes_on(void *ctx, uint64_t arg)
{
	(void)arg;
	sim_node_run(ctx);
}

void sim_clock_jump(struct sim_node *node, uint64_t ns)
{
	node->clock.ahead_ns += ns;
	sim_node_run(node);
}

void sim_clock_stand(struct sim_node *node, uint64_t ns, bool catches_up)
{
	struct sim_clock *c = &node->clock;

	if (stands(node))
		return;
	c->shows_ns = sim_node_now(node);
	c->stands_since_ns = node->w->net.now_ns;
	c->stands_until_ns = c->stands_since_ns + ns;
	if (!catches_up)
		c->ahead_ns -= ns;
	engine_net_at(&node->w->net, c->stands_until_ns, goes_on, node, 0);
}
