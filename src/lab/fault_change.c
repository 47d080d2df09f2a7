/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that begin and end, switches that go and come: see lab.h. A change is made to the list
 * first; the difference between what ports did and what they are to do is the work.
 */
#include "lab/lab.h"
#include "lab/lab_state.h"
#include "lab/netns.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- from one state of the ports to another ---- */

static bool same_faults(const struct mswq_faults *a, const struct mswq_faults *b)
{
	return a->blackhole == b->blackhole && a->loss_ppm == b->loss_ppm &&
	       a->corrupt_ppm == b->corrupt_ppm && a->duplicate_ppm == b->duplicate_ppm &&
	       a->reorder_ppm == b->reorder_ppm && a->slow_bits == b->slow_bits;
}

/* What is to be done, and the ports whose cables have to go first. */
static size_t compare_ports(const struct ml_lab *lab, const struct ml_port_state *before,
			    struct ml_work *todo, uint32_t *unplug)
{
	size_t n = 0;

	todo->before = before;
	for (uint32_t link = 0; link < lab->t.n_links; link++) {
		const struct ml_port_state *now = &lab->port[link], *was = &before[link];

		if (now->peer != was->peer) {
			unplug[n++] = link;
			todo->port[link] = ml_port_exists(lab, link) ? ML_DO_BUILD : 0;
			continue;
		}
		if (!ml_port_exists(lab, link))
			continue;
		if (now->down != was->down)
			todo->port[link] = now->down ? ML_DO_DOWN : ML_DO_UP;
		if (!same_faults(&now->faults, &was->faults))
			todo->port[link] |= ML_DO_FAULTS;
	}
	return n;
}

/* Cables whose ends change hands: with `before` in force, of each pair one end is enough. */
static int unplug_all(struct ml_lab *lab, struct ml_port_state *before, const uint32_t *link,
		      size_t n, struct ml_error *e)
{
	struct ml_port_state *now = lab->port;
	uint32_t *one = calloc(n ? n : 1, sizeof(*one));
	size_t ones = 0;
	int failed;

	if (!one)
		return ml_error_set(e, "no memory");
	for (size_t i = 0; i < n; i++)
		if (link[i] < before[link[i]].peer)
			one[ones++] = link[i];
	lab->port = before;
	failed = ones ? ml_delete_cables(lab, one, ones, e) : 0;
	lab->port = now;
	free(one);
	return failed;
}

static int apply_port_changes(struct ml_lab *lab, struct ml_port_state *before, struct ml_error *e)
{
	uint32_t *unplug = calloc(lab->t.n_links, sizeof(*unplug));
	struct ml_work todo;
	int failed = -1;
	size_t n;

	if (!unplug || ml_work_init(&todo, lab, e)) {
		free(unplug);
		return ml_error_set(e, "no memory");
	}
	n = compare_ports(lab, before, &todo, unplug);
	if (unplug_all(lab, before, unplug, n, e) == 0)
		failed = ml_apply(lab, &todo, e);
	ml_work_fini(&todo);
	free(unplug);
	return failed;
}

/* ---- the list ---- */

struct snapshot {
	struct mf_fault fault[ML_FAULTS_MAX];
	size_t faults;
	struct ml_port_state port[]; /* n_links */
};

static struct snapshot *take_snapshot(const struct ml_lab *lab, struct ml_error *e)
{
	size_t bytes = lab->t.n_links * sizeof(*lab->port);
	struct snapshot *s = malloc(sizeof(*s) + bytes);

	if (!s) {
		ml_error_set(e, "no memory");
		return NULL;
	}
	memcpy(s->fault, lab->fault, sizeof(s->fault));
	s->faults = lab->faults;
	memcpy(s->port, lab->port, bytes);
	return s;
}

