/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_driver.h - a driver that wraps a driver and does to frames what a fault table says.
 *
 * The table (include/mrc/fault.h) is shared memory and may change at any time. Rules are applied
 * to frames being sent, in the order of the table; a frame that one rule dropped is not shown to
 * the next. Delayed frames wait as copies in a bounded queue; when it is full a frame is sent at
 * once and not counted as hit.
 */
#ifndef SOFTMRC_IO_FAULT_DRIVER_H
#define SOFTMRC_IO_FAULT_DRIVER_H

#include <mrc/fault.h>

#include "io/io_port.h"

struct mio_fault_cfg {
	struct mrc_fault_table *table; /* mapped as long as the port is open */
	uint32_t port;		       /* which plane this is, 0 .. 31 */
	uint8_t gid[16];	       /* of this endpoint */
	uint8_t trimmed_dscp;	       /* what a switch writes into a frame that it cut */
	uint32_t trim_bytes; /* how much of a frame a switch leaves behind the UDP header */
};

/*
 * mio_fault_map maps the table in the file `path` and checks it. EINVAL: not a table of this
 * version; other errno values from the system. error names the file and what is wrong with it.
 */
int mio_fault_map(const char *path, struct mrc_fault_table **table, struct mio_error *error);
void mio_fault_unmap(struct mrc_fault_table *table);
/*
 * mio_fault_open wraps `below`, which from then on belongs to the new port. ENOMEM: below is as
 * it was.
 */
int mio_fault_open(const struct mio_fault_cfg *cfg, struct mio_port *below, struct mio_port **port);

#endif
