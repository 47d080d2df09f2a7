/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labs that are built, opened and taken down: src/lab/lab.c. The steps are noted instead of done,
 * a letter each, and fail where they are asked to.
 */
#include "lab/scenario.h"
#include "support/open_fds.h"
#include "support/test.h"
#include "unit/lab_run_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>

/* Letters: l lock, c clear, r remove, p probe, g program, w write (b while it is being built),
 * d watchdog, a apply, s watchdog stopped, o program opened. */
static struct {
	char steps[64];
	char failing; /* the step that fails */
	unsigned int allocs;
	bool no_random, no_htb, no_bpf, no_usid;
	struct ml_lab *found; /* what the file is read as */
	bool missing;
	const char *const *namespaces;
	int stopped;	    /* the watchdog that was stopped last */
	struct ml_lab seen; /* when it was applied */
	uint8_t port, node;
	char netns[ML_NETNS_MAX];
} t;

#define WATCHDOG 4711

static int step(char letter, struct ml_error *e)
{
	size_t n = strlen(t.steps);

	assert_true(n + 1 < sizeof(t.steps));
	t.steps[n] = letter;
	if (t.failing != letter)
		return 0;
	t.failing = 0;
	return ml_error_set(e, "no %c", letter);
}

__typeof__(ml_state_lock) __wrap_ml_state_lock;
int __wrap_ml_state_lock(struct ml_error *e)
{
	return step('l', e) ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

__typeof__(ml_netns_list) __wrap_ml_netns_list;
size_t __wrap_ml_netns_list(const char *prefix, void (*fn)(void *context, const char *name),
			    void *context)
{
	size_t n = 0;

	for (; t.namespaces && t.namespaces[n]; n++)
		fn(context, t.namespaces[n]);
	snprintf(t.netns, sizeof(t.netns), "%s", prefix);
	return n;
}

__typeof__(ml_netns_clear) __wrap_ml_netns_clear;
int __wrap_ml_netns_clear(const char *prefix, size_t *processes, struct ml_error *e)
{
	assert_string_equal(prefix, t.netns);
	assert_u_eq(*processes, 0);
	*processes = 3;
	return step('c', e);
}

__typeof__(ml_state_remove) __wrap_ml_state_remove;
void __wrap_ml_state_remove(const char *name)
{
	struct ml_error e;

	assert_i_eq(ml_state_name(name, &e), 0);
	step('r', &e);
}

/* The caller owns what is found. */
__typeof__(ml_state_read) __wrap_ml_state_read;
struct ml_lab *__wrap_ml_state_read(const char *name, bool *missing, struct ml_error *e)
{
	struct ml_lab *found = t.found;

	assert_i_eq(ml_state_name(name, e), 0);
	t.found = NULL;
	*missing = t.missing;
	if (!found && !t.missing)
		ml_error_set(e, "cannot be read");
	return found;
}

__typeof__(ml_state_write) __wrap_ml_state_write;
int __wrap_ml_state_write(const struct ml_lab *lab, struct ml_error *e)
{
	return step(lab->building ? 'b' : 'w', e);
}

__typeof__(ml_process_since) __wrap_ml_process_since;
uint64_t __wrap_ml_process_since(pid_t pid)
{
	return pid == getpid() ? 99 : 0;
}

__typeof__(ml_probe_run) __wrap_ml_probe_run;
void __wrap_ml_probe_run(struct ml_probe *p)
{
	struct ml_error e;

	*p = (struct ml_probe){.sid_device = "ifb"};
	for (unsigned int i = 0; i < ML_FEATURES; i++) {
		p->ok[i] = true;
		snprintf(p->why[i].text, sizeof(p->why[i].text), "lacks %u", i);
	}
	p->ok[ML_FEATURE_HTB] = !t.no_htb;
	p->ok[ML_FEATURE_BPF] = !t.no_bpf;
	p->ok[ML_FEATURE_USID] = !t.no_usid;
	step('p', &e);
}

__typeof__(ml_program_load) __wrap_ml_program_load;
void __wrap_ml_program_load(struct ml_lab *lab)
{
	struct ml_error e;

	step('g', &e);
	lab->program = 5;
}

__typeof__(ml_program_open) __wrap_ml_program_open;
int __wrap_ml_program_open(struct ml_lab *lab, struct ml_error *e)
{
	(void)lab;
	return step('o', e);
}

__typeof__(ml_watchdog_start) __wrap_ml_watchdog_start;
int __wrap_ml_watchdog_start(const struct ml_lab *lab, struct ml_error *e)
{
	assert_true(lab->building);
	return step('d', e) ? -1 : WATCHDOG;
}

__typeof__(ml_watchdog_stop) __wrap_ml_watchdog_stop;
void __wrap_ml_watchdog_stop(int fd)
{
	struct ml_error e;

	step('s', &e);
	t.stopped = fd;
}

__typeof__(ml_apply) __wrap_ml_apply;
int __wrap_ml_apply(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	t.seen = *lab;
	t.port = t.node = 0xff;
	for (uint32_t link = 0; link < lab->t.n_links; link++)
		t.port &= todo->port[link];
	for (uint32_t node = 0; node < lab->t.n_nodes; node++)
		t.node &= todo->node[node];
	if (todo->progress)
		assert_i_eq(todo->progress(todo->context, "x", 1, 5), 7);
	return step('a', e);
}

__typeof__(getrandom) __wrap_getrandom;
ssize_t __wrap_getrandom(void *to, size_t size, unsigned int flags)
{
	assert_u_eq(flags, GRND_NONBLOCK);
	memset(to, 0x77, size);
	return t.no_random ? -1 : (ssize_t)size;
}

__typeof__(ml_clock_ns) __wrap_ml_clock_ns;
uint64_t __wrap_ml_clock_ns(void)
{
	return 1234;
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.allocs && --t.allocs == 0 ? NULL : __real_calloc(n, size);
}

__typeof__(ml_netns_open) __wrap_ml_netns_open;
int __wrap_ml_netns_open(const char *name, struct ml_error *e)
{
	(void)e;
	snprintf(t.netns, sizeof(t.netns), "%s", name);
	return 12;
}

/* The watchdog's descriptor is of no file. */
__typeof__(close) __real_close, __wrap_close;
int __wrap_close(int fd)
{
	struct ml_error e;

	return fd == WATCHDOG ? step('x', &e) : __real_close(fd);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.missing = true;
	return 0;
}

#define LAB_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static void steps_were(const char *want)
{
	assert_string_equal(t.steps, want);
	memset(t.steps, 0, sizeof(t.steps));
}

/* What a file of this lab would be read as. */
static struct ml_lab *lab_in_file(uint64_t id)
{
	struct ml_error e;
	struct ml_lab *lab = ml_state_create("u", "tiny", NULL, &e);

	assert_non_null(lab);
	lab->id = id;
	t.missing = false;
	return lab;
}

/* ---- down ---- */

static const char *const two[] = {"mrc-u-host0", "mrc-u-host1", NULL};

LAB_TEST(ml_lab_down, ends_removes_and_counts)
{
	uint32_t open_before = test_open_fds();
	struct ml_down down = {77, 77};
	struct ml_error e;

	t.namespaces = two;
	assert_i_eq(ml_lab_down("u", &down, &e), 0);
	steps_were("lcr");
	assert_string_equal(t.netns, "mrc-u-");
	assert_u_eq(down.namespaces, 2);
	assert_u_eq(down.processes, 3);
	t.failing = 'c';
	assert_i_eq(ml_lab_down("u", &down, &e), -1);
	steps_were("lc");
	t.failing = 'l';
	assert_i_eq(ml_lab_down("u", &down, &e), -1);
	steps_were("l");
	assert_i_eq(ml_lab_down("U", &down, &e), -1);
	steps_were("");
	assert_u_eq(test_open_fds(), open_before);
}

static void down_of_7(int want, const char *steps)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	assert_i_eq(ml_down_if_same("u", 7, &e), want);
	steps_were(steps);
	assert_u_eq(test_open_fds(), open_before);
}

