/* SPDX-License-Identifier: BSD-2-Clause */
/* md_change.c - ports, format profiles, CC profiles: see md_change.h. EVs are in md_change_ev.c. */
#include "mrcd/md_change.h"

#include <errno.h>
#include <string.h>

#define BYTE(p, at) ((uint8_t *)(p) + (at))

const char *const md_admin_words[] = {"enabled", "suspended", "down", NULL};
const char *const md_state_words[] = {"init", "offline", "online", NULL};
const char *const md_mode_words[] = {"auto", "explicit", "generated", NULL};
const char *const md_format_words[] = {"stev", "srv6", "udp", NULL};
const char *const md_denier_words[] = {"user", "map", "drain", NULL};
const char *const md_algorithm_words[] = {"none", "uet-1.0-nscc", NULL};

int md_change_port(struct mn_state *s, const struct mn_device *d, const json_t *args,
		   struct md_error *e)
{
	static const char *const known[] = {"port", "admin", NULL};
	uint32_t port = 0, admin = 0;
	int err = md_args_only(args, known, e);

	if (!err)
		err = md_args_need(args, "port", e);
	if (!err)
		err = md_args_need(args, "admin", e);
	if (!err)
		err = md_args_u32(args, "port", 1, d->n_ports, &port, e);
	if (!err)
		err = md_args_word(args, "admin", md_admin_words, &admin, e);
	if (err)
		return err;
	err = mn_port_modify(s, d, port, (enum mn_port_admin)admin);
	return err ? md_refuse(e, err, "port", "port = %u: is not of this device", port) : 0;
}

/* What all profiles have. */
static int take_profile(const json_t *args, uint32_t profiles, uint32_t *id, uint32_t *state,
			struct md_error *e)
{
	int err = md_args_need(args, "profile", e);

	*state = MN_ONLINE;
	if (!err)
		err = md_args_u32(args, "profile", 1, profiles - 1, id, e);
	return err ? err : md_args_word(args, "state", md_state_words, state, e);
}

static const char *why(int err)
{
	switch (err) {
	case EBUSY:
		return "something that is ONLINE uses it";
	case E2BIG:
		return "more than there is room for";
	default:
		return "something is missing, or its present state does not allow it; only offline "
		       "profiles change";
	}
}

/* ---- format profiles ---- */

static int step_format(struct mn_state *s, const struct mn_device *d, uint32_t id,
		       struct mn_fmt_change *c, uint32_t wanted)
{
	uint32_t now = s->fmt[id].state;
	int err;

	while (now != wanted) {
		uint32_t mask = c->mask;

		now += now < wanted ? 1u : -1u;
		c->state = now;
		c->mask =
			now == MN_OFFLINE && wanted != MN_INIT ? mask | MN_FMT_STATE : MN_FMT_STATE;
		err = mn_fmt_modify(s, d, id, c);
		if (err)
			return err;
		c->mask = c->mask == MN_FMT_STATE ? mask : 0;
	}
	return c->mask ? mn_fmt_modify(s, d, id, c) : 0;
}

int md_change_format(struct mn_state *s, const struct mn_device *d, const json_t *args,
		     struct md_error *e)
{
	static const char *const known[] = {"profile", "mode", "fields", "state", NULL};
	uint32_t id = 0, wanted, mode = 0, width[MN_FIELDS_MAX];
	uint8_t widths[MN_FIELDS_MAX];
	struct mn_fmt_change c = {.width = widths};
	int err = md_args_only(args, known, e);

	if (!err)
		err = take_profile(args, MN_FMT_PROFILES, &id, &wanted, e);
	if (!err)
		err = md_args_word(args, "mode", md_format_words, &mode, e);
	if (!err)
		err = md_args_u32s(args, "fields", 32, width, MN_FIELDS_MAX, &c.n_fields, e);
	if (err)
		return err;
	for (uint32_t i = 0; i < c.n_fields; i++)
		widths[i] = (uint8_t)width[i];
	if (md_args_has(args, "mode"))
		c.mask |= MN_FMT_FORMAT;
	if (md_args_has(args, "fields"))
		c.mask |= MN_FMT_FIELDS;
	c.format = 1u << mode;
	if (md_args_has(args, "mode") && !(c.format & d->formats))
		return md_refuse_value(e, args, "mode",
				       d->formats & MN_FORMAT_STEV ? "stev on this device"
								   : "udp on this device");
	err = step_format(s, d, id, &c, wanted);
	return err ? md_refuse(e, err, "profile", "format profile = %u: %s", id, why(err)) : 0;
}

