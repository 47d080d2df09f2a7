/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_ports.h - the ports of the NIC: one driver per plane, opened together or not at all.
 *
 * Several processes of one host share its addresses. Each claims a slot, 0 .. 1023, by binding the
 * receiving sockets of all its ports to UDP port 4791 (or as configured) + slot; the slot is in the
 * upper 10 bits of its QP numbers, so a peer finds the UDP port in the number of the QP it talks
 * to.
 */
#ifndef SOFTMRC_HOST_PORT_NIC_PORTS_H
#define SOFTMRC_HOST_PORT_NIC_PORTS_H

#include "host/config/env.h"
#include "io/drivers.h"
#include "io/io_port.h"
#include "node/node_state.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- a token bucket: how much data a port may send now, and when more: pace.c ---- */

/*
 * The bucket fills at the port's rate and holds twelve milliseconds of it, but at least two frames:
 * a thread that a busy machine wakes a few ticks late makes up for what it missed. Tokens are
 * counted in bits times 10^-9: then filling for dt ns is rate x dt, exact, without division.
 */

#define MH_PACE_RATE_MAX UINT64_C(1000000000000)

struct mh_pace {
	uint64_t rate_bps; /* 0: no pacing */
	uint64_t frame;	   /* tokens that the largest frame takes */
	uint64_t depth;
	uint64_t tokens;
	uint64_t filled_ns; /* when tokens was right */
};

/* mh_pace_init makes a full bucket; rate_bps 0 .. MH_PACE_RATE_MAX, frame_bytes 1 .. 65535. */
void mh_pace_init(struct mh_pace *p, uint64_t rate_bps, uint32_t frame_bytes, uint64_t now_ns);
/* mh_pace_frames fills the bucket up to now and returns how many largest frames it pays for. */
uint32_t mh_pace_frames(struct mh_pace *p, uint64_t now_ns);
/* mh_pace_consume pays for a frame; what is not there is no debt. */
void mh_pace_consume(struct mh_pace *p, uint32_t bytes);
/*
 * mh_pace_forgo leaves at most one frame in the bucket: for a port that nobody wants to use while
 * others have more to send than they may. What such a port saved up would leave in one burst when
 * it is wanted again, and packets of that burst arrive long after those that other ports send
 * meanwhile: they would be taken for lost.
 */
void mh_pace_forgo(struct mh_pace *p, uint64_t now_ns);
/*
 * mh_pace_deadline returns when it is worth asking again: an eighth of the bucket is there then,
 * and pays for a frame. Meaningful after mh_pace_frames returned 0; without pacing it is `now`.
 */
uint64_t mh_pace_deadline(const struct mh_pace *p);

/* ---- ports: nic_ports.c, nic_ports_watch.c ---- */

#define MH_QPN_INDEX_BITS 14u
#define MH_QPN_INDEX_MASK ((1u << MH_QPN_INDEX_BITS) - 1)
/* Numbers 0 to 2 have meanings of their own on the wire; a few more are left free. */
#define MH_QP_INDEX_FIRST 16u
#define MH_PORT_ERRORS_LOGGED 8u
#define MH_RX_BATCH 32u
/* After how long the kernel is asked for links again that it could not be asked for. */
#define MH_LINKS_RETRY_NS UINT64_C(100000000)

struct mh_port {
	struct mio_port *io;
	struct mh_pace pace;
	bool up;	  /* may be used */
	uint8_t admin;	  /* enum mn_port_admin: what a controller wants of it */
	bool doubtful;	  /* it is used for want of a better one */
	uint32_t ifindex; /* of its interface */
	uint64_t refused_reported, overruns_reported;
	uint64_t refused_ns;		  /* when the system last refused a frame; 0: never */
	uint64_t icrc_wrong_ns;		  /* when a packet last had a wrong ICRC; 0: never */
	uint32_t icrc_wrong;		  /* since one had a right one */
	bool icrc_said;			  /* on stderr, that they are wrong */
	bool no_runs_said, oversize_said; /* likewise */
	int named[MH_PORT_ERRORS_LOGGED]; /* errno values that were said on stderr */
	/* The driver's last burst; frames behind rx_at were not looked at yet, see nic_rx.c. */
	struct mio_rx rx[MH_RX_BATCH];
	uint32_t rx_n, rx_at;
};

