/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.h - a packet as one line of text, for traces, dumps and failing tests.
 */
#ifndef SOFTMRC_WIRE_PRINT_H
#define SOFTMRC_WIRE_PRINT_H

#include <stddef.h>

#include "wire/packet.h"

/* A buffer of this size holds the line of any packet, terminating NUL included. */
#define MW_PRINT_BYTES 384u

/*
 * mw_packet_print writes a packet as one line without a newline, such as
 *
 *     WRITE_LAST, dqp 0x77cfe2, psn 16651382, flags [a], msn 30778, rqmsn 26832, ...
 *
 * to out, which holds `size` bytes, and returns the length of the whole line without its NUL. A
 * line that does not fit is cut, as with snprintf: the return value is then size or more. out is
 * always terminated when size > 0 and may be NULL when size is 0. Of a packet whose opcode is not
 * one of MRC the BTH is printed. Pure; any thread.
 */
size_t mw_packet_print(const struct mw_packet *pkt, char *out, size_t size);

#endif
