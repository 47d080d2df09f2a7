/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario.h - a scenario: a fabric, what its hosts send to each other, what goes wrong meanwhile,
 * what is to be written down of it and what must hold in the end. Read from a TOML file or from one
 * of ms_presets; docs/simulator.md lists all keys, scenario_keys.c is where
 * they stand.
 *
 * 	title = "all hosts send to another one while a T1 reboots"
 * 	end = "5ms"
 *
 * 	[topology]
 * 	base = "pod"
 *
 * 	[[workload]]
 * 	kind = "permutation"
 * 	bytes = "1M"
 *
 * 	[[fault]]
 * 	kind = "down"
 * 	target = "plane0.t1-3"
 * 	at = "50us"
 * 	for = "500us"
 */
#ifndef SOFTMRC_SIM_SCENARIO_SCENARIO_H
#define SOFTMRC_SIM_SCENARIO_SCENARIO_H

#include "base/named_text.h"
#include "fabric/fault.h"
#include "sim/import/input.h"
#include "sim/kernel/sim_net.h"
#include "sim/run/sim_run.h"
#include "sim/run/step_model.h"
#include "sim/workload/graph.h"
#include "sim/workload/training_job.h"
#include "sim/workload/workload.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Faults as spans of time, and the changes of links that they come to.
 *
 * Spans may overlap: then the worst of them holds, until the last is over.
 */
#define MS_SPANS_MAX 4000000u

struct ms_fault_span {
	uint64_t from_ps, until_ps; /* UINT64_MAX: never over */
	uint32_t link;
	uint32_t value; /* of enum ms_fault_kind; for a carrier lost 0 */
	uint8_t kind;	/* any but MS_FAULT_UP */
};

/* A list of zeros is empty. */
struct ms_fault_spans {
	MS_GROW(struct ms_fault_span) list;
};

void ms_fault_spans_fini(struct ms_fault_spans *l);
/* ms_fault_spans_add appends; false: no memory, or more than MS_SPANS_MAX. Empty spans are none. */
bool ms_fault_spans_add(struct ms_fault_spans *l, const struct ms_fault_span *span);
/* ms_fault_spans_link adds a span for a link, its reverse or both; seen from who sends on it. */
bool ms_fault_spans_link(struct ms_fault_spans *l, struct ms_fault_span span,
			 enum mf_direction direction);
/*
 * ms_fault_spans_events makes the changes, in order of time; allocates *events, the caller's to
 * free. Sorts the spans. false: no memory.
 */
bool ms_fault_spans_events(struct ms_fault_spans *l, struct ms_fault **events, uint32_t *n);

/*
 * ms_presets are the scenarios that are built in: the files of scenario/presets. They are installed
 * as files too, to be read and changed. Look in them by mb_named_text_find.
 */
extern const struct mb_named_text ms_presets[];

#define MS_TITLE_BYTES 160u
#define MS_PATH_BYTES 256u
#define MS_NAME_BYTES 64u
#define MS_TEXT_BYTES 240u
#define MS_LIST_BYTES 1024u
#define MS_SCENARIO_FAULTS_MAX 1024u
#define MS_RANDOMS_MAX 16u
#define MS_EXPECTATIONS_MAX 32u

struct ms_scenario_head {
	char title[MS_TITLE_BYTES];
	uint64_t seed;
	uint32_t threads;
	uint64_t end_ns; /* 0: none */
};

/* In addition to the keys of topology files (fabric/topology_toml.h). At most one is given. */
struct ms_scenario_topology {
	char file[MS_PATH_BYTES];  /* a topology file of ours */
	char htsim[MS_PATH_BYTES]; /* one of htsim */
};

struct ms_scenario_transport {
	uint32_t kind; /* enum ms_transport, of workloads that do not say otherwise */
};

struct ms_scenario_queues {
	bool trimming;	   /* true */
	bool ecn;	   /* true */
	bool ecn_last_hop; /* false: the last hop does not mark, as MRC asks for */
	uint16_t trim_to_bytes;
};