LAB_TEST(ml_down_if_same, spares_what_is_another_lab)
{
	down_of_7(0, "lcr"); /* no file: what is left is ours */
	t.found = lab_in_file(7);
	down_of_7(0, "lcr");
	t.found = lab_in_file(8);
	down_of_7(0, "l");
	down_of_7(0, "l"); /* it cannot be read */
	t.failing = 'l';
	down_of_7(-1, "l");
	t.failing = 'c';
	t.missing = true;
	down_of_7(-1, "lc");
}

/* ---- up ---- */

static struct ml_lab *up(const struct ml_options *options, const char *steps)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};
	struct ml_lab *lab = ml_lab_up(options, &e);

	if (!lab)
		fail_msg("%s", e.text);
	steps_were(steps);
	assert_u_eq(test_open_fds(), open_before);
	return lab;
}

static void is_not_up(const struct ml_options *options, const char *steps, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};

	assert_null(ml_lab_up(options, &e));
	assert_string_equal(e.text, why);
	steps_were(steps);
	assert_u_eq(test_open_fds(), open_before);
}

static int seven(void *context, const char *what, size_t done, size_t of)
{
	assert_ptr_equal(context, &t);
	assert_string_equal(what, "x");
	return done == 1 && of == 5 ? 7 : 0;
}

