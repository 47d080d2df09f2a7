/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switchq_port.c - parameters and faults of ports: checked, translated into the words of the
 * program, written to its maps.
 *
 * Both are in one value of the program, which is replaced as a whole; the program never sees half
 * of a change.
 */
#include <errno.h>
#include <string.h>

#include "bpf/map.h"
#include "switchq/switchq_handle.h"

#define BIT(dscp) (UINT64_C(1) << (dscp))
#define PS_PER_S UINT64_C(1000000000000)
/* A queue below this holds too few packets to be one, however short the fabric. */
#define BDP_MIN_BYTES (96u << 10)

/*
 * Sets the classes of a port by the map. A number that two classes share is that of the first: a
 * fabric without trimming gives TRIMMABLE the number of NO_TRIM. REQ(switch.dscp.class)
 */
static void set_classes(struct mswq_port *port, const struct mw_dscp_map *dscp, bool last_hop)
{
	for (enum mw_dscp_class c = 0; c < MW_DSCP_CLASSES; c++) {
		uint64_t bit = BIT(mw_dscp_encode(dscp, c));
		enum mw_dscp_class cls = mw_dscp_decode(dscp, mw_dscp_encode(dscp, c));

		if (cls == MW_DSCP_TRIMMABLE || cls == MW_DSCP_TRIMMABLE_RETX)
			port->trimmable_dscp |= bit;
		else if (cls != MW_DSCP_NO_TRIM)
			port->control_dscp |= bit;
	}
	port->trim_dscp =
		mw_dscp_encode(dscp, last_hop ? MW_DSCP_TRIMMED_LASTHOP : MW_DSCP_TRIMMED);
}

void mswq_port_default(struct mswq_port *port, const struct mw_dscp_map *dscp, uint64_t rate_bits,
		       uint64_t rtt_ns, bool last_hop)
{
	uint64_t bdp = (uint64_t)((double)rate_bits / 8 * (double)rtt_ns / 1e9);

	if (bdp < BDP_MIN_BYTES)
		bdp = BDP_MIN_BYTES;
	if (bdp > MSWQ_LIMIT_MAX / 2)
		bdp = MSWQ_LIMIT_MAX / 2;
	*port = (struct mswq_port){
		.rate_bits = rate_bits,
		.limit_bytes = (uint32_t)(last_hop ? bdp * 3 / 2 : bdp),
		.control_limit_bytes = (uint32_t)bdp,
		.ecn = !last_hop,
		.ecn_min_bytes = (uint32_t)(bdp / 5),
		.ecn_max_bytes = (uint32_t)(bdp * 4 / 5),
		.ecn_max_ppm = MSWQ_PPM_MAX,
		.trim_bytes = 128,
	};
	set_classes(port, dscp, last_hop);
}

static int out_of_range_error(struct mswq_error *error, const char *name, uint64_t value,
			      uint64_t low, uint64_t high)
{
	return mswq_fail(error, EINVAL, "%s = %llu: allowed is %llu to %llu", name,
			 (unsigned long long)value, (unsigned long long)low,
			 (unsigned long long)high);
}

static int check_rate(const char *name, uint64_t bits, struct mswq_error *error)
{
	if (bits && (bits < MSWQ_RATE_MIN || bits > MSWQ_RATE_MAX))
		return mswq_fail(error, EINVAL, "%s = %llu: allowed is 0 (none) or %llu to %llu",
				 name, (unsigned long long)bits, (unsigned long long)MSWQ_RATE_MIN,
				 (unsigned long long)MSWQ_RATE_MAX);
	return 0;
}

static int check_ecn(const struct mswq_port *p, struct mswq_error *error)
{
	if (!p->ecn)
		return 0;
	if (p->ecn_min_bytes >= p->ecn_max_bytes)
		return mswq_fail(error, EINVAL,
				 "ecn_max_bytes = %u: allowed is more than ecn_min_bytes, %u",
				 p->ecn_max_bytes, p->ecn_min_bytes);
	if (p->ecn_max_ppm > MSWQ_PPM_MAX)
		return out_of_range_error(error, "ecn_max_ppm", p->ecn_max_ppm, 0, MSWQ_PPM_MAX);
	return 0;
}

static int check_trim(const struct mswq_port *p, struct mswq_error *error)
{
	if (!p->trim_bytes)
		return 0;
	if (p->trim_bytes < MSWQ_TRIM_MIN || p->trim_bytes > MSWQ_TRIM_MAX)
		return out_of_range_error(error, "trim_bytes", p->trim_bytes, MSWQ_TRIM_MIN,
					  MSWQ_TRIM_MAX);
	if (p->trim_dscp > MW_DSCP_MAX)
		return out_of_range_error(error, "trim_dscp", p->trim_dscp, 0, MW_DSCP_MAX);
	/* Else the next switch would take what was trimmed for data and trim it again. */
	if (!(p->control_dscp & BIT(p->trim_dscp)))
		return mswq_fail(error, EINVAL,
				 "trim_dscp = %u: allowed is a DSCP of the control class",
				 p->trim_dscp);
	return 0;
}

static int check_port(const struct mswq_port *p, struct mswq_error *error)
{
	int code = check_rate("rate_bits", p->rate_bits, error);

	if (code)
		return code;
	if (p->limit_bytes > MSWQ_LIMIT_MAX)
		return out_of_range_error(error, "limit_bytes", p->limit_bytes, 0, MSWQ_LIMIT_MAX);
	if (p->control_limit_bytes > MSWQ_LIMIT_MAX)
		return out_of_range_error(error, "control_limit_bytes", p->control_limit_bytes, 0,
					  MSWQ_LIMIT_MAX);
	if (p->trimmable_dscp & p->control_dscp)
		return mswq_fail(error, EINVAL,
				 "trimmable_dscp = 0x%llx: allowed is none of control_dscp, 0x%llx",
				 (unsigned long long)p->trimmable_dscp,
				 (unsigned long long)p->control_dscp);
	code = check_ecn(p, error);
	return code ? code : check_trim(p, error);
}

