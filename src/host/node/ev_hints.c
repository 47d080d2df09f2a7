/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_hints.c - what other processes of this user have found out about the EVs to a destination, for
 * a QP that is about to be the first to send there: store/store_hints.h. It is a reason to probe an
 * EV before it is used, and no more. REQ(req.ev.hint)
 */
#include <stdlib.h>
#include <string.h>

#include "host/node/node.h"
#include "store/store_hints.h"

struct mh_ev_hints {
	uint32_t n;
	struct store_hint hint[STORE_HINTS_MAX];
};

/* Of the EVs of one profile, which is of other addresses in each process. */
struct suspects {
	uint32_t n_evs;
	struct mt_ev ev[MT_EVS_MAX];
	bool known[MT_EVS_MAX]; /* somebody has found the EV in this place to be bad ... */
	bool same[MT_EVS_MAX];	/* ... and it was over the same links as ours */
};

struct mh_ev_hints *mh_ev_hints_load(const struct mh_nic *nic)
{
	struct mh_ev_hints *h;

	if (!nic->node->store.used)
		return NULL;
	h = malloc(sizeof(*h));
	/* What is damaged, or nobody writes, is no hint; EVs are learnt from losses then. */
	if (h &&
	    (store_hints_load(nic->env.node_dir, nic->attr.name, mh_now_ns(), h->hint, &h->n) ||
	     h->n == 0)) {
		free(h);
		h = NULL;
	}
	return h;
}

/*
 * With SRv6 a place stands for a path, on all hosts that are set up alike. Else an EV is a number
 * that switches hash, and each process may have numbers of its own.
 */
static bool is_over_same_links(const struct mh_nic *nic, const struct store_hint *h,
			       const struct mt_ev *ev)
{
	return mh_env_is_srv6(&nic->env) || h->number == ev->value;
}

static void note(const struct mh_nic *nic, const struct mh_ev_hints *hints,
		 const struct rd_qp_attr *attr, struct suspects *s)
{
	for (uint32_t i = 0; i < hints->n; i++) {
		const struct store_hint *h = &hints->hint[i];

		if (h->profile != attr->ev_profile || h->index >= s->n_evs ||
		    h->port != s->ev[h->index].port + 1u ||
		    memcmp(h->to, attr->dest.b, sizeof(h->to)) != 0 ||
		    memcmp(h->from, nic->attr.gid.b, sizeof(h->from)) != 0)
			continue;
		s->known[h->index] = true;
		s->same[h->index] |= is_over_same_links(nic, h, &s->ev[h->index]);
	}
}

/* A plane on which somebody has found all EVs to be bad, whatever their numbers, is dark. */
static uint32_t dark_planes(const struct suspects *s)
{
	uint32_t dark = 0, lit = 0;

	for (uint32_t i = 0; i < s->n_evs; i++)
		*(s->known[i] ? &dark : &lit) |= UINT32_C(1) << s->ev[i].port;
	return dark & ~lit;
}

static void list_evs(const struct mt_qp *qp, struct suspects *s)
{
	struct mt_ev_info info;

	while (s->n_evs < MT_EVS_MAX && mt_qp_ev_info(qp, s->n_evs, &info)) {
		/* What is denied does not keep its plane lit. */
		s->known[s->n_evs] = info.state == MT_EV_DENIED;
		s->ev[s->n_evs++] = info.ev;
	}
}

void mh_ev_hints_take(struct mh_nic *nic, struct mt_qp *qp, uint64_t now_ns,
		      const struct mh_ev_hints *hints)
{
	struct suspects s = {0};
	struct rd_qp_attr attr;
	uint32_t dark, n = 0;

	mt_qp_query(qp, &attr);
	list_evs(qp, &s);
	note(nic, hints, &attr, &s);
	dark = dark_planes(&s);
	for (uint32_t i = 0; i < s.n_evs; i++)
		if (s.same[i] || dark >> s.ev[i].port & 1)
			n += mt_qp_ev_suspect(qp, now_ns, i);
	if (n > 0)
		mh_log(MRC_LOG_INFO,
		       "%s: %u EVs were bad for other processes of this user, and "
		       "are probed before their use",
		       nic->attr.name, n);
}
