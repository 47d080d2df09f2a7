/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_fixture.h - the node of a test file, `n`, made with `opts`. Both are reset before each case:
 * the options with their defaults, which a case or a setup of the file's own may change.
 */
#ifndef UNIT_NODE_FIXTURE_H
#define UNIT_NODE_FIXTURE_H

#include "support/node.h"
#include "support/test.h"

#define MTU NODE_MTU

static struct node_opts opts;
static struct node n;

static inline int defaults(void **state)
{
	(void)state;
	node_opts_default(&opts);
	return 0;
}

static inline void start(void)
{
	node_open(&n, &opts, 0);
	node_connect(&n);
}

static inline int connected(void **state)
{
	defaults(state);
	start();
	return 0;
}

static inline int close_node(void **state)
{
	(void)state;
	node_close(&n);
	return 0;
}

#endif