static int check_faults(const struct mswq_faults *f, struct mswq_error *error)
{
	const struct {
		const char *name;
		uint32_t ppm;
	} chances[] = {{"loss_ppm", f->loss_ppm},
		       {"corrupt_ppm", f->corrupt_ppm},
		       {"duplicate_ppm", f->duplicate_ppm},
		       {"reorder_ppm", f->reorder_ppm}};

	for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
		if (chances[i].ppm > MSWQ_PPM_MAX)
			return out_of_range_error(error, chances[i].name, chances[i].ppm, 0,
						  MSWQ_PPM_MAX);
	}
	return check_rate("slow_bits", f->slow_bits, error);
}

/* A rate is a count of picoseconds a byte; 0 bit/s, no queue, is 0. */
static void set_byte_time(struct swq_config *c)
{
	uint64_t bits = c->slow_bits ? c->slow_bits : c->rate_bits;

	c->ps_per_byte = bits ? 8 * PS_PER_S / bits : 0;
}

static void write_port_params(struct swq_config *c, const struct mswq_port *p)
{
	c->trimmable = p->trimmable_dscp;
	c->control = p->control_dscp;
	c->seed = p->seed;
	c->rate_bits = p->rate_bits;
	c->limit_bytes = p->limit_bytes;
	c->control_limit_bytes = p->control_limit_bytes;
	c->ecn_min_bytes = p->ecn_min_bytes;
	c->ecn_max_bytes = p->ecn_max_bytes;
	c->ecn_max_ppm = p->ecn_max_ppm;
	c->trim_bytes = p->trim_bytes;
	c->trim_dscp = p->trim_dscp;
	c->flags = (uint8_t)((c->flags & SWQ_BLACKHOLE) | (p->ecn ? SWQ_ECN : 0) |
			     (p->repair_udp ? SWQ_REPAIR_UDP : 0) |
			     (p->remark_short ? SWQ_REMARK_SHORT : 0));
	set_byte_time(c);
}

static void write_fault_params(struct swq_config *c, const struct mswq_faults *f)
{
	c->flags = (uint8_t)((c->flags & ~SWQ_BLACKHOLE) | (f->blackhole ? SWQ_BLACKHOLE : 0));
	c->loss_ppm = f->loss_ppm;
	c->corrupt_ppm = f->corrupt_ppm;
	c->duplicate_ppm = f->duplicate_ppm;
	c->reorder_ppm = f->reorder_ppm;
	c->slow_bits = f->slow_bits;
	set_byte_time(c);
}

static int port_error(struct mswq_error *error, uint32_t ifindex, int code)
{
	if (code == ENOENT)
		return mswq_fail(error, code, "port %u has no queue: set it up first", ifindex);
	return mswq_fail(error, code, "port %u: %s", ifindex, strerror(code));
}

int mswq_port_set(struct mswq *swq, uint32_t ifindex, const struct mswq_port *port,
		  struct mswq_error *error)
{
	static const struct swq_state idle;
	struct swq_config c = {0};
	int code = check_port(port, error);

	if (code)
		return code;
	code = mswq_sys_map_get(swq->map[MSWQ_CONFIGS], &ifindex, &c, 0);
	if (code && code != ENOENT)
		return port_error(error, ifindex, code);
	write_port_params(&c, port);
	/* The program passes a port that has one of the two only, so the order does not matter. */
	code = mswq_sys_map_set(swq->map[MSWQ_STATES], &ifindex, &idle, BPF_NOEXIST);
	if (!code || code == EEXIST)
		code = mswq_sys_map_set(swq->map[MSWQ_CONFIGS], &ifindex, &c, BPF_ANY);
	return code ? port_error(error, ifindex, code) : 0;
}

int mswq_port_forget(struct mswq *swq, uint32_t ifindex, struct mswq_error *error)
{
	for (int i = 0; i < MSWQ_MAPS; i++) {
		int code = mswq_sys_map_delete(swq->map[i], &ifindex);

		if (code && code != ENOENT)
			return port_error(error, ifindex, code);
	}
	return 0;
}

/* Room for a held packet is made when it is first wanted: it is large. */
static int create_hold_slot(struct mswq *swq, uint32_t ifindex)
{
	static const struct swq_hold empty;
	int code = mswq_sys_map_set(swq->map[MSWQ_HOLDS], &ifindex, &empty, BPF_NOEXIST);

	return code == EEXIST ? 0 : code;
}

int mswq_fault_set(struct mswq *swq, uint32_t ifindex, const struct mswq_faults *faults,
		   struct mswq_error *error)
{
	struct swq_config c;
	int code = check_faults(faults, error);

	if (code)
		return code;
	code = mswq_sys_map_get(swq->map[MSWQ_CONFIGS], &ifindex, &c, 0);
	if (!code && faults->reorder_ppm)
		code = create_hold_slot(swq, ifindex);
	if (!code) {
		write_fault_params(&c, faults);
		code = mswq_sys_map_set(swq->map[MSWQ_CONFIGS], &ifindex, &c, BPF_EXIST);
	}
	return code ? port_error(error, ifindex, code) : 0;
}
