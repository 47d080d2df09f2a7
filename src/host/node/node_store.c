/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_store.c - the device's store: when it is looked at, what becomes of what it says. Whatever
 * goes wrong with it, the NIC stays at work with the state that it has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "host/node/node.h"
#include "host/stats/stats.h"

/* For a folder that comes into being or is exchanged; a stat(2) and an open(2) a second. */
#define LOOK_NS UINT64_C(1000000000)
/*
 * Without inotify, of which a user has 128 instances in many kernels, a process that has QPs looks
 * so often that it can have what changed within 10 ms, as a controller expects: some 6 us each
 * time.
 */
#define LOOK_UNTOLD_NS UINT64_C(5000000)

void mh_node_store_show(struct mh_nic *nic)
{
	const struct mh_node_store *store = &nic->node->store;
	struct mrc_stats_node node = {.generation = store->info.generation,
				      .written_ns = store->info.written_ns,
				      .writer_pid = store->info.pid,
				      .writer_uid = store->info.uid};

	if (store->used) {
		snprintf(node.store, sizeof(node.store), "%s/%s", store->watch.dir,
			 store->watch.name);
		snprintf(node.refused, sizeof(node.refused), "%.199s", store->refused.text);
		snprintf(node.writer, sizeof(node.writer), "%s", store->info.by);
	}
	mh_segment_node(nic->segment, &node);
}

/* What the watch has refused, or does no longer. */
static void show_refused(struct mh_nic *nic, uint64_t more)
{
	mh_nic_lock(nic);
	nic->counts.node_refused += more;
	nic->node->store.refused = nic->node->store.watch.refused;
	mh_node_store_show(nic);
	mh_nic_unlock(nic);
}

static void say_refused(struct mh_nic *nic, const char *why)
{
	show_refused(nic, 1);
	mh_log(MRC_LOG_WARNING, "%s: %s; the device goes on as before", nic->attr.name, why);
}

/* Others may be wrong about what this NIC can do; what it can, it does. REQ(ctl.node-state) */
void mh_node_store_take(struct mh_nic *nic, uint64_t now_ns, bool *ports_changed)
{
	struct mh_node_store *store = &nic->node->store;
	int err;

	/* It was read before a change of ours came into the store, which is to be read next. */
	if (store->own > store->read_info.generation) {
		store->own = 0;
		store->looked_ns = 0;
		return;
	}
	store->own = 0;
	store->info = store->read_info;
	store->refused.text[0] = '\0';
	mn_state_copy(&nic->node->next, &store->read);
	err = mh_node_apply(nic, now_ns > nic->engine_ns ? now_ns : nic->engine_ns, ports_changed);
	nic->counts.node_states++;
	mh_node_store_show(nic);
	mh_log(MRC_LOG_INFO, "%s: takes state %" PRIu64 " of %s, of %s", nic->attr.name,
	       store->info.generation, store->watch.dir, store->info.by);
	if (err)
		mh_log(MRC_LOG_WARNING, "%s: state %" PRIu64 " of %s is only in part in force: %s",
		       nic->attr.name, store->info.generation, store->watch.dir,
		       err == ENOMEM ? "no memory"
				     : "a profile has numbers that fit no such device");
}

int mh_node_store_own(struct mh_nic *nic, const struct store_info *info, uint64_t now_ns,
		      bool *ports_changed)
{
	struct mh_node_store *store = &nic->node->store;

	if (store->info.generation >= info->generation)
		return 0;
	store->info = *info;
	store->own = info->generation;
	nic->counts.node_states++;
	mh_node_store_show(nic);
	return mh_node_apply(nic, now_ns, ports_changed);
}

bool mh_node_store_look(struct mh_nic *nic, uint64_t now_ns)
{
	struct mh_node_store *store = &nic->node->store;
	struct store_error why;
	bool refused = store->watch.refused.text[0];
	int err = store_watch_look(&store->watch, &store->read, &store->read_info, &why);

	store->looked_ns = now_ns;
	if (err && err != EAGAIN)
		say_refused(nic, why.text);
	else if (err && refused && !store->watch.refused.text[0])
		show_refused(nic, 0);
	return err == 0;
}

void mh_node_store_open(struct mh_nic *nic, uint64_t now_ns)
{
	struct mh_node_store *store = &nic->node->store;
	struct store_error why;
	bool ports_changed = false;

	if (!nic->env.node_dir[0])
		return;
	if (store_watch_open(&store->watch, nic->env.node_dir, nic->attr.name, &why)) {
		say_refused(nic, why.text);
		return;
	}
	store->used = true;
	if (mh_node_store_look(nic, now_ns))
		mh_node_store_take(nic, now_ns, &ports_changed);
	/* Who connects is told of ports that are down. REQ(ctl.port-admin) */
	if (ports_changed)
		mh_engine_report_ports(nic, now_ns);
}

void mh_node_store_close(struct mh_nic *nic)
{
	if (!nic->node->store.used)
		return;
	store_watch_close(&nic->node->store.watch);
	nic->node->store.used = false;
}

int mh_node_store_fd(const struct mh_nic *nic)
{
	return nic->node->store.used ? nic->node->store.watch.fd : -1;
}

uint64_t mh_node_store_due(const struct mh_nic *nic)
{
	const struct mh_node_store *store = &nic->node->store;

	if (!store->used)
		return UINT64_MAX;
	if (store->followed && !store_watch_hears(&store->watch))
		return store->looked_ns + LOOK_UNTOLD_NS;
	return store->looked_ns + LOOK_NS;
}
