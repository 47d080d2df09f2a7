/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.c - what a process has once: the table of its NICs, one for each device, and what was
 * said last.
 *
 * This file holds the only mutable global of host besides what mem_guard.c must have, and the log's
 * sink. It
 * calls nothing else of host, so that any file may log and look NICs up.
 */
#include "host/state/nic_context.h"

#include <stdio.h>
#include <string.h>

struct mh_process *mh_process(void)
{
	static struct mh_process the_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

	return &the_process;
}

/* Programs open and list devices again and again; the same message helps once only. */
void mh_process_log_once(struct mh_process *p, enum mrc_log_level level, const char *text)
{
	if (strncmp(p->said, text, sizeof(p->said) - 1) == 0)
		return;
	snprintf(p->said, sizeof(p->said), "%s", text);
	mh_log(level, "%s", p->said);
}

void mh_log_once(enum mrc_log_level level, const char *text)
{
	struct mh_process *p = mh_process();

	mh_process_lock(p);
	mh_process_log_once(p, level, text);
	mh_process_unlock(p);
}

/* Once is enough: a child that polls would say it millions of times. */
bool mh_log_inherited(void)
{
	mh_log_once(
		MRC_LOG_ERROR,
		"this process is a fork of the one that opened the device: what was opened there "
		"cannot be used here; open the device again");
	return true;
}

/* Without SRv6 every address of the family has a next hop, and there is nothing to say. */
void mh_log_unreachable(const struct mh_nic *nic, const uint8_t gid[16])
{
	char text[MH_ADDR_TEXT_MAX], line[200];

	if (!mh_env_is_srv6(&nic->env))
		return;
	snprintf(line, sizeof(line),
		 "no SRv6 path leads to %s: none of the rows (MRC_SRV6_ROWS, srv6.rows) holds it",
		 mh_addr_text(gid, text));
	mh_log_once(MRC_LOG_ERROR, line);
}

/*
 * The table's lock keeps a NIC from being destroyed while its lists are read, and it is taken
 * before the NIC's own, as everywhere.
 */
void *mh_process_find(void *(*find)(struct mh_nic *nic, const void *owner), const void *owner)
{
	struct mh_process *p = mh_process();
	void *found = NULL;

	mh_process_lock(p);
	for (uint32_t i = 0; i < MH_DEVICES_MAX && !found; i++) {
		struct mh_nic *nic = p->of[i].nic;

		if (!nic)
			continue;
		mh_nic_lock(nic);
		found = find(nic, owner);
		mh_nic_unlock(nic);
	}
	mh_process_unlock(p);
	return found;
}