LAB_TEST(ml_lab_up, writes_before_it_builds_all)
{
	struct ml_options options = {.name = "u",
				     .topology = "tiny",
				     .pace_bps = 1000000,
				     .progress = seven,
				     .context = &t};
	struct ml_lab *lab = up(&options, "lpcrgbdaws");

	assert_i_eq(t.stopped, WATCHDOG);
	assert_i_eq(lab->watchdog, -1);
	assert_u_eq(t.port, ML_DO_BUILD);
	assert_u_eq(t.node, true);
	assert_true(t.seen.building);
	assert_false(lab->building);
	assert_u_eq(lab->id, UINT64_C(0x7777777777777777));
	assert_string_equal(ml_lab_name(lab), "u");
	assert_string_equal(ml_lab_topology_name(lab), "tiny");
	assert_u_eq(ml_lab_topology(lab)->n_hosts, 4);
	assert_u_eq(ml_lab_rate_scale(lab), 1000000);
	assert_string_equal(lab->sid_device, "ifb");
	assert_i_eq(lab->owner, 0);
	assert_u_eq(lab->owner_since, 0);
	assert_u_eq(lab->program, 5);
	ml_lab_close(lab);
	steps_were("");
}

LAB_TEST(ml_lab_up, goes_with_its_process_if_asked)
{
	struct ml_options options = {.topology = "tiny", .goes_with_process = true};
	struct ml_lab *lab = up(&options, "lpcrgbdaw");

	assert_string_equal(ml_lab_name(lab), "lab");
	assert_i_eq(lab->owner, getpid());
	assert_u_eq(lab->owner_since, 99);
	assert_i_eq(lab->watchdog, WATCHDOG);
	ml_lab_close(lab);
	steps_were("lcrs");
	lab = up(&options, "lpcrgbdaw");
	t.failing = 'c';
	ml_lab_close(lab);
	steps_were("lcx"); /* its watchdog tries again */
	lab = up(&options, "lpcrgbdaw");
	lab->owner = 1; /* as in a child of its process */
	ml_lab_close(lab);
	steps_were("x");
	ml_lab_close(NULL);
}

LAB_TEST(ml_lab_up, takes_the_place_of_what_is_half_built_or_an_orphan)
{
	const struct ml_options options = {.name = "u", .topology = "tiny"};

	t.found = lab_in_file(1);
	is_not_up(&options, "l", "lab u is up already; mrc lab down u removes it");
	t.found = lab_in_file(1);
	t.found->owner = getpid();
	t.found->owner_since = 99;
	is_not_up(&options, "l", "lab u is up already; mrc lab down u removes it");
	t.found = lab_in_file(1);
	t.found->owner = getpid();
	t.found->owner_since = 98;
	ml_lab_close(up(&options, "lpcrgbdaws"));
	t.found = lab_in_file(1);
	t.found->building = true;
	ml_lab_close(up(&options, "lpcrgbdaws"));
}

