/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_endpoint.c - requests to other endpoints. REQ(ctl.endpoint-batch) */
#include "libmrc/libmrc.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MAX 65535

/* Ids name the answers, so none may occur twice. */
static bool are_ids_unique(const struct mrc_ctl_ep_req *req, int n)
{
	uint64_t seen[65536 / 64] = {0};

	for (int i = 0; i < n; i++) {
		uint64_t bit = UINT64_C(1) << (req[i].req_id % 64);

		if (seen[req[i].req_id / 64] & bit)
			return false;
		seen[req[i].req_id / 64] |= bit;
	}
	return true;
}

static bool is_local_gid(const struct mh_device_attr *nic, const union ibv_gid *sgid)
{
	static const union ibv_gid any;

	return memcmp(sgid, &any, sizeof(any)) == 0 || memcmp(sgid, &nic->gid, sizeof(any)) == 0;
}

/* The value of an EV as mrc_ctl.h has it: a number in the first bytes, zeros behind. */
static bool ev_value(const struct mrc_ctl_ev *ev, uint32_t *value)
{
	static const uint8_t zeros[MRC_CTL_EV_MAX_BYTES];

	memcpy(value, ev->val, sizeof(*value));
	return memcmp(ev->val + sizeof(*value), zeros, sizeof(ev->val) - sizeof(*value)) == 0;
}

static int probe_from_req(const struct mh_device_attr *nic, const struct mrc_ctl_ep_req *req,
			  struct mh_probe *probe)
{
	uint32_t value;

	if (req->ev_fmt_mode != ma_ev_fmt_mode(nic))
		return ENOTSUP;
	if (!is_local_gid(nic, &req->sgid) || !req->req_ev.port || !ev_value(&req->req_ev, &value))
		return EINVAL;
	*probe = (struct mh_probe){.plane = req->req_ev.port - 1u, .ev = value};
	memcpy(probe->dest.b, req->dgid.raw, sizeof(probe->dest.b));
	return 0;
}

/* What a call asks for. */
struct batch {
	const struct mrc_ctl_ep_req *req;
	int n;
	bool tells_ports;
	uint8_t tc;
	uint32_t timeout_ns;
};

static int probes_from_reqs(const struct mrc_context *ctx, const struct batch *b,
			    struct mh_probe *probes)
{
	struct mh_device_attr nic;

	mh_device_query(ctx->dev, &nic);
	for (int i = 0; i < b->n; i++) {
		int err = probe_from_req(&nic, &b->req[i], &probes[i]);

		if (err)
			return err;
		/* Ports count from 1 here. */
		probes[i].tells_ports = b->tells_ports;
		probes[i].ports_up = b->req[i].op.port_status_update.port_status >> 1;
	}
	return 0;
}

static void responses_from_answers(const struct mrc_ctl_ep_req *req,
				   const struct mh_probe_answer *answers, uint32_t n,
				   struct mrc_ctl_ep_rsp *rsp)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct mh_probe_answer *a = &answers[i];

		rsp[i] = (struct mrc_ctl_ep_rsp){
			.req_id = req[a->index].req_id,
			.port = (uint8_t)(a->plane + 1),
			.rtt = a->rtt_ns < UINT32_MAX ? (unsigned int)a->rtt_ns : UINT32_MAX,
			.adj_svc_time = a->svc_time_subtracted,
		};
	}
}

static int run_probes(struct mrc_context *ctx, const struct batch *b, struct mrc_ctl_ep_rsp *rsp,
		      int *num_rsp)
{
	struct mh_probe *probes = calloc((size_t)b->n, sizeof(*probes));
	struct mh_probe_answer *answers = calloc((size_t)b->n, sizeof(*answers));
	uint32_t got = 0;
	int err = probes && answers ? probes_from_reqs(ctx, b, probes) : ENOMEM;

	if (!err)
		err = mh_endpoint_probe(ctx->dev, b->tc, probes, (uint32_t)b->n, b->timeout_ns,
					answers, &got);
	responses_from_answers(b->req, answers, got, rsp);
	*num_rsp = (int)got;
	free(probes);
	free(answers);
	return err;
}

int mrc_ctl_ep_batch_send_wait(struct mrc_context *mrc_ctx, uint8_t req_tc,
			       enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req *req,
			       int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp *rsp,
			       int *num_rsp)
{
	struct batch batch;

	if (!mrc_ctx || !req || !rsp || !num_rsp || num_req < 1 || num_req > REQUESTS_MAX)
		return iv_minus_one(EINVAL);
	*num_rsp = 0;
	if ((op_type != MRC_CTL_EP_OP_EV_PROBE && op_type != MRC_CTL_EP_OP_PORT_STATUS_UPDATE) ||
	    !are_ids_unique(req, num_req))
		return iv_minus_one(EINVAL);
	batch = (struct batch){.req = req,
			       .n = num_req,
			       .tells_ports = op_type == MRC_CTL_EP_OP_PORT_STATUS_UPDATE,
			       .tc = req_tc,
			       .timeout_ns = rsp_timeout};
	return iv_minus_one(run_probes(mrc_ctx, &batch, rsp, num_rsp));
}
