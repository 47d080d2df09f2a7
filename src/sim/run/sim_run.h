/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_run.h - one simulation: a fabric, a NIC with the whole MRC core for each host, and a
 * workload.
 *
 * 	ms_run_defaults()  fills in what follows from a topology
 * 	ms_run_check()     says what is wrong with a configuration
 * 	ms_run_memory()    says what it will take, before anything is allocated
 * 	ms_run_create()
 * 	ms_run_step()      until it says something else than MS_RUN_RUNNING; look and print between
 * 	ms_run_result()    counts and times; valid at any moment, so a run may be interrupted
 * 	ms_run_destroy()
 *
 * Every run is checked: each byte of each message is placed exactly once and inside its memory
 * region, messages arrive whole and in order, every packet that was sent was delivered, dropped or
 * is still on its way, and what engines count is what the fabric counts. ms_nics_violation says
 * what was found. A run that ends with flows unfinished, or with a violation, is a failed run.
 */
#ifndef SOFTMRC_SIM_RUN_SIM_RUN_H
#define SOFTMRC_SIM_RUN_SIM_RUN_H

#include "core/stats.h"
#include "sim/kernel/ranks.h"
#include "sim/kernel/sim_net.h"
#include "sim/mrc/mrc_nic.h"
#include "sim/roce/roce_nic.h"
#include "sim/workload/workload.h"

#include <stdio.h>

struct ms_run;

struct ms_run_cfg {
	struct mf_topology topology;
	struct ms_queue_cfg queue[MS_PORT_KINDS];
	uint16_t trim_to_bytes;
	struct ms_mrc_cfg mrc;	 /* topology, threads, workload and seed are filled in */
	struct ms_roce_cfg roce; /* likewise; for the workloads whose transport it is */
	struct ms_pfc_cfg pfc;
	uint64_t
		reconverge_ns; /* after which routing knows of links that went or came; sim_net.h */
	/* One to MS_PARTS_MAX side by side; hosts and hosts_per_t0 are filled in. Lists are
	 * copied. */
	struct ms_workload_cfg workload[MS_PARTS_MAX];
	uint32_t n_workloads;
	/* Faults in any order; copied into the net. */
	const struct ms_fault *faults;
	uint32_t n_faults;
	uint64_t seed;
	uint32_t threads;
	const struct ms_ranks *ranks; /* NULL: this process alone */
	uint64_t end_ps; /* simulated time after which the run is stopped; MS_NEVER: none */
	/* Called at multiples of edge_ps, all hosts standing still. edge_ps 0: never. */
	uint64_t edge_ps;
	bool (*edge)(void *ctx, struct ms_run *run, uint64_t now_ps);
	/* Called for packets that a tapped link begins to send; see ms_hosts.tap. May be NULL. */
	void (*tap)(void *ctx, struct ms_run *run, uint32_t link, uint64_t now_ps,
		    const struct ms_packet *p);
	void *ctx;
};

/*
 * ms_run_defaults fills *cfg for a topology: queues as ms_queue_defaults with trimming, the NIC as
 * ms_mrc_defaults, one thread, seed 1, no end, no faults; the workload is a permutation of 1 MiB.
 */
void ms_run_defaults(struct ms_run_cfg *cfg, const struct mf_topology *topology);

/* ms_run_check says whether a run can be made of cfg; else why (MS_WHY_BYTES) names the field, its
 * value and what is allowed. Lists are only checked by ms_run_create. */
bool ms_run_check(const struct ms_run_cfg *cfg, char *why);

/*
 * ms_run_memory returns the bytes that this rank will need at most for a checked cfg: fabric,
 * packets in flight, engines, connections, records of flows. An estimate from above.
 */
uint64_t ms_run_memory(const struct ms_run_cfg *cfg);

/* Its parts, to look at and for taps and faults. */
struct ms_run {
	struct ms_run_cfg cfg;
	struct ms_workload *workload;
	struct ms_nics *nics;
	struct ms_mrc *mrc;   /* NULL: no workload uses it */
	struct ms_roce *roce; /* likewise */
	struct ms_net *net;
	struct ms_flow_record *merged; /* of all ranks; NULL: this process alone */
};

/* ms_run_create builds a run at time 0; allocates. NULL: why says what is wrong. */
struct ms_run *ms_run_create(const struct ms_run_cfg *cfg, char *why);
void ms_run_destroy(struct ms_run *run);

