/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_port.h - the local ports: which are up, and since when.
 *
 * A port that goes down takes with it what is on its way there, which says nothing about any path:
 * a loss is held against an EV only when its port has been up without a break since the packet
 * left. REQ(ep.port.not-attributed)
 */
#ifndef SOFTMRC_CORE_EV_LOCAL_PORT_H
#define SOFTMRC_CORE_EV_LOCAL_PORT_H

#include "core/types.h"

struct mt_local_ports {
	uint32_t up;
	uint32_t n;
	uint64_t since_ns[MT_PORTS_MAX]; /* up or down since then */
};

/* mt_local_ports_init makes n ports, all up. */
void mt_local_ports_init(struct mt_local_ports *p, uint32_t n, uint64_t now_ns);
/* mt_local_ports_set says whether a port's state changed. */
bool mt_local_ports_set(struct mt_local_ports *p, uint32_t port, bool up, uint64_t now_ns);
/* mt_local_ports_may_have_lost says whether a packet sent then on this port may have been lost with
 * it. */
bool mt_local_ports_may_have_lost(const struct mt_local_ports *p, uint32_t port, uint64_t sent_ns);
/* mt_local_ports_nearest returns `port` if it is up, else the next one that is; one must be up. */
uint8_t mt_local_ports_nearest(const struct mt_local_ports *p, uint32_t port);

static inline bool mt_local_port_is_up(const struct mt_local_ports *p, uint32_t port)
{
	return p->up >> port & 1;
}

#endif