/* ---- CC profiles ---- */

#define NSCC(name, max)                                    \
	{                                                  \
#name, offsetof(struct mn_nscc, name), max \
	}
const struct md_nscc_member md_nscc_members[] = {
	NSCC(adjust_bytes_threshold, 0),
	NSCC(adjust_period_threshold_ns, 0),
	NSCC(base_rtt_ns, 0),
	NSCC(max_cwnd_bytes, 0),
	NSCC(qa_threshold_ns, 0),
	NSCC(target_delay_ns, 0),
	NSCC(eta, 65536),
	NSCC(fi, 65536),
	NSCC(fi_scale, 256),
	NSCC(gamma, 1),
	NSCC(max_md_jump, 1),
	{NULL, 0, 0},
};

static int take_nscc(const json_t *args, struct mn_nscc *c, bool *given, struct md_error *e)
{
	bool no_qa = c->disable_qa;
	uint32_t gate = c->qa_gate;
	int err = md_args_bool(args, "disable_qa", &no_qa, e);

	*given = md_args_has(args, "disable_qa") || md_args_has(args, "qa_gate");
	if (!err)
		err = md_args_u32(args, "qa_gate", 0, 31, &gate, e);
	for (const struct md_nscc_member *m = md_nscc_members; !err && m->name; m++) {
		*given |= md_args_has(args, m->name);
		if (m->max > 0)
			err = md_args_real(args, m->name, m->max, (float *)(void *)BYTE(c, m->at),
					   e);
		else
			err = md_args_u32(args, m->name, 0, UINT32_MAX,
					  (uint32_t *)(void *)BYTE(c, m->at), e);
	}
	c->disable_qa = no_qa;
	c->qa_gate = (uint8_t)gate;
	return err;
}

static int step_cc(struct mn_state *s, const struct mn_device *d, uint32_t id,
		   struct mn_cc_change *c, uint32_t wanted)
{
	uint32_t now = s->cc[id].state;
	int err;

	while (now != wanted) {
		uint32_t mask = c->mask;

		now += now < wanted ? 1u : -1u;
		c->state = now;
		c->mask = now == MN_OFFLINE && wanted != MN_INIT ? mask | MN_CC_STATE : MN_CC_STATE;
		err = mn_cc_modify(s, d, id, c);
		if (err)
			return err;
		c->mask = c->mask == MN_CC_STATE ? mask : 0;
	}
	return c->mask ? mn_cc_modify(s, d, id, c) : 0;
}

static int cc_only(const json_t *args, struct md_error *e)
{
	const char *known[24] = {"profile", "algorithm", "state", "disable_qa", "qa_gate"};
	size_t n = 5;

	for (const struct md_nscc_member *m = md_nscc_members; m->name; m++)
		known[n++] = m->name;
	return md_args_only(args, known, e);
}

int md_change_cc(struct mn_state *s, const struct mn_device *d, const json_t *args,
		 struct md_error *e)
{
	struct mn_nscc nscc = {0};
	struct mn_cc_change c = {.nscc = &nscc};
	uint32_t id = 0, wanted;
	bool given = false;
	int err = cc_only(args, e);

	if (!err)
		err = take_profile(args, MN_CC_PROFILES, &id, &wanted, e);
	if (err)
		return err;
	c.algorithm = s->cc[id].algorithm;
	nscc = s->cc[id].nscc;
	err = md_args_word(args, "algorithm", md_algorithm_words, &c.algorithm, e);
	if (!err)
		err = take_nscc(args, &nscc, &given, e);
	if (err)
		return err;
	if (given && c.algorithm != MN_CC_NSCC)
		return md_refuse(e, EINVAL, "algorithm", "algorithm = none: has no parameters");
	if (s->cc[id].state == MN_INIT || c.algorithm != s->cc[id].algorithm)
		c.mask |= md_args_has(args, "algorithm") ? MN_CC_ALGORITHM : 0;
	/* Parameters that are not named are what NSCC derives, also when none is named. */
	if (given || (c.algorithm == MN_CC_NSCC && !s->cc[id].has_config && wanted != MN_INIT))
		c.mask |= MN_CC_CONFIG;
	err = step_cc(s, d, id, &c, wanted);
	return err ? md_refuse(e, err, "profile", "CC profile = %u: %s", id, why(err)) : 0;
}
