/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario that is played: src/lab/scenario_run.c, in a time that moves only while it sleeps.
 * What is done to the lab and to programs is noted instead.
 */
#include "lab/lab_state.h"
#include "lab/scenario.h"
#include "support/test.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define LINKS 64u

static struct ml_scenario_run r;

static struct {
	char said[2000];	  /* what was logged and done, a line each */
	uint64_t now_ns, ends_ns; /* until when programs run */
	uint64_t stopped_ns;	  /* the caller's wish; 0: never */
	const char *failing;	  /* a line that begins so fails */
	bool needs_holder, no_rootless, no_up, no_programs, no_counters;
	unsigned int allocs, polls;
	struct ml_lab *lab;
	struct ml_counters counters[LINKS];
	const char *output[4]; /* of the members */
} t;

static int note(const char *what, const char *more)
{
	char line[200];
	size_t n = strlen(t.said);

	snprintf(line, sizeof(line), "%" PRIu64 " %s %s\n", t.now_ns / MS - 1000, what, more);
	assert_true(n + strlen(line) < sizeof(t.said));
	strcpy(t.said + n, line);
	return t.failing && strcmp(t.failing, what) == 0 ? -1 : 0;
}

/* ---- what is around ---- */

static bool is_stopped(void)
{
	return t.stopped_ns && t.now_ns >= t.stopped_ns;
}

static void log_event(void *context, double at_s, const char *what)
{
	char line[100];

	assert_ptr_equal(context, &t);
	snprintf(line, sizeof(line), "%.3f %s", at_s, what);
	note("log", line);
}

__typeof__(ml_clock_ns) __wrap_ml_clock_ns;
uint64_t __wrap_ml_clock_ns(void)
{
	return t.now_ns;
}

__typeof__(poll) __wrap_poll;
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	assert_true(!fds && n == 0 && timeout_ms == 5);
	assert_true(++t.polls < 10000);
	t.now_ns += 5 * MS;
	return 0;
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.allocs && --t.allocs == 0 ? NULL : __real_calloc(n, size);
}

__typeof__(ml_needs_ns_holder) __wrap_ml_needs_ns_holder;
bool __wrap_ml_needs_ns_holder(void)
{
	return t.needs_holder;
}

__typeof__(ml_rootless_enter) __wrap_ml_rootless_enter;
int __wrap_ml_rootless_enter(struct ml_error *e)
{
	note("rootless", "");
	return t.no_rootless ? ml_error_set(e, "no user namespace") : 0;
}

__typeof__(ml_lab_up) __wrap_ml_lab_up;
struct ml_lab *__wrap_ml_lab_up(const struct ml_options *o, struct ml_error *e)
{
	char name[ML_LAB_NAME_MAX];

	snprintf(name, sizeof(name), "run%d", (int)getpid());
	assert_string_equal(o->name, name);
	assert_string_equal(o->topology, "tiny");
	assert_u_eq(o->pace_bps, 100000);
	assert_true(o->goes_with_process);
	note("up", "");
	if (t.no_up || o->progress(o->context, "x", 1, 5)) {
		ml_error_set(e, "no lab");
		return NULL;
	}
	return t.lab;
}

__typeof__(ml_lab_close) __wrap_ml_lab_close;
void __wrap_ml_lab_close(struct ml_lab *lab)
{
	note("close", lab ? "lab" : "none");
}

__typeof__(ml_lab_programs) __wrap_ml_lab_programs;
bool __wrap_ml_lab_programs(const struct ml_lab *lab, const char **why)
{
	assert_ptr_equal(lab, t.lab);
	*why = "as was asked";
	return !t.no_programs;
}

__typeof__(ml_processes_open) __wrap_ml_processes_open;
void __wrap_ml_processes_open(struct ml_processes *c, const struct ml_lab *lab, const char *folder)
{
	assert_ptr_equal(c, &r.processes);
	assert_ptr_equal(lab, t.lab);
	assert_null(folder);
	note("open", "");
}

__typeof__(ml_processes_start) __wrap_ml_processes_start;
int __wrap_ml_processes_start(struct ml_processes *c, const struct ml_scenario_program *program,
			      struct ml_error *e)
{
	c->member[c->members++] =
		(struct ml_process){.program = program, .host = 1, .pid = 1, .ran_ns = 1234567890};
	return note("start", program->name) ? ml_error_set(e, "no start") : 0;
}

__typeof__(ml_processes_poll) __wrap_ml_processes_poll;
bool __wrap_ml_processes_poll(struct ml_processes *c)
{
	return c->members > 0 && t.now_ns < t.ends_ns;
}

