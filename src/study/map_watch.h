/* SPDX-License-Identifier: BSD-2-Clause */
/* map_watch.h - private to map_hour: what links lose, who reports of a fault, the maps. */
#ifndef SOFTMRC_STUDY_MAP_WATCH_H
#define SOFTMRC_STUDY_MAP_WATCH_H

#include "sim/kernel/random.h"
#include "study/map_hour.h"

#define STUDY_MAP_SICK_MAX 64u
/* What is not new is reported every five seconds. */
#define STUDY_MAP_SLOW_STEPS 500u

struct study_map_watch {
	const struct mf_topology *t;
	struct study_map_fabric fabric;
	struct mm_map **map; /* of each plane */
	uint32_t *lost_ppm;  /* of each directed link */
	uint32_t *reported;  /* of each route: the step of its last report */
	uint32_t *mark;	     /* of each route, while reporters are found */
	uint32_t marks;
	struct mb_prng chance;
};

/* Routes that report of a fault: those over it, and of those beside it as many as tell. */
struct study_map_reporters {
	uint32_t *route;
	uint32_t n;
};

/* study_map_watch_init plans all routes and makes the maps. 0 or ENOMEM. */
int study_map_watch_init(struct study_map_watch *w, const struct mf_topology *t, uint32_t watchers,
			 uint64_t seed);
void study_map_watch_fini(struct study_map_watch *w);

/* study_map_lose has the links of a part lose a share: no less than before, unless `afresh`. */
void study_map_lose(struct study_map_watch *w, const struct mm_part *part, uint32_t ppm,
		    bool afresh);

/* study_map_reporters_find finds who reports of a part. 0 or ENOMEM. */
int study_map_reporters_find(struct study_map_watch *w, const struct mm_part *part,
			     struct study_map_reporters *list);
/* study_map_reporters_begin: what was before this step nobody tells. */
void study_map_reporters_begin(struct study_map_watch *w, const struct study_map_reporters *list,
			       uint32_t step);
void study_map_reporters_free(struct study_map_reporters *list);

/* study_map_report draws what probes met since each route's last report. Returns the reports. */
uint32_t study_map_report(struct study_map_watch *w, const struct study_map_reporters *list,
			  uint32_t step, uint64_t now_ns);
/* study_map_lost_one reports one lost probe of a route, and the good ones since its last report. */
void study_map_lost_one(struct study_map_watch *w, uint32_t route, uint32_t step, uint64_t now_ns);

#endif
