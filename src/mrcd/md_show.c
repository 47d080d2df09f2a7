/* SPDX-License-Identifier: BSD-2-Clause */
/* md_show.c - a device's state as answers show it: see md_change.h. */
#include "mrcd/md_change.h"

#include <stdio.h>
#include <string.h>

static void put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static void put_number(json_t *o, const char *key, uint64_t n)
{
	put(o, key, json_integer((json_int_t)n));
}

static void put_word(json_t *o, const char *key, const char *const *words, uint32_t i)
{
	put(o, key, json_string(words[i]));
}

json_t *md_show_ports(const struct mn_state *s, const struct mn_device *d)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->n_ports; i++) {
		json_t *port = json_object();

		put_number(port, "port", i + 1);
		put_word(port, "admin", md_admin_words, s->port_admin[i]);
		json_array_append_new(list, port);
	}
	return list;
}

json_t *md_show_format(const struct mn_state *s, uint32_t id)
{
	const struct mn_fmt_profile *f = &s->fmt[id];
	json_t *o = json_object(), *fields = json_array();

	put_number(o, "profile", id);
	put_word(o, "state", md_state_words, f->state);
	if (f->format)
		put_word(o, "mode", md_format_words, md_bit_index(f->format));
	for (uint32_t i = 0; i < f->n_fields; i++)
		json_array_append_new(fields, json_integer(f->width[i]));
	put(o, "fields", fields);
	return o;
}

json_t *md_show_cc(const struct mn_state *s, uint32_t id)
{
	const struct mn_cc_profile *c = &s->cc[id];
	json_t *o = json_object();

	put_number(o, "profile", id);
	put_word(o, "state", md_state_words, c->state);
	if (c->state == MN_INIT || id == MN_OWN_PROFILE)
		return o;
	put_word(o, "algorithm", md_algorithm_words, c->algorithm);
	if (!c->has_config)
		return o;
	put(o, "disable_qa", json_boolean(c->nscc.disable_qa));
	put_number(o, "qa_gate", c->nscc.qa_gate);
	for (const struct md_nscc_member *m = md_nscc_members; m->name; m++) {
		const uint8_t *at = (const uint8_t *)&c->nscc + m->at;
		uint32_t number;
		float real;

		memcpy(&number, at, sizeof(number));
		memcpy(&real, at, sizeof(real));
		put(o, m->name, m->max > 0 ? json_real((double)real) : json_integer(number));
	}
	return o;
}

/* ---- EV profiles ---- */

char *md_note_key(uint32_t profile, const struct mn_ev *ev, char out[MD_EV_TEXT + 12])
{
	char text[MD_EV_TEXT];

	snprintf(out, MD_EV_TEXT + 12, "%u/%s", profile, md_ev_write(ev, text));
	return out;
}

static json_t *show_ev(uint32_t id, const struct mn_ev *ev, const json_t *notes)
{
	char text[MD_EV_TEXT], key[MD_EV_TEXT + 12];
	json_t *o = json_object(), *note = json_object_get(notes, md_note_key(id, ev, key));

	put(o, "ev", json_string(md_ev_write(ev, text)));
	put(o, "denied", json_boolean(ev->denied));
	if (!ev->denied)
		return o;
	put_number(o, "by_uid", ev->denied_by);
	if (ev->denier != MN_DENIED_BY_USER)
		put_word(o, "by", md_denier_words, ev->denier);
	if (json_is_object(note))
		json_object_update(o, note);
	return o;
}

static void put_fields(json_t *o, const struct mn_ev_profile *p)
{
	static const char *const name[] = {"width", "init", "min", "max", "mask"};
	json_t *column[5];

	for (size_t k = 0; k < 5; k++)
		column[k] = json_array();
	for (uint32_t i = 0; i < p->n_fields; i++) {
		const struct mn_ev_field *f = &p->field[i];
		const uint32_t value[] = {f->width, f->init, f->min, f->max, f->mask};

		for (size_t k = 0; k < 5; k++)
			json_array_append_new(column[k], json_integer(value[k]));
	}
	for (size_t k = 0; k < 5; k++)
		put(o, name[k], column[k]);
}

json_t *md_show_ev_profile(const struct mn_state *s, uint32_t id, const json_t *notes)
{
	const struct mn_ev_profile *p = &s->ev[id];
	json_t *o = json_object(), *list = json_array(), *events = json_array();

	put_number(o, "profile", id);
	put_word(o, "state", md_state_words, p->state);
	if (p->state != MN_INIT)
		put_word(o, "mode", md_mode_words, md_bit_index(p->mode));
	put_number(o, "format", p->fmt);
	put_number(o, "count", p->count);
	put_number(o, "min_active", p->min_active);
	if (p->event_mask & MN_EVENT_GOOD)
		json_array_append_new(events, json_string("good"));
	if (p->event_mask & MN_EVENT_BAD)
		json_array_append_new(events, json_string("bad"));
	put(o, "events", events);
	if (p->n_fields)
		put_fields(o, p);
	for (uint32_t i = 0; i < p->n_evs; i++)
		json_array_append_new(list, show_ev(id, &s->evs[p->first + i], notes));
	put(o, "evs", list);
	return o;
}
