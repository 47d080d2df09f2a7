/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit.h - the configuration of every node as text, for systems that people run.
 *
 * Each function writes one file to a stream, from the topology alone and as it goes, so that it
 * costs the same memory whatever the fabric's size. What a stream cannot take shows in ferror(),
 * which the caller asks at the end. All are pure but for the stream; any number of threads may
 * write to streams of their own. docs/plan.md says where each syntax is from.
 */
#ifndef SOFTMRC_FABRIC_EMIT_H
#define SOFTMRC_FABRIC_EMIT_H

#include "fabric/routes.h"

#include <stddef.h>
#include <stdio.h>

/* How a switch tells a receiver that a packet was cut. REQ(plan.emit.trimming) */
enum mf_trim_marks {
	MF_TRIM_SYMMETRIC = 0, /* one DSCP, wherever it happened */
	MF_TRIM_ASYMMETRIC,    /* another one at the last hop: a DSCP by egress port */
};

struct mf_emit_options {
	unsigned sets; /* routes: MF_ROUTES_SRV6, and MF_ROUTES_PLAIN for ECMP too */
	enum mf_trim_marks trim;
	uint32_t trim_bytes; /* what is left of a packet that is cut */
};

/* mf_emit_defaults returns the default options. */
struct mf_emit_options mf_emit_defaults(void);

/* Classes of traffic at a switch: also the queue, and the TC, of each. REQ(plan.emit.classes) */
enum mf_queue {
	MF_QUEUE_OTHER = 0,   /* what is not MRC */
	MF_QUEUE_NO_TRIM = 1, /* data that is dropped when there is no room */
	MF_QUEUE_DATA = 3,    /* data that is cut */
	MF_QUEUE_RETX = 4,    /* retransmissions, likewise */
	MF_QUEUE_CONTROL = 6, /* control and what was cut: strict priority, never marked or cut */
	MF_TC_TRIM = 5,	      /* asymmetric: what has just been cut, on its way to queue 6 */
	MF_QUEUES = 7,
};

/*
 * mf_queue_of_class returns the queue of a class; MF_QUEUE_OTHER where an earlier class of the map
 * has its number, which means that one. REQ(switch.dscp.class)
 */
enum mf_queue mf_queue_of_class(const struct mw_dscp_map *dscp, enum mw_dscp_class cls);

/* Depths of a data queue in bytes, by the bandwidth-delay product of the longest path. */
struct mf_queue_bytes {
	uint64_t ecn_min, ecn_max; /* 0.2 and 0.8 of it; the last hop marks nothing */
	uint64_t limit;		   /* it, and 1.5 of it at the last hop: cut or drop beyond */
};

/* mf_queue_bytes returns them for ports of links of a kind. REQ(plan.emit.thresholds) */
struct mf_queue_bytes mf_queue_bytes(const struct mf_topology *t, enum mf_link_kind kind,
				     bool last_hop);

/* mf_queue_last_hop says whether a port of a switch leads to a host. */
bool mf_queue_last_hop(const struct mf_topology *t, uint32_t node, uint32_t port);

/* SONiC's config_db.json, or the same as instance data of SONiC's YANG modules. */
enum mf_sonic_form {
	MF_SONIC_CONFIG_DB = 0,
	MF_SONIC_YANG, /* what yanglint reads */
};

/* mf_emit_sonic writes the configuration of a switch for SONiC. REQ(plan.emit.sonic) */
void mf_emit_sonic(FILE *to, const struct mf_topology *t, uint32_t node,
		   const struct mf_emit_options *o, enum mf_sonic_form form);

/* mf_emit_frr writes frr.conf of a switch: FRR 10.3 and later on Linux, ports as in
 * fabric_node.h. */
void mf_emit_frr(FILE *to, const struct mf_topology *t, uint32_t node,
		 const struct mf_emit_options *o);

/* mf_emit_eos writes the configuration of a switch for Arista EOS 4.34.2F and later. */
void mf_emit_eos(FILE *to, const struct mf_topology *t, uint32_t node,
		 const struct mf_emit_options *o);

/* The following are of the whole fabric. */

/* mf_emit_containerlab writes a topology file for containerlab, of Linux containers. */
void mf_emit_containerlab(FILE *to, const struct mf_topology *t);

/* More cables than these are not drawn one by one: the picture is an overview then. */
#define MF_DRAWN_CABLES_MAX 2048u

/* mf_emit_dot writes a graph for graphviz. */
void mf_emit_dot(FILE *to, const struct mf_topology *t);

/* mf_emit_svg writes a picture. */
void mf_emit_svg(FILE *to, const struct mf_topology *t);