/* The list is changed already; makes it so, or restores everything. */
static int commit_or_roll_back(struct ml_lab *lab, struct snapshot *before, struct ml_error *e)
{
	struct ml_error ignored;

	ml_faults_apply(&lab->t, lab->fault, lab->faults, lab->port);
	if (apply_port_changes(lab, before->port, e) == 0 && ml_state_write(lab, e) == 0)
		return 0;
	memcpy(lab->fault, before->fault, sizeof(lab->fault));
	lab->faults = before->faults;
	for (uint32_t link = 0; link < lab->t.n_links; link++) {
		struct ml_port_state tried = lab->port[link];

		lab->port[link] = before->port[link];
		before->port[link] = tried;
	}
	apply_port_changes(lab, before->port, &ignored);
	return -1;
}

static int check_means(const struct ml_lab *lab, const struct mf_fault *f, struct ml_error *e)
{
	if (ml_fault_needs_bpf(f->kind) && !lab->program)
		return ml_error_set(e,
				    "%s: needs the switch program, which lab %s is without: %.200s",
				    mf_fault_name(f->kind), lab->name, lab->no_program);
	if (f->kind == MF_FAULT_SLOW && !lab->pace_bps)
		return ml_error_set(e, "slow: lab %s is not shaped (it was made with a pace of 0)",
				    lab->name);
	return 0;
}

static int add_fault(struct ml_lab *lab, const struct mf_fault *fault, struct ml_error *e)
{
	struct snapshot *before;
	size_t i = 0;
	int failed;

	while (i < lab->faults && !ml_fault_same_target(&lab->fault[i], fault))
		i++;
	if (i == ML_FAULTS_MAX)
		return ml_error_set(e, "%u faults are in force, no more fit", ML_FAULTS_MAX);
	before = take_snapshot(lab, e);
	if (!before)
		return -1;
	lab->fault[i] = *fault;
	if (i == lab->faults)
		lab->faults++;
	failed = commit_or_roll_back(lab, before, e);
	free(before);
	return failed;
}

static bool fault_matches(const struct mf_fault *f, const char *target, enum mf_fault_kind kind)
{
	return (!target || strcmp(f->target, target) == 0) &&
	       (kind == MF_FAULT_KINDS || f->kind == kind);
}

static int remove_fault(struct ml_lab *lab, const char *target, enum mf_fault_kind kind,
			struct ml_error *e)
{
	struct snapshot *before = take_snapshot(lab, e);
	size_t kept = 0;
	int n;

	if (!before)
		return -1;
	for (size_t i = 0; i < before->faults; i++)
		if (!fault_matches(&before->fault[i], target, kind))
			lab->fault[kept++] = before->fault[i];
	n = (int)(before->faults - kept);
	lab->faults = kept;
	if (n && commit_or_roll_back(lab, before, e))
		n = -1;
	free(before);
	return n;
}

/* ---- with the lock ---- */

static int begin_change(struct ml_lab *lab, struct ml_error *e)
{
	int lock = ml_state_lock(e);

	if (lock >= 0 && ml_state_reload(lab, e)) {
		close(lock);
		lock = -1;
	}
	return lock;
}

int ml_lab_add_fault(struct ml_lab *lab, const struct mf_fault *fault, struct ml_error *e)
{
	uint32_t node;
	int lock, failed;

	if (fault->kind == MF_FAULT_REBOOT)
		return ml_node_find(&lab->t, fault->target, &node, e) ||
				       ml_lab_set_switch(lab, node, false, e)
			       ? -1
			       : 0;
	if (check_means(lab, fault, e))
		return -1;
	lock = begin_change(lab, e);
	if (lock < 0)
		return -1;
	failed = add_fault(lab, fault, e);
	close(lock);
	return failed;
}

/* Switches that are off come back; how many, or -1. */
static int lift_reboots(struct ml_lab *lab, const char *target, struct ml_error *e)
{
	char name[MF_NODE_NAME_BYTES];
	int n = 0;

	for (uint32_t node = lab->t.n_hosts; node < lab->t.n_nodes; node++) {
		if (!lab->off[node])
			continue;
		mf_node_name(&lab->t, node, name);
		if (target && strcmp(target, name) != 0)
			continue;
		if (ml_lab_set_switch(lab, node, true, e))
			return -1;
		n++;
	}
	return n;
}

