/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net_traffic.h - one direction of a connection of a network plugin: groups of up to eight
 * receives and the sends that meet them, of which every byte is compared.
 *
 * Both ends know from the plan what group k is. A group lies in a slot of an area; depth groups
 * are under way at a time. Nothing here blocks: traffic_send and traffic_receive do what can be
 * done now.
 */
#ifndef FOREIGN_NET_TRAFFIC_H
#define FOREIGN_NET_TRAFFIC_H

#include <stdbool.h>

#include "net_abi.h"

#define TRAFFIC_AREA ((size_t)80 << 20)
#define TRAFFIC_DEPTH_MAX 8u /* NCCL has no more under way on a connection */

enum plan_kind {
	PLAN_SWEEP,  /* sizes from 0 B on, in groups of 1, 2, 3, 5 and 8 */
	PLAN_LARGE,  /* up to 64 MiB, one group at a time */
	PLAN_RANDOM, /* short, empty and truncated ones among them */
	PLAN_STREAM, /* one size in groups of one */
};

struct plan {
	enum plan_kind kind;
	uint64_t groups; /* of PLAN_STREAM with seconds: no end but that */
	uint32_t depth;	 /* 1 to TRAFFIC_DEPTH_MAX */
	size_t bytes;	 /* of PLAN_STREAM */
	uint64_t seed;
	double seconds; /* not 0: the sender ends it, by a group of END_BYTES */
	bool groups_of_one;
	bool unchecked; /* to measure: bytes are neither made nor compared */
	bool flush;
};

/* plan_groups is how many groups a plan of fixed length has. */
uint64_t plan_groups(const struct plan *p);

struct traffic {
	struct net *net;
	const struct plan *plan;
	void *comm, *mr;
	uint8_t *area; /* TRAFFIC_AREA bytes */
	bool stop;     /* of a sender: send the last group */
	bool over;
	uint64_t posted, done; /* groups */
	uint64_t bytes;	       /* that arrived, or were sent */
	uint64_t flushes;
	double last_s, gap_s; /* when the last group was done; the longest time between two */
	int next;	      /* of the group that is being sent */
	void *request[TRAFFIC_DEPTH_MAX][NET_GROUP_MAX];
	void *flushing;
	int sizes[NET_GROUP_MAX];
	bool arrived;
};

/* traffic_begin prepares a direction for a plan. */
void traffic_begin(struct traffic *t, const struct plan *plan);
/* Both return whether something happened; what is wrong ends the process. */
bool traffic_send(struct traffic *t);
bool traffic_receive(struct traffic *t);
double now_s(void);
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
