/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_node.h - the parts of bench_node: packets that are watched, readers that are told. */
#ifndef BENCH_NODE_H
#define BENCH_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/store.h"

/* Of any process: bases are multiples of 64. */
#define BN_EV_BASE 49152u
#define BN_EV_STRIDE 64u
#define BN_EVS 8u
#define BN_NONE UINT32_MAX

/* The folder of the store, and of the statistics of the traffic. */
extern char bn_dir[];

__attribute__((noreturn)) void bn_die(const char *what);
uint64_t bn_now_ns(clockid_t clock);
void bn_sleep_ms(uint32_t ms);
/* bn_print_times sorts them. */
void bn_print_times(const char *what, uint64_t *ns, uint32_t n);
/* bn_commit denies EV i, or none. */
void bn_commit(uint32_t i);

/* ---- packets of the loopback interface: node_sniffer.c ---- */

int bn_sniffer_open(void);
/* bn_sniffer_sees says whether a packet leaves on an EV of port 1 within a time. */
bool bn_sniffer_sees(int fd, uint32_t ev, uint64_t ns);
/*
 * bn_sniffer_last_after_denial denies an EV, watches for 100 ms, and returns how long after the
 * moment before that the last packet left on it; 0: none did.
 */
uint64_t bn_sniffer_last_after_denial(int fd, uint32_t ev);

/* ---- readers: node_readers.c ---- */

/* bn_measure_readers lets a thousand processes follow the store as a device does. */
void bn_measure_readers(uint32_t rounds);

/* ---- the data path: node_data_path.c ---- */

/* bn_measure_data_path says what the store costs a program that sends, and whether that is 1 %. */
void bn_measure_data_path(void);

/* ---- scrapes: node_scrape.c ---- */

/* bn_measure_scrapes says how long a scrape of a process with many QPs takes, and its size. */
void bn_measure_scrapes(void);

#endif
