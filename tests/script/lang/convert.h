/* SPDX-License-Identifier: BSD-2-Clause */
/* convert.h - a script's packet to and from the wire layer's, and what a peer fills in by
 * itself. */
#ifndef SCRIPT_CONVERT_H
#define SCRIPT_CONVERT_H

#include "world.h"

/* convert_from_wire describes what the engine sent; every field that its kind has is set. */
void convert_from_wire(const struct mw_packet *pkt, const struct mt_tx_desc *d, struct packet *p);
/*
 * convert_defaults sets what the script left open: a SACK or NACK reflects the newest transmission
 * of the PSN that it is about, a WRITE lands where its PSN says.
 */
void convert_defaults(struct world *w, struct packet *p);
/* convert_to_wire makes the packet and what travels beside it; meta->src is left to the caller. */
void convert_to_wire(const struct packet *p, struct mw_packet *pkt, struct mt_rx_meta *meta);

#endif
