/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_map.h - the prober of this host (src/prober), on a thread of its own, where the configuration
 * has a [map]; and what it counted, for Prometheus.
 */
#ifndef SOFTMRC_MRCD_MD_MAP_H
#define SOFTMRC_MRCD_MD_MAP_H

#include "exporter/exporter.h"
#include "map/map.h"
#include "mrcd/md_config.h"

struct md_map;

/* md_config_take_map reads the options of [map]. 0, or an errno value and *e. */
int md_config_take_map(struct md_config_map *m, const json_t *options, struct md_error *e);

/*
 * md_map_open begins to probe; *map stays NULL where the configuration has no [map]. 0, or an errno
 * value and the error, which names what is wrong in the file at `path`.
 */
int md_map_open(struct md_map **map, const struct md_config *c, const char *path,
		struct md_config_error *error);
/* md_map_close ends the thread and frees it; NULL is allowed. */
void md_map_close(struct md_map *map);

/* md_map_topology returns the fabric that is probed, or NULL for NULL. */
const struct mf_topology *md_map_topology(const struct md_map *map);
/*
 * md_map_sick writes what the host's map says is sick, worst first, and returns how many: at most
 * max, and none where map.policy is off; *cut: there may be more. Any thread.
 */
size_t md_map_sick(struct md_map *map, struct mm_sick *sick, size_t max, bool *cut);

/* md_map_put appends what was counted; any thread. Nothing for NULL. */
void md_map_put(struct md_map *map, enum stat_format format, struct ui_text *out);

#endif
