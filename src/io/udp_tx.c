/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_tx.c - sorts a burst by EV and sends each EV's frames, runs as one message.
 *
 * The kernel looks at each iovec of a message by itself, which costs more than to copy a few bytes
 * twice. So what lies between the payloads of a run, the end of one frame and the headers of the
 * next, goes as one iovec.
 */
#include "io/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "io/backlog.h"
#include "wire/ip_udp.h"

#define TX_END 0xFFu
/* What the kernel takes in one message: bytes of an IP packet, and pieces (UIO_MAXIOV). */
#define TX_RUN_BYTES 65000u
#define TX_RUN_IOVS 1024u
/* How long frames go one by one after the system has refused a run; doubled each time. */
#define TX_RUNS_PAUSE_NS UINT64_C(1000000000)
#define TX_RUNS_PAUSE_MAX_NS (64 * TX_RUNS_PAUSE_NS)

/* The longest end, or headers, of a frame that is copied to lie beside its neighbour. */
#define TX_JOIN_MAX 64u

/*
 * Traffic class, and the size of a segment where a message is a run. With one of them alone the
 * kernel needs no memory for it.
 */
struct tx_control {
	_Alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))];
};

/* A message: frames[first .. first + n) of a chain. */
struct tx_run {
	uint8_t first, n;
};

/* How many frames may go as one message, while the system takes such messages. */
struct tx_runs {
	uint32_t wanted, max;
	bool refused; /* one was, and none of its frames has gone alone yet */
	uint64_t pause_ns, again_ns;
};

struct mio_udp_tx {
	struct mio_status *status;
	uint16_t ev_base;
	uint32_t n_evs;
	struct tx_runs runs;
	bool ipv4;
	uint64_t now_ns; /* of the call */
	int fd[MIO_UDP_EVS_MAX];
	struct mio_udp_peer peer[MIO_UDP_EVS_MAX]; /* of the socket */
	struct mio_backlog backlog;
	struct mmsghdr msg[MIO_BURST_MAX];
	union mio_udp_sa to[MIO_BURST_MAX];
	struct tx_control control[MIO_BURST_MAX];
	struct tx_run run[MIO_BURST_MAX];
	struct iovec iov[MIO_BURST_MAX * MIO_IOV_MAX]; /* of runs, one after the other */
	uint32_t iovs_used;
	uint8_t joined[MIO_BURST_MAX * 2 * TX_JOIN_MAX]; /* ends and headers, likewise */
	uint32_t joined_used;
	/* Chains of frame numbers by EV: first[ev], next[frame], TX_END. */
	uint8_t first[MIO_UDP_EVS_MAX], last[MIO_UDP_EVS_MAX], next[MIO_BURST_MAX];
	const struct mio_tx *chain[MIO_BURST_MAX]; /* the one being sent */
};

/* ---- runs ---- */

static void begin_runs(struct tx_runs *r, uint32_t wanted)
{
	*r = (struct tx_runs){.wanted = wanted, .max = wanted, .pause_ns = TX_RUNS_PAUSE_NS};
}

static void try_runs_again(struct tx_runs *r, uint64_t now_ns)
{
	if (now_ns >= r->again_ns)
		r->max = r->wanted;
}

/* No segmentation here, or not of this size, or no frame goes at all: that shows one by one. */
static void refuse_run(struct tx_runs *r)
{
	r->max = 1;
	r->refused = true;
}

/* A frame of a run that was refused has gone alone: it was the run that the system did not like. */
static void note_sent(struct tx_runs *r, struct mio_status *status, uint32_t frames,
		      uint64_t now_ns)
{
	if (frames > 1) {
		r->pause_ns = TX_RUNS_PAUSE_NS;
		status->tx_runs++;
		status->tx_run_frames += frames;
		status->no_runs = NULL;
	} else if (r->refused) {
		r->refused = false;
		status->no_runs = "the system refuses them";
		r->again_ns = now_ns + r->pause_ns;
		if (r->pause_ns < TX_RUNS_PAUSE_MAX_NS)
			r->pause_ns *= 2;
	}
}

/* None has: that says nothing about runs. */
static void end_refusal(struct tx_runs *r)
{
	if (r->refused)
		r->max = r->wanted;
	r->refused = false;
}

