/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a run: src/demo/stage.h; shell scripts play the part of train. */
#include "demo/stage.h"

#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct demo_rundir dir;
static struct demo_job job;
static struct demo_loopback loopback;
static char program[256], job_dir[256];

static pid_t lives_once; /* a process that has ended and lives when it is next asked for */

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!lives_once || pid != lives_once)
		return __real_waitpid(pid, status, options);
	lives_once = 0;
	return 0;
}

static int make_dir(void **state)
{
	(void)state;
	memset(&job, 0, sizeof(job));
	assert_int_equal(demo_rundir_create(&dir), 0);
	assert_int_equal(demo_rundir_sub(&dir, "job", job_dir, sizeof(job_dir)), 0);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	demo_job_fini(&job);
	loopback.stage.ops->end(&loopback.stage);
	demo_rundir_remove(&dir);
	return 0;
}

/* Starts `ranks` copies of a shell script; $2 is the rank, ${17} the report. */
static void start(const char *script, uint32_t ranks)
{
	struct demo_job_cfg cfg = {
		.program = program,
		.transport = "mrc",
		.dir = job_dir,
		.stage = &loopback.stage,
		.steps = 3,
	};
	const struct demo_shape shape = {
		.ranks = ranks, .planes = 2, .paths = 8, .pace_bps = 50000000};
	FILE *f;

	demo_loopback_init(&loopback, &shape);
	assert_int_equal(loopback.stage.ops->begin(&loopback.stage, &dir, "run", 1), 0);
	snprintf(program, sizeof(program), "%s/train", dir.path);
	f = fopen(program, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	assert_int_equal(chmod(program, 0700), 0);
	assert_int_equal(demo_job_start(&job, &cfg), 0);
}

static void wait_until_over(void)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	for (int i = 0; i < 12000 && job.state == DEMO_JOB_RUNNING; i++) {
		demo_job_poll(&job);
		nanosleep(&pause, NULL);
	}
}

#define JOB_TEST(function, name) TEST_WITH(make_dir, remove_dir, function, name)

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SAY_END(digest) "echo '{\"end\": {\"loss\": 1, \"sha256\": \"" digest "\"}}' >${16}\n"

JOB_TEST(demo_job_poll, notices_that_all_are_done)
{
	start(SAY_END(DIGEST), 3);
	wait_until_over();
	assert_int_equal(job.state, DEMO_JOB_DONE);
	assert_true(job.report.ended);
	assert_true(demo_job_digests_agree(&job));
}

JOB_TEST(demo_job_digests_agree, sees_one_rank_that_differs)
{
	start(SAY_END(DIGEST) "[ $2 = 1 ] && sed -i s/0011/0012/ ${16}; exit 0", 3);
	wait_until_over();
	assert_int_equal(job.state, DEMO_JOB_DONE);
	assert_false(demo_job_digests_agree(&job));
}

JOB_TEST(demo_job_poll, tells_what_a_failed_rank_said_and_ends_the_others)
{
	start("[ $2 = 1 ] && { echo no device >&2; exit 3; }; sleep 60", 3);
	wait_until_over();
	assert_int_equal(job.state, DEMO_JOB_FAILED);
	assert_string_equal(job.error, "rank 1 ended with status 3: no device");
	for (uint32_t i = 0; i < job.processes.members; i++)
		assert_int_equal(job.processes.member[i].pid, 0);
}

JOB_TEST(demo_job_poll, names_the_rank_that_was_killed)
{
	start("[ $2 = 2 ] && kill -9 $$; sleep 60", 3);
	wait_until_over();
	assert_int_equal(job.state, DEMO_JOB_FAILED);
	assert_non_null(strstr(job.error, "rank 2 was killed by signal 9"));
}

/* While rank 0 is asked it lives, and by the time that rank 1 is asked both have ended. */
JOB_TEST(demo_job_poll, names_the_rank_that_was_killed_while_others_were_asked)
{
	siginfo_t ended;

	start("[ $2 = 0 ] && kill -9 $$; echo rank 0 is gone; exit 1", 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			waitid(P_PID, (id_t)job.processes.member[i].pid, &ended, WEXITED | WNOWAIT),
			0);
	lives_once = job.processes.member[0].pid;
	demo_job_poll(&job);
	assert_int_equal(lives_once, 0);
	assert_int_equal(job.state, DEMO_JOB_FAILED);
	assert_non_null(strstr(job.error, "rank 0 was killed by signal 9"));
}

JOB_TEST(demo_job_stop, ends_processes_that_ignore_signals)
{
	pid_t pid;

	start("trap '' TERM INT; while :; do sleep 0.1; done", 2);
	pid = job.processes.member[1].pid;
	demo_job_stop(&job);
	assert_int_equal(job.state, DEMO_JOB_STOPPED);
	assert_int_equal(kill(pid, 0), -1);
}

JOB_TEST(demo_job_start, makes_each_rank_a_host)
{
	char path[300], line[400] = "", want[400];
	FILE *f;

	start("echo $MRC_PORTS $MRC_PORT_PREFIX $MRC_EVS $MRC_PACE $MRC_FAULTS $4 $8 ${10}", 2);
	wait_until_over();
	snprintf(path, sizeof(path), "%s/output-1", job_dir);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	snprintf(want, sizeof(want), "127.0.0.2,127.0.1.2 24 8 50M %s/run.faults 2 mrc 3\n",
		 dir.path);
	assert_string_equal(line, want);
}

JOB_TEST(demo_job_start, reports_a_program_that_is_not_there)
{
	start("exit 0", 1);
	wait_until_over();
	unlink(program);
	demo_job_fini(&job);
	snprintf(program, sizeof(program), "/no/such/train");
	assert_int_equal(demo_job_start(&job, &(struct demo_job_cfg){.program = program,
								     .transport = "mrc",
								     .dir = job_dir,
								     .stage = &loopback.stage}),
			 0);
	wait_until_over();
	assert_int_equal(job.state, DEMO_JOB_FAILED);
	assert_non_null(strstr(job.error, "/no/such/train: not found"));
}
