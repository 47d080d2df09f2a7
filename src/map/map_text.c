/* SPDX-License-Identifier: BSD-2-Clause */
/* map_text.c - what is sick, in words that name the part and what to touch. */
#include "map/map.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"

#define MS_NS UINT64_C(1000000)

const char *mm_kind_name(enum mm_kind kind)
{
	static const char *const names[MM_KINDS] = {"dead",	   "lossy",	 "corrupting",
						    "duplicating", "reordering", "slow",
						    "flapping",	   "wrong cable"};

	mb_assert(kind < MM_KINDS);
	return names[kind];
}

char *mm_part_name(const struct mf_topology *t, const struct mm_part *part,
		   char out[MM_PART_NAME_BYTES])
{
	char node[MF_NODE_NAME_BYTES];

	switch (part->kind) {
	case MM_CABLE:
		return mf_cable_name(t, part->id << 1, out);
	case MM_PLANE:
		snprintf(out, MM_PART_NAME_BYTES, "plane%" PRIu32, part->id);
		return out;
	case MM_SWITCH:
	case MM_HOST:
	case MM_WITNESS:
		mf_node_name(t, part->id, out);
		return out;
	case MM_TRANSCEIVER:
		break;
	}
	mf_node_name(t, part->id, node);
	snprintf(out, MM_PART_NAME_BYTES, "%s.transceiver%" PRIu32, node, part->index);
	return out;
}

bool mm_part_find(const struct mf_topology *t, const char *name, struct mm_part *part,
		  struct mf_error *error)
{
	struct mf_target target;

	if (!mf_target_find(t, name, &target, error))
		return false;
	*part = (struct mm_part){.kind = MM_HOST, .id = target.node};
	switch (target.kind) {
	case MF_TARGET_HOST:
		break;
	case MF_TARGET_SWITCH:
		part->kind = MM_SWITCH;
		break;
	case MF_TARGET_PLANE:
		*part = (struct mm_part){.kind = MM_PLANE, .id = target.plane};
		break;
	case MF_TARGET_CABLE:
		*part = (struct mm_part){.kind = MM_CABLE,
					 .id = mf_target_link(t, &target, 0) >> 1};
		break;
	case MF_TARGET_TRANSCEIVER:
		part->kind = MM_TRANSCEIVER;
		part->index = target.port / MF_TRANSCEIVER_PORTS;
		break;
	}
	return true;
}

/* What somebody is to do at the rack. */
static const char *advice(const struct mm_sick *s)
{
	if (s->kind == MM_WRONG_CABLE)
		return mm_sick_has_other(s) ? "exchange their ends" : "look where it leads";
	switch (s->part.kind) {
	case MM_CABLE:
		return s->kind == MM_DEAD ? "reseat the cable, then change it"
					  : "clean the cable's ends, then change it";
	case MM_SWITCH:
		return "look at the switch: power, tables, then a reboot";
	case MM_TRANSCEIVER:
		return "change the transceiver";
	case MM_HOST:
		return "look at the host and its NIC, not at its cables";
	case MM_PLANE:
	case MM_WITNESS:
		break;
	}
	return "look at what all switches of the plane share: power, configuration";
}

bool mm_sick_has_other(const struct mm_sick *s)
{
	return s->kind == MM_WRONG_CABLE &&
	       (s->part.kind != s->other.kind || s->part.id != s->other.id ||
		s->part.index != s->other.index);
}

/* Of what is dead, slow or somewhere else a share says nothing more. */
static bool has_share(enum mm_kind kind)
{
	return kind == MM_LOSSY || kind == MM_CORRUPTING || kind == MM_DUPLICATING ||
	       kind == MM_REORDERING;
}

char *mm_sick_text(const struct mf_topology *t, const struct mm_sick *sick, uint64_t now_ns,
		   char out[MM_SICK_TEXT_BYTES])
{
	static const char *const direction[] = {
		[MF_DIRECTION_BOTH] = "", [MF_DIRECTION_OUT] = " out", [MF_DIRECTION_IN] = " in"};
	char name[MM_PART_NAME_BYTES], other[MM_PART_NAME_BYTES] = "", rate[32] = "";
	bool exchanged = mm_sick_has_other(sick);

	mm_part_name(t, &sick->part, name);
	if (exchanged)
		mm_part_name(t, &sick->other, other);
	if (has_share(sick->kind))
		snprintf(rate, sizeof(rate), " %.2f%%", sick->rate_ppm / 1e4);
	snprintf(out, MM_SICK_TEXT_BYTES,
		 "%s: %s%s%s%s%s%s, since %" PRIu64 " ms, seen by %" PRIu32 " of %" PRIu32 "; %s",
		 name, mm_kind_name(sick->kind), rate, direction[sick->part.direction],
		 sick->direction_known ? "" : " (direction not known)",
		 exchanged ? ", exchanged with " : "", other, (now_ns - sick->since_ns) / MS_NS,
		 sick->for_it, sick->watchers, advice(sick));
	return out;
}
