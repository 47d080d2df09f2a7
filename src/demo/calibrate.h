/* SPDX-License-Identifier: BSD-2-Clause */
/* calibrate.h - how many packets this machine can move, measured in less than half a second. */
#ifndef SOFTMRC_DEMO_CALIBRATE_H
#define SOFTMRC_DEMO_CALIBRATE_H

#include <stdint.h>

/*
 * demo_calibrate returns how many 4 KiB datagrams a second all processors together can send and
 * receive over loopback while everything else that runs keeps running; 0: it could not be measured.
 */
uint64_t demo_calibrate(void);

#endif