LAB_TEST(ml_lab_up, leaves_nothing_of_what_fails)
{
	struct ml_options options = {.name = "u", .topology = "tiny"};
	static const struct {
		char failing;
		const char *steps;
		int stopped;
	} all[] = {
		{'l', "l", 0},
		{'c', "lpc", 0},
		{'b', "lpcrgbcrs", -1},
		{'d', "lpcrgbdcrs", -1},
		{'a', "lpcrgbdacrs", WATCHDOG},
		{'w', "lpcrgbdawcrs", WATCHDOG},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char why[] = "no ?";

		why[3] = t.failing = all[i].failing;
		t.stopped = 0;
		is_not_up(&options, all[i].steps, why);
		assert_i_eq(t.stopped, all[i].stopped);
	}
	t.no_usid = true;
	is_not_up(&options, "lp",
		  "seg6local End with NEXT-C-SID (kernel 6.1): lacks 2; without that switches "
		  "cannot shift uSIDs");
	t.no_usid = false;
	options.topology = "/nowhere";
	is_not_up(&options, "lpcr", "/nowhere: No such file or directory");
	options.name = "U";
	is_not_up(&options, "", "U: no name of a lab; 1 to 15 letters a-z and digits");
	options = (struct ml_options){.name = "u", .topology = "tiny"};
	t.allocs = 4; /* what is to be done */
	is_not_up(&options, "lpcrgbdcrs", "no memory");
}

LAB_TEST(ml_lab_up, is_numbered_by_the_clock_without_randomness)
{
	const struct ml_options options = {0};
	struct ml_lab *lab;

	t.no_random = true;
	lab = up(&options, "lpcrgbdaws");
	assert_u_eq(lab->id, 1234);
	assert_string_equal(lab->topology_what, "lab");
	ml_lab_close(lab);
}

static void has_pace(uint64_t asked, uint64_t pace_bps)
{
	struct ml_options options = {.topology = "tiny", .pace_bps = asked};
	struct ml_lab *lab = up(&options, "lpcrgbdaws");

	assert_u_eq(lab->pace_bps, pace_bps);
	ml_lab_close(lab);
}

LAB_TEST(ml_lab_up, has_a_pace_of_100k_to_100g)
{
	struct ml_options options = {.topology = "tiny", .pace_bps = 99999};

	is_not_up(&options, "lpcrcrs", "pace 99999 bit/s: must be 0 or 100k to 100G");
	options.pace_bps = UINT64_C(100000000001);
	is_not_up(&options, "lpcrcrs", "pace 100000000001 bit/s: must be 0 or 100k to 100G");
	has_pace(100000, 100000);
	has_pace(UINT64_C(100000000000), UINT64_C(100000000000));
	has_pace(ML_PACE_OF_TOPOLOGY, 100000000);
	has_pace(0, 0);
	t.no_htb = true;
	has_pace(0, 0);
	options.pace_bps = 100000;
	is_not_up(&options, "lpcrcrs", "shaping: lacks 3; a pace of 0 goes without it");
}

static void has_mtu(uint32_t asked, uint32_t mtu)
{
	struct ml_options options = {.topology = "tiny", .mtu = asked};
	struct ml_lab *lab = up(&options, "lpcrgbdaws");

	assert_u_eq(ml_lab_topology(lab)->cfg.mtu, mtu);
	ml_lab_close(lab);
}

