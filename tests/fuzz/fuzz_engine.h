/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_engine.h - the two nodes of fuzz_engine.c, and the script that moves them. */
#ifndef FUZZ_ENGINE_H
#define FUZZ_ENGINE_H

#include "support/engine_node.h"

#define NODES 2u
#define QPS 2u
#define FLYING 64u
#define MTU_MAX 4096u
#define REGION_BYTES 65536u
#define REGION_START UINT64_C(0x7000000)
#define ACCESS_ALL                                                                \
	(RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | \
	 RD_ACCESS_REMOTE_ATOMIC)
#define KEY 0x155u /* index 1, tag 0x55 */
/* Windows of type 1 and 2, and how many keys each has. */
#define MW_1 2u
#define MW_2 3u
#define MW_TAGS 4u

struct packet {
	uint8_t to;
	struct mt_rx_meta meta;
	size_t len;
	uint8_t bytes[MW_HEADERS_MAX + MTU_MAX + 4];
};

struct region {
	bool live;
	uint64_t placed;
};

struct end {
	struct mt_qp *qp;
	uint64_t local_next, local_done; /* of WRs without packets */
	/* The next wr_id to post and the lowest that may still complete. */
	uint64_t send_next, send_done, recv_next, recv_done;
};

struct node {
	struct fuzz *f;
	unsigned id;
	struct engine_node base;
	struct region region;
	struct end ends[QPS];
	uint32_t ports; /* that are up */
};

struct fuzz {
	const uint8_t *data;
	size_t left;
	uint64_t now;
	uint32_t free_ports;
	uint32_t mtu[QPS];
	struct node nodes[NODES];
	struct packet flying[FLYING];
	unsigned n_flying;
};

static inline uint8_t next(struct fuzz *f)
{
	if (f->left == 0)
		return 0;
	f->left--;
	return *f->data++;
}

static inline struct rd_gid address(unsigned node)
{
	return (struct rd_gid){.b = {[0] = 0xFD, [15] = (uint8_t)(node + 1)}};
}

static inline uint32_t qpn_of(unsigned i)
{
	return 0x100 + i;
}

#endif
