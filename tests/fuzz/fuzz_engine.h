/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_engine.h - the two nodes of fuzz_engine.c, the script that moves them, and what the model,
 * engine_model.c, knows of their messages.
 */
#ifndef FUZZ_ENGINE_H
#define FUZZ_ENGINE_H

#include "support/engine_node.h"

#define NODES 2u
/* QPs 0 and 1 have receive queues of their own, 2 and 3 share the SRQ of their node. */
#define QPS 4u
#define SRQ_QPS 2u /* the first of them */
#define FLYING 64u
#define MTU_MAX 4096u
#define REGION_BYTES (1u << 20)
#define REGION_START UINT64_C(0x7000000)
#define ACCESS_ALL                                                                \
	(RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | \
	 RD_ACCESS_REMOTE_ATOMIC)
#define KEY 0x155u /* index 1, tag 0x55 */
/* What messages are made of: no memory, a byte is a function of its address. See model_byte. */
#define SOURCE_KEY 0x4AAu /* index 4 */
#define SOURCE_START (UINT64_C(1) << 40)
#define SOURCE_BYTES (UINT64_C(1) << 40)
/* Where receives go: slots of the region behind what WRITEs and READs reach. */
#define SLOTS 64u
#define SLOT_BYTES 1024u
#define SLOTS_START (REGION_START + 65536)
#define MESSAGES 64u
#define MESSAGE_MAX 2048u /* bytes, of a WR that the script can post */
/* Windows of type 1 and 2, and how many keys each has. */
#define MW_1 2u
#define MW_2 3u
#define MW_TAGS 4u

struct packet {
	uint8_t to;
	uint8_t pair; /* of QPs, or QPS: it is of the endpoint */
	struct mt_rx_meta meta;
	size_t len;
	uint8_t bytes[MW_HEADERS_MAX + MTU_MAX + 4];
};

struct region {
	bool live;
	uint64_t placed;
};

/* A receive: its slot of the region, and which message of the peer lands there. */
struct slot {
	bool posted; /* and not completed */
	uint64_t wr_id;
	const struct message *message; /* NULL: none yet */
};

/* The receives of a QP, or of an SRQ. wr_id: its number above the index of its slot. */
struct receives {
	uint32_t queue; /* of the node: QPS is the SRQ */
	uint64_t next;	/* number */
	struct slot slots[SLOTS];
};

/* A send WR. Where its bytes are at the peer: one of `far`, since a window may count from 0. */
struct message {
	bool live;
	uint64_t wr_id, source, far[3];
	struct rd_send_wr wr; /* without its SGEs */
	struct rd_sge sges[2];
	uint32_t len, n_placed;
	bool executed; /* an atomic, at the peer */
	const struct slot *slot;
	uint8_t placed[MESSAGE_MAX]; /* 1 for each byte */
};

struct end {
	struct mt_qp *qp;
	unsigned pair;
	uint64_t local_next, local_done; /* of WRs without packets */
	/* The next wr_id to post and the lowest that may still complete. */
	uint64_t send_next, send_done, recv_done;
	struct receives *receives; /* own, or those of the SRQ */
	struct receives own;
	struct message messages[MESSAGES];
	/* The messages that take receives of the peer; how many of the peer's were received. */
	uint64_t takes[MESSAGES], n_takes, n_received;
	/* Connected with this MTU, and nothing sent since: the peer can begin again. */
	uint32_t fresh_mtu;
};

struct node {
	struct fuzz *f;
	unsigned id;
	struct engine_node base;
	struct region region;
	struct end ends[QPS];
	uint32_t ports; /* that are up */
	struct region source;
	struct mt_srq *srq;
	struct receives shared;
	uint32_t limits_armed, limits_reported;
	bool dropped;	  /* completions of receives of the SRQ, by a reset */
	uint64_t atomics; /* executed here */
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
	bool shared; /* steps are for the QPs of the SRQs */
	/* A packet was made up: the model cannot know any more what must come of it. */
	bool lies;
	bool judged[QPS]; /* both ends were connected with each other before either sent */
	unsigned rx_pair; /* of the packet that an engine has before it, or QPS */
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

static inline struct node *peer_of(struct node *node)
{
	return &node->f->nodes[1 - node->id];
}

static inline uint32_t qpn_of(unsigned i)
{
	return 0x100 + i;
}

/* ---- the nodes: engine_world.c ---- */

/* world_open_node makes a node with its QPs, which are connected to those of the other. */
void world_open_node(struct fuzz *f, unsigned n);
void world_close_node(struct node *node);
/*
 * world_check_srq resets the QPs of the SRQ at the end: all receives that were posted and did not
 * complete are there then, once each, and a limit that was reached was reported.
 */
void world_check_srq(struct node *node);
/* world_add_region registers the region again, which must not be registered. */
void world_add_region(struct node *node);
/* world_modify is mt_qp_modify of QP i. A reset takes the packets of its pair out of the air. */
int world_modify(struct fuzz *f, unsigned n, unsigned i, const struct rd_qp_attr *attr,
		 uint32_t mask);
/* world_connect brings QP i from RESET to RTS; it says nothing when the QP is elsewhere. */
void world_connect(struct fuzz *f, unsigned n, unsigned i);
/* world_let_out sends while these ports have room. */
void world_let_out(struct fuzz *f, unsigned n, uint32_t ports);
/* world_give hands a packet to a node, of the pair in f->rx_pair. */
void world_give(struct fuzz *f, unsigned n, const struct mt_rx_meta *meta, const uint8_t *bytes,
		size_t len);

/* ---- the model: engine_model.c ---- */

/* model_byte returns what is at an address, of SOURCE or of the region. */
uint8_t model_byte(uint64_t addr);
/* model_judges says whether the model knows what must become of this pair's messages. */
bool model_judges(const struct fuzz *f, unsigned pair);
/* model_forget empties an end that was reset; packets of its pair are out of the air. */
void model_forget(struct node *node, struct end *end);
/* model_connected: the end is connected with this MTU. */
void model_connected(struct node *node, struct end *end, uint32_t mtu);

/* model_post enters a send WR that was accepted; the SGEs are copied. */
void model_post(struct end *end, const struct rd_send_wr *wr);
/* model_complete: the WR completed with this status. All of a message that succeeded was placed. */
void model_complete(struct node *node, struct end *end, const struct mt_event *ev);
/* model_place: these bytes go here, of a message that has them and none of them placed before. */
void model_place(struct node *node, uint64_t addr, const uint8_t *bytes, uint32_t len);
/* model_atomic returns what was there; the operation is one that was asked for and not yet done. */
uint64_t model_atomic(struct node *node, uint64_t addr, const struct mt_atomic *op);

/* model_slot_free returns a slot for the next receive; NULL: all are in use. */
struct slot *model_slot_free(struct receives *r);
/* model_slot_addr returns where its bytes go. */
uint64_t model_slot_addr(const struct receives *r, const struct slot *s);
/* model_posted enters a receive that was accepted under model_next_id. */
uint64_t model_next_id(const struct receives *r, const struct slot *s);
void model_posted(struct receives *r, struct slot *s);
/* model_received: a receive completed. A message that succeeded is the next one, and is whole. */
void model_received(struct node *node, struct end *end, const struct mt_event *ev);

#endif
