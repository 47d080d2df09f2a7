/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_flows_csv.h - reads lists of flows as CSV.
 *
 *	src,dst,bytes,start,after
 *	0,5,1M,0,
 *	5,3,1M,10us,1
 *
 * The first line names the columns, in any order; src, dst and bytes must be there. `start` is a
 * time ("10us"; nothing is 0), `after` the number of a flow, counted from 1 as they stand in the
 * file, or several with blanks between: this flow begins when they are over, and not before its
 * start. A host knows of its own flows only, so they must end or begin at this flow's source.
 */
#ifndef SOFTMRC_SIM_IMPORT_READ_FLOWS_CSV_H
#define SOFTMRC_SIM_IMPORT_READ_FLOWS_CSV_H

#include "sim/import/file_error.h"
#include "sim/workload/flow_list.h"

/*
 * ms_flows_read reads the text of a file for a fabric of `hosts` hosts into an empty list. false:
 * *error says what is wrong and the list is empty. Allocates.
 */
bool ms_flows_read(struct ms_flow_list *list, uint32_t hosts, const char *file, const char *text,
		   struct ms_file_error *error);

#endif
