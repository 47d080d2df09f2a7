/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making a lab what it should be: src/lab/lab_apply.c. What ip(8), tc(8), the kernel and the switch
 * program are told is noted, and fails where it is asked to. On `tiny`: hosts 0 to 3, in each plane
 * T0 0 and 1 and T1 0 and 1.
 */
#include "lab/ip_batch.h"
#include "lab/lab_state.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static struct {
	struct ml_lab *lab;
	struct ml_work todo;
	struct ml_list said;	       /* all that was done, a line each, by whom and where */
	char where[ML_NETNS_MAX];      /* the namespace that was entered last */
	const char *failing;	       /* who says so fails */
	unsigned int allocs;	       /* the nth fails; 0: none */
	unsigned int polls, settle_at; /* carriers are as they should be after so many */
	uint32_t unsettled;	       /* the link that is not before */
	size_t steps, stops_at;
	int netns;
} t;

static int note(struct ml_error *e, const char *what, const char *more)
{
	char begins[200];

	snprintf(begins, sizeof(begins), "%s %s: %s", what, t.where, more);
	fprintf(t.said.to, "%s %s: %s\n", what, t.where, more);
	return t.failing && strncmp(begins, t.failing, strlen(t.failing)) == 0
		       ? ml_error_set(e, "no %s", what)
		       : 0;
}

__typeof__(ml_proc_batch) __wrap_ml_proc_batch;
int __wrap_ml_proc_batch(const char *tool, const char *input, bool force, struct ml_error *e)
{
	assert_false(force);
	return *input ? note(e, tool, input) : 0;
}

__typeof__(ml_netns_enter) __wrap_ml_netns_enter;
int __wrap_ml_netns_enter(const char *name, struct ml_error *e)
{
	snprintf(t.where, sizeof(t.where), "%s", name);
	return t.failing && strcmp(t.failing, name) == 0 ? ml_error_set(e, "no way") : 0;
}

__typeof__(ml_netns_sysctl) __wrap_ml_netns_sysctl;
int __wrap_ml_netns_sysctl(const char *name, const char *value, struct ml_error *e)
{
	char line[100];

	snprintf(line, sizeof(line), "%s=%s", name, value);
	return note(e, "sysctl", line);
}

__typeof__(ml_netns_plain_port) __wrap_ml_netns_plain_port;
int __wrap_ml_netns_plain_port(const char *ifname, struct ml_error *e)
{
	return note(e, "plain", ifname);
}

/* Each on its thread, which is in no namespace at first. */
__typeof__(ml_threads_run) __wrap_ml_threads_run;
int __wrap_ml_threads_run(size_t n, ml_threads_fn fn, void *context, struct ml_error *e)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < n; i++) {
		t.where[0] = '\0';
		failed = fn(context, i, e);
	}
	t.where[0] = '\0';
	return failed;
}

__typeof__(ml_program_htb) __wrap_ml_program_htb;
void __wrap_ml_program_htb(const struct ml_lab *lab, uint32_t link, const char *port, bool build,
			   char *text, size_t size)
{
	(void)lab;
	snprintf(text, size, "htb %u %s %s\n", link, port, build ? "new" : "changed");
}

__typeof__(ml_lab_netns) __wrap_ml_lab_netns;
int __wrap_ml_lab_netns(const struct ml_lab *lab, uint32_t node, struct ml_error *e)
{
	char name[ML_NETNS_MAX];

	note(e, "netns", ml_lab_namespace(lab, node, name));
	if (t.failing && strcmp(t.failing, "netns") == 0)
		return ml_error_set(e, "no netns");
	return t.netns = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

__typeof__(ml_program_port) __wrap_ml_program_port;
int __wrap_ml_program_port(struct ml_lab *lab, uint32_t link, int netns, struct ml_error *e)
{
	char line[32];

	(void)lab;
	if (netns >= 0)
		assert_i_eq(netns, t.netns);
	snprintf(line, sizeof(line), "%u %s", link, netns >= 0 ? "attached" : "changed");
	return note(e, "program", line);
}

__typeof__(mswq_close) __wrap_mswq_close;
void __wrap_mswq_close(struct mswq *swq)
{
	(void)swq;
}

__typeof__(ml_counters_kernel) __wrap_ml_counters_kernel;
int __wrap_ml_counters_kernel(struct ml_lab *lab, struct ml_counters *c, struct ml_error *e)
{
	if (t.failing && strcmp(t.failing, "counters") == 0)
		return ml_error_set(e, "no counters");
	for (uint32_t link = 0; link < lab->t.n_links; link++) {
		const struct ml_port_state *s = &lab->port[link];

		c[link].carrier = !s->down && !lab->port[s->peer].down;
		if (link == t.unsettled && t.polls < t.settle_at)
			c[link].carrier = !c[link].carrier;
	}
	return 0;
}

__typeof__(poll) __wrap_poll;
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	assert_true(!fds && n == 0 && timeout_ms == 2);
	t.polls++;
	return 0;
}