__typeof__(ml_processes_stop) __wrap_ml_processes_stop;
void __wrap_ml_processes_stop(struct ml_processes *c)
{
	assert_ptr_equal(c, &r.processes);
	note("stop", "");
}

__typeof__(ml_processes_output) __wrap_ml_processes_output;
char *__wrap_ml_processes_output(const struct ml_processes *c, uint32_t member)
{
	assert_true(member < c->members);
	return t.output[member] ? strdup(t.output[member]) : NULL;
}

__typeof__(ml_lab_add_fault) __wrap_ml_lab_add_fault;
int __wrap_ml_lab_add_fault(struct ml_lab *lab, const struct mf_fault *fault, struct ml_error *e)
{
	assert_ptr_equal(lab, t.lab);
	return note("fault", fault->target) ? ml_error_set(e, "no fault") : 0;
}

__typeof__(ml_lab_clear_fault) __wrap_ml_lab_clear_fault;
int __wrap_ml_lab_clear_fault(struct ml_lab *lab, const char *target, enum mf_fault_kind kind,
			      struct ml_error *e)
{
	assert_ptr_equal(lab, t.lab);
	assert_true(kind == MF_FAULT_DOWN || kind == MF_FAULT_REBOOT);
	return note("clear", target) ? ml_error_set(e, "no end") : 1;
}

__typeof__(ml_lab_counters) __wrap_ml_lab_counters;
int __wrap_ml_lab_counters(struct ml_lab *lab, struct ml_counters *c, struct ml_error *e)
{
	assert_ptr_equal(lab, t.lab);
	memcpy(c, t.counters, lab->t.n_links * sizeof(*c));
	return t.no_counters ? ml_error_set(e, "no counters") : 0;
}

/* ---- scenarios ---- */

static int setup(void **state)
{
	struct ml_error e;

	(void)state;
	memset(&t, 0, sizeof(t));
	memset(&r, 0, sizeof(r));
	t.now_ns = 1000 * MS;
	t.lab = ml_state_create("s", "tiny", NULL, &e);
	assert_non_null(t.lab);
	r.is_stopped = is_stopped;
	r.log = log_event;
	r.context = &t;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ml_state_destroy(t.lab);
	return 0;
}

#define RUN_TEST(function, name) TEST_WITH(setup, teardown, function, name)

static void scenario(const char *text)
{
	static const char head[] = "topology = \"tiny\"\npace = \"100k\"\n";
	char all[2000], error[ML_SCENARIO_ERROR_MAX];

	snprintf(all, sizeof(all), "%s%s", head, text);
	if (ml_scenario_read("f", all, &r.s, error))
		fail_msg("%s", error);
}

static void open_lab(void)
{
	struct ml_error e;

	if (ml_scenario_open(&r, "f", &e))
		fail_msg("%s", e.text);
	t.said[0] = '\0';
}

static void play(const char *said)
{
	struct ml_error e;

	open_lab();
	if (ml_scenario_play(&r, &e))
		fail_msg("%s", e.text);
	if (said)
		assert_string_equal(t.said, said);
}

static void cannot_be_played(const char *said, const char *why)
{
	struct ml_error e = {{0}};

	open_lab();
	assert_i_eq(ml_scenario_play(&r, &e), -1);
	assert_string_equal(t.said, said);
	assert_string_equal(e.text, why);
}

static void result_is(size_t i, const char *what, const char *actual, bool pass)
{
	assert_true(i < r.results);
	assert_string_equal(r.result[i].what, what);
	assert_string_equal(r.result[i].actual, actual);
	assert_i_eq(r.result[i].pass, pass);
}

#define SLEEPS "[[program]]\nname = \"a\"\nhost = \"1\"\nrun = \"x\"\n"
#define DOWN "[[fault]]\ntarget = \"plane0\"\nfault = \"down\"\n"

/* ---- opened ---- */

static void is_not_opened(const char *said, const char *why)
{
	struct ml_error e = {{0}};

	t.said[0] = '\0';
	assert_i_eq(ml_scenario_open(&r, "f", &e), -1);
	assert_string_equal(t.said, said);
	assert_string_equal(e.text, why);
}

RUN_TEST(ml_scenario_open, brings_a_lab_up_or_says_why_not)
{
	scenario("needs_programs = true\n" DOWN);
	open_lab();
	assert_ptr_equal(r.lab, t.lab);
	t.needs_holder = true;
	open_lab();
	t.no_rootless = true;
	is_not_opened("0 rootless \n", "no user namespace");
	t.no_rootless = t.needs_holder = false;
	t.no_up = true;
	is_not_opened("0 up \n", "no lab");
	t.no_up = false;
	t.stopped_ns = 1;
	is_not_opened("0 up \n", "no lab");
	t.stopped_ns = 0;
	t.no_programs = true;
	is_not_opened("0 up \n0 open \n", "f needs switches that trim and mark: as was asked");
	r.s.needs_programs = false;
	open_lab();
	strcpy(r.s.fault[0].target, "plane7");
	t.said[0] = '\0';
	assert_i_eq(ml_scenario_open(&r, "f", &(struct ml_error){{0}}), -1);
	t.said[0] = '\0';
	ml_scenario_close(&r);
	assert_string_equal(t.said, "0 stop \n0 close lab\n");
	assert_null(r.lab);
}

