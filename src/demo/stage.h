/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage.h - where the job runs: what makes a process one of its hosts, and what breaks the network
 * between them. The runs and the script know no more of a network than this.
 *
 * A stage lasts for the whole demo. Each run begins and ends on it; faults have slots, which are
 * their numbers in the script.
 */
#ifndef SOFTMRC_DEMO_STAGE_H
#define SOFTMRC_DEMO_STAGE_H

#include "demo/demo.h"
#include "demo/measure.h"
#include "lab/scenario.h"

#include <mrc/fault.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct demo_job;
struct demo_rundir;
struct demo_stage;

/* Packets that a fault has destroyed so far. */
struct demo_hits {
	uint64_t data, control;
	uint64_t last_ns; /* when the last data packet was, CLOCK_MONOTONIC; 0: none yet, or not
			     known */
};

struct demo_stage_ops {
	/*
	 * A run of this name begins without faults; sets the environment of its processes. 0, or -1
	 * after a message on stderr.
	 */
	int (*begin)(struct demo_stage *stage, const struct demo_rundir *dir, const char *run,
		     uint64_t seed);
	/* The run is over, its processes are gone. */
	void (*end)(struct demo_stage *stage);
	/* Writes a line of shell that sets MRC_PORTS for rank $MRC_LAB_INDEX. */
	void (*ports)(const struct demo_stage *stage, const char *transport, char *out,
		      size_t size);
	/* A fault begins, for the first time or again, or ends. 0, or -1 after a message. */
	int (*set_fault)(struct demo_stage *stage, uint32_t slot, const struct demo_fault *fault,
			 bool on);
	struct demo_hits (*hits)(struct demo_stage *stage, uint32_t slot);
	/* How many of the TCP ring's connections lie where it strikes; can_feel: at all. */
	uint32_t (*tcp_hits)(const struct demo_stage *stage, const struct demo_fault *fault,
			     const struct demo_job *tcp, bool *can_feel);
	/* The sum of what ports have counted since the stage was set up; NULL: they do not. */
	void (*fabric)(struct demo_stage *stage, struct ml_counters *sum);
	/* Takes down what was set up; NULL: nothing was. */
	void (*close)(struct demo_stage *stage);
};

struct demo_stage {
	const struct demo_stage_ops *ops;
	struct ml_lab *lab;   /* where hosts are namespaces; NULL: hosts share a network */
	const char *name;     /* "lab" or "loopback" */
	const char *tcp_text; /* how TCP is routed, for the summary */
	bool counts;	      /* packets that a fault destroys are counted */
	bool trims;	      /* switches trim and mark */
	const char *no_trims; /* why not */
	struct demo_shape shape;
};

/* ---- files: the demo's private directory holds all that it writes but the result ---- */

struct demo_rundir {
	char path[200]; /* empty: none */
};

/*
 * demo_rundir_create makes a directory that only this user can enter, below TMPDIR or /tmp; 0, or
 * -1 after a message on stderr.
 */
int demo_rundir_create(struct demo_rundir *d);
/* demo_rundir_remove deletes it with all that is in it. */
void demo_rundir_remove(struct demo_rundir *d);

/* demo_rundir_sub makes a directory in it and writes its path; 0, or -1 after a message. */
int demo_rundir_sub(const struct demo_rundir *d, const char *name, char *path, size_t size);

/*
 * ---- the processes of one training run: started, watched and ended together ----
 *
 * Each rank is a host of its own on the stage, with its own log and report in the job's directory.
 * A child dies with its parent, whatever ends that one.
 */

struct demo_job_cfg {
	const char *program;		/* path of train */
	const char *transport;		/* "mrc" or "tcp" */
	const char *dir;		/* of the job; exists, empty */
	const char *data;		/* NULL: train's default */
	const struct demo_stage *stage; /* kept by the caller */
	uint32_t steps;
	uint64_t seed;
};

enum demo_job_state {
	DEMO_JOB_NONE,
	DEMO_JOB_RUNNING,
	DEMO_JOB_DONE,	  /* every rank ended well */
	DEMO_JOB_FAILED,  /* a rank ended badly; the others were ended */
	DEMO_JOB_STOPPED, /* by demo_job_stop */
};

