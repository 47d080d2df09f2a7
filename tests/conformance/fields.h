/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.h - the fields of struct mw_packet by the names that the vectors give them. */
#ifndef CONFORMANCE_FIELDS_H
#define CONFORMANCE_FIELDS_H

#include <jansson.h>

#include "wire/packet.h"

/* fields_fill sets in a zeroed packet every field that `headers` names. */
void fields_fill(struct mw_packet *pkt, const json_t *headers);

/*
 * fields_check fails the running case unless each field of each header in `headers` is there and
 * has the same value in *pkt.
 */
void fields_check(const struct mw_packet *pkt, const json_t *headers);

#endif
