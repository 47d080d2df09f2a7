/* SPDX-License-Identifier: BSD-2-Clause */
/* route_text.c - see route_text.h. */
#include "map/route_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "map/probe_plan.h"

const char *mm_symptom_name(enum mm_symptom symptom)
{
	static const char *const names[MM_SYMPTOMS] = {"lost", "corrupted", "duplicated",
						       "reordered", "slowed"};

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

/* ---- and back ---- */

/* Takes "PREFIX123"; false: it is not there, or not below max. */
static bool take_number(const char **at, const char *prefix, uint32_t max, uint32_t *out)
{
	size_t n = strlen(prefix), digits;
	unsigned long long value;

	if (strncmp(*at, prefix, n) != 0)
		return false;
	digits = strspn(*at + n, "0123456789");
	if (digits == 0 || digits > 9)
		return false;
	value = strtoull(*at + n, NULL, 10);
	*at += n + digits;
	*out = (uint32_t)value;
	return value < max;
}

/* The uplink of a host's T0 that leads to a T1, which is of its pod. */
static bool take_uplink(const struct mf_topology *t, uint32_t t0, const char **via,
			const char *prefix, uint32_t *up)
{
	uint32_t first = mf_t0_pod(t, t0) * t->cfg.t1s, t1;

	if (!take_number(via, prefix, t->n_t1s, &t1) || t1 < first || t1 - first >= t->cfg.t1s)
		return false;
	*up = t1 - first;
	return true;
}

static bool read_turn(const struct mf_topology *t, const struct mm_route_labels *l,
		      const char **via, struct mm_route_of *of)
{
	uint32_t up, through, down;

	if (!take_uplink(t, l->t0, via, "t1-", &up) ||
	    !take_number(via, ",t0-", t->n_t0s, &through) ||
	    !take_uplink(t, l->t0, via, ",t1-", &down) || up == down || through == l->t0 ||
	    mf_t0_pod(t, through) != mf_t0_pod(t, l->t0))
		return false;
	of->links = mm_route_turn(t, l->host, l->plane, up, through, down, of->link);
	return true;
}

static bool read_peer(const struct mf_topology *t, const struct mm_route_labels *l,
		      const char **via, struct mm_route_of *of)
{
	if (!take_number(via, "host", t->n_hosts, &of->peer) || of->peer == l->host ||
	    mf_host_t0(t, of->peer) != l->t0)
		return false;
	of->links = mm_route_peer(t, l->host, l->plane, of->peer, of->link);
	return true;
}

/* To a T0, T1 or T2 and back by the same links. */
static bool read_up(const struct mf_topology *t, const struct mm_route_labels *l, const char **via,
		    uint32_t tier, struct mm_route_of *of)
{
	struct mm_route_top top = {.tier = tier};
	uint32_t first, t2;

	if (tier > 0 && !take_uplink(t, l->t0, via, "t1-", &top.uplink))
		return false;
	if (tier > 1) {
		first = top.uplink * t->cfg.t1_uplinks;
		if (t->cfg.tiers < 3 || !take_number(via, ",t2-", t->n_t2s, &t2) || t2 < first ||
		    t2 - first >= t->cfg.t1_uplinks)
			return false;
		top.t1_uplink = t2 - first;
	}
	of->links = mm_route_up(t, l->host, l->plane, &top, of->link);
	return true;
}

bool mm_route_read(const struct mf_topology *t, const struct mm_route_labels *l,
		   struct mm_route_of *of)
{
	static const char *const kinds[] = {"t0", "t1", "t2"};
	const char *via = l->via;
	bool good = false;

	*of = (struct mm_route_of){.witness = l->host, .peer = MM_NO_HOST};
	if (l->host >= t->n_hosts || l->plane >= t->cfg.planes || l->t0 != mf_host_t0(t, l->host))
		return false;
	for (uint32_t tier = 0; tier < 3; tier++)
		if (strcmp(l->kind, kinds[tier]) == 0)
			good = read_up(t, l, &via, tier, of);
	if (strcmp(l->kind, "turn") == 0)
		good = read_turn(t, l, &via, of);
	if (strcmp(l->kind, "peer") == 0)
		good = read_peer(t, l, &via, of);
	return good && *via == '\0';
}