/* How many frames from chain[at] on can go as one message. */
static uint32_t run_length(const struct mio_udp_tx *tx, uint32_t at, uint32_t n)
{
	const struct mio_tx *a = tx->chain[at];
	uint32_t len = 1, bytes = a->len, iovs = a->n_iov;

	while (at + len < n && len < tx->runs.max) {
		const struct mio_tx *b = tx->chain[at + len];

		if (b->len > a->len || bytes + b->len > TX_RUN_BYTES ||
		    iovs + b->n_iov > TX_RUN_IOVS || b->tos != a->tos ||
		    b->flow_label != a->flow_label || b->dst.udp_port != a->dst.udp_port ||
		    memcmp(b->dst.ip, a->dst.ip, sizeof(a->dst.ip)) != 0)
			break;
		bytes += b->len;
		iovs += b->n_iov;
		len++;
		if (b->len < a->len)
			break; /* only the last segment may be shorter */
	}
	return len;
}

static void put_segment_size(struct cmsghdr *c, uint32_t bytes)
{
	uint16_t size = (uint16_t)bytes;

	c->cmsg_level = IPPROTO_UDP;
	c->cmsg_type = UDP_SEGMENT;
	c->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(c), &size, sizeof(size));
}

/*
 * Says where a message goes, in which class, and how long its segments are; 0: it is one. What the
 * socket knows since it was connected is left out.
 */
static void fill_envelope(struct mio_udp_tx *tx, uint32_t i, const struct mio_udp_peer *peer,
			  const struct mio_tx *frame, uint32_t segment)
{
	struct msghdr *m = &tx->msg[i].msg_hdr;
	char *control = tx->control[i].bytes;
	int tos = frame->tos;

	m->msg_name = NULL;
	m->msg_namelen = 0;
	m->msg_controllen = 0;
	m->msg_control = control + CMSG_SPACE(sizeof(int));
	if (!mio_udp_peer_is(peer, frame)) {
		m->msg_name = &tx->to[i];
		m->msg_namelen = mio_udp_sockaddr(&frame->dst, &tx->to[i]);
		mb_assert(tx->ipv4 == (m->msg_namelen == sizeof(tx->to[i].in)));
		if (!tx->ipv4)
			tx->to[i].in6.sin6_flowinfo = htonl(frame->flow_label);
		m->msg_control = control;
		m->msg_controllen = CMSG_SPACE(sizeof(int));
		memcpy(CMSG_DATA((struct cmsghdr *)(void *)control), &tos, sizeof(tos));
	}
	if (segment == 0)
		return;
	put_segment_size((void *)(control + CMSG_SPACE(sizeof(int))), segment);
	m->msg_controllen += CMSG_SPACE(sizeof(uint16_t));
}

/* Adds an iovec of a run. */
static void add_piece(struct mio_udp_tx *tx, const struct iovec *piece)
{
	tx->iov[tx->iovs_used++] = *piece;
}

/* Copies a short piece behind the one before, which is `last` and was copied, too; or adds it. */
static void join_piece(struct mio_udp_tx *tx, struct iovec *last, const struct iovec *piece)
{
	uint8_t *to = tx->joined + tx->joined_used;

	memcpy(to, piece->iov_base, piece->iov_len);
	tx->joined_used += (uint32_t)piece->iov_len;
	if (last)
		last->iov_len += piece->iov_len;
	else
		add_piece(tx, &(struct iovec){to, piece->iov_len});
}

/* Adds a frame of a run; follows: others do. The end of the one before may have been copied. */
static void add_frame(struct mio_udp_tx *tx, const struct mio_tx *frame, bool follows,
		      struct iovec **end)
{
	uint32_t n = frame->n_iov, first = 0;

	if (*end && n > 1 && frame->iov[0].iov_len <= TX_JOIN_MAX)
		join_piece(tx, *end, &frame->iov[first++]);
	*end = NULL;
	while (first + 1 < n)
		add_piece(tx, &frame->iov[first++]);
	if (!follows || n == 1 || frame->iov[first].iov_len > TX_JOIN_MAX) {
		add_piece(tx, &frame->iov[first]);
		return;
	}
	join_piece(tx, NULL, &frame->iov[first]);
	*end = &tx->iov[tx->iovs_used - 1];
}

