/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.h - the protocol engine of MRC, for NICs of other makes: a driver, a DPU, an FPGA's soft
 * core, a simulator.
 *
 * An engine is one MRC endpoint as a pure machine: ports, memory regions, QPs and timers, but no
 * clock, no socket, no memory of its own and no thread. What surrounds it, the adapter, tells it
 * the time, hands it received packets and asks it for packets to send; see docs/engine.md and
 * examples/own_nic.c, which is a whole adapter.
 *
 * Link libmrc-core (pkg-config mrc-core). Any number of engines may live in a process. Calls on one
 * engine must not overlap; calls on different engines may. Nothing here blocks. Before release 1
 * this interface may change with each release: the shared library is libmrc-core.so.0.
 */
#ifndef MRC_ENGINE_H
#define MRC_ENGINE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/engine.h"

#ifdef __cplusplus
}
#endif

#endif
