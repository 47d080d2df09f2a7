/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port_queue.c - the ports: two classes in strict priority, marking, cutting, dropping.
 *
 * A port knows when it has sent what it is sending (free_ps). A packet that comes to a free port is
 * on its way at once, and the only event of its hop is its arrival. A packet that comes to a busy
 * port waits; what waits is served when the port is looked at again: at its next packet, and at the
 * end of each window. That is exact, since whatever could overtake it in this window has come by
 * then: a packet is chosen among those that were there when its predecessor's last bit had left.
 *
 * At one instant the port first finishes and chooses, then takes what comes. REQ(sim.queue.exact)
 */
#include "sim/kernel/worker.h"

static void drop_packet(struct ms_worker *worker, struct ms_port *port, enum ms_drop why)
{
	worker->c.dropped[why]++;
	port->drops++;
}

/* What a faulty link does to a packet; false: it is lost. */
static bool survives_link(struct ms_worker *worker, struct ms_port *port, uint32_t number,
			  const struct ms_link_fault *f, uint64_t t_ps, bool *corrupt)
{
	uint64_t seed = worker->net->cfg.seed;

	if (f->blackhole) {
		drop_packet(worker, port, MS_DROP_BLACKHOLE);
		return false;
	}
	if (ms_draw_ppm(seed, number, t_ps, MS_DRAW_LOSS, f->loss)) {
		drop_packet(worker, port, MS_DROP_LOSS);
		return false;
	}
	if (ms_draw_ppm(seed, number, t_ps, MS_DRAW_CORRUPT, f->corrupt)) {
		*corrupt = true;
		worker->c.corrupted++;
	}
	return true;
}

/* Begins to send a packet on a free port at t_ps. */
static void start_transmit(struct ms_worker *worker, const struct ms_unit *unit, uint32_t local,
			   struct ms_port *port, uint64_t t_ps, const struct ms_packet *p)
{
	const struct ms_net *net = worker->net;
	const struct ms_wire *wire = ms_wire_of(net, unit, local);
	uint64_t took = ms_wire_time(wire, p->bytes);
	const struct ms_link_fault *fault = NULL;
	uint32_t number = unit->first_port + local, at;
	bool corrupt = p->corrupt;
	struct ms_packet *q;

	if (port->flags & MS_PORT_TAPPED && net->cfg.hosts.tap)
		net->cfg.hosts.tap(net->cfg.hosts.ctx, worker, ms_units_link(&net->units, number),
				   t_ps, p);
	if (port->flags & MS_PORT_FAULTY)
		fault = ms_link_fault_find(&worker->faults, number, false);
	if (fault)
		took = took * 1000000 / fault->rate;
	port->free_ps = t_ps + took;
	port->sent_bytes += p->bytes;
	worker->c.hops++;
	if (fault && !survives_link(worker, port, number, fault, t_ps, &corrupt))
		return;
	q = ms_schedule_arrival(worker, ms_unit_peer(&net->units, unit, local),
				port->free_ps + wire->hop_ps);
	at = q->at;
	*q = *p;
	q->at = at;
	q->port = number;
	q->corrupt = corrupt;
	q->cuts = fault ? fault->cuts & 7u : 0;
}

/* Whether data packets of a unit's ports count for PFC. */
static bool by_pfc(const struct ms_worker *worker, const struct ms_unit *unit)
{
	return worker->net->pfc.ingress && unit->tier != MF_HOST;
}

/* The next packet to be sent, control first; the port has one. REQ(switch.control.first) */
static uint32_t choose_class(struct ms_worker *worker, const struct ms_unit *unit,
			     struct ms_port *port)
{
	enum ms_class c = port->head[MS_CONTROL] ? MS_CONTROL : MS_DATA;
	uint32_t i = port->head[c];
	const struct ms_packet *p = &worker->slab.packet[i];

	__builtin_prefetch(&worker->slab.packet[p->at]);
	port->head[c] = p->at;
	port->bytes[c] -= p->bytes;
	if (c == MS_DATA && by_pfc(worker, unit))
		ms_pfc_count_dequeue(worker, p);
	return i;
}

/* Whether a port has a packet that it may send. */
static bool may_send(const struct ms_port *port)
{
	return port->head[MS_CONTROL] || (port->head[MS_DATA] && !(port->flags & MS_PORT_PAUSED));
}

void ms_port_advance(struct ms_worker *worker, struct ms_unit *unit, uint32_t local,
		     uint64_t until_ps)
{
	struct ms_port *port = &worker->net->port[unit->first_port + local];

	while (port->free_ps <= until_ps && may_send(port)) {
		uint32_t i = choose_class(worker, unit, port);

		start_transmit(worker, unit, local, port, port->free_ps, &worker->slab.packet[i]);
		ms_slab_free(&worker->slab, i);
	}
}

