/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_show.c - paths of `mrc trace` for eyes and programs: see trace.h. */
#include "cli/trace/trace.h"

#include <inttypes.h>

static void put_answers(const struct trace_answers *a, struct ui_text *out)
{
	char text[UI_UNITS_MAX];

	if (!a->asked)
		ui_text_add(out, "not asked");
	else if (!a->answered)
		ui_text_add(out, "no answer");
	else
		ui_text_add(out, "%s", ui_units_time(text, a->rtt_min_ns));
	if (a->answered && a->answered < a->sent)
		ui_text_add(out, ", %" PRIu32 " of %" PRIu32 " lost", a->sent - a->answered,
			    a->sent);
}

static void put_title(const struct mf_topology *t, const struct trace_path *path,
		      struct ui_text *out)
{
	char number[UI_UNITS_MAX], src[MF_NODE_NAME_BYTES], dst[MF_NODE_NAME_BYTES];

	mf_node_name(t, path->src, src);
	mf_node_name(t, path->dst, dst);
	ui_text_add(out, "EV %s of %s to %s, plane %" PRIu32 "\n",
		    ui_units_ev(number, mf_ev_shown(path->ev)), src, dst, mf_ev_plane(path->ev));
}

/* As wide as the longest of the path. */
static size_t ends_width(const struct mf_topology *t, const struct trace_path *path)
{
	char ends[MF_CABLE_ENDS_BYTES];
	size_t width = 0;

	for (uint32_t hop = 0; hop < path->hops; hop++) {
		size_t n = ui_text_width(mf_link_ends(t, path->link[hop], ends));

		width = n > width ? n : width;
	}
	return width;
}

void trace_show_hops(const struct mf_topology *t, const struct trace_path *path, bool probed,
		     struct ui_text *out)
{
	size_t width = probed ? ends_width(t, path) + 2 : 0;
	char ends[MF_CABLE_ENDS_BYTES];

	put_title(t, path, out);
	for (uint32_t hop = 0; hop < path->hops; hop++) {
		mf_link_ends(t, path->link[hop], ends);
		ui_text_add(out, "%3" PRIu32 "  ", hop + 1);
		if (probed) {
			ui_text_pad(out, ends, width);
			put_answers(&path->answers[hop], out);
		} else {
			ui_text_add(out, "%s", ends);
		}
		ui_text_add(out, "\n");
	}
}

void trace_show_line(const struct mf_topology *t, const struct trace_path *path, bool probed,
		     struct ui_text *out)
{
	char number[UI_UNITS_MAX], cable[MF_EV_CABLE_BYTES], ends[MF_CABLE_ENDS_BYTES];
	uint32_t silent = trace_path_silent(path);

	ui_text_add(out, "%s  %s", ui_units_ev(number, mf_ev_shown(path->ev)),
		    mf_ev_cable(t, path->src, path->dst, path->ev, cable));
	if (probed && silent < path->hops) {
		ui_text_add(out, "  no answer from %s on",
			    mf_link_ends(t, path->link[silent], ends));
	} else if (probed) {
		ui_text_add(out, "  ");
		put_answers(&path->answers[path->hops - 1], out);
	}
	ui_text_add(out, "\n");
}

static json_t *hop_json(const struct mf_topology *t, const struct trace_path *path, uint32_t hop,
			bool probed)
{
	const struct trace_answers *a = &path->answers[hop];
	char link[MF_LINK_NAME_BYTES], node[MF_NODE_NAME_BYTES], ends[MF_CABLE_ENDS_BYTES];
	json_t *all;

	mf_link_name(t, path->link[hop], link);
	mf_node_name(t, path->node[hop], node);
	all = json_pack("{s:s,s:s,s:s}", "link", link, "node", node, "cable",
			mf_link_ends(t, path->link[hop], ends));
	if (!probed || !a->asked)
		return all;
	json_object_set_new(all, "sent", json_integer(a->sent));
	json_object_set_new(all, "answered", json_integer(a->answered));
	json_object_set_new(all, "rtt_min_ns",
			    a->answered ? json_integer((json_int_t)a->rtt_min_ns) : json_null());
	return all;
}

json_t *trace_path_json(const struct mf_topology *t, const struct trace_path *path, bool probed)
{
	char src[MF_NODE_NAME_BYTES], dst[MF_NODE_NAME_BYTES], cable[MF_EV_CABLE_BYTES];
	json_t *hops = json_array();

	mf_node_name(t, path->src, src);
	mf_node_name(t, path->dst, dst);
	for (uint32_t hop = 0; hop < path->hops; hop++)
		json_array_append_new(hops, hop_json(t, path, hop, probed));
	return json_pack("{s:s,s:s,s:I,s:I,s:s,s:o}", "src", src, "dst", dst, "ev",
			 (json_int_t)mf_ev_shown(path->ev), "plane",
			 (json_int_t)mf_ev_plane(path->ev), "cable",
			 mf_ev_cable(t, path->src, path->dst, path->ev, cable), "hops", hops);
}