/* ---- events ---- */

RUN_TEST(ml_scenario_play, does_each_thing_at_its_time)
{
	scenario(SLEEPS "at = \"20ms\"\n" DOWN
			"at = \"10ms\"\nfor = \"5ms\"\nevery = \"10ms\"\ntimes = 2\n"
			"[[fault]]\ntarget = \"plane0.t1-0\"\nfault = \"reboot\"\nat = \"12ms\"\n"
			"for = \"8ms\"\n");
	r.s.fault[2] = r.s.fault[0]; /* of no scenario */
	t.ends_ns = 1040 * MS;
	play("10 log 0.010 plane0 down\n10 fault plane0\n"
	     "15 log 0.015 plane0.t1-0 off\n15 fault plane0.t1-0\n"
	     "15 log 0.015 plane0 cleared\n15 clear plane0\n"
	     /* What ends goes before what begins. */
	     "20 log 0.020 plane0.t1-0 on\n20 clear plane0.t1-0\n"
	     "20 log 0.020 plane0 down\n20 fault plane0\n20 log 0.020 start a\n20 start a\n"
	     "25 log 0.025 plane0 cleared\n25 clear plane0\n40 stop \n40 log 0.040 end\n");
	assert_true(r.pass);
	assert_u_eq(r.results, 1);
	result_is(0, "a on host1 ends with status 0", "0 after 1.23 s", true);
}

RUN_TEST(ml_scenario_play, has_room_for_as_many_faults_as_a_scenario_may_have)
{
	scenario(DOWN "at = \"10ms\"\nfor = \"5ms\"\n");
	for (uint32_t i = 1; i < ML_SCENARIO_FAULTS_MAX; i++)
		r.s.fault[i] = r.s.fault[0];
	r.s.faults = ML_SCENARIO_FAULTS_MAX;
	t.stopped_ns = 1005 * MS;
	cannot_be_played("", "interrupted");
}

RUN_TEST(ml_scenario_play, brings_a_switch_back)
{
	scenario("[[fault]]\ntarget = \"plane0.t1-0\"\nfault = \"reboot\"\nfor = \"5ms\"\n");
	play("0 log 0.000 plane0.t1-0 off\n0 fault plane0.t1-0\n"
	     "5 log 0.005 plane0.t1-0 on\n5 clear plane0.t1-0\n5 stop \n5 log 0.005 end\n");
	assert_true(r.pass);
}

RUN_TEST(ml_scenario_play, ends_at_its_limit)
{
	scenario("limit = \"50ms\"\n" SLEEPS);
	t.ends_ns = UINT64_MAX;
	play("0 log 0.000 start a\n0 start a\n55 stop \n55 log 0.055 end\n");
	r.processes.members = 0;
	t.now_ns = 1000 * MS;
	scenario("limit = \"50ms\"\n" DOWN "at = \"1s\"\n");
	play("55 stop \n55 log 0.055 end\n");
}

RUN_TEST(ml_scenario_play, ends_when_the_caller_wants)
{
	scenario(SLEEPS);
	t.ends_ns = UINT64_MAX;
	t.stopped_ns = 1010 * MS;
	cannot_be_played("0 log 0.000 start a\n0 start a\n", "interrupted");
	assert_u_eq(t.now_ns, 1010 * MS);
}

RUN_TEST(ml_scenario_play, says_what_could_not_be_done)
{
	scenario(SLEEPS);
	t.failing = "start";
	cannot_be_played("0 log 0.000 start a\n0 start a\n", "no start");
	scenario(DOWN "for = \"5ms\"\n");
	t.failing = "fault";
	cannot_be_played("0 log 0.000 plane0 down\n0 fault plane0\n", "no fault");
	t.failing = "clear";
	cannot_be_played("0 log 0.000 plane0 down\n0 fault plane0\n"
			 "5 log 0.005 plane0 cleared\n5 clear plane0\n",
			 "no end");
	t.failing = NULL;
	t.allocs = 1;
	cannot_be_played("", "no memory");
	scenario("");
	t.allocs = 2;
	cannot_be_played("5 stop \n5 log 0.000 end\n", "no memory");
	t.no_counters = true;
	cannot_be_played("5 stop \n5 log 0.000 end\n", "no counters");
	assert_u_eq(r.results, 0);
	assert_false(r.pass);
}

