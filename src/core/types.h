/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types.h - the values that cross the core's boundary: addresses, work requests, descriptors,
 * events. All plain data; a comment at each pointer says who owns what it names.
 */
#ifndef SOFTMRC_CORE_TYPES_H
#define SOFTMRC_CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma/qp_attr.h"
#include "wire/dscp.h"
#include "wire/packet.h"

struct mt_engine;
struct mt_qp;
struct mt_srq;

/* Port status masks are 32 bits on the wire (ERTH), so an endpoint has at most 32 planes. */
#define MT_PORTS_MAX 32u
/* An EV index is 10 bits wherever one is stored; the published sets have 128 to 256 EVs. */
#define MT_EVS_MAX 1024u
/* MPR is 8 bits in units of 128 PSNs. REQ(wire.seth.mpr) */
#define MT_MPR_UNIT 128u
/* The kernel segments at most this many UDP datagrams from one message. */
#define MT_RUN_MAX 64u

/* What a call returns; negative is an error and nothing was changed. */
enum mt_result {
	MT_OK = 0,
	MT_ERR_INVALID = -1, /* an argument is outside its range */
	MT_ERR_STATE = -2,   /* not in this QP state */
	MT_ERR_MEMORY = -3,  /* the pool is empty: mt_engine_add_memory, and call again */
	MT_ERR_FULL = -4,    /* queue or table full: poll or release, then call again */
	MT_ERR_EXISTS = -5,  /* number or key is taken */
	MT_ERR_ACCESS = -6,  /* an SGE is not inside a local MR of the PD */
};

/* An EV: its value, which chooses a path, and the local port (= plane) it leaves from. */
struct mt_ev {
	uint32_t value;
	uint8_t port; /* 0 .. n_ports-1 */
};

/* lkey of memory of the adapter's own, which is not checked. */
#define MT_LKEY_ADAPTER 0u

/* A send WR that needs no packet; copied by mt_qp_post_local. */
struct mt_local_wr {
	uint64_t wr_id;
	uint64_t addr;	 /* BIND_MW: in the address space of the MR that lkey names ... */
	uint64_t length; /* ... 0: to nothing, type 1 only */
	uint32_t lkey;
	uint32_t rkey;	 /* LOCAL_INV: is invalid afterwards; BIND_MW: names the window then */
	uint32_t window; /* BIND_MW: its index */
	uint32_t access; /* BIND_MW: enum rd_access of peers; others are not looked at */
	uint32_t flags;	 /* RD_SEND_SIGNALED, RD_SEND_FENCE */
	bool zero_based; /* BIND_MW: peers count from 0 */
	enum rd_wr_opcode opcode;
};

/* How a packet was cut by a switch, from its DSCP. */
enum mt_trim {
	MT_TRIM_NONE,
	MT_TRIM_MIDPATH,
	MT_TRIM_LASTHOP,
};

/* Everything about a received packet that is not in its bytes. */
struct mt_rx_meta {
	struct rd_gid src;
	uint32_t ev;  /* as ev_fmt reads it from the carrying headers */
	uint8_t port; /* the port it came in on */
	uint8_t trim; /* enum mt_trim */
	bool ecn_ce;  /* congestion experienced, outer or inner header */
	bool icrc_ok; /* verified; ignored for a trimmed packet, whose ICRC is gone */
};

/*
 * One packet to send now. Payload is named, not pointed to: pkt.payload_len bytes from
 * `offset` on of the byte string that the SGEs name in order. The SGEs belong to the WQE and stay
 * valid until the next call on this engine.
 */
struct mt_tx_desc {
	struct mw_packet pkt;
	struct rd_gid dst;
	const struct rd_sge *sge;
	uint32_t n_sge;
	uint32_t offset;
	uint32_t ev;
	uint8_t port;
	uint8_t tclass; /* enum mw_dscp_class, which mw_dscp_class_of_opcode tells */
	/*
	 * Which of the engines behind dst it is for, where pkt.bth.dqp is that of the endpoint; for
	 * every other packet the destination QPN says so itself.
	 */
	uint16_t endpoint;
	void *qp_user; /* of the sending QP; NULL for a packet of the endpoint */
};

/*
 * A request to another endpoint, which needs no QP: it probes an EV, or says which ports are up.
 * Its end is an event MT_EVENT_ENDPOINT, answered or not.
 */
