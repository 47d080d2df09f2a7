/* SPDX-License-Identifier: BSD-2-Clause */
/* rnr.c - rounds of waiting for a peer without a posted receive. See the header. */
#include "core/window/window.h"

#include "base/assert.h"

/* InfiniBand's table of RNR NAK timers, in units of 10 us. */
static const uint16_t wait_10us[32] = {
	[0] = 65535,  [1] = 1,	    [2] = 2,	 [3] = 3,      [4] = 4,	     [5] = 6,
	[6] = 8,      [7] = 12,	    [8] = 16,	 [9] = 24,     [10] = 32,    [11] = 48,
	[12] = 64,    [13] = 96,    [14] = 128,	 [15] = 192,   [16] = 256,   [17] = 384,
	[18] = 512,   [19] = 768,   [20] = 1024, [21] = 1536,  [22] = 2048,  [23] = 3072,
	[24] = 4096,  [25] = 6144,  [26] = 8192, [27] = 12288, [28] = 16384, [29] = 24576,
	[30] = 32768, [31] = 49152,
};

uint64_t mt_rnr_wait_ns(uint8_t code)
{
	/* 655.36 ms is one more than 16 bits hold. */
	return ((uint64_t)wait_10us[code & 31] + (code == 0)) * 10000;
}

bool mt_rnr_nacked(struct mt_rnr *r, const struct mt_rnr_nack *f, uint8_t retries)
{
	mb_assert(f->wait_ns > 0);
	if (f->sent_ns < r->until_ns) { /* sent before that round was over: it belongs to it */
		if (f->psn < r->psn)
			r->psn = f->psn;
		return true;
	}
	if (f->una > r->una)
		r->tries = 0;
	if (f->oldest && retries != MT_RNR_FOREVER) {
		if (r->tries >= retries)
			return false;
		r->tries++;
	}
	r->una = f->una;
	r->psn = f->psn;
	r->began_ns = f->now_ns;
	r->until_ns = f->now_ns + f->wait_ns;
	r->waits = true;
	mb_assert_slow(mt_rnr_blocks(r, f->una, f->psn));
	return true;
}

bool mt_rnr_end_wait(struct mt_rnr *r, uint64_t now_ns)
{
	if (!r->waits || now_ns < r->until_ns)
		return false;
	r->waits = false;
	return true;
}
