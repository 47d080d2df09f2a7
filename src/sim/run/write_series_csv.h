/* SPDX-License-Identifier: BSD-2-Clause */
/* write_series_csv.h - what a run has to say, as tables of comma-separated values. */
#ifndef SOFTMRC_SIM_RUN_WRITE_SERIES_CSV_H
#define SOFTMRC_SIM_RUN_WRITE_SERIES_CSV_H

#include <stdio.h>

#include "sim/run/sim_run.h"

/*
 * ms_write_flows writes a line for each flow, with the columns of the list of flows that read_flows
 * takes and then times in ns since the beginning (empty: has not happened), and how it stands:
 * done, failed, unfinished or waiting (not begun).
 */
void ms_write_flows(const struct ms_run *run, FILE *to);

/* ms_write_series_head and _series write a line for each of n links as they are now. */
void ms_write_series_head(FILE *to);
void ms_write_series(struct ms_run *run, const struct mf_topology *t, const uint32_t *link,
		     uint32_t n, uint64_t now_ps, FILE *to);

/* ms_write_nics_head and _nics write one line: what all NICs together have counted up to now. */
void ms_write_nics_head(FILE *to);
void ms_write_nics(struct ms_run *run, uint64_t now_ps, FILE *to);

#endif
