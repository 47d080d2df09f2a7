/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * soak_verify - a program on a verbs device that looks at every byte, for as long as it is let.
 *
 *	soak_verify PORT SEED           the server: waits for one client, life after life
 *	soak_verify PORT SEED ADDRESS   the client
 *
 * A life opens the device, connects one RC QP and closes everything after LIFE_ROUNDS rounds. In a
 * round each side in turn has BATCH requests under way, drawn from the seed: SENDs, WRITEs, READs
 * and atomics of up to SLOT_BYTES. What was written or sent is compared by who has it then, what
 * was read by who read it, with the bytes behind it, which must be as they were. Odd lives sleep on
 * a completion channel, even ones poll.
 *
 * Each second a line: `bytes N wrong N rounds N lives N`; after each life, with everything closed,
 * one of what there is then: `closed lives N heap N fds N threads N`. SIGTERM to the client ends
 * both after a round with status 0; a peer that is gone, or a QP in error, ends it with status 3, a
 * wrong byte with 1 at the end, anything else with 2.
 */
#include <infiniband/verbs.h>

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/folder_entries.h"

#define BATCH 8u
#define SLOT_BYTES (128u << 10)
#define BEHIND 64u /* bytes behind a message that must stay as they are */
#define SLOT (SLOT_BYTES + BEHIND)
#define CANARY 0xa5
#define LIFE_ROUNDS 20u
#define PSN 0xfffff0u
#define LOOK_MS 1000	  /* whether the peer is there still */
#define PATIENCE_MS 60000 /* for a peer that opens its device on a busy machine */
#define ACCESS                                                             \
	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))

enum { PEER_LOST = 3, BROKEN = 2 };
enum op { OP_SEND, OP_WRITE, OP_READ, OP_ADD, OPS };

/* What a side sends from, receives and is written to, reads to; and the words beside. */
struct memory {
	uint8_t from[BATCH][SLOT], to[BATCH][SLOT], read[BATCH][SLOT];
	uint64_t counter;      /* what peers add to */
	uint64_t added[BATCH]; /* what it was before */
	uint64_t said, heard;  /* control messages */
};

struct card {
	union ibv_gid gid;
	uint64_t address;
	uint32_t qpn, rkey;
};

struct end {
	bool server;
	uint64_t seed;
	struct memory *m;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel; /* NULL: it polls */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct card mine, peer;
	uint32_t sends, recvs; /* completions that have been taken */
	uint32_t posted;       /* requests whose completions come */
	int sock;	       /* to the peer; its end says that the peer is gone */
	uint64_t adds;	       /* of this side to the peer's counter, in this life */
	uint64_t bytes, wrong, rounds, lives;
	time_t told;
};

static volatile sig_atomic_t is_to_end;

_Noreturn static void leave(int status, const char *what)
{
	fprintf(stderr, "soak_verify %d: %s (errno %d)\n", (int)getpid(), what, errno);
	exit(status);
}

#define must(cond) ((cond) ? (void)0 : leave(BROKEN, #cond))

static void end_soon(int number)
{
	(void)number;
	is_to_end = 1;
}

/* ---- what is sent ---- */

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* A number of a message: both sides know what each is to be. */
static uint64_t draw(const struct end *e, bool server, uint32_t slot, uint32_t what)
{
	return mix(e->seed ^ mix(e->lives << 32 ^ e->rounds << 8 ^ slot << 3 ^ what << 1 ^ server));
}

static enum op op_of(const struct end *e, bool server, uint32_t slot)
{
	return (enum op)(draw(e, server, slot, 0) % OPS);
}

/* Of every size up to some packets, and now and then a long one. */
static uint32_t length_of(const struct end *e, bool server, uint32_t slot)
{
	uint64_t number = draw(e, server, slot, 1);

	return (uint32_t)(number >> 8) % (number & 3 ? 20000u : SLOT_BYTES + 1);
}

static void fill(uint8_t *bytes, uint32_t len, uint64_t number)
{
	uint32_t i = 0;

	for (; i + 8 <= len; i += 8, number = number * 0x5851f42d4c957f2du + 1)
		memcpy(bytes + i, &number, 8);
	memcpy(bytes + i, &number, len - i);
}

