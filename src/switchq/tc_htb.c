/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tc_htb.c - the shaper below the program, as lines for `tc -batch`.
 *
 * Two classes share one rate; control comes first. The program has decided already what waits and
 * what does not, so the queues here are longer than its limits and never drop. Every packet that
 * waits costs a timer interrupt: a port should not be the standing bottleneck of a job, which is
 * why endpoints pace themselves at half the rate of their ports.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "switchq/switchq.h"

#define ETHERNET_BYTES 14u
/* What is sent at one go must cover the time until a timer fires. */
#define BURST_NS 50000u
/* What the model and HTB's clock may disagree by, and frames that the kernel itself sends. */
#define SPARE_BYTES (256u << 10)

struct htb_params {
	uint64_t bits;
	uint64_t burst; /* bytes */
	uint32_t frame; /* bytes of the longest one */
};

static struct htb_params htb_params_of(uint32_t mtu, const struct mswq_port *port,
				       const struct mswq_faults *faults)
{
	struct htb_params s = {.bits = faults && faults->slow_bits ? faults->slow_bits
								   : port->rate_bits,
			       .frame = mtu + ETHERNET_BYTES};

	s.burst = s.bits / 8 * BURST_NS / 1000000000u;
	if (s.burst < s.frame)
		s.burst = s.frame;
	return s;
}

/* Appends one line; *used counts on beyond the end, as snprintf does. */
__attribute__((format(printf, 4, 5))) static void line(char *out, size_t size, size_t *used,
						       const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(*used < size ? out + *used : NULL, *used < size ? size - *used : 0, format,
		      arguments);
	va_end(arguments);
	*used += n > 0 ? (size_t)n : 0;
}

/* The three classes: all, control 1:10, data 1:20 (bpf/map.h knows the numbers too). */
static void write_classes(char *out, size_t size, size_t *used, const char *verb, const char *dev,
			  const struct htb_params *s)
{
	static const struct {
		const char *parent, *id;
		int prio; /* -1: the one above the two */
	} list[] = {{"1:", "1:1", -1}, {"1:1", "1:10", 0}, {"1:1", "1:20", 1}};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		uint64_t rate = list[i].prio < 0 ? s->bits : s->bits / 2;

		line(out, size, used,
		     "class %s dev %s parent %s classid %s htb rate %" PRIu64 "bit ceil %" PRIu64
		     "bit burst %" PRIu64 "b cburst %" PRIu64 "b quantum %u",
		     verb, dev, list[i].parent, list[i].id, rate, s->bits, s->burst, s->burst,
		     s->frame);
		if (list[i].prio >= 0)
			line(out, size, used, " prio %d", list[i].prio);
		line(out, size, used, "\n");
	}
}

size_t mswq_htb_lines(char *out, size_t size, const char *dev, uint32_t mtu,
		      const struct mswq_port *port, const struct mswq_faults *faults)
{
	struct htb_params s = htb_params_of(mtu, port, faults);
	size_t used = 0;

	if (size)
		*out = '\0';
	if (!s.bits)
		return 0;
	line(out, size, &used, "qdisc add dev %s root handle 1: htb default 20 r2q 1000\n", dev);
	write_classes(out, size, &used, "add", dev, &s);
	line(out, size, &used, "qdisc add dev %s parent 1:10 handle 10: bfifo limit %ub\n", dev,
	     port->control_limit_bytes + SPARE_BYTES);
	line(out, size, &used, "qdisc add dev %s parent 1:20 handle 20: bfifo limit %ub\n", dev,
	     port->limit_bytes + SPARE_BYTES);
	return used;
}

size_t mswq_htb_change_lines(char *out, size_t size, const char *dev, uint32_t mtu,
			     const struct mswq_port *port, const struct mswq_faults *faults)
{
	struct htb_params s = htb_params_of(mtu, port, faults);
	size_t used = 0;

	if (size)
		*out = '\0';
	if (s.bits)
		write_classes(out, size, &used, "change", dev, &s);
	return used;
}
