/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.h - the software NIC as its users see it: devices, PDs, MRs, CQs, QPs, events.
 *
 * This is the one header of host/ that libmrc and libibverbs include; both are thin translations of
 * it. The values that it shares with the core are those of rdma/.
 *
 * A process has one NIC for each device that it opens, and mostly one in all: a set of sockets, an
 * engine, a progress thread, or several of each (MRC_SHARDS). It comes into being with the first
 * mh_device_open of a device and goes with the last mh_device_close. Every opening has its own
 * asynchronous events, as an ibv_context has; PDs, CQs and channels belong to an opening. The CQs
 * of a QP must be of one opening, which is also the QP's; its PD may be of any opening of the same
 * device.
 *
 * Conventions, unless a function says otherwise:
 * - Functions return 0 or a positive errno value; on an error nothing has changed and output
 *   parameters are untouched. Passing NULL for a handle or an output is a bug of the caller.
 * - Any thread may call any function at any time; the exception is using an object during or
 *   after its destruction. Functions do not block except for short internal locks.
 * - In a forked child everything that was opened before is gone: functions return ENODEV, stderr
 *   says so once, the parent notices nothing. The child may open the device again. exec closes all.
 * - `owner` is a pointer of the caller's choice that comes back wherever the object is named.
 * - Objects are destroyed in the order QP, SRQ, CQ, channel and MR, PD, device; else EBUSY.
 */
#ifndef SOFTMRC_HOST_NIC_H
#define SOFTMRC_HOST_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma/qp_attr.h"
#include "rdma/rdma.h"

/* Modules are compiled with hidden symbols; libmrc's version script decides what it exports. */
#pragma GCC visibility push(default)

#include <mrc/log.h>

struct mh_device;
struct mh_pd;
struct mh_mr;
struct mh_mw;
struct mh_channel;
struct mh_cq;
struct mh_srq;
struct mh_qp;

/* ---- device ---- */

#define MH_PLANES_MAX 32u
#define MH_DEVICES_MAX 8u

/* Where packets carry EVs; with SRv6 rows the EV of STEV is a path. */
enum mh_ev_format {
	MH_EV_UDP,
	MH_EV_STEV,
};

/* What the device is and how much it has; constant while the process lives. */
struct mh_device_attr {
	char name[16];	     /* "mrc0", "mrc1" ... */
	uint64_t guid;	     /* host order; never 0 */
	struct rd_gid gid;   /* names this endpoint on all planes */
	uint32_t planes;     /* ports of the NIC, 1 .. MH_PLANES_MAX; verbs sees one port */
	uint32_t evs;	     /* entropy values on all planes together */
	uint32_t min_active; /* EVs that are never assumed bad together */
	enum mh_ev_format ev_format;
	uint32_t max_mtu;     /* largest path MTU offered: 256, 512, 1024, 2048 or 4096 */
	uint32_t max_qp;      /* of the process */
	uint32_t max_send_wr; /* per QP */
	uint32_t max_recv_wr; /* per QP */
	uint32_t max_sge;     /* per send WR */
	uint32_t max_inline;  /* bytes per send WR */
	uint32_t max_cqe;     /* per CQ */
	uint32_t max_cq;      /* bounded by memory only */
	uint32_t max_mr;      /* of the process, memory windows among them */
	uint32_t max_mw;      /* 0: a device of several shards has none */
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
	bool nscc;	  /* congestion control of its own profile is NSCC; else there is none */
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
 * mh_device_probe fills in attr of device `i`, from 0, without opening anything: no sockets, no
 * threads. For listing devices. ENODEV: MRC_DEVICES says that there are fewer. EINVAL: a setting
 * has a wrong value (said on stderr, once per process).
 */
int mh_device_probe(uint32_t i, struct mh_device_attr *attr);

#define MH_REAL_IBVERBS_BYTES 256u
/*
 * mh_real_ibverbs fills in what is configured of the system's own libibverbs (MRC_REAL_IBVERBS): a
 * path from /, "auto" or "off". Fails as mh_device_probe.
 */
int mh_real_ibverbs(char path[MH_REAL_IBVERBS_BYTES]);

/*
 * mh_device_open makes an opening of the process's NIC of device `i` and returns it in *dev. The
 * first opening reads the configuration (docs/configuration.md), binds sockets and starts the
 * progress thread; it may take some milliseconds. `owner` comes back with asynchronous events of
 * the device. ENODEV, EINVAL: as above. EADDRNOTAVAIL, EADDRINUSE, EMFILE, EACCES, ...: a socket
 * could not be had; stderr names it. ENOMEM. The caller may remove the cause and call again.
 */
int mh_device_open(uint32_t i, void *owner, struct mh_device **dev);
/*
 * mh_fork_watch: from now on nobody has a lock that a child needs while the process forks. Called
 * before the first such lock is taken, and then does nothing. mh_fork_lock_first: `locks`, of a
 * library above that is being loaded, are such locks, too, and are taken before the NIC's.
 */
struct mh_fork_locks {
	void (*lock)(void), (*unlock)(void);
};
void mh_fork_watch(void);
void mh_fork_lock_first(const struct mh_fork_locks *locks);
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

/*
 * mh_device_is_inherited says whether another process, of which this one is a forked child, has
 * made the opening; then a lock that the caller keeps beside it may be held for ever.
 */
bool mh_device_is_inherited(const struct mh_device *dev);
/* mh_device_index returns the `i` of mh_device_open with which the opening was made. */
uint32_t mh_device_index(const struct mh_device *dev);
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
	uint32_t ev;	  /* a number that packets of the device can carry */
	bool tells_ports; /* it says which ports are up besides, bit p of ports_up for plane p */
	uint32_t ports_up;
};