/* Counts the bytes of a message that are wrong, and those behind it that changed. */
static void compare(struct end *e, const char *what, const uint8_t *bytes, uint32_t len,
		    uint64_t number)
{
	static uint8_t want[SLOT];
	uint64_t wrong = 0;

	fill(want, len, number);
	memset(want + len, CANARY, BEHIND);
	e->bytes += len;
	if (memcmp(bytes, want, len + BEHIND) == 0)
		return;
	for (uint32_t i = 0; i < len + BEHIND; i++)
		wrong += bytes[i] != want[i];
	e->wrong += wrong;
	printf("WRONG: %" PRIu64 " bytes of %u, %s, life %" PRIu64 " round %" PRIu64 "\n", wrong,
	       len, what, e->lives, e->rounds);
}

/* ---- the device ---- */

static void open_device(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.cap = {.max_send_wr = BATCH + 1,
						.max_recv_wr = BATCH + 1,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.qp_type = IBV_QPT_RC,
					.sq_sig_all = 1};

	must(list && list[0]);
	must(e->ctx = ibv_open_device(list[0]));
	ibv_free_device_list(list);
	must(e->pd = ibv_alloc_pd(e->ctx));
	must(e->mr = ibv_reg_mr(e->pd, e->m, sizeof(*e->m), (int)ACCESS));
	e->channel = e->lives % 2 ? ibv_create_comp_channel(e->ctx) : NULL;
	must(e->channel || e->lives % 2 == 0);
	must(e->cq = ibv_create_cq(e->ctx, 4 * BATCH, NULL, e->channel, 0));
	init.send_cq = init.recv_cq = e->cq;
	must(e->qp = ibv_create_qp(e->pd, &init));
	e->mine = (struct card){
		.address = (uintptr_t)e->m, .qpn = e->qp->qp_num, .rkey = e->mr->rkey};
	must(ibv_query_gid(e->ctx, 1, 0, &e->mine.gid) == 0);
}

