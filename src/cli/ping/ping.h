/* SPDX-License-Identifier: BSD-2-Clause */
/* ping.h - the parts of mrc ping: paths, rounds of probes, and the report. */
#ifndef SOFTMRC_CLI_PING_PING_H
#define SOFTMRC_CLI_PING_PING_H

#include "cli/fabric_at_hand.h"
#include "ui/text.h"

#include <jansson.h>
#include <mrc_ctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The paths that `mrc ping` asks about, and what came of it. */

#define PING_HOSTS_MAX 16u
/* Planes of a device times EVs of a plane. */
#define PING_PATHS_MAX 2048u

struct ping_host {
	const char *name;
	uint8_t gid[16];
};

/* Round-trip times of what was answered. */
struct ping_figure {
	uint64_t sent, answered;
	uint64_t min_ns, max_ns, sum_ns;
};

/* A host, a plane of ours and an EV. */
struct ping_path {
	uint32_t host;
	struct mrc_ctl_ev ev;
	struct ping_figure figure;
	bool asked;		       /* in the last round */
	uint64_t last_ns;	       /* of the answer in the last round; 0: none */
	char cable[CLI_EV_NAME_BYTES]; /* that the EV chooses; empty: no fabric is known */
};

struct ping_paths {
	size_t n;
	struct ping_path *path; /* owned */
};

/*
 * ping_paths_make lists every EV in evs[0 .. n-1] of every host, of one plane (from 0) or of all
 * (-1), of one EV's value or of all (-1). Returns 0, or -1 when nothing is left or memory is gone.
 */
int ping_paths_make(struct ping_paths *p, uint32_t hosts, const struct mrc_ctl_ev *evs, size_t n,
		    int64_t plane, int64_t value);
void ping_paths_fini(struct ping_paths *p);
/* ping_paths_name calls all paths by their cables; own is the GID of the device. */
void ping_paths_name(struct ping_paths *p, const struct ping_host *hosts,
		     const struct cli_fabric *fabric, const uint8_t own[16]);

/* ping_path_value returns the number of the path's EV. */
uint32_t ping_path_value(const struct ping_path *path);

void ping_figure_add(struct ping_figure *f, uint64_t rtt_ns);
/* ping_figure_join adds the second to the first. */
void ping_figure_join(struct ping_figure *f, const struct ping_figure *other);
/* ping_figure_host sums up the paths of a host. */
struct ping_figure ping_figure_host(const struct ping_paths *p, uint32_t host);

/* One round of `mrc ping`: some of the paths are asked at once, and waited for. */

/* How requests go out: mrc_ctl_ep_batch_send_wait on the real device, anything else in tests. */
struct ping_device {
	void *context;
	int (*send_wait)(void *context, struct mrc_ctl_ep_req *req, int n, uint32_t timeout_ns,
			 struct mrc_ctl_ep_rsp *rsp, int *n_rsp); /* 0 or an errno value */
	enum mrc_ctl_ev_fmt_mode format;
};

/*
 * ping_round asks in round number `round`: all paths, or with `one_a_plane` one path of each host
 * and plane, another in each round. Returns 0, or an errno value; no answer is no error.
 */
int ping_round(const struct ping_device *device, const struct ping_host *hosts,
	       struct ping_paths *paths, uint64_t round, bool one_a_plane, uint32_t timeout_ns);

/* Answers and figures of `mrc ping` for eyes and programs. */

/* ping_show_round writes a line for each path that was asked in the last round. */
void ping_show_round(const struct ping_host *hosts, const struct ping_paths *paths, uint64_t round,
		     struct ui_text *out);
/* ping_show_table writes a line for each path: sent, lost, times. */
void ping_show_table(const struct ping_host *hosts, const struct ping_paths *paths,
		     struct ui_text *out);
/* ping_show_host writes the sum of a host in a line. */
void ping_show_host(const struct ping_host *host, const struct ping_figure *f, struct ui_text *out);

/* ping_json returns a new object with all hosts and paths. */
json_t *ping_json(const struct ping_host *hosts, uint32_t n_hosts, const struct ping_paths *paths);

#endif
