/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame_capture.h - what travels over some links of a run, as the frames that would be there: outer
 * IPv6 with the uSIDs that are left at that hop, inner IPv6, UDP, the MRC headers bit for bit,
 * payload (all zeros) and a right ICRC. As a pcapng file, with an interface for each link; packets
 * begin with an IP header.
 *
 * Threads may hand packets over at once; the file has them in the order of time.
 */
#ifndef SOFTMRC_SIM_MRC_FRAME_CAPTURE_H
#define SOFTMRC_SIM_MRC_FRAME_CAPTURE_H

#include <stdio.h>

#include "fabric/topology.h"
#include "sim/kernel/sim_packet.h"

struct ms_capture;

/*
 * ms_capture_create begins a capture of n links to `to`, which stays the caller's; of each file
 * only the first `packets` packets are kept. Allocates; NULL: no memory. topology outlives it.
 */
struct ms_capture *ms_capture_create(const struct mf_topology *topology, const uint32_t *links,
				     uint32_t n, uint64_t packets, FILE *to);
/* ms_capture_destroy frees it; what was not flushed is lost. NULL is nothing. */
void ms_capture_destroy(struct ms_capture *c);

uint32_t ms_capture_links(const struct ms_capture *c);
uint32_t ms_capture_link(const struct ms_capture *c, uint32_t i);

/* ms_capture_add_packet keeps a packet that begins to be sent on a link. Any thread. */
void ms_capture_add_packet(struct ms_capture *c, uint32_t link, uint64_t now_ps,
			   const struct ms_packet *p);
/*
 * ms_capture_flush writes what was taken since; no other call at the same time, and nothing may
 * come later that was sent earlier. false: the file cannot be written (errno), or memory ran out.
 */
bool ms_capture_flush(struct ms_capture *c);

/* Room for the longest frame: headers, 4096 bytes, pad and ICRC. */
#define MS_CAPTURE_FRAME_MAX 4352u

/*
 * ms_capture_frame writes the frame of a packet on a link, as it would be cut there, and returns
 * its bytes; 0: the packet does not take that link.
 */
uint32_t ms_capture_frame(const struct mf_topology *t, uint32_t link, const struct ms_packet *p,
			  uint8_t out[MS_CAPTURE_FRAME_MAX]);

#endif
