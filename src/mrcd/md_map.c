/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_map.c - the thread that probes: see md_map.h. What it counts is under a lock that it does not
 * hold while it sleeps.
 */
#include "mrcd/md_map.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/topology_toml.h"
#include "map/route_text.h"
#include "mrcd/md_log.h"
#include "mrcd/md_view.h"
#include "prober/probe_host.h"
#include "ui/terminal.h"

struct md_map {
	struct mf_topology t;
	struct probe_host *host;
	uint32_t number, ifindex[MF_PLANES_MAX];
	uint16_t *udp_port; /* of all hosts: the same */
	pthread_t thread;
	bool runs;
	atomic_bool ends;
	pthread_mutex_t lock;
	struct probe_evidence evidence; /* under lock, like what the host counts */
	struct md_view *view;		/* NULL: nobody wants it; under lock */
	uint64_t now_ns, steps;		/* under lock */
};

/* ---- what the host counts ---- */

static void take_route(void *ctx, const struct mm_route_of *of, uint32_t *memo,
		       const struct mm_counts *counts)
{
	struct md_map *map = ctx;

	probe_evidence_route(&map->evidence, of, memo, counts);
	md_view_route(map->view, *memo, of, counts, map->now_ns);
}

static void take_plain(void *ctx, uint32_t host, uint32_t plane, uint32_t sent, uint32_t lost)
{
	struct md_map *map = ctx;

	(void)host;
	probe_evidence_plain(&map->evidence, plane, sent, lost);
	md_view_plain(map->view, plane, sent, lost, map->now_ns);
}

static void take_stray(void *ctx, uint32_t host, uint32_t plane, const struct probe_packet *packet)
{
	struct md_map *map = ctx;

	if (packet->from >= map->t.n_hosts || packet->from == host)
		return;
	probe_evidence_stray(&map->evidence, plane, packet->from);
	md_view_stray(map->view, plane, packet->from, map->now_ns);
}

static void take_loop(void *ctx, uint32_t host, uint32_t plane, uint32_t to)
{
	struct md_map *map = ctx;

	(void)host;
	probe_evidence_loop(&map->evidence, plane, mf_host_t0(&map->t, to));
	md_view_loop(map->view, plane, to, map->now_ns);
}

/* ---- the thread ---- */

static void *probe(void *ctx)
{
	struct md_map *map = ctx;
	uint64_t due = ui_clock_ns();

	while (!atomic_load(&map->ends)) {
		uint64_t now;
		struct timespec until;

		pthread_mutex_lock(&map->lock);
		map->now_ns = ui_clock_ns();
		probe_host_receive(map->host);
		probe_evidence_step(&map->evidence);
		if (map->steps++ % MD_VIEW_STEPS == 0)
			md_view_judge(map->view, map->now_ns);
		probe_host_send(map->host);
		pthread_mutex_unlock(&map->lock);
		/* What was missed is not made up for: a burst would be lost. */
		now = ui_clock_ns();
		due = due + PROBE_STEP_NS > now ? due + PROBE_STEP_NS : now;
		until.tv_sec = (time_t)(due / 1000000000);
		until.tv_nsec = (long)(due % 1000000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	return NULL;
}

/* Signals are the main thread's. */
static int start(struct md_map *map)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&map->thread, NULL, probe, map);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	map->runs = !err;
	return err;
}

static int find_interfaces(struct md_map *map, const struct md_config *c, const char *path,
			   struct md_config_error *error)
{
	if (c->map.interfaces != map->t.cfg.planes)
		return md_config_wrong(c, path, "map.interfaces", EINVAL, error,
				       "map.interfaces: %" PRIu32 " of them, and %s has %" PRIu32
				       " planes",
				       c->map.interfaces, c->map.fabric, map->t.cfg.planes);
	for (uint32_t i = 0; i < c->map.interfaces; i++) {
		map->ifindex[i] = if_nametoindex(c->map.interface[i]);
		if (!map->ifindex[i])
			return md_config_wrong(c, path, "map.interfaces", EINVAL, error,
					       "map.interfaces: there is no interface %s",
					       c->map.interface[i]);
	}
	return 0;
}

static int open_host(struct md_map *map, const struct md_config *c, const char *path,
		     struct md_config_error *error)
{
	const struct probe_sink sink = {map, take_route, take_plain, take_stray, take_loop, NULL};
	struct probe_host_cfg cfg = {.t = &map->t,
				     .host = c->map.host,
				     .share = c->map.share,
				     .rate_bit_s = c->map.rate_bit_s,
				     .ifindex = map->ifindex,
				     .asks_who_lives = true};
	char why[MF_TOML_ERROR_BYTES];
	int err;

