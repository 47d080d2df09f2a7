/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_part.c - from a part of the fabric to the EVs that use it: see trace.h. */
#include "cli/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>

/* Whether a host sends by an EV over the part, to any host or to the one that was asked about. */
static bool host_uses(const struct trace_part *p, uint32_t src, uint32_t ev)
{
	struct mf_pair pair;

	if (p->dst == MF_HOST_NONE)
		return mf_ev_uses_part(p->t, src, ev, &p->part);
	pair = mf_pair_of(p->t, src, p->dst);
	return src != p->dst && mf_path_uses_part(p->t, &pair, ev, &p->part);
}

static uint32_t first_host(const struct trace_part *p)
{
	return p->src == MF_HOST_NONE ? 0 : p->src;
}

static uint32_t end_of_hosts(const struct trace_part *p)
{
	return p->src == MF_HOST_NONE ? p->t->n_hosts : p->src + 1;
}

/* Hosts that send by the EV over the part, as ranges; how many. */
static uint32_t list_hosts(const struct trace_part *p, uint32_t ev, struct ui_text *ranges)
{
	uint32_t n = 0, begin = MF_HOST_NONE;

	for (uint32_t host = first_host(p); host <= end_of_hosts(p); host++) {
		bool uses = host < end_of_hosts(p) && host_uses(p, host, ev);

		n += uses;
		if (uses && begin == MF_HOST_NONE)
			begin = host;
		if (uses || begin == MF_HOST_NONE)
			continue;
		ui_text_add(ranges, "%shost%" PRIu32, ranges->len ? "," : "", begin);
		if (host - 1 > begin)
			ui_text_add(ranges, "-%" PRIu32, host - 1);
		begin = MF_HOST_NONE;
	}
	return n;
}

static void show_ev(const struct trace_part *p, uint32_t ev, struct ui_text *out)
{
	char number[UI_UNITS_MAX], cable[MF_EV_CABLE_BYTES];
	struct ui_text hosts = {0};
	uint32_t n = list_hosts(p, ev, &hosts);

	if (n && p->src != MF_HOST_NONE)
		ui_text_add(out, "%s  %s\n", ui_units_ev(number, mf_ev_shown(ev)),
			    mf_ev_cable(p->t, p->src, p->dst, ev, cable));
	else if (n)
		ui_text_add(out, "%s  %" PRIu32 " of %" PRIu32 " hosts: %s\n",
			    ui_units_ev(number, mf_ev_shown(ev)), n, p->t->n_hosts, hosts.data);
	ui_text_fini(&hosts);
}

void trace_part_show(const struct trace_part *p, struct ui_text *out)
{
	for (uint32_t n = 0; n < mf_ev_count(p->t); n++)
		show_ev(p, mf_ev_nth(p->t, n), out);
	if (!out->len)
		ui_text_add(out, "no EV uses %s\n", p->name);
}

static json_t *ev_json(const struct trace_part *p, uint32_t ev)
{
	char cable[MF_EV_CABLE_BYTES];
	struct ui_text hosts = {0};
	uint32_t n = list_hosts(p, ev, &hosts);
	json_t *all = NULL;

	if (n)
		all = json_pack("{s:I,s:I,s:I,s:s}", "ev", (json_int_t)mf_ev_shown(ev), "plane",
				(json_int_t)mf_ev_plane(ev), "n_hosts", (json_int_t)n, "hosts",
				hosts.data);
	if (all && p->src != MF_HOST_NONE)
		json_object_set_new(all, "cable",
				    json_string(mf_ev_cable(p->t, p->src, p->dst, ev, cable)));
	ui_text_fini(&hosts);
	return all;
}

json_t *trace_part_json(const struct trace_part *p)
{
	json_t *evs = json_array();

	for (uint32_t n = 0; n < mf_ev_count(p->t); n++) {
		json_t *ev = ev_json(p, mf_ev_nth(p->t, n));

		if (ev)
			json_array_append_new(evs, ev);
	}
	return json_pack("{s:i,s:s,s:s,s:o}", "version", 1, "fabric", p->t->cfg.name, "part",
			 p->name, "evs", evs);
}