int ml_lab_clear_fault(struct ml_lab *lab, const char *target, enum mf_fault_kind kind,
		       struct ml_error *e)
{
	int lock = begin_change(lab, e), n, back = 0;

	if (lock < 0)
		return -1;
	n = kind == MF_FAULT_REBOOT ? 0 : remove_fault(lab, target, kind, e);
	close(lock);
	if (n >= 0 && (kind == MF_FAULT_REBOOT || kind == MF_FAULT_KINDS))
		back = lift_reboots(lab, target, e);
	return n < 0 || back < 0 ? -1 : n + back;
}

const struct mf_fault *ml_lab_faults(const struct ml_lab *lab, size_t *n)
{
	*n = lab->faults;
	return lab->fault;
}

const struct ml_port_state *ml_lab_port(const struct ml_lab *lab, uint32_t link)
{
	return &lab->port[link];
}

/* ---- switches off and on ---- */

static int check_switch(const struct ml_lab *lab, uint32_t node, bool off, struct ml_error *e)
{
	char name[MF_NODE_NAME_BYTES];

	mf_node_name(&lab->t, node, name);
	if (mf_node_at(&lab->t, node).tier == MF_HOST)
		return ml_error_set(e, "%s: only switches can be switched off", name);
	if (lab->off[node] == off)
		return ml_error_set(e, "%s is %s already", name, off ? "off" : "on");
	return 0;
}

static size_t links_of(const struct ml_lab *lab, uint32_t node, uint32_t *link)
{
	uint32_t n = mf_node_ports(&lab->t, mf_node_at(&lab->t, node).tier);

	for (uint32_t port = 0; port < n; port++)
		link[port] = mf_link_out(&lab->t, node, port);
	return n;
}

/*
 * The cables first, by hand: the kernel takes its time over the ports of a namespace that has gone,
 * and until then the neighbours' ends would be in the way of new ones.
 */
static int switch_off(struct ml_lab *lab, uint32_t node, uint32_t *link, struct ml_error *e)
{
	char name[ML_NETNS_MAX];
	const char *del[] = {"ip", "netns", "del", ml_lab_namespace(lab, node, name), NULL};

	if (ml_delete_cables(lab, link, links_of(lab, node, link), e) || ml_proc_run(del, e))
		return -1;
	lab->off[node] = true;
	return ml_state_write(lab, e);
}

static int switch_on(struct ml_lab *lab, uint32_t node, uint32_t *link, struct ml_error *e)
{
	size_t n = links_of(lab, node, link);
	struct ml_work todo;
	int failed;

	if (ml_work_init(&todo, lab, e))
		return -1;
	lab->off[node] = false;
	todo.node[node] = true;
	for (size_t i = 0; i < n; i++)
		if (ml_port_exists(lab, link[i])) {
			todo.port[link[i]] = ML_DO_BUILD;
			todo.port[lab->port[link[i]].peer] = ML_DO_BUILD;
		}
	failed = ml_apply(lab, &todo, e) || ml_state_write(lab, e);
	ml_work_fini(&todo);
	return failed ? -1 : 0;
}

int ml_lab_set_switch(struct ml_lab *lab, uint32_t node, bool on, struct ml_error *e)
{
	uint32_t *link = calloc(lab->t.n_links, sizeof(*link));
	int lock = begin_change(lab, e), failed = -1;

	if (!link)
		ml_error_set(e, "no memory");
	else if (lock >= 0 && check_switch(lab, node, !on, e) == 0)
		failed = on ? switch_on(lab, node, link, e) : switch_off(lab, node, link, e);
	if (lock >= 0)
		close(lock);
	free(link);
	return failed;
}
