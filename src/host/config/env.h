/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env.h - the configuration of the device: the texts of settings.h, checked and understood; and
 * what follows from it: addresses of peers, SRv6 paths, the host's interfaces.
 *
 * docs/configuration.md lists the settings, their ranges and why the defaults are what they are.
 */
#ifndef SOFTMRC_HOST_CONFIG_ENV_H
#define SOFTMRC_HOST_CONFIG_ENV_H

#include "core/config.h"
#include "host/config/settings.h"
#include "host/platform/platform.h"
#include "wire/carrier.h"
#include "wire/dscp.h"
#include "wire/ev_fmt.h"
#include "wire/icrc.h"

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/*
 * SRv6 rows: which carrier takes a packet of an EV to a destination.
 *
 * The configuration has rows of destinations. A row is a prefix of GIDs with a template for all of
 * them (wire/carrier.h); the longest prefix that a GID is in is its row. Nothing else is kept, and
 * an address is made anew for each packet. What the bits of an EV say is in wire/ev_fmt.h.
 *
 * A row as text, srv6_row.c: the GID of its first host with the length of the prefix, the block,
 * and the uSIDs of the path, in hexadecimal, with fields of the EV or of the GID put into them:
 *
 *	fd4d:5243::1/48 = fcbbbb00+plane a000 b000+uplink:4 a000+t0 1000+host
 */
#define MH_SRV6_ROWS_MAX 64u
#define MH_SRV6_PLANES_MAX 16u
#define MH_SRV6_WHY_MAX 200u

/* Half a GID as a number, the mask of the prefix in it, and what the row's first host has. */
struct mh_srv6_half {
	uint64_t first, mask;
};

struct mh_srv6_row {
	uint32_t prefix; /* bits, 0 .. 128 */
	struct mh_srv6_half subnet, host;
	struct mw_carrier_template carrier;
};

struct mh_srv6 {
	uint32_t n_rows;     /* 0: EVs are no paths */
	uint8_t gid[16];     /* of this host */
	uint32_t uplinks;    /* of a T0, 1 .. 256 */
	uint32_t t1_uplinks; /* of a T1 with three tiers, 1 .. 256; else 1 */
	uint32_t evs;	     /* per plane, 1 .. uplinks * t1_uplinks */
	uint32_t free;	     /* the free bits of all EVs */
	uint32_t turn;	     /* where this host begins when it has fewer EVs than there are paths */
	struct mh_srv6_row row[MH_SRV6_ROWS_MAX];
};

/* ---- the configuration: env.c, env_ports.c, env_srv6.c ---- */

#define MH_EVS_PER_PORT_MAX 64u
#define MH_IFNAME_MAX 16u
#define MH_SLOTS 1024u
#define MH_SHARDS_MAX 8u
/* Registered for RoCEv2; the default. */
#define MH_UDP_PORT 4791u
/*
 * Where EVs begin when no base is set. The first is where the dynamic ports of RFC 6335 begin, but
 * Linux gives 32768 to 60999 to programs that ask for any port; so the further ones lie above that.
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

#define MH_NO_GROUP ((gid_t)-1)

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
	bool ev_base_any; /* not set: another one will do, see mh_env_next_ev_base */
	uint32_t run;	  /* packets of a QP in a row on one EV */
	enum mw_ev_format ev_format;
	uint64_t pace_bps; /* per port; 0: not paced */
	uint32_t mtu;	   /* largest path MTU, bytes of payload */
	uint32_t rx_buffer_bytes;
	uint64_t memory_bytes; /* that engines may be given for QPs and what they hold */
	uint32_t shards;       /* 1 .. MH_SHARDS_MAX engines */
	uint32_t shard;	       /* which of them this is for */
	uint32_t priority;     /* of the progress thread, see platform/platform.h */
	bool icrc;
	bool relaxed; /* extended QPs place ends of messages as they come, see mt_qp_cap */
	char real_ibverbs[MH_PATH_MAX]; /* path of the system's libibverbs, "auto" or "off" */
	bool svc_time;			/* answers tell how long they took, see core/config.h */
	char capture[MH_PATH_MAX];	/* path of a pcapng file, or empty */
	char faults[MH_PATH_MAX];	/* path of a fault table, or empty */
	char stats_dir[MH_PATH_MAX];	/* or empty */
	bool stats_keep;		/* the file of statistics outlives the device */
	gid_t stats_group;		/* that may read it; MH_NO_GROUP: the user alone */
	char node_dir[MH_PATH_MAX];	/* of the stores of what controllers decide; empty: none */
	enum mrc_log_level log_level;
	enum mh_log_format log_format;
	enum mt_cc_kind cc;
	uint64_t base_rtt_ns;
	uint64_t probe_ns;
	uint64_t rto_min_ns;
	uint64_t tail_probe_ns;
	uint64_t reorder_min_ns, reorder_max_ns;
	struct mh_srv6 srv6;	      /* EVs that are paths */
	char ignored[MH_IGNORED_MAX]; /* as in struct mh_settings */
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
 * are not so many devices. env->ignored and what is of the log are set in any case.
 */
