/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h - frames of capture files, and the MRC packets in them as text and JSON. */
#ifndef SOFTMRC_CLI_DUMP_DUMP_H
#define SOFTMRC_CLI_DUMP_DUMP_H

#include "ui/text.h"
#include "wire/datagram.h"
#include "wire/dscp.h"
#include "wire/ip_udp.h"
#include "wire/packet.h"
#include "wire/srv6.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The IP packets of a capture file, pcap or pcapng, of either byte order.
 *
 * Reads what softmrc, tcpdump and Wireshark write: raw IP, Ethernet (one VLAN tag), Linux cooked.
 * Nothing in the file is trusted.
 */

#define DUMP_INTERFACES_MAX 4096u
#define DUMP_INTERFACE_NAME 33u
#define DUMP_FRAME_MAX 262144u

struct dump_interface {
	char name[DUMP_INTERFACE_NAME]; /* empty: the file does not say */
	uint32_t link_type;
	uint64_t units_per_s; /* of time stamps */
};

struct dump_reader {
	FILE *from;
	bool swapped; /* the file has the other byte order */
	bool pcapng;
	uint32_t n_interfaces;
	struct dump_interface *interfaces; /* owned; DUMP_INTERFACES_MAX */
	uint8_t *block;			   /* owned; the last that was read */
	uint32_t block_bytes;
	uint64_t offset; /* in the file, for messages */
	char error[128]; /* what was wrong with the file; empty: nothing */
};

/* A packet of the file, from its IP header on; valid until the next one is read. */
struct dump_frame {
	uint64_t time_ns; /* since 1970 */
	const char *interface;
	const uint8_t *ip;
	size_t len;	    /* bytes of it that are there */
	uint32_t link_type; /* when ip is NULL: a link or protocol that carries no IP */
};

/*
 * dump_reader_open reads the beginning of a file that stays the caller's. False: it is no capture,
 * or memory is gone; r->error says so. dump_reader_close may follow in both cases.
 */
bool dump_reader_open(struct dump_reader *r, FILE *from);
void dump_reader_close(struct dump_reader *r);

/*
 * dump_reader_next reads the next packet. False: the file ends, or, with r->error, it is broken.
 * Blocks as reading `from` does.
 */
bool dump_reader_next(struct dump_reader *r, struct dump_frame *frame);

/* One captured IP packet of MRC: read, written as a line, written as JSON. */

struct dump_packet {
	const struct dump_frame *frame;
	struct mw_ip_udp ip; /* of the inner header, where there are two */
	bool tunnelled;	     /* IPv6 in IPv6 */
	uint8_t outer_src[16], outer_dst[16];
	/* Of the outermost destination; n is 0 where it is no list, block too without a tunnel. */
	struct mw_usids usids;
	struct mw_usids segment; /* of the routing header of a tunnel; n is 0 without one */
	uint8_t tos;		 /* of the outermost header */
	uint32_t ev;
	bool datagram;		 /* of a UD QP: ud is valid instead of mrc */
	enum mw_verdict verdict; /* mrc or ud is valid with MW_OK only */
	struct mw_packet mrc;
	struct mw_datagram ud;
};

/*
 * dump_packet_read reads a packet. False: it is none of MRC, because it is not UDP in one piece to
 * ports first_port .. first_port + 1023. What is on these ports and cannot be decoded has the
 * reason in p->verdict. p refers to *frame.
 */
bool dump_packet_read(const struct dump_frame *frame, uint32_t first_port,
		      const struct mw_dscp_map *dscp, struct dump_packet *p);

/* dump_packet_line appends the packet as one line. */
void dump_packet_line(const struct dump_packet *p, const struct mw_dscp_map *dscp,
		      struct ui_text *out);

/* dump_packet_json returns a new object. */
json_t *dump_packet_json(const struct dump_packet *p, const struct mw_dscp_map *dscp);

#endif
