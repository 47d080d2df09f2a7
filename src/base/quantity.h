/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quantity.h - rates, sizes and times as people write them: "100G", "4MiB", "1.5us".
 *
 * A quantity is a decimal number, with a fraction where the unit allows for one, and a unit that
 * follows at once. What is not exact in the base unit (bit/s, bytes, nanoseconds) is rounded to it.
 * Thread-safe; nothing blocks.
 */
#ifndef SOFTMRC_BASE_QUANTITY_H
#define SOFTMRC_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Long enough for every text that the writers below make. */
#define MB_QUANTITY_MAX 24u

/* What each kind looks like, for messages. */
#define MB_QUANTITY_RATE_FORM "bits per second with an optional k, M, G or T, such as 100G"
#define MB_QUANTITY_BYTES_FORM "bytes with an optional k, M or G (powers of 1024), such as 64k"
#define MB_QUANTITY_TIME_FORM "a time with ns, us, ms, s, m, h or d, such as 1.5us"

/*
 * mb_quantity_read_rate reads bits per second: "0", "25000000", "50M", "1.6T". false: text is no
 * rate, or not in min .. max, and *bps is as before.
 */
bool mb_quantity_read_rate(const char *text, uint64_t min, uint64_t max, uint64_t *bps);
/* mb_quantity_read_bytes is the same for bytes: "4096", "64k", "64KiB", "1M", "2GiB". */
bool mb_quantity_read_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *bytes);
/* mb_quantity_read_time is the same for nanoseconds; only 0 goes without a unit. */
bool mb_quantity_read_time(const char *text, uint64_t min, uint64_t max, uint64_t *ns);

/*
 * mb_quantity_write_rate writes a rate into out[MB_QUANTITY_MAX] the way it is read, in the largest
 * unit in which it is a whole number, and returns out.
 */
char *mb_quantity_write_rate(char *out, uint64_t bps);
/* mb_quantity_write_bytes and mb_quantity_write_time do the same for "64M" and "100ms". */
char *mb_quantity_write_bytes(char *out, uint64_t bytes);
char *mb_quantity_write_time(char *out, uint64_t ns);

#endif
