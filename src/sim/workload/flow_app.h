/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow_app.h - the application on hosts, whatever transport carries what it sends: which flows
 * begin when, which message of a flow may be posted next, what goes on when one has passed. Flows
 * of a workload wait for their time and for messages of others; those of graphs are channels, whose
 * transfers go in the order in which they become ready (graph.h).
 *
 * The carrier, MRC or RoCE, tells it of time and of messages that passed, and is called to post.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_FLOW_APP_H
#define SOFTMRC_SIM_WORKLOAD_FLOW_APP_H

#include "sim/workload/graph.h"

struct ms_app {
	const struct ms_workload *workload;
	enum ms_transport transport;		  /* whose flows these are */
	struct ms_graph_exec *play[MS_PARTS_MAX]; /* of graphs among them; NULL: the part is none */
	uint32_t plays;				  /* how many are */
	/* begin posts what may be posted of a flow that begins at this host. */
	void (*begin)(void *host, uint32_t flow, uint64_t now_ps);
	/* progress returns how many messages of a flow have passed at its end in this slot. */
	uint32_t (*progress)(const void *host, uint32_t slot, uint32_t messages);
};

/* A host of it; all zeros but `host` and `number` has not begun. */
struct ms_app_host {
	void *host; /* the carrier's */
	uint32_t number;
	uint32_t next_out[MS_PARTS_MAX]; /* the flow of each part that begins next */
	uint64_t start_ns;		 /* when that of any part does */
};

/* ms_app_init takes, of all graphs of the workload, those of this transport. */
void ms_app_init(struct ms_app *a, const struct ms_workload *w, enum ms_transport transport,
		 struct ms_graph_exec *const all[MS_PARTS_MAX]);

/* ms_app_first_ns returns when something happens first at a host; UINT64_MAX: nothing does. */
uint64_t ms_app_first_ns(const struct ms_app *a, uint32_t number);
/* ms_app_next_ns returns when ms_app_begin_due is to be called for a host that has begun. */
uint64_t ms_app_next_ns(const struct ms_app *a, const struct ms_app_host *h);
/* ms_app_begin_due begins what was waiting for its time. */
void ms_app_begin_due(const struct ms_app *a, struct ms_app_host *h, uint64_t now_ps);

/*
 * ms_app_can_post says whether a message of flow `id`, f, can be posted, of which so many were
 * before; ms_app_claim_message then takes it and returns which one it is.
 */
bool ms_app_can_post(const struct ms_app *a, const struct ms_app_host *h, uint32_t id,
		     const struct ms_flow *f, uint32_t posted);
uint32_t ms_app_claim_message(const struct ms_app *a, uint32_t id, uint32_t posted);
/* ms_app_message_done begins what waited for message k of a flow at this end, which is the host. */
void ms_app_message_done(const struct ms_app *a, const struct ms_app_host *h, uint32_t id,
			 uint32_t k, enum ms_end end, uint64_t now_ps);

#endif
