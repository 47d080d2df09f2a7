/* SPDX-License-Identifier: BSD-2-Clause */
/* The stage on loopback: see stage.h. */
#include "demo/stage.h"

#include "base/quantity.h"
#include "fabric/topology_toml.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The dynamic ports, from which each user takes a stretch. */
#define EV_BASE 49152u
#define EV_BASE_STRIDE 1024u
#define EV_BASE_USERS 15u

static struct demo_loopback *loopback_of(struct demo_stage *stage)
{
	return (struct demo_loopback *)(void *)stage;
}

/* ---- the fault table ---- */

struct mrc_fault_table *demo_fault_table_open(const char *path, uint64_t seed)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct mrc_fault_table *table = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*table)) == 0)
		table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED)
		fprintf(stderr, "mrc: fault table %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (table == MAP_FAILED)
		return NULL;
	table->version = MRC_FAULT_VERSION;
	table->rules = MRC_FAULT_RULES;
	table->seed = seed;
	memcpy(table->magic, MRC_FAULT_MAGIC, sizeof(table->magic));
	return table;
}

static void set_kind(struct mrc_fault_rule *rule, uint32_t kind)
{
	__atomic_store_n(&rule->kind, kind, __ATOMIC_RELEASE);
}

void demo_fault_rule_set(struct mrc_fault_rule *to, const struct mrc_fault_rule *rule)
{
	const size_t first = offsetof(struct mrc_fault_rule, port_mask);
	const size_t end = offsetof(struct mrc_fault_rule, hit_data);

	/* Processes read what lies between the kind and the counters only while it is not OFF. */
	set_kind(to, MRC_FAULT_OFF);
	memcpy((uint8_t *)to + first, (const uint8_t *)rule + first, end - first);
	set_kind(to, rule->kind);
}

/* ---- hosts ---- */

static int stage_begin(struct demo_stage *stage, const struct demo_rundir *dir, const char *run,
		       uint64_t seed)
{
	struct demo_loopback *l = loopback_of(stage);
	char path[256], evs[16], base[16], pace[MB_QUANTITY_MAX];

	snprintf(path, sizeof(path), "%s/%s.faults", dir->path, run);
	snprintf(evs, sizeof(evs), "%u", stage->shape.paths);
	/* Sockets share a port within one user only; two users' demos must not meet. */
	snprintf(base, sizeof(base), "%u", EV_BASE + getuid() % EV_BASE_USERS * EV_BASE_STRIDE);
	mb_quantity_write_rate(pace, stage->shape.pace_bps);
	l->table = demo_fault_table_open(path, seed);
	return !l->table || setenv("MRC_PORT_PREFIX", "24", 1) || setenv("MRC_EVS", evs, 1) ||
			       setenv("MRC_EV_BASE", base, 1) || setenv("MRC_PACE", pace, 1) ||
			       setenv("MRC_FAULTS", path, 1)
		       ? -1
		       : 0;
}

static void stage_end(struct demo_stage *stage)
{
	struct demo_loopback *l = loopback_of(stage);

	if (l->table)
		munmap(l->table, sizeof(*l->table));
	l->table = NULL;
}

/* The same for both transports. */
static void write_ports(const struct demo_stage *stage, const char *transport, char *out,
			size_t size)
{
	size_t len = (size_t)snprintf(out, size, "export MRC_PORTS=");

	(void)transport;
	for (uint32_t p = 0; p < stage->shape.planes && len < size; p++)
		len += (size_t)snprintf(out + len, size - len, "%s127.0.%u.$((MRC_LAB_INDEX+1))",
					p ? "," : "", p);
}

/* ---- faults ---- */

/* The fabric in which targets have their names: path k of a plane is its T1 k. */
static bool init_fabric(struct mf_topology *t, const struct demo_shape *shape)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("lab");
	struct mf_error e;

	cfg.planes = shape->planes;
	cfg.hosts_per_t0 = demo_hosts_per_t0(shape);
	cfg.t0s = DEMO_T0S;
	cfg.t1s = shape->paths;
	return mf_topology_init(t, &cfg, &e);
}

/* Widens a rule to one more target: a plane, a path of one, or a port of a host. */
static void add_target(struct mrc_fault_rule *rule, const struct mf_topology *t,
		       const struct mf_target *target)
{
	struct mf_node node = mf_node_at(t, target->node);

	if (target->kind == MF_TARGET_PLANE) {
		rule->port_mask |= 1u << target->plane;
	} else if (target->kind == MF_TARGET_SWITCH) {
		rule->port_mask |= 1u << node.plane;
		rule->path_modulus = t->cfg.t1s;
		rule->path_mask |= UINT64_C(1) << node.index;
	} else {
		rule->port_mask |= 1u << target->port;
		rule->direction = MRC_FAULT_BOTH;
		demo_loopback_gid(rule->host, target->node);
	}
}

