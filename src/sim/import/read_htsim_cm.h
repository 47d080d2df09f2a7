/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_htsim_cm.h - reads connection matrices of htsim (*.cm).
 *
 *	Nodes 16
 *	Connections 2
 *	Triggers 1
 *	2->11 id 1 start 0 size 2000000 send_done_trigger 1
 *	2->4 id 2 trigger 1 size 2000000
 *	trigger id 1 oneshot
 *
 * Starts are in picoseconds, sizes in bytes. A flow begins at its start, or when its trigger fires:
 * a trigger of kind `oneshot` is fired by one flow, `barrier` by the last of `count` flows. Here a
 * host knows of its own flows only: where one waits for a flow of other hosts, an empty flow brings
 * the news, behind those of the file and as slow as any packet. `failure` lines name links between
 * T1 and T2 that are down throughout. Words that order what is sent first (prio, msg) are read and
 * have no meaning here.
 *
 * Refused, with line and reason: what htsim refuses, triggers of kind `multishot` (which flow they
 * start depends on which one ends first) that more than one flow fires or waits for, and triggers
 * that cannot fire. Source of the format: ultraethernet/uet-htsim, connection_matrix.cpp.
 */
#ifndef SOFTMRC_SIM_IMPORT_READ_HTSIM_CM_H
#define SOFTMRC_SIM_IMPORT_READ_HTSIM_CM_H

#include "sim/import/file_error.h"
#include "sim/workload/flow_list.h"

#define MS_CM_FAILURES_MAX 1024u

/* A link that is down: uplink `uplink` of T1 number `t1`. */
struct ms_cm_failure {
	uint32_t t1, uplink;
	uint32_t line;
};

struct ms_cm {
	uint32_t nodes;
	struct ms_flow_list flows;
	uint32_t n_failures;
	struct ms_cm_failure failure[MS_CM_FAILURES_MAX];
};

/*
 * ms_cm_read reads the text of a file; `file` is its name in messages. false: *error says what is
 * wrong and cm is empty. Otherwise ms_cm_fini frees it. Allocates.
 */
bool ms_cm_read(struct ms_cm *cm, const char *file, const char *text, struct ms_file_error *error);
void ms_cm_fini(struct ms_cm *cm);

#endif
