/* SPDX-License-Identifier: BSD-2-Clause */
/* The MRC objects of one end of `mrc perf`, what the ends tell each other of them, and the QPs' way
 * to RTS: see perf.h. */
#include "cli/perf/perf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/printable.h"
#include "stats/stats_reader.h"

/* How long a port may take to come up: five seconds. */
#define PORT_NAP_NS 20000000L
#define PORT_NAPS 250u

/* A credit in flight, besides a full queue of messages. */
#define SENDS_EXTRA 1u

/* How long a poll with a completion channel sleeps at most. */
#define EVENT_WAIT_MS 1

static int set_error(struct perf_connection *r, const char *what, int err)
{
	snprintf(r->error, sizeof(r->error), "%s: %s", what, strerror(err));
	return -1;
}

static int open_device(struct perf_connection *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return set_error(r, "list of devices", errno);
	for (int i = 0; list[i] && !r->device; i++) {
		struct mrc_device_attr attr;
		int supported = 0;

		r->device = ibv_open_device(list[i]);
		if (!r->device)
			continue;
		if (mrc_query_device(r->device, &attr, &supported) || !supported) {
			ibv_close_device(r->device);
			r->device = NULL;
		}
	}
	ibv_free_device_list(list);
	if (r->device)
		return 0;
	snprintf(r->error, sizeof(r->error), "no MRC device could be opened; mrc doctor tells why");
	return -1;
}

/* A port that was just set up may wait for its carrier; what is measured before is the wait. */
static int wait_for_port(struct perf_connection *r)
{
	struct timespec pause = {.tv_nsec = PORT_NAP_NS};

	for (uint32_t pauses = 0; pauses < PORT_NAPS; pauses++) {
		struct ibv_port_attr port;
		int err = ibv_query_port(r->device, 1, &port);

		if (err)
			return set_error(r, "port of the device", err);
		if (port.state == IBV_PORT_ACTIVE)
			return 0;
		nanosleep(&pause, NULL);
	}
	snprintf(r->error, sizeof(r->error),
		 "all ports of the device are down; mrc doctor tells why");
	return -1;
}

static int open_memory(struct perf_connection *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), all;

	r->bytes = (r->plan->max + page - 1) / page * page;
	all = 2 * r->bytes + 2 * page;
	r->memory = aligned_alloc(page, all);
	if (!r->memory)
		return set_error(r, "memory", ENOMEM);
	memset(r->memory, 0, all);
	r->pd = ibv_alloc_pd(r->device);
	if (!r->pd)
		return set_error(r, "protection domain", errno);
	r->mr = ibv_reg_mr(r->pd, r->memory, all, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return r->mr ? 0 : set_error(r, "memory region", errno);
}

/* The page behind the two buffers: credits that the peer writes; the next: to write from. */
static uint64_t credit_in(const struct perf_connection *r, uint32_t i)
{
	uint64_t at = 2 * r->bytes + i * sizeof(uint64_t);

	return __atomic_load_n((uint64_t *)(void *)(r->memory + at), __ATOMIC_RELAXED);
}

static uint64_t credit_out_at(const struct perf_connection *r, uint32_t i)
{
	return 2 * r->bytes + (uint64_t)sysconf(_SC_PAGESIZE) + i * sizeof(uint64_t);
}

static int post_receive(struct perf_connection *r, uint32_t i)
{
	struct ibv_recv_wr wr = {.wr_id = (uint64_t)i << PERF_WR_BITS | PERF_WR_RECV}, *bad;
	int err = mrc_post_recv(r->qp[i].qp, &wr, &bad);

	return err ? set_error(r, "post a receive", err) : 0;
}

