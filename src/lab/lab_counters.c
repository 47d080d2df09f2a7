/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ports count: see lab.h. The switch program counts for all ports in one place; the kernel's
 * own statistics, which are read namespace by namespace, know the carrier and, where there is no
 * program, the packets that left and those that switches dropped.
 */
#include "lab/ip_batch.h"
#include "lab/lab_state.h"
#include "lab/netns.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#define BUFFER_BYTES 32768

struct reading {
	struct ml_lab *lab;
	struct ml_counters *counters;
};

static int take_attribute(const struct nlattr *attr, void *context)
{
	struct ml_counters *c = context;
	struct rtnl_link_stats64 stats;

	if (mnl_attr_get_type(attr) != IFLA_STATS64)
		return MNL_CB_OK;
	memcpy(&stats, mnl_attr_get_payload(attr), sizeof(stats));
	c->packets = stats.tx_packets;
	c->bytes = c->sent_bytes = stats.tx_bytes;
	return MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *message, void *context)
{
	const struct reading *r = context;
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	uint32_t link = (uint32_t)info->ifi_index - ML_IFINDEX_FIRST;
	const unsigned running = IFF_UP | IFF_RUNNING;

	if (info->ifi_index < (int)ML_IFINDEX_FIRST || link >= r->lab->t.n_links)
		return MNL_CB_OK;
	r->counters[link].carrier = (info->ifi_flags & running) == running;
	return mnl_attr_parse(message, sizeof(*info), take_attribute, &r->counters[link]);
}

/* Of nested attributes: the queue's own statistics. */
static int take_queue(const struct nlattr *attr, void *context)
{
	if (mnl_attr_get_type(attr) == TCA_STATS_QUEUE)
		memcpy(context, mnl_attr_get_payload(attr), sizeof(struct gnet_stats_queue));
	return MNL_CB_OK;
}

struct qdisc {
	const char *kind;
	struct gnet_stats_queue queue;
};

static int take_qdisc_attribute(const struct nlattr *attr, void *context)
{
	struct qdisc *q = context;

	if (mnl_attr_get_type(attr) == TCA_KIND)
		q->kind = mnl_attr_get_str(attr);
	else if (mnl_attr_get_type(attr) == TCA_STATS2)
		return mnl_attr_parse_nested(attr, take_queue, &q->queue);
	return MNL_CB_OK;
}

/* What clsact dropped, a fault did; what the shaping dropped found no room. */
static int take_qdisc(const struct nlmsghdr *message, void *context)
{
	const struct reading *r = context;
	const struct tcmsg *info = mnl_nlmsg_get_payload(message);
	uint32_t link = (uint32_t)info->tcm_ifindex - ML_IFINDEX_FIRST;
	struct qdisc q = {.kind = ""};

	if (info->tcm_ifindex < (int)ML_IFINDEX_FIRST || link >= r->lab->t.n_links)
		return MNL_CB_OK;
	mnl_attr_parse(message, sizeof(*info), take_qdisc_attribute, &q);
	if (strcmp(q.kind, "clsact") == 0) {
		r->counters[link].lost = q.queue.drops;
	} else if (info->tcm_parent == TC_H_ROOT) {
		r->counters[link].dropped = q.queue.drops;
		r->counters[link].queue_bytes = q.queue.backlog;
	}
	return MNL_CB_OK;
}

/* Asks for all of a kind in the namespace of the thread: RTM_GETLINK, RTM_GETQDISC. 0, or -1. */
static int dump_once(const struct reading *r, uint16_t what, mnl_cb_t take)
{
	_Alignas(struct nlmsghdr) char buffer[BUFFER_BYTES];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	ssize_t n;
	int more = MNL_CB_OK, err;

	if (!socket)
		return -1;
	request->nlmsg_type = what;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(request, what == RTM_GETLINK ? sizeof(struct ifinfomsg)
								: sizeof(struct tcmsg));
	n = mnl_socket_sendto(socket, request, request->nlmsg_len);
	while (n > 0 && more == MNL_CB_OK) {
		n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (n > 0)
			more = mnl_cb_run(buffer, (size_t)n, 0, 0, take, (void *)(uintptr_t)r);
	}
	err = errno;
	mnl_socket_close(socket);
	errno = err;
	return n < 0 || more == MNL_CB_ERROR ? -1 : 0;
}

static int dump_netlink(const struct reading *r, uint16_t what, mnl_cb_t take, struct ml_error *e)
{
	int failed;

	/* EINTR: somebody plugged a cable meanwhile, and the answer is of before and after. */
	do
		failed = dump_once(r, what, take);
	while (failed && errno == EINTR);
	return failed ? ml_error_set(e, "reading interfaces: %s", strerror(errno)) : 0;
}

static int read_node(void *context, size_t node, struct ml_error *e)
{
	const struct reading *r = context;
	char name[ML_NETNS_MAX];

	if (r->lab->off[node])
		return 0;
	if (ml_netns_enter(ml_lab_namespace(r->lab, (uint32_t)node, name), e))
		return -1;
	if (dump_netlink(r, RTM_GETLINK, take_link, e))
		return -1;
	return r->lab->swq ? 0 : dump_netlink(r, RTM_GETQDISC, take_qdisc, e);
}

static int read_program(struct ml_lab *lab, uint32_t link, struct ml_counters *c,
			struct ml_error *e)
{
	struct mswq_error why;
	struct mswq_reading r;
	const struct mswq_counters *n = &r.count;
	int err = mswq_read(lab->swq, ml_ifindex(link), &r, &why);

	if (err == ENOENT)
		return 0;
	if (err)
		return ml_error_set(e, "reading the switch program: %s", why.text);
	c->packets = n->offered;
	c->bytes = n->offered_bytes;
	c->sent_bytes = n->sent_bytes;
	c->trimmed = n->trimmed + n->whole;
	c->marked = n->marked;
	c->dropped = n->dropped + n->trim_dropped + n->control_dropped;
	c->lost = n->blackholed + n->lost;
	c->corrupted = n->corrupted;
	c->duplicated = n->duplicated;
	c->reordered = n->reordered;
	c->queue_bytes = r.data_bytes + r.control_bytes;
	return 0;
}

int ml_counters_kernel(struct ml_lab *lab, struct ml_counters *counters, struct ml_error *e)
{
	struct reading r = {lab, counters};

	memset(counters, 0, lab->t.n_links * sizeof(*counters));
	return ml_threads_run(lab->t.n_nodes, read_node, &r, e);
}

int ml_lab_counters(struct ml_lab *lab, struct ml_counters *counters, struct ml_error *e)
{
	if (ml_counters_kernel(lab, counters, e))
		return -1;
	for (uint32_t link = 0; lab->swq && link < lab->t.n_links; link++)
		if (read_program(lab, link, &counters[link], e))
			return -1;
	return 0;
}
