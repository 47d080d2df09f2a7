/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dscp.h - the six logical DSCP code points of MRC and the numbers that stand for them.
 *
 * A switch decides by the DSCP alone whether a packet may be trimmed, a NIC by the DSCP alone
 * whether it was. MRC names the code points; a deployment chooses their values, so the values are
 * a table that the owner of a fabric may set and this layer only reads. Hosts take it from
 * MRC_DSCP, fabrics (switches of the lab, configurations, captures of the simulator) from the key
 * topology.dscp, all in the one text form of mw_dscp_map_read.
 */
#ifndef SOFTMRC_WIRE_DSCP_H
#define SOFTMRC_WIRE_DSCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The logical code points. The optional ones may share a number, see mw_dscp_map_check.
 * REQ(wire.dscp.classes)
 */
enum mw_dscp_class {
	MW_DSCP_NO_TRIM = 0,	 /* mandatory; a full queue drops the packet */
	MW_DSCP_TRIMMABLE,	 /* optional; a full queue cuts the packet and forwards the head */
	MW_DSCP_TRIMMABLE_RETX,	 /* optional; the same for retransmissions */
	MW_DSCP_TRIMMED,	 /* mandatory; was cut on the way */
	MW_DSCP_TRIMMED_LASTHOP, /* optional; was cut at the switch in front of the receiver */
	MW_DSCP_CONTROL,	 /* mandatory; high priority, neither marked nor trimmed */
	MW_DSCP_CLASSES,	 /* how many there are; also: a number that stands for none */
};

#define MW_DSCP_MAX 63u
/* Room for a map as text and for what is wrong with one, final 0s included. */
#define MW_DSCP_TEXT_BYTES 24u
#define MW_DSCP_ERROR_BYTES 160u

/* The number, 0 to MW_DSCP_MAX, of each logical code point. REQ(wire.dscp.values) */
struct mw_dscp_map {
	uint8_t code[MW_DSCP_CLASSES];
};

/* mw_dscp_map_default returns the numbers used unless a deployment sets others: 0/4/8/12/16/46. */
struct mw_dscp_map mw_dscp_map_default(void);

/*
 * mw_dscp_map_check returns MW_DSCP_CLASSES when a receiver can tell apart what it must, else the
 * first class whose number is wrong: larger than 63, or equal to the number of a class of another
 * kind. The three kinds are data (NO_TRIM, TRIMMABLE, TRIMMABLE_RETX), trimmed (TRIMMED,
 * TRIMMED_LASTHOP) and CONTROL; within a kind numbers may be shared, which is how a fabric says
 * that it does without an optional code point. REQ(wire.dscp.distinct)
 */
enum mw_dscp_class mw_dscp_map_check(const struct mw_dscp_map *map);

/*
 * mw_dscp_map_read reads a map from text: six numbers with commas between, in the order of the
 * enum, such as "0,4,8,12,16,46". False: it is none or mw_dscp_map_check refuses it; then *map is
 * as it was and `error` names the class, its value and what is allowed.
 * mw_dscp_map_write writes that text.
 */
bool mw_dscp_map_read(const char *text, struct mw_dscp_map *map, char error[MW_DSCP_ERROR_BYTES]);
void mw_dscp_map_write(const struct mw_dscp_map *map, char out[MW_DSCP_TEXT_BYTES]);

/* mw_dscp_class_name returns "no-trim", "trimmable", ... or, of MW_DSCP_CLASSES, "unknown". */
const char *mw_dscp_class_name(enum mw_dscp_class cls);

/* mw_dscp_class_of_data returns the class of data, see below. */
static inline enum mw_dscp_class mw_dscp_class_of_data(bool rtx, bool trimmable)
{
	if (!trimmable)
		return MW_DSCP_NO_TRIM;
	return rtx ? MW_DSCP_TRIMMABLE_RETX : MW_DSCP_TRIMMABLE;
}

/*
 * mw_dscp_class_of_opcode returns the class in which a packet is sent. Write data is TRIMMABLE, or
 * TRIMMABLE_RETX when it is a retransmission; with `trimmable` false (the peer does not answer cut
 * packets) it is NO_TRIM. A reliability probe waits where data wait, since it asks after
 * what is before it, and is NO_TRIM. ACK, SACK,
 * NACK and the endpoint packets are CONTROL. The opcode must be one of MRC (asserted).
 * REQ(wire.dscp.control-class) REQ(wire.dscp.data-class) REQ(wire.dscp.retransmit-class)
 */
enum mw_dscp_class mw_dscp_class_of_opcode(uint8_t opcode, bool rtx, bool trimmable);

/* mw_dscp_encode returns the number of a class; the class must be one of the six (asserted). */
uint8_t mw_dscp_encode(const struct mw_dscp_map *map, enum mw_dscp_class cls);

/*
 * mw_dscp_decode returns the class that a number stands for, the first in the order of the enum
 * where classes share it, and MW_DSCP_CLASSES for a number that stands for none: a receiver takes
 * such a packet as not trimmed.
 */
enum mw_dscp_class mw_dscp_decode(const struct mw_dscp_map *map, uint8_t dscp);

/* mw_dscp_is_trimmed says whether a received packet of this class was cut by a switch. */
static inline bool mw_dscp_is_trimmed(enum mw_dscp_class cls)
{
	return cls == MW_DSCP_TRIMMED || cls == MW_DSCP_TRIMMED_LASTHOP;
}

#endif
