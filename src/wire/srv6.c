/* SPDX-License-Identifier: BSD-2-Clause */
/* srv6.c - lists of uSIDs and what nodes do to them. */
#include "wire/srv6.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

#define BLOCK_BYTES (MW_SRV6_BLOCK_BITS / 8)
#define USID_BYTES (MW_USID_BITS / 8)

/* Where uSID i of an address begins. */
static uint32_t at(uint32_t i)
{
	return BLOCK_BYTES + i * USID_BYTES;
}

void mw_usids_encode(const struct mw_usids *list, uint8_t addr[MW_SRV6_ADDR_BYTES])
{
	mb_assert(list->n <= MW_USIDS_ADDR_MAX);
	memset(addr, 0, MW_SRV6_ADDR_BYTES);
	mb_store_be32(addr, list->block);
	/* The bound said twice: optimising compilers warn where they do not see the assertion. */
	for (uint32_t i = 0; i < list->n && i < MW_USIDS_ADDR_MAX; i++) {
		mb_assert(list->usid[i] != 0);
		mb_store_be16(addr + at(i), list->usid[i]);
	}
}

bool mw_usids_decode(const uint8_t addr[MW_SRV6_ADDR_BYTES], struct mw_usids *list)
{
	uint32_t rest = 0;

	*list = (struct mw_usids){.block = mb_load_be32(addr)};
	for (uint32_t i = 0; i < MW_USIDS_ADDR_MAX; i++) {
		uint16_t usid = mb_load_be16(addr + at(i));

		if (list->n < i)
			rest |= usid;
		else if (usid != 0)
			list->usid[list->n++] = usid;
	}
	return rest == 0;
}

uint16_t mw_usid_first(const uint8_t addr[MW_SRV6_ADDR_BYTES])
{
	return mb_load_be16(addr + at(0));
}

uint16_t mw_usid_shift(uint8_t addr[MW_SRV6_ADDR_BYTES])
{
	uint16_t usid = mw_usid_first(addr);

	memmove(addr + at(0), addr + at(1), MW_SRV6_ADDR_BYTES - at(1));
	memset(addr + MW_SRV6_ADDR_BYTES - USID_BYTES, 0, USID_BYTES);
	return usid;
}

/* Makes the list of n uSIDs of a path; returns how many of them fit. */
static uint32_t list_of(uint32_t block, const uint16_t *usids, uint32_t n, struct mw_usids *list)
{
	*list = (struct mw_usids){.block = block};
	list->n = n < MW_USIDS_ADDR_MAX ? n : MW_USIDS_ADDR_MAX;
	memcpy(list->usid, usids, list->n * sizeof(list->usid[0]));
	return list->n;
}

/* REQ(srv6.capacity) */
void mw_carrier_of(uint32_t block, const uint16_t *usids, uint32_t n, struct mw_carrier *out)
{
	struct mw_usids list;
	uint32_t first;

	mb_assert(n >= 1 && n <= MW_USIDS_PATH_MAX);
	*out = (struct mw_carrier){.has_segment = n > MW_USIDS_ADDR_MAX};
	first = list_of(block, usids, n, &list);
	mw_usids_encode(&list, out->dst);
	if (!out->has_segment)
		return;
	list_of(block, usids + first, n - first, &list);
	mw_usids_encode(&list, out->segment);
}
