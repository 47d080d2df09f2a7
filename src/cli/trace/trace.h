/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.h - the parts of `mrc trace`: paths, EVs of a part, probes of hops, what is shown. */
#ifndef SOFTMRC_CLI_TRACE_TRACE_H
#define SOFTMRC_CLI_TRACE_TRACE_H

#include "fabric/ev_links.h"
#include "lab/lab.h"
#include "ui/text.h"

#include <jansson.h>

/* ---- paths ---- */

/* What a hop's probes came to. */
struct trace_answers {
	bool asked; /* false: its uSIDs do not fit an address, or nobody is there to ask */
	uint32_t sent, answered;
	uint64_t rtt_min_ns;
};

/* A path, hop by hop: the link and the node that it leads to. */
struct trace_path {
	uint32_t src, dst, ev;
	uint32_t hops;
	uint32_t link[MF_PATH_LINKS_MAX], node[MF_PATH_LINKS_MAX];
	struct trace_answers answers[MF_PATH_LINKS_MAX];
};

/* trace_path_of fills in a path that was not probed. */
void trace_path_of(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t ev,
		   struct trace_path *path);

/* trace_path_silent returns the first hop of which no probe came back, or path->hops. */
uint32_t trace_path_silent(const struct trace_path *path);

/*
 * trace_ev_read reads an EV as devices list it: a number, decimal or 0x, with the plane in it, or
 * PORT:NUMBER, as `mrc ctl` has it, with port 1 for plane 0. False: it is neither, or no path of
 * the fabric.
 */
bool trace_ev_read(const struct mf_topology *t, const char *text, uint32_t *ev);

/* ---- probes: trace_probe.c ---- */

/*
 * Packets of UDP to a list of uSIDs: up to a switch of the path and over the same cables to the
 * sender again; to the destination, which a socket there sends back over the same cables. No
 * rights are needed, nor anything that runs on switches.
 */
struct trace_prober {
	const struct mf_topology *t;
	int fd, far_fd; /* of source and destination; far_fd -1: nobody sends back there */
	uint16_t port, far_port;
	uint32_t probes;
	uint64_t timeout_ns;
	uint64_t nonce;
};

/*
 * trace_prober_open opens the sockets: in the namespaces of a lab's hosts, or, where lab is NULL,
 * on this machine, which must be the source then; the destination is not asked. 0, or -1 with a
 * sentence. trace_prober_close closes them.
 */
int trace_prober_open(struct trace_prober *p, const struct ml_lab *lab, const struct mf_topology *t,
		      uint32_t src, uint32_t dst, struct ml_error *e);
void trace_prober_close(struct trace_prober *p);

/* trace_prober_run asks all hops of a path; waits for each answer, timeout_ns at most. */
void trace_prober_run(struct trace_prober *p, struct trace_path *path);

/* trace_carrier writes the address of a probe to a hop. False: it has more uSIDs than an address
 * holds. */
bool trace_carrier(const struct mf_topology *t, const struct trace_path *path, uint32_t hop,
		   uint8_t out[16]);

/* ---- EVs of a part: trace_part.c ---- */

struct trace_part {
	const struct mf_topology *t;
	const char *name;
	struct mf_target part;
	uint32_t src, dst; /* MF_HOST_NONE: all */
};

/*
 * trace_part_show writes a line for each EV that uses the part: with a source its cable, without
 * how many hosts send by it over the part and which. trace_part_json returns the same.
 */
void trace_part_show(const struct trace_part *p, struct ui_text *out);
json_t *trace_part_json(const struct trace_part *p);

/* ---- what is shown: trace_show.c ---- */

/* trace_show_hops writes a path hop by hop; trace_show_line in a line with the cable it chooses. */
void trace_show_hops(const struct mf_topology *t, const struct trace_path *path, bool probed,
		     struct ui_text *out);
void trace_show_line(const struct mf_topology *t, const struct trace_path *path, bool probed,
		     struct ui_text *out);
json_t *trace_path_json(const struct mf_topology *t, const struct trace_path *path, bool probed);

#endif
