/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_device.c - openings of the NIC and what the device is. Openings share the NIC of the process;
 * each has asynchronous events of its own.
 *
 * The first opening makes the NIC and the last one ends it, both under the lock of the process's
 * table. That is held for the milliseconds that sockets and the thread take, so that two threads
 * that open the device at once get one NIC, and a third that closes it meanwhile does not take it
 * away.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/platform/platform.h"
#include "host/stats/stats.h"
#include "host/verbs/verbs.h"

/* ENODEV is no fault of the configuration: it ends the list of devices, so nothing is logged. */
static int device_read_env(uint32_t i, struct mh_env *env)
{
	int cancel_state = mh_cancel_disable(); /* callers hold locks of their own */
	struct mh_env_error error;
	int err;

	mh_fork_watch();
	err = mh_env_read(env, i, &error);
	mh_log_configure(env->log_level, env->log_format);
	if (env->ignored[0])
		mh_log_once(MRC_LOG_WARNING, env->ignored);
	if (err && err != ENODEV)
		mh_log_once(MRC_LOG_ERROR, error.text);
	mh_cancel_restore(cancel_state);
	return err;
}

int mh_device_probe(uint32_t i, struct mh_device_attr *attr)
{
	struct mh_env env;
	int err = device_read_env(i, &env);

	if (!err)
		mh_nic_fill_attr(&env, attr);
	return err;
}

int mh_real_ibverbs(char path[MH_REAL_IBVERBS_BYTES])
{
	struct mh_env env;
	int err = device_read_env(0, &env);

	_Static_assert(sizeof(env.real_ibverbs) == MH_REAL_IBVERBS_BYTES, "room for the path");
	if (!err)
		memcpy(path, env.real_ibverbs, sizeof(env.real_ibverbs));
	return err;
}

/* device_log_opened says what has been opened, and by what its peers know it. */
static void device_log_opened(const struct mh_nic *nic)
{
	char text[MH_ADDR_TEXT_MAX], udp[8 * MH_SHARDS_MAX] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < nic->n_shards; i++) {
		const struct mh_ports *ports = &nic->shard[i]->ports;

		at += (size_t)snprintf(udp + at, sizeof(udp) - at, " %u",
				       mh_ports_udp_of_slot(ports, ports->slot));
	}
	mh_log(MRC_LOG_INFO, "%s is open: %s, %u ports, UDP port%s%s, %u EVs a port",
	       nic->attr.name, mh_addr_text(nic->attr.gid.b, text), nic->ports.n,
	       nic->n_shards > 1 ? "s" : "", udp, nic->env.evs);
}

/* device_make_nic makes NIC `i` from the configuration as it is now. Under p->lock. */
static int device_make_nic(struct mh_process *p, uint32_t i)
{
	struct mh_env_error env_error;
	struct mio_error error;
	struct mh_env env;
	int err = mh_env_read(&env, i, &env_error);

	mh_log_configure(env.log_level, env.log_format);
	if (env.ignored[0])
		mh_process_log_once(p, MRC_LOG_WARNING, env.ignored);
	if (err) {
		mh_process_log_once(p, MRC_LOG_ERROR, env_error.text);
		return err;
	}
	err = mh_nic_create(&env, &p->of[i].nic, &error);
	if (err)
		mh_process_log_once(p, MRC_LOG_ERROR, error.text);
	else
		device_log_opened(p->of[i].nic);
	return err;
}

/* device_acquire_nic returns the NIC of device `i`, which the first opening makes. */
static int device_acquire_nic(uint32_t i, struct mh_nic **nic)
{
	struct mh_process *p = mh_process();
	int err = 0;

	if (i >= MH_DEVICES_MAX)
		return ENODEV;
	mh_process_lock(p);
	if (!p->of[i].nic)
		err = device_make_nic(p, i);
	if (!err) {
		p->of[i].users++;
		*nic = p->of[i].nic;
	}
	mh_process_unlock(p);
	return err;
}

/*
 * device_release_nic ends the NIC with its last opening. The lock is held while the NIC is
 * destroyed: a thread that opens it meanwhile must find its sockets free.
 */
static void device_release_nic(struct mh_nic *nic)
{
	struct mh_process *p = mh_process();
	uint32_t i = nic->env.device;

	mh_process_lock(p);
	if (--p->of[i].users == 0) {
		mh_log(MRC_LOG_INFO, "%s is closed", nic->attr.name);
		mh_nic_destroy(nic);
		p->of[i].nic = NULL;
	}
	mh_process_unlock(p);
}

