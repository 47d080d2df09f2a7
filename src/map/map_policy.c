/* SPDX-License-Identifier: BSD-2-Clause */
/* map_policy.c - see map_policy.h. */
#include "map/map_policy.h"

#include "base/assert.h"
#include "fabric/fabric_path.h"

/* A return that does not last doubles the wait for the next one, so many times. */
#define RETURNS_MAX 4u
/* How long returns are remembered, in waits for one: as long as the longest wait. */
#define REMEMBERED 16u

const char *mm_policy_state_name(enum mm_policy_state state)
{
	static const char *const names[MM_POLICY_STATES] = {"watched", "held", "denied",
							    "overruled"};

	mb_assert(state < MM_POLICY_STATES);
	return names[state];
}

void mm_policy_init(struct mm_policy *p, const struct mf_topology *t,
		    const struct mm_policy_cfg *cfg)
{
	mb_assert(cfg->host < t->n_hosts && cfg->share_percent > 0 &&
		  cfg->share_percent <= MM_POLICY_SHARE_MAX);
	*p = (struct mm_policy){.cfg = *cfg, .t = t};
}

/* ---- what a part touches ---- */

/* The links that a choice takes on its way up, in order; returns how many. */
static uint32_t links_up(const struct mm_policy *p, uint32_t ev, uint32_t link[3])
{
	const struct mf_topology *t = p->t;
	uint32_t plane = mf_ev_plane(ev), t0 = mf_host_t0(t, p->cfg.host);
	uint32_t t1 = mf_t0_pod(t, t0) * t->cfg.t1s + mf_ev_uplink(ev);

	link[0] = mf_link_host_t0(t, plane, p->cfg.host, false);
	if (t->n_t0s < 2)
		return 1;
	link[1] = mf_link_t0_t1(t, plane, t0, mf_ev_uplink(ev), false);
	if (t->cfg.tiers < 3)
		return 2;
	link[2] = mf_link_t1_t2(t, plane, t1, mf_ev_t1_uplink(ev), false);
	return 3;
}

bool mm_policy_touches(const struct mm_policy *p, const struct mm_part *part, uint32_t ev)
{
	uint32_t link[3], n = links_up(p, ev, link);

	/* To go without its own EVs makes no sick host well. */
	if (part->kind == MM_HOST || part->kind == MM_WITNESS)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (mm_part_has(p->t, part, link[i]))
			return true;
	return false;
}

/* Choice number i of a plane: the plane changes fastest. */
static uint32_t nth_of_plane(const struct mm_policy *p, uint32_t plane, uint32_t i)
{
	return i * p->t->cfg.planes + plane;
}

static uint32_t choices_of_plane(const struct mm_policy *p)
{
	return mf_ev_count(p->t) / p->t->cfg.planes;
}

bool mm_policy_takes_plane(const struct mm_policy *p, const struct mm_part *part, uint32_t plane)
{
	for (uint32_t i = 0; i < choices_of_plane(p); i++)
		if (!mm_policy_touches(p, part, mf_ev_nth(p->t, nth_of_plane(p, plane, i))))
			return false;
	return true;
}

/* Whether a part is above the host at all: most are not, and choices are many in three tiers. */
static bool is_above(const struct mm_policy *p, const struct mm_part *part)
{
	const struct mf_topology *t = p->t;
	uint32_t t0 = mf_host_t0(t, p->cfg.host), pod = mf_t0_pod(t, t0);
	struct mf_node node;
	struct mf_link l;

	if (part->kind == MM_CABLE) {
		l = mf_link_at(t, part->id << 1);
		return l.kind == MF_HOST_T0 ? l.lower == p->cfg.host
		       : l.kind == MF_T0_T1 ? l.lower == t0
					    : mf_t1_pod(t, l.lower) == pod;
	}
	if (part->kind != MM_SWITCH && part->kind != MM_TRANSCEIVER)
		return part->kind == MM_PLANE;
	node = mf_node_at(t, part->id);
	return node.tier == MF_T0   ? node.index == t0
	       : node.tier == MF_T1 ? mf_t1_pod(t, node.index) == pod
				    : true;
}

