/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_nic_check.c - checks what the core places: each packet of a message once, whole, and inside
 * the memory region of its flow. One bit for each packet of a flow is enough, since the core
 * segments at the path MTU.
 */
#include "sim/mrc/mrc_nic_state.h"

/* Which packet of the flow begins at an offset, and how long it is; false: none does. */
static bool packet_at(const struct ms_conn *c, uint32_t mtu, uint64_t offset, uint64_t *index,
		      uint64_t *len)
{
	uint64_t k, in, left;

	if (offset >= c->region_bytes)
		return false;
	k = offset / c->end.message_bytes;
	in = offset - k * c->end.message_bytes;
	if (in % mtu != 0)
		return false;
	if (in >= ms_flow_end_message_bytes(&c->end, (uint32_t)k))
		return false;
	left = ms_flow_end_message_bytes(&c->end, (uint32_t)k) - in;
	*index = k * c->per_message + in / mtu;
	*len = left < mtu ? left : mtu;
	return true;
}

/* REQ(sim.check.once) */
bool ms_conn_place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct ms_mrc_host *h = ctx;
	struct ms_conn *c = mr_user;
	uint64_t index, whole, bit;

	(void)src;
	if (!packet_at(c, h->mrc->cfg.path_mtu, offset, &index, &whole) || len != whole) {
		ms_nic_report_violation(h->nic.worker,
					"flow %u: %u bytes placed at %llu, where no packet is",
					c->end.flow, len, (unsigned long long)offset);
		return true;
	}
	bit = UINT64_C(1) << (index % 64);
	if (c->placed[index / 64] & bit)
		ms_nic_report_violation(h->nic.worker, "flow %u: %u bytes at %llu placed twice",
					c->end.flow, len, (unsigned long long)offset);
	c->placed[index / 64] |= bit;
	c->end.placed_bytes += len;
	return true;
}

bool ms_conn_message_is_complete(const struct ms_conn *c, uint32_t k, uint32_t mtu)
{
	uint64_t bytes = ms_flow_end_message_bytes(&c->end, k);
	uint64_t first = (uint64_t)k * c->per_message;
	uint64_t end = first + (bytes + mtu - 1) / mtu;

	for (uint64_t i = first; i < end; i++)
		if (!(c->placed[i / 64] >> (i % 64) & 1))
			return false;
	return true;
}
