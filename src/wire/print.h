/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.h - the fields of a packet by name, and a packet as one line of text, for traces, dumps and
 * failing tests.
 */
#ifndef SOFTMRC_WIRE_PRINT_H
#define SOFTMRC_WIRE_PRINT_H

#include <stddef.h>

#include "wire/packet.h"

enum mw_field_form {
	MW_FIELD_DECIMAL,
	MW_FIELD_SIGNED, /* value is an int64_t */
	MW_FIELD_HEX,
	MW_FIELD_WORD,	/* value has a name, which is in `word` */
	MW_FIELD_FLAGS, /* value is a set of bits, named by mw_bth_flag_name */
	MW_FIELD_SET,	/* there only when it is set */
};

/* One field of a packet. */
struct mw_field {
	const char *name;
	const char *lead; /* what a line has before the value; NULL: ", NAME " */
	enum mw_field_form form;
	uint8_t digits; /* of a hexadecimal number, at least */
	uint64_t value;
	const char *word;
};

#define MW_BTH_FLAGS 6u
/* mw_bth_flag_name returns the name of a bit, 0 .. MW_BTH_FLAGS - 1 (asserted). */
const char *mw_bth_flag_name(uint32_t bit);

typedef void (*mw_field_fn)(void *context, const struct mw_field *field);

/*
 * mw_packet_fields calls `take` for each field of a packet in the order of the headers. The field
 * is valid during the call; its strings are constants. Of a packet whose opcode is not one of MRC
 * the BTH is described. Pure; any thread.
 */
void mw_packet_fields(const struct mw_packet *pkt, mw_field_fn take, void *context);

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