static int open_qp(struct perf_connection *r, uint32_t i)
{
	struct mrc_qp_init_attr init = {
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {.max_send_wr = r->plan->depth + SENDS_EXTRA,
			.max_recv_wr = r->receives,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.pd = r->pd,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct perf_qp *q = &r->qp[i];
	int err;

	q->posted_ns = calloc(r->plan->depth, sizeof(*q->posted_ns));
	if (!q->posted_ns)
		return set_error(r, "memory", ENOMEM);
	q->qp = mrc_create_qp(r->context, &init);
	if (!q->qp)
		return set_error(r, "queue pair", errno);
	err = mrc_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS, NULL, 0);
	if (!err)
		err = mrc_get_qpn(q->qp, &q->qpn) ? errno : 0;
	if (err)
		return set_error(r, "queue pair to INIT", err);
	q->psn = (q->qpn * 2654435761u) & 0xffffff;
	for (uint32_t n = 0; n < r->receives; n++)
		if (post_receive(r, i))
			return -1;
	return 0;
}

static int open_cq(struct perf_connection *r, bool events)
{
	uint32_t entries = r->plan->qps * (r->plan->depth + SENDS_EXTRA + r->receives);
	int err = events ? mrc_create_comp_channel(r->context, &r->channel) : 0;

	if (err)
		return set_error(r, "completion channel", err);
	r->cq = mrc_create_cq(r->context, (int)entries, NULL, r->channel, 0);
	return r->cq ? 0 : set_error(r, "completion queue", errno);
}

int perf_connection_open(struct perf_connection *r, const struct perf_plan *plan, bool events)
{
	*r = (struct perf_connection){.plan = plan, .receives = 2 * plan->depth};
	if (open_device(r) || wait_for_port(r) || open_memory(r))
		return -1;
	r->context = mrc_create_context(r->device, NULL);
	if (!r->context)
		return set_error(r, "MRC context", errno);
	if (open_cq(r, events))
		return -1;
	for (uint32_t i = 0; i < plan->qps; i++)
		if (open_qp(r, i))
			return -1;
	return 0;
}

void perf_connection_close(struct perf_connection *r)
{
	for (uint32_t i = 0; i < PERF_QPS_MAX; i++) {
		if (r->qp[i].qp)
			mrc_destroy_qp(r->qp[i].qp);
		free(r->qp[i].posted_ns);
	}
	if (r->cq)
		mrc_destroy_cq(r->cq);
	if (r->channel)
		mrc_destroy_comp_channel(r->channel);
	if (r->context)
		mrc_destroy_context(r->context);
	if (r->mr)
		ibv_dereg_mr(r->mr);
	if (r->pd)
		ibv_dealloc_pd(r->pd);
	if (r->device)
		ibv_close_device(r->device);
	free(r->memory);
	memset(r, 0, offsetof(struct perf_connection, error));
}

bool perf_connection_can_write(const struct perf_connection *r, uint32_t i, bool imm)
{
	const struct perf_qp *q = &r->qp[i];

	return q->posted - q->done < r->plan->depth &&
	       (!imm || q->posted < credit_in(r, i) + r->receives);
}

static int post_write(struct perf_connection *r, uint32_t i, struct ibv_sge *sge, uint64_t to,
		      enum perf_wr kind, const uint32_t *imm)
{
	struct ibv_send_wr *bad,
		wr = {
			.wr_id = (uint64_t)i << PERF_WR_BITS | kind,
			.sg_list = sge,
			.num_sge = 1,
			.opcode = imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.imm_data = imm ? htonl(*imm) : 0,
			.wr.rdma = {.remote_addr = to, .rkey = r->peer_rkey},
		};
	int err = mrc_post_send(r->qp[i].qp, &wr, &bad);

	return err ? set_error(r, "post a write", err) : 0;
}

int perf_connection_write(struct perf_connection *r, uint32_t i, uint64_t size, bool imm,
			  uint32_t value)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->memory, .length = (uint32_t)size, .lkey = r->mr->lkey};

	return post_write(r, i, &sge, r->peer_memory + r->peer_bytes, PERF_WR_DATA,
			  imm ? &value : NULL);
}

/* The value may grow while the write is under way: then the peer learns the newer one. */
static int give_credit(struct perf_connection *r, uint32_t i)
{
	struct perf_qp *q = &r->qp[i];
	uint64_t at = credit_out_at(r, i);
	struct ibv_sge sge = {
		.addr = (uintptr_t)r->memory + at, .length = sizeof(uint64_t), .lkey = r->mr->lkey};

	if (q->crediting || q->received - q->credited < (r->receives + 3) / 4)
		return 0;
	__atomic_store_n((uint64_t *)(void *)(r->memory + at), q->received, __ATOMIC_RELAXED);
	q->credited = q->received;
	q->crediting = true;
	return post_write(r, i, &sge, r->peer_memory + 2 * r->peer_bytes + i * sizeof(uint64_t),
			  PERF_WR_CREDIT, NULL);
}

int perf_connection_received(struct perf_connection *r, uint32_t i)
{
	r->qp[i].received++;
	return post_receive(r, i) ? -1 : give_credit(r, i);
}

int perf_connection_credited(struct perf_connection *r, uint32_t i)
{
	r->qp[i].crediting = false;
	return give_credit(r, i);
}

/* Takes the event that is there, which asks for none again. */
static int take_event(struct perf_connection *r)
{
	struct mrc_cq *cq;
	void *context;

	if (mrc_get_cq_event(r->channel, &cq, &context))
		return set_error(r, "completion channel", errno);
	mrc_ack_cq_events(cq, 1);
	r->notified = false;
	r->cq_events++;
	return 0;
}

/*
 * Sleeps until there is an event or the time is over. A completion that came before the request is
 * no event: the call that requests it returns at once, and the caller polls again.
 */
static int wait_for_event(struct perf_connection *r)
{
	struct pollfd fd = {.events = POLLIN};
	int err;

	if (!r->notified) {
		err = mrc_req_notify_cq(r->cq, 0);
		r->notified = !err;
		return err ? set_error(r, "completion queue", err) : 0;
	}
	if (mrc_get_comp_channel_fd(r->channel, &fd.fd))
		return set_error(r, "completion channel", errno);
	/* A signal ends the sleep as time does. */
	return poll(&fd, 1, EVENT_WAIT_MS) > 0 ? take_event(r) : 0;
}

int perf_connection_poll(struct perf_connection *r, struct ibv_wc *wc, int n)
{
	int got = mrc_poll_cq(r->cq, n, wc);

	if (got < 0)
		return set_error(r, "completion queue", errno);
	if (got == 0 && r->channel)
		return wait_for_event(r);
	for (int i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS) {
			snprintf(r->error, sizeof(r->error), "QP 0x%06x: a work request failed: %s",
				 wc[i].qp_num, ibv_wc_status_str(wc[i].status));
			return -1;
		}
	return got;
}

/* ---- connecting ---- */

#define QPN_MAX 0xffffffu

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

	stats_reader_open_own(&stats);
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
	mb_printable(r->peer_form, sizeof(r->peer_form));
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
