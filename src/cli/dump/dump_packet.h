/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump_packet.h - one captured IP packet of MRC: read, written as a line, written as JSON.
 */
#ifndef SOFTMRC_CLI_DUMP_DUMP_PACKET_H
#define SOFTMRC_CLI_DUMP_DUMP_PACKET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/dump/capture_reader.h"
#include "ui/text_buffer.h"
#include "wire/datagram.h"
#include "wire/dscp.h"
#include "wire/ip_udp.h"
#include "wire/packet.h"
#include "wire/srv6.h"

struct dump_packet {
	const struct dump_frame *frame;
	struct mw_ip_udp ip; /* of the inner header, where there are two */
	bool tunnelled;	     /* IPv6 in IPv6; the next three are those of the outer header */
	uint8_t outer_src[16], outer_dst[16];
	struct mw_usids usids; /* n is 0 where outer_dst is no list of uSIDs */
	uint8_t tos;	       /* of the outermost header */
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
