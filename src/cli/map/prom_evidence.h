/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prom_evidence.h - the map of a fabric, from the series that mrcds serve and a Prometheus keeps
 * (docs/metrics.md): the same judgement as of a lab's sockets, of the last seconds as a whole.
 *
 * Series are what anybody made who is scraped: what is not of the fabric, or no count, is left out
 * and counted. A target that calls itself another host speaks for that host.
 */
#ifndef SOFTMRC_CLI_MAP_PROM_EVIDENCE_H
#define SOFTMRC_CLI_MAP_PROM_EVIDENCE_H

#include "cli/map/map_result.h"
#include "cli/map/prom_fetch.h"

/* Routes of all planes together, some 250 MB; the rules of packaging/prometheus judge more. */
#define PROM_ROUTES_MAX (1u << 20)
/* Of a host: what an mrcd has series of. More of them are of nobody's mrcd. */
#define PROM_HOST_ROUTES_MAX 1024u

struct prom_route {
	uint32_t witness;
	struct mm_counts counts;
};

/* Series of a host's routes that were taken. */
struct prom_host {
	uint32_t probes, bad;
};

/* Plain packets of a host on a plane. */
struct prom_plain {
	uint64_t sent, lost;
};

struct prom_evidence {
	const struct mf_topology *t;
	struct mm_map *map;
	struct prom_route *route; /* of each route of the map */
	struct prom_host *host;
	struct prom_plain *plain; /* host * planes + plane */
	uint32_t room;
	uint64_t now_ns;
	uint32_t routes, left_out; /* series that made a route; that made no sense */
	uint64_t probes, lost;
};

/* prom_evidence_init makes room for the routes of all hosts. 0, or ENOMEM. prom_evidence_fini frees
 * it. The topology must outlive it. */
int prom_evidence_init(struct prom_evidence *e, const struct mf_topology *t);
void prom_evidence_fini(struct prom_evidence *e);

/*
 * Lists as prom_query returns them, which the caller keeps: of probes; of bad ones, after those of
 * the same routes; of the others. Each takes what makes sense of the list and counts what does not.
 */
void prom_evidence_probes(struct prom_evidence *e, const json_t *list);
void prom_evidence_bad(struct prom_evidence *e, const json_t *list);
void prom_evidence_strays(struct prom_evidence *e, const json_t *list);
void prom_evidence_loops(struct prom_evidence *e, const json_t *list);
void prom_evidence_plain_sent(struct prom_evidence *e, const json_t *list);
void prom_evidence_plain_lost(struct prom_evidence *e, const json_t *list);

/* prom_evidence_judge writes what is sick by all of it, as mm_map_judge does; to be called once. */
size_t prom_evidence_judge(struct prom_evidence *e, struct mm_sick *sick, size_t max);

/*
 * prom_map asks a Prometheus for the last `range_ns` and fills in the result, whose topology is
 * set. False and a sentence: no answer, none that makes sense, or no series of probes.
 */
bool prom_map(const char *url, uint64_t range_ns, struct map_result *r, char why[PROM_WHY_BYTES]);

#endif