/* A path that works. */
struct mh_probe_answer {
	uint32_t index; /* of its probe */
	uint32_t plane; /* that the answer came in by */
	uint64_t rtt_ns;
	bool svc_time_subtracted; /* rtt_ns is without the time that the peer took */
};

/*
 * mh_endpoint_probe sends n probes and blocks until all are answered or timeout_ns, 1 ..
 * MH_PROBE_TIMEOUT_MAX_NS, is over. answers has room for n; *n_answers, in the order in which they
 * came, are there. dscp: of data or control; 0: the device's own choice. ETIMEDOUT: some were not
 * answered. EAGAIN: the engine had no free ids for some, which rest a second after use; the first
 * of the probes were sent. EINVAL: a plane that the device does not have, an EV of too many bits,
 * an address of another family, n, the timeout, the class. ENOMEM.
 */
int mh_endpoint_probe(struct mh_device *dev, uint8_t dscp, const struct mh_probe *probes,
		      uint32_t n, uint64_t timeout_ns, struct mh_probe_answer *answers,
		      uint32_t *n_answers);

/* ---- messages: platform/log.c ---- */

/*
 * mh_log makes a message of a level, MRC_LOG_ERROR to MRC_LOG_DEBUG, from a format and arguments of
 * printf; those whose level nobody wants cost a comparison. Bytes that are not printable become
 * '?', and what is longer than 1279 bytes is cut. errno stays. Any thread, under any lock.
 */
