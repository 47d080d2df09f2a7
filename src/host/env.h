/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env.h - the configuration of the device, read from the environment and checked.
 *
 * docs/environment.md lists the variables, their ranges and why the defaults are what they are.
 */
#ifndef SOFTMRC_HOST_ENV_H
#define SOFTMRC_HOST_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"

#define MH_EVS_PER_PORT_MAX 64u
#define MH_IFNAME_MAX 16u

struct mh_env_port {
	uint32_t ip;		    /* host order */
	char ifname[MH_IFNAME_MAX]; /* empty: not bound to an interface */
};

struct mh_env {
	struct mh_env_port port[MT_PORTS_MAX];
	uint32_t n_ports;
	uint32_t prefix; /* bits of a port's address that are the plane's subnet */
	uint32_t evs;	 /* per port */
	uint32_t ev_base;
	uint64_t pace_bps; /* per port; 0: not paced */
	uint32_t mtu;
	bool icrc;
	const char *faults;    /* path of a fault table, or NULL; points into the environment */
	const char *stats_dir; /* or NULL; likewise */
	enum mt_cc_kind cc;
	uint64_t base_rtt_ns;
	uint64_t probe_ns;
	uint64_t rto_min_ns;
	uint64_t tail_probe_ns;
	uint64_t reorder_min_ns, reorder_max_ns;
};

struct mh_env_error {
	char text[320];
};

/*
 * mh_env_read fills in env from the process's environment. 0, or EINVAL: error names the
 * variable, its value and what is allowed. A variable that is set but empty counts as not set.
 */
int mh_env_read(struct mh_env *env, struct mh_env_error *error);

#endif
