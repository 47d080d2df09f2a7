/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making the lab what it should be: see lab_state.h. The order: namespaces, their defaults (before
 * any port exists, since ports inherit them), cables, then in every namespace ports, routes and
 * queues, a few namespaces at a time, last the switch programs.
 */
#include "lab/ip_batch.h"
#include "lab/lab_state.h"
#include "lab/netns.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HTB_TEXT_MAX 2048
/* Links deleted as a group wait once for the kernel, not once each. */
#define UNPLUG_GROUP 77u

int ml_work_init(struct ml_work *todo, const struct ml_lab *lab, struct ml_error *e)
{
	*todo = (struct ml_work){.port = calloc(lab->t.n_links, sizeof(*todo->port)),
				 .node = calloc(lab->t.n_nodes, sizeof(*todo->node))};
	if (todo->port && todo->node)
		return 0;
	ml_work_fini(todo);
	return ml_error_set(e, "no memory");
}

void ml_work_fini(struct ml_work *todo)
{
	free(todo->port);
	free(todo->node);
	*todo = (struct ml_work){0};
}

bool ml_port_exists(const struct ml_lab *lab, uint32_t link)
{
	return !lab->off[mf_link_from(&lab->t, link).node] &&
	       !lab->off[mf_link_from(&lab->t, lab->port[link].peer).node];
}

uint64_t ml_link_rate(const struct ml_lab *lab, uint32_t link)
{
	const struct mf_link_cfg *links = lab->t.cfg.links;

	/* Pacing is per host port; a link twice as fast as a host's is so here as well. */
	return (uint64_t)(2.0 * (double)lab->pace_bps * (double)mf_link_bit_s(&lab->t, link) /
			  (double)links[MF_HOST_T0].bit_s);
}

char *ml_lab_namespace(const struct ml_lab *lab, uint32_t node, char *out)
{
	char name[MF_NODE_NAME_BYTES];

	mf_node_name(&lab->t, node, name);
	snprintf(out, ML_NETNS_MAX, "%s%s", lab->prefix, name);
	return out;
}

/* ---- the steps ---- */

struct work {
	struct ml_lab *lab;
	const struct ml_work *todo;
};

static int add_namespaces(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	char name[ML_NETNS_MAX];
	struct ml_list list;
	int failed;

	ml_list_open(&list);
	for (uint32_t node = 0; node < lab->t.n_nodes; node++)
		if (todo->node[node])
			fprintf(list.to, "netns add %s\n", ml_lab_namespace(lab, node, name));
	failed = ml_proc_batch("ip", ml_list_text(&list), false, e);
	ml_list_close(&list);
	return failed;
}

/* Nothing is discovered, advertised or checked for duplicates; what is not static does not
 * exist. */
static const char *const defaults[][2] = {
	{"ipv6/conf/default/disable_ipv6", "0"},
	{"ipv6/conf/default/addr_gen_mode", "1"},
	{"ipv6/conf/default/accept_ra", "0"},
	{"ipv6/conf/default/accept_dad", "0"},
	{"ipv6/conf/default/dad_transmits", "0"},
	{"ipv6/conf/default/router_solicitations", "0"},
	{"ipv6/conf/all/seg6_enabled", "1"},
	{"ipv6/conf/default/seg6_enabled", "1"},
	/* A switch does not send into a port without carrier; ECMP goes over what is left. */
	{"ipv6/conf/all/ignore_routes_with_linkdown", "1"},
	{"ipv6/conf/default/ignore_routes_with_linkdown", "1"},
	{"ipv6/fib_multipath_hash_policy", "1"}, /* addresses and ports, as switches do */
	/* The same for IPv4, whose defaults are the machine's own. */
	{"ipv4/conf/all/ignore_routes_with_linkdown", "1"},
	{"ipv4/conf/default/ignore_routes_with_linkdown", "1"},
	{"ipv4/conf/all/rp_filter", "0"},
	{"ipv4/conf/default/rp_filter", "0"},
	{"ipv4/fib_multipath_hash_policy", "1"},
};

static int set_defaults(void *context, size_t node, struct ml_error *e)
{
	const struct work *w = context;
	char name[ML_NETNS_MAX];

	if (!w->todo->node[node])
		return 0;
	if (ml_netns_enter(ml_lab_namespace(w->lab, (uint32_t)node, name), e))
		return -1;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (ml_netns_sysctl(defaults[i][0], defaults[i][1], e))
			return -1;
	if (mf_node_at(&w->lab->t, (uint32_t)node).tier == MF_HOST)
		return 0;
	return ml_netns_sysctl("ipv6/conf/all/forwarding", "1", e) ||
			       ml_netns_sysctl("ipv4/ip_forward", "1", e)
		       ? -1
		       : 0;
}

