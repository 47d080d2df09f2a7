/* SPDX-License-Identifier: BSD-2-Clause */
/* mr.h - the table of memory regions, and the one check that stands before every access. */
#ifndef SOFTMRC_CORE_MR_H
#define SOFTMRC_CORE_MR_H

#include "core/types.h"

struct mt_mr {
	uint64_t start;
	uint64_t length;
	void *user; /* the adapter's cookie */
	uint32_t pd;
	uint8_t tag;	/* low byte of the key; changes when an index is used again */
	uint8_t access; /* enum mt_access */
	bool used;
};

struct mt_mr_table {
	struct mt_mr *mrs; /* max + 1 entries; index 0 stays unused so that no key is 0 */
	uint32_t max;
};

/*
 * mt_mr_check returns the MR that key names if [addr, addr + len) lies inside it, it belongs to pd
 * and grants every right in access; otherwise NULL. REQ(rsp.mr.every-packet)
 */
const struct mt_mr *mt_mr_check(const struct mt_mr_table *t, uint32_t key, uint32_t pd,
				uint64_t addr, uint64_t len, uint32_t access);

#endif
