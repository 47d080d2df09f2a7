/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * training_processes.h - the processes of one training run: started together, watched, ended
 * together.
 *
 * Each rank is a host of its own on the stage, with its own log and report in the job's directory.
 * A child dies with its parent, whatever ends that one.
 */
#ifndef SOFTMRC_DEMO_TRAINING_PROCESSES_H
#define SOFTMRC_DEMO_TRAINING_PROCESSES_H

#include "demo/rank_report.h"
#include "demo/stage.h"
#include "demo/stats_watch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct demo_job_cfg {
	const char *program;		/* path of train */
	const char *transport;		/* "mrc" or "tcp" */
	const char *dir;		/* of the job; exists, empty; copied by demo_job_start */
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
	struct demo_job_cfg cfg;
	char dir[256]; /* cfg.dir points here */
	enum demo_job_state state;
	uint32_t n;
	pid_t pid[DEMO_PROCESSES_MAX]; /* 0: has ended and was waited for */
	struct demo_report report;     /* of rank 0 */
	char error[512];	       /* FAILED: what the rank said last */
};

/* demo_job_start starts all ranks; 0, or -1 after a message on stderr (then nothing runs). */
int demo_job_start(struct demo_job *job, const struct demo_job_cfg *cfg);
/* demo_job_poll reads the report of rank 0 and notices ends; does not block. */
void demo_job_poll(struct demo_job *job);
/* demo_job_stop ends what still runs: SIGTERM, and after a second SIGKILL. */
void demo_job_stop(struct demo_job *job);
/* demo_job_fini stops the job and frees what it holds. */
void demo_job_fini(struct demo_job *job);

/*
 * demo_job_rank_report reads the report of one rank as it is now; the caller closes it.
 */
void demo_job_rank_report(const struct demo_job *job, uint32_t rank, struct demo_report *report);

/*
 * demo_job_digests_agree reads the reports of all ranks of a job that is DONE and says whether all
 * of them ended with the digest of rank 0.
 */
bool demo_job_digests_agree(const struct demo_job *job);

#endif