static int add_cables(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	struct ml_list list;
	int failed;

	ml_list_open(&list);
	for (uint32_t link = 0; link < lab->t.n_links; link++) {
		uint32_t peer = lab->port[link].peer;

		if (todo->port[link] & ML_DO_BUILD && link < peer)
			ml_ip_batch_cable(list.to, &lab->t, lab->prefix, link, peer);
	}
	failed = ml_proc_batch("ip", ml_list_text(&list), false, e);
	ml_list_close(&list);
	return failed;
}

/* Routes that lead over a port that does not exist or is down would be refused. */
static bool port_has_carrier(const struct ml_lab *lab, uint32_t link)
{
	return ml_port_exists(lab, link) && !lab->port[link].down;
}

static void port_ip_lines(const struct work *w, uint32_t link, const char *name, FILE *to)
{
	const struct ml_port_state *now = &w->lab->port[link];
	unsigned what = w->todo->port[link];

	if (what & (ML_DO_BUILD | ML_DO_UP) && !now->down)
		ml_ip_batch_port(to, &w->lab->t, link, now->peer);
	else if (what & ML_DO_DOWN)
		fprintf(to, "link set dev %s down\n", name);
}

static void port_tc_lines(const struct work *w, uint32_t link, const char *name, FILE *to)
{
	const struct ml_lab *lab = w->lab;
	const struct ml_port_state *before, *now = &lab->port[link];
	bool build = w->todo->port[link] & ML_DO_BUILD;
	char text[HTB_TEXT_MAX];

	if (!build && !(w->todo->port[link] & ML_DO_FAULTS))
		return;
	before = build ? NULL : &w->todo->before[link];
	if (build || before->faults.slow_bits != now->faults.slow_bits) {
		ml_program_htb(lab, link, name, build, text, sizeof(text));
		fputs(text, to);
	}
	if (!lab->swq)
		ml_ip_batch_classic_filter(
			to, name, mf_link_from(&lab->t, link).node < lab->t.n_hosts, before, now);
}

/* In the namespace of the node: changes its ports, and writes the lines for the rest. */
static int change_ports(const struct work *w, uint32_t node, FILE *ip, FILE *tc, struct ml_error *e)
{
	const struct mf_topology *t = &w->lab->t;
	uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier);
	bool reroute = w->todo->node[node];
	char name[MF_PORT_NAME_BYTES];

	if (w->todo->node[node])
		ml_ip_batch_node(ip, t, node, w->lab->sid_device);
	for (uint32_t port = 0; port < ports; port++) {
		uint32_t link = mf_link_out(t, node, port);
		unsigned what = w->todo->port[link];

		mf_port_name(t, node, port, name);
		if (what & ML_DO_BUILD && ml_netns_plain_port(name, e))
			return -1;
		reroute = reroute || what & (ML_DO_BUILD | ML_DO_UP);
		port_ip_lines(w, link, name, ip);
		port_tc_lines(w, link, name, tc);
	}
	if (reroute) {
		ml_ip_batch_routes(ip, t, node, port_has_carrier, w->lab);
		ml_ip_batch_ipv4(ip, t, node, port_has_carrier, w->lab);
	}
	return 0;
}

static bool is_node_affected(const struct work *w, uint32_t node)
{
	const struct mf_topology *t = &w->lab->t;
	uint32_t ports = mf_node_ports(t, mf_node_at(t, node).tier);

	if (w->lab->off[node])
		return false;
	for (uint32_t port = 0; port < ports; port++)
		if (w->todo->port[mf_link_out(t, node, port)])
			return true;
	return w->todo->node[node];
}

static int do_node(void *context, size_t item, struct ml_error *e)
{
	const struct work *w = context;
	uint32_t node = (uint32_t)item;
	char name[ML_NETNS_MAX];
	struct ml_list ip, tc;
	int failed;

	if (!is_node_affected(w, node))
		return 0;
	ml_lab_namespace(w->lab, node, name);
	ml_list_open(&ip);
	ml_list_open(&tc);
	failed = ml_netns_enter(name, e) || change_ports(w, node, ip.to, tc.to, e) ||
		 ml_proc_batch("ip", ml_list_text(&ip), false, e) ||
		 ml_proc_batch("tc", ml_list_text(&tc), false, e);
	ml_list_close(&tc);
	ml_list_close(&ip);
	if (failed) {
		struct ml_error why = *e;

		ml_error_set(e, "%s: %.500s", name, why.text);
	}
	return failed ? -1 : 0;
}

