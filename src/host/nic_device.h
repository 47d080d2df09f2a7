/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_device.h - the part of nic.h that is about the device: what it is, opening it, its planes,
 * probes and counters. Its conventions are those of nic.h, which includes it.
 */
#ifndef SOFTMRC_HOST_NIC_DEVICE_H
#define SOFTMRC_HOST_NIC_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma/rdma.h"

#pragma GCC visibility push(default)

struct mh_device;

/* ---- device ---- */

#define MH_PLANES_MAX 32u
#define MH_DEVICES_MAX 8u

/* What the device is and how much it has; constant while the process lives. */
struct mh_device_attr {
	char name[16];	      /* "mrc0", "mrc1" ... */
	uint64_t guid;	      /* host order; never 0 */
	struct rd_gid gid;    /* names this endpoint on all planes */
	uint32_t planes;      /* ports of the NIC, 1 .. MH_PLANES_MAX; verbs sees one port */
	uint32_t evs;	      /* entropy values on all planes together */
	uint32_t max_mtu;     /* largest path MTU offered: 256, 512, 1024, 2048 or 4096 */
	uint32_t max_qp;      /* of the process */
	uint32_t max_send_wr; /* per QP */
	uint32_t max_recv_wr; /* per QP */
	uint32_t max_sge;     /* per send WR */
	uint32_t max_inline;  /* bytes per send WR */
	uint32_t max_cqe;     /* per CQ */
	uint32_t max_cq;      /* bounded by memory only */
	uint32_t max_mr;      /* of the process, memory windows among them */
	uint32_t max_pd;      /* bounded by memory only */
	uint64_t max_mr_bytes;
	uint64_t max_msg_bytes; /* of one WRITE */
	uint8_t max_mpr;	/* units of mpr_resolution x 128 PSNs */
	uint8_t mpr_resolution;
	uint16_t max_wimm;	  /* WRITE_WITH_IMM in flight, as requester */
	uint16_t max_wimm_dest;	  /* the same as responder */
	uint8_t max_rd_atomic;	  /* READs and atomics outstanding of a QP, each way */
	uint32_t max_ev_profiles; /* profile ids run from 0 to this - 1; 0 is always there */
	uint32_t max_cc_profiles;
	bool trim_nack;	  /* answers trimmed packets with a NACK */
	bool dynamic_mpr; /* windows can follow what the receiver offers */
	bool svc_time;	  /* returns stamps later by the time its answers took */
};

/* One plane of the device, as it is now. */
struct mh_plane_attr {
	struct rd_gid addr; /* local address */
	uint16_t udp_port;  /* this process receives here */
	uint32_t ifindex;   /* of the interface with that address; 0: none was known at opening */
	bool up;
	uint64_t pace_bps; /* 0: not paced */
};

/*
 * mh_device_probe fills in attr without opening anything: no sockets, no threads. For listing
 * devices. EINVAL: a setting has a wrong value (said on stderr, once per process).
 */
int mh_device_probe(struct mh_device_attr *attr);
/*
 * mh_device_probe_nth is mh_device_probe for device number `i`, from 0; MRC_DEVICES says how many
 * there are. ENODEV: fewer.
 */
int mh_device_probe_nth(uint32_t i, struct mh_device_attr *attr);

#define MH_REAL_IBVERBS_BYTES 256u
/*
 * mh_real_ibverbs fills in what is configured of the system's own libibverbs (MRC_REAL_IBVERBS): a
 * path from /, "auto" or "off". Fails as mh_device_probe.
 */
int mh_real_ibverbs(char path[MH_REAL_IBVERBS_BYTES]);

/*
 * mh_device_open makes an opening of the process's NIC and returns it in *dev. The first opening
 * reads the configuration (docs/configuration.md), binds sockets and starts the progress thread; it
 * may take some milliseconds. `owner` comes back with asynchronous events of the device.
 * EINVAL: configuration, as above. EADDRNOTAVAIL, EADDRINUSE, EMFILE, EACCES, ...: a socket could
 * not be had; stderr names it. ENOMEM. The caller may remove the cause and call again.
 */
int mh_device_open(void *owner, struct mh_device **dev);
/* mh_device_open_nth is mh_device_open for device number `i`, from 0. ENODEV: there are fewer. */
int mh_device_open_nth(uint32_t i, void *owner, struct mh_device **dev);
/*
 * mh_device_find returns the opening that was made with this owner, NULL if there is none. Pointers
 * are compared only, so any value is safe; with several of one owner, any of them.
 */
struct mh_device *mh_device_find(const void *owner);
/*
 * mh_device_close ends an opening; the last one stops the thread and closes the sockets.
 * EBUSY: a PD, CQ or channel of the opening is still there.
 */
int mh_device_close(struct mh_device *dev);

void mh_device_query(const struct mh_device *dev, struct mh_device_attr *attr);
/* mh_device_query_plane describes plane i; EINVAL: i >= planes. */
int mh_device_query_plane(const struct mh_device *dev, uint32_t i, struct mh_plane_attr *attr);
/* mh_device_is_up says whether at least one plane is up: the state of the one port verbs shows. */
bool mh_device_is_up(const struct mh_device *dev);
/* mh_device_can_reach says whether there is any way to the host with this GID: the family, SRv6
 * rows. */
bool mh_device_can_reach(const struct mh_device *dev, const struct rd_gid *gid);

/* mh_device_query_ev returns in *ev the i-th EV of a plane; EINVAL: no such plane, or no more
 * EVs. */
int mh_device_query_ev(const struct mh_device *dev, uint32_t plane, uint32_t i, uint32_t *ev);

/* ---- probes ---- */

#define MH_PROBE_TIMEOUT_MAX_NS (UINT64_C(1) << 36)

/* A path to ask about. */
struct mh_probe {
	struct rd_gid dest;
	uint16_t endpoint; /* which process of that host: the upper 10 bits of its QPNs */
	uint32_t plane;
	uint32_t ev; /* one of mh_device_query_ev */
};

/* A path that works. */
struct mh_probe_answer {
	uint32_t index; /* of its probe */
	uint64_t rtt_ns;
	bool svc_time_subtracted; /* rtt_ns is without the time that the peer took */
};

/*
 * mh_endpoint_probe sends n probes and blocks until all are answered or timeout_ns, 1 ..
 * MH_PROBE_TIMEOUT_MAX_NS, is over. answers has room for n; *n_answers, in the order in which they
 * came, are there. dscp: of data or control; 0: the device's own choice. ETIMEDOUT: some were not
 * answered. EAGAIN: the engine had no free ids for some, which rest a second after use; the first
 * of the probes were sent. EINVAL: a plane or EV that the device does not have, an address of
 * another family, n, the timeout, the class. ENOMEM.
 */
int mh_endpoint_probe(struct mh_device *dev, uint8_t dscp, const struct mh_probe *probes,
		      uint32_t n, uint64_t timeout_ns, struct mh_probe_answer *answers,
		      uint32_t *n_answers);

/* A counter of the process; name and text are constants. */
struct mh_counter {
	const char *name;
	const char *text;
	uint64_t value;
};

#pragma GCC visibility pop

#endif