static bool touches_any(const struct mm_policy *p, const struct mm_part *part)
{
	if (!is_above(p, part))
		return false;
	for (uint32_t n = 0; n < mf_ev_count(p->t); n++)
		if (mm_policy_touches(p, part, mf_ev_nth(p->t, n)))
			return true;
	return false;
}

static bool overlap(const struct mm_policy *p, const struct mm_part *a, const struct mm_part *b)
{
	if (!is_above(p, a) || !is_above(p, b))
		return false;
	for (uint32_t n = 0; n < mf_ev_count(p->t); n++) {
		uint32_t ev = mf_ev_nth(p->t, n);

		if (mm_policy_touches(p, a, ev) && mm_policy_touches(p, b, ev))
			return true;
	}
	return false;
}

/* ---- what is sick ---- */

/* What doubles or overtakes packets, or a link that is slow, the transport bears by itself. */
static bool is_to_be_denied(enum mm_kind kind)
{
	static const bool denied[MM_KINDS] = {[MM_DEAD] = true,
					      [MM_LOSSY] = true,
					      [MM_CORRUPTING] = true,
					      [MM_FLAPPING] = true,
					      [MM_WRONG_CABLE] = true};

	return denied[kind];
}

static struct mm_policy_part *find(struct mm_policy *p, const struct mm_part *part)
{
	for (uint32_t i = 0; i < p->n_parts; i++)
		if (mm_part_same(&p->part[i].sick.part, part))
			return &p->part[i];
	return NULL;
}

static struct mm_policy_part *add(struct mm_policy *p, const struct mm_sick *sick, bool is_sick,
				  uint64_t now_ns)
{
	struct mm_policy_part *part;

	if (p->n_parts == MM_POLICY_PARTS || !touches_any(p, &sick->part))
		return NULL;
	part = &p->part[p->n_parts++];
	*part = (struct mm_policy_part){.sick = *sick, .is_sick = is_sick, .since_ns = now_ns};
	return part;
}

bool mm_policy_restore(struct mm_policy *p, const struct mm_part *part, uint64_t now_ns)
{
	const struct mm_sick sick = {.part = *part, .since_ns = now_ns};
	struct mm_policy_part *known = find(p, part);

	if (!known)
		known = add(p, &sick, false, now_ns);
	if (known)
		known->state = MM_POLICY_DENIED;
	return known;
}

/*
 * Whether a part is sick still: by itself or, if it is denied, under another name, as a cable whose
 * switch is found dead later.
 */
static bool is_sick_in(const struct mm_policy *p, struct mm_policy_part *part,
		       const struct mm_sick *sick, size_t n)
{
	bool covered = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_to_be_denied(sick[i].kind))
			continue;
		if (mm_part_same(&part->sick.part, &sick[i].part)) {
			part->sick = sick[i];
			return true;
		}
		covered = covered || (part->state == MM_POLICY_DENIED &&
				      overlap(p, &part->sick.part, &sick[i].part));
	}
	return covered;
}

static bool is_to_be_forgotten(const struct mm_policy *p, const struct mm_policy_part *part,
			       uint64_t now_ns)
{
	uint64_t after = p->cfg.return_after_ns * (part->returns ? REMEMBERED : 1);

	return part->state != MM_POLICY_DENIED && !part->is_sick &&
	       now_ns - part->since_ns >= after;
}

void mm_policy_see(struct mm_policy *p, const struct mm_sick *sick, size_t n, bool cut,
		   uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->n_parts; i++) {
		struct mm_policy_part part = p->part[i];
		bool is_sick = is_sick_in(p, &part, sick, n), unknown = cut && !is_sick;

		if (unknown || is_sick != part.is_sick)
			part.since_ns = now_ns;
		if (!unknown)
			part.is_sick = is_sick;
		if (part.state == MM_POLICY_HELD)
			part.state = MM_POLICY_WATCHED;
		if (!is_to_be_forgotten(p, &part, now_ns))
			p->part[kept++] = part;
	}
	p->n_parts = kept;
	for (size_t i = 0; i < n; i++)
		if (is_to_be_denied(sick[i].kind) && !find(p, &sick[i].part))
			add(p, &sick[i], true, now_ns);
}

/* ---- what is due ---- */

static uint32_t share_of(const struct mm_policy *p, uint32_t all, uint32_t least)
{
	uint32_t share = (uint32_t)((uint64_t)all * p->cfg.share_percent / 100);

	return share > least ? share : least;
}

