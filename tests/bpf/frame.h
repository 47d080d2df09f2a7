/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h - Ethernet frames as they come to a switch port: an MRC packet or something else in each
 * of the forms that a fabric carries. Layouts are written down here once more, not taken from the
 * program under test.
 */
#ifndef BPF_FRAME_H
#define BPF_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX 9014u
#define FRAME_ETH 14u
#define FRAME_V6 40u
#define FRAME_SRH 24u /* with one segment */
#define FRAME_UDP 8u

enum frame_form {
	FRAME_DIRECT,	  /* IPv6 to a list of uSIDs | UDP */
	FRAME_INNER,	  /* IPv6 | IPv6 | UDP */
	FRAME_SRH_DIRECT, /* IPv6 | SRH | UDP */
	FRAME_SRH_INNER,  /* IPv6 | SRH | IPv6 | UDP */
	FRAME_V4,	  /* IPv4 | UDP */
	FRAME_TCP,	  /* IPv6 | TCP */
	FRAME_ARP,
	FRAME_FORMS,
};

struct frame {
	uint8_t bytes[FRAME_MAX];
	size_t len;
	size_t bth; /* where the MRC packet (or other payload) begins; 0 for ARP */
};

/*
 * frame_make fills a frame of `len` bytes; len must leave room for the headers. The MRC packet is a
 * WRITE with PSN `psn`, whole where it fits, else as much of it as there is room.
 */
void frame_make(struct frame *f, enum frame_form form, size_t len, uint8_t dscp, uint8_t ecn,
		uint32_t psn);

/* frame_headers returns the bytes in front of the MRC packet. */
size_t frame_headers(enum frame_form form);
/* frame_trimmable_form says whether the form has an outer IPv6 header. */
bool frame_outer_v6(enum frame_form form);
/* frame_dscp and frame_ecn read the outer header; frame_v4_sum_ok checks an IPv4 header. */
uint8_t frame_dscp(const uint8_t *bytes);
uint8_t frame_ecn(const uint8_t *bytes);
bool frame_v4_sum_ok(const uint8_t *bytes);

/*
 * frame_trimmed turns a frame into what a switch must make of it: cut to `bytes`, outer length and
 * DSCP rewritten, and, with `repair`, length and checksum of a UDP header that no inner header
 * hides (no checksum where there was none, or behind a routing header).
 */
void frame_trimmed(struct frame *f, enum frame_form form, size_t bytes, uint8_t dscp, bool repair);

#endif