/* device_log_descriptor says that there is no descriptor, or no memory, for asynchronous events. */
static void device_log_descriptor(int err)
{
	char text[120];

	snprintf(text, sizeof(text), "the descriptor of asynchronous events: %s%s", strerror(err),
		 err == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
	mh_log_once(MRC_LOG_ERROR, text);
}

int mh_device_open(uint32_t i, void *owner, struct mh_device **dev)
{
	struct mh_device *d = calloc(1, sizeof(*d));
	int err;

	mh_fork_watch();
	if (!d)
		return ENOMEM;
	err = mh_event_open(&d->events);
	if (err) {
		device_log_descriptor(err);
		free(d);
		return err;
	}
	err = device_acquire_nic(i, &d->nic);
	if (err) {
		mh_event_close(&d->events);
		free(d);
		return err;
	}
	d->owner = owner;
	mb_link_init(&d->link);
	mb_link_init(&d->pds);
	mh_event_source_init(&d->port_down, MH_ASYNC_PORT_DOWN, d);
	mh_event_source_init(&d->port_up, MH_ASYNC_PORT_UP, d);
	mh_nic_lock(d->nic);
	mb_list_push(&d->nic->devices, &d->link);
	mh_nic_unlock(d->nic);
	*dev = d;
	return 0;
}

/*
 * The opening leaves the NIC's list first: afterwards nothing raises an event for it, and the
 * events that wait can be discarded.
 */
int mh_device_close(struct mh_device *dev)
{
	bool busy;

	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	mh_nic_lock(dev->nic);
	busy = dev->objects > 0;
	if (!busy)
		mb_link_remove(&dev->link);
	mh_nic_unlock(dev->nic);
	if (busy)
		return EBUSY;
	mh_event_discard(&dev->events, &dev->port_down);
	mh_event_discard(&dev->events, &dev->port_up);
	mh_event_close(&dev->events);
	device_release_nic(dev->nic);
	free(dev);
	return 0;
}

static void *device_find(struct mh_nic *nic, const void *owner)
{
	for (struct mb_link *l = nic->devices.next; l != &nic->devices; l = l->next) {
		struct mh_device *dev = mb_container_of(l, struct mh_device, link);

		if (dev->owner == owner)
			return dev;
	}
	return NULL;
}

struct mh_device *mh_device_find(const void *owner)
{
	mh_fork_watch();
	return mh_process_find(device_find, owner);
}

bool mh_device_is_inherited(const struct mh_device *dev)
{
	return mh_nic_is_inherited(dev->nic);
}

uint32_t mh_device_index(const struct mh_device *dev)
{
	return dev->nic->env.device;
}

/* The limits are constant, so they are read without the lock. */
void mh_device_query(const struct mh_device *dev, struct mh_device_attr *attr)
{
	*attr = dev->nic->attr;
}

int mh_device_query_plane(const struct mh_device *dev, uint32_t i, struct mh_plane_attr *attr)
{
	struct mh_nic *nic = dev->nic;

	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	if (i >= nic->ports.n)
		return EINVAL;
	memcpy(attr->addr.b, nic->ports.map.local[i], sizeof(attr->addr.b));
	attr->udp_port = mh_ports_udp_of_slot(&nic->ports, nic->ports.slot);
	attr->pace_bps = nic->env.pace_bps;
	mh_nic_lock(nic);
	attr->up = nic->ports.port[i].up;
	attr->ifindex = nic->ports.port[i].ifindex;
	mh_nic_unlock(nic);
	return 0;
}

bool mh_device_is_up(const struct mh_device *dev)
{
	bool up;

	if (mh_nic_is_inherited(dev->nic))
		return false;
	mh_nic_lock(dev->nic);
	up = mh_ports_up(&dev->nic->ports) != 0;
	mh_nic_unlock(dev->nic);
	return up;
}

/* The map of addresses is constant while the NIC lives, so no lock is taken. */
bool mh_device_can_reach(const struct mh_device *dev, const struct rd_gid *gid)
{
	return !mh_nic_is_inherited(dev->nic) && mh_addr_is_reachable(&dev->nic->ports.map, gid->b);
}
