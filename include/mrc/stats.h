/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.h - the statistics segment: what a running process of softmrc lets others see.
 *
 * A process that opens the device creates DIR/<pid>.mrcstats, maps it and refreshes it about 20
 * times a second from its progress thread. DIR is what MRC_STATS_DIR or, in the configuration file,
 * statistics.dir names; otherwise MRC_STATS_DIR_PREFIX and the number of its user, a folder for
 * this user alone, where no file is no error. The file is removed when the device is closed in
 * order, unless MRC_STATS_KEEP is on, and kept after a crash; while the process lives it holds an
 * exclusive flock(2) on it, so that who can have the lock knows that the file is of the past.
 *
 * Only its user may read it, and the group that MRC_STATS_GROUP or, in the configuration file,
 * statistics.group names. Readers copy it with pread(2) and do not map it: who may write a file
 * may shorten it as well, which is a SIGBUS for those that have it mapped; and they trust no number
 * and no text in it. Each number is stored whole, but two numbers may be from different moments;
 * `updated_ns` is stored last. `mrc top` shows it all.
 *
 * Version 2 added addresses and rates of ports, the second half of struct mrc_stats_qp, and the
 * default folder. Version 3 added the log of events, version 4 the interfaces of ports and what
 * carries packets, version 5 room for more counters, version 6 sums over all QPs, however many
 * there are, version 7 the state that controllers have decided, version 8 the profile of an event's
 * EV, version 9 the profiles that QPs use. A reader must refuse a version that it does not know.
 */
#ifndef MRC_STATS_H
#define MRC_STATS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_STATS_MAGIC "MRCSTATS"
#define MRC_STATS_VERSION 9u
#define MRC_STATS_DIR_PREFIX "/dev/shm/softmrc-"
#define MRC_STATS_SUFFIX ".mrcstats"
#define MRC_STATS_PORTS 32u
#define MRC_STATS_COUNTERS 128u
#define MRC_STATS_QPS 64u
#define MRC_STATS_EVS 256u
#define MRC_STATS_EVENTS 1024u

struct mrc_stats_counter {
	char name[32]; /* terminated; empty behind the last counter */
	uint64_t value;
};

struct mrc_stats_port {
	uint64_t tx_packets, tx_bytes; /* UDP payload bytes */
	uint64_t rx_packets, rx_bytes;
	uint64_t rx_overruns; /* datagrams the kernel dropped because the socket buffer was full */
	uint64_t tx_refused;  /* frames that the kernel would not take */
	uint32_t up;	      /* 1: usable */
	uint16_t udp_port;    /* the process receives here */
	uint16_t slot;	      /* of the process; udp_port - slot is where the first one receives */
	uint8_t address[16];  /* local, IPv4-mapped */
	uint64_t pace_bps;    /* 0: not paced */
	char interface[16];   /* that its sockets are bound to; empty: to none */
	/* EVs by enum mrc_stats_ev_state, summed over all QPs: see mrc_stats_qps. */
	uint32_t evs[4];
	uint64_t evs_retired, evs_revived; /* became ASSUMED_BAD; became GOOD by probes */
	uint64_t ev_outage_ns; /* EVs that were ASSUMED_BAD or DENIED, times their time */
};

/* States of a QP, in the order of mrc_stats_qps.of_state. */
enum mrc_stats_qp_state {
	MRC_STATS_QP_RESET = 0,
	MRC_STATS_QP_INIT = 1,
	MRC_STATS_QP_RTR = 2,
	MRC_STATS_QP_RTS = 3,
	MRC_STATS_QP_SQD = 4,
	MRC_STATS_QP_ERR = 5,
	MRC_STATS_QP_STATES = 6,
};

/*
 * Sums over all QPs, also those beyond MRC_STATS_QPS and EVs beyond MRC_STATS_EVS; UD QPs are not
 * among them. A writer goes through its QPs in turn, so many EVs at each refresh, and stores these
 * and the EVs of ports when it has been through all: with many QPs that is some refreshes ago.
 */
struct mrc_stats_qps {
	uint32_t of_state[8];		    /* by enum mrc_stats_qp_state */
	uint32_t shown;			    /* of qp[] below, those in use */
	uint32_t rounds;		    /* through all of them; runs freely */
	uint64_t at_ns;			    /* end of the last round; 0: there was none yet */
	uint64_t inflight_bytes;	    /* sum */
	uint64_t lost_pending;		    /* sum: known lost, not yet sent again */
	uint64_t srtt_mean_ns, srtt_max_ns; /* of QPs that have one */
	/*
	 * QPs that stood still, times their time: at the end of a round the time since the last
	 * one is added for each QP with lost_pending, or with packets in flight of which none was
	 * acknowledged meanwhile. A sample, right on average over many rounds.
	 */
	uint64_t stalled_ns;
	/* Bit p: QPs beyond RESET have profile p. */
	uint32_t ev_profiles, cc_profiles;
};

