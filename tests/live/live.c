/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c - two processes over loopback: setting up, connecting, waiting, taking down. */
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"
#include "core/engine.h"
#include "support/nic_counters.h"
#include "support/test.h"

#define LIVE_WAIT_MS 60000
#define LIVE_CASE_S 180u

static const char *live_name; /* of this process; NULL in the test's own */

_Noreturn void live_fail(const char *file, int line, const char *what)
{
	if (!live_name)
		fail_msg("%s:%d: %s", file, line, what);
	fprintf(stderr, "%s: %s:%d: %s\n", live_name, file, line, what);
	_exit(1);
}

/* ---- between the processes ---- */

void live_tell(struct live_side *s, const void *bytes, size_t len)
{
	live_check(send(s->sock, bytes, len, MSG_NOSIGNAL) == (ssize_t)len);
}

void live_hear(struct live_side *s, void *bytes, size_t len)
{
	live_check(recv(s->sock, bytes, len, MSG_WAITALL) == (ssize_t)len);
	/* What the peer says it wrote was placed under the NIC's lock: passing it once makes that
	 * visible here by the rules of the language, not only by those of the machine. */
	if (s->dev)
		mh_device_is_up(s->dev);
}

void live_barrier(struct live_side *s)
{
	char byte = 'b';

	live_tell(s, &byte, 1);
	live_hear(s, &byte, 1);
}

/* ---- setting up ---- */

static void live_stats_path(char *path, size_t size)
{
	snprintf(path, size, "/tmp/%ld.mrcstats", (long)getpid());
}

/* live_setenv sets a variable to a text in which * stands for the host's number; NULL: to none. */
static void live_setenv(const char *name, const char *text, uint32_t host)
{
	char value[400];
	size_t i;

	for (i = 0; text && text[i] && i < sizeof(value) - 1; i++)
		value[i] = text[i] == '*' ? (char)('0' + host) : text[i];
	value[i] = '\0';
	setenv(name, value, 1);
}

static void live_environment(const struct live_setup *setup, uint32_t host, const char *faults)
{
	const char *list = setup->ports ? setup->ports : "127.0.0.*,127.0.1.*,127.0.2.*,127.0.3.*";
	char evs[12];

	snprintf(evs, sizeof(evs), "%u", LIVE_EVS);
	live_setenv("MRC_PORTS", list, host);
	setenv("MRC_EVS", setup->rows ? "" : evs, 1);
	live_setenv("MRC_SRV6_ROWS", setup->rows, host);
	live_setenv("MRC_SRV6_GID", setup->gid, host);
	live_setenv("MRC_SRV6_UPLINKS", setup->uplinks, host);
	setenv("MRC_EV_BASE", setup->own_ev_bases && host == 2 ? "13008" : "12000", 1);
	setenv("MRC_PACE", setup->pace ? setup->pace : "", 1);
	setenv("MRC_CC", setup->cc ? setup->cc : "", 1);
	setenv("MRC_EV_FORMAT", setup->ev_format ? setup->ev_format : "", 1);
	setenv("MRC_ICRC", setup->icrc ? setup->icrc : "", 1);
	if (setup->target_icrc && host == 2)
		setenv("MRC_ICRC", setup->target_icrc, 1);
	setenv("MRC_DRIVER", setup->driver ? setup->driver : "", 1);
	setenv("MRC_CAPTURE", setup->capture && host == 1 ? setup->capture : "", 1);
	setenv("MRC_ORDER", setup->order ? setup->order : "", 1);
	setenv("MRC_FAULTS", faults, 1);
	setenv("MRC_STATS_DIR", "/tmp", 1);
}

/* live_make_qp makes a CQ with a channel, and a QP on it. */
static void live_make_qp(struct live_side *s)
{
	struct mh_qp_init init = {
		.pd = s->pd,
		.cap = {.max_send_wr = LIVE_DEPTH,
			.max_recv_wr = 1024,
			.max_send_sge = 4,
			.max_recv_sge = 2,
			.max_inline = 64},
		.extended = s->setup->extended,
		.owner = s,
	};
	uint32_t cqe = s->setup->cqe ? s->setup->cqe : 4096;

	if (!s->cq || !s->setup->one_cq) {
		live_check(mh_channel_create(s->dev, &s->channel) == 0);
		live_check(mh_cq_create(s->dev, cqe, s->channel, NULL, &s->cq) == 0);
	}
	init.send_cq = init.recv_cq = s->cq;
	live_check(mh_qp_create(&init, &s->qp) == 0);
}

