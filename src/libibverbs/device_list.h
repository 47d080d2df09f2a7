/* SPDX-License-Identifier: BSD-2-Clause */
/* device_list.h - what the list of devices needs of ours; verbs_device.c has them. */
#ifndef SOFTMRC_LIBIBVERBS_DEVICE_LIST_H
#define SOFTMRC_LIBIBVERBS_DEVICE_LIST_H

#include "libibverbs/real_library.h"

/*
 * mv_device_probe fills in our devices, the first time; their kernel names are numbered from
 * `first` on. 0 and their number in *n, or an errno value.
 */
int mv_device_probe(uint32_t first, uint32_t *n);
/* mv_device_nth returns our i-th device. */
struct ibv_device *mv_device_nth(uint32_t i);

#endif
