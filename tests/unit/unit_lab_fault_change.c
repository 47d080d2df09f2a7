/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that begin and end, switches that go and come: src/lab/fault_change.c. What is to be done
 * is noted instead of done, and fails where it is asked to. On `tiny`: hosts 0 to 3, in each plane
 * T0 0 and 1 and T1 0 and 1.
 */
#include "fabric/fabric_path.h"
#include "lab/lab_state.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LINKS 64u
#define NODES 32u

static struct {
	struct ml_lab *lab;
	/* What was asked for last. */
	uint8_t port[LINKS], undone[LINKS];
	bool node[NODES];
	uint32_t unplugged[LINKS], n_unplugged, peer_of_first;
	char command[100];
	unsigned int applied, written, locks;
	/* The nth of these fails; 0: none. */
	unsigned int apply_fails, write_fails, alloc_fails;
	bool no_lock, no_reload, no_delete, no_command;
} t;

static int refuse(struct ml_error *e, const char *what)
{
	return ml_error_set(e, "no %s", what);
}

static bool counts_down(unsigned int *n)
{
	return *n && --*n == 0;
}

__typeof__(ml_state_lock) __wrap_ml_state_lock;
int __wrap_ml_state_lock(struct ml_error *e)
{
	t.locks++;
	return t.no_lock ? refuse(e, "lock") : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

__typeof__(ml_state_reload) __wrap_ml_state_reload;
int __wrap_ml_state_reload(struct ml_lab *lab, struct ml_error *e)
{
	assert_ptr_equal(lab, t.lab);
	return t.no_reload ? refuse(e, "file") : 0;
}

__typeof__(ml_state_write) __wrap_ml_state_write;
int __wrap_ml_state_write(const struct ml_lab *lab, struct ml_error *e)
{
	assert_ptr_equal(lab, t.lab);
	t.written++;
	return counts_down(&t.write_fails) ? refuse(e, "room") : 0;
}

__typeof__(ml_apply) __wrap_ml_apply;
int __wrap_ml_apply(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	memcpy(t.undone, t.port, sizeof(t.port));
	memcpy(t.port, todo->port, lab->t.n_links);
	memcpy(t.node, todo->node, lab->t.n_nodes);
	t.applied++;
	return counts_down(&t.apply_fails) ? refuse(e, "ip") : 0;
}

__typeof__(ml_delete_cables) __wrap_ml_delete_cables;
int __wrap_ml_delete_cables(struct ml_lab *lab, const uint32_t *link, size_t n, struct ml_error *e)
{
	assert_true(n > 0 && n <= LINKS);
	memcpy(t.unplugged, link, n * sizeof(*link));
	t.n_unplugged = (uint32_t)n;
	t.peer_of_first = lab->port[link[0]].peer;
	return t.no_delete ? refuse(e, "pliers") : 0;
}

__typeof__(ml_proc_run) __wrap_ml_proc_run;
int __wrap_ml_proc_run(const char *const argv[], struct ml_error *e)
{
	t.command[0] = '\0';
	for (size_t i = 0, at = 0; argv[i] && at < sizeof(t.command); i++)
		at += (size_t)snprintf(t.command + at, sizeof(t.command) - at, "%s ", argv[i]);
	return t.no_command ? refuse(e, "ip") : 0;
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return counts_down(&t.alloc_fails) ? NULL : __real_calloc(n, size);
}

__typeof__(malloc) __real_malloc, __wrap_malloc;
void *__wrap_malloc(size_t size)
{
	return counts_down(&t.alloc_fails) ? NULL : __real_malloc(size);
}

static int open_tiny(void **state)
{
	struct ml_error e;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.lab = ml_state_create("f", "tiny", NULL, &e);
	if (!t.lab)
		return -1;
	t.lab->pace_bps = 1000000;
	t.lab->program = 1;
	assert_true(t.lab->t.n_links <= LINKS && t.lab->t.n_nodes <= NODES);
	return 0;
}

static int shut(void **state)
{
	(void)state;
	ml_state_destroy(t.lab);
	return 0;
}

#define CHANGE_TEST(function, name) TEST_WITH(open_tiny, shut, function, name)

/* ---- words ---- */

static struct mf_fault fault_of(const char *target, const char *words)
{
	struct mf_fault f;
	struct ml_error e;

	if (ml_fault_read(&t.lab->t, target, words, &f, &e))
		fail_msg("%s", e.text);
	return f;
}

static void add(const char *target, const char *words)
{
	struct mf_fault f = fault_of(target, words);
	struct ml_error e;

	if (ml_lab_add_fault(t.lab, &f, &e))
		fail_msg("%s", e.text);
}

static void is_not_added(const char *target, const char *words, const char *why)
{
	struct mf_fault f = fault_of(target, words);
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};

	assert_i_eq(ml_lab_add_fault(t.lab, &f, &e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

static int clear(const char *target, enum mf_fault_kind kind)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;
	int n = ml_lab_clear_fault(t.lab, target, kind, &e);

	assert_u_eq(test_open_fds(), open_before);
	return n;
}

/* The link that a cable's first end sends on. */
static uint32_t link_of(const char *cable)
{
	struct mf_target target;
	struct mf_error e;

	assert_true(mf_target_find(&t.lab->t, cable, &target, &e));
	return mf_target_link(&t.lab->t, &target, 0);
}

static uint32_t node_of(const char *name)
{
	struct ml_error e;
	uint32_t node;

	assert_i_eq(ml_node_find(&t.lab->t, name, &node, &e), 0);
	return node;
}

/* The last work: this on one port, perhaps this on another, and nothing else. */
static void work_is(uint32_t link, unsigned int what, uint32_t other, unsigned int what_other)
{
	for (uint32_t i = 0; i < t.lab->t.n_links; i++)
		assert_u_eq(t.port[i], i == link ? what : i == other ? what_other : 0);
	for (uint32_t node = 0; node < t.lab->t.n_nodes; node++)
		assert_false(t.node[node]);
}

#define CABLE "plane0.t0-0.t1-0"

/* ---- faults ---- */

CHANGE_TEST(ml_lab_add_fault, takes_one_port_down_and_up)
{
	uint32_t link = link_of(CABLE);
	size_t n;

	add(CABLE, "down");
	work_is(link, ML_DO_DOWN, link, 0);
	assert_u_eq(t.applied, 1);
	assert_u_eq(t.written, 1);
	assert_u_eq(t.n_unplugged, 0);
	assert_string_equal(ml_lab_faults(t.lab, &n)->target, CABLE);
	assert_u_eq(n, 1);
	assert_true(ml_lab_port(t.lab, link)->down);
	assert_i_eq(clear(CABLE, MF_FAULT_DOWN), 1);
	work_is(link, ML_DO_UP, link, 0);
	assert_u_eq(t.written, 2);
	assert_false(ml_lab_port(t.lab, link)->down);
	assert_i_eq(clear(CABLE, MF_FAULT_DOWN), 0);
	assert_u_eq(t.applied, 2); /* there was nothing to do */
	assert_u_eq(t.written, 2);
}

CHANGE_TEST(ml_lab_add_fault, changes_what_a_port_does_when_that_is_another)
{
	static const char *const words[] = {"blackhole out",	"loss 1% out",	  "corrupt 1% out",
					    "duplicate 1% out", "reorder 1% out", "slow 1M out"};
	uint32_t link = link_of(CABLE);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		add(CABLE, words[i]);
		work_is(link, ML_DO_FAULTS, link, 0);
		add(CABLE, words[i]);
		work_is(link, 0, link, 0);
		assert_u_eq(t.lab->faults, i + 1);
	}
	add(CABLE, "loss 2% out");
	work_is(link, ML_DO_FAULTS, link, 0);
	add(CABLE, "down");
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), 7);
	work_is(link, ML_DO_UP | ML_DO_FAULTS, link, 0);
	assert_u_eq(t.lab->faults, 0);
}

