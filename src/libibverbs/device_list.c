/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device_list.c - lists of devices: ours, and behind them the real ones of the host.
 *
 * The real library counts who has a list of it, so its list is kept with ours and freed with it.
 */
#include "libibverbs/real_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list that was handed out, and the real one in it. */
struct given {
	struct given *next;
	struct ibv_device **list, **real;
};

static struct given *given;

/* While the real library imports a device it lists devices, and only its own are right. */
static _Thread_local bool is_real_listing;

/*
 * That it cannot list any is no reason to have none of ours; ENOSYS: the kernel has no RDMA. Nobody
 * forks meanwhile: the child would find the loader in the middle of a driver's dlopen.
 */
static struct ibv_device **real_list(const struct mv_real *real, int *n)
{
	struct ibv_device **list;

	*n = 0;
	if (!real)
		return NULL;
	mv_lock(MV_LOCK_LISTS);
	list = real->ibv_get_device_list(n);
	mv_unlock(MV_LOCK_LISTS);
	if (!list && errno != ENOSYS)
		mh_log(MRC_LOG_WARNING, "real devices are not listed: %s", strerror(errno));
	mv_private_sync_drivers();
	return list;
}

/* The real kernel devices have their numbers; ours come behind. */
static uint32_t first_number(struct ibv_device *const *real, int n)
{
	uint32_t first = 0, number;

	for (int i = 0; i < n; i++)
		if (sscanf(real[i]->dev_name, "uverbs%u", &number) == 1 && number >= first)
			first = number + 1;
	return first;
}

static bool record_real_list(struct ibv_device **list, struct ibv_device **real)
{
	struct given *g = real ? calloc(1, sizeof(*g)) : NULL;

	if (!g)
		return !real;
	g->list = list;
	g->real = real;
	mv_lock(MV_LOCK_LISTS);
	g->next = given;
	given = g;
	mv_unlock(MV_LOCK_LISTS);
	return true;
}

/* Returns the real list that is in this one, NULL if there is none. */
static struct ibv_device **take_real_list(struct ibv_device **list)
{
	struct ibv_device **real = NULL;
	struct given **at = &given;

	mv_lock(MV_LOCK_LISTS);
	while (*at && (*at)->list != list)
		at = &(*at)->next;
	if (*at) {
		struct given *g = *at;

		*at = g->next;
		real = g->real;
		free(g);
	}
	mv_unlock(MV_LOCK_LISTS);
	return real;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	const struct mv_real *real = mv_real_load();
	struct ibv_device **list = NULL, **theirs;
	int n_theirs, err;
	uint32_t n;

	if (real && is_real_listing)
		return real->ibv_get_device_list(num_devices);
	if (num_devices)
		*num_devices = 0;
	theirs = real_list(real, &n_theirs);
	err = mv_device_probe(first_number(theirs, n_theirs), &n);
	if (!err)
		list = calloc(n + (size_t)n_theirs + 1, sizeof(struct ibv_device *));
	if (!err && (!list || !record_real_list(list, theirs)))
		err = ENOMEM;
	if (err) {
		free(list);
		if (theirs)
			real->ibv_free_device_list(theirs);
		return iv_null(err);
	}
	for (uint32_t i = 0; i < n; i++)
		list[i] = mv_device_nth(i);
	if (theirs)
		memcpy(list + n, theirs, (size_t)n_theirs * sizeof(*list));
	if (num_devices)
		*num_devices = (int)n + n_theirs;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	struct ibv_device **theirs;

	if (is_real_listing)
		MV_TO_REAL_VOID(mv_real(), ibv_free_device_list, (list));
	theirs = take_real_list(list);
	if (theirs)
		mv_real()->ibv_free_device_list(theirs);
	free(list);
}

/* Devices of other processes are real ones: ours are nothing that a descriptor could name. */
struct ibv_context *ibv_import_device(int cmd_fd)
{
	const struct mv_real *real = mv_real_load();
	struct ibv_context *context;

	if (!real)
		return iv_null(EOPNOTSUPP);
	is_real_listing = true;
	context = real->ibv_import_device(cmd_fd);
	is_real_listing = false;
	return context;
}
