/* SPDX-License-Identifier: BSD-2-Clause */
/* sweep_grid.h - the points of a sweep: every combination of the values of some keys. */
#ifndef SOFTMRC_STUDY_SWEEP_GRID_H
#define SOFTMRC_STUDY_SWEEP_GRID_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_GRID_AXES 6u
#define SIM_GRID_VALUES 64u
#define SIM_GRID_POINTS 4096u
#define SIM_GRID_NAME 256u
#define SIM_GRID_WHY 320u

struct sim_axis {
	char key[128];
	char text[1024]; /* the values, ended by zeros */
	const char *value[SIM_GRID_VALUES];
	size_t n;
};

struct sim_grid {
	struct sim_axis axis[SIM_GRID_AXES];
	size_t n_axes;
	size_t points;
};

/* sim_grid_add takes "mrc.evs=1,4,16". false: why says what is wrong. */
bool sim_grid_add(struct sim_grid *g, const char *vary, char why[SIM_GRID_WHY]);
/* sim_grid_value returns the value of an axis at a point; the last axis changes fastest. */
const char *sim_grid_value(const struct sim_grid *g, size_t point, size_t axis);
/* sim_grid_name writes the name of a point, fit for a file: "mrc.evs=4,seed=2". */
char *sim_grid_name(const struct sim_grid *g, size_t point, char out[SIM_GRID_NAME]);

#endif