__typeof__(calloc) __real_calloc, __wrap_calloc;
void *__wrap_calloc(size_t n, size_t size)
{
	return t.allocs && --t.allocs == 0 ? NULL : __real_calloc(n, size);
}

static const char *const steps[] = {"namespaces", "cables", "ports and routes", "switch programs",
				    "the rest"};

static int progress(void *context, const char *what, size_t done, size_t of)
{
	assert_ptr_equal(context, &t);
	assert_u_eq(of, 5);
	assert_u_eq(done, t.steps);
	assert_string_equal(what, steps[t.steps]);
	return t.steps++ == t.stops_at;
}

static int open_tiny(void **state)
{
	struct ml_error e;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.unsettled = UINT32_MAX;
	t.lab = ml_state_create("a", "tiny", NULL, &e);
	assert_non_null(t.lab);
	strcpy(t.lab->sid_device, "dummy");
	ml_list_open(&t.said);
	return ml_work_init(&t.todo, t.lab, &e);
}

static int shut(void **state)
{
	(void)state;
	ml_work_fini(&t.todo);
	ml_list_close(&t.said);
	t.lab->swq = NULL;
	ml_state_destroy(t.lab);
	return 0;
}

#define APPLY_TEST(function, name) TEST_WITH(open_tiny, shut, function, name)

static void apply(void)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	if (ml_apply(t.lab, &t.todo, &e))
		fail_msg("%s", e.text);
	assert_u_eq(test_open_fds(), open_before);
}