CHANGE_TEST(ml_lab_add_fault, does_nothing_to_ports_that_are_gone)
{
	t.lab->off[node_of("plane0.t1-0")] = true;
	add(CABLE, "down");
	work_is(0, 0, 0, 0);
	add("plane0.t0-0.t1-1", "down");
	work_is(link_of("plane0.t0-0.t1-1"), ML_DO_DOWN, 0, 0);
}

#define SWAPPED "plane0.t0-0.u0"
#define WITH "plane0.t0-1.u1"

/* Both ends of both cables are built; the old cables go first, which one end of each is for. */
CHANGE_TEST(ml_lab_add_fault, unplugs_cables_that_it_swaps)
{
	uint32_t a = link_of(SWAPPED), c = link_of(WITH);
	uint32_t b = mf_link_reverse(a), d = mf_link_reverse(c);

	for (int round = 0; round < 2; round++) {
		uint32_t first, peer;

		if (round == 0)
			add(SWAPPED, "swap " WITH);
		else
			assert_i_eq(clear(SWAPPED, MF_FAULT_SWAP), 1);
		for (uint32_t i = 0; i < t.lab->t.n_links; i++)
			assert_u_eq(t.port[i],
				    i == a || i == b || i == c || i == d ? ML_DO_BUILD : 0);
		assert_u_eq(t.n_unplugged, 2);
		first = t.unplugged[0];
		peer = first == a   ? round ? d : b
		       : first == b ? round ? c : a
		       : first == c ? round ? b : d
		       : round	    ? a
				    : c;
		assert_u_eq(t.peer_of_first, peer);
		assert_true(first < peer);
		assert_true(t.unplugged[1] != peer && t.unplugged[1] != first);
	}
}

