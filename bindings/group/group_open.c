/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_open.c - the device, memory and QPs of a group, and how ranks connect.
 *
 * Receives are posted while a QP is in INIT, before its peer knows of it: nothing can arrive that
 * finds none.
 */
#include "group/group_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define CARD_MAGIC 0x6d726732u /* "mrg2"; another byte order reads otherwise */
#define PSN_MASK 0xffffffu
#define CLOSE_NS UINT64_C(2000000000)
/*
 * With the device's shortest timeout of 20 ms, first 7 times and then doubled 9 times, a peer of
 * which nothing is heard is given up after some 20 s. Planes that come back within that are not
 * noticed.
 */
#define RETRY_LINEAR 7
#define RETRY_DOUBLING 9

struct card {
	uint32_t magic, rank, ranks, mtu;
	union ibv_gid gid;
	uint64_t inboxes;
	/* By link; each has a key of its own, so that no rank writes into what another one may. */
	struct card_link {
		uint32_t qpn, rkey;
	} links[];
};

static int refuse(char *error, const char *what, int number)
{
	snprintf(error, MG_TEXT_MAX, "%s: %s", what, strerror(number));
	return -1;
}

static int open_device(struct mg_group *g, char *error)
{
	int n = 0, supported = 0, number = ENODEV;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct mrc_device_attr attr;

	if (!list)
		return refuse(error, "list of verbs devices", errno);
	for (int i = 0; i < n && !g->device; i++) {
		g->device = ibv_open_device(list[i]);
		if (!g->device) {
			number = errno;
		} else if (mrc_query_device(g->device, &attr, &supported) || !supported) {
			ibv_close_device(g->device);
			g->device = NULL;
		}
	}
	ibv_free_device_list(list);
	return g->device ? 0 : refuse(error, "no verbs device that speaks MRC opens", number);
}

static int open_memory(struct mg_group *g, char *error)
{
	size_t in_bytes = mg_links(g) * sizeof(struct mg_inbox);
	size_t out_bytes = mg_links(g) * sizeof(struct mg_outbox);
	void *memory = mmap(NULL, in_bytes + out_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return refuse(error, "memory for messages", errno);
	g->inboxes = memory;
	g->outboxes = (struct mg_outbox *)(void *)(g->inboxes + mg_links(g));
	g->pd = ibv_alloc_pd(g->device);
	if (!g->pd)
		return refuse(error, "protection domain", errno);
	g->out_mr = ibv_reg_mr(g->pd, g->outboxes, out_bytes, 0);
	return g->out_mr ? 0 : refuse(error, "memory region", errno);
}

static int open_queues(struct mg_group *g, char *error)
{
	int entries = (int)(mg_links(g) * 2 * (SLOTS + CONTROL_MAX));
	int rc;

	g->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->wake_fd < 0)
		return refuse(error, "event descriptor", errno);
	g->context = mrc_create_context(g->device, NULL);
	if (!g->context)
		return refuse(error, "MRC context", errno);
	rc = mrc_create_comp_channel(g->context, &g->channel);
	if (rc)
		return refuse(error, "completion channel", rc);
	if (mrc_get_comp_channel_fd(g->channel, &g->channel_fd) ||
	    fcntl(g->channel_fd, F_SETFL, O_NONBLOCK))
		return refuse(error, "completion channel's descriptor", errno);
	g->cq = mrc_create_cq(g->context, entries, NULL, g->channel, 0);
	return g->cq ? 0 : refuse(error, "completion queue", errno);
}

void mg_post_receive(struct mg_link *link)
{
	struct ibv_recv_wr wr = {.wr_id = (uintptr_t)link}, *bad;

	if (mrc_post_recv(link->qp, &wr, &bad))
		mg_link_fail(link, "a receive: %s", strerror(errno));
}

