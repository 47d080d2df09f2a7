/* SPDX-License-Identifier: BSD-2-Clause */
/* route_text.c - see route_text.h. */
#include "map/route_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"

const char *mm_symptom_name(enum mm_symptom symptom)
{
	static const char *const names[MM_SYMPTOMS] = {"lost", "corrupted", "duplicated",
						       "reordered"};

	mb_assert(symptom < MM_SYMPTOMS);
	return names[symptom];
}

/* The nodes after the host's T0, up to where the route turns back on its own way. */
static void name_nodes(const struct mf_topology *t, const struct mm_route_of *of, uint32_t last,
		       char via[MM_LABEL_BYTES])
{
	size_t used = 0;

	via[0] = '\0';
	for (uint32_t i = 1; i <= last && used < MM_LABEL_BYTES; i++) {
		struct mf_node n = mf_node_at(t, mf_link_to(t, of->link[i]).node);
		int len = snprintf(via + used, MM_LABEL_BYTES - used, "%s%s-%" PRIu32,
				   i > 1 ? "," : "", mf_tier_name(n.tier), n.index);

		used += len > 0 ? (size_t)len : 0;
	}
}

void mm_route_labels_of(const struct mf_topology *t, const struct mm_route_of *of,
			struct mm_route_labels *l)
{
	bool turns = of->links == 6 && of->link[3] != mf_link_reverse(of->link[2]);

	*l = (struct mm_route_labels){.host = of->witness,
				      .plane = mf_link_plane(t, of->link[0]),
				      .t0 = mf_host_t0(t, of->witness)};
	if (of->peer != MM_NO_HOST) {
		l->kind = "peer";
		snprintf(l->via, sizeof(l->via), "host%" PRIu32, of->peer);
		return;
	}
	l->kind = of->links == 2 ? "t0" : of->links == 4 ? "t1" : turns ? "turn" : "t2";
	name_nodes(t, of, turns ? 3 : of->links / 2 - 1, l->via);
}
