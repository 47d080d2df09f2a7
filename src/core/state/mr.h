/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mr.h - the table of memory regions and windows, and the one check that stands before every
 * access.
 *
 * A memory window has a key of its own for a part of an MR, and rights that only peers use. It is
 * an entry like an MR's, which a bind makes a view of that MR: the same cookie, other bounds. An
 * unbound one grants nothing. See ext/ext.h.
 */
#ifndef SOFTMRC_CORE_STATE_MR_H
#define SOFTMRC_CORE_STATE_MR_H

#include "core/types.h"

/* Beside enum rd_access, in the rights of an entry. */
enum mt_mr_kind {
	MT_MR_LOCAL = 1u << 5, /* an MR: its key may stand in an SGE */
	MT_MR_MW_1 = 1u << 6,  /* a window of type 1 */
	MT_MR_MW_2 = 1u << 7,  /* a window of type 2 */
};

/* As long as a cache line, so that a check touches one. */
struct mt_mr {
	_Alignas(64) uint64_t start;
	uint64_t length;
	uint64_t origin; /* an address less this is an offset in the memory of `user` */
	void *user;	 /* the adapter's cookie; of a window: that of its MR */
	uint32_t key;	 /* its low byte changes when an index is used again; 0: no entry */
	uint32_t pd;
	uint32_t qpn;	  /* of a window of type 2: for packets of this QP only; 0: of any */
	uint32_t of;	  /* of a window: the index of its MR; 0: not bound */
	uint32_t windows; /* of an MR: how many are bound to it */
	uint8_t access;	  /* enum rd_access, enum mt_mr_kind */
};

struct mt_mr_table {
	struct mt_mr *mrs; /* max + 1 entries; no key names entry 0 */
	uint32_t max;
};

/* mt_mr_table_init makes a table whose entries are zero an empty one. */
void mt_mr_table_init(struct mt_mr_table *t);
/*
 * mt_mr_check returns the MR that key names if [addr, addr + len) lies inside it, it belongs to pd
 * and grants every right in access; otherwise NULL. For memory of our own: windows have no
 * MT_MR_LOCAL and no RD_ACCESS_LOCAL_WRITE, and one of the two is asked for.
 * REQ(rsp.mr.every-packet) REQ(ext.mw.remote-only)
 */
const struct mt_mr *mt_mr_check(const struct mt_mr_table *t, uint32_t key, uint32_t pd,
				uint64_t addr, uint64_t len, uint32_t access);

#endif