LAB_TEST(ml_lab_up, has_an_mtu_of_1280_to_65535)
{
	struct ml_options options = {.topology = "tiny", .mtu = MF_MTU_MIN - 1};

	is_not_up(&options, "lpcrcrs", "MTU 1279: must be 1280 to 65535 bytes");
	options.mtu = MF_MTU_MAX + 1;
	is_not_up(&options, "lpcrcrs", "MTU 65536: must be 1280 to 65535 bytes");
	has_mtu(0, 4400);
	has_mtu(MF_MTU_MIN, MF_MTU_MIN);
	has_mtu(MF_MTU_MAX, MF_MTU_MAX);
}

static void has_no_program(const struct ml_options *options, const char *why)
{
	struct ml_lab *lab = up(options, "lpcrbdaws");
	const char *said;

	assert_false(ml_lab_programs(lab, &said));
	assert_string_equal(said, why);
	ml_lab_close(lab);
}

LAB_TEST(ml_lab_up, says_why_there_is_no_switch_program)
{
	struct ml_options options = {.topology = "tiny", .no_programs = true};

	has_no_program(&options, "as was asked");
	options.no_programs = false;
	t.no_bpf = true;
	has_no_program(&options, "lacks 4");
}

/* ---- opened ---- */

static void is_not_open(const char *name, const char *steps, const char *why)
{
	struct ml_error e = {{0}};

	assert_null(ml_lab_open(name, &e));
	assert_string_equal(e.text, why);
	steps_were(steps);
}

LAB_TEST(ml_lab_open, opens_what_is_up)
{
	struct ml_lab *lab;
	struct ml_error e;

	t.found = lab_in_file(1);
	lab = ml_lab_open("u", &e);
	assert_non_null(lab);
	steps_were("o");
	ml_lab_close(lab);
	steps_were("");
	t.failing = 'o';
	t.found = lab_in_file(1);
	is_not_open("u", "o", "no o");
	t.found = lab_in_file(1);
	t.found->building = true;
	is_not_open("u", "", "lab u is only half built; mrc lab down u removes it");
	is_not_open("u", "", "cannot be read");
	t.missing = true;
	is_not_open("u", "", "lab u is not up; mrc lab status lists those that are");
	is_not_open("U", "", "U: no name of a lab; 1 to 15 letters a-z and digits");
}

LAB_TEST(ml_lab_rate, is_the_slow_one_while_that_lasts)
{
	struct ml_lab *lab = lab_in_file(1);
	struct ml_error e;
	const char *why;

	lab->pace_bps = 1000;
	assert_u_eq(ml_lab_rate(lab, 0), 2000);
	lab->port[0].faults.slow_bits = 30;
	assert_u_eq(ml_lab_rate(lab, 0), 30);
	assert_i_eq(ml_lab_netns(lab, 1, &e), 12);
	assert_string_equal(t.netns, "mrc-u-host1");
	lab->off[5] = true;
	assert_true(ml_lab_switch_is_off(lab, 5));
	assert_false(ml_lab_switch_is_off(lab, 6));
	lab->program = 1;
	assert_true(ml_lab_programs(lab, &why));
	ml_state_destroy(lab);
}

/* ---- listed ---- */

static char listed[256];

static void list(void *context, const char *name)
{
	assert_ptr_equal(context, &t);
	strcat(listed, name);
	strcat(listed, " ");
}

LAB_RUN_TEST(ml_lab_list, has_each_file_and_namespace_of_a_lab)
{
	static const char *const names[] = {
		"mrc-b-host0", "mrc-B-host0", "mrc--host0", "mrc-c", "mrc-abcdefghijklmnop-host0",
		NULL};
	uint32_t open_before = test_open_fds();

	setup(NULL);
	listed[0] = '\0';
	ml_lab_list(list, &t); /* without a folder */
	assert_string_equal(listed, "");
	t.namespaces = names;
	lab_run_shell("mkdir -p " ML_STATE_DIR " && cd " ML_STATE_DIR
		      " && touch a.json .json b.part x.json.old X.json abcdefghijklmnop.json x y");
	ml_lab_list(list, &t);
	assert_string_equal(listed, "a b c ");
	assert_string_equal(t.netns, "mrc-");
	assert_u_eq(test_open_fds(), open_before);
}