void ms_port_flush(struct ms_worker *worker, struct ms_unit *unit, uint32_t local)
{
	struct ms_port *port = &worker->net->port[unit->first_port + local];

	while (port->head[MS_CONTROL] || port->head[MS_DATA]) {
		ms_slab_free(&worker->slab, choose_class(worker, unit, port));
		drop_packet(worker, port, MS_DROP_LINK_DOWN);
	}
}

/* What becomes of a packet that has to wait. */
struct admission {
	enum ms_class class;
	uint32_t bytes;
	bool cut, mark;
};

static bool is_over_limit(uint32_t limit, uint32_t waiting, uint32_t bytes)
{
	return limit && (uint64_t)waiting + bytes > limit;
}

static bool is_trimmable(const struct ms_packet *p)
{
	return p->cls == MW_DSCP_TRIMMABLE || p->cls == MW_DSCP_TRIMMABLE_RETX;
}

/* RED by the length of the data class. REQ(switch.ecn.red) */
static bool is_ecn_marked(const struct ms_worker *worker, const struct ms_wire *wire,
			  uint32_t number, uint32_t waiting, uint64_t t_ps)
{
	uint64_t chance;

	if (!wire->q.ecn_max_bytes || waiting < wire->q.ecn_min_bytes)
		return false;
	if (waiting >= wire->q.ecn_max_bytes)
		return true;
	chance = (waiting - wire->q.ecn_min_bytes) * wire->ecn_scale >> 16;
	return ms_draw_bits(worker->net->cfg.seed, number, t_ps, MS_DRAW_ECN) < chance;
}

/* False: it is dropped, for the reason in *why. REQ(switch.trim.eligible)
 * REQ(switch.trim.dropped) */
static bool admit_packet(struct ms_worker *worker, const struct ms_wire *wire,
			 const struct ms_port *port, uint32_t number, uint64_t t_ps,
			 const struct ms_packet *p, bool pfc, struct admission *a,
			 enum ms_drop *why)
{
	uint32_t waiting = port->bytes[MS_DATA];

	*a = (struct admission){ms_packet_high(p) ? MS_CONTROL : MS_DATA, p->bytes, false, false};
	if (a->class == MS_DATA) {
		if (is_trimmable(p) && is_over_limit(wire->q.trim_bytes, waiting, p->bytes)) {
			/* A short one goes whole. REQ(switch.trim.short) */
			a->class = MS_CONTROL;
			a->cut = p->bytes > worker->net->cfg.trim_to_bytes;
			a->bytes = a->cut ? worker->net->cfg.trim_to_bytes : p->bytes;
		} else if (pfc ? !ms_pfc_has_room(worker, p)
			       : is_over_limit(wire->q.data_limit_bytes, waiting, p->bytes)) {
			*why = pfc ? MS_DROP_HEADROOM : MS_DROP_DATA_FULL;
			return false;
		} else {
			a->mark = is_ecn_marked(worker, wire, number, waiting, t_ps);
		}
	}
	*why = MS_DROP_CONTROL_FULL;
	return a->class == MS_DATA ||
	       !is_over_limit(wire->q.control_limit_bytes, port->bytes[MS_CONTROL], a->bytes);
}

static void append_packet(struct ms_worker *worker, struct ms_port *port, enum ms_class class,
			  uint32_t i)
{
	if (port->head[class])
		worker->slab.packet[port->tail[class]].at = i;
	else
		port->head[class] = i;
	port->tail[class] = i;
	port->bytes[class] += worker->slab.packet[i].bytes;
}

/* A packet at a busy port. REQ(switch.trim.cut) REQ(switch.trim.last-hop) */
static void enqueue_packet(struct ms_worker *worker, struct ms_unit *unit, uint32_t local,
			   struct ms_port *port, uint64_t t_ps, const struct ms_packet *p)
{
	const struct ms_wire *wire = ms_wire_of(worker->net, unit, local);
	struct admission a;
	enum ms_drop why;
	bool pfc = by_pfc(worker, unit);
	struct ms_packet *q;
	uint32_t i;

	if (!admit_packet(worker, wire, port, unit->first_port + local, t_ps, p, pfc, &a, &why)) {
		drop_packet(worker, port, why);
		return;
	}
	i = ms_slab_alloc(&worker->slab);
	if (!i) {
		atomic_store_explicit(&worker->net->no_memory, true, memory_order_relaxed);
		return;
	}
	q = &worker->slab.packet[i];
	*q = *p;
	q->at = 0;
	if (a.cut) {
		q->bytes = (uint16_t)a.bytes;
		q->cls = unit->tier == MF_T0 && local < unit->downlinks ? MW_DSCP_TRIMMED_LASTHOP
									: MW_DSCP_TRIMMED;
		port->trims++;
		worker->c.trims++;
	}
	if (a.mark) {
		port->ecn_marks += !q->ce;
		worker->c.ecn_marks += !q->ce;
		q->ce = 1;
	}
	append_packet(worker, port, a.class, i);
	if (pfc && a.class == MS_DATA)
		ms_pfc_count_enqueue(worker, q);
	if (!(port->flags & MS_PORT_BACKLOG)) {
		port->flags |= MS_PORT_BACKLOG;
		worker->net->backlog[unit->first_word + local / 64] |= UINT64_C(1) << local % 64;
		unit->backlog++;
	}
}