void mh_log(enum mrc_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* mh_log_wants says whether messages of a level go anywhere: for what is costly to put together. */
bool mh_log_wants(enum mrc_log_level level);

/* ---- what a controller decides: node/node_state.h ---- */

struct mn_state;
struct mn_device;

/*
 * mh_node_change lets `change` make one or more changes of a copy of the device's state, for which
 * it is given what to check them against. What it did takes effect before the call returns, whether
 * or not it returns 0: a batch may succeed in part. Where the processes of the host share a state
 * it is in force for all, or for none: `change` may be called again, each time with another copy,
 * and the call waits for mrcd, for 5 s each time at most.
 *
 * *in_force, unless it is NULL, says whether what it did, all or a part, counts; an error is its
 * own then.
 *
 * Returns what it returned, or EINVAL: a CC profile has parameters that fit no NIC of this rate;
 * EPERM: this user may not change what all share; EAGAIN: others changed it all the time;
 * ETIMEDOUT: mrcd does not answer, but may do it yet; EIO: the store cannot be read or written, or
 * mrcd refuses; after these nothing has changed. ENOMEM: some of it may be without effect; ENODEV:
 * the device is that of the process that forked this one.
 */
int mh_node_change(struct mh_device *dev,
		   int (*change)(struct mn_state *state, const struct mn_device *d, void *ctx),
		   void *ctx, bool *in_force);
/*
 * mh_node_read shows the present state to `read`, which must not call into the NIC. ENODEV: the
 * device is that of the process that forked this one.
 */
int mh_node_read(struct mh_device *dev, void (*read)(const struct mn_state *state, void *ctx),
		 void *ctx);

enum mh_ev_state {
	MH_EV_GOOD,
	MH_EV_BAD, /* to one of the destinations of this process at least */
	MH_EV_DENIED,
	MH_EV_UNKNOWN, /* no QP of this process uses it */
};

#define MH_EVS_MAX 1024u
/*
 * mh_ev_profile_states writes the state of each EV of a profile and returns how many there are, 0
 * for a profile that QPs cannot use, unless it is OFFLINE and AUTO: its denials are known. states
 * has room for MH_EVS_MAX, of which the others stay as they are. The device is this process's own.
 */
uint32_t mh_ev_profile_states(struct mh_device *dev, uint32_t profile, enum mh_ev_state *states);

/* An EV became GOOD or ASSUMED_BAD for a destination of this process. */
struct mh_ev_event {
	uint32_t profile;
	uint8_t val[32]; /* as in struct mn_ev */
	uint8_t port;	 /* from 1 */
	bool good;
	uint32_t dropped; /* events before this one that found no room */
};

/* mh_ev_cq_create makes a CQ for EV events, as mh_cq_create; no QP can have it. */
int mh_ev_cq_create(struct mh_device *dev, uint32_t cqe, struct mh_channel *channel, void *owner,
		    struct mh_cq **cq);
/*
 * mh_ev_cq_poll takes at most n events, oldest first, and returns how many. -EINVAL: another kind
 * of CQ. -ENODEV as everywhere.
 */
int mh_ev_cq_poll(struct mh_cq *cq, uint32_t n, struct mh_ev_event *events);

/* A counter of the process; name and text are constants. */
struct mh_counter {
	const char *name;
	const char *text;
	uint64_t value;
};

/* ---- asynchronous events ---- */

enum mh_async_type {
	MH_ASYNC_CQ_ERR,   /* cq: overrun; its QPs went to ERR */
	MH_ASYNC_QP_FATAL, /* qp: went to ERR by itself (retries exhausted, refused by the peer) */
	MH_ASYNC_SQ_DRAINED, /* qp: in SQD, what had begun is complete; sqd_notify was set */
	MH_ASYNC_LAST_WQE,  /* qp: with an SRQ, went to ERR, and its last completion is in its CQ */
	MH_ASYNC_SRQ_LIMIT, /* srq: fewer receives are posted than its limit, which is none now */
	MH_ASYNC_PORT_DOWN, /* the last plane that was up went down */
	MH_ASYNC_PORT_UP,   /* a plane is up again after all were down */
};

struct mh_async_event {
	enum mh_async_type type;
	struct mh_cq *cq;	  /* of CQ_ERR, else NULL */
	struct mh_qp *qp;	  /* of QP_FATAL, SQ_DRAINED and LAST_WQE, else NULL */
	struct mh_srq *srq;	  /* of SRQ_LIMIT, else NULL */
	void *owner;		  /* of that CQ, QP or SRQ, or of the device */
	enum rd_wc_status status; /* of QP_FATAL: why */
	bool responder;		  /* of QP_FATAL: the peer did wrong, no send WR of ours failed */
};

/*
 * mh_async_fd returns a descriptor that polls readable while an event waits. The caller may set
 * or clear O_NONBLOCK on it and poll it, but must not read, write or close it.
 */
int mh_async_fd(const struct mh_device *dev);
/*
 * mh_async_get takes the oldest event. Blocks while there is none, unless the descriptor is
 * O_NONBLOCK: then EAGAIN. EINTR: a signal handler ran. Every event taken must be acknowledged.
 */
int mh_async_get(struct mh_device *dev, struct mh_async_event *event);
/* mh_async_ack says that the event is dealt with and its object may be destroyed. */
void mh_async_ack(struct mh_device *dev, const struct mh_async_event *event);

/* ---- protection domains and memory ---- */

int mh_pd_create(struct mh_device *dev, void *owner, struct mh_pd **pd);
/* mh_pd_destroy: EBUSY while an MR, SRQ or QP of the PD is there. */
int mh_pd_destroy(struct mh_pd *pd);
/* mh_pd_find: as mh_device_find, for the PDs of all openings. */
struct mh_pd *mh_pd_find(const void *owner);

/*
 * mh_mr_reg makes [addr, addr + length) usable for local SGEs and, with the remote rights, for the
 * WRITEs, READs and atomics of peers. WRs name its bytes as iova .. iova + length; pass iova =
 * (uintptr_t)addr for the usual case. Nothing is pinned or copied: the memory stays the caller's
 * and should stay mapped until mh_mr_dereg has returned: a WR or packet that meets a page which is
 * gone ends its QP. EFAULT: a page of the range is not mapped, or not writable though the access
 * wants it. EINVAL: unknown access bits, REMOTE_WRITE or REMOTE_ATOMIC without LOCAL_WRITE, a range
 * that wraps around, length 0. ENOMEM: max_mr are registered.
 */
int mh_mr_reg(struct mh_pd *pd, void *addr, size_t length, uint64_t iova, uint32_t access,
	      struct mh_mr **mr);
/*
 * mh_mr_reg_null registers nothing: its key stands in SGEs of RC QPs for any bytes, which read as
 * zeros, and what is written to them is gone. Peers have no right to it. ENOMEM: as mh_mr_reg.
 */
int mh_mr_reg_null(struct mh_pd *pd, struct mh_mr **mr);
/* What changes of a registration. */
enum mh_mr_mask {
	MH_MR_MEMORY = 1u << 0, /* addr, length, iova */
	MH_MR_PD = 1u << 1,
	MH_MR_ACCESS = 1u << 2,
};

struct mh_mr_change {
	uint32_t mask; /* enum mh_mr_mask */
	void *addr;
	size_t length;
	uint64_t iova;
	struct mh_pd *pd;
	uint32_t access;
};

/*
 * mh_mr_rereg changes a registration under the keys that it has. What is under way meets the old or
 * the new one. Errors as mh_mr_reg, and EBUSY: memory windows are bound to it; the old one stands.
 */
int mh_mr_rereg(struct mh_mr *mr, const struct mh_mr_change *change);
/*
 * mh_mr_dereg makes the keys invalid and frees the MR. Once it has returned, nothing reads or
 * writes the memory any more. WRs that still name the MR fail: their QP goes to ERR. EBUSY: memory
 * windows are bound to it.
 */
int mh_mr_dereg(struct mh_mr *mr);
uint32_t mh_mr_lkey(const struct mh_mr *mr);
uint32_t mh_mr_rkey(const struct mh_mr *mr);

/* ---- memory windows ---- */

/*
 * mh_mw_alloc makes a window, bound to nothing: WRs bind it, see struct rd_bind. EINVAL: type.
 * EOPNOTSUPP: max_mw is 0. ENOMEM: max_mr MRs and windows are there.
 */
int mh_mw_alloc(struct mh_pd *pd, enum rd_mw_type type, struct mh_mw **mw);
/*
 * mh_mw_dealloc frees a window, bound or not. Once it has returned no peer finds anything under its
 * key. A WR that would bind it and is not complete must not be there.
 */
int mh_mw_dealloc(struct mh_mw *mw);
/* mh_mw_rkey returns the key of the bind that was posted last, before that one that is good for
 * nothing. */
uint32_t mh_mw_rkey(const struct mh_mw *mw);

/* ---- completion channels ---- */

int mh_channel_create(struct mh_device *dev, struct mh_channel **channel);
/* mh_channel_destroy: EBUSY while a CQ uses it. */
int mh_channel_destroy(struct mh_channel *channel);
/* mh_channel_fd: as mh_async_fd, for completion events. In a forked child -ENODEV. */
int mh_channel_fd(const struct mh_channel *channel);
/*
 * mh_channel_get takes the oldest completion event and names its CQ. Blocks in read(2), without
 * using CPU, while there is none, unless the descriptor is O_NONBLOCK: then EAGAIN. EINTR: a
 * signal handler ran. Every event taken must be acknowledged with mh_cq_ack_events.
 */
int mh_channel_get(struct mh_channel *channel, struct mh_cq **cq);

/* ---- completion queues ---- */

struct mh_wc {
	uint64_t wr_id;
	enum rd_wc_status status;
	enum rd_wc_opcode opcode;
	uint32_t byte_len; /* RECV_IMM, RECV: length of the peer's message; READ, atomics: got */
	uint32_t imm;	   /* host order number; big-endian on the wire */
	uint32_t qpn;
	uint32_t flags;	  /* enum rd_wc_flags */
	uint32_t src_qpn; /* RECV of a UD QP: who sent it; else 0 */
	void *qp_owner;
	uint64_t done_ns; /* when the NIC saw it complete, by CLOCK_MONOTONIC */
};

/*
 * mh_cq_create makes a CQ for at least cqe completions, 1 .. max_cqe (else EINVAL). channel may be
 * NULL: then req_notify has no effect. ENOMEM.
 */
int mh_cq_create(struct mh_device *dev, uint32_t cqe, struct mh_channel *channel, void *owner,
		 struct mh_cq **cq);
/*
 * mh_cq_destroy: EBUSY while a QP uses it. Blocks until all its events that were taken are
 * acknowledged; events not taken yet vanish.
 */
int mh_cq_destroy(struct mh_cq *cq);
void *mh_cq_owner(const struct mh_cq *cq);
/* mh_cq_size returns how many completions it holds, >= the cqe asked for. */
uint32_t mh_cq_size(const struct mh_cq *cq);
/*
 * mh_cq_resize gives it room for at least cqe completions; those that it holds stay. EINVAL: more
 * than cqe are there, or cqe is out of range. EOVERFLOW: it has overrun. ENOMEM.
 */
int mh_cq_resize(struct mh_cq *cq, uint32_t cqe);
/*
 * mh_cq_poll takes at most n completions, oldest first, and returns how many. When there is none it
 * lets the NIC make progress once and looks again; it never blocks, but where threads outnumber
 * cores it leaves its core to others for at most 100 us. -EOVERFLOW: the CQ has overrun
 * and what it held has been taken; destroy it.
 */
int mh_cq_poll(struct mh_cq *cq, uint32_t n, struct mh_wc *wc);
/*
 * mh_cq_req_notify asks for one event on the channel when the next completion is added; with
 * solicited_only, when the next one is solicited or an error. Completions already there do not
 * count: poll once more after this call before blocking. ENODEV: this is a forked child.
 */
int mh_cq_req_notify(struct mh_cq *cq, bool solicited_only);
/* mh_cq_ack_events acknowledges n events taken from the channel; n <= those taken. */
void mh_cq_ack_events(struct mh_cq *cq, uint32_t n);

/* ---- queue pairs ---- */

struct mh_qp_cap {
	uint32_t max_send_wr;  /* 1 .. device's */
	uint32_t max_recv_wr;  /* 0 .. device's */
	uint32_t max_send_sge; /* 1 .. device's */
	uint32_t max_recv_sge; /* 0 .. device's; for SEND, and without it not looked at */
	uint32_t max_inline;   /* 0 .. device's */
};

enum mh_qp_type {
	MH_QPT_RC, /* has one peer, on MRC */
	MH_QPT_UD, /* sends datagrams of at most max_mtu bytes to anyone; nothing comes again */
	MH_QPT_UC, /* so too, of at most path_mtu bytes to one peer */
};

struct mh_qp_init {
	struct mh_pd *pd;
	struct mh_cq *send_cq, *recv_cq; /* may be the same */
	struct mh_qp_cap cap;
	bool signal_all; /* every send WR makes a completion, not only signalled ones */
	/*
	 * Use the operations of docs/protocol.md where the peer knows them, too. Otherwise, and
	 * with a peer that does not, a QP has WRITE and WRITE_WITH_IMM. Of RC QPs only.
	 */
	bool extended;
	/*
	 * Where receives come from; NULL: from mh_qp_post_recv. Extended, UD and UC QPs only; of
	 * the same opening. max_recv_wr and max_recv_sge are not looked at then, and read as 0.
	 */
	struct mh_srq *srq;
	enum mh_qp_type type;
	void *owner;
};

/* What a UD QP has of these. */
#define MH_QP_UD_ALL \
	((uint32_t)RD_QP_STATE | RD_QP_SQ_PSN | RD_QP_P_KEY | RD_QP_SQD_NOTIFY | RD_QP_Q_KEY)
/* And a UC QP. */
#define MH_QP_UC_ALL                                                                          \
	((uint32_t)RD_QP_STATE | RD_QP_SQ_PSN | RD_QP_P_KEY | RD_QP_SQD_NOTIFY | RD_QP_DEST | \
	 RD_QP_RQ_PSN | RD_QP_PATH_MTU | RD_QP_ACCESS)

/*
 * mh_qp_create makes a QP in RESET. EINVAL: a capability outside its range, CQs of different
 * openings, a PD of another device. ENOMEM: memory, or max_qp QPs are there or were a second ago.
 */
int mh_qp_create(const struct mh_qp_init *init, struct mh_qp **qp);
/*
 * mh_qp_destroy takes the QP away; its completions not yet polled vanish from the CQs. Blocks until
 * its asynchronous events that were taken are acknowledged.
 */
int mh_qp_destroy(struct mh_qp *qp);
uint32_t mh_qp_number(const struct mh_qp *qp);
/* mh_qp_init_query returns what the QP was made with; capabilities as granted, >= those asked. */
void mh_qp_init_query(const struct mh_qp *qp, struct mh_qp_init *init);
/* mh_qp_attr_default fills in what a new QP has. */
void mh_qp_attr_default(struct rd_qp_attr *attr);
/*
 * mh_qp_modify sets the attributes in mask, then, with RD_QP_STATE, the state. All is checked
 * first. ERR flushes what is queued; RESET drops it and its completions; SQD finishes the send WRs
 * of which something was sent and begins no other before RTS. EINVAL: an unknown bit, a value
 * outside its range, an address that is not of this device's family, RTR without a destination, or
 * a transition that does not exist. ENOMEM.
 */
int mh_qp_modify(struct mh_qp *qp, const struct rd_qp_attr *attr, uint32_t mask);
/* mh_qp_query reads them all. In a forked child it returns ENODEV, and attr has state ERR. */
int mh_qp_query(const struct mh_qp *qp, struct rd_qp_attr *attr);

/* What a WR binds: [addr, addr + length) in the iova space of mr, which grants MW_BIND. */
struct rd_bind {
	struct mh_mw *mw;
	const struct mh_mr *mr; /* NULL: to nothing, with length 0; type 1 only */
	uint64_t addr, length;
	uint32_t access; /* enum rd_access, for peers; LOCAL_WRITE says nothing */
	bool zero_based; /* peers count from 0, not from addr */
};

/*
 * mh_qp_post_send queues n WRs in order. They are sent now, or, if the program polls, with its
 * next poll that finds nothing, or when posts have come together; docs/threads.md. *posted, if not
 * NULL, is how many were queued, also on an error: the error is that of wr[*posted]. EINVAL: not
 * in RTS, SQD or ERR (in ERR it is flushed), too many SGEs or inline bytes, 2^32 bytes and more,
 * an unknown flag, an operation that the QP has not, a READ or atomic that is inline (an
 * ATOMIC_WRITE may), has an immediate, or whose QP has max_rd_atomic 0, an atomic whose SGEs are
 * not of 8 bytes. EFAULT: an SGE outside the MRs of the QP's PD; on an extended QP such a WR is
 * queued and ends it with RD_WC_LOC_PROT_ERR when its turn comes. ENOMEM: max_send_wr are not yet
 * polled (poll, then call again), or no memory.
 *
 * A UD QP's WR completes when its datagram is handed to the wire; one longer than max_mtu completes
 * and is not sent, as IBTA wants it; SGEs are looked at when it is sent (LOC_PROT_ERR). EINVAL
 * also: no AH, a QPN of more than 24 bits, a host that no way leads to. Of a UC QP's WR `ud` is not
 * looked at, and one that is longer than path_mtu is EINVAL.
 */
int mh_qp_post_send(struct mh_qp *qp, const struct rd_send_wr *wr, uint32_t n, uint32_t *posted);
/* mh_qp_send_wrs_free returns how many send WRs would find a place now. */
uint32_t mh_qp_send_wrs_free(const struct mh_qp *qp);
/*
 * mh_qp_post_recv queues n receives, each for one WRITE_WITH_IMM or, of an extended QP, SEND. What
 * their SGEs name is looked at when a message comes: where memory may not be written, the receive
 * completes with RD_WC_LOC_PROT_ERR and the QP is in ERR. EINVAL: in RESET, the QP has an SRQ, or
 * too many SGEs. ENOMEM: max_recv_wr are queued. *posted as above.
 * A receive of a UD QP takes one datagram and needs MU_GRH_BYTES (ud.h) more than that has, for
 * an IPv6 header with the GIDs; byte_len includes it. One of a UC QP gets the payload alone.
 */
int mh_qp_post_recv(struct mh_qp *qp, const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted);

/* ---- shared receive queues, for extended QPs ---- */

struct mh_srq_cap {
	uint32_t max_wr;  /* 1 .. the device's max_recv_wr */
	uint32_t max_sge; /* of each, 0 .. the device's */
};

/*
 * mh_srq_create makes a queue of receives for several QPs. The memory of its receives is of `pd`,
 * whatever that of the QPs is. EINVAL: cap. ENOMEM.
 */
int mh_srq_create(struct mh_pd *pd, const struct mh_srq_cap *cap, void *owner, struct mh_srq **srq);
/*
 * mh_srq_destroy: EBUSY while a QP has it. Blocks until its asynchronous events that were taken are
 * acknowledged. Receives that are posted vanish.
 */
int mh_srq_destroy(struct mh_srq *srq);
/* mh_srq_query returns what it was made with, and the limit that is armed, 0 for none. */
void mh_srq_query(const struct mh_srq *srq, struct mh_srq_cap *cap, uint32_t *limit);
/*
 * mh_srq_resize makes room for max_wr receives, 1 .. the device's; those that it holds stay. QPs
 * that are there take no more of them at a time than before. EINVAL: more are posted, or taken and
 * not polled, or the limit that is armed is higher. ENOMEM.
 */
int mh_srq_resize(struct mh_srq *srq, uint32_t max_wr);
/*
 * mh_srq_arm asks for one MH_ASYNC_SRQ_LIMIT when fewer receives than `limit` are posted, at once
 * if they are; 0: for none. EINVAL: more than max_wr.
 */
int mh_srq_arm(struct mh_srq *srq, uint32_t limit);
/*
 * mh_srq_post queues n receives. What their SGEs name is looked at when a message comes: a receive
 * whose memory may not be written ends the QP of that message with RD_WC_LOC_PROT_ERR. EINVAL: too
 * many SGEs. ENOMEM: max_wr are queued, or taken by QPs and their completions on the way. *posted
 * as mh_qp_post_send.
 */
int mh_srq_post(struct mh_srq *srq, const struct rd_recv_wr *wr, uint32_t n, uint32_t *posted);

#pragma GCC visibility pop

#endif
