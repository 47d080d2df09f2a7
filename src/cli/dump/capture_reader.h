/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_reader.h - the IP packets of a capture file, pcap or pcapng, of either byte order.
 *
 * Reads what softmrc, tcpdump and Wireshark write: raw IP, Ethernet (one VLAN tag), Linux cooked.
 * Nothing in the file is trusted.
 */
#ifndef SOFTMRC_CLI_DUMP_CAPTURE_READER_H
#define SOFTMRC_CLI_DUMP_CAPTURE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
