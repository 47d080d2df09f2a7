/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prober.h - the probers of all hosts of a lab in one process: a socket stays in the network
 * namespace in which it was made, so one thread sends and receives for every host. What comes back,
 * and what does not, goes to a map.
 */
#ifndef SOFTMRC_CLI_MAP_PROBER_H
#define SOFTMRC_CLI_MAP_PROBER_H

#include "cli/map/probe_book.h"
#include "lab/lab.h"
#include "map/map.h"
#include "map/probe_plan.h"

#define PROBER_STEP_NS UINT64_C(10000000)
/* What a host may send: from one probe a second on each route of a lab to what a core can do. */
#define PROBER_RATE_MIN UINT64_C(100000)
#define PROBER_RATE_MAX UINT64_C(1000000000)

struct prober;

/* What the probes of all hosts came to. */
struct prober_figures {
	uint32_t hosts, routes;
	uint64_t interval_ns; /* from one pair of a route to the next */
	uint64_t bit_s;	      /* of the host that sends most */
	uint64_t sent, unsent, lost;
	uint64_t got[PROBE_VERDICTS];
};

/*
 * prober_open plans the probes of every host, which may send rate_bit_s each, and opens their
 * sockets and the map. NULL and a sentence: no memory, or a namespace that is gone. The lab must
 * outlive it; prober_close frees it, and may be given NULL.
 */
struct prober *prober_open(const struct ml_lab *lab, uint64_t rate_bit_s, struct ml_error *e);
void prober_close(struct prober *p);

/*
 * prober_step takes in what came, settles what is overdue and sends what is due. To be called
 * once every PROBER_STEP_NS; does not block.
 */
void prober_step(struct prober *p, uint64_t now_ns);

/* prober_map returns the map that the prober fills, for mm_map_judge. */
struct mm_map *prober_map(struct prober *p);
const struct prober_figures *prober_figures(const struct prober *p);

/* ---- sockets: probe_socket.c ---- */

/* What a packet says, and where it came in. */
struct probe_packet {
	uint32_t stream, seq;
	uint64_t nonce;
	bool asks;  /* a neighbour, which is to send it back */
	bool whole; /* its other bytes are as they were sent, here and where it was asked */
	uint32_t bytes;
	uint32_t port; /* of arrival: index of the interface */
};

#define PROBE_BYTES_MIN 128u
#define PROBE_BYTES_MAX 65536u
/* IPv6 and UDP. */
#define PROBE_HEADER_BYTES 48u

/* First bytes of a probe. */
#define PROBE_MAGIC 0x6d727063u

/* probe_packet_read reads what UDP carries, all but the port. False: it is no probe. */
bool probe_packet_read(const uint8_t *in, size_t bytes, struct probe_packet *p);

/*
 * probe_sockets_open opens one in each host; fd[] is -1 for all before. 0; -1 with a sentence: some
 * may be open.
 */
int probe_sockets_open(const struct ml_lab *lab, int *fd, uint16_t *port, struct ml_error *e);

/*
 * probe_send sends a packet to a list of uSIDs or an address, by a port (0: by the routes). 0; -1:
 * there was no room, it may be tried again. A network that refuses it has lost it.
 */
int probe_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
	       const struct probe_packet *packet);

/* probe_receive takes the next packet that waits. 1; 0: none; -1: what came is no probe. */
int probe_receive(int fd, struct probe_packet *packet);

/* ---- probes that come to the wrong host: stray_socket.c ---- */

/*
 * stray_sockets_open opens one in each host; fd[] is -1 for all before. 0; -1 with a sentence: some
 * may be open.
 */
int stray_sockets_open(const struct ml_lab *lab, int *fd, struct ml_error *e);
/* stray_receive takes the next packet of one. 1; 0: none; -1: what came is no probe. */
int stray_receive(int fd, struct probe_packet *packet);

#endif