bool demo_loopback_rule(const struct demo_shape *shape, const struct demo_fault *fault,
			struct mrc_fault_rule *rule)
{
	struct mf_target target;
	struct mf_topology t;
	struct mf_fault f;
	struct mf_error e;
	bool ok = init_fabric(&t, shape);

	*rule = (struct mrc_fault_rule){.direction = MRC_FAULT_ANY};
	for (uint32_t i = 0; ok && i < fault->targets; i++) {
		ok = mf_fault_text(&t, fault->target[i], fault->fault, &f, &e) &&
		     mf_target_find(&t, fault->target[i], &target, &e);
		if (!ok)
			break;
		rule->kind = f.kind == MF_FAULT_CORRUPT ? MRC_FAULT_CORRUPT : MRC_FAULT_DROP;
		rule->chance_ppm = f.value ? (uint32_t)f.value : MF_SHARE_ONE_PPM;
		add_target(rule, &t, &target);
	}
	return ok;
}

static int set_fault(struct demo_stage *stage, uint32_t slot, const struct demo_fault *fault,
		     bool on)
{
	struct mrc_fault_rule *to = &loopback_of(stage)->table->rule[slot], rule;

	if (!on) {
		set_kind(to, MRC_FAULT_OFF);
	} else if (demo_loopback_rule(&stage->shape, fault, &rule)) {
		demo_fault_rule_set(to, &rule);
	} else {
		fprintf(stderr, "mrc demo: %s %s: port drivers cannot do this\n", fault->target[0],
			fault->fault);
		return -1;
	}
	return 0;
}

static struct demo_hits stage_fault_hits(struct demo_stage *stage, uint32_t slot)
{
	const struct mrc_fault_rule *rule = &loopback_of(stage)->table->rule[slot];

	return (struct demo_hits){
		.data = __atomic_load_n(&rule->hit_data, __ATOMIC_RELAXED),
		.control = __atomic_load_n(&rule->hit_control, __ATOMIC_RELAXED),
		.last_ns = __atomic_load_n(&rule->last_hit_ns, __ATOMIC_RELAXED),
	};
}

/* ---- TCP, which feels the table through socket options ---- */

static bool tcp_hit(const struct mrc_fault_rule *rule, const struct demo_shape *shape,
		    uint32_t rank, uint32_t plane, uint32_t path)
{
	uint8_t from[16], to[16];

	if (!(rule->port_mask >> plane & 1))
		return false;
	if (rule->path_modulus && !(rule->path_mask >> path % rule->path_modulus & 1))
		return false;
	if (rule->direction == MRC_FAULT_ANY)
		return true;
	demo_loopback_gid(from, rank);
	demo_loopback_gid(to, (rank + 1) % shape->ranks);
	/* Data goes one way and acknowledgements the other: either end will do. */
	return memcmp(from, rule->host, 16) == 0 || memcmp(to, rule->host, 16) == 0;
}

static uint32_t tcp_hits(const struct demo_stage *stage, const struct demo_fault *fault,
			 const struct demo_job *tcp, bool *can_feel)
{
	struct mrc_fault_rule rule;
	uint32_t n = 0;

	if (!demo_loopback_rule(&stage->shape, fault, &rule))
		return 0;
	/* Kernels that refuse socket filters leave TCP nothing but faults that lose everything. */
	*can_feel = tcp->report.tcp_feels_loss || fault->certain;
	for (uint32_t rank = 0; *can_feel && rank < tcp->processes.members; rank++) {
		struct demo_report r;

		demo_job_rank_report(tcp, rank, &r);
		for (uint32_t p = 0; p < r.tcp_paths; p++)
			n += tcp_hit(&rule, &stage->shape, rank, p, r.tcp_path[p]);
		demo_report_close(&r);
	}
	return n;
}

static const struct demo_stage_ops loopback_ops = {
	.begin = stage_begin,
	.end = stage_end,
	.ports = write_ports,
	.set_fault = set_fault,
	.hits = stage_fault_hits,
	.tcp_hits = tcp_hits,
};

void demo_loopback_init(struct demo_loopback *l, const struct demo_shape *shape)
{
	*l = (struct demo_loopback){.stage = {.ops = &loopback_ops,
					      .name = "loopback",
					      .counts = true,
					      .tcp_text = "a connection a plane, each on one path",
					      .shape = *shape}};
}