static int load_switch_program(struct ml_lab *lab, uint32_t link, bool build, struct ml_error *e)
{
	int netns = build ? ml_lab_netns(lab, mf_link_from(&lab->t, link).node, e) : -1;
	int failed = build && netns < 0 ? -1 : ml_program_port(lab, link, netns, e);

	if (netns >= 0)
		close(netns);
	return failed;
}

static int load_switch_programs(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	for (uint32_t link = 0; lab->swq && link < lab->t.n_links; link++)
		if (todo->port[link] & (ML_DO_BUILD | ML_DO_FAULTS) &&
		    load_switch_program(lab, link, todo->port[link] & ML_DO_BUILD, e))
			return -1;
	return 0;
}

/* ---- carriers ---- */

/*
 * The kernel tells the far end of a cable about its carrier, and routes about both, from a work
 * queue: some milliseconds later, on a busy machine more. A change is complete only then.
 */
#define CARRIERS_MS 5000
#define CARRIERS_STEP_MS 2

static bool counters_are_settled(const struct ml_lab *lab, const struct ml_counters *c)
{
	for (uint32_t link = 0; link < lab->t.n_links; link++) {
		const struct ml_port_state *s = &lab->port[link];

		if (ml_port_exists(lab, link) &&
		    c[link].carrier != (!s->down && !lab->port[s->peer].down))
			return false;
	}
	return true;
}

static int wait_for_carriers(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	struct ml_counters *c;
	unsigned any = 0;
	int failed = 0;
	bool done = false;

	for (uint32_t link = 0; link < lab->t.n_links; link++)
		any |= todo->port[link];
	if (!(any & (ML_DO_BUILD | ML_DO_UP | ML_DO_DOWN)))
		return 0;
	c = calloc(lab->t.n_links, sizeof(*c));
	if (!c)
		return ml_error_set(e, "no memory");
	for (int waited = 0; waited < CARRIERS_MS; waited += CARRIERS_STEP_MS) {
		failed = ml_counters_kernel(lab, c, e);
		done = !failed && counters_are_settled(lab, c);
		if (failed || done)
			break;
		poll(NULL, 0, CARRIERS_STEP_MS);
	}
	free(c);
	if (!failed && !done)
		return ml_error_set(e, "cables have no carrier after %d s", CARRIERS_MS / 1000);
	return failed;
}

static int report_progress(const struct ml_work *todo, const char *what, size_t done,
			   struct ml_error *e)
{
	if (!todo->progress || todo->progress(todo->context, what, done, 5) == 0)
		return 0;
	return ml_error_set(e, "stopped before %s", what);
}

int ml_apply(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e)
{
	struct work w = {lab, todo};
	size_t nodes = lab->t.n_nodes;

	if (report_progress(todo, "namespaces", 0, e) || add_namespaces(lab, todo, e) ||
	    ml_threads_run(nodes, set_defaults, &w, e) || report_progress(todo, "cables", 1, e) ||
	    add_cables(lab, todo, e) || report_progress(todo, "ports and routes", 2, e) ||
	    ml_threads_run(nodes, do_node, &w, e) ||
	    report_progress(todo, "switch programs", 3, e) || load_switch_programs(lab, todo, e) ||
	    wait_for_carriers(lab, todo, e))
		return -1;
	return report_progress(todo, "the rest", 4, e);
}

/* ---- unplugging ---- */

struct unplugging {
	struct ml_lab *lab;
	const uint32_t *link;
	size_t n;
};

static int delete_node_cables(void *context, size_t node, struct ml_error *e)
{
	const struct unplugging *u = context;
	const struct mf_topology *t = &u->lab->t;
	char name[ML_NETNS_MAX], port[MF_PORT_NAME_BYTES];
	struct ml_list list;
	int failed = 0;
	size_t any = 0;

	ml_list_open(&list);
	for (size_t i = 0; i < u->n; i++) {
		struct mf_end end = mf_link_from(t, u->link[i]);

		if (end.node != node || !ml_port_exists(u->lab, u->link[i]))
			continue;
		mf_port_name(t, end.node, end.port, port);
		fprintf(list.to, "link set dev %s group %u\n", port, UNPLUG_GROUP);
		any++;
	}
	fprintf(list.to, "link del group %u\n", UNPLUG_GROUP);
	if (any)
		failed = ml_netns_enter(ml_lab_namespace(u->lab, (uint32_t)node, name), e) ||
			 ml_proc_batch("ip", ml_list_text(&list), false, e);
	ml_list_close(&list);
	return failed ? -1 : 0;
}

int ml_delete_cables(struct ml_lab *lab, const uint32_t *link, size_t n, struct ml_error *e)
{
	struct unplugging u = {lab, link, n};

	return ml_threads_run(lab->t.n_nodes, delete_node_cables, &u, e);
}
