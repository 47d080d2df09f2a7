/* SPDX-License-Identifier: BSD-2-Clause */
/* md_policy.c - see md_policy.h. */
#include "mrcd/md_policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric/fabric_path.h"
#include "mrcd/md_change.h"
#include "mrcd/md_log.h"
#include "mrcd/md_policy_evs.h"

#define SICKNESS_BYTES 112u
#define REASON_BYTES (SICKNESS_BYTES + 5u)
#define STEP_NS (MD_POLICY_MS * UINT64_C(1000000))

struct md_policy {
	struct md_node *node;
	struct mm_policy policy;
	bool acts;
	uint8_t *out; /* by choice */
	uint64_t next_ns;
	md_policy_tell_fn *tell;
	void *ctx;
	json_t *amending; /* what is denied with somebody's change that is being stored */
	json_t *amended;  /* and that was, and is to be told */
};

static const char *name_of(const struct md_policy *p, const struct mm_policy_part *part,
			   char name[MM_PART_NAME_BYTES])
{
	return mm_part_name(p->policy.t, &part->sick.part, name);
}

/* ---- what was denied before ---- */

static const char *part_of_note(const json_t *note)
{
	return json_string_value(json_object_get(note, "part"));
}

static size_t count_notes(const struct md_node *node, const char *part)
{
	const json_t *note;
	const char *key;
	size_t n = 0;

	json_object_foreach(node->notes, key, note)
	{
		const char *of = part_of_note(note);

		n += of && (!part || strcmp(of, part) == 0);
	}
	return n;
}

static void take_up(struct md_policy *p, uint64_t now_ns)
{
	const json_t *note;
	const char *key;

	json_object_foreach(p->node->notes, key, note)
	{
		const char *name = part_of_note(note);
		struct mm_part part;
		struct mf_error e;

		if (name && (!mm_part_find(p->policy.t, name, &part, &e) ||
			     !mm_policy_restore(&p->policy, &part, now_ns)))
			md_log(MD_WARNING, "map-left", MD_NOBODY,
			       "EV %s was denied for %.100s, which is not above this host any "
			       "more: mrc ctl undeny",
			       strchr(key, '/') + 1, name);
	}
}

/* ---- what comes in while a part is denied ---- */

static char *sickness_of(const struct md_policy *p, const struct mm_policy_part *part,
			 char text[SICKNESS_BYTES])
{
	char name[MM_PART_NAME_BYTES];

	snprintf(text, SICKNESS_BYTES, "%.80s: %s", name_of(p, part, name),
		 mm_kind_name(part->sick.kind));
	return text;
}

/* As a reason of a denial: who says so. */
static char *reason_of(const struct md_policy *p, const struct mm_policy_part *part,
		       char reason[REASON_BYTES])
{
	char text[SICKNESS_BYTES];

	snprintf(reason, REASON_BYTES, "map: %s", sickness_of(p, part, text));
	return reason;
}

/* Takes over the list. */
static void note_amended(struct md_policy *p, const struct mm_policy_part *part, uint32_t profile,
			 json_t *evs)
{
	char name[MM_PART_NAME_BYTES], reason[REASON_BYTES];
	json_t *args =
		json_pack("{s:i, s:o, s:s, s:s}", "profile", (int)profile, "evs", evs, "part",
			  name_of(p, part, name), "reason", reason_of(p, part, reason));
	json_t *notes = md_notes_update(p->node->next_notes, p->node->next, args, time(NULL));

	json_decref(p->node->next_notes);
	p->node->next_notes = notes;
	json_array_append_new(p->amending, args);
}

static void amend_profile(struct md_policy *p, const struct mm_policy_part *part,
			  const struct mn_device *d, uint32_t profile)
{
	char sickness[SICKNESS_BYTES];
	int err;
	json_t *evs = md_policy_deny_in(&p->policy, p->node->next, d, profile, &part->sick.part,
					p->node->now, &err);

	if (!err && json_array_size(evs)) {
		note_amended(p, part, profile, evs);
		return;
	}
	if (err) {
		md_policy_allow_in(p->node->next, d, profile, evs);
		md_log(MD_WARNING, "map-held", MD_NOBODY,
		       "%s: not denied in EV profile %u, which is new: too few EVs would be left",
		       sickness_of(p, part, sickness), profile);
	}
	json_decref(evs);
}

/*
 * EVs that a change brings in, as one that makes a profile does, go with those that are denied, in
 * the same generation: no QP sends a packet by them.
 */
static void amend(void *ctx)
{
	struct md_policy *p = ctx;
	struct mn_device d;

	md_config_device(&p->node->config, geteuid(), &d);
	for (uint32_t i = 0; i < p->policy.n_parts; i++)
		for (uint32_t id = 0; id < MN_EV_PROFILES; id++)
			if (p->policy.part[i].state == MM_POLICY_DENIED)
				amend_profile(p, &p->policy.part[i], &d, id);
}

