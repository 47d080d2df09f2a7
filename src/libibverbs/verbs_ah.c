/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_ah.c - address handles, which say where datagrams of UD QPs go, and multicast, which there
 * is none of. A device whose ports are Ethernet knows others by their GIDs only.
 */
#include "libibverbs/real_library.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A GRH begins with the version, eight bits of traffic class and twenty of flow label. */
#define GRH_TRAFFIC_CLASS 20
#define GRH_TRAFFIC_CLASS_MASK 0xffu
#define GRH_FLOW_LABEL_MASK 0xfffffu
/* What an answer may live, as programs ask for it that make its address from what came. */
#define ANSWER_HOPS 0xff
#define GID_MULTICAST 0xff

static bool attr_ok(const struct mv_context *ctx, const struct ibv_ah_attr *attr)
{
	struct rd_gid dest;

	/* Without a GRH there is no GID. REQ(ud.ah) */
	if (!attr->is_global || attr->port_num != MV_PORT || attr->grh.sgid_index >= IV_GIDS)
		return false;
	memcpy(dest.b, attr->grh.dgid.raw, sizeof(dest.b));
	return mh_device_can_reach(ctx->nic, &dest);
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct mv_ah *ah;

	MV_TO_REAL(mv_real_of(pd), ibv_create_ah, (pd, attr));
	if (!pd || !attr || !attr_ok(mv_context(pd->context), attr))
		return iv_null(EINVAL);
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return iv_null(ENOMEM);
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	memcpy(ah->nic.dest.b, attr->grh.dgid.raw, sizeof(ah->nic.dest.b));
	ah->nic.traffic_class = attr->grh.traffic_class;
	return &ah->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	MV_TO_REAL(mv_real_of(ah), ibv_destroy_ah, (ah));
	if (!ah)
		return EINVAL;
	free(mv_ah(ah));
	return 0;
}

/* ---- from what was received ---- */

/* Every datagram has a GRH, whose source is who sent it and whose destination are we. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *ah_attr)
{
	uint32_t begin;
	union ibv_gid gid;

	MV_TO_REAL(mv_real_of_context(context), ibv_init_ah_from_wc,
		   (context, port_num, wc, grh, ah_attr));
	if (!context || !wc || !grh || !ah_attr || port_num != MV_PORT ||
	    !(wc->wc_flags & IBV_WC_GRH))
		return iv_minus_one(EINVAL);
	if (ibv_query_gid(context, port_num, 0, &gid))
		return -1;
	if (memcmp(&gid, &grh->dgid, sizeof(gid)) != 0)
		return iv_minus_one(EINVAL);
	begin = be32toh(grh->version_tclass_flow);
	*ah_attr = (struct ibv_ah_attr){
		.grh = {.dgid = grh->sgid,
			.flow_label = begin & GRH_FLOW_LABEL_MASK,
			.hop_limit = ANSWER_HOPS,
			.traffic_class =
				(uint8_t)(begin >> GRH_TRAFFIC_CLASS & GRH_TRAFFIC_CLASS_MASK)},
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.is_global = 1,
		.port_num = port_num,
	};
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num)
{
	struct ibv_ah_attr attr;

	MV_TO_REAL(mv_real_of(pd), ibv_create_ah_from_wc, (pd, wc, grh, port_num));
	if (!pd)
		return iv_null(EINVAL);
	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}

/* ---- multicast ---- */

/* Only a UD QP could be a member of a group, and a group has a GID of its own kind. */
static int mcast(const struct ibv_qp *qp, const union ibv_gid *gid)
{
	if (!qp || !gid || qp->qp_type != IBV_QPT_UD || gid->raw[0] != GID_MULTICAST)
		return EINVAL;
	return EOPNOTSUPP;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	MV_TO_REAL(mv_real_of(qp), ibv_attach_mcast, (qp, gid, lid));
	return mcast(qp, gid);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	MV_TO_REAL(mv_real_of(qp), ibv_detach_mcast, (qp, gid, lid));
	return mcast(qp, gid);
}
