/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of one training run: see stage.h. */
#include "demo/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TROUBLE_BYTES 400u

/* Names of files are given to the shell as variables, so that it does not interpret them. */
static int describe_program(struct demo_job *job, const struct demo_job_cfg *cfg)
{
	const struct demo_shape *shape = &cfg->stage->shape;
	struct ml_scenario_program *p = &job->program;
	char ports[DEMO_PLANES_MAX * 32];

	*p = (struct ml_scenario_program){.name = "train", .hosts = shape->ranks};
	for (uint32_t rank = 0; rank < shape->ranks; rank++)
		p->host[rank] = cfg->stage->lab ? demo_lab_host(shape, rank) : rank;
	cfg->stage->ops->ports(cfg->stage, cfg->transport, ports, sizeof(ports));
	snprintf(p->run, sizeof(p->run),
		 "%s; exec \"$MRC_DEMO_TRAIN\" --rank $MRC_LAB_INDEX --ranks %u "
		 "--rendezvous \"$MRC_STATS_DIR\" --transport %s --steps %u --params %" PRIu64
		 " --seed %" PRIu64 " --report \"$MRC_STATS_DIR/rank-$MRC_LAB_INDEX.jsonl\" "
		 "${MRC_DEMO_DATA:+--data \"$MRC_DEMO_DATA\"}",
		 ports, shape->ranks, cfg->transport, cfg->steps,
		 shape->vector_bytes / sizeof(float), cfg->seed);
	return setenv("MRC_DEMO_TRAIN", cfg->program, 1) || setenv("MRC_STATS_DIR", cfg->dir, 1) ||
	       setenv("MRC_DEMO_DATA", cfg->data ? cfg->data : "", 1);
}

int demo_job_start(struct demo_job *job, const struct demo_job_cfg *cfg)
{
	struct ml_error e = {.text = "no memory for the environment"};

	*job = (struct demo_job){.state = DEMO_JOB_RUNNING};
	ml_processes_open(&job->processes, cfg->stage->lab, cfg->dir);
	demo_job_rank_report(job, 0, &job->report);
	if (describe_program(job, cfg) == 0 &&
	    ml_processes_start(&job->processes, &job->program, &e) == 0)
		return 0;
	fprintf(stderr, "mrc demo: %s\n", e.text);
	demo_job_stop(job);
	return -1;
}

/* The end of what the rank printed, for the user who has to find out why it failed. */
static void read_trouble(struct demo_job *job, uint32_t rank)
{
	char *text = ml_processes_output(&job->processes, rank);
	size_t n = text ? strlen(text) : 0;
	int status = job->processes.member[rank].status;
	bool killed = status > 128;

	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	snprintf(job->error, sizeof(job->error), "rank %u %s %d: %s", rank,
		 killed ? "was killed by signal" : "ended with status",
		 killed ? status - 128 : status,
		 n > TROUBLE_BYTES ? text + n - TROUBLE_BYTES
		 : n		   ? text
				   : "");
	free(text);
}

/*
 * The rank that failed, or the number of ranks. Neighbours of a rank that was killed end badly too;
 * it is the one to name.
 */
static uint32_t failed_rank(const struct demo_job *job)
{
	uint32_t failed = job->processes.members;

	for (uint32_t rank = job->processes.members; rank--;) {
		const struct ml_process *p = &job->processes.member[rank];
		bool is_worse = failed == job->processes.members || p->status > 128 ||
				job->processes.member[failed].status <= 128;

		if (!p->pid && p->status && is_worse)
			failed = rank;
	}
	return failed;
}

void demo_job_poll(struct demo_job *job)
{
	bool running;
	uint32_t failed;

	if (job->state != DEMO_JOB_RUNNING)
		return;
	running = ml_processes_poll(&job->processes);
	failed = failed_rank(job);
	if (failed < job->processes.members) {
		/* Whoever it failed for may have been looked at before, when it was alive. */
		ml_processes_poll(&job->processes);
		failed = failed_rank(job);
		read_trouble(job, failed);
		demo_job_stop(job);
		job->state = DEMO_JOB_FAILED;
		return;
	}
	demo_report_read(&job->report);
	if (!running)
		job->state = DEMO_JOB_DONE;
}

void demo_job_stop(struct demo_job *job)
{
	if (job->state != DEMO_JOB_RUNNING)
		return;
	ml_processes_stop(&job->processes);
	demo_report_read(&job->report);
	job->state = DEMO_JOB_STOPPED;
}

void demo_job_fini(struct demo_job *job)
{
	demo_job_stop(job);
	demo_report_close(&job->report);
	job->state = DEMO_JOB_NONE;
}

void demo_job_rank_report(const struct demo_job *job, uint32_t rank, struct demo_report *report)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/rank-%u.jsonl", job->processes.folder, rank);
	demo_report_open(report, path);
	demo_report_read(report);
}

bool demo_job_digests_agree(const struct demo_job *job)
{
	for (uint32_t rank = 0; rank < job->processes.members; rank++) {
		struct demo_report r;
		bool same;

		demo_job_rank_report(job, rank, &r);
		same = r.ended && !r.broken && strcmp(r.sha256, job->report.sha256) == 0;
		demo_report_close(&r);
		if (!same)
			return false;
	}
	return true;
}