	if (!mf_topology_open(c->map.fabric, &map->t, why))
		return md_config_wrong(c, path, "map.fabric", EINVAL, error, "map.fabric: %s", why);
	if (c->map.host >= map->t.n_hosts)
		return md_config_wrong(c, path, "map.host", EINVAL, error,
				       "map.host = %" PRIu32 ": %s has hosts 0 to %" PRIu32,
				       c->map.host, c->map.fabric, map->t.n_hosts - 1);
	err = find_interfaces(map, c, path, error);
	map->udp_port = calloc(map->t.n_hosts, sizeof(*map->udp_port));
	if (err || !map->udp_port)
		return err ? err : ENOMEM;
	for (uint32_t i = 0; i < map->t.n_hosts; i++)
		map->udp_port[i] = htons((uint16_t)c->map.port);
	cfg.udp_port = map->udp_port;
	map->number = c->map.host;
	map->host = probe_host_create(&cfg, &sink, why, sizeof(why));
	if (!map->host)
		return md_config_wrong(c, path, "map.port", EINVAL, error, "map.port: %s", why);
	if (c->map.policy == MD_MAP_OFF)
		return 0;
	map->view = md_view_create(&map->t, c->map.host,
				   probe_host_figures(map->host)->round_steps * PROBE_STEP_NS);
	return map->view ? 0 : ENOMEM;
}

int md_map_open(struct md_map **out, const struct md_config *c, const char *path,
		struct md_config_error *error)
{
	struct md_map *map;
	int err;

	*out = NULL;
	if (!c->map.fabric[0])
		return 0;
	map = calloc(1, sizeof(*map));
	if (!map)
		return ENOMEM;
	pthread_mutex_init(&map->lock, NULL);
	probe_evidence_init(&map->evidence);
	err = open_host(map, c, path, error);
	if (!err)
		err = start(map);
	if (err) {
		md_map_close(map);
		return err;
	}
	md_log(MD_INFO, "map", MD_NOBODY,
	       "host%" PRIu32 " of %s probes %" PRIu32 " routes, %" PRIu64
	       " bits a second; cables exchanged at hosts or at T1s %s",
	       c->map.host, c->map.fabric, probe_host_figures(map->host)->routes,
	       probe_host_figures(map->host)->bit_s,
	       probe_host_sees_strays(map->host) ? "are seen"
						 : "look dead: to see them takes CAP_NET_RAW");
	*out = map;
	return 0;
}

void md_map_close(struct md_map *map)
{
	if (!map)
		return;
	atomic_store(&map->ends, true);
	if (map->runs)
		pthread_join(map->thread, NULL);
	probe_host_destroy(map->host);
	md_view_destroy(map->view);
	pthread_mutex_destroy(&map->lock);
	free(map->udp_port);
	free(map);
}

const struct mf_topology *md_map_topology(const struct md_map *map)
{
	return map ? &map->t : NULL;
}

size_t md_map_sick(struct md_map *map, struct mm_sick *sick, size_t max, bool *cut)
{
	size_t n;

	pthread_mutex_lock(&map->lock);
	n = md_view_sick(map->view, sick, max, cut);
	pthread_mutex_unlock(&map->lock);
	return n;
}

/* ---- for Prometheus ---- */

static void put_head(struct ui_text *out, enum stat_format format, const char *name,
		     const char *type, const char *meaning)
{
	const char *end = type[0] == 'c' && format == STAT_PROMETHEUS ? "_total" : "";

	ui_text_add(out, "# HELP " STAT_PREFIX "%s%s %s\n# TYPE " STAT_PREFIX "%s%s %s\n", name,
		    end, meaning, name, end, type);
}

static void put_labels(const struct md_map *map, const struct mm_route_of *of, const char *name,
		       struct ui_text *out)
{
	struct mm_route_labels l;

	mm_route_labels_of(&map->t, of, &l);
	ui_text_add(out,
		    STAT_PREFIX "%s_total{host=\"host%" PRIu32 "\",plane=\"%" PRIu32
				"\",t0=\"t0-%" PRIu32 "\",kind=\"%s\",via=\"%s\"",
		    name, l.host, l.plane, l.t0, l.kind, l.via);
}