/* What carries packets. */
enum mrc_stats_carrier {
	MRC_STATS_CARRIER_UDP = 0,
	MRC_STATS_CARRIER_AF_PACKET = 1,
	MRC_STATS_CARRIER_RAW41 = 2,
	MRC_STATS_CARRIER_SRV6_UDP = 3,	  /* UDP to lists of uSIDs */
	MRC_STATS_CARRIER_SRV6_RAW41 = 4, /* IPv6 in IPv6 to lists of uSIDs */
};

enum mrc_stats_ev_state {
	MRC_STATS_EV_GOOD = 0,
	MRC_STATS_EV_SKIP = 1,
	MRC_STATS_EV_ASSUMED_BAD = 2,
	MRC_STATS_EV_DENIED = 3,
};

struct mrc_stats_ev {
	uint32_t value;
	uint8_t port;
	uint8_t state;	  /* enum mrc_stats_ev_state */
	uint16_t retired; /* times, stops at 65535 */
};

struct mrc_stats_qp {
	uint32_t qpn; /* 0: entry unused, and all behind it */
	uint32_t dest_qpn;
	uint8_t dest[16]; /* GID */
	char state[8];	  /* "RTS", "ERR", ... */
	uint64_t psn_next, psn_una;
	uint64_t cwnd_bytes; /* UINT64_MAX: no congestion control */
	int64_t inflight_bytes;
	uint64_t srtt_ns;
	uint32_t evs; /* entries of ev[], of evs_all: those beyond MRC_STATS_EVS are cut off */
	uint32_t evs_good;
	uint64_t rtt_min_ns, reorder_window_ns;
	uint64_t psn_expected; /* as responder: lowest PSN not received */
	uint32_t lost_pending; /* known lost, not yet sent again */
	uint32_t evs_bad;
	uint32_t evs_all;
	uint32_t reserved;
	struct mrc_stats_ev ev[MRC_STATS_EVS];
};

enum mrc_stats_event_kind {
	MRC_STATS_EVENT_EV = 1,	       /* an EV of ours became GOOD or ASSUMED_BAD */
	MRC_STATS_EVENT_PORT = 2,      /* a port of ours came up or went down */
	MRC_STATS_EVENT_PEER_PORT = 3, /* a peer says so of one of its ports */
};

/* What made an EV change its state. */
enum mrc_stats_ev_cause {
	MRC_STATS_EV_BY_LOSS = 0,     /* a packet on it was lost */
	MRC_STATS_EV_BY_MARK = 1,     /* the responder said so */
	MRC_STATS_EV_BY_PROBE = 2,    /* probes on it were answered */
	MRC_STATS_EV_BY_FLOOR = 3,    /* too few others would have been left */
	MRC_STATS_EV_BY_OPERATOR = 4, /* denied, or allowed again */
	MRC_STATS_EV_BY_PORT = 5,     /* its port is back */
	MRC_STATS_EV_BY_LATE = 6,     /* its packets were late, not lost */
	MRC_STATS_EV_BY_HINT = 7,     /* another process found it bad; this one has sent nothing */
};

/* 40 bytes. */
struct mrc_stats_event {
	uint64_t at_ns; /* CLOCK_MONOTONIC, of the round of the engine that made it */
	uint32_t ev;	/* EV: value */
	uint8_t kind;	/* enum mrc_stats_event_kind */
	uint8_t port;
	uint8_t state;	     /* EV: enum mrc_stats_ev_state; else 1: up, 0: down */
	uint8_t cause;	     /* EV: enum mrc_stats_ev_cause */
	uint8_t peer[16];    /* GID; of EV and PEER_PORT */
	uint16_t ev_profile; /* EV: that it is of */
	uint16_t ev_index;   /* EV: its place there, from 0 */
	uint32_t reserved;
};

/* By which state of controllers the device goes, and why not by another one; see MRC_NODE_DIR. */
struct mrc_stats_node {
	char store[288];   /* path of the file; empty: none is wanted */
	char refused[200]; /* why what lies there was not taken; empty: it was, or there is none */
	char writer[40];   /* program and version that wrote the state */
	uint64_t generation; /* of the state; 0: none was taken, and nothing is decided */
	uint64_t written_ns; /* CLOCK_REALTIME */
	uint32_t writer_pid, writer_uid;
};

struct mrc_stats_segment {
	char magic[8]; /* MRC_STATS_MAGIC, no terminator; stored when all else is ready */
	uint32_t version;
	uint32_t pid;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	uint64_t updated_ns;
	uint8_t gid[16];
	uint32_t ports;
	uint32_t carrier;				      /* enum mrc_stats_carrier */
	struct mrc_stats_counter counter[MRC_STATS_COUNTERS]; /* sums over the process */
	struct mrc_stats_port port[MRC_STATS_PORTS];
	struct mrc_stats_qps qps;
	struct mrc_stats_node node;
	struct mrc_stats_qp qp[MRC_STATS_QPS]; /* the oldest */
	/*
	 * Events are stored when they happen. `events` counts all there ever were and is stored
	 * last; number n, from 0, is event[n % MRC_STATS_EVENTS] until number n + MRC_STATS_EVENTS
	 * comes: who copies one looks at the count again afterwards.
	 */
	uint64_t events;
	struct mrc_stats_event event[MRC_STATS_EVENTS];
};

#ifdef __cplusplus
}
#endif

#endif
