/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a fault table as another program may have written it, and frames that
 * are sent meanwhile; or, after a byte below 64, a fault as a person writes it. A table may do with
 * frames what it says and nothing else: none gets longer, and none is made up. A fault that is
 * accepted is written and read again as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "fabric/fault.h"
#include "fabric/topology_toml.h"
#include "io/drivers.h"
#include "support/fake_driver.h"
#include "support/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 100u
#define TRIM_BYTES 64u
#define COPIES_MAX 4u
#define TARGETS 8u

static const uint8_t host[2][16] = {{0xFD, [15] = 1}, {0xFD, [15] = 2}};

/* ---- tables ---- */

struct table_run {
	struct fuzz_input in;
	struct mrc_fault_table *table;
	struct mio_port *port, *far;
	uint64_t now_ns, sent, arrived;
	uint32_t longest;
};

/* open_table maps a table that is right but for one byte, which may be any. */
static struct mrc_fault_table *open_table(struct fuzz_input *in)
{
	struct mrc_fault_table t = {
		.magic = "MRCFAUL", .version = MRC_FAULT_VERSION, .rules = MRC_FAULT_RULES};
	struct mrc_fault_table *table = NULL;
	uint8_t at = fuzz_u8(in), how = fuzz_u8(in);
	struct mio_error error = {""};
	char path[40];
	int fd = memfd_create("faults", MFD_CLOEXEC), err;
	ssize_t n = how & 1 ? how : (ssize_t)sizeof(t);

	t.magic[7] = 'T';
	t.seed = fuzz_u16(in);
	if (how & 2)
		((uint8_t *)&t)[at % 16] ^= how;
	mb_assert(fd >= 0 && write(fd, &t, (size_t)n) == n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = mio_fault_map(path, &table, &error);
	close(fd);
	mb_assert(err ? error.text[0] != '\0' && !table : table != NULL);
	return table;
}

static void receive(struct table_run *r)
{
	struct mio_rx frames[8];
	uint32_t got;

	while ((got = mio_port_rx(r->far, r->now_ns, frames, 8)) > 0)
		for (uint32_t i = 0; i < got; i++, r->arrived++)
			mb_assert(frames[i].len > 0 && frames[i].len <= r->longest);
}

static void send_frames(struct table_run *r, uint8_t op)
{
	static uint8_t bytes[MIO_FRAME_MAX];
	uint32_t len = 1 + fuzz_u16(&r->in) % MIO_FRAME_MAX, n = 1 + (op >> 4);
	struct iovec iov[2] = {{bytes, len / 2}, {bytes + len / 2, len - len / 2}};
	struct mio_tx frame = {.iov = iov,
			       .n_iov = 2,
			       .len = len,
			       .ev = fuzz_u8(&r->in),
			       .is_data = op & 4,
			       .tos = op};
	struct mio_tx frames[16];

	memcpy(frame.dst_gid, host[op >> 3 & 1], 16);
	for (uint32_t i = 0; i < n; i++)
		frames[i] = frame;
	r->longest = len > r->longest ? len : r->longest;
	mio_port_tx(r->port, r->now_ns, frames, n);
	r->sent += n;
}

/* change_rule writes some bytes of a rule, whatever they mean. */
static void change_rule(struct table_run *r, uint8_t op)
{
	struct mrc_fault_rule *rule = &r->table->rule[op >> 2 & 3];
	uint8_t how = fuzz_u8(&r->in);

	rule->port_mask = how & 1 ? fuzz_u32(&r->in) : UINT32_MAX;
	rule->path_modulus = how & 2 ? fuzz_u8(&r->in) : 0;
	rule->path_mask = how & 2 ? fuzz_u8(&r->in) : 0;
	rule->direction = how >> 2 & 7;
	rule->chance_ppm = how & 0x20 ? fuzz_u32(&r->in) : 1000000;
	rule->delay_us = how & 0x40 ? fuzz_u32(&r->in) : 100;
	rule->jitter_us = how & 0x80 ? fuzz_u32(&r->in) : 0;
	rule->data_only = op >> 7;
	memcpy(rule->host, host[op >> 6 & 1], 16);
	rule->kind = op & 0x20 ? fuzz_u32(&r->in) : fuzz_below(&r->in, 8);
}

static void run_table(struct fuzz_input *in)
{
	struct table_run r = {.in = *in};
	struct mio_addr a = {.udp_port = 1}, b = {.udp_port = 2};
	struct mio_fault_cfg cfg = {.trimmed_dscp = 12, .trim_bytes = TRIM_BYTES};
	struct mio_port *ends[2];

	r.table = open_table(&r.in);
	if (!r.table)
		return;
	mb_assert(fake_driver_open(&a, &b, ends) == 0);
	cfg.table = r.table;
	memcpy(cfg.gid, host[0], 16);
	mb_assert(mio_fault_open(&cfg, ends[0], &r.port) == 0);
	r.far = ends[1];
	for (uint32_t i = 0; r.in.left > 0 && i < STEPS_MAX; i++) {
		uint8_t op = fuzz_u8(&r.in);

		if ((op & 3) == 0)
			send_frames(&r, op);
		else if ((op & 3) == 1)
			change_rule(&r, op);
		else
			r.now_ns += UINT64_C(1) << (op >> 2) % 40;
		mio_port_tick(r.port, r.now_ns);
		receive(&r);
	}
	mb_assert(r.arrived <= COPIES_MAX * r.sent);
	mio_port_close(r.port);
	mio_port_close(r.far);
	mio_fault_unmap(r.table);
}

/* ---- texts ---- */

static const struct mf_topology *fabric(void)
{
	static struct mf_topology t;
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_error error;

	if (t.n_links == 0)
		mb_assert(mf_topology_init(&t, &cfg, &error));
	return &t;
}

static void check_text(const char *target, const char *text)
{
	char again[MF_FAULT_TEXT_BYTES];
	struct mf_error error = {0};
	struct mf_fault f, g;

	if (!mf_fault_text(fabric(), target, text, &f, &error)) {
		mb_assert(error.what[0] != '\0');
		return;
	}
	mb_assert(f.kind < MF_FAULT_KINDS);
	mf_fault_write(&f, again);
	mb_assert(mf_fault_text(fabric(), target, again, &g, &error));
	mb_assert(f.kind == g.kind && f.direction == g.direction && f.value == g.value);
	mb_assert(strcmp(f.other, g.other) == 0 && strcmp(f.target, g.target) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const targets[TARGETS] = {"host3",
						     "host3.plane0",
						     "plane0",
						     "plane0.t0-1",
						     "plane0.t0-1.t1-0",
						     "plane0",
						     "plane0.t0-1.transceiver0",
						     NULL};
	struct fuzz_input in = {data, size};
	uint8_t first = fuzz_u8(&in);
	char *text, *target;

	if (first >= 64) {
		run_table(&in);
		return 0;
	}
	text = calloc(1, in.left + 1);
	mb_assert(text);
	fuzz_take(&in, text, in.left);
	target = text;
	if (!targets[first % TARGETS]) { /* the text names it */
		text = strchr(text, '\n');
		if (text)
			*text++ = '\0';
	}
	if (text)
		check_text(targets[first % TARGETS] ? targets[first % TARGETS] : target, text);
	free(target);
	return 0;
}
