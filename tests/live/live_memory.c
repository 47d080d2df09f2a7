/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_memory.c - memory of all kinds as source and target, and memory that goes away while it is
 * registered and in use: an error completion, never a signal.
 */
#include "live/live.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/test.h"

#define BYTES (4u << 20)
#define PIECE (256u << 10)
#define PIECES (BYTES / PIECE)

/* ---- memory that goes away ---- */

/* memory_write_all writes everything once and returns the status of the first failure. */
static enum rd_wc_status memory_write_all(struct live_side *s)
{
	enum rd_wc_status first = RD_WC_SUCCESS;
	struct mh_wc wc;

	for (uint32_t i = 0; i < PIECES; i++)
		live_write(s, i, (size_t)i * PIECE, PIECE, RD_SEND_SIGNALED, 0);
	for (uint32_t i = 0; i < PIECES; i++) {
		live_wait(s, &wc, 1);
		if (first == RD_WC_SUCCESS)
			first = wc.status;
	}
	return first;
}

/* memory_cut takes away the last quarter of the buffer, which stays registered. */
static void memory_cut(struct live_side *s)
{
	live_check(munmap(s->buffer + BYTES - BYTES / 4, BYTES / 4) == 0);
}

static void memory_wait_fatal(struct live_side *s, enum rd_wc_status status)
{
	struct mh_async_event event;

	live_check(mh_async_get(s->dev, &event) == 0);
	live_check(event.type == MH_ASYNC_QP_FATAL && event.qp == s->qp && event.status == status);
	mh_async_ack(s->dev, &event);
}

static void source_gone_initiator(struct live_side *s)
{
	live_check(memory_write_all(s) == RD_WC_SUCCESS);
	memory_cut(s);
	live_check(memory_write_all(s) == RD_WC_LOC_PROT_ERR);
	memory_wait_fatal(s, RD_WC_LOC_PROT_ERR);
}

static void source_gone_target(struct live_side *s)
{
	(void)s;
}

TEST(live_memory, source_unmapped)
{
	struct live_setup setup = {.bytes = BYTES};

	live_run(&setup, source_gone_initiator, source_gone_target);
}

TEST(live_memory, source_unmapped_without_icrc)
{
	struct live_setup setup = {.bytes = BYTES, .icrc = "off"};

	live_run(&setup, source_gone_initiator, source_gone_target);
}

static void target_gone_initiator(struct live_side *s)
{
	live_check(memory_write_all(s) == RD_WC_SUCCESS);
	live_barrier(s);
	live_barrier(s);
	live_check(memory_write_all(s) == RD_WC_REM_OP_ERR);
}

/* REQ(rsp.place.memory-gone) */
static void target_gone_target(struct live_side *s)
{
	live_barrier(s);
	memory_cut(s);
	live_barrier(s);
	memory_wait_fatal(s, RD_WC_REM_OP_ERR);
}

TEST(live_memory, target_unmapped)
{
	struct live_setup setup = {.bytes = BYTES};

	live_run(&setup, target_gone_initiator, target_gone_target);
}

/* ---- memory that was read ---- */

#define READ_BYTES (64u << 10)
#define READ_DELAY_US 50000u

static struct mrc_fault_rule *rule_from(struct live_side *s, uint32_t i, enum mrc_fault_kind kind,
					const struct rd_gid *host)
{
	struct mrc_fault_rule *rule = live_rule(s, i, MRC_FAULT_OFF, 1000000);

	rule->direction = MRC_FAULT_FROM;
	rule->delay_us = READ_DELAY_US;
	memcpy(rule->host, host->b, sizeof(rule->host));
	live_rule_on(rule, kind);
	return rule;
}

static void post_read(struct live_side *s)
{
	struct rd_sge sge = {(uintptr_t)s->buffer, READ_BYTES, mh_mr_lkey(s->mr)};
	struct rd_send_wr wr = {.wr_id = 5,
				.sge = &sge,
				.n_sge = 1,
				.opcode = RD_WR_READ,
				.flags = RD_SEND_SIGNALED,
				.rkey = s->peer.rkey,
				.remote_addr = s->peer.addr};

	live_check(mh_qp_post_send(s->qp, &wr, 1, NULL) == 0);
}

/* The answer takes its time, and from its arrival on nothing that is said of it gets through. */
static void read_gone_initiator(struct live_side *s)
{
	struct mrc_fault_rule *late = rule_from(s, 0, MRC_FAULT_DELAY, &s->peer.gid), *deaf;
	struct mh_wc wc;

	post_read(s);
	live_barrier(s); /* the request is there */
	deaf = rule_from(s, 1, MRC_FAULT_DROP, &s->mine.gid);
	live_wait(s, &wc, 1);
	live_expect(&wc, 5, RD_WC_SUCCESS);
	live_check(live_compare(s->buffer, READ_BYTES, 23));
	live_barrier(s); /* the program says so */
	live_barrier(s);
	live_rule_on(late, MRC_FAULT_OFF);
	live_rule_on(deaf, MRC_FAULT_OFF);
	live_write(s, 6, 0, 0, (uint32_t)RD_SEND_SIGNALED | RD_SEND_IMM, 1);
	live_wait(s, &wc, 1);
	live_expect(&wc, 6, RD_WC_SUCCESS);
}

