/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two ends of `mrc perf` tell each other, and the QPs' way to RTS. */
#include "cli/perf/perf.h"
#include "stats/stats_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define QPN_MAX 0xffffffu

static int set_error(struct perf_connection *r, const char *what, int err)
{
	snprintf(r->error, sizeof(r->error), "%s: %s", what, strerror(err));
	return -1;
}

static json_t *gid_json(const union ibv_gid *gid)
{
	char hex[2 * sizeof(gid->raw) + 1];

	for (size_t i = 0; i < sizeof(gid->raw); i++)
		snprintf(hex + 2 * i, 3, "%02x", gid->raw[i]);
	return json_string(hex);
}

static int gid_read(const char *hex, union ibv_gid *gid)
{
	if (strlen(hex) != 2 * sizeof(gid->raw) ||
	    strspn(hex, "0123456789abcdef") != 2 * sizeof(gid->raw))
		return -1;
	for (size_t i = 0; i < sizeof(gid->raw); i++) {
		unsigned int byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -1;
		gid->raw[i] = (uint8_t)byte;
	}
	return 0;
}

/* What carries packets, by the driver that sends such; ends of different ones never hear each
 * other. */
static const char *own_form(void)
{
	static const char *const form[] = {
		[MRC_STATS_CARRIER_UDP] = "udp",
		[MRC_STATS_CARRIER_AF_PACKET] = "udp",
		[MRC_STATS_CARRIER_RAW41] = "raw41",
		[MRC_STATS_CARRIER_SRV6_UDP] = "udp, SRv6 paths",
		[MRC_STATS_CARRIER_SRV6_RAW41] = "raw41, SRv6 paths",
	};
	static struct stats_reader stats;
	const char *name = NULL;

	stats_reader_open(&stats, stats_dir(), (uint32_t)getpid());
	if (stats_reader_read(&stats, 1) == 0 && stats.n == 1) {
		uint32_t carrier = stats.process[0].now->carrier;

		name = carrier < sizeof(form) / sizeof(form[0]) ? form[carrier] : NULL;
	}
	stats_reader_close(&stats);
	return name;
}

json_t *perf_connection_describe(struct perf_connection *r)
{
	json_t *qpns = json_array(), *psns = json_array();
	struct ibv_port_attr port;
	int err = ibv_query_port(r->device, 1, &port);

	if (err || ibv_query_gid(r->device, 1, 0, &r->gid)) {
		set_error(r, "port of the device", err ? err : errno);
		json_decref(qpns);
		json_decref(psns);
		return NULL;
	}
	r->mtu = port.active_mtu;
	for (uint32_t i = 0; i < r->plan->qps; i++) {
		json_array_append_new(qpns, json_integer(r->qp[i].qpn));
		json_array_append_new(psns, json_integer(r->qp[i].psn));
	}
	r->form = own_form();
	return json_pack("{s:o,s:s,s:i,s:I,s:I,s:I,s:o,s:o}", "gid", gid_json(&r->gid), "form",
			 r->form ? r->form : "", "mtu", (int)r->mtu, "address",
			 (json_int_t)(uintptr_t)r->memory, "bytes", (json_int_t)r->bytes, "rkey",
			 (json_int_t)r->mr->rkey, "qpns", qpns, "psns", psns);
}

static int read_numbers(json_t *list, uint32_t n, uint32_t *first, size_t step)
{
	for (uint32_t i = 0; i < n; i++) {
		json_t *number = json_array_get(list, i);

		if (!json_is_integer(number) || json_integer_value(number) < 0 ||
		    json_integer_value(number) > QPN_MAX)
			return -1;
		*first = (uint32_t)json_integer_value(number);
		first = (uint32_t *)(void *)((uint8_t *)first + step);
	}
	return 0;
}

static int read_peer(struct perf_connection *r, json_t *peer)
{
	json_int_t address, bytes, rkey;
	json_t *qpns, *psns;
	const char *gid, *form = "";
	int mtu;

	if (json_unpack(peer, "{s:s,s?s,s:i,s:I,s:I,s:I,s:o,s:o}", "gid", &gid, "form", &form,
			"mtu", &mtu, "address", &address, "bytes", &bytes, "rkey", &rkey, "qpns",
			&qpns, "psns", &psns))
		return -1;
	if (gid_read(gid, &r->peer_gid) || mtu < IBV_MTU_256 || mtu > IBV_MTU_4096 ||
	    bytes < (json_int_t)r->plan->max || rkey < 0 || rkey > UINT32_MAX)
		return -1;
	if (mtu < (int)r->mtu)
		r->mtu = (enum ibv_mtu)mtu;
	snprintf(r->peer_form, sizeof(r->peer_form), "%s", form);
	r->peer_memory = (uint64_t)address;
	r->peer_bytes = (uint64_t)bytes;
	r->peer_rkey = (uint32_t)rkey;
	return read_numbers(qpns, r->plan->qps, &r->qp[0].peer_qpn, sizeof(r->qp[0])) ||
			       read_numbers(psns, r->plan->qps, &r->qp[0].peer_psn,
					    sizeof(r->qp[0]))
		       ? -1
		       : 0;
}

static int to_rts(struct perf_connection *r, const struct perf_qp *q)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = r->mtu,
		.dest_qp_num = q->peer_qpn,
		.rq_psn = q->peer_psn,
		.ah_attr = {.is_global = 1, .grh = {.dgid = r->peer_gid}},
	};
	int err = mrc_modify_qp(q->qp, &attr,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN,
				NULL, 0);

	if (err)
		return set_error(r, "queue pair to RTR", err);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = q->psn};
	err = mrc_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, NULL, 0);
	return err ? set_error(r, "queue pair to RTS", err) : 0;
}

int perf_connection_connect(struct perf_connection *r, json_t *peer)
{
	if (read_peer(r, peer)) {
		snprintf(r->error, sizeof(r->error), "what the peer says of itself makes no sense");
		return -1;
	}
	if (r->form && r->peer_form[0] && strcmp(r->form, r->peer_form) != 0) {
		snprintf(r->error, sizeof(r->error),
			 "the peer's packets are carried by %s, those here by %s: both ends need "
			 "the same (MRC_DRIVER, MRC_SRV6_ROWS)",
			 r->peer_form, r->form);
		return -1;
	}
	for (uint32_t i = 0; i < r->plan->qps; i++)
		if (to_rts(r, &r->qp[i]))
			return -1;
	return 0;
}
