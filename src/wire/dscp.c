/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dscp.c - DSCP numbers and the classes they stand for.
 */
#include "wire/dscp.h"

#include "base/assert.h"
#include "wire/packet.h"

struct mw_dscp_map mw_dscp_map_default(void)
{
	return (struct mw_dscp_map){.code = {
					    [MW_DSCP_NO_TRIM] = 0,
					    [MW_DSCP_TRIMMABLE] = 4,
					    [MW_DSCP_TRIMMABLE_RETX] = 8,
					    [MW_DSCP_TRIMMED] = 12,
					    [MW_DSCP_TRIMMED_LASTHOP] = 16,
					    [MW_DSCP_CONTROL] = 46,
				    }};
}

/* What a receiver does with a packet depends only on this. */
enum kind { KIND_DATA, KIND_TRIMMED, KIND_CONTROL };

static enum kind kind_of(enum mw_dscp_class cls)
{
	if (cls == MW_DSCP_CONTROL)
		return KIND_CONTROL;
	return mw_dscp_is_trimmed(cls) ? KIND_TRIMMED : KIND_DATA;
}

enum mw_dscp_class mw_dscp_map_check(const struct mw_dscp_map *map)
{
	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++) {
		enum mw_dscp_class first = mw_dscp_decode(map, map->code[cls]);

		if (map->code[cls] > MW_DSCP_MAX || kind_of(first) != kind_of(cls))
			return cls;
	}
	return MW_DSCP_CLASSES;
}

enum mw_dscp_class mw_dscp_class_of_opcode(uint8_t opcode, bool rtx, bool trimmable)
{
	uint16_t flags = mw_opcode_info(opcode)->flags;

	mb_assert(flags != 0);
	if (opcode != MW_PROBE && !(flags & MW_OP_DATA))
		return MW_DSCP_CONTROL;
	if (opcode == MW_PROBE || !trimmable)
		return MW_DSCP_NO_TRIM;
	return rtx ? MW_DSCP_TRIMMABLE_RETX : MW_DSCP_TRIMMABLE;
}

uint8_t mw_dscp_encode(const struct mw_dscp_map *map, enum mw_dscp_class cls)
{
	mb_assert((unsigned)cls < MW_DSCP_CLASSES);
	return map->code[cls];
}

enum mw_dscp_class mw_dscp_decode(const struct mw_dscp_map *map, uint8_t dscp)
{
	enum mw_dscp_class cls = 0;

	while (cls < MW_DSCP_CLASSES && map->code[cls] != dscp)
		cls++;
	return cls;
}