static void put_routes(const struct md_map *map, enum stat_format format, struct ui_text *out)
{
	const struct probe_evidence *e = &map->evidence;

	put_head(out, format, "map_probes", "counter", "probes of a route whose time is over");
	for (uint32_t i = 0; i < PROBE_EVIDENCE_ROUTES; i++) {
		if (!e->route[i].step)
			continue;
		put_labels(map, &e->route[i].of, "map_probes", out);
		ui_text_add(out, "} %" PRIu64 "\n", e->route[i].known);
	}
	put_head(out, format, "map_bad", "counter", "of these, what was wrong with them");
	/*
	 * Nearly always nothing is wrong: so a cluster's Prometheus has a fifth of the series.
	 * MM_SLOWED is none: mrcd knows no link's rate, so that it finds none slow.
	 */
	for (uint32_t i = 0; i < PROBE_EVIDENCE_ROUTES; i++)
		for (uint32_t s = 0; e->route[i].step && s < MM_SLOWED; s++) {
			if (!e->route[i].bad[s])
				continue;
			put_labels(map, &e->route[i].of, "map_bad", out);
			ui_text_add(out, ",symptom=\"%s\"} %" PRIu64 "\n", mm_symptom_name(s),
				    e->route[i].bad[s]);
		}
}

static void put_seen(const struct md_map *map, enum stat_format format, const char *name,
		     const char *meaning, const char *what, const struct probe_evidence_seen *seen,
		     struct ui_text *out)
{
	put_head(out, format, name, "counter", meaning);
	for (uint32_t i = 0; i < PROBE_EVIDENCE_SEEN && seen[i].times; i++)
		ui_text_add(out,
			    STAT_PREFIX "%s_total{host=\"host%" PRIu32 "\",plane=\"%" PRIu32
					"\",of=\"%s%" PRIu32 "\"} %" PRIu64 "\n",
			    name, map->number, seen[i].plane, what, seen[i].about, seen[i].times);
}

static void put_plain(const struct md_map *map, enum stat_format format, struct ui_text *out)
{
	for (uint32_t lost = 0; lost < 2; lost++) {
		const char *name = lost ? "map_plain_lost" : "map_plain_sent";

		put_head(out, format, name, "counter",
			 lost ? "of these, those without an answer"
			      : "packets without uSIDs to hosts of other T0s");
		for (uint32_t plane = 0; plane < map->t.cfg.planes; plane++)
			ui_text_add(out,
				    STAT_PREFIX "%s_total{host=\"host%" PRIu32 "\",plane=\"%" PRIu32
						"\"} %" PRIu64 "\n",
				    name, map->number, plane,
				    lost ? map->evidence.plain[plane].lost
					 : map->evidence.plain[plane].sent);
	}
}

static void put_gauge(const struct md_map *map, enum stat_format format, const char *name,
		      const char *meaning, uint64_t value, struct ui_text *out)
{
	put_head(out, format, name, "gauge", meaning);
	ui_text_add(out, STAT_PREFIX "%s{host=\"host%" PRIu32 "\"} %" PRIu64 "\n", name,
		    map->number, value);
}

static void put_left_out(const struct md_map *map, enum stat_format format, struct ui_text *out)
{
	put_head(out, format, "map_left_out", "counter",
		 "reports of routes, strays and loops that are in no series: there is no room");
	ui_text_add(out, STAT_PREFIX "map_left_out_total{host=\"host%" PRIu32 "\"} %" PRIu64 "\n",
		    map->number, map->evidence.left_out);
}

void md_map_put(struct md_map *map, enum stat_format format, struct ui_text *out)
{
	const struct probe_figures *f;

	if (!map)
		return;
	f = probe_host_figures(map->host);
	pthread_mutex_lock(&map->lock);
	put_routes(map, format, out);
	put_plain(map, format, out);
	put_seen(map, format, "map_strays", "probes of another host that came to this one", "host",
		 map->evidence.stray, out);
	put_seen(map, format, "map_loops", "plain packets to a T0 that went round", "t0-",
		 map->evidence.loop, out);
	put_left_out(map, format, out);
	put_gauge(map, format, "map_routes", "routes that the host probes", f->routes, out);
	put_gauge(map, format, "map_routes_left_out",
		  "routes of its plan for which there is no room", f->left_out, out);
	put_gauge(map, format, "map_bytes_per_second", "what its probes are on the wire",
		  f->bit_s / 8, out);
	put_gauge(map, format, "map_neighbours", "other hosts of its T0", f->neighbours, out);
	put_gauge(map, format, "map_neighbours_living", "of these, those that answer", f->living,
		  out);
	pthread_mutex_unlock(&map->lock);
}
