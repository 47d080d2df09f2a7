/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mrc ping` says: see ping.h. */
#include "cli/ping/ping.h"

#include "cli/gid_text.h"
#include "ui/text.h"

#include <inttypes.h>

static double lost_percent(const struct ping_figure *f)
{
	return f->sent ? (double)(f->sent - f->answered) * 100 / (double)f->sent : 0;
}

static uint64_t mean_ns(const struct ping_figure *f)
{
	return f->answered ? f->sum_ns / f->answered : 0;
}

void ping_show_round(const struct ping_host *hosts, const struct ping_paths *paths, uint64_t round,
		     struct ui_text *out)
{
	for (size_t i = 0; i < paths->n; i++) {
		const struct ping_path *p = &paths->path[i];
		char text[UI_UNITS_MAX], ev[UI_UNITS_MAX];

		if (!p->asked)
			continue;
		ui_text_add(out, "%s: round %" PRIu64 " plane %u EV %s  %s%s%s\n",
			    hosts[p->host].name, round + 1, p->ev.port - 1u,
			    ui_units_ev(ev, ping_path_value(p)),
			    p->last_ns ? ui_units_time(text, p->last_ns) : "no answer",
			    p->cable[0] ? "  " : "", p->cable);
	}
}

static void put_path(struct ui_table *t, size_t row, const struct ping_host *host,
		     const struct ping_path *p)
{
	const struct ping_figure *f = &p->figure;
	char text[UI_UNITS_MAX];

	ui_table_cell(t, row, 0, "%s", host->name);
	ui_table_cell(t, row, 1, "%u", p->ev.port - 1u);
	ui_table_cell(t, row, 2, "%s", ui_units_ev(text, ping_path_value(p)));
	ui_table_cell(t, row, 3, "%" PRIu64, f->sent);
	ui_table_cell(t, row, 4, "%.1f %%", lost_percent(f));
	if (p->cable[0])
		ui_table_cell(t, row, 8, "%s", p->cable);
	if (!f->answered) {
		for (size_t c = 5; c < 8; c++)
			ui_table_cell(t, row, c, "-");
		return;
	}
	ui_table_cell(t, row, 5, "%s", ui_units_time(text, f->min_ns));
	ui_table_cell(t, row, 6, "%s", ui_units_time(text, mean_ns(f)));
	ui_table_cell(t, row, 7, "%s", ui_units_time(text, f->max_ns));
}

static bool has_cables(const struct ping_paths *paths)
{
	size_t i = 0;

	while (i < paths->n && !paths->path[i].cable[0])
		i++;
	return i < paths->n;
}

void ping_show_table(const struct ping_host *hosts, const struct ping_paths *paths,
		     struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 8};
	size_t row = 0;

	ui_table_head(&t, has_cables(paths) ? "HOST|PLANE|EV|SENT|LOST|MIN|MEAN|MAX|CABLE"
					    : "HOST|PLANE|EV|SENT|LOST|MIN|MEAN|MAX");
	for (size_t i = 0; i < paths->n; i++)
		put_path(&t, ++row, &hosts[paths->path[i].host], &paths->path[i]);
	ui_table_render(&t, out);
}

void ping_show_host(const struct ping_host *host, const struct ping_figure *f, struct ui_text *out)
{
	char min[UI_UNITS_MAX], mean[UI_UNITS_MAX], max[UI_UNITS_MAX];

	ui_text_add(out, "%s: %" PRIu64 " sent, %" PRIu64 " answered, %.1f %% lost", host->name,
		    f->sent, f->answered, lost_percent(f));
	if (f->answered)
		ui_text_add(out, "; round trip %s, mean %s, at most %s",
			    ui_units_time(min, f->min_ns), ui_units_time(mean, mean_ns(f)),
			    ui_units_time(max, f->max_ns));
	ui_text_add(out, "\n");
}

static json_t *figure_json(const struct ping_figure *f)
{
	json_t *json = json_pack("{s:I,s:I}", "sent", (json_int_t)f->sent, "answered",
				 (json_int_t)f->answered);

	json_object_set_new(json, "rtt_ns",
			    f->answered ? json_pack("{s:I,s:I,s:I}", "min", (json_int_t)f->min_ns,
						    "mean", (json_int_t)mean_ns(f), "max",
						    (json_int_t)f->max_ns)
					: json_null());
	return json;
}

static json_t *host_json(const struct ping_host *host, uint32_t number,
			 const struct ping_paths *paths)
{
	struct ping_figure all = ping_figure_host(paths, number);
	json_t *json = figure_json(&all), *list = json_array();
	char address[CLI_ADDRESS_MAX];

	for (size_t i = 0; i < paths->n; i++) {
		const struct ping_path *p = &paths->path[i];
		json_t *one;

		if (p->host != number)
			continue;
		one = figure_json(&p->figure);
		json_object_set_new(one, "plane", json_integer(p->ev.port - 1));
		json_object_set_new(one, "ev", json_integer(ping_path_value(p)));
		if (p->cable[0])
			json_object_set_new(one, "cable", json_string(p->cable));
		json_array_append_new(list, one);
	}
	json_object_set_new(json, "host", json_string(host->name));
	json_object_set_new(json, "address", json_string(cli_address_write(address, host->gid)));
	json_object_set_new(json, "paths", list);
	return json;
}

json_t *ping_json(const struct ping_host *hosts, uint32_t n_hosts, const struct ping_paths *paths)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n_hosts; i++)
		json_array_append_new(list, host_json(&hosts[i], i, paths));
	return json_pack("{s:i,s:o}", "version", 1, "hosts", list);
}