struct mt_ep_request {
	struct rd_gid dst;
	uint16_t endpoint; /* which of the engines behind dst, 0 .. MT_ENDPOINTS_MAX - 1 */
	struct mt_ev ev;   /* to be sent with, from a port that is up */
	uint8_t op;	   /* enum mw_ep_op */
	/* enum mw_dscp_class: CONTROL, or one of data; the answer always comes in CONTROL */
	uint8_t tclass;
	bool id_given; /* `id` is to be used; otherwise the engine chooses one */
	uint16_t id;
	uint32_t port_mask;  /* MW_EP_PORT_STATUS: bit set: port reachable */
	uint64_t timeout_ns; /* 1 .. 2^36 */
	uint64_t user;	     /* comes back in the event's wr_id */
};
/* Several engines may share an address; this many at most can be distinguished. */
#define MT_ENDPOINTS_MAX 1024u

/* What became of a request. */
enum mt_ep_status {
	MT_EP_ANSWERED,
	MT_EP_TIMED_OUT,
};

/* An EV's health as a controller sees it. SKIP is of a QP: it skips a congested EV once. */
enum mt_ev_state {
	MT_EV_GOOD,
	MT_EV_SKIP,
	MT_EV_ASSUMED_BAD,
	MT_EV_DENIED,
	MT_EV_STATES,
};

/* What made an EV change its state. */
enum mt_ev_cause {
	MT_EV_BY_LOSS,	   /* a packet on it was lost without a trim notice */
	MT_EV_BY_MARK,	   /* the responder says ALWAYS_SKIP */
	MT_EV_BY_PROBE,	   /* enough probes in a row were answered */
	MT_EV_BY_FLOOR,	   /* taken back because too few would be left */
	MT_EV_BY_OPERATOR, /* denied, or allowed again */
	MT_EV_BY_PORT,	   /* its port is back, and its losses were those of the port */
	MT_EV_BY_LATE,	   /* what was lost on it is late: in time for the window, or never */
	MT_EV_BY_HINT,	   /* another process found it bad, and it is to be proved before its use */
	MT_EV_CAUSES,
};

enum mt_event_type {
	MT_EVENT_SEND,	     /* a send WR is complete */
	MT_EVENT_RECV,	     /* immediate data or a SEND used up a receive WR, or one was flushed */
	MT_EVENT_QP,	     /* a QP went to ERR by itself */
	MT_EVENT_SQ_DRAINED, /* a QP in SQD has completed every send WR that had begun */
	MT_EVENT_LAST_WQE,   /* a QP with an SRQ went to ERR: it takes no receive any more */
	MT_EVENT_SRQ_LIMIT,  /* an SRQ has fewer receives than its limit */
	MT_EVENT_EV,	     /* an EV became GOOD or ASSUMED_BAD */
	MT_EVENT_PORT,	     /* a port of ours, or a peer's as we see it, went down or came back */
	MT_EVENT_ENDPOINT,   /* an endpoint request was answered, or was not */
};

/* What engine_poll reports. `qp_user` is the cookie given when the QP was made. */
struct mt_event {
	uint8_t type;		  /* enum mt_event_type */
	uint8_t status;		  /* SEND, RECV, QP: enum rd_wc_status */
	bool imm_valid;		  /* RECV: `imm` came; not for a flushed receive */
	bool invalidated;	  /* RECV: it made a window invalid, whose rkey is in `imm` */
	bool solicited;		  /* RECV: BTH.SE was set */
	bool with_imm;		  /* SEND: the WR had immediate data */
	uint8_t opcode;		  /* SEND: enum rd_wr_opcode of the WR; RECV: of the peer's */
	bool responder;		  /* QP: the peer's request was at fault, not one of ours */
	uint8_t ev_state;	  /* EV: enum mt_ev_state */
	uint8_t ev_cause;	  /* EV: enum mt_ev_cause */
	bool port_up;		  /* PORT */
	bool port_of_peer;	  /* PORT: it is a port of `peer`; otherwise our own */
	uint8_t ep_status;	  /* ENDPOINT: enum mt_ep_status */
	uint8_t ep_op;		  /* ENDPOINT: enum mw_ep_op */
	bool svc_time_subtracted; /* ENDPOINT: rtt_ns is without the time that the peer took */
	uint8_t ep_port;	  /* ENDPOINT: when answered, that the answer came in by */
	uint16_t ep_id;		  /* ENDPOINT */
	uint16_t ev_profile;	  /* EV: the profile that it is of ... */
	uint16_t ev_index;	  /* ... and its place there */
	void *qp_user;		  /* NULL for EV, PORT and ENDPOINT events; SRQ_LIMIT: of the SRQ */
	uint64_t wr_id;		  /* ENDPOINT: the request's `user` */
	uint64_t rtt_ns;	  /* ENDPOINT: when answered */
	uint32_t imm;
	uint32_t byte_len;
	struct mt_ev ev;    /* EV; ENDPOINT: of the request; PORT: the port only */
	struct rd_gid peer; /* EV: the destination for which it holds; ENDPOINT: who was asked */
};

#endif