/* Kinds of a workload: those of workload.h but lists, then what is read or drawn. */
enum ms_scenario_load {
	MS_LOAD_MATRIX = MS_LIST, /* a connection matrix of htsim */
	MS_LOAD_FLOWS,		  /* a list of flows, CSV */
	MS_LOAD_POISSON,	  /* sizes of a distribution, random times */
	MS_LOAD_FLOW,		  /* one flow */
	MS_LOAD_GOAL,		  /* a schedule in GOAL */
	MS_LOAD_CHAKRA,		  /* execution traces of Chakra */
	MS_LOAD_MOE,		  /* all-to-all in which one member is wanted more than others */
	MS_LOAD_PIPELINE,	  /* microbatches through all members in turn */
	MS_LOAD_KINDS,
};

struct ms_scenario_workload {
	uint32_t line;
	uint32_t kind;	    /* enum ms_workload_kind or ms_scenario_load */
	uint32_t transport; /* enum ms_transport; MS_TRANSPORTS: that of the scenario */
	uint64_t bytes, start_ns;
	bool across_t0;
	uint32_t groups, group_size, placement, parallel, chunks, local_size;
	char file[MS_PATH_BYTES];
	char group_file[MS_PATH_BYTES];
	uint32_t load; /* of MS_SHARE_ONE */
	uint64_t for_ns;
	uint32_t src, dst;
	uint32_t skew; /* of MS_SHARE_ONE */
	uint64_t compute_ns;
	uint64_t seed; /* 0: that of the scenario */
};

/* An element of [[job]]: what training_job.h knows, but for the fabric and the seeds. */
struct ms_scenario_job {
	uint32_t line;
	uint32_t placement, dp_mode; /* enum ms_job_placement, enum ms_job_dp */
	uint32_t transport;	     /* enum ms_transport; MS_TRANSPORTS: that of the scenario */
	uint64_t start_ns;
	uint64_t seed; /* 0: that of the scenario */
	struct ms_job_cfg cfg;
};

/* What random faults happen to. */
enum ms_class {
	MS_CLASS_HOST_T0, /* cables between hosts and T0s */
	MS_CLASS_T0_T1,
	MS_CLASS_T1_T2,
	MS_CLASS_T0, /* switches */
	MS_CLASS_T1,
	MS_CLASS_T2,
	MS_CLASSES,
};

/* An element of [[fault]] or of [[random]]. */
struct ms_scenario_fault {
	uint32_t line;
	uint32_t kind;		    /* enum mf_fault_kind, below MF_FAULTS_SIMULATED */
	char target[MS_NAME_BYTES]; /* fabric/fault.h */
	uint32_t direction;
	uint64_t at_ns, for_ns; /* for 0: to the end */
	uint32_t share;		/* loss, corrupt: of the packets; slow: of the rate that is left */
	uint64_t period_ns;	/* flap: down for half of it, up for the other half */
	uint32_t of;		/* random: enum ms_class */
	uint64_t between_ns;	/* random: mean time between two of them in the whole fabric */
};

/* [goodput]: the long horizon of the first job; step_model.h. */
#define MS_SIZES_MAX 16u
struct ms_scenario_goodput {
	char fabric[MS_NAME_BYTES]; /* a preset whose proportions hold; "": the scenario's own */
	char gpus[MS_LIST_BYTES];   /* sizes, joined by commas */
	char reconverge[MS_LIST_BYTES]; /* times, joined by commas */
	uint64_t horizon_ns, checkpoint_every_ns, checkpoint_ns, restart_ns, dies_after_ns;
	uint32_t trials, samples;
	/* Read from these. */
	uint32_t size[MS_SIZES_MAX], sizes;
	uint64_t outage_ns[MS_SIZES_MAX];
	uint32_t outages;
	struct mf_topology at_scale;
};

/* What rates are of: the classes of faults, then these. */
enum ms_rate_of {
	MS_RATE_GPU = MS_CLASSES, /* a GPU, or what takes it with it */
	MS_RATE_NIC,		  /* all ports of one */
	MS_RATE_OFS,
};