/* Choices of a plane that are out, and would be. */
struct taken {
	uint32_t before, after;
};

static struct taken count_taken(const struct mm_policy *p, const struct mm_part *part,
				uint32_t plane, const uint8_t *out)
{
	struct taken n = {0, 0};

	for (uint32_t i = 0; i < choices_of_plane(p); i++) {
		uint32_t nth = nth_of_plane(p, plane, i);

		n.before += out[nth] != 0;
		n.after += out[nth] || mm_policy_touches(p, part, mf_ev_nth(p->t, nth));
	}
	return n;
}

/* Whether the cap lets a part be denied that takes something. */
static bool is_within_cap(const struct mm_policy *p, const struct mm_part *part, const uint8_t *out)
{
	uint32_t all = choices_of_plane(p), planes = p->t->cfg.planes, gone = 0, gone_before = 0;

	for (uint32_t plane = 0; plane < planes; plane++) {
		struct taken n = count_taken(p, part, plane, out);

		gone += n.after == all;
		gone_before += n.before == all;
		/* One uplink with all that is above it, however small the share. */
		if (n.after > n.before && !mm_policy_takes_plane(p, part, plane) &&
		    n.after > share_of(p, all, all / p->t->cfg.t1s))
			return false;
	}
	return gone == gone_before || (gone < planes && gone <= share_of(p, planes, 1));
}

static bool takes_anything(const struct mm_policy *p, const struct mm_part *part,
			   const uint8_t *out)
{
	for (uint32_t n = 0; n < mf_ev_count(p->t); n++)
		if (!out[n] && mm_policy_touches(p, part, mf_ev_nth(p->t, n)))
			return true;
	return false;
}

static bool is_to_return(const struct mm_policy *p, const struct mm_policy_part *part,
			 uint64_t now_ns)
{
	uint32_t times = part->returns < RETURNS_MAX ? part->returns : RETURNS_MAX;

	return part->state == MM_POLICY_DENIED && !part->is_sick &&
	       now_ns - part->since_ns >= p->cfg.return_after_ns << times;
}

static bool is_to_deny(const struct mm_policy *p, const struct mm_policy_part *part,
		       const uint8_t *out, uint64_t now_ns)
{
	return part->state == MM_POLICY_WATCHED && part->is_sick &&
	       now_ns - part->since_ns >= p->cfg.deny_after_ns &&
	       takes_anything(p, &part->sick.part, out);
}

/* An exchanged cable gets nothing through, either. */
static uint32_t badness(const struct mm_policy_part *part)
{
	return part->sick.kind == MM_WRONG_CABLE ? MM_DEAD : part->sick.kind;
}

static bool is_worse(const struct mm_policy_part *a, const struct mm_policy_part *b)
{
	return badness(a) != badness(b) ? badness(a) < badness(b) : a->since_ns < b->since_ns;
}

struct mm_policy_part *mm_policy_due(struct mm_policy *p, const uint8_t *out, uint64_t now_ns)
{
	struct mm_policy_part *worst = NULL;

	for (uint32_t i = 0; i < p->n_parts; i++) {
		struct mm_policy_part *part = &p->part[i];

		if (is_to_return(p, part, now_ns))
			return part;
		if (!is_to_deny(p, part, out, now_ns))
			continue;
		if (!is_within_cap(p, &part->sick.part, out))
			part->state = MM_POLICY_HELD;
		else if (!worst || is_worse(part, worst))
			worst = part;
	}
	return worst;
}

void mm_policy_done(struct mm_policy *p, struct mm_policy_part *part, bool made, uint64_t now_ns)
{
	mb_assert(part >= p->part && part < p->part + p->n_parts);
	if (part->state != MM_POLICY_DENIED) {
		part->state = made ? MM_POLICY_DENIED : MM_POLICY_HELD;
		return;
	}
	/* What could not be given back is tried again after as long. */
	part->since_ns = now_ns;
	if (!made)
		return;
	part->state = MM_POLICY_WATCHED;
	part->returns += part->returns < RETURNS_MAX;
}

void mm_policy_overrule(struct mm_policy_part *part)
{
	part->state = MM_POLICY_OVERRULED;
	part->returns = 0;
}
