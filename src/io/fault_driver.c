/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_driver.c - what a bad fabric does to frames, done to frames before a driver gets them.
 *
 * A burst is rewritten frame by frame: the rules of the table that match are applied one after the
 * other to a work item (the frame, possibly a changed copy of its bytes, how long to hold it, how
 * many times to send it). What remains goes to the driver below at once, or waits in the hold
 * queue until it is due; jitter makes frames overtake each other.
 */
#include "io/drivers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/list.h"
#include "base/prng.h"
#include "io/backlog.h"

/* Two seconds of a paced port, or 10 ms of a fast one. */
#define FAULT_HOLD_SLOTS 1024u
#define FAULT_PATHS_MAX 64u
#define FAULT_COPIES_MAX 4u /* of one frame, however many rules duplicate it */
#define FAULT_NS_PER_US 1000u
#define FAULT_ECN_CE 0x03u

/* The rules of a burst, and what they did. */
struct fault_rules {
	struct mrc_fault_table *table;
	struct mrc_fault_rule rule[MRC_FAULT_RULES];
	uint64_t hit_data[MRC_FAULT_RULES], hit_control[MRC_FAULT_RULES];
	uint64_t now_ns;
	bool any;
};

struct fault_port {
	struct mio_port port;
	struct mio_port *below;
	struct mio_fault_cfg cfg;
	struct mb_prng random;
	struct mio_delayq *held;
	struct fault_rules rules;
	bool gone; /* the table */
	struct mio_tx out[MIO_BURST_MAX];
	uint32_t n_out;
	uint32_t n_changed; /* of changed[] and changed_iov[]: of a burst's frames, once each */
	struct iovec changed_iov[MIO_BURST_MAX];
	uint8_t changed[MIO_BURST_MAX][MIO_FRAME_MAX];
};

/* A frame while rules are applied to it. */
struct fault_frame {
	struct mio_tx frame;
	uint8_t *bytes; /* its changed copy, NULL while the frame is as it came */
	uint64_t delay_ns;
	uint32_t copies;
};

static struct fault_port *fault_of(struct mio_port *port)
{
	return mb_container_of(port, struct fault_port, port);
}

static bool fault_is_host_match(const struct fault_port *f, const struct mrc_fault_rule *rule,
				const struct mio_tx *frame)
{
	bool from = memcmp(rule->host, f->cfg.gid, sizeof(rule->host)) == 0;
	bool to = memcmp(rule->host, frame->dst_gid, sizeof(rule->host)) == 0;

	switch ((enum mrc_fault_direction)rule->direction) {
	case MRC_FAULT_ANY:
		return true;
	case MRC_FAULT_FROM:
		return from;
	case MRC_FAULT_TO:
		return to;
	case MRC_FAULT_BOTH:
		return from || to;
	default:
		return false; /* of a newer writer, or garbage */
	}
}

static bool fault_is_path_match(const struct mrc_fault_rule *rule, uint32_t ev)
{
	if (rule->path_modulus == 0)
		return true;
	return rule->path_modulus <= FAULT_PATHS_MAX &&
	       (rule->path_mask >> (ev % rule->path_modulus) & 1);
}

static bool fault_is_match(const struct fault_port *f, const struct mrc_fault_rule *rule,
			   const struct mio_tx *frame)
{
	return (rule->port_mask >> f->cfg.port & 1) && (frame->is_data || !rule->data_only) &&
	       fault_is_path_match(rule, frame->ev) && fault_is_host_match(f, rule, frame);
}

/* fault_copy makes the frame's bytes changeable; a frame whose bytes are gone is dropped. */
static void fault_copy(struct fault_port *f, struct fault_frame *w)
{
	if (w->bytes)
		return;
	mb_assert(w->frame.len <= MIO_FRAME_MAX);
	w->bytes = f->changed[f->n_changed];
	if (!mio_tx_gather(&w->frame, w->bytes))
		w->copies = 0;
	f->changed_iov[f->n_changed] = (struct iovec){w->bytes, w->frame.len};
	w->frame.iov = &f->changed_iov[f->n_changed++];
	w->frame.n_iov = 1;
}