/* What stands out in a picture, and what it says when it is pointed at: no characters of XML. */
enum mf_mark_kind {
	MF_MARK_CABLE,	     /* id: the number of either link / 2 */
	MF_MARK_NODE,	     /* id: node */
	MF_MARK_TRANSCEIVER, /* id: node, index: which of its groups of MF_TRANSCEIVER_PORTS */
	MF_MARK_PLANE,	     /* id: plane */
};

struct mf_mark {
	enum mf_mark_kind kind;
	uint32_t id, index;
	const char *title;
};

/*
 * mf_emit_svg_marked writes a picture in which some parts are red. Of a fabric that is too large
 * the box of a tier and plane is red, that the upper end of the part is in.
 */
void mf_emit_svg_marked(FILE *to, const struct mf_topology *t, const struct mf_mark *mark,
			size_t n);

/* Helpers that emitters share. */

#define MF_ADDRESS_TEXT 46u /* room for an IPv6 address as text */

/* mf_emit_address writes an address as text into out[MF_ADDRESS_TEXT] and returns out. */
const char *mf_emit_address(const uint8_t address[MF_ADDRESS_BYTES], char *out);

/* mf_emit_hostname writes a node's name as a host name: plane0-t0-1, host3. Returns out. */
const char *mf_emit_hostname(const struct mf_topology *t, uint32_t node, char out[MF_ADDRESS_TEXT]);

#define MF_PATH_BYTES 64u /* room for a node's place below the folder of a plan */

/*
 * mf_emit_path writes where the files of a node are, without their suffix: plane0/t0-1, and
 * hosts/t0-0/host3, so that no folder holds more hosts than a T0.
 */
void mf_emit_path(const struct mf_topology *t, uint32_t node, char out[MF_PATH_BYTES]);

/* mf_emit_own_address returns the last group of a port's link-local address: fe80::1 lower, fe80::2
 * upper. */
unsigned mf_emit_own_address(const struct mf_topology *t, uint32_t node, uint32_t port);
/* mf_emit_peer returns that of the other end. */
unsigned mf_emit_peer(const struct mf_topology *t, uint32_t node, uint32_t port);

/*
 * mf_emit_lane returns the first of the lanes of 100G that a switch's port takes, counted over the
 * whole switch, and how many it takes: 1 to 8.
 */
uint32_t mf_emit_lane(const struct mf_topology *t, uint32_t node, uint32_t port, uint32_t *lanes);

/*
 * Writes tables of SONiC's configuration, in either of the forms of emit.h.
 *
 * 	config_db	{"QUEUE": {"Ethernet0|3": {"scheduler": "data"}, ...}, ...}
 * 	YANG		{"sonic-queue:sonic-queue": {"QUEUE": {"QUEUE_LIST": [
 * 				{"ifname": "Ethernet0", "qindex": "3", "scheduler": "data"},
 * 				...]}}, ...}
 *
 * Begin with mf_config_begin, then for each table mf_config_table, for each of its rows
 * mf_config_row, for each of its fields mf_config_field or mf_config_pair, and mf_config_end.
 * Only the position in the file is kept. The values of config_db are all strings.
 */

/* What a value is in YANG, that JSON writes differently. */
enum mf_config_kind {
	MF_CONFIG_TEXT, /* strings, and numbers of 64 bits */
	MF_CONFIG_BARE, /* shorter numbers and booleans */
};

struct mf_config_table {
	const char *name;
	const char *module;
	const char *list; /* in YANG; NULL: rows are containers, not list entries */
	const char *key[2];
	/* Of a table of maps: what the two sides of a pair are called, and what they are. */
	const char *pair[2];
	enum mf_config_kind pair_kind[2];
};

struct mf_config {
	FILE *to;
	enum mf_sonic_form form;
	const struct mf_config_table *table; /* open, or NULL */
	bool row, field, pair;		     /* one is open; one was written before */
	bool any_row;
};

/* mf_config_begin begins a file. */
void mf_config_begin(struct mf_config *w, FILE *to, enum mf_sonic_form form);
/* mf_config_table begins a table; those of one module, and lists of one
 * table, must follow each other. */
void mf_config_table(struct mf_config *w, const struct mf_config_table *table);
/* mf_config_row begins a row; second is NULL where the table has one key. */
void mf_config_row(struct mf_config *w, const char *first, const char *second);
/* mf_config_field writes a field of the row. */
__attribute__((format(printf, 4, 5))) void mf_config_field(struct mf_config *w, const char *name,
							   enum mf_config_kind kind,
							   const char *format, ...);
/* mf_config_pair writes an entry of a map. */
void mf_config_pair(struct mf_config *w, unsigned from, unsigned to);
/* mf_config_end ends the file. */
void mf_config_end(struct mf_config *w);

#endif