enum ms_rate_effect {
	MS_EFFECT_MEASURE, /* by packet runs */
	MS_EFFECT_INTERRUPT,
	MS_EFFECT_NONE,
	MS_EFFECTS,
};

/* An element of [[rate]]. */
struct ms_scenario_rate {
	uint32_t line;
	char name[MS_NAME_BYTES];
	uint32_t of, kind, effect;
	double per_year;   /* of one */
	double per_minute; /* of all in a fabric of `among` GPUs */
	uint32_t among;
	uint64_t repair_ns;
	uint32_t share;
	char source[MS_TEXT_BYTES];
	double per_gpu, mtbf_ns; /* read from these */
};

struct ms_scenario_output {
	char flows[MS_PATH_BYTES];  /* CSV, a line for each flow */
	char series[MS_PATH_BYTES]; /* CSV, a line for each link and time */
	char evs[MS_PATH_BYTES];    /* CSV, a line for each time */
	uint64_t every_ns;
	char links[MS_LIST_BYTES]; /* names, joined by commas */
	char capture[MS_PATH_BYTES];
	char capture_links[MS_LIST_BYTES];
	uint64_t capture_packets;
};

/* A figure of the result, and what it must be. */
struct ms_expectation {
	uint32_t line;
	char figure[MS_NAME_BYTES]; /* as the JSON result has it: "fct_us.p100" */
	double min, max;	    /* inclusive; infinite where not given */
	char than[MS_NAME_BYTES];   /* a scenario by whose figure this one is divided first */
	char source[MS_TEXT_BYTES]; /* where the value comes from */
};

struct ms_scenario {
	struct ms_file_error *error; /* while it is read: where what is wrong goes */
	char name[MS_PATH_BYTES];    /* file or preset */
	struct ms_scenario_head head;
	struct ms_scenario_topology topology;
	struct ms_scenario_transport transport;
	struct ms_scenario_queues queues;
	uint32_t n_workloads, n_jobs, n_faults, n_randoms, n_expectations;
	struct ms_scenario_workload workload[MS_PARTS_MAX];
	struct ms_scenario_job job[MS_PARTS_MAX];
	struct ms_scenario_fault fault[MS_SCENARIO_FAULTS_MAX];
	struct ms_scenario_fault random[MS_RANDOMS_MAX];
	struct ms_scenario_goodput goodput;
	uint32_t n_rates;
	struct ms_scenario_rate rate[MS_STEPS_CLASSES];
	struct ms_scenario_output output;
	struct ms_expectation expectation[MS_EXPECTATIONS_MAX];
	/*
	 * What runs: topology, queues, NIC, workload and faults; threads, seed and end as in head.
	 * Calls and ranks are for the caller to fill in. Its lists are the scenario's.
	 */
	struct ms_run_cfg run;
	struct mf_topology fabric;
	struct ms_flow_list flows[MS_PARTS_MAX];
	/* Jobs are the parts of the workload behind n_workloads. */
	struct ms_graph *graph[MS_PARTS_MAX]; /* of [[workload]]s that are graphs */
	struct ms_job *made[MS_PARTS_MAX];
	struct ms_fault_spans spans; /* while it is read */
	struct ms_fault *faults;
};

/* Changes to a scenario from outside: "mrc.evs=16", "workload.1.bytes=1M" (elements from 0). */
struct ms_changes {
	const char *const *change;
	size_t n;
};

/*
 * ms_scenario_read reads a scenario and everything that its run needs. `name` is a file, or what to
 * call the text in messages; files that it names are looked for in its folder. Allocates. NULL:
 * *error says what is wrong.
 */
struct ms_scenario *ms_scenario_read(const char *name, const char *text,
				     const struct ms_changes *changes, struct ms_file_error *error);
void ms_scenario_destroy(struct ms_scenario *s);

/* ms_class_size returns how many cables or switches of a class (enum ms_class) a plane has. */
uint32_t ms_class_size(const struct mf_topology *t, uint32_t of);

/*
 * ms_presets are the scenarios that are built in: the files of scenario/presets. They are installed
 * as files too, to be read and changed. Look in them by mb_named_text_find.
 */
extern const struct mb_named_text ms_presets[];

#endif
