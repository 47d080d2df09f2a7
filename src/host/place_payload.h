/* SPDX-License-Identifier: BSD-2-Clause */
/* place_payload.h - putting received payload where it belongs. */
#ifndef SOFTMRC_HOST_PLACE_PAYLOAD_H
#define SOFTMRC_HOST_PLACE_PAYLOAD_H

#include <stdint.h>

/*
 * mh_place_payload copies len bytes so that the end becomes visible to other threads last: programs
 * wait for the end of a buffer to change. What is aligned to 8 bytes and no longer than 512 becomes
 * visible word by word, in the order of its addresses. Only within a packet; packets may arrive in
 * any order.
 */
void mh_place_payload(void *to, const void *from, uint32_t len);

#endif
