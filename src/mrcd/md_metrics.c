/* SPDX-License-Identifier: BSD-2-Clause */
/* md_metrics.c - what mrcd itself has for Prometheus: see md_node.h and md_serve.h. */
#include "mrcd/md_serve.h"

#include <inttypes.h>

void md_metrics_read(const struct md_node *node, struct md_metrics *m)
{
	*m = (struct md_metrics){.counts = node->counts,
				 .generation = node->generation,
				 .n_ports = node->config.ports};
	for (uint32_t i = 0; i < m->n_ports; i++)
		m->admin[i] = node->now->port_admin[i];
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++) {
		const struct mn_ev_profile *p = &node->now->ev[id];

		m->online[id] = p->state == MN_ONLINE;
		for (uint32_t i = 0; i < p->n_evs; i++)
			m->denied[id] += node->now->evs[p->first + i].denied;
	}
}

static void put_head(struct ui_text *out, enum stat_format format, const char *name,
		     const char *type, const char *meaning)
{
	const char *end = type[0] == 'c' && format == STAT_PROMETHEUS ? "_total" : "";

	ui_text_add(out, "# HELP " STAT_PREFIX "%s%s %s\n# TYPE " STAT_PREFIX "%s%s %s\n", name,
		    end, meaning, name, end, type);
}

static void put_counter(struct ui_text *out, enum stat_format format, const char *name,
			const char *meaning, uint64_t value)
{
	put_head(out, format, name, "counter", meaning);
	ui_text_add(out, STAT_PREFIX "%s_total %" PRIu64 "\n", name, value);
}

static void put_gauge(struct ui_text *out, enum stat_format format, const char *name,
		      const char *meaning, uint64_t value)
{
	put_head(out, format, name, "gauge", meaning);
	ui_text_add(out, STAT_PREFIX "%s %" PRIu64 "\n", name, value);
}

static void put_state(struct ui_text *out, enum stat_format format, const struct md_metrics *m)
{
	put_gauge(out, format, "node_generation", "changes that the node's state has had",
		  m->generation);
	put_head(out, format, "node_port_enabled", "gauge",
		 "whether a controller lets a port carry traffic");
	for (uint32_t i = 0; i < m->n_ports; i++)
		ui_text_add(out, STAT_PREFIX "node_port_enabled{port=\"%u\"} %u\n", i + 1,
			    m->admin[i] == MN_PORT_ENABLED);
	put_head(out, format, "node_evs_denied", "gauge",
		 "EVs of a profile that a controller denied");
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++)
		if (m->online[id])
			ui_text_add(out, STAT_PREFIX "node_evs_denied{profile=\"%u\"} %u\n", id,
				    m->denied[id]);
}

static void put_policy(struct ui_text *out, enum stat_format format, const struct md_counts *c)
{
	put_head(out, format, "map_policy_parts", "gauge",
		 "sick parts on the host's way up, by what map.policy decided");
	for (enum mm_policy_state s = 0; s < MM_POLICY_STATES; s++)
		ui_text_add(out, STAT_PREFIX "map_policy_parts{state=\"%s\"} %u\n",
			    mm_policy_state_name(s), c->map_parts[s]);
	put_counter(out, format, "map_policy_denials", "parts that map.policy denied or advised to",
		    c->map_denials);
	put_counter(out, format, "map_policy_returns", "parts that it gave back", c->map_returns);
}

void md_metrics_put(const struct md_metrics *m, enum stat_format format, struct ui_text *out)
{
	const struct md_counts *c = &m->counts;

	put_state(out, format, m);
	put_gauge(out, format, "node_clients", "connections of mrcd's socket", c->clients);
	put_counter(out, format, "node_requests", "requests of clients", c->requests);
	put_counter(out, format, "node_requests_refused", "of these, answered with an error",
		    c->refused);
	put_counter(out, format, "node_changes", "of these, changes that were made", c->changes);
	put_counter(out, format, "node_reloads", "readings of the configuration", c->reloads);
	put_counter(out, format, "node_reloads_refused", "of these, refused for an error in it",
		    c->reloads_refused);
	put_counter(out, format, "node_events", "events sent to those who follow", c->events);
	put_counter(out, format, "node_events_dropped", "events that a client was too slow for",
		    c->events_dropped);
	put_policy(out, format, c);
}
