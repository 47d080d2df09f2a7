/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of one training run: see stage.h. */
#include "demo/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_PATIENCE_MS 1000
#define STOP_LOOK_MS 5
#define ARGUMENTS_MAX 24
static void rank_file(const struct demo_job_cfg *cfg, uint32_t rank, const char *suffix, char *out,
		      size_t size)
{
	snprintf(out, size, "%s/rank-%u%s", cfg->dir, rank, suffix);
}

static void redirect_output(const struct demo_job_cfg *cfg, uint32_t rank)
{
	char path[300];
	int null = open("/dev/null", O_RDONLY);
	int log;

	rank_file(cfg, rank, ".log", path, sizeof(path));
	log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(127);
	close(null);
	close(log);
}

/* In the child. Interrupts from the terminal are the parent's business. */
__attribute__((noreturn)) static void become_rank(const struct demo_job_cfg *cfg, uint32_t rank,
						  pid_t parent)
{
	char rank_text[16], ranks[16], steps[16], params[24], seed[24], report[300];
	const char *argv[ARGUMENTS_MAX] = {
		cfg->program, "--rank",	     rank_text,	     "--ranks",	 ranks, "--rendezvous",
		cfg->dir,     "--transport", cfg->transport, "--steps",	 steps, "--params",
		params,	      "--seed",	     seed,	     "--report", report};

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	redirect_output(cfg, rank);
	setenv("MRC_STATS_DIR", cfg->dir, 1);
	if (cfg->stage->ops->enter(cfg->stage, rank, cfg->transport))
		_exit(127);
	snprintf(rank_text, sizeof(rank_text), "%u", rank);
	snprintf(ranks, sizeof(ranks), "%u", cfg->stage->shape.ranks);
	snprintf(steps, sizeof(steps), "%u", cfg->steps);
	snprintf(params, sizeof(params), "%" PRIu64,
		 cfg->stage->shape.vector_bytes / sizeof(float));
	snprintf(seed, sizeof(seed), "%" PRIu64, cfg->seed);
	rank_file(cfg, rank, ".jsonl", report, sizeof(report));
	if (cfg->data) {
		argv[17] = "--data";
		argv[18] = cfg->data;
	}
	execv(cfg->program, (char *const *)(uintptr_t)argv);
	fprintf(stderr, "%s: %s\n", cfg->program, strerror(errno));
	_exit(127);
}

int demo_job_start(struct demo_job *job, const struct demo_job_cfg *cfg)
{
	pid_t parent = getpid();
	char path[300];

	*job = (struct demo_job){.cfg = *cfg, .state = DEMO_JOB_RUNNING};
	snprintf(job->dir, sizeof(job->dir), "%s", cfg->dir);
	job->cfg.dir = job->dir;
	rank_file(cfg, 0, ".jsonl", path, sizeof(path));
	demo_report_open(&job->report, path);
	fflush(NULL);
	for (uint32_t rank = 0; rank < cfg->stage->shape.ranks; rank++) {
		pid_t pid = fork();

		if (pid == 0)
			become_rank(cfg, rank, parent);
		if (pid < 0) {
			fprintf(stderr, "mrc demo: cannot start rank %u: %s\n", rank,
				strerror(errno));
			demo_job_stop(job);
			return -1;
		}
		job->pid[job->n++] = pid;
	}
	return 0;
}

/* What the rank said last, for the user who has to find out why it failed. */
static void read_trouble(struct demo_job *job, uint32_t rank, int status)
{
	char path[300], text[400] = "";
	size_t n = 0;
	FILE *f;

	rank_file(&job->cfg, rank, ".log", path, sizeof(path));
	f = fopen(path, "re");
	if (f) {
		if (fseek(f, -(long)(sizeof(text) - 1), SEEK_END))
			rewind(f);
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	if (WIFSIGNALED(status))
		snprintf(job->error, sizeof(job->error), "rank %u was killed by signal %d: %s",
			 rank, WTERMSIG(status), text);
	else
		snprintf(job->error, sizeof(job->error), "rank %u ended with status %d: %s", rank,
			 WEXITSTATUS(status), text);
}

static bool any_running(const struct demo_job *job)
{
	for (uint32_t i = 0; i < job->n; i++)
		if (job->pid[i])
			return true;
	return false;
}

/* Waits for those that have ended; false when one of them ended badly. */
static bool reap_ended(struct demo_job *job)
{
	bool good = true, killed = false;

	for (uint32_t i = 0; i < job->n; i++) {
		int status;

		if (!job->pid[i] || waitpid(job->pid[i], &status, WNOHANG) != job->pid[i])
			continue;
		job->pid[i] = 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		/* Neighbours of a rank that was killed end badly too; it is the one to name. */
		if (good || (WIFSIGNALED(status) && !killed))
			read_trouble(job, i, status);
		killed = killed || WIFSIGNALED(status);
		good = false;
	}
	return good;
}

void demo_job_poll(struct demo_job *job)
{
	if (job->state != DEMO_JOB_RUNNING)
		return;
	if (!reap_ended(job)) {
		demo_job_stop(job);
		job->state = DEMO_JOB_FAILED;
		return;
	}
	demo_report_read(&job->report);
	if (!any_running(job))
		job->state = DEMO_JOB_DONE;
}

static void signal_all(const struct demo_job *job, int number)
{
	for (uint32_t i = 0; i < job->n; i++)
		if (job->pid[i])
			kill(job->pid[i], number);
}

static void reap_processes(struct demo_job *job, int flags)
{
	for (uint32_t i = 0; i < job->n; i++)
		if (job->pid[i] && waitpid(job->pid[i], NULL, flags) == job->pid[i])
			job->pid[i] = 0;
}

void demo_job_stop(struct demo_job *job)
{
	const struct timespec pause = {.tv_nsec = STOP_LOOK_MS * 1000000L};

	if (job->state != DEMO_JOB_RUNNING)
		return;
	signal_all(job, SIGTERM);
	for (int ms = 0; ms < STOP_PATIENCE_MS && any_running(job); ms += STOP_LOOK_MS) {
		reap_processes(job, WNOHANG);
		nanosleep(&pause, NULL);
	}
	signal_all(job, SIGKILL);
	reap_processes(job, 0);
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

	rank_file(&job->cfg, rank, ".jsonl", path, sizeof(path));
	demo_report_open(report, path);
	demo_report_read(report);
}

bool demo_job_digests_agree(const struct demo_job *job)
{
	for (uint32_t rank = 0; rank < job->n; rank++) {
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