CHANGE_TEST(ml_lab_add_fault, builds_no_cable_to_a_switch_that_is_off)
{
	uint32_t a = link_of(SWAPPED), c = link_of(WITH);

	t.lab->off[node_of("plane0.t1-0")] = true;
	add(SWAPPED, "swap " WITH);
	work_is(a, ML_DO_BUILD, mf_link_reverse(c), ML_DO_BUILD);
}

/* ---- what fails leaves all as it was ---- */

static void nothing_changed(void)
{
	assert_u_eq(t.lab->faults, 1);
	assert_string_equal(t.lab->fault[0].target, "plane1.t0-0.t1-0");
	assert_u_eq(t.lab->fault[0].value, 10000);
	for (uint32_t link = 0; link < t.lab->t.n_links; link++) {
		assert_false(t.lab->port[link].down);
		assert_u_eq(t.lab->port[link].peer, mf_link_reverse(link));
	}
	assert_u_eq(t.lab->port[link_of("plane1.t0-0.t1-0")].faults.loss_ppm, 10000);
}

CHANGE_TEST(ml_lab_add_fault, takes_back_what_fails)
{
	uint32_t link = link_of(CABLE);

	add("plane1.t0-0.t1-0", "loss 1%");
	t.apply_fails = 1;
	is_not_added(CABLE, "down", "no ip");
	assert_u_eq(t.undone[link], ML_DO_DOWN);
	work_is(link, ML_DO_UP, link, 0);
	assert_u_eq(t.written, 1);
	nothing_changed();
	t.write_fails = 1;
	is_not_added(CABLE, "down", "no room");
	work_is(link, ML_DO_UP, link, 0);
	nothing_changed();
	t.apply_fails = 1;
	is_not_added("plane1.t0-0.t1-0", "loss 2%", "no ip");
	nothing_changed();
	t.apply_fails = 1;
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), -1);
	nothing_changed();
	t.no_delete = true;
	t.applied = 0;
	is_not_added(SWAPPED, "swap " WITH, "no pliers");
	assert_u_eq(t.applied, 0);
	nothing_changed();
}

CHANGE_TEST(ml_lab_add_fault, needs_memory)
{
	add("plane1.t0-0.t1-0", "loss 1%");
	for (unsigned int at = 1; at <= 5; at++) {
		t.alloc_fails = at;
		is_not_added(CABLE, "down", "no memory");
		assert_u_eq(t.alloc_fails, 0);
		nothing_changed();
	}
	t.alloc_fails = 1;
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), -1);
	nothing_changed();
}

