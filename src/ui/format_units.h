/* SPDX-License-Identifier: BSD-2-Clause */
/* format_units.h - numbers for eyes: three digits or four and a unit. */
#ifndef SOFTMRC_UI_FORMAT_UNITS_H
#define SOFTMRC_UI_FORMAT_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Long enough for every text below. */
#define UI_UNITS_MAX 24u

/* Each writes into out[UI_UNITS_MAX] and returns out. */
char *ui_units_count(char *out, double n);	 /* "1234", "12.3k", "4.56M" */
char *ui_units_bits(char *out, double bps);	 /* "12.3 Gb/s" */
char *ui_units_bytes(char *out, uint64_t bytes); /* "64 KiB" where exact, else "1.5 MiB" */
char *ui_units_time(char *out, uint64_t ns);	 /* "12.3 us" */
char *ui_units_ev(char *out, uint32_t ev);	 /* "49152"; of more than 16 bits "0xc0010003" */

#endif
