/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * imm_stash.h - immediates that arrived before earlier messages were complete.
 *
 * A WRITE_WITH_IMM completes at the responder when all earlier requests are complete. Its
 * immediate may arrive long before that and is stashed under its RQMSN. The stash has as many
 * places as the requester may have WRITE_WITH_IMM in flight. REQ(rsp.wimm.stash)
 */
#ifndef SOFTMRC_CORE_WINDOW_IMM_STASH_H
#define SOFTMRC_CORE_WINDOW_IMM_STASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_imm {
	uint64_t psn; /* of the packet that carried it */
	uint64_t msn;
	uint32_t imm;
	uint32_t byte_len;
	bool solicited;
	bool valid;
};

struct mt_imm_stash {
	struct mt_imm *slots; /* NULL: not attached */
	uint32_t size;	      /* places, a power of two */
	uint32_t limit;	      /* in-flight limit: max_wimm_dest */
	uint32_t filled;      /* places in use */
	uint64_t next;	      /* RQMSN of the next one to deliver */
};

size_t mt_imm_stash_size(uint32_t limit);
/* mt_imm_stash_init begins a stash without places. */
void mt_imm_stash_init(struct mt_imm_stash *st, uint32_t limit);
/* mt_imm_stash_attach gives it mt_imm_stash_size bytes for them; needed before anything is
 * put. */
void mt_imm_stash_attach(struct mt_imm_stash *st, void *mem);
/*
 * mt_imm_stash_resize gives the stash another limit, at least mt_imm_stash_span, and memory:
 * mt_imm_stash_size(limit) bytes, or NULL while it is empty. What it held before is the caller's
 * again.
 */
void mt_imm_stash_resize(struct mt_imm_stash *st, void *mem, uint32_t limit);
/* mt_imm_stash_span returns the least limit that holds what is stashed. */
uint32_t mt_imm_stash_span(const struct mt_imm_stash *st);
/* mt_imm_stash_insert stashes w under its 16-bit rqmsn; false: the requester has more in flight
 * than agreed. */
bool mt_imm_stash_insert(struct mt_imm_stash *st, uint16_t rqmsn, const struct mt_imm *w);
/* mt_imm_stash_pop removes the next one if its packet lies below expected and its message below
 * msn. */
bool mt_imm_stash_pop(struct mt_imm_stash *st, uint64_t expected, uint64_t msn, struct mt_imm *w);

#endif