CHANGE_TEST(ml_lab_add_fault, needs_the_lock_and_the_file)
{
	add("plane1.t0-0.t1-0", "loss 1%");
	t.no_lock = true;
	is_not_added(CABLE, "down", "no lock");
	is_not_added("plane0.t1-0", "reboot", "no lock");
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), -1);
	t.no_lock = false;
	t.no_reload = true;
	is_not_added(CABLE, "down", "no file");
	is_not_added("plane0.t1-0", "reboot", "no file");
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), -1);
	nothing_changed();
}

CHANGE_TEST(ml_lab_add_fault, refuses_what_this_lab_cannot_do)
{
	t.lab->program = 0;
	strcpy(t.lab->no_program, "as was asked");
	is_not_added(CABLE, "corrupt 1%",
		     "corrupt: needs the switch program, which lab f is without: as was asked");
	add(CABLE, "loss 1%");
	add(CABLE, "slow 1M");
	t.lab->pace_bps = 0;
	is_not_added(CABLE, "slow 1M", "slow: lab f is not shaped (it was made with a pace of 0)");
	add(CABLE, "loss 2%");
	assert_u_eq(t.lab->faults, 2);
}

CHANGE_TEST(ml_lab_add_fault, has_room_for_256)
{
	struct mf_fault f = fault_of(CABLE, "loss 1% out");

	for (; t.lab->faults < ML_FAULTS_MAX; t.lab->faults++)
		t.lab->fault[t.lab->faults] = f;
	is_not_added(CABLE, "down", "256 faults are in force, no more fit");
	add(CABLE, "loss 2% out"); /* in the place of the first */
	assert_u_eq(t.lab->fault[0].value, 20000);
	assert_u_eq(t.lab->faults, ML_FAULTS_MAX);
	t.lab->faults--;
	add(CABLE, "down");
	assert_u_eq(t.lab->faults, ML_FAULTS_MAX);
}

CHANGE_TEST(ml_lab_clear_fault, ends_those_of_a_target_and_a_kind)
{
	add(CABLE, "loss 1%");
	add("plane1.t1-0", "loss 1%");
	add(CABLE, "corrupt 1%");
	add(CABLE, "down");
	assert_i_eq(clear("plane1.t1-0", MF_FAULT_CORRUPT), 0);
	assert_i_eq(clear(CABLE, MF_FAULT_LOSS), 1);
	assert_u_eq(t.lab->faults, 3);
	assert_string_equal(t.lab->fault[0].target, "plane1.t1-0");
	assert_i_eq(t.lab->fault[1].kind, MF_FAULT_CORRUPT);
	assert_i_eq(t.lab->fault[2].kind, MF_FAULT_DOWN);
	assert_i_eq(clear(CABLE, MF_FAULT_KINDS), 2);
	assert_i_eq(clear(NULL, MF_FAULT_LOSS), 1);
	assert_u_eq(t.lab->faults, 0);
}

/* ---- switches ---- */

static int set_switch(const char *name, bool on, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};
	int failed = ml_lab_set_switch(t.lab, node_of(name), on, &e);

	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
	return failed;
}

CHANGE_TEST(ml_lab_set_switch, takes_the_cables_first)
{
	uint32_t node = node_of("plane0.t1-1");

	add("plane0.t1-1", "reboot");
	assert_u_eq(t.n_unplugged, 2);
	assert_u_eq(t.unplugged[0], mf_link_out(&t.lab->t, node, 0));
	assert_u_eq(t.unplugged[1], mf_link_out(&t.lab->t, node, 1));
	assert_string_equal(t.command, "ip netns del mrc-f-plane0.t1-1 ");
	assert_true(t.lab->off[node]);
	assert_u_eq(t.written, 1);
	assert_u_eq(t.applied, 0);
	assert_i_eq(set_switch("plane0.t1-1", false, "plane0.t1-1 is off already"), -1);
	assert_i_eq(set_switch("plane0.t1-0", true, "plane0.t1-0 is on already"), -1);
	assert_i_eq(set_switch("host1", false, "host1: only switches can be switched off"), -1);
	assert_u_eq(t.written, 1);
}