static void connect_qp(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ACCESS,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = e->peer.qpn,
		.rq_psn = PSN,
		.sq_psn = PSN,
		.max_dest_rd_atomic = BATCH,
		.max_rd_atomic = BATCH,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = e->peer.gid}},
		.timeout = 16, /* a quarter of a second, seven times */
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	must(!ibv_modify_qp(e->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	must(!ibv_modify_qp(e->qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	must(!ibv_modify_qp(e->qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void close_device(struct end *e)
{
	must(ibv_destroy_qp(e->qp) == 0);
	must(ibv_destroy_cq(e->cq) == 0);
	must(!e->channel || ibv_destroy_comp_channel(e->channel) == 0);
	must(ibv_dereg_mr(e->mr) == 0);
	must(ibv_dealloc_pd(e->pd) == 0);
	must(ibv_close_device(e->ctx) == 0);
}

/* What it has posted to a peer that is gone must fail; who has posted nothing hears nothing. */
static bool is_peer_gone(struct end *e)
{
	char byte;
	ssize_t n = recv(e->sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return (n == 0 || (n < 0 && errno == ECONNRESET)) && e->sends == e->posted;
}

/* Sleeps until the channel says that there may be completions, or for a moment. */
static void sleep_for_completion(struct end *e)
{
	struct pollfd p = {e->channel->fd, POLLIN, 0};
	struct ibv_cq *cq;
	void *user;

	if (poll(&p, 1, LOOK_MS) == 1 && ibv_get_cq_event(e->channel, &cq, &user) == 0)
		ibv_ack_cq_events(cq, 1);
}

static bool take_completions(struct end *e)
{
	struct ibv_wc wc;
	bool any = false;

	while (ibv_poll_cq(e->cq, 1, &wc) == 1) {
		if (wc.status != IBV_WC_SUCCESS)
			leave(PEER_LOST, ibv_wc_status_str(wc.status));
		if (wc.opcode & IBV_WC_RECV)
			e->recvs++;
		else
			e->sends++;
		any = true;
	}
	return any;
}

/* Waits for that many completions of sends and receives in all. */
static void wait_for(struct end *e, uint32_t sends, uint32_t recvs)
{
	time_t begin = time(NULL), looked = begin;

	while (e->sends < sends || e->recvs < recvs) {
		if (take_completions(e))
			continue;
		if (time(NULL) > begin + PATIENCE_MS / 1000)
			leave(BROKEN, "no completion for a minute");
		if (time(NULL) != looked && is_peer_gone(e))
			leave(PEER_LOST, "the peer is gone");
		looked = time(NULL);
		if (!e->channel)
			continue;
		must(ibv_req_notify_cq(e->cq, 0) == 0);
		if (!take_completions(e))
			sleep_for_completion(e);
	}
}

/* ---- rounds ---- */

static void post_recv(struct end *e, void *at, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)at, len, e->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	must(ibv_post_recv(e->qp, &wr, &bad) == 0);
}

static void post_send(struct end *e, enum ibv_wr_opcode opcode, void *at, uint32_t len,
		      size_t remote)
{
	struct ibv_sge sge = {(uintptr_t)at, len, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = e->peer.address + remote;
		wr.wr.atomic.rkey = e->peer.rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = e->peer.address + remote;
		wr.wr.rdma.rkey = e->peer.rkey;
	}
	/* The word that ends a batch must not go before its READs: the peer goes on with it. */
	if (at == &e->m->said)
		wr.send_flags = IBV_SEND_FENCE;
	must(ibv_post_send(e->qp, &wr, &bad) == 0);
	e->posted++;
}

/* Receives for what the peer's batch sends, in its order, and for the word behind it. */
static void post_receives(struct end *e)
{
	for (uint32_t s = 0; s < BATCH; s++)
		if (op_of(e, !e->server, s) == OP_SEND)
			post_recv(e, e->m->to[s], SLOT_BYTES);
	post_recv(e, &e->m->heard, sizeof(e->m->heard));
}

static void prepare_round(struct end *e)
{
	for (uint32_t s = 0; s < BATCH; s++) {
		fill(e->m->from[s], SLOT_BYTES, draw(e, e->server, s, 2));
		memset(e->m->to[s], CANARY, SLOT);
		memset(e->m->read[s], CANARY, SLOT);
	}
	post_receives(e);
}

static void post_batch(struct end *e)
{
	struct memory *m = e->m;

	for (uint32_t s = 0; s < BATCH; s++) {
		uint32_t len = length_of(e, e->server, s);
		size_t slot = (size_t)s * SLOT;

		switch (op_of(e, e->server, s)) {
		case OP_SEND:
			post_send(e, IBV_WR_SEND, m->from[s], len, 0);
			break;
		case OP_WRITE:
			post_send(e, IBV_WR_RDMA_WRITE, m->from[s], len,
				  offsetof(struct memory, to) + slot);
			break;
		case OP_READ:
			post_send(e, IBV_WR_RDMA_READ, m->read[s], len,
				  offsetof(struct memory, from) + slot);
			break;
		default:
			post_send(e, IBV_WR_ATOMIC_FETCH_AND_ADD, &m->added[s], 8,
				  offsetof(struct memory, counter));
			break;
		}
	}
}

/* What this side has read is right when its requests are complete. */
static void compare_own(struct end *e)
{
	for (uint32_t s = 0; s < BATCH; s++) {
		enum op op = op_of(e, e->server, s);

		if (op == OP_READ)
			compare(e, "read", e->m->read[s], length_of(e, e->server, s),
				draw(e, !e->server, s, 2));
		if (op != OP_ADD)
			continue;
		e->bytes += 8;
		if (e->m->added[s] != e->adds++) {
			e->wrong += 8;
			printf("WRONG: the counter was %" PRIu64 ", want %" PRIu64 "\n",
			       e->m->added[s], e->adds - 1);
		}
	}
}

/* What the peer has sent and written is right when its word is here. */
static void compare_peers(struct end *e)
{
	for (uint32_t s = 0; s < BATCH; s++) {
		enum op op = op_of(e, !e->server, s);

		if (op == OP_SEND || op == OP_WRITE)
			compare(e, op == OP_SEND ? "sent" : "written", e->m->to[s],
				length_of(e, !e->server, s), draw(e, !e->server, s, 2));
	}
}

static uint32_t sends_of(const struct end *e, bool server)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < BATCH; s++)
		n += op_of(e, server, s) == OP_SEND;
	return n;
}

/* The word is 1, or 2 to say that this was the last round. */
static void say(struct end *e, uint64_t word)
{
	e->m->said = word;
	post_send(e, IBV_WR_SEND, &e->m->said, sizeof(e->m->said), 0);
	wait_for(e, BATCH + 1, 0);
	compare_own(e);
}

static void hear(struct end *e)
{
	wait_for(e, 0, sends_of(e, !e->server) + 1);
	compare_peers(e);
}

static void tell(struct end *e, bool now)
{
	if (!now && time(NULL) == e->told)
		return;
	e->told = time(NULL);
	printf("bytes %" PRIu64 " wrong %" PRIu64 " rounds %" PRIu64 " lives %" PRIu64 "\n",
	       e->bytes, e->wrong, e->lives * LIFE_ROUNDS + e->rounds, e->lives);
	fflush(stdout);
}

/* A byte each way over TCP: both have posted their receives and prepared what is read. */
static void meet(struct end *e)
{
	char byte = 'r';

	if (send(e->sock, &byte, 1, MSG_NOSIGNAL) != 1 || recv(e->sock, &byte, 1, MSG_WAITALL) != 1)
		leave(PEER_LOST, "the peer is gone");
}

/* One round; false: it was the last. */
static bool run_round(struct end *e)
{
	bool last = !e->server && is_to_end;

	e->sends = e->recvs = e->posted = 0;
	prepare_round(e);
	meet(e);
	if (!e->server) {
		post_batch(e);
		say(e, last ? 2 : 1);
		hear(e);
		return !last;
	}
	hear(e);
	last = e->m->heard == 2;
	post_batch(e);
	say(e, 1);
	return !last;
}

/* ---- lives ---- */

static void exchange(struct end *e)
{
	if (send(e->sock, &e->mine, sizeof(e->mine), MSG_NOSIGNAL) != sizeof(e->mine) ||
	    recv(e->sock, &e->peer, sizeof(e->peer), MSG_WAITALL) != sizeof(e->peer))
		leave(PEER_LOST, "the peer is gone");
}

static void tell_closed(const struct end *e)
{
	printf("closed lives %" PRIu64 " heap %zu fds %u threads %u\n", e->lives,
	       mallinfo2().uordblks, folder_entries("/proc/self/fd"),
	       folder_entries("/proc/self/task"));
}

/* One life; false: it was the last. */
static bool live(struct end *e)
{
	bool more = true;

	e->adds = 0;
	e->m->counter = 0;
	open_device(e);
	exchange(e);
	connect_qp(e);
	meet(e);
	for (e->rounds = 0; more && e->rounds < LIFE_ROUNDS; e->rounds++) {
		more = run_round(e);
		tell(e, false);
	}
	/* Acknowledgements of the last round may still be wanted. */
	meet(e);
	close_device(e);
	e->rounds = 0;
	e->lives++;
	tell_closed(e);
	return more;
}

static int wait_for_client(const char *port)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6,
				   .sin6_port = htons((uint16_t)atoi(port))};
	int one = 1, listener = socket(AF_INET6, SOCK_STREAM, 0), sock;

	must(listener >= 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	must(bind(listener, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(listener, 1) == 0);
	sock = accept(listener, NULL, NULL);
	close(listener);
	return sock;
}

static int reach_server(const char *address, const char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all;
	int sock = -1;

	must(getaddrinfo(address, port, &hints, &all) == 0);
	for (int ms = 0; ms < PATIENCE_MS; ms += 100) {
		sock = socket(all->ai_family, SOCK_STREAM, 0);
		if (sock >= 0 && connect(sock, all->ai_addr, all->ai_addrlen) == 0)
			break;
		close(sock);
		sock = -1;
		poll(NULL, 0, 100);
	}
	freeaddrinfo(all);
	return sock;
}

int main(int argc, char **argv)
{
	/* Who waits for its peer when the signal comes goes on waiting: its peer is there. */
	struct sigaction action = {.sa_handler = end_soon, .sa_flags = SA_RESTART};
	struct end e = {.server = argc == 3};

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "soak_verify PORT SEED [ADDRESS]\n");
		return BROKEN;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &action, NULL);
	e.seed = strtoull(argv[2], NULL, 0);
	must(e.m = calloc(1, sizeof(*e.m)));
	e.sock = e.server ? wait_for_client(argv[1]) : reach_server(argv[3], argv[1]);
	must(e.sock >= 0);
	while (live(&e))
		;
	tell(&e, true);
	free(e.m);
	close(e.sock);
	return e.wrong ? 1 : 0;
}