int mh_env_read(struct mh_env *env, uint32_t device, struct mh_env_error *error);
/*
 * mh_env_next_ev_base moves the EVs to the base that is tried behind the present one when another
 * program has one of its ports. False: there is none, or this one was asked for.
 */
bool mh_env_next_ev_base(struct mh_env *env);
/*
 * mh_env_of_shard makes the configuration of a shard from that of its device: a capture file of its
 * own. Memory and pace stay those of all shards, see below.
 */
void mh_env_of_shard(const struct mh_env *env, uint32_t shard, struct mh_env *own);
/* mh_env_shard_pace returns what part of a port's pace a shard has. */
static inline uint64_t mh_env_shard_pace(const struct mh_env *env)
{
	return env->pace_bps / env->shards;
}

/* mh_env_shard_memory returns what part of the memory a shard's engine may be given. */
static inline uint64_t mh_env_shard_memory(const struct mh_env *env)
{
	return env->memory_bytes / env->shards;
}

/* mh_env_is_ipv4 says which family the ports are of. */
bool mh_env_is_ipv4(const struct mh_env *env);

/* ---- SRv6 rows: srv6_map.c, srv6_row.c ---- */

/* mh_srv6_parse_row reads a row's text. False: why says what is wrong with which word of it. */
bool mh_srv6_parse_row(const char *text, struct mh_srv6_row *row, char why[MH_SRV6_WHY_MAX]);

/*
 * mh_srv6_find returns the row of a destination; NULL: it is in none, so no path leads there.
 * REQ(srv6.rows)
 */
const struct mh_srv6_row *mh_srv6_find(const struct mh_srv6 *s, const uint8_t gid[16]);

/*
 * mh_srv6_ev returns EV i, below evs, of a plane. Fewer EVs than paths are spread over them, those
 * of different hosts not alike.
 */
uint32_t mh_srv6_ev(const struct mh_srv6 *s, uint32_t plane, uint32_t i);

/*
 * mh_srv6_carrier writes the address that takes a packet of an EV to a destination of the row. The
 * plane is the one that the packet leaves by, whatever a peer's EV says. REQ(srv6.ev-planes)
 * REQ(srv6.port-plane)
 */
void mh_srv6_carrier(const struct mh_srv6_row *row, uint32_t plane, uint32_t ev,
		     const uint8_t gid[16], uint8_t dst[16]);

/* ---- one GID for an endpoint, an address for each of its planes: addr.c ---- */

/*
 * Plane p's subnet is the first `prefix` bits of our own port p's address; the bits behind it name
 * the host and are the same on all planes. A host's GID is its address on plane 0; IPv4 addresses
 * are mapped, ::ffff:a.b.c.d. With 24 bits, ports 10.0.0.1 and 10.0.1.1, and a peer's GID
 * ::ffff:10.0.0.7, the peer is at 10.0.0.7 on plane 0 and at 10.0.1.7 on plane 1.
 */

#define MH_ADDR_TEXT_MAX 46u

struct mh_addr_map {
	uint32_t n_planes;
	bool ipv4;
	bool inner; /* the ICRC covers GIDs: of an inner header, or for want of one that stays */
	const struct mh_srv6 *srv6; /* NULL: EVs are no paths, and planes are subnets */
	uint8_t host_mask[16];	    /* the bits that name a host */
	uint8_t local[MT_PORTS_MAX][16];
};

void mh_addr_map_init(struct mh_addr_map *map, const struct mh_env *env);

/* mh_addr_from_ip writes ::ffff:a.b.c.d of an IPv4 address in host order. */
void mh_addr_from_ip(uint32_t ip, uint8_t gid[16]);
/* mh_addr_is_ipv4 says whether an address is ::ffff:a.b.c.d. */
bool mh_addr_is_ipv4(const uint8_t ip[16]);
/* mh_addr_on_plane returns in ip where the host with this GID is on `plane`. */
void mh_addr_on_plane(const struct mh_addr_map *map, uint32_t plane, const uint8_t gid[16],
		      uint8_t ip[16]);
