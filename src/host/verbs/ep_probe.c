/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ep_probe.c - probes of paths that a program asks for: a batch of endpoint requests.
 *
 * The engine lets ids rest for a while and then has no more to give; a probe that does not find one
 * waits and tries again.
 */
#include <errno.h>
#include <string.h>

#include "host/node/node.h"
#include "host/progress/progress.h"
#include "wire/dscp.h"
#include "wire/headers.h"

/*
 * A trimmed or untrimmable class is no choice for a probe: it must meet what data or control meets.
 */
static bool endpoint_class(const struct mw_dscp_map *map, uint8_t dscp, uint8_t *tclass)
{
	enum mw_dscp_class cls = dscp ? mw_dscp_decode(map, dscp) : MW_DSCP_CONTROL;

	if (cls != MW_DSCP_CONTROL && cls != MW_DSCP_TRIMMABLE && cls != MW_DSCP_TRIMMABLE_RETX)
		return false;
	*tclass = (uint8_t)cls;
	return true;
}

static bool is_probe_valid(const struct mh_nic *nic, const struct mh_probe *p)
{
	return p->plane < nic->ports.n && mw_ev_valid(nic->env.ev_format, p->ev) &&
	       p->endpoint < MT_ENDPOINTS_MAX && mh_addr_is_reachable(&nic->ports.map, p->dest.b);
}

/* Posts as many as the engine takes. Under nic->lock. */
static int post_probes(struct mh_nic *nic, struct mh_ep_batch *b, uint8_t tclass, uint64_t now,
		       uint64_t deadline)
{
	while (b->posted < b->n && now < deadline) {
		const struct mh_probe *p = &b->probes[b->posted];
		struct mt_ep_request req = {
			.endpoint = p->endpoint,
			.ev = {.value = mh_ev_number_sent(&nic->env, p->plane, p->ev),
			       .port = (uint8_t)p->plane},
			.op = p->tells_ports ? MW_EP_PORT_STATUS : MW_EP_EV_PROBE,
			.port_mask = p->ports_up,
			.tclass = tclass,
			.timeout_ns = deadline - now,
			.user = (uintptr_t)&b->items[b->posted],
		};
		int result;

		memcpy(req.dst.b, p->dest.b, sizeof(req.dst.b));
		result = mt_engine_ep_request(nic->engine, now, &req, NULL);
		if (result == MT_ERR_FULL)
			return 0;
		/* A port that is down answers nothing: the probe ends here, like one unanswered. */
		if (result == MT_ERR_STATE) {
			mh_ep_batch_end_one(b);
		} else if (result != MT_OK) {
			return mh_engine_errno(result);
		}
		b->posted++;
	}
	return 0;
}

/*
 * nic->lock is given up while the thread sleeps. Ending the backoff each time keeps the progress
 * thread at the sockets: this thread does not poll, so no other would read the answers.
 */
static int run_batch(struct mh_nic *nic, struct mh_ep_batch *b, uint8_t tclass, uint64_t timeout_ns)
{
	uint64_t now = mh_now_ns(), deadline = now + timeout_ns;
	int cancel_state = mh_cancel_disable(); /* the batch is on this thread's stack */
	bool more;
	int err;

	do {
		mh_nic_lock(nic);
		now = mh_now_ns();
		err = post_probes(nic, b, tclass, now, deadline);
		mh_progress_flush(nic, now);
		mh_nic_unlock(nic);
		mh_progress_end_backoff(nic, NULL);
		more = !err && b->posted < b->n && now < deadline;
		mh_ep_batch_wait(b, more);
	} while (more);
	mh_cancel_restore(cancel_state);
	if (!err && b->posted < b->n)
		err = EAGAIN;
	return err ? err : b->answered < b->n ? ETIMEDOUT : 0;
}

int mh_endpoint_probe(struct mh_device *dev, uint8_t dscp, const struct mh_probe *probes,
		      uint32_t n, uint64_t timeout_ns, struct mh_probe_answer *answers,
		      uint32_t *n_answers)
{
	struct mh_ep_batch b = {.probes = probes, .answers = answers, .n = n};
	uint8_t tclass;
	int err;

	*n_answers = 0;
	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	if (!n || !timeout_ns || timeout_ns > MH_PROBE_TIMEOUT_MAX_NS ||
	    !endpoint_class(&dev->nic->env.dscp, dscp, &tclass))
		return EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		if (!mh_addr_is_reachable(&dev->nic->ports.map, probes[i].dest.b))
			mh_log_unreachable(dev->nic, probes[i].dest.b);
		if (!is_probe_valid(dev->nic, &probes[i]))
			return EINVAL;
	}
	err = mh_ep_batch_init(&b);
	if (err)
		return err;
	err = run_batch(dev->nic, &b, tclass, timeout_ns);
	*n_answers = b.answered;
	mh_ep_batch_fini(&b);
	return err;
}

int mh_device_query_ev(const struct mh_device *dev, uint32_t plane, uint32_t i, uint32_t *ev)
{
	if (plane >= dev->nic->env.n_ports || i >= dev->nic->env.evs)
		return EINVAL;
	*ev = mh_engine_ev(&dev->nic->env, plane, i);
	return 0;
}