/* Makes message i of the n frames from chain[first] on. */
static void fill_message(struct mio_udp_tx *tx, uint32_t i, const struct mio_udp_peer *peer,
			 uint32_t first, uint32_t n)
{
	struct msghdr *m = &tx->msg[i].msg_hdr;
	const struct mio_tx *frame = tx->chain[first];
	struct iovec *end = NULL;

	tx->run[i] = (struct tx_run){(uint8_t)first, (uint8_t)n};
	fill_envelope(tx, i, peer, frame, n > 1 ? frame->len : 0);
	m->msg_iov = (struct iovec *)(uintptr_t)frame->iov;
	m->msg_iovlen = frame->n_iov;
	if (n == 1)
		return;
	m->msg_iov = &tx->iov[tx->iovs_used];
	for (uint32_t k = 0; k < n; k++)
		add_frame(tx, tx->chain[first + k], k + 1 < n, &end);
	m->msg_iovlen = (size_t)(&tx->iov[tx->iovs_used] - m->msg_iov);
}

/* Makes messages of chain[from .. n) and returns how many. */
static uint32_t fill_messages(struct mio_udp_tx *tx, const struct mio_udp_peer *peer, uint32_t from,
			      uint32_t n)
{
	uint32_t msgs = 0;

	tx->iovs_used = 0;
	tx->joined_used = 0;
	while (from < n) {
		uint32_t len = run_length(tx, from, n);

		fill_message(tx, msgs++, peer, from, len);
		from += len;
	}
	return msgs;
}

static void count_sent(struct mio_udp_tx *tx, struct mio_udp_peer *peer, const struct tx_run *run)
{
	mio_udp_peer_note(peer, tx->chain[run->first]);
	note_sent(&tx->runs, tx->status, run->n, tx->now_ns);
	for (uint32_t k = run->first; k < (uint32_t)run->first + run->n; k++) {
		tx->status->tx_frames++;
		tx->status->tx_bytes += tx->chain[k]->len;
	}
}

/*
 * A message was refused. Whether something else may be tried with its frames: to send them without
 * what the socket has heard of its peer, or one by one.
 */
static bool may_send_otherwise(struct mio_udp_tx *tx, uint32_t ev, const struct tx_run *run)
{
	/* These are the message's own: no segmentation here, too long, memory gone. */
	bool of_message = errno == EIO || errno == EINVAL || errno == EMSGSIZE || errno == EFAULT;

	if (!of_message && mio_udp_peer_leave(&tx->peer[ev], tx->fd[ev], tx->now_ns))
		return true;
	if (run->n == 1)
		return false;
	refuse_run(&tx->runs);
	return true;
}

/*
 * Sends chain[0 .. n) on the socket of an EV and returns how many frames it dealt with: sent, or
 * refused and counted. Fewer than n: the socket has no room for the next.
 */
static uint32_t send_messages(struct mio_udp_tx *tx, uint32_t ev, uint32_t n)
{
	struct mio_udp_peer *peer = &tx->peer[ev];
	uint32_t done = 0, msgs = fill_messages(tx, peer, 0, n), at = 0;

	while (at < msgs) {
		int sent = sendmmsg(tx->fd[ev], tx->msg + at, msgs - at, MSG_DONTWAIT);

		if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR))
			return done;
		if (sent < 0 && may_send_otherwise(tx, ev, &tx->run[at])) {
			msgs = fill_messages(tx, peer, done, n);
			at = 0;
			continue;
		}
		if (sent < 0) {
			mio_count_refused(tx->status, errno);
			done++;
			at++;
			continue;
		}
		for (int i = 0; i < sent; i++, at++) {
			count_sent(tx, peer, &tx->run[at]);
			done += tx->run[at].n;
		}
	}
	return done;
}

static uint32_t send_chain(struct mio_udp_tx *tx, uint32_t ev, uint32_t n)
{
	uint32_t done;

	try_runs_again(&tx->runs, tx->now_ns);
	done = send_messages(tx, ev, n);
	end_refusal(&tx->runs);
	mio_udp_peer_settle(&tx->peer[ev], tx->fd[ev], tx->now_ns);
	return done;
}

/* ---- bursts ---- */

static void send_ev(struct mio_udp_tx *tx, uint64_t now_ns, uint32_t ev,
		    const struct mio_tx *frames)
{
	uint32_t n = 0;

	for (uint8_t i = tx->first[ev]; i != TX_END; i = tx->next[i])
		tx->chain[n++] = &frames[i];
	for (uint32_t done = send_chain(tx, ev, n); done < n; done++)
		mio_backlog_put(&tx->backlog, now_ns, tx->chain[done]);
}