static void read_gone_target(struct live_side *s)
{
	struct mh_wc wc;

	live_fill(s->buffer, READ_BYTES, 23);
	live_post_recv(s, 1);
	live_check(live_wait_counter(s, "rx_requests", 1, 60000));
	live_barrier(s);
	live_barrier(s); /* it has been read, says the peer's program */
	live_check(mh_mr_dereg(s->mr) == 0);
	usleep(400000);
	live_barrier(s);
	live_wait(s, &wc, 1);
	live_expect(&wc, 0, RD_WC_SUCCESS);
	live_check(mh_mr_reg(s->pd, s->buffer, BYTES, (uintptr_t)s->buffer, RD_ACCESS_LOCAL_WRITE,
			     &s->mr) == 0);
}

/* REQ(ext.response.resend) */
TEST(live_memory, deregistered_after_it_was_read)
{
	struct live_setup setup = {.bytes = BYTES, .extended = true, .reads = true};

	live_run(&setup, read_gone_initiator, read_gone_target);
}

/* ---- memory that goes away under traffic ---- */

/* While packets are on their way, not between two rounds. */
static void target_goes_initiator(struct live_side *s)
{
	while (memory_write_all(s) == RD_WC_SUCCESS)
		;
	live_barrier(s);
}

static void target_goes_target(struct live_side *s)
{
	live_check(live_wait_counter(s, "rx_data_packets", 500, 60000));
	memory_cut(s);
	memory_wait_fatal(s, RD_WC_REM_OP_ERR);
	live_barrier(s);
}

TEST(live_memory, target_unmapped_under_traffic)
{
	struct live_setup setup = {.bytes = BYTES};

	live_run(&setup, target_goes_initiator, target_goes_target);
}

/* ---- memory of all kinds ---- */

struct kind {
	int map_flags;
	unsigned int memfd_flags;
	bool file;
};

/* kind_map maps memory of a kind; NULL: this host has none (huge pages, mostly). */
static uint8_t *kind_map(const struct kind *kind)
{
	int fd = -1;
	void *at;

	if (kind->file) {
		fd = memfd_create("live_memory", MFD_CLOEXEC | kind->memfd_flags);
		if (fd < 0 || ftruncate(fd, BYTES) < 0)
			return NULL;
	}
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, kind->map_flags, fd, 0);
	if (fd >= 0)
		close(fd);
	return at == MAP_FAILED ? NULL : at;
}

struct kind_card {
	uint64_t addr;
	uint32_t rkey;
};

/* kind_exchange registers memory of a kind and tells the peer of it. */
static void kind_exchange(struct live_side *s, const struct kind *kind, uint8_t **at,
			  struct mh_mr **mr, struct kind_card *peer)
{
	uint32_t access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;
	struct kind_card mine = {0};

	*at = kind_map(kind);
	live_check(*at);
	live_check(mh_mr_reg(s->pd, *at, BYTES, 0, access, mr) == 0);
	mine = (struct kind_card){0, mh_mr_rkey(*mr)};
	live_tell(s, &mine, sizeof(mine));
	live_hear(s, peer, sizeof(*peer));
}

static const struct kind *the_kind;

static void kind_initiator(struct live_side *s)
{
	struct kind_card peer;
	struct mh_mr *mr;
	struct mh_wc wc;
	uint8_t *at;

	kind_exchange(s, the_kind, &at, &mr, &peer);
	live_fill(at, BYTES, 7);
	live_check(mh_qp_post_send(
			   s->qp,
			   &(struct rd_send_wr){.wr_id = 7,
						.sge = &(struct rd_sge){0, BYTES, mh_mr_lkey(mr)},
						.n_sge = 1,
						.flags = RD_SEND_SIGNALED,
						.rkey = peer.rkey},
			   1, NULL) == 0);
	live_wait(s, &wc, 1);
	live_expect(&wc, 7, RD_WC_SUCCESS);
	live_barrier(s);
	live_check(mh_mr_dereg(mr) == 0);
	munmap(at, BYTES);
}

static void kind_target(struct live_side *s)
{
	struct kind_card peer;
	struct mh_mr *mr;
	uint8_t *at;

	kind_exchange(s, the_kind, &at, &mr, &peer);
	live_barrier(s);
	live_check(live_compare(at, BYTES, 7));
	live_check(mh_mr_dereg(mr) == 0);
	munmap(at, BYTES);
}

/* Both sides need one at a time. */
static void run_kind(const struct kind *kind)
{
	struct live_setup setup = {.bytes = 4096};
	uint8_t *one = kind_map(kind), *two = kind_map(kind);

	if (one)
		munmap(one, BYTES);
	if (two)
		munmap(two, BYTES);
	if (!one || !two)
		test_skip("this host gives no memory of the kind (vm.nr_hugepages)");
	the_kind = kind;
	live_run(&setup, kind_initiator, kind_target);
}

TEST(live_memory, private_huge)
{
	run_kind(&(const struct kind){MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, 0, false});
}

TEST(live_memory, shared)
{
	run_kind(&(const struct kind){MAP_SHARED | MAP_ANONYMOUS, 0, false});
}

TEST(live_memory, shared_file)
{
	run_kind(&(const struct kind){MAP_SHARED, 0, true});
}

TEST(live_memory, private_file)
{
	run_kind(&(const struct kind){MAP_PRIVATE, 0, true});
}

TEST(live_memory, shared_huge_file)
{
	run_kind(&(const struct kind){MAP_SHARED, MFD_HUGETLB, true});
}