static void is_not_applied(const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	assert_i_eq(ml_apply(t.lab, &t.todo, &e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
	t.polls = 0;
	t.steps = 0;
}

/* How often a line begins so, or a text is in one. */
static unsigned int times(const char *what)
{
	unsigned int n = 0;

	for (const char *at = ml_list_text(&t.said); (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void said(const char *what)
{
	if (!times(what))
		fail_msg("%s is not in:\n%s", what, ml_list_text(&t.said));
}

/* From here on. */
static void forget(void)
{
	ml_list_close(&t.said);
	ml_list_open(&t.said);
	memset(t.todo.port, 0, t.lab->t.n_links);
	memset(t.todo.node, 0, t.lab->t.n_nodes);
}

static uint32_t node_of(const char *name)
{
	struct ml_error e;
	uint32_t node;

	assert_i_eq(ml_node_find(&t.lab->t, name, &node, &e), 0);
	return node;
}

static void all_is_new(void)
{
	memset(t.todo.port, ML_DO_BUILD, t.lab->t.n_links);
	memset(t.todo.node, true, t.lab->t.n_nodes);
}

static bool carries(const struct ml_lab *lab, uint32_t link)
{
	return ml_port_exists(lab, link) && !lab->port[link].down;
}

/* ---- all of a lab ---- */

/* The lists of a node, as they are made for it. */
static void node_is_told(uint32_t node)
{
	const struct mf_topology *topology = &t.lab->t;
	uint32_t ports = mf_node_ports(topology, mf_node_at(topology, node).tier);
	char name[ML_NETNS_MAX];
	struct ml_list want;

	ml_list_open(&want);
	fprintf(want.to, "ip %s: ", ml_lab_namespace(t.lab, node, name));
	ml_ip_batch_node(want.to, topology, node, "dummy");
	for (uint32_t port = 0; port < ports; port++) {
		uint32_t link = mf_link_out(topology, node, port);

		if (!t.lab->port[link].down)
			ml_ip_batch_port(want.to, topology, link, t.lab->port[link].peer);
	}
	ml_ip_batch_routes(want.to, topology, node, carries, t.lab);
	ml_ip_batch_ipv4(want.to, topology, node, carries, t.lab);
	said(ml_list_text(&want));
	ml_list_close(&want);
	ml_list_open(&want);
	fprintf(want.to, "tc %s: ", name);
	for (uint32_t port = 0; port < ports; port++) {
		uint32_t link = mf_link_out(topology, node, port);
		char ifname[MF_PORT_NAME_BYTES], line[128];

		mf_port_name(topology, node, port, ifname);
		fprintf(want.to, "htb %u %s new\n", link, ifname);
		ml_ip_batch_classic_filter(want.to, ifname, node < topology->n_hosts, NULL,
					   &t.lab->port[link]);
		snprintf(line, sizeof(line), "plain %s: %s\n", name, ifname);
		said(line);
	}
	said(ml_list_text(&want));
	ml_list_close(&want);
}

APPLY_TEST(ml_apply, builds_all_of_a_lab)
{
	const struct mf_topology *topology = &t.lab->t;
	struct ml_list namespaces, cables;

	ml_list_open(&namespaces);
	ml_list_open(&cables);
	fprintf(namespaces.to, "ip : ");
	fprintf(cables.to, "ip : ");
	t.lab->port[5].down = true;
	t.lab->port[0].faults.loss_ppm = 1000;
	all_is_new();
	apply();
	for (uint32_t node = 0; node < topology->n_nodes; node++) {
		char name[ML_NETNS_MAX];

		fprintf(namespaces.to, "netns add %s\n", ml_lab_namespace(t.lab, node, name));
		node_is_told(node);
	}
	for (uint32_t link = 0; link < topology->n_links; link++)
		if (link < mf_link_reverse(link))
			ml_ip_batch_cable(cables.to, topology, "mrc-a-", link,
					  mf_link_reverse(link));
	said(ml_list_text(&namespaces));
	said(ml_list_text(&cables));
	ml_list_close(&namespaces);
	ml_list_close(&cables);
	assert_u_eq(times("program "), 0);
}

APPLY_TEST(ml_apply, sets_what_ports_inherit_first)
{
	static const char *const ipv6[] = {"disable_ipv6=0",  "addr_gen_mode=1",
					   "accept_ra=0",     "accept_dad=0",
					   "dad_transmits=0", "router_solicitations=0",
					   "seg6_enabled=1",  "ignore_routes_with_linkdown=1"};
	static const char *const all[] = {"6/conf/all/seg6_enabled=1",
					  "6/fib_multipath_hash_policy=1",
					  "4/fib_multipath_hash_policy=1",
					  "6/conf/all/ignore_routes_with_linkdown=1",
					  "4/conf/all/ignore_routes_with_linkdown=1",
					  "4/conf/default/ignore_routes_with_linkdown=1",
					  "4/conf/all/rp_filter=0",
					  "4/conf/default/rp_filter=0"};
	uint32_t hosts = t.lab->t.n_hosts, nodes = t.lab->t.n_nodes;

	all_is_new();
	apply();
	for (size_t i = 0; i < 8; i++) {
		char line[80];

		snprintf(line, sizeof(line), "ipv6/conf/default/%s", ipv6[i]);
		assert_u_eq(times(line), nodes);
		assert_u_eq(times(all[i]), nodes);
	}
	assert_u_eq(times("sysctl "), 16 * nodes + 2 * (nodes - hosts));
	assert_u_eq(times("forwarding=1"), nodes - hosts);
	assert_u_eq(times("ip_forward=1"), nodes - hosts);
	assert_true(strstr(ml_list_text(&t.said), "sysctl ") <
		    strstr(ml_list_text(&t.said), "link add"));
	t.failing = "sysctl mrc-a-host0: ipv6/conf/default/accept_ra";
	is_not_applied("no sysctl");
	t.failing = "sysctl mrc-a-plane0.t0-0: ipv6/conf/all/forwarding";
	is_not_applied("no sysctl");
	t.failing = "sysctl mrc-a-plane0.t0-0: ipv4/ip_forward";
	is_not_applied("no sysctl");
}

/* ---- parts ---- */

/* A switch comes back: it, its cables and the far ends, and what leads over them. */
APPLY_TEST(ml_apply, builds_one_switch_and_its_neighbours_ends)
{
	uint32_t node = node_of("plane0.t1-0");
	struct ml_port_state *before =
		__real_calloc(t.lab->t.n_links, sizeof(*before)); /* they count for nothing */

	t.todo.before = before;
	t.todo.node[node] = true;
	for (uint32_t port = 0; port < 2; port++) {
		uint32_t link = mf_link_out(&t.lab->t, node, port);

		before[link].faults = (struct mswq_faults){.blackhole = true, .slow_bits = 1};
		t.todo.port[link] = t.todo.port[mf_link_reverse(link)] = ML_DO_BUILD;
	}
	apply();
	said("ip : netns add mrc-a-plane0.t1-0\n");
	assert_u_eq(times("netns add"), 1);
	assert_u_eq(times("link add name"), 2);
	assert_u_eq(times("sysctl "), 18);
	node_is_told(node);
	assert_u_eq(times("plain "), 4);
	said("plain mrc-a-plane0.t0-0: u0");
	said("plain mrc-a-plane0.t0-1: u0");
	assert_u_eq(times("\nip mrc-a-"), 3);
	assert_u_eq(times("\ntc mrc-a-"), 3);
	free(before);
}

/* The far end of the lines of a port is its peer of now. */
APPLY_TEST(ml_apply, takes_ports_down_and_up)
{
	uint32_t link = mf_link_t0_t1(&t.lab->t, 0, 0, 0, false);
	char name[ML_NETNS_MAX];
	struct ml_list want;

	t.lab->port[link].down = true;
	t.todo.port[link] = ML_DO_DOWN;
	apply();
	assert_string_equal(ml_list_text(&t.said),
			    "ip mrc-a-plane0.t0-0: link set dev u0 down\n\n");
	forget();
	t.lab->port[link].down = false;
	t.todo.port[link] = ML_DO_UP;
	apply();
	ml_list_open(&want);
	fprintf(want.to, "ip %s: ", ml_lab_namespace(t.lab, node_of("plane0.t0-0"), name));
	ml_ip_batch_port(want.to, &t.lab->t, link, mf_link_reverse(link));
	ml_ip_batch_routes(want.to, &t.lab->t, node_of("plane0.t0-0"), carries, t.lab);
	ml_ip_batch_ipv4(want.to, &t.lab->t, node_of("plane0.t0-0"), carries, t.lab);
	fprintf(want.to, "\n");
	assert_string_equal(ml_list_text(&t.said), ml_list_text(&want));
	ml_list_close(&want);
}

APPLY_TEST(ml_apply, does_nothing_on_a_switch_that_is_off)
{
	uint32_t link = mf_link_t0_t1(&t.lab->t, 0, 0, 0, false);

	t.lab->off[node_of("plane0.t0-0")] = true;
	t.todo.port[link] = ML_DO_FAULTS;
	apply();
	assert_string_equal(ml_list_text(&t.said), "");
}

APPLY_TEST(ml_apply, changes_what_differs)
{
	uint32_t link = mf_link_t0_t1(&t.lab->t, 0, 0, 0, false);
	struct ml_port_state *before = __real_calloc(t.lab->t.n_links, sizeof(*before));
	struct ml_list want;

	t.todo.before = before;
	t.todo.port[link] = ML_DO_FAULTS;
	t.lab->port[link].faults.loss_ppm = 5000;
	apply();
	ml_list_open(&want);
	fprintf(want.to, "tc mrc-a-plane0.t0-0: ");
	ml_ip_batch_classic_filter(want.to, "u0", false, &before[link], &t.lab->port[link]);
	fprintf(want.to, "\n");
	assert_string_equal(ml_list_text(&t.said), ml_list_text(&want));
	ml_list_close(&want);
	assert_u_eq(t.polls, 0);
	forget();
	t.todo.port[link] = ML_DO_FAULTS;
	t.lab->swq = (struct mswq *)t.lab; /* any */
	t.lab->port[link].faults.slow_bits = 5000;
	apply();
	assert_u_eq(times("\n"), 3);
	said("tc mrc-a-plane0.t0-0: htb ");
	said(" u0 changed\n\nprogram : ");
	said(" changed\n");
	free(before);
}

/* ---- switch programs ---- */

APPLY_TEST(ml_apply, attaches_the_program_to_what_is_new)
{
	struct ml_port_state *before = __real_calloc(t.lab->t.n_links, sizeof(*before));
	uint32_t node = node_of("plane0.t1-0");

	t.lab->swq = (struct mswq *)t.lab; /* any */
	t.todo.before = before;
	for (uint32_t port = 0; port < 2; port++)
		t.todo.port[mf_link_out(&t.lab->t, node, port)] = ML_DO_BUILD;
	t.todo.port[0] = ML_DO_FAULTS;
	apply();
	assert_u_eq(times("netns :"), 2);
	assert_u_eq(times(" attached\n"), 2);
	said("program : 0 changed\n");
	assert_u_eq(times("program"), 3);
	forget();
	all_is_new();
	apply();
	assert_u_eq(times("netns :"), t.lab->t.n_links);
	assert_u_eq(times(" attached\n"), t.lab->t.n_links);
	t.failing = "netns";
	is_not_applied("no netns");
	t.failing = "program : 0";
	is_not_applied("no program");
	free(before);
}

/* ---- carriers ---- */

APPLY_TEST(ml_apply, waits_for_each_carrier)
{
	static const uint8_t kinds[] = {ML_DO_BUILD, ML_DO_UP, ML_DO_DOWN};

	t.lab->port[7].down = true;
	for (uint32_t i = 0; i < 3; i++) {
		forget();
		t.todo.port[t.lab->t.n_links - 1] = kinds[i];
		for (t.unsettled = 0; t.unsettled < t.lab->t.n_links; t.unsettled++) {
			t.polls = 0;
			t.settle_at = 3;
			apply();
			assert_u_eq(t.polls, 3);
		}
	}
	t.unsettled = 0;
	t.settle_at = 2499;
	t.polls = 0;
	apply();
	t.polls = 0;
	t.settle_at = 2500;
	is_not_applied("cables have no carrier after 5 s");
	t.failing = "counters";
	is_not_applied("no counters");
	t.failing = NULL;
	t.allocs = 1;
	is_not_applied("no memory");
}

/* Of ports that are gone it waits for none. */
APPLY_TEST(ml_apply, waits_for_no_carrier_of_a_switch_that_is_off)
{
	uint32_t node = node_of("plane0.t1-0");

	t.lab->off[node] = true;
	t.unsettled = mf_link_out(&t.lab->t, node, 1);
	t.settle_at = UINT32_MAX;
	t.todo.port[0] = ML_DO_UP;
	apply();
	t.unsettled = mf_link_reverse(t.unsettled);
	apply();
	assert_u_eq(t.polls, 0);
}

/* ---- what fails ---- */

APPLY_TEST(ml_apply, says_what_failed_and_where)
{
	static const struct {
		const char *failing, *why;
	} all[] = {
		{"ip : netns", "no ip"},
		{"mrc-a-host0", "no way"},
		{"ip : link add", "no ip"},
		{"plain mrc-a-host1: e1", "mrc-a-host1: no plain"},
		{"ip mrc-a-host2", "mrc-a-host2: no ip"},
		{"tc mrc-a-plane0.t0-0", "mrc-a-plane0.t0-0: no tc"},
	};

	all_is_new();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		t.failing = all[i].failing;
		is_not_applied(all[i].why);
	}
	memset(t.todo.node, false, t.lab->t.n_nodes);
	t.failing = "mrc-a-host0";
	is_not_applied("mrc-a-host0: no way");
}

APPLY_TEST(ml_apply, tells_its_steps_and_can_be_stopped_at_each)
{
	char why[40];

	t.todo.progress = progress;
	t.todo.context = &t;
	t.stops_at = 5;
	apply();
	assert_u_eq(t.steps, 5);
	t.steps = 0;
	for (size_t i = 0; i < 5; i++) {
		t.stops_at = i;
		snprintf(why, sizeof(why), "stopped before %s", steps[i]);
		is_not_applied(why);
	}
}

/* ---- unplugging ---- */

APPLY_TEST(ml_delete_cables, deletes_them_as_a_group)
{
	uint32_t node = node_of("plane0.t0-0"), link[3];
	struct ml_error e;

	link[0] = mf_link_out(&t.lab->t, node, 0);
	link[1] = mf_link_t0_t1(&t.lab->t, 1, 1, 1, true);
	link[2] = mf_link_out(&t.lab->t, node, 3);
	assert_i_eq(ml_delete_cables(t.lab, link, 3, &e), 0);
	said("ip mrc-a-plane0.t0-0: link set dev d0 group 77\nlink set dev u1 group 77\n"
	     "link del group 77\n\n");
	said("ip mrc-a-plane1.t1-1: link set dev d1 group 77\nlink del group 77\n\n");
	assert_u_eq(times("ip "), 2);
	t.failing = "ip mrc-a-plane1";
	assert_i_eq(ml_delete_cables(t.lab, link, 3, &e), -1);
	t.failing = "mrc-a-plane0.t0-0";
	assert_i_eq(ml_delete_cables(t.lab, link, 3, &e), -1);
	t.failing = NULL;
	forget();
	t.lab->off[node_of("plane1.t0-1")] = t.lab->off[node] = true;
	assert_i_eq(ml_delete_cables(t.lab, link, 3, &e), 0);
	assert_u_eq(times("ip "), 0);
}