static void append_to_chain(struct mio_udp_tx *tx, uint32_t ev, uint8_t frame)
{
	tx->next[frame] = TX_END;
	if (tx->first[ev] == TX_END)
		tx->first[ev] = frame;
	else
		tx->next[tx->last[ev]] = frame;
	tx->last[ev] = frame;
}

void mio_udp_tx_burst(struct mio_udp_tx *tx, uint64_t now_ns, const struct mio_tx *frames,
		      uint32_t n)
{
	mb_assert(n <= MIO_BURST_MAX);
	tx->now_ns = now_ns;
	memset(tx->first, TX_END, tx->n_evs);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t ev = (uint32_t)frames[i].sport - tx->ev_base;

		if (ev >= tx->n_evs)
			mio_count_refused(tx->status, EADDRNOTAVAIL);
		else if (tx->status->blocked)
			mio_backlog_put(&tx->backlog, now_ns, &frames[i]);
		else
			append_to_chain(tx, ev, (uint8_t)i);
	}
	for (uint32_t ev = 0; ev < tx->n_evs; ev++)
		if (tx->first[ev] != TX_END)
			send_ev(tx, now_ns, ev, frames);
}

uint64_t mio_udp_tx_deadline(const struct mio_udp_tx *tx)
{
	return mio_backlog_deadline(&tx->backlog);
}

static bool send_backlogged(void *ctx, uint64_t now_ns, const struct mio_tx *frame)
{
	struct mio_udp_tx *tx = ctx;

	tx->now_ns = now_ns;
	tx->chain[0] = frame;
	return send_chain(tx, (uint32_t)frame->sport - tx->ev_base, 1) == 1;
}

void mio_udp_tx_tick(struct mio_udp_tx *tx, uint64_t now_ns)
{
	mio_backlog_tick(&tx->backlog, now_ns, send_backlogged, tx);
}

/* ---- life ---- */

int mio_udp_tx_fd(const struct mio_udp_tx *tx)
{
	return tx->fd[0];
}

void mio_udp_tx_stop_runs(struct mio_udp_tx *tx)
{
	begin_runs(&tx->runs, 1);
}

void mio_udp_tx_close_inherited(struct mio_udp_tx *tx)
{
	for (uint32_t i = 0; i < tx->n_evs; i++)
		close(tx->fd[i]);
}

void mio_udp_tx_destroy(struct mio_udp_tx *tx)
{
	mio_udp_tx_close_inherited(tx);
	mio_backlog_fini(&tx->backlog);
	free(tx);
}

static void init_messages(struct mio_udp_tx *tx)
{
	for (uint32_t i = 0; i < MIO_BURST_MAX; i++) {
		struct cmsghdr *c = (void *)tx->control[i].bytes;

		c->cmsg_level = tx->ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
		c->cmsg_type = tx->ipv4 ? IP_TOS : IPV6_TCLASS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
	}
}

int mio_udp_tx_create(const struct mio_udp_cfg *cfg, struct mio_status *status,
		      struct mio_udp_tx **out, struct mio_error *error)
{
	struct mio_udp_tx *tx = calloc(1, sizeof(*tx));
	int err = 0;

	if (!tx || !mio_backlog_init(&tx->backlog, status)) {
		free(tx);
		strcpy(error->text, "no memory for a UDP port");
		return ENOMEM;
	}
	tx->status = status;
	tx->ev_base = cfg->ev_base;
	begin_runs(&tx->runs, cfg->max_run);
	tx->ipv4 = mw_is_ipv4(cfg->local.ip);
	while (tx->n_evs < cfg->n_evs && !err) {
		uint32_t i = tx->n_evs;

		err = mio_udp_send_socket(&cfg->local, cfg->ifname, (uint16_t)(cfg->ev_base + i),
					  &tx->fd[i], error);
		tx->n_evs += !err;
		if (!err && cfg->zero_checksum)
			err = mio_udp_send_zero_checksum(tx->fd[i], &cfg->local, error);
	}
	if (err) {
		mio_udp_tx_destroy(tx);
		return err;
	}
	init_messages(tx);
	*out = tx;
	return 0;
}