static int open_link(struct mg_group *g, struct mg_link *link, char *error)
{
	struct mrc_qp_init_attr init = {
		.send_cq = g->cq,
		.recv_cq = g->cq,
		.cap = {.max_send_wr = SLOTS + CONTROL_MAX,
			.max_recv_wr = SLOTS + CONTROL_MAX,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.sq_sig_all = 1,
		.pd = g->pd,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	int rc;

	link->in_mr = ibv_reg_mr(g->pd, link->inbox, sizeof(*link->inbox),
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!link->in_mr)
		return refuse(error, "memory region", errno);
	link->qp = mrc_create_qp(g->context, &init);
	if (!link->qp)
		return refuse(error, "queue pair", errno);
	rc = mrc_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
			   NULL, 0);
	if (rc)
		return refuse(error, "queue pair to INIT", rc);
	for (unsigned i = 0; i < SLOTS + CONTROL_MAX; i++)
		mg_post_receive(link);
	if (!link->failed[0])
		return 0;
	snprintf(error, MG_TEXT_MAX, "%s", link->failed);
	return -1;
}

static int open_links(struct mg_group *g, char *error)
{
	g->links = calloc(mg_links(g), sizeof(*g->links));
	if (!g->links)
		return refuse(error, "links", ENOMEM);
	for (uint32_t peer = 0; peer < g->cfg.ranks; peer++)
		for (int channel = 0; channel < CHANNELS; channel++) {
			struct mg_link *link = mg_link_of(g, peer, (enum mg_channel)channel);

			link->peer = peer;
			link->channel = (enum mg_channel)channel;
			link->inbox = &g->inboxes[link - g->links];
			link->outbox = &g->outboxes[link - g->links];
			link->lkey = g->out_mr->lkey;
			if (peer != g->cfg.rank && open_link(g, link, error))
				return -1;
		}
	return 0;
}

struct mg_group *mg_open(const struct mg_cfg *cfg, char *error)
{
	struct mg_group *g;

	if (cfg->ranks < 1 || cfg->ranks > MG_RANKS_MAX || cfg->rank >= cfg->ranks) {
		snprintf(error, MG_TEXT_MAX, "rank %u of %u: want 1 to %u ranks", cfg->rank,
			 cfg->ranks, MG_RANKS_MAX);
		return NULL;
	}
	g = calloc(1, sizeof(*g));
	if (!g) {
		refuse(error, "group", ENOMEM);
		return NULL;
	}
	g->cfg = *cfg;
	g->wake_fd = -1;
	if (!open_device(g, error) && !open_memory(g, error) && !open_queues(g, error) &&
	    !open_links(g, error))
		return g;
	mg_close(g);
	return NULL;
}

size_t mg_card_bytes(const struct mg_group *g)
{
	return sizeof(struct card) + mg_links(g) * sizeof(struct card_link);
}

static uint32_t port_mtu(const struct mg_group *g)
{
	struct ibv_port_attr port = {.active_mtu = IBV_MTU_256};

	/* Cannot fail on an open device; its smallest MTU works in any case. */
	(void)ibv_query_port(g->device, 1, &port);
	return port.active_mtu;
}

void mg_describe(const struct mg_group *g, void *card)
{
	struct card *c = card;

	memset(c, 0, mg_card_bytes(g));
	c->magic = CARD_MAGIC;
	c->rank = g->cfg.rank;
	c->ranks = g->cfg.ranks;
	c->mtu = port_mtu(g);
	c->inboxes = (uintptr_t)g->inboxes;
	(void)ibv_query_gid(g->device, 1, 0, &c->gid);
	for (size_t i = 0; i < mg_links(g); i++)
		if (g->links[i].qp) {
			(void)mrc_get_qpn(g->links[i].qp, &c->links[i].qpn);
			c->links[i].rkey = g->links[i].in_mr->rkey;
		}
}

static uint32_t first_psn(uint32_t qpn)
{
	return (qpn * 2654435761u) & PSN_MASK;
}

static int to_rts(struct mg_link *link, const struct card *peer, uint32_t qpn, uint32_t mtu)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu < peer->mtu ? mtu : peer->mtu,
		.dest_qp_num = qpn,
		.rq_psn = first_psn(qpn),
		.ah_attr = {.is_global = 1, .grh = {.dgid = peer->gid}, .port_num = 1},
	};
	struct mrc_qp_attr mrc = {.retry = {.linear_cnt = RETRY_LINEAR, .exp_cnt = RETRY_DOUBLING}};
	uint32_t own = 0;
	int rc = mrc_modify_qp(link->qp, &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN,
			       NULL, 0);

	if (rc)
		return rc;
	(void)mrc_get_qpn(link->qp, &own);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = first_psn(own)};
	return mrc_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, &mrc, MRC_QP_RETRY_CNT);
}