static void fault_corrupt(struct fault_port *f, struct fault_frame *w)
{
	uint32_t bit = mb_prng_below(&f->random, w->frame.len * 8);

	fault_copy(f, w);
	w->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* fault_trim cuts a data frame as a switch does; false: there is nothing to cut off. */
static bool fault_trim(struct fault_port *f, struct fault_frame *w)
{
	if (!w->frame.is_data || w->frame.len <= f->cfg.trim_bytes)
		return false;
	fault_copy(f, w);
	f->changed_iov[f->n_changed - 1].iov_len = f->cfg.trim_bytes;
	w->frame.len = f->cfg.trim_bytes;
	w->frame.tos =
		(uint8_t)((uint32_t)f->cfg.trimmed_dscp << 2 | (w->frame.tos & FAULT_ECN_CE));
	return true;
}

static bool fault_delay(struct fault_port *f, struct fault_frame *w,
			const struct mrc_fault_rule *rule)
{
	uint64_t us = rule->delay_us;

	if (rule->jitter_us > 0)
		us += mb_prng_below(&f->random, rule->jitter_us);
	if (us == 0 || mio_delayq_count(f->held) + w->copies > FAULT_HOLD_SLOTS)
		return false;
	w->delay_ns += us * FAULT_NS_PER_US;
	return true;
}

static bool fault_duplicate(struct fault_frame *w)
{
	if (w->copies == 0 || w->copies == FAULT_COPIES_MAX)
		return false;
	w->copies++;
	return true;
}

/* fault_apply_rule does what the rule says and returns false when it could not. */
static bool fault_apply_rule(struct fault_port *f, struct fault_frame *w,
			     const struct mrc_fault_rule *rule)
{
	switch ((enum mrc_fault_kind)rule->kind) {
	case MRC_FAULT_DROP:
		w->copies = 0;
		return true;
	case MRC_FAULT_CORRUPT:
		fault_corrupt(f, w);
		return true;
	case MRC_FAULT_TRIM:
		return fault_trim(f, w);
	case MRC_FAULT_DELAY:
		return fault_delay(f, w, rule);
	case MRC_FAULT_DUPLICATE:
		return fault_duplicate(w);
	case MRC_FAULT_MARK:
		w->frame.tos |= FAULT_ECN_CE;
		return true;
	case MRC_FAULT_OFF:
	default:
		return false; /* also a kind that this version does not know */
	}
}

/* ---- the table ---- */

/* In a guard: a rule is copied behind its kind, which is stored last. */
static void fault_read_rules(void *ctx)
{
	struct fault_rules *r = ctx;

	for (uint32_t i = 0; i < MRC_FAULT_RULES; i++) {
		const struct mrc_fault_rule *rule = &r->table->rule[i];
		uint32_t kind = __atomic_load_n(&rule->kind, __ATOMIC_ACQUIRE);

		r->rule[i].kind = MRC_FAULT_OFF;
		if (kind == MRC_FAULT_OFF)
			continue;
		r->rule[i] = *rule;
		r->rule[i].kind = kind;
	}
}

/* In a guard. Other processes count in the same place, and clocks are read early. */
static void fault_write_hits(void *ctx)
{
	struct fault_rules *r = ctx;

	for (uint32_t i = 0; i < MRC_FAULT_RULES; i++) {
		struct mrc_fault_rule *rule = &r->table->rule[i];
		uint64_t last;

		if (r->hit_control[i])
			__atomic_fetch_add(&rule->hit_control, r->hit_control[i], __ATOMIC_RELAXED);
		if (!r->hit_data[i])
			continue;
		__atomic_fetch_add(&rule->hit_data, r->hit_data[i], __ATOMIC_RELAXED);
		last = __atomic_load_n(&rule->last_hit_ns, __ATOMIC_RELAXED);
		while (last < r->now_ns &&
		       !__atomic_compare_exchange_n(&rule->last_hit_ns, &last, r->now_ns, true,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
	}
}

/* A table that was cut off has no rules any more. */
static void fault_touch(struct fault_port *f, void (*fn)(void *ctx))
{
	if (f->gone)
		return;
	if (!f->cfg.guard)
		fn(&f->rules);
	else if (!f->cfg.guard(f->cfg.table, sizeof(*f->cfg.table), fn, &f->rules))
		f->gone = true;
	for (uint32_t i = 0; f->gone && i < MRC_FAULT_RULES; i++)
		f->rules.rule[i].kind = MRC_FAULT_OFF;
}

static void fault_begin_burst(struct fault_port *f, uint64_t now_ns)
{
	fault_touch(f, fault_read_rules);
	f->rules.now_ns = now_ns;
	f->rules.any = false;
}

static void fault_end_burst(struct fault_port *f)
{
	if (!f->rules.any)
		return;
	fault_touch(f, fault_write_hits);
	memset(f->rules.hit_data, 0, sizeof(f->rules.hit_data));
	memset(f->rules.hit_control, 0, sizeof(f->rules.hit_control));
}

static void fault_apply(struct fault_port *f, struct fault_frame *w)
{
	for (uint32_t i = 0; i < MRC_FAULT_RULES && w->copies > 0; i++) {
		const struct mrc_fault_rule *rule = &f->rules.rule[i];

		if (rule->kind == MRC_FAULT_OFF || !fault_is_match(f, rule, &w->frame))
			continue;
		if (!mb_prng_chance(&f->random, rule->chance_ppm))
			continue;
		if (!fault_apply_rule(f, w, rule))
			continue;
		f->rules.hit_data[i] += w->frame.is_data;
		f->rules.hit_control[i] += !w->frame.is_data;
		f->rules.any = true;
	}
}

static void fault_flush(struct fault_port *f, uint64_t now_ns)
{
	if (f->n_out > 0)
		mio_port_tx(f->below, now_ns, f->out, f->n_out);
	f->n_out = 0;
	f->n_changed = 0;
}

static void fault_queue_frame(struct fault_port *f, uint64_t now_ns, const struct fault_frame *w)
{
	for (uint32_t i = 0; i < w->copies; i++) {
		if (w->delay_ns > 0 && mio_delayq_put(f->held, &w->frame, now_ns + w->delay_ns))
			continue;
		f->out[f->n_out++] = w->frame;
	}
}

static void fault_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			   uint32_t n)
{
	struct fault_port *f = fault_of(port);

	mb_assert(n <= MIO_BURST_MAX);
	fault_begin_burst(f, now_ns);
	for (uint32_t i = 0; i < n; i++) {
		struct fault_frame w = {.frame = frames[i], .copies = 1};

		if (f->n_out > MIO_BURST_MAX - FAULT_COPIES_MAX)
			fault_flush(f, now_ns);
		fault_apply(f, &w);
		fault_queue_frame(f, now_ns, &w);
	}
	fault_end_burst(f);
	fault_flush(f, now_ns);
}

static uint32_t fault_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			       uint32_t n)
{
	return mio_port_rx(fault_of(port)->below, now_ns, frames, n);
}

static uint64_t fault_deadline(const struct mio_port *port)
{
	const struct fault_port *f = mb_container_of(port, const struct fault_port, port);
	uint64_t held = mio_delayq_deadline(f->held);
	uint64_t below = mio_port_deadline(f->below);

	return held < below ? held : below;
}

static void fault_send_first(struct fault_port *f, uint64_t now_ns)
{
	mio_port_tx(f->below, now_ns, mio_delayq_first(f->held), 1);
	mio_delayq_pop(f->held);
}

static void fault_tick(struct mio_port *port, uint64_t now_ns)
{
	struct fault_port *f = fault_of(port);

	mio_port_tick(f->below, now_ns);
	while (mio_delayq_deadline(f->held) <= now_ns)
		fault_send_first(f, now_ns);
}

/* What a slow path holds arrives although its sender has left: the last answer of all, for one. */
static void fault_close(struct mio_port *port)
{
	struct fault_port *f = fault_of(port);

	while (mio_delayq_count(f->held) > 0)
		fault_send_first(f, mio_delayq_deadline(f->held));
	mio_port_close(f->below);
	mio_delayq_destroy(f->held);
	free(f);
}

/* What is held the parent sends. */
static void fault_close_inherited(struct mio_port *port)
{
	mio_port_close_inherited(fault_of(port)->below);
}

static const struct mio_port_ops fault_ops = {
	.tx_burst = fault_tx_burst,
	.rx_burst = fault_rx_burst,
	.deadline = fault_deadline,
	.tick = fault_tick,
	.close = fault_close,
	.close_inherited = fault_close_inherited,
};

/* In a guard. fault_seed mixes what tells this port from all others into the table's seed. */
static void fault_seed(void *ctx)
{
	struct fault_port *f = mb_container_of(ctx, struct fault_port, rules);
	struct mb_prng mix;
	uint64_t seed = f->cfg.table->seed;

	for (uint32_t i = 0; i < sizeof(f->cfg.gid); i++) {
		mb_prng_init(&mix, seed + f->cfg.gid[i]);
		seed = mb_prng_u64(&mix);
	}
	mb_prng_init(&f->random, seed + f->cfg.port);
}

int mio_fault_open(const struct mio_fault_cfg *cfg, struct mio_port *below, struct mio_port **port)
{
	struct fault_port *f = calloc(1, sizeof(*f));

	mb_assert(cfg->port < 32 && cfg->trimmed_dscp < 64 && cfg->trim_bytes >= 1);
	if (!f)
		return ENOMEM;
	f->held = mio_delayq_create(FAULT_HOLD_SLOTS);
	if (!f->held) {
		free(f);
		return ENOMEM;
	}
	f->port = (struct mio_port){&fault_ops, below->status, below->max_run};
	f->below = below;
	f->cfg = *cfg;
	f->rules.table = cfg->table;
	fault_touch(f, fault_seed);
	*port = &f->port;
	return 0;
}

static int fault_map_error(struct mio_error *error, const char *path, int code, const char *why)
{
	snprintf(error->text, sizeof(error->text), "fault table %s: %s", path, why);
	return code;
}

/* Reads the head: mapped, it might be gone by now. */
static int fault_check(int fd, const char *path, struct mio_error *error)
{
	struct mrc_fault_table head;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_map_error(error, path, errno, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
	    st.st_mode & (S_IWGRP | S_IWOTH))
		return fault_map_error(error, path, EPERM,
				       "must be a regular file of this user or root that no other "
				       "user may write");
	if (st.st_size < (off_t)sizeof(head) ||
	    pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return fault_map_error(error, path, EINVAL, "is shorter than a table");
	if (memcmp(head.magic, MRC_FAULT_MAGIC, sizeof(head.magic)) != 0)
		return fault_map_error(error, path, EINVAL, "does not begin with " MRC_FAULT_MAGIC);
	if (head.version != MRC_FAULT_VERSION || head.rules != MRC_FAULT_RULES)
		return fault_map_error(error, path, EINVAL, "is of another version");
	return 0;
}

/* Neither a FIFO nor a lease on the file makes us wait. */
int mio_fault_map(const char *path, struct mrc_fault_table **table, struct mio_error *error)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	void *map;
	int err;

	if (fd < 0)
		return fault_map_error(error, path, errno, strerror(errno));
	err = fault_check(fd, path, error);
	if (err) {
		close(fd);
		return err;
	}
	map = mmap(NULL, sizeof(**table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = errno;
	close(fd);
	if (map == MAP_FAILED)
		return fault_map_error(error, path, err, strerror(err));
	*table = map;
	return 0;
}

void mio_fault_unmap(struct mrc_fault_table *table)
{
	if (table)
		munmap(table, sizeof(*table));
}
