/* SPDX-License-Identifier: BSD-2-Clause */
/* ping_round.h - one round of `mrc ping`: some of the paths are asked at once, and waited for. */
#ifndef SOFTMRC_CLI_PING_PING_ROUND_H
#define SOFTMRC_CLI_PING_PING_ROUND_H

#include "cli/ping/ping_paths.h"

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

#endif