int mg_connect(struct mg_group *g, uint32_t peer, const void *card, size_t bytes, char *error)
{
	struct card c;
	const uint8_t *links = (const uint8_t *)card + offsetof(struct card, links);

	if (bytes >= sizeof(c))
		memcpy(&c, card, sizeof(c));
	if (bytes != mg_card_bytes(g) || c.magic != CARD_MAGIC || c.rank != peer ||
	    c.ranks != g->cfg.ranks) {
		snprintf(error, MG_TEXT_MAX,
			 "what came as the card of rank %u is of another rank, number of ranks, "
			 "version or byte order (%zu bytes, want %zu)",
			 peer, bytes, mg_card_bytes(g));
		return -1;
	}
	for (int channel = 0; channel < CHANNELS; channel++) {
		struct mg_link *link = mg_link_of(g, peer, (enum mg_channel)channel);
		size_t theirs = (size_t)g->cfg.rank * CHANNELS + (size_t)channel;
		struct card_link to;
		int rc;

		memcpy(&to, links + theirs * sizeof(to), sizeof(to));
		link->remote = c.inboxes + theirs * sizeof(struct mg_inbox);
		link->rkey = to.rkey;
		link->heard_ns = mg_now_ns();
		rc = to_rts(link, &c, to.qpn, port_mtu(g));
		if (rc) {
			snprintf(error, MG_TEXT_MAX, "queue pair to rank %u: %s", peer,
				 strerror(rc));
			return -1;
		}
	}
	return 0;
}

static bool has_unacknowledged(const struct mg_group *g)
{
	for (size_t i = 0; i < mg_links(g); i++) {
		const struct mg_link *link = &g->links[i];

		if (link->remote && !link->failed[0] &&
		    (link->acked != link->sent || link->control))
			return true;
	}
	return false;
}

/* Leaves when all that was sent is there, and says so last: then nobody waits for an answer. */
static void flush(struct mg_group *g)
{
	uint64_t until = mg_now_ns() + CLOSE_NS;

	for (size_t i = 0; i < mg_links(g); i++)
		if (g->links[i].remote)
			mg_link_leave(&g->links[i]);
	while (has_unacknowledged(g) && mg_now_ns() < until)
		if (!mg_poll(g))
			usleep(100);
}

static void close_links(struct mg_group *g)
{
	for (size_t i = 0; i < mg_links(g); i++) {
		if (g->links[i].qp)
			mrc_destroy_qp(g->links[i].qp);
		if (g->links[i].in_mr)
			ibv_dereg_mr(g->links[i].in_mr);
		for (int list = 0; list < 2; list++) {
			struct mg_announcement *a =
				list ? g->links[i].announced : g->links[i].refused;

			while (a) {
				struct mg_announcement *next = a->next;

				free(a);
				a = next;
			}
		}
	}
	free(g->links);
}

void mg_close(struct mg_group *g)
{
	mg_break_quietly(g, g->cfg.rank, "the group is closed");
	mg_requests_progress(g);
	if (g->links) {
		if (g->cq)
			flush(g);
		close_links(g);
	}
	if (g->cq)
		mrc_destroy_cq(g->cq);
	if (g->channel)
		mrc_destroy_comp_channel(g->channel);
	if (g->context)
		mrc_destroy_context(g->context);
	if (g->out_mr)
		ibv_dereg_mr(g->out_mr);
	if (g->pd)
		ibv_dealloc_pd(g->pd);
	if (g->device)
		ibv_close_device(g->device);
	if (g->inboxes)
		munmap(g->inboxes, mg_links(g) * (sizeof(*g->inboxes) + sizeof(*g->outboxes)));
	if (g->wake_fd >= 0)
		close(g->wake_fd);
	free(g);
}
