/* SPDX-License-Identifier: BSD-2-Clause */
/* asking_bed.h - a node whose QP has READs and atomics, two at a time each way. */
#ifndef UNIT_ASKING_BED_H
#define UNIT_ASKING_BED_H

#include "core/responses.h"
#include "support/node.h"
#include "support/test.h"

static struct node n;

static int bed_open(void **state)
{
	struct node_opts o;

	(void)state;
	node_opts_default(&o);
	o.cap.extensions = MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC;
	o.attr.access |= MT_ACCESS_REMOTE_READ | MT_ACCESS_REMOTE_ATOMIC;
	o.attr.max_rd_atomic = o.attr.max_dest_rd_atomic = 2;
	node_open(&n, &o, 0);
	node_connect(&n);
	return 0;
}

static int bed_close(void **state)
{
	(void)state;
	node_close(&n);
	return 0;
}

#define BED_TEST(function, name) TEST_WITH(bed_open, bed_close, function, name)

#endif
