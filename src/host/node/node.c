/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c - the state that a NIC goes by, and what follows when it changes. */
#include "host/node/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "host/node/profiles.h"
#include "host/state/shards.h"
#include "host/stats/stats.h"

int mh_node_create(struct mh_nic *nic)
{
	nic->node = calloc(1, sizeof(*nic->node));
	if (!nic->node)
		return ENOMEM;
	mn_state_init(&nic->node->now);
	return 0;
}

void mh_node_destroy(struct mh_nic *nic)
{
	free(nic->node);
	nic->node = NULL;
}

static void count_in_use(const struct mh_nic *nic, struct mn_device *d)
{
	for (struct mb_link *l = nic->qps.next; l != &nic->qps; l = l->next) {
		const struct mh_qp *qp = mb_container_of(l, struct mh_qp, link);

		if (qp->mt)
			mh_qp_add_profiles(qp, &d->ev_in_use, &d->cc_in_use);
	}
}

void mh_node_device(struct mh_nic *nic, struct mn_device *d)
{
	*d = (struct mn_device){
		.n_ports = nic->env.n_ports,
		.formats = nic->env.ev_format == MW_EV_STEV ? MN_FORMAT_STEV : MN_FORMAT_UDP,
		.n_evs = nic->attr.evs,
		.user = geteuid(),
	};
	mh_shards_lock_others(nic);
	for (uint32_t i = 0; i < nic->n_shards; i++)
		count_in_use(nic->shard[i], d);
	mh_shards_unlock_others(nic);
}

/* REQ(ctl.port-admin) */
static bool apply_ports(struct mh_nic *nic, uint64_t now_ns)
{
	bool another = false;

	for (uint32_t i = 0; i < nic->ports.n; i++) {
		another |= nic->ports.port[i].admin != nic->node->next.port_admin[i];
		nic->ports.port[i].admin = nic->node->next.port_admin[i];
	}
	return another && mh_ports_update_links(&nic->ports, &nic->env, now_ns);
}

/* A state is compared as bytes, numbers with a point too: it has none between its fields. */
static bool is_same(const void *a, const void *b, size_t bytes)
{
	return memcmp(a, b, bytes) == 0;
}

/* What does not fit in a state that others made, and is left, is no fault of a change. */
int mh_node_check(struct mh_nic *nic)
{
	for (uint32_t id = 1; id < MN_CC_PROFILES; id++) {
		const struct mn_cc_profile *p = &nic->node->next.cc[id];
		struct mt_cc_profile_cfg cfg;
		struct mt_range_error error;

		if (p->state != MN_ONLINE || is_same(p, &nic->node->now.cc[id], sizeof(*p)))
			continue;
		mh_cc_profile_cfg(nic, p, &cfg);
		if (!mt_cc_profile_check(&cfg, &error))
			return EINVAL;
	}
	return 0;
}

static int apply_cc(struct mh_nic *nic, uint32_t id)
{
	const struct mn_cc_profile *was = &nic->node->now.cc[id], *p = &nic->node->next.cc[id];
	struct mt_cc_profile_cfg cfg;
	int result;

	if (is_same(was, p, sizeof(*p)))
		return 0;
	if (p->state != MN_ONLINE) {
		mt_cc_profile_clear(nic->engine, id);
		return 0;
	}
	mh_cc_profile_cfg(nic, p, &cfg);
	result = mt_cc_profile_set(nic->engine, id, &cfg);
	/* Numbers that fit no NIC of this rate: QPs are not to name the profile here. */
	if (result != MT_OK)
		mt_cc_profile_clear(nic->engine, id);
	return mh_engine_errno(result);
}

static inline bool is_sound(const struct mn_state *s)
{
	const char *why;

	return mn_state_check(s, &why);
}

static int apply_to(struct mh_nic *nic, uint64_t now_ns, bool *ports_changed)
{
	struct mh_node *node = nic->node;
	int err = 0, one;

	mb_assert_slow(is_sound(&node->next));

	*ports_changed = apply_ports(nic, now_ns);
	for (uint32_t id = 1; id < MN_CC_PROFILES; id++) {
		one = apply_cc(nic, id);
		err = err ? err : one;
	}
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++) {
		one = mh_ev_profile_apply(nic, id, &node->now, &node->next);
		err = err ? err : one;
	}
	mn_state_copy(&node->now, &node->next);
	return err;
}

/* A shard that sleeps is woken: what its peers are to be told of its ports leaves then. */
static int follow(struct mh_nic *nic, const struct mn_state *next, uint64_t now_ns)
{
	bool ports_changed;
	int err;

	if (now_ns < nic->engine_ns)
		now_ns = nic->engine_ns;
	mn_state_copy(&nic->node->next, next);
	err = apply_to(nic, now_ns, &ports_changed);
	if (ports_changed)
		mh_engine_report_ports(nic, now_ns);
	mh_nic_kick(nic);
	return err;
}

int mh_node_apply(struct mh_nic *first, uint64_t now_ns, bool *ports_changed)
{
	int err = apply_to(first, now_ns, ports_changed), one;

	mh_shards_lock_others(first);
	for (uint32_t i = 1; i < first->n_shards; i++) {
		one = follow(first->shard[i], &first->node->next, now_ns);
		err = err ? err : one;
	}
	mh_shards_unlock_others(first);
	return err;
}

/* Which EV of a profile an event is about; false: it is one that the profile had before. */
static bool name_ev(const struct mh_nic *nic, const struct mh_ev_heard *ev, struct mh_ev_event *out)
{
	const struct mn_state *s = &nic->node->now;
	const struct mn_ev_profile *p = &s->ev[ev->profile];

	if (p->mode == MN_MODE_AUTO) {
		memcpy(out->val, &ev->number, sizeof(ev->number));
		out->port = ev->port;
		return true;
	}
	if (ev->index >= p->n_evs)
		return false;
	memcpy(out->val, s->evs[p->first + ev->index].val, sizeof(out->val));
	out->port = s->evs[p->first + ev->index].port;
	return true;
}

bool mh_node_wants_ev(const struct mh_nic *nic, const struct mh_ev_heard *ev,
		      struct mh_ev_event *out)
{
	uint8_t wanted;

	*out = (struct mh_ev_event){.profile = ev->profile, .good = ev->good};
	wanted = nic->node->now.ev[ev->profile].event_mask;
	return wanted & (ev->good ? MN_EVENT_GOOD : MN_EVENT_BAD) && name_ev(nic, ev, out);
}

void mh_node_report_ev(struct mh_nic *nic, const struct mt_event *event)
{
	const struct mh_ev_heard ev = {.profile = event->ev_profile,
				       .index = event->ev_index,
				       .number = event->ev.value,
				       .port = (uint8_t)(event->ev.port + 1),
				       .good = event->ev_state == MT_EV_GOOD};
	const struct mb_link *cqs = &nic->first->ev_cqs;
	struct mh_ev_event out;

	if (mb_link_is_empty(cqs) || !mh_node_wants_ev(nic, &ev, &out))
		return;
	for (struct mb_link *l = cqs->next; l != cqs; l = l->next)
		mh_cq_add_ev_event(mb_container_of(l, struct mh_cq, ev_link), &out);
}
