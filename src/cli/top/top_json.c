/* SPDX-License-Identifier: BSD-2-Clause */
/* `mrc top --json`: see top.h. */
#include "cli/top/top.h"

#include "cli/gid_text.h"
#include "cli/stats_json.h"
#include "stats/metrics.h"

#include <string.h>

static json_t *counters_json(const struct mrc_stats_segment *s)
{
	json_t *all = json_object();

	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && s->counter[i].name[0]; i++)
		json_object_set_new(all, s->counter[i].name,
				    json_integer((json_int_t)s->counter[i].value));
	return all;
}

/* The rows of the catalogue that are of planes, without the word that they begin with. */
static void add_plane_metrics(json_t *plane, const struct mrc_stats_segment *s, uint32_t i)
{
	const struct stats_metric *m;
	uint64_t value;

	for (size_t k = 0; (m = stats_metric(k)); k++)
		if (m->of == STATS_OF_PLANE && m->type == STATS_COUNTER && m->per_unit == 1 &&
		    stats_metric_read(m, s, (struct stats_metric_index){i, 0}, &value))
			json_object_set_new(plane, m->name + strlen("plane_"),
					    json_integer((json_int_t)value));
}

static json_t *plane_json(const struct stats_process *p, uint32_t plane)
{
	const struct mrc_stats_port *now = &p->now->port[plane], *before = &p->before->port[plane];
	struct top_evs evs = top_evs_of_plane(p->now, plane);
	char address[CLI_ADDRESS_MAX];
	json_t *all =
		json_pack("{s:i,s:s,s:i,s:b,s:f,s:f,s:{s:i,s:i,s:i,s:i}}", "plane", (int)plane,
			  "address", cli_address_write(address, now->address), "udp_port",
			  (int)now->udp_port, "up", now->up != 0, "tx_bits_per_s",
			  8 * stats_per_second(p, now->tx_bytes, before->tx_bytes), "rx_bits_per_s",
			  8 * stats_per_second(p, now->rx_bytes, before->rx_bytes), "evs", "good",
			  (int)evs.good, "skip", (int)evs.skip, "bad", (int)evs.bad, "denied",
			  (int)evs.denied);

	add_plane_metrics(all, p->now, plane);
	return all;
}

/* QPs by state: all there are, of which "qps" shows the oldest. */
static json_t *states_json(const struct mrc_stats_segment *s)
{
	json_t *all = json_object();

	for (uint32_t i = 0; i < STATS_QP_STATES; i++)
		json_object_set_new(all, stats_qp_state_name(i), json_integer(s->qps.of_state[i]));
	return all;
}

static json_t *evs_json(const struct mrc_stats_qp *qp, const uint8_t own[16],
			const struct cli_fabric *fabric)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < qp->evs; i++) {
		const struct mrc_stats_ev *ev = &qp->ev[i];
		char room[CLI_EV_NAME_BYTES];
		const char *cable =
			fabric ? cli_fabric_ev(fabric, own, qp->dest, ev->port, ev->value, room)
			       : NULL;

		json_array_append_new(all, json_pack("{s:i,s:I,s:s,s:i,s:s*}", "plane",
						     (int)ev->port, "ev", (json_int_t)ev->value,
						     "state", stats_ev_state_name(ev->state),
						     "retired", (int)ev->retired, "cable", cable));
	}
	return all;
}

static json_t *qp_json(const struct mrc_stats_qp *qp, const uint8_t own[16],
		       const struct cli_fabric *fabric)
{
	char address[CLI_ADDRESS_MAX];
	json_t *cwnd = qp->cwnd_bytes == UINT64_MAX ? json_null()
						    : json_integer((json_int_t)qp->cwnd_bytes);

	return json_pack(
		"{s:i,s:i,s:s,s:s,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:i,s:i,s:i,s:i,s:o}", "qpn",
		(int)qp->qpn, "peer_qpn", (int)qp->dest_qpn, "peer",
		cli_address_write(address, qp->dest), "state", qp->state, "psn_next",
		(json_int_t)qp->psn_next, "psn_una", (json_int_t)qp->psn_una, "psn_expected",
		(json_int_t)qp->psn_expected, "cwnd_bytes", cwnd, "inflight_bytes",
		(json_int_t)qp->inflight_bytes, "srtt_ns", (json_int_t)qp->srtt_ns, "rtt_min_ns",
		(json_int_t)qp->rtt_min_ns, "reorder_window_ns", (json_int_t)qp->reorder_window_ns,
		"lost_pending", (int)qp->lost_pending, "evs_good", (int)qp->evs_good, "evs_bad",
		(int)qp->evs_bad, "evs_all", (int)qp->evs_all, "evs", evs_json(qp, own, fabric));
}

static json_t *process_json(const struct stats_process *p, const struct cli_fabric *fabric)
{
	json_t *planes = json_array(), *qps = json_array();

	for (uint32_t i = 0; i < p->now->ports; i++)
		json_array_append_new(planes, plane_json(p, i));
	for (uint32_t q = 0; q < MRC_STATS_QPS; q++)
		if (p->now->qp[q].qpn)
			json_array_append_new(qps, qp_json(&p->now->qp[q], p->now->gid, fabric));
	return json_pack("{s:i,s:I,s:s,s:b,s:I,s:I,s:o,s:o,s:o,s:o}", "pid", (int)p->pid, "uid",
			 (json_int_t)p->uid, "command", p->command, "ended", p->gone, "started_ns",
			 (json_int_t)p->now->started_ns, "updated_ns",
			 (json_int_t)p->now->updated_ns, "counters", counters_json(p->now),
			 "planes", planes, "qps_by_state", states_json(p->now), "qps", qps);
}

json_t *top_json_make(const struct stats_reader *stats, const struct cli_fabric *fabric)
{
	return cli_stats_json(stats, fabric, process_json);
}
