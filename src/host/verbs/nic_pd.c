/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_pd.c - protection domains: a number that MRs and QPs must share. The engine compares the
 * numbers; objects are counted here, so that a PD in use is not destroyed.
 */
#include <errno.h>
#include <stdlib.h>

#include "host/verbs/verbs.h"

/*
 * Numbers are never used again: 2^32 PDs are more than a process makes, and an old MR must not
 * match a new PD.
 */
int mh_pd_create(struct mh_device *dev, void *owner, struct mh_pd **pd)
{
	struct mh_pd *p;

	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	p = calloc(1, sizeof(*p));
	if (!p)
		return ENOMEM;
	p->dev = dev;
	p->owner = owner;
	mb_link_init(&p->link);
	mh_nic_lock(dev->nic);
	p->number = dev->nic->next_pd++;
	dev->objects++;
	mb_list_push(&dev->pds, &p->link);
	mh_nic_unlock(dev->nic);
	*pd = p;
	return 0;
}

int mh_pd_destroy(struct mh_pd *pd)
{
	bool busy;

	if (mh_nic_is_inherited(pd->dev->nic))
		return ENODEV;
	mh_nic_lock(pd->dev->nic);
	busy = pd->objects > 0;
	if (!busy) {
		mb_link_remove(&pd->link);
		pd->dev->objects--;
	}
	mh_nic_unlock(pd->dev->nic);
	if (busy)
		return EBUSY;
	free(pd);
	return 0;
}

/* PDs are few and looked up at setup only, so lists are enough. */
static void *pd_find(struct mh_nic *nic, const void *owner)
{
	for (struct mb_link *d = nic->devices.next; d != &nic->devices; d = d->next) {
		struct mh_device *dev = mb_container_of(d, struct mh_device, link);

		for (struct mb_link *l = dev->pds.next; l != &dev->pds; l = l->next) {
			struct mh_pd *pd = mb_container_of(l, struct mh_pd, link);

			if (pd->owner == owner)
				return pd;
		}
	}
	return NULL;
}

struct mh_pd *mh_pd_find(const void *owner)
{
	mh_fork_watch();
	return mh_process_find(pd_find, owner);
}