/* ---- checks ---- */

/* Two programs that run, and one in the background, which nobody judges. */
RUN_TEST(ml_scenario_play, judges_how_programs_end)
{
	struct ml_error e;

	scenario(SLEEPS
		 "status = 7\n[[program]]\nname = \"b\"\nhost = \"1\"\nrun = \"x\"\n"
		 "background = true\n[[program]]\nname = \"c\"\nhost = \"1\"\nrun = \"x\"\n");
	play(NULL);
	assert_u_eq(r.results, 2);
	result_is(0, "a on host1 ends with status 7", "0 after 1.23 s", false);
	result_is(1, "c on host1 ends with status 0", "0 after 1.23 s", true);
	assert_false(r.pass);
	r.results = r.processes.members = 0;
	r.s.program[0].status = 0;
	assert_i_eq(ml_scenario_play(&r, &e), 0);
	assert_true(r.pass);
}

RUN_TEST(ml_scenario_play, fails_what_had_to_be_ended)
{
	scenario(SLEEPS);
	open_lab();
	r.processes.members = 1;
	r.processes.member[0] =
		(struct ml_process){.program = &r.s.program[0], .host = 1, .overdue = true};
	r.s.programs = 0;
	assert_i_eq(ml_scenario_play(&r, &(struct ml_error){{0}}), 0);
	result_is(0, "a on host1 ends with status 0", "still ran at the limit", false);
}

RUN_TEST(ml_scenario_play, looks_for_words_in_the_output_of_all)
{
	scenario("[[program]]\nname = \"b\"\nhost = \"1\"\nrun = \"x\"\n" SLEEPS SLEEPS
		 "[[check]]\nprogram = \"a\"\nsays = \"sum\"\n");
	t.output[0] = "nothing";
	t.output[1] = "the sum is 3";
	t.output[2] = "sum";
	play(NULL);
	assert_u_eq(r.results, 4);
	result_is(3, "a says \"sum\"", "2 of 2 did", true);
	assert_true(r.pass);
	r.results = r.processes.members = 0;
	t.output[2] = NULL;
	play(NULL);
	result_is(3, "a says \"sum\"", "1 of 2 did", false);
	assert_false(r.pass);
	r.results = r.processes.members = 0;
	r.s.programs = 1;
	assert_i_eq(ml_scenario_play(&r, &(struct ml_error){{0}}), 0);
	result_is(1, "a says \"sum\"", "0 of 0 did", false);
}

RUN_TEST(ml_scenario_play, adds_up_counters)
{
	static const char *const names[] = {"packets", "trimmed", "marked", "dropped", "lost"};
	uint32_t links = t.lab->t.n_links;
	char text[1000] = "", want[100], sum[40];
	struct mf_target target;
	struct mf_error e;

	for (uint32_t i = 0; i < 5; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "[[check]]\ncounter = \"%s\"\nleast = %u\n", names[i], links * (i + 1));
	}
	strcat(text, "[[check]]\ncounter = \"lost\"\nof = \"plane0.t1-0\"\nleast = 3\nmost = 10\n"
		     "[[check]]\ncounter = \"lost\"\nof = \"plane0.t1-0\"\nleast = 10\nmost = 12\n"
		     "[[check]]\ncounter = \"lost\"\nof = \"plane0.t1-0\"\nleast = 11\n"
		     "[[check]]\ncounter = \"lost\"\nof = \"plane0.t1-0\"\nleast = 0\nmost = 9\n");
	for (uint32_t link = 0; link < LINKS; link++)
		t.counters[link] = (struct ml_counters){
			.packets = 1, .trimmed = 2, .marked = 3, .dropped = 4, .lost = 5};
	assert_true(mf_target_find(&t.lab->t, "plane0.t1-0", &target, &e));
	assert_u_eq(target.links, 2);
	scenario(text);
	play(NULL);
	assert_u_eq(r.results, 9);
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(want, sizeof(want), "%s at all ports: at least %u", names[i],
			 links * (i + 1));
		snprintf(sum, sizeof(sum), "%u", links * (i + 1));
		result_is(i, want, sum, true);
	}
	result_is(5, "lost at plane0.t1-0: 3 to 10", "10", true);
	result_is(6, "lost at plane0.t1-0: 10 to 12", "10", true);
	result_is(7, "lost at plane0.t1-0: at least 11", "10", false);
	result_is(8, "lost at plane0.t1-0: 0 to 9", "10", false);
	assert_false(r.pass);
}