struct demo_job {
	enum demo_job_state state;
	struct ml_scenario_program program;
	struct ml_processes processes; /* member i: rank i */
	struct demo_report report;     /* of rank 0 */
	char error[512];	       /* FAILED: the end of what the rank printed */
};

/* demo_job_start starts all ranks; 0, or -1 after a message on stderr (then nothing runs). */
int demo_job_start(struct demo_job *job, const struct demo_job_cfg *cfg);
/* demo_job_poll reads the report of rank 0 and notices ends; does not block. */
void demo_job_poll(struct demo_job *job);
/* demo_job_stop kills what still runs. */
void demo_job_stop(struct demo_job *job);
/* demo_job_fini stops the job and frees what it holds. */
void demo_job_fini(struct demo_job *job);

/* demo_job_rank_report reads the report of one rank as it is now; the caller closes it. */
void demo_job_rank_report(const struct demo_job *job, uint32_t rank, struct demo_report *report);

/*
 * demo_job_digests_agree reads the reports of all ranks of a job that is DONE and says whether all
 * of them ended with the digest of rank 0.
 */
bool demo_job_digests_agree(const struct demo_job *job);

/*
 * ---- the stage on loopback ----
 *
 * It needs no privilege: all hosts are processes in this machine's own network, host `rank` has
 * port 127.0.<plane>.<rank+1> in each plane, and the port drivers of the processes do the faults to
 * packets that they send, by a table: a file that all of them map (mrc/fault.h). Each fault of the
 * script has a rule of its own, so its counters are its own as well.
 */

/*
 * demo_fault_table_open creates the file with all rules off and maps it; the caller unmaps it. NULL
 * after a message on stderr.
 */
struct mrc_fault_table *demo_fault_table_open(const char *path, uint64_t seed);

/* demo_fault_rule_set writes a rule of a table but for its counters; it takes effect at once. */
void demo_fault_rule_set(struct mrc_fault_rule *to, const struct mrc_fault_rule *rule);

struct demo_loopback {
	struct demo_stage stage;
	struct mrc_fault_table *table; /* NULL: no run */
};

/* demo_loopback_init makes the stage; there is nothing to undo but the end of its runs. */
void demo_loopback_init(struct demo_loopback *l, const struct demo_shape *shape);

/*
 * demo_loopback_rule writes the rule that does a fault to packets. False: its kind or targets are
 * none that port drivers can do.
 */
bool demo_loopback_rule(const struct demo_shape *shape, const struct demo_fault *fault,
			struct mrc_fault_rule *rule);

/* demo_loopback_gid writes the GID of a rank: its address on plane 0, 127.0.0.<rank+1>. */
static inline void demo_loopback_gid(uint8_t gid[16], uint32_t rank)
{
	static const uint8_t local[16] = {[10] = 0xff, [11] = 0xff, [12] = 127};

	memcpy(gid, local, sizeof(local));
	gid[15] = (uint8_t)(rank + 1);
}

/*
 * ---- the stage in a lab ----
 *
 * Hosts, T0s and T1s are network namespaces on the kernel's own SRv6 (lab/lab.h), `paths` T1s in
 * each plane. Neighbours in the ring are on different T0s, so that all their traffic crosses a T1.
 * A host that no rank is on takes part in the incast.
 *
 * MRC goes as IPv6 in IPv6 with uSIDs; TCP over plain routes of the same links, queues and faults.
 */

/* Packets that a fault destroyed are counted by looking at all links; so seldom. */
#define DEMO_LAB_LOOK_NS UINT64_C(100000000)

/* What a fault of a run has destroyed. */
struct demo_lab_hits {
	bool begun;
	uint64_t before; /* that all links had lost when it began */
	struct demo_hits hits;
};

struct demo_lab {
	struct demo_stage stage;
	struct ml_counters *counters; /* of each link */
	uint64_t looked_ns;
	struct demo_lab_hits hits[DEMO_FAULTS_MAX];
	struct ml_processes incast;
	struct ml_scenario_program server, writer; /* of the incast */
	char name[ML_LAB_NAME_MAX];
	char tcp_text[128];
};

/*
 * demo_lab_open brings the lab up; `dir` is where its topology file goes. 0; -1, and why says why
 * not, when there can be no lab here.
 */
int demo_lab_open(struct demo_lab *l, const struct demo_shape *shape, const struct demo_rundir *dir,
		  struct ml_error *why);

#endif
