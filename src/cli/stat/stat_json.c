/* SPDX-License-Identifier: BSD-2-Clause */
/* `mrc stat --json`: see stat.h. */
#include "cli/stat/stat.h"

#include "cli/gid_text.h"
#include "cli/stats_json.h"

static json_t *value_json(const struct stats_metric *m, const struct mrc_stats_segment *s,
			  uint32_t plane, uint32_t state)
{
	uint64_t value;

	if (!stats_metric_read(m, s, (struct stats_metric_index){plane, state}, &value))
		return NULL;
	return m->per_unit == 1 ? json_integer((json_int_t)value)
				: json_real((double)value / (double)m->per_unit);
}

static json_t *states_json(const struct stats_metric *m, const struct mrc_stats_segment *s,
			   uint32_t plane)
{
	bool of_ev = m->of == STATS_OF_EV_STATE;
	json_t *all = json_object();

	for (uint32_t i = 0; i < (of_ev ? STATS_EV_STATES : STATS_QP_STATES); i++)
		json_object_set_new(all, of_ev ? stats_ev_state_name(i) : stats_qp_state_name(i),
				    value_json(m, s, plane, i));
	return all;
}

/* All metrics there are of a process as such, or of one of its planes. */
static void add_metrics(json_t *to, const struct mrc_stats_segment *s, bool of_plane,
			uint32_t plane)
{
	const struct stats_metric *m;

	for (size_t i = 0; (m = stats_metric(i)); i++) {
		bool is_of_plane = m->of == STATS_OF_PLANE || m->of == STATS_OF_EV_STATE;
		json_t *value;

		if (is_of_plane != of_plane)
			continue;
		value = m->of == STATS_OF_EV_STATE || m->of == STATS_OF_QP_STATE
				? states_json(m, s, plane)
				: value_json(m, s, plane, 0);
		if (value)
			json_object_set_new(to, m->name, value);
	}
}

static json_t *plane_json(const struct mrc_stats_segment *s, uint32_t plane)
{
	char address[CLI_ADDRESS_MAX];
	json_t *all = json_pack("{s:i,s:s,s:s}", "plane", (int)plane, "address",
				cli_address_write(address, s->port[plane].address), "interface",
				s->port[plane].interface);

	add_metrics(all, s, true, plane);
	return all;
}

/* Those that are out of use, up to STAT_EVS_MAX; *cut: there are more. */
static json_t *evs_json(const struct mrc_stats_segment *s, const struct cli_fabric *fabric,
			bool *cut)
{
	struct stat_ev ev[STAT_EVS_MAX];
	size_t n = stat_evs_find(s, fabric, ev);
	json_t *all = json_array();

	*cut = n > STAT_EVS_MAX;
	for (size_t i = 0; i < n && i < STAT_EVS_MAX; i++)
		json_array_append_new(
			all, json_pack("{s:i,s:I,s:s,s:i,s:s*}", "plane", (int)ev[i].ev.port, "ev",
				       (json_int_t)ev[i].ev.value, "state",
				       stats_ev_state_name(ev[i].ev.state), "qps", (int)ev[i].qps,
				       "cable", ev[i].cable[0] ? ev[i].cable : NULL));
	return all;
}

static json_t *process_json(const struct stats_process *p, const struct cli_fabric *fabric)
{
	json_t *all, *evs, *metrics = json_object(), *planes = json_array();
	bool cut;
	char device[16];

	snprintf(device, sizeof(device), "mrc%u", p->device);
	add_metrics(metrics, p->now, false, 0);
	for (uint32_t i = 0; i < p->now->ports; i++)
		json_array_append_new(planes, plane_json(p->now, i));
	evs = evs_json(p->now, fabric, &cut);
	all = json_pack("{s:i,s:I,s:s,s:s,s:b,s:I,s:I,s:o,s:o,s:o,s:b}", "pid", (int)p->pid, "uid",
			(json_int_t)p->uid, "device", device, "command", p->command, "ended",
			p->gone, "started_ns", (json_int_t)p->now->started_ns, "updated_ns",
			(json_int_t)p->now->updated_ns, "metrics", metrics, "planes", planes,
			"evs_out_of_use", evs, "evs_out_of_use_cut", cut);
	return all;
}

json_t *stat_json_make(const struct stats_reader *stats, const struct cli_fabric *fabric)
{
	return cli_stats_json(stats, fabric, process_json);
}