enum ms_run_state {
	MS_RUN_RUNNING,
	MS_RUN_DONE,	/* every flow of every rank is finished, and nothing moves any more */
	MS_RUN_STUCK,	/* nothing moves, and flows are unfinished: see ms_run_describe_wait */
	MS_RUN_TIME,	/* end_ps is reached */
	MS_RUN_STOPPED, /* cfg.edge said so */
	MS_RUN_MEMORY,	/* memory ran out; only looking and destroying is left */
	MS_RUN_RANKS,	/* another rank failed or cannot be reached; likewise */
};

/* ms_run_step lets step_ps more pass, or less where the run ends. Blocks as long as that takes. */
enum ms_run_state ms_run_step(struct ms_run *run, uint64_t step_ps);

struct ms_run_result {
	uint32_t hosts, planes;
	uint32_t flows;
	uint32_t flows_unfinished; /* not begun, or without the last byte or its acknowledgement */
	uint32_t flows_failed;	   /* of these: the connection gave up, or an error ended it */
	uint32_t violations;	   /* what the checker found */
	struct ms_counters net;
	struct mt_stats core; /* all engines */
	struct ms_roce_stats roce;
	uint64_t data_packets, retransmits;
	uint64_t bytes;	 /* of the flows that are finished */
	uint64_t end_ps; /* when the last flow was finished; now, when not all are */
	uint64_t fct_p50_ns, fct_p99_ns, fct_p100_ns; /* over finished flows: to the last byte */
	uint64_t ideal_ns; /* what theory allows at best until the last flow is over; 0: unknown */
	uint64_t memory_bytes; /* held by net and NICs */
	uint64_t seed;
	uint32_t threads;
};

/*
 * ms_run_result fills in a result; costs a pass over all flows and engines. With ranks all call it,
 * and each gets the same. False: another rank cannot be reached.
 */
bool ms_run_result(struct ms_run *run, struct ms_run_result *result);

/* Of one flow. Times are since the beginning of the run; UINT64_MAX: has not happened. */
struct ms_flow_result {
	struct ms_flow flow;
	uint64_t start_ns; /* when its first message was posted */
	uint64_t end_ns;   /* when its last byte was placed at its destination */
	uint64_t acked_ns; /* when its source knew */
	uint32_t retransmits;
	bool failed;
};

/* ms_run_flow fills in flow `id`, as far as this rank knows it (with ranks: after ms_run_result
 * rank 0 knows all). */
void ms_run_flow(const struct ms_run *run, uint32_t id, struct ms_flow_result *result);

/*
 * ms_run_describe_wait writes what an unfinished flow waits for, as "flow 7 (3 -> 9), message 2 of
 * 5, waits for message 1 of flow 6 (1 -> 3)"; false: the flow is finished.
 */
bool ms_run_describe_wait(const struct ms_run *run, uint32_t id, char *text, size_t size);

/* ms_run_uses returns whether a workload of the run uses a transport. */
bool ms_run_uses(const struct ms_run *run, enum ms_transport transport);
/* ms_run_stats adds up the counters of the transports on this rank; zeros of one not used. */
void ms_run_stats(const struct ms_run *run, struct mt_stats *core, struct ms_roce_stats *roce);

/* ms_latency_ns returns the one-way latency of a packet of `bytes` between two hosts when nothing
 * else is there: propagation, switches and the time to send it at each hop. */
uint64_t ms_latency_ns(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t bytes);

/* What a run has to say, as tables of comma-separated values. */
/*
 * ms_write_flows writes a line for each flow, with the columns of the list of flows that read_flows
 * takes and then times in ns since the beginning (empty: has not happened), and how it stands:
 * done, failed, unfinished or waiting (not begun).
 */
void ms_write_flows(const struct ms_run *run, FILE *to);

/* ms_write_series_head and _series write a line for each of n links as they are now. */
void ms_write_series_head(FILE *to);
void ms_write_series(struct ms_run *run, const struct mf_topology *t, const uint32_t *link,
		     uint32_t n, uint64_t now_ps, FILE *to);

/* ms_write_nics_head and _nics write one line: what all NICs together have counted up to now. */
void ms_write_nics_head(FILE *to);
void ms_write_nics(struct ms_run *run, uint64_t now_ps, FILE *to);

/* ms_run_ideal_ns returns what theory allows at best until the last flow is over; 0: unknown. */
uint64_t ms_run_ideal_ns(const struct ms_run *run);
/* ms_run_record fills in what is known of a flow. */
void ms_run_record(const struct ms_run *run, uint32_t id, struct ms_flow_record *r);

#endif