static void live_open(struct live_side *s)
{
	uint32_t access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ;

	live_check(mh_device_open(0, s, &s->dev) == 0);
	live_check(mh_pd_create(s->dev, NULL, &s->pd) == 0);
	s->buffer = mmap(NULL, s->setup->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	live_check(s->buffer != MAP_FAILED);
	live_check(mh_mr_reg(s->pd, s->buffer, s->setup->bytes, (uintptr_t)s->buffer, access,
			     &s->mr) == 0);
	live_make_qp(s);
}

static void live_exchange(struct live_side *s)
{
	struct mh_device_attr attr;

	mh_device_query(s->dev, &attr);
	s->mine = (struct live_card){
		.gid = attr.gid,
		.qpn = mh_qp_number(s->qp),
		.psn = mh_qp_number(s->qp) * 2654435761u & 0xFFFFFF,
		.rkey = mh_mr_rkey(s->mr),
		.addr = (uintptr_t)s->buffer,
	};
	live_tell(s, &s->mine, sizeof(s->mine));
	live_hear(s, &s->peer, sizeof(s->peer));
}

static void live_connect(struct live_side *s)
{
	struct mh_device_attr device;
	struct rd_qp_attr attr;

	mh_qp_attr_default(&attr);
	attr.rnr_retry = 7;
	attr.min_rnr_timer = 1;
	attr.access = RD_ACCESS_REMOTE_WRITE | (s->setup->reads ? RD_ACCESS_REMOTE_READ : 0);
	attr.max_rd_atomic = attr.max_dest_rd_atomic = s->setup->reads;
	attr.state = RD_QPS_INIT;
	live_check(mh_qp_modify(s->qp, &attr, RD_QP_STATE | RD_QP_ACCESS) == 0);
	attr.dest = s->peer.gid;
	attr.dest_qpn = s->peer.qpn;
	attr.rq_psn = s->peer.psn;
	mh_device_query(s->dev, &device);
	attr.path_mtu = device.max_mtu;
	attr.mpr_dest = 8;
	attr.max_wimm_dest = 64;
	attr.state = RD_QPS_RTR;
	live_check(mh_qp_modify(s->qp, &attr,
				RD_QP_STATE | RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_PATH_MTU |
					RD_QP_MPR_DEST | RD_QP_MAX_WIMM_DEST | RD_QP_MIN_RNR_TIMER |
					(s->setup->reads ? RD_QP_MAX_DEST_RD_ATOMIC : 0)) == 0);
	attr.sq_psn = s->mine.psn;
	attr.mpr = 8;
	attr.max_wimm = 64;
	attr.timeout = s->setup->timeout ? s->setup->timeout : 14;
	attr.retry_linear = s->setup->retry_linear ? s->setup->retry_linear : 7;
	attr.retry_exp = s->setup->retry_exp ? s->setup->retry_exp : 7;
	attr.state = RD_QPS_RTS;
	live_check(mh_qp_modify(s->qp, &attr,
				RD_QP_STATE | RD_QP_SQ_PSN | RD_QP_MPR | RD_QP_MAX_WIMM |
					RD_QP_TIMEOUT | RD_QP_RETRY | RD_QP_RNR_RETRY |
					(s->setup->reads ? RD_QP_MAX_RD_ATOMIC : 0)) == 0);
}

void live_more(const struct live_side *s, struct live_side *more)
{
	*more = *s;
	live_make_qp(more);
	live_exchange(more);
	live_connect(more);
	live_barrier(more);
}

void live_less(struct live_side *more)
{
	live_check(mh_qp_destroy(more->qp) == 0);
	if (more->setup->one_cq)
		return;
	live_check(mh_cq_destroy(more->cq) == 0);
	live_check(mh_channel_destroy(more->channel) == 0);
}

static void live_close(struct live_side *s)
{
	char path[40];

	live_check(mh_device_close(s->dev) == EBUSY);
	live_check(mh_qp_destroy(s->qp) == 0);
	live_check(mh_mr_dereg(s->mr) == 0);
	live_check(mh_cq_destroy(s->cq) == 0);
	live_check(mh_channel_destroy(s->channel) == 0);
	live_check(mh_pd_destroy(s->pd) == 0);
	live_check(mh_device_close(s->dev) == 0);
	live_stats_path(path, sizeof(path));
	live_check(access(path, F_OK) < 0 && errno == ENOENT);
	munmap(s->buffer, s->setup->bytes);
}

static void live_side_run(struct live_side *s, void (*body)(struct live_side *))
{
	live_open(s);
	live_exchange(s);
	live_connect(s);
	live_barrier(s);
	body(s);
	live_barrier(s);
	live_close(s);
}

static void live_table(char *path, struct mrc_fault_table **table)
{
	int fd;

	strcpy(path, "/tmp/softmrc-live-XXXXXX");
	fd = mkstemp(path);
	live_check(fd >= 0 && ftruncate(fd, sizeof(**table)) == 0);
	*table = mmap(NULL, sizeof(**table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	live_check(*table != MAP_FAILED);
	close(fd);
	(*table)->version = MRC_FAULT_VERSION;
	(*table)->rules = MRC_FAULT_RULES;
	(*table)->seed = test_seed();
	memcpy((*table)->magic, MRC_FAULT_MAGIC, 8);
}

/* live_start runs one side in a process of its own. */
static pid_t live_start(const struct live_side *plan, const char *name, uint32_t host,
			const char *faults, int sock, void (*body)(struct live_side *))
{
	struct live_side side = *plan;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	live_check(pid >= 0);
	if (pid > 0)
		return pid;
	live_name = name;
	alarm(side.setup->limit_s ? side.setup->limit_s : LIVE_CASE_S);
	side.sock = sock;
	if (side.setup->enter)
		side.setup->enter(&side, host);
	live_environment(side.setup, host, faults);
	live_side_run(&side, body);
	exit(0); /* not _exit: leaks are looked for on the way out */
}

/* live_reap waits for both sides; when one fails the other is not waited for. */
static bool live_reap(pid_t a, pid_t b)
{
	bool good = true;

	for (int left = 2; left > 0; left--) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
			good = false;
			if (pid != a)
				kill(a, SIGKILL);
			if (pid != b)
				kill(b, SIGKILL);
		}
	}
	return good;
}

void live_run(const struct live_setup *setup, void (*initiator)(struct live_side *),
	      void (*target)(struct live_side *))
{
	struct live_side plan = {.setup = setup};
	char path[40];
	pid_t a, b;
	int pair[2];
	bool good;

	live_table(path, &plan.faults);
	live_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	b = live_start(&plan, "target", 2, path, pair[1], target);
	close(pair[1]);
	a = live_start(&plan, "initiator", 1, path, pair[0], initiator);
	close(pair[0]);
	good = live_reap(a, b);
	munmap(plan.faults, sizeof(*plan.faults));
	unlink(path);
	if (!good)
		fail_msg("a side failed");
}

/* ---- what cases do ---- */

uint64_t live_counter(struct live_side *s, const char *name)
{
	struct mh_counter counters[MH_COUNTERS_MAX];
	uint32_t n = nic_counters(s->dev, counters);

	for (uint32_t i = 0; i < n; i++)
		if (strcmp(counters[i].name, name) == 0)
			return counters[i].value;
	live_fail(__FILE__, __LINE__, name);
}

const struct mrc_stats_segment *live_stats(struct live_side *s)
{
	char path[40];
	int fd;

	if (s->stats)
		return s->stats;
	live_stats_path(path, sizeof(path));
	fd = open(path, O_RDONLY);
	live_check(fd >= 0);
	s->stats = mmap(NULL, sizeof(*s->stats), PROT_READ, MAP_SHARED, fd, 0);
	live_check(s->stats != MAP_FAILED);
	close(fd);
	live_check(memcmp(s->stats->magic, MRC_STATS_MAGIC, 8) == 0);
	live_check(s->stats->pid == (uint32_t)getpid() && s->stats->ports == LIVE_PLANES);
	return s->stats;
}

bool live_wait_counter(struct live_side *s, const char *name, uint64_t want, uint32_t ms)
{
	for (; live_counter(s, name) < want; ms--) {
		struct timespec one_ms = {0, 1000000};

		if (ms == 0)
			return false;
		nanosleep(&one_ms, NULL);
	}
	return true;
}

void live_wait(struct live_side *s, struct mh_wc *wc, uint32_t n)
{
	uint32_t got = 0;

	while (got < n) {
		struct pollfd pfd = {mh_channel_fd(s->channel), POLLIN, 0};
		struct mh_cq *cq;
		int more;

		mh_cq_req_notify(s->cq, false);
		more = mh_cq_poll(s->cq, n - got, wc + got);
		live_check(more >= 0);
		got += (uint32_t)more;
		if (got == n || more > 0)
			continue;
		live_check(poll(&pfd, 1, LIVE_WAIT_MS) == 1);
		live_check(mh_channel_get(s->channel, &cq) == 0 && cq == s->cq);
		mh_cq_ack_events(cq, 1);
	}
}

void live_expect_at(const char *file, int line, const struct mh_wc *wc, uint64_t wr_id,
		    enum rd_wc_status status)
{
	if (wc->wr_id == wr_id && wc->status == status)
		return;
	fprintf(stderr, "completion %llu: %s; wanted %llu: %s\n", (unsigned long long)wc->wr_id,
		mt_wc_status_name(wc->status), (unsigned long long)wr_id,
		mt_wc_status_name(status));
	live_fail(file, line, "completion");
}

void live_write(struct live_side *s, uint64_t wr_id, size_t offset, uint32_t len, uint32_t flags,
		uint32_t imm)
{
	struct rd_sge sge = {(uintptr_t)s->buffer + offset, len, mh_mr_lkey(s->mr)};
	struct rd_send_wr wr = {
		.wr_id = wr_id,
		.sge = &sge,
		.n_sge = 1,
		.flags = flags,
		.imm = imm,
		.rkey = s->peer.rkey,
		.remote_addr = s->peer.addr + offset,
	};

	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
}

void live_write_pieces(struct live_side *s, uint32_t n, uint32_t bytes)
{
	struct mh_wc wc;

	for (uint32_t i = 0; i < n; i++)
		live_write(s, i, (size_t)i * bytes, bytes, RD_SEND_SIGNALED, 0);
	for (uint32_t i = 0; i < n; i++) {
		live_wait(s, &wc, 1);
		live_expect(&wc, i, RD_WC_SUCCESS);
	}
}

void live_post_recv(struct live_side *s, uint32_t n)
{
	for (uint64_t i = 0; i < n; i++)
		live_check(mh_qp_post_recv(s->qp, &(struct rd_recv_wr){.wr_id = i}, 1, NULL) == 0);
}

void live_fill(uint8_t *bytes, size_t len, uint64_t seed)
{
	struct mb_prng prng;

	mb_prng_init(&prng, seed);
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word = mb_prng_u64(&prng);

		memcpy(bytes + i, &word, 8);
	}
}

bool live_compare(const uint8_t *bytes, size_t len, uint64_t seed)
{
	struct mb_prng prng;

	mb_prng_init(&prng, seed);
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t word = mb_prng_u64(&prng);

		if (memcmp(bytes + i, &word, 8) != 0) {
			fprintf(stderr, "byte %zu and those behind it are wrong\n", i);
			return false;
		}
	}
	return true;
}

void live_rule_on(struct mrc_fault_rule *rule, enum mrc_fault_kind kind)
{
	__atomic_store_n(&rule->kind, (uint32_t)kind, __ATOMIC_RELEASE);
}

struct mrc_fault_rule *live_rule(struct live_side *s, uint32_t i, enum mrc_fault_kind kind,
				 uint32_t chance_ppm)
{
	struct mrc_fault_rule *rule = &s->faults->rule[i];

	*rule = (struct mrc_fault_rule){.port_mask = UINT32_MAX, .chance_ppm = chance_ppm};
	live_rule_on(rule, kind);
	return rule;
}
