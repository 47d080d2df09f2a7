/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_context.c - the NICs of the process, one for each device: made by the first who needs it,
 * ended by the last.
 *
 * This file holds the only mutable global of the library besides what mem_guard.c must have.
 */
#include "host/nic_context.h"

#include "host/stats_segment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mh_context {
	pthread_mutex_t lock;
	struct {
		struct mh_nic *nic;
		/* of the parent, if forked; kept for those who hold its objects */
		struct mh_nic *inherited;
		uint32_t users;
	} of[MH_DEVICES_MAX];
	char said[sizeof(struct mh_env_error)];
};

static struct mh_context *context(void)
{
	static struct mh_context the_context = {.lock = PTHREAD_MUTEX_INITIALIZER};

	return &the_context;
}

/* Programs open and list devices again and again; the same message helps once only. */
static void log_once(struct mh_context *c, const char *text)
{
	if (strncmp(c->said, text, sizeof(c->said) - 1) == 0)
		return;
	snprintf(c->said, sizeof(c->said), "%s", text);
	fprintf(stderr, "softmrc: %s\n", c->said);
}

void mh_log_once(const char *text)
{
	struct mh_context *c = context();

	pthread_mutex_lock(&c->lock);
	log_once(c, text);
	pthread_mutex_unlock(&c->lock);
}

/* The order is the same as everywhere: the context, then NICs by number. */
/*
 * Forking. All locks are held while the process forks, so that the child gets each NIC in a
 * consistent state, and gives it up: a NIC has a thread, sockets and a slot of its own, and a
 * second user of these would take packets from the parent. The child may open a NIC of its own.
 */
static void lock_all(void)
{
	struct mh_context *c = context();

	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < MH_DEVICES_MAX; i++)
		if (c->of[i].nic)
			pthread_mutex_lock(&c->of[i].nic->lock);
}

static void unlock_all(void)
{
	struct mh_context *c = context();

	for (uint32_t i = 0; i < MH_DEVICES_MAX; i++)
		if (c->of[i].nic)
			pthread_mutex_unlock(&c->of[i].nic->lock);
	pthread_mutex_unlock(&c->lock);
}

static void leave_inherited(void)
{
	struct mh_context *c = context();

	for (uint32_t i = 0; i < MH_DEVICES_MAX; i++) {
		struct mh_nic *nic = c->of[i].nic;

		if (!nic)
			continue;
		pthread_mutex_unlock(&nic->lock);
		mh_nic_close_inherited(nic);
		c->of[i].inherited = nic;
		c->of[i].nic = NULL;
		c->of[i].users = 0;
	}
	pthread_mutex_unlock(&c->lock);
}

/*
 * Many programs end with the device open. Then the statistics get their last numbers here. A lock
 * that somebody holds for long is one of a thread that was stopped in the middle: no numbers then.
 */
static void publish_final_stats(void)
{
	struct mh_context *c = context();
	struct timespec until;

	if (pthread_mutex_trylock(&c->lock))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	for (uint32_t i = 0; i < MH_DEVICES_MAX; i++) {
		struct mh_nic *nic = c->of[i].nic;

		if (nic && pthread_mutex_timedlock(&nic->lock, &until) == 0) {
			mh_segment_finish(nic);
			pthread_mutex_unlock(&nic->lock);
		}
	}
	pthread_mutex_unlock(&c->lock);
}

static void install_process_handlers(void)
{
	pthread_atfork(lock_all, unlock_all, leave_inherited);
	atexit(publish_final_stats);
}

bool mh_context_is_inherited(void)
{
	mh_log_once(
		"this process is a fork of the one that opened the device: what was opened there "
		"cannot be used here; open the device again");
	return true;
}

static int context_make(struct mh_context *c, uint32_t i)
{
	struct mh_env_error env_error;
	static pthread_once_t watching = PTHREAD_ONCE_INIT;
	struct mio_error error;
	struct mh_env env;
	int err = mh_env_read(&env, i, &env_error);

	if (err) {
		log_once(c, env_error.text);
		return err;
	}
	pthread_once(&watching, install_process_handlers);
	err = mh_nic_create(&env, &c->of[i].nic, &error);
	if (err)
		log_once(c, error.text);
	return err;
}

int mh_context_acquire(uint32_t i, struct mh_nic **nic)
{
	struct mh_context *c = context();
	int err = 0;

	if (i >= MH_DEVICES_MAX)
		return ENODEV;
	pthread_mutex_lock(&c->lock);
	if (!c->of[i].nic)
		err = context_make(c, i);
	if (!err) {
		c->of[i].users++;
		*nic = c->of[i].nic;
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

/*
 * The lock is held while the NIC is destroyed: who opens the device meanwhile must find its sockets
 * free.
 */
void mh_context_release(struct mh_nic *nic)
{
	uint32_t i = nic->env.device;
	struct mh_context *c = context();

	pthread_mutex_lock(&c->lock);
	if (--c->of[i].users == 0) {
		mh_nic_destroy(nic);
		c->of[i].nic = NULL;
	}
	pthread_mutex_unlock(&c->lock);
}

struct mh_nic *mh_context_hold_nic(uint32_t i)
{
	struct mh_context *c = context();

	pthread_mutex_lock(&c->lock);
	return c->of[i].nic;
}

void mh_context_release_hold(void)
{
	pthread_mutex_unlock(&context()->lock);
}