/* Said, and told with the next step, if it was stored. */
static void amended(void *ctx, bool stored)
{
	struct md_policy *p = ctx;
	json_t *args;
	size_t i;

	json_array_foreach(p->amending, i, args)
	{
		char *text = stored ? json_dumps(args, JSON_COMPACT) : NULL;

		if (!text)
			continue;
		md_log(MD_WARNING, "ev.deny", geteuid(), "%.800s", text);
		free(text);
		json_array_append(p->amended, args);
	}
	json_array_clear(p->amending);
}

static void tell_amended(struct md_policy *p)
{
	json_t *args;
	size_t i;

	json_array_foreach(p->amended, i, args)
		p->tell(p->ctx, md_said(p->node, "ev.deny", geteuid(), args));
	json_array_clear(p->amended);
}

int md_policy_open(struct md_policy **out, struct md_node *node, const struct mf_topology *t,
		   uint64_t now_ns)
{
	const struct md_config_map *c = &node->config.map;
	const struct mm_policy_cfg cfg = {c->host, c->deny_after_ns, c->return_after_ns,
					  c->deny_share};
	struct md_policy *p;

	*out = NULL;
	if ((!t || c->policy != MD_MAP_ACT) && count_notes(node, NULL))
		md_log(MD_WARNING, "map-left", MD_NOBODY,
		       "%zu EVs were denied by map.policy = act, which is no longer so: mrc ctl "
		       "undeny",
		       count_notes(node, NULL));
	if (!t || c->policy == MD_MAP_OFF)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return ENOMEM;
	*p = (struct md_policy){.node = node, .acts = c->policy == MD_MAP_ACT};
	mm_policy_init(&p->policy, t, &cfg);
	p->out = calloc(mf_ev_count(p->policy.t), 1);
	p->amending = json_array();
	p->amended = json_array();
	if (!p->out || !p->amending || !p->amended) {
		md_policy_close(p);
		return ENOMEM;
	}
	if (p->acts) {
		take_up(p, now_ns);
		node->amender = (struct md_amender){amend, amended, p};
	}
	*out = p;
	return 0;
}

void md_policy_close(struct md_policy *p)
{
	if (!p)
		return;
	p->node->amender = (struct md_amender){0};
	json_decref(p->amending);
	json_decref(p->amended);
	free(p->out);
	free(p);
}

/* ---- changes of the state ---- */

/* One change, of a state and notes that are put in force together; what was done, for the log. */
struct change {
	struct md_policy *p;
	struct mn_device d;
	json_t *notes;
	json_t *done; /* arguments of a request for each profile */
	int err;
};

static void begin(struct change *c, struct md_policy *p)
{
	*c = (struct change){.p = p, .notes = json_incref(p->node->notes), .done = json_array()};
	md_config_device(&p->node->config, geteuid(), &c->d);
	mn_state_copy(p->node->next, p->node->now);
}

/* Takes over the list of EVs. */
static void note(struct change *c, uint32_t profile, json_t *evs, const char *part,
		 const char *reason)
{
	json_t *args, *notes;

	if (c->err || !json_array_size(evs)) {
		json_decref(evs);
		return;
	}
	args = json_pack("{s:i, s:o}", "profile", (int)profile, "evs", evs);
	if (part)
		json_object_set_new(args, "part", json_string(part));
	if (reason)
		json_object_set_new(args, "reason", json_string(reason));
	notes = md_notes_update(c->notes, c->p->node->next, part ? args : NULL, time(NULL));
	json_decref(c->notes);
	c->notes = notes;
	json_array_append_new(c->done, args);
}

/* Puts it in force, and says so to log and followers, as of a request of mrcd's own user. */
static bool end(struct change *c, const char *verb, char *why, size_t size)
{
	struct md_node *node = c->p->node;
	struct store_error error = {0};
	json_t *args;
	size_t i;

	if (!c->err && !json_array_size(c->done))
		c->err = ENOENT;
	if (!c->err)
		c->err = md_node_put(node, json_incref(c->notes), &error);
	if (c->err)
		snprintf(why, size, "%.150s",
			 error.text[0]	    ? error.text
			 : c->err == ENOENT ? "no EV chooses it alone"
			 : c->err == EBUSY  ? "too few EVs would be left of a profile"
					    : strerror(c->err));
	node->counts.changes += !c->err;
	json_array_foreach(c->done, i, args)
	{
		char *text = c->err ? NULL : json_dumps(args, JSON_COMPACT);

		if (!text)
			continue;
		md_log(MD_WARNING, verb, geteuid(), "%.800s", text);
		free(text);
		c->p->tell(c->p->ctx, md_said(node, verb, geteuid(), args));
	}
	json_decref(c->notes);
	json_decref(c->done);
	return !c->err;
}

static bool deny(struct md_policy *p, const struct mm_policy_part *part, const char *name,
		 const char *reason, char *why, size_t size)
{
	struct change c;

	begin(&c, p);
	for (uint32_t id = 0; id < MN_EV_PROFILES && !c.err; id++)
		note(&c, id,
		     md_policy_deny_in(&p->policy, p->node->next, &c.d, id, &part->sick.part, NULL,
				       &c.err),
		     name, reason);
	return end(&c, "ev.deny", why, size);
}