/* A packet at a port of which something special is known. */
static void enqueue_special(struct ms_worker *worker, struct ms_unit *unit, uint32_t local,
			    struct ms_port *port, uint64_t t_ps, const struct ms_packet *p)
{
	const struct ms_link_fault *fault;

	if (port->flags & MS_PORT_FAULTY) {
		fault = ms_link_fault_find(&worker->faults, unit->first_port + local, false);
		if (fault && fault->down) {
			drop_packet(worker, port, MS_DROP_LINK_DOWN);
			return;
		}
	}
	if (port->flags & MS_PORT_BACKLOG)
		ms_port_advance(worker, unit, local, t_ps);
	if (port->free_ps <= t_ps && port->flags & MS_PORT_PAUSED && !ms_packet_high(p)) {
		/* What becomes of it may be control, and then begins now at the earliest. */
		port->free_ps = t_ps;
		enqueue_packet(worker, unit, local, port, t_ps, p);
	} else if (port->free_ps <= t_ps) {
		start_transmit(worker, unit, local, port, t_ps, p);
	} else {
		enqueue_packet(worker, unit, local, port, t_ps, p);
	}
}

void ms_port_enqueue(struct ms_worker *worker, struct ms_unit *unit, uint32_t local, uint64_t t_ps,
		     const struct ms_packet *p)
{
	struct ms_port *port = &worker->net->port[unit->first_port + local];

	if (port->flags)
		enqueue_special(worker, unit, local, port, t_ps, p);
	else if (port->free_ps <= t_ps)
		start_transmit(worker, unit, local, port, t_ps, p);
	else
		enqueue_packet(worker, unit, local, port, t_ps, p);
}

void ms_port_prefetch(const struct ms_worker *worker, const struct ms_unit *unit, uint32_t local)
{
	__builtin_prefetch(&worker->net->port[unit->first_port + local], 1);
}

void ms_port_prefetch_queue(const struct ms_worker *worker, const struct ms_unit *unit,
			    uint32_t local)
{
	const struct ms_port *port = &worker->net->port[unit->first_port + local];

	if (port->flags & MS_PORT_BACKLOG)
		__builtin_prefetch(&worker->slab.packet[port->head[port->head[MS_CONTROL] != 0]]);
}

/* Ports ahead for which memory is asked. */
#define PORT_AHEAD 8u
#define PACKET_AHEAD 4u

/* Brings n ports of a unit to the end of the window; those in which nothing waits any more go. */
static void advance_all(struct ms_worker *worker, struct ms_unit *unit, const uint16_t *local,
			uint32_t n)
{
	for (uint32_t i = 0; i < n && i < PORT_AHEAD; i++)
		ms_port_prefetch(worker, unit, local[i]);
	for (uint32_t i = 0; i < n && i < PACKET_AHEAD; i++)
		ms_port_prefetch_queue(worker, unit, local[i]);
	for (uint32_t i = 0; i < n; i++) {
		struct ms_port *port = &worker->net->port[unit->first_port + local[i]];

		if (i + PORT_AHEAD < n)
			ms_port_prefetch(worker, unit, local[i + PORT_AHEAD]);
		if (i + PACKET_AHEAD < n)
			ms_port_prefetch_queue(worker, unit, local[i + PACKET_AHEAD]);
		ms_port_advance(worker, unit, local[i], worker->end_ps - 1);
		if (port->head[MS_CONTROL] || port->head[MS_DATA])
			continue;
		port->flags &= ~(uint32_t)MS_PORT_BACKLOG;
		worker->net->backlog[unit->first_word + local[i] / 64] &=
			~(UINT64_C(1) << local[i] % 64);
		unit->backlog--;
	}
}

void ms_backlog_advance(struct ms_worker *worker, struct ms_unit *unit)
{
	const uint64_t *word = &worker->net->backlog[unit->first_word];
	uint16_t local[MS_UNIT_PORTS_MAX];
	uint32_t n = 0;

	for (uint32_t w = 0; w * 64 < unit->ports; w++)
		for (uint64_t bits = word[w]; bits; bits &= bits - 1)
			local[n++] = (uint16_t)(w * 64 + (uint32_t)__builtin_ctzll(bits));
	advance_all(worker, unit, local, n);
	if (worker->ingresses.n > 0)
		ms_pfc_update(worker, unit);
	if (unit->backlog)
		ms_mark_unit(worker, (uint32_t)(unit - worker->net->unit), worker->window + 1);
}
