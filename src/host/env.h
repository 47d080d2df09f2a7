/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env.h - the configuration of the device: the texts of settings.h, checked and understood.
 *
 * docs/configuration.md lists the settings, their ranges and why the defaults are what they are.
 */
#ifndef SOFTMRC_HOST_ENV_H
#define SOFTMRC_HOST_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "host/settings.h"
#include "host/srv6_map.h"
#include "wire/dscp.h"
#include "wire/ev_fmt.h"

#define MH_EVS_PER_PORT_MAX 64u
#define MH_IFNAME_MAX 16u
#define MH_SLOTS 1024u
/* Registered for RoCEv2; the default. */
#define MH_UDP_PORT 4791u
/*
 * Where EVs begin when nobody asked. The first is where the dynamic ports of RFC 6335 begin, but
 * Linux gives 32768 to 60999 to whoever asks for any port; so the further ones lie above that.
 */
#define MH_EV_BASE 49152u
#define MH_EV_BASE_MORE 61056u
#define MH_EV_BASE_STRIDE MH_EVS_PER_PORT_MAX
#define MH_EV_BASES_MORE 16u

/* What carries the frames; see src/io/README.md. */
enum mh_driver {
	MH_DRIVER_UDP,
	MH_DRIVER_AF_PACKET,
	MH_DRIVER_RAW41,
};

struct mh_env_port {
	uint8_t ip[16];		    /* network order; IPv4 mapped, ::ffff:a.b.c.d */
	char ifname[MH_IFNAME_MAX]; /* empty: not bound to an interface */
};

struct mh_env {
	struct mh_env_port port[MT_PORTS_MAX];
	uint32_t n_ports;
	uint32_t devices; /* 1 .. MH_DEVICES_MAX: the ports of the list are dealt to so many */
	uint32_t device;  /* which of them this is for */
	enum mh_driver driver;
	uint32_t udp_port; /* of slot 0; the others follow */
	struct mw_dscp_map dscp;
	uint32_t prefix;  /* bits of a port's address, as 128 bits, that are the plane's subnet */
	uint32_t evs;	  /* per port */
	uint32_t ev_base; /* the first source port; of plane p with SRv6 ev_base + p */
	bool ev_base_any; /* nobody asked for this one: others do, see mh_env_next_ev_base */
	uint32_t run;	  /* packets of a QP in a row on one EV */
	enum mw_ev_format ev_format;
	uint64_t pace_bps; /* per port; 0: not paced */
	uint32_t mtu;	   /* largest path MTU, bytes of payload */
	uint32_t rx_buffer_bytes;
	uint32_t priority; /* of the progress thread, see thread_priority.h */
	bool icrc;
	bool relaxed; /* extended QPs place ends of messages as they come, see mt_qp_cap */
	char real_ibverbs[MH_PATH_MAX]; /* path of the system's libibverbs, "auto" or "off" */
	bool svc_time;			/* answers tell how long they took, see core/config.h */
	char capture[MH_PATH_MAX];	/* path of a pcapng file, or empty */
	char faults[MH_PATH_MAX];	/* path of a fault table, or empty */
	char stats_dir[MH_PATH_MAX];	/* or empty */
	bool stats_keep;		/* the file of statistics outlives the device */
	enum mt_cc_kind cc;
	uint64_t base_rtt_ns;
	uint64_t probe_ns;
	uint64_t rto_min_ns;
	uint64_t tail_probe_ns;
	uint64_t reorder_min_ns, reorder_max_ns;
	struct mh_srv6 srv6; /* EVs that are paths */
};

/* mh_env_is_srv6 says whether EVs are SRv6 paths, and hosts have one address on all planes. */
static inline bool mh_env_is_srv6(const struct mh_env *env)
{
	return env->srv6.n_rows > 0;
}

/*
 * mh_env_read fills in env for a device, by its number from 0, from the process's environment and
 * the configuration file, and from the interfaces of the host where these name no address. 0, or an
 * errno value, mostly EINVAL: error names the setting, its value and what is allowed. ENODEV: there
 * are not so many devices.
 */
int mh_env_read(struct mh_env *env, uint32_t device, struct mh_env_error *error);
/*
 * mh_env_next_ev_base moves the EVs to the base that is tried behind the present one when another
 * program has one of its ports. False: there is none, or this one was asked for.
 */
bool mh_env_next_ev_base(struct mh_env *env);

#endif