/* The EVs of a profile whose notes name the part. */
static json_t *allow_in(struct change *c, uint32_t profile, const char *name)
{
	json_t *evs = json_array(), *noted;
	const char *key;

	json_object_foreach(c->p->node->notes, key, noted)
	{
		const char *text = strchr(key, '/') + 1, *part = part_of_note(noted);
		struct mn_ev_op op = {.denied = false, .denier = MN_DENIED_BY_MAP};

		if (!part || strcmp(part, name) != 0 || strtoul(key, NULL, 10) != profile ||
		    !md_ev_read(text, &op.ev))
			continue;
		if (mn_ev_modify(c->p->node->next, &c->d, profile, &op) == 0)
			json_array_append_new(evs, json_string(text));
	}
	return evs;
}

static bool give_back(struct md_policy *p, const char *name, char *why, size_t size)
{
	struct change c;

	begin(&c, p);
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++)
		note(&c, id, allow_in(&c, id, name), NULL, NULL);
	return end(&c, "ev.undeny", why, size);
}

/* ---- a step ---- */

/* Advice counts as if it had been followed, so that it keeps to the cap. */
static void sum_up(struct md_policy *p)
{
	const struct mm_policy *m = &p->policy;
	struct mn_device d;

	md_config_device(&p->node->config, geteuid(), &d);
	md_policy_out(m, p->node->now, &d, p->out);
	for (uint32_t i = 0; !p->acts && i < m->n_parts; i++)
		for (uint32_t n = 0; m->part[i].state == MM_POLICY_DENIED && n < mf_ev_count(m->t);
		     n++)
			p->out[n] |=
				mm_policy_touches(m, &m->part[i].sick.part, mf_ev_nth(m->t, n));
}

static void obey(struct md_policy *p, struct mm_policy_part *part, uint64_t now_ns)
{
	bool denies = part->state != MM_POLICY_DENIED, made = true;
	char name[MM_PART_NAME_BYTES], reason[REASON_BYTES], sickness[SICKNESS_BYTES],
		why[160] = "";

	name_of(p, part, name);
	sickness_of(p, part, sickness);
	reason_of(p, part, reason);
	if (!p->acts)
		md_log(MD_WARNING, "map-advice", MD_NOBODY, "%s %s%s",
		       denies ? "EVs over it are better denied:" : "well again:",
		       denies ? sickness : name,
		       denies ? "; map.policy = \"act\" does it, or mrc ctl deny" : "");
	else if (denies)
		made = deny(p, part, name, reason, why, sizeof(why));
	else
		made = give_back(p, name, why, sizeof(why));
	if (made) {
		part->told = false;
		p->node->counts.map_denials += denies;
		p->node->counts.map_returns += !denies;
	} else if (!part->told) {
		part->told = true;
		md_log(MD_WARNING, "map-held", MD_NOBODY, "%s: not %s: %s", sickness,
		       denies ? "denied" : "given back", why);
	}
	mm_policy_done(&p->policy, part, made, now_ns);
}

static void look_for_overrules(struct md_policy *p)
{
	for (uint32_t i = 0; p->acts && i < p->policy.n_parts; i++) {
		struct mm_policy_part *part = &p->policy.part[i];
		char name[MM_PART_NAME_BYTES];

		if (part->state != MM_POLICY_DENIED || count_notes(p->node, name_of(p, part, name)))
			continue;
		md_log(MD_INFO, "map-overruled", MD_NOBODY,
		       "%s: somebody decided about its EVs; left alone until it is well", name);
		mm_policy_overrule(part);
	}
}

/* Those that the cap holds back are said once. */
static void tell_held(struct md_policy *p)
{
	uint32_t *parts = p->node->counts.map_parts;

	memset(parts, 0, sizeof(p->node->counts.map_parts));
	for (uint32_t i = 0; i < p->policy.n_parts; i++) {
		struct mm_policy_part *part = &p->policy.part[i];
		char name[MM_PART_NAME_BYTES];

		parts[part->state] += part->is_sick || part->state != MM_POLICY_WATCHED;
		if (part->state != MM_POLICY_HELD || part->told)
			continue;
		part->told = true;
		md_log(MD_WARNING, "map-held", MD_NOBODY,
		       "%s: %s: not denied: more than map.deny_share = %u would be out",
		       name_of(p, part, name), mm_kind_name(part->sick.kind),
		       p->policy.cfg.share_percent);
	}
}

bool md_policy_is_due(const struct md_policy *p, uint64_t now_ns)
{
	return p && now_ns >= p->next_ns;
}

void md_policy_step(struct md_policy *p, const struct mm_sick *sick, size_t n, bool cut,
		    md_policy_tell_fn *tell, void *ctx, uint64_t now_ns)
{
	struct mm_policy_part *part;

	p->next_ns = now_ns + STEP_NS;
	p->tell = tell;
	p->ctx = ctx;
	tell_amended(p);
	look_for_overrules(p);
	mm_policy_see(&p->policy, sick, n, cut, now_ns);
	sum_up(p);
	while ((part = mm_policy_due(&p->policy, p->out, now_ns))) {
		obey(p, part, now_ns);
		sum_up(p);
	}
	tell_held(p);
}