struct mh_ports {
	uint32_t n;
	bool quiet; /* another shard, with the same ports, says what is wrong with links */
	uint32_t slot;
	uint16_t udp_port; /* of slot 0. REQ(wire.udp.dport) */
	struct mh_addr_map map;
	struct mh_port port[MT_PORTS_MAX];
	/* When mh_ports_update_links is due without a change; read without the lock, too. */
	_Atomic uint64_t links_due_ns;
	struct mrc_fault_table *faults; /* NULL: none */
	struct mio_capture *capture;	/* NULL: none */
};

/*
 * mh_ports_open claims a slot and opens all ports. Where another program has one of the source
 * ports, and none were asked for, it moves env to the next ones. On an error nothing is open and
 * error says which port and why; EADDRINUSE also means that all slots are taken. Which ports are up
 * mh_ports_first_links finds out next.
 */
int mh_ports_open(struct mh_ports *ports, struct mh_env *env, uint64_t now_ns,
		  struct mio_error *error);
void mh_ports_close(struct mh_ports *ports);
/* mh_ports_close_inherited closes a forked child's copies of what is open, and frees nothing. */
void mh_ports_close_inherited(struct mh_ports *ports);

/* mh_ports_udp_of_slot returns the UDP port of a slot, on this host and on every other. */
static inline uint16_t mh_ports_udp_of_slot(const struct mh_ports *ports, uint32_t slot)
{
	return (uint16_t)(ports->udp_port + slot);
}

/* mh_ports_udp_of_qpn returns the UDP port at which a peer receives for its QP qpn. */
static inline uint16_t mh_ports_udp_of_qpn(const struct mh_ports *ports, uint32_t qpn)
{
	return mh_ports_udp_of_slot(ports, qpn >> MH_QPN_INDEX_BITS);
}

/*
 * mh_ports_reopen replaces the driver of port i, bound to the interface ifname unless that is NULL;
 * on an error it keeps the one it has.
 */
int mh_ports_reopen(struct mh_ports *ports, const struct mh_env *env, uint32_t i,
		    const char *ifname, uint64_t now_ns, struct mio_error *error);

/* mh_ports_first_links is mh_ports_update_links for ports that were just opened. */
void mh_ports_first_links(struct mh_ports *ports, const struct mh_env *env, uint64_t now_ns);
/*
 * mh_ports_update_links asks how the interfaces are now: ports whose link is down are put down,
 * those whose link is back are put up, opened anew if need be. Says so on stderr. Returns true when
 * a port's `up` changed. Where the kernel cannot be asked, ports stay as they are, and links_due_ns
 * says when to call again.
 */
bool mh_ports_update_links(struct mh_ports *ports, const struct mh_env *env, uint64_t now_ns);
/*
 * mh_ports_receives says whether what comes by a port is taken: a suspended one is down for what
 * goes out alone.
 */
static inline bool mh_ports_receives(const struct mh_port *port)
{
	return port->up || (port->admin == MN_PORT_SUSPENDED && port->io->status->error == 0);
}

/* mh_ports_overruns returns how many received frames the system threw away since the last call. */
uint64_t mh_ports_overruns(struct mh_ports *ports);
/*
 * mh_ports_check_errors says on stderr what went wrong at a port since the last call, each reason
 * once per port, and notices ports that died. Returns true when a port's `up` changed.
 */
bool mh_ports_check_errors(struct mh_ports *ports, uint64_t now_ns);
/* mh_ports_note_icrc notes a packet with a wrong ICRC, and says once that there are only such. */
void mh_ports_note_icrc(struct mh_ports *ports, uint32_t i, const uint8_t src[16], uint64_t now_ns);
/*
 * mh_ports_state_text writes why nothing may have come back on port i since since_ns; returns the
 * text.
 */
#define MH_PORT_STATE_MAX 120u
const char *mh_ports_state_text(const struct mh_ports *ports, uint32_t i, uint64_t since_ns,
				char text[MH_PORT_STATE_MAX]);
/* mh_ports_max_run returns the longest run, `wanted` at most, that every port takes as one. */
uint32_t mh_ports_max_run(const struct mh_ports *ports, uint32_t wanted);
/* mh_ports_up returns which ports are up, a mask. */
uint32_t mh_ports_up(const struct mh_ports *ports);

#endif
