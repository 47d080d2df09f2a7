/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_view.h - the map of one host: what its own probes say about the parts around it. It is one
 * witness, whose word is taken for what it sees; the view of all hosts is Prometheus'.
 */
#ifndef SOFTMRC_MRCD_MD_VIEW_H
#define SOFTMRC_MRCD_MD_VIEW_H

#include "map/map.h"
#include "prober/probe_evidence.h"

#define MD_VIEW_SICK 64u
/* Steps of the prober from one judgement to the next: 100 ms. */
#define MD_VIEW_STEPS 10u

struct md_view;

/*
 * md_view_create makes a map for routes that are probed each `probe_ns`: some bytes for each link
 * of the fabric. NULL: no memory. The topology must outlive it. One thread at a time.
 */
struct md_view *md_view_create(const struct mf_topology *t, uint32_t host, uint64_t probe_ns);
/* md_view_destroy frees it; NULL is allowed, here and below, and does nothing. */
void md_view_destroy(struct md_view *v);

/* What the prober counts, as a probe_sink has it; `slot` is the route's place in the evidence. */
void md_view_route(struct md_view *v, uint32_t slot, const struct mm_route_of *of,
		   const struct mm_counts *counts, uint64_t now_ns);
void md_view_plain(struct md_view *v, uint32_t plane, uint32_t sent, uint32_t lost,
		   uint64_t now_ns);
void md_view_stray(struct md_view *v, uint32_t plane, uint32_t of_host, uint64_t now_ns);
void md_view_loop(struct md_view *v, uint32_t plane, uint32_t to, uint64_t now_ns);

/* md_view_judge judges what there is. */
void md_view_judge(struct md_view *v, uint64_t now_ns);
/*
 * md_view_sick writes what is sick by the last judgement and returns how many, up to max; *cut:
 * there may be more.
 */
size_t md_view_sick(const struct md_view *v, struct mm_sick *sick, size_t max, bool *cut);

#endif