/*
 * mh_addr_first_hop returns in ip where a packet on `plane` goes first that is for the host with
 * this GID: the address there, or with SRv6 the path of the EV. False: there is no way to it.
 */
bool mh_addr_first_hop(const struct mh_addr_map *map, uint32_t plane, uint32_t ev,
		       const uint8_t gid[16], uint8_t ip[16]);
/*
 * mh_addr_gid_of returns in gid which host sends frames from address ip on `plane`; false: the
 * address is not in the subnet, so it is no peer's.
 */
bool mh_addr_gid_of(const struct mh_addr_map *map, uint32_t plane, const uint8_t ip[16],
		    uint8_t gid[16]);
/*
 * mh_addr_is_carrier_of says whether a tunnelled frame of gid that came by this plane may have this
 * outer source: the address of gid on the plane. With SRv6 paths any may be.
 */
bool mh_addr_is_carrier_of(const struct mh_addr_map *map, uint32_t plane, const uint8_t outer[16],
			   const uint8_t gid[16]);
/*
 * mh_addr_icrc_local and mh_addr_icrc_peer return the addresses of the header that the ICRC covers,
 * of this host and of a peer whose GID is gid and whose address on the plane is ip.
 * REQ(wire.icrc.inner)
 */
const uint8_t *mh_addr_icrc_local(const struct mh_addr_map *map, uint32_t plane);
static inline const uint8_t *mh_addr_icrc_peer(const struct mh_addr_map *map, const uint8_t gid[16],
					       const uint8_t ip[16])
{
	return map->inner ? gid : ip;
}

/* mh_addr_is_reachable says whether there is any way to the host with this GID. */
bool mh_addr_is_reachable(const struct mh_addr_map *map, const uint8_t gid[16]);

/* mh_addr_text writes an address as people read it and returns text. */
const char *mh_addr_text(const uint8_t ip[16], char text[MH_ADDR_TEXT_MAX]);

/* The UDP datagram that carries a frame of len bytes. */
struct mh_addr_datagram {
	const uint8_t *src, *dst; /* both IPv4 or both not */
	uint16_t sport, dport;
	uint32_t len;
};

/*
 * mh_addr_icrc_carrier returns what of a datagram enters the ICRC. A UDP socket cannot know the
 * Identification that the kernel writes. REQ(wire.icrc.ipv4-socket)
 */
struct mw_icrc_carrier mh_addr_icrc_carrier(const struct mh_addr_datagram *d);

/* ---- the host's interfaces; addresses as in struct mh_env_port: host_ifaces.c ---- */

/* mh_iface_index returns its number, another whenever it is made anew; 0: there is none. */
uint32_t mh_iface_index(const char *name);
/*
 * mh_iface_address returns the interface's address in ip: its first IPv4 one, else its first IPv6
 * one that means something beyond the link. false: it has none.
 */
bool mh_iface_address(const char *name, uint8_t ip[16]);
/*
 * mh_iface_with_address returns the interface that has this address. 0, EADDRNOTAVAIL: none has, or
 * another errno value: the kernel cannot be asked now.
 */
int mh_iface_with_address(const uint8_t ip[16], char name[IF_NAMESIZE]);

enum mh_iface_state {
	MH_IFACE_UP,
	MH_IFACE_DOUBTFUL, /* it may carry packets; for want of a port that does */
	MH_IFACE_DOWN,
	MH_IFACE_UNKNOWN, /* the process has no descriptor or memory left to ask with */
};

/*
 * mh_iface_state says whether a port with this address, on the interface `wanted` or with "" on
 * whichever has it, can work now. The interface with the number `index`, unless 0, is the one that
 * was wanted, whatever it is called by now. name is that of its interface, "?" for none; why says
 * what is missing where it is not up.
 */
enum mh_iface_state mh_iface_state(const uint8_t ip[16], const char *wanted, uint32_t index,
				   char name[IF_NAMESIZE], const char **why);
/* mh_iface_mtu returns the largest IP packet that the interface sends; 0: cannot be known. */
uint32_t mh_iface_mtu(const char *name);
/* mh_env_mtu_of returns the largest path MTU whose packets an interface with this MTU sends; 0. */
uint32_t mh_env_mtu_of(const struct mh_env *env, uint32_t ip_mtu);
/* mh_iface_default returns the interface of the default route, IPv4 before IPv6; false: none. */
bool mh_iface_default(char name[IF_NAMESIZE]);

#endif
