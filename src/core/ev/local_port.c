/* SPDX-License-Identifier: BSD-2-Clause */
/* local_port.c - which of our ports are up, and what went down with one. */
#include "core/ev/ev_set.h"

#include "base/assert.h"

void mt_local_ports_init(struct mt_local_ports *p, uint32_t n, uint64_t now_ns)
{
	mb_assert(n > 0 && n <= MT_PORTS_MAX);
	*p = (struct mt_local_ports){.n = n, .up = UINT32_MAX >> (MT_PORTS_MAX - n)};
	for (uint32_t i = 0; i < n; i++)
		p->since_ns[i] = now_ns;
}

bool mt_local_ports_set(struct mt_local_ports *p, uint32_t port, bool up, uint64_t now_ns)
{
	mb_assert(port < p->n);
	if (mt_local_port_is_up(p, port) == up)
		return false;
	if (p->up == 0) {
		p->were_gone = true;
		p->back_ns = now_ns;
	}
	p->up ^= 1u << port;
	p->suspect &= ~(1u << port);
	p->since_ns[port] = now_ns;
	return true;
}

void mt_local_ports_set_suspect(struct mt_local_ports *p, uint32_t port, bool suspect,
				uint64_t now_ns)
{
	mb_assert(port < p->n && mt_local_port_is_up(p, port));
	mb_assert(mt_local_port_is_suspect(p, port) != suspect);
	p->suspect ^= 1u << port;
	p->since_ns[port] = now_ns;
}

bool mt_local_ports_may_have_lost(const struct mt_local_ports *p, uint32_t port, uint64_t sent_ns)
{
	mb_assert(port < p->n);
	return !mt_local_port_is_up(p, port) || mt_local_port_is_suspect(p, port) ||
	       sent_ns < p->since_ns[port];
}

uint64_t mt_local_ports_down_ns(const struct mt_local_ports *p, uint64_t now_ns)
{
	uint64_t last = 0;

	mb_assert(p->up == 0);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->since_ns[i] > last)
			last = p->since_ns[i];
	return now_ns > last ? now_ns - last : 0;
}

bool mt_local_ports_settle(const struct mt_local_ports *p, uint64_t settle_ns, uint64_t now_ns)
{
	return p->were_gone && now_ns < p->back_ns + settle_ns;
}

uint8_t mt_local_ports_nearest(const struct mt_local_ports *p, uint32_t port)
{
	mb_assert(port < p->n && p->up != 0);
	while (!(mt_local_ports_open(p) >> port & 1))
		port = port + 1 == p->n ? 0 : port + 1;
	return (uint8_t)port;
}