CHANGE_TEST(ml_lab_set_switch, leaves_on_what_cannot_be_switched_off)
{
	t.no_delete = true;
	assert_i_eq(set_switch("plane0.t1-1", false, "no pliers"), -1);
	assert_string_equal(t.command, "");
	t.no_delete = false;
	t.no_command = true;
	assert_i_eq(set_switch("plane0.t1-1", false, "no ip"), -1);
	assert_false(t.lab->off[node_of("plane0.t1-1")]);
	assert_u_eq(t.written, 0);
	t.no_command = false;
	t.write_fails = 1;
	assert_i_eq(set_switch("plane0.t1-1", false, "no room"), -1);
}

/* With the far ends of its cables, as they are plugged in now, but for neighbours that are off. */
CHANGE_TEST(ml_lab_set_switch, brings_one_back_with_its_neighbours_ends)
{
	uint32_t node = node_of("plane0.t0-1"), uplink = link_of(WITH);

	add(SWAPPED, "swap " WITH);
	t.lab->off[node] = t.lab->off[node_of("plane0.t1-1")] = true;
	assert_i_eq(set_switch("plane0.t0-1", true, ""), 0);
	for (uint32_t i = 0; i < t.lab->t.n_nodes; i++)
		assert_i_eq(t.node[i], i == node);
	for (uint32_t i = 0; i < t.lab->t.n_links; i++) {
		uint32_t peer = t.lab->port[i].peer;
		uint32_t from = mf_link_from(&t.lab->t, i).node;
		uint32_t to = mf_link_from(&t.lab->t, peer).node;
		bool both_are = from != node_of("plane0.t1-1") && to != node_of("plane0.t1-1");

		assert_u_eq(t.port[i], (from == node || to == node) && both_are ? ML_DO_BUILD : 0);
	}
	assert_u_eq(t.port[uplink], ML_DO_BUILD);
	assert_false(t.lab->off[node]);
	assert_u_eq(t.written, 2);
}

CHANGE_TEST(ml_lab_set_switch, says_why_one_does_not_come_back)
{
	uint32_t node = node_of("plane0.t1-1");

	for (unsigned int at = 1; at <= 3; at++) {
		t.lab->off[node] = true;
		t.alloc_fails = at;
		assert_i_eq(set_switch("plane0.t1-1", true, "no memory"), -1);
		assert_true(t.lab->off[node]);
	}
	t.alloc_fails = 0;
	t.apply_fails = 1;
	assert_i_eq(set_switch("plane0.t1-1", true, "no ip"), -1);
	assert_u_eq(t.written, 0);
	t.lab->off[node] = true;
	t.write_fails = 1;
	assert_i_eq(set_switch("plane0.t1-1", true, "no room"), -1);
}

CHANGE_TEST(ml_lab_clear_fault, brings_switches_back)
{
	uint32_t a = node_of("plane0.t1-0"), b = node_of("plane1.t0-1");

	add(CABLE, "loss 1%");
	t.lab->off[a] = t.lab->off[b] = true;
	assert_i_eq(clear("plane0.t1-0", MF_FAULT_LOSS), 0);
	assert_i_eq(clear(CABLE, MF_FAULT_REBOOT), 0);
	assert_true(t.lab->off[a] && t.lab->off[b]);
	assert_i_eq(clear("plane0.t1-0", MF_FAULT_KINDS), 1);
	assert_true(!t.lab->off[a] && t.lab->off[b]);
	t.lab->off[a] = true;
	assert_i_eq(clear(NULL, MF_FAULT_REBOOT), 2);
	assert_u_eq(t.lab->faults, 1);
	t.lab->off[a] = t.lab->off[b] = true;
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), 3);
	assert_true(!t.lab->off[a] && !t.lab->off[b]);
	t.lab->off[a] = true;
	t.apply_fails = 1;
	assert_i_eq(clear(NULL, MF_FAULT_KINDS), -1);
}
