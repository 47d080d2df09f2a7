/* SPDX-License-Identifier: BSD-2-Clause */
/* The stage that is a fabric: see stage.h. */
#include "demo/stage.h"

#include "base/quantity.h"
#include "demo/demo_run.h"
#include "ui/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Links carry six times the pace of a host: the job, and with a TCP baseline though a hash may put
 * all four of its connections on one plane.
 */
#define LINK_OF_PACE 6u
/* Of the incast: each writer has a port of its own. */
#define INCAST_PORT 18600u
#define INCAST_SETTINGS "unset MRC_PORTS MRC_FAULTS MRC_STATS_DIR; export MRC_CC=none MRC_PACE=%s; "

static struct demo_lab *lab_of(struct demo_stage *stage)
{
	return (struct demo_lab *)(void *)stage;
}

/* ---- runs ---- */

/* The environment of the user describes other hosts; those of a lab have a file (MRC_CONFIG). */
static int stage_begin(struct demo_stage *stage, const struct demo_rundir *dir, const char *run,
		       uint64_t seed)
{
	char pace[MB_QUANTITY_MAX];

	(void)dir;
	(void)run;
	(void)seed; /* chance is the kernel's here */
	memset(lab_of(stage)->hits, 0, sizeof(lab_of(stage)->hits));
	return unsetenv("MRC_FAULTS") || unsetenv("MRC_CONFIG") || unsetenv("MRC_PORTS") ||
			       setenv("MRC_PACE",
				      mb_quantity_write_rate(pace, stage->shape.pace_bps), 1)
		       ? -1
		       : 0;
}

static void stage_end(struct demo_stage *stage)
{
	struct demo_lab *l = lab_of(stage);
	struct ml_error e;

	ml_processes_stop(&l->incast);
	if (ml_lab_clear_fault(l->stage.lab, NULL, MF_FAULT_KINDS, &e) < 0)
		fprintf(stderr, "mrc demo: %s\n", e.text);
}

/* A TCP connection for each plane, to the one address that a host has: routes spread them. */
static void write_ports(const struct demo_stage *stage, const char *transport, char *out,
			size_t size)
{
	size_t len = (size_t)snprintf(out, size, ":");

	for (uint32_t p = 0; strcmp(transport, "tcp") == 0 && p < stage->shape.planes; p++)
		len += (size_t)snprintf(out + len, size - len, "%s$MRC_LAB_ADDRESS",
					p ? "," : "; export MRC_PORTS=");
}

/* ---- faults ---- */

static int print_lab_error(const struct ml_error *e)
{
	fprintf(stderr, "mrc demo: %s\n", e->text);
	return -1;
}

/* Adds up all links: as read now, or after a message as read last. 0, or -1. */
static int sum_links(struct demo_lab *l, struct ml_counters *sum)
{
	uint32_t links = ml_lab_topology(l->stage.lab)->n_links;
	struct ml_error e;
	int rc = ml_lab_counters(l->stage.lab, l->counters, &e) ? print_lab_error(&e) : 0;

	*sum = (struct ml_counters){0};
	for (uint32_t i = 0; i < links; i++) {
		sum->packets += l->counters[i].packets;
		sum->trimmed += l->counters[i].trimmed;
		sum->marked += l->counters[i].marked;
		sum->dropped += l->counters[i].dropped;
		sum->lost += l->counters[i].lost + l->counters[i].corrupted;
	}
	return rc;
}

/*
 * Hosts of the job write to the one that has no rank: the example write_bw, which sleeps for its
 * completions, so that the job keeps its share of the processors. Without congestion control, which
 * would slow the writers down before a queue has to trim; for longer than any fault lasts.
 */
static int start_incast(struct demo_lab *l)
{
	const struct demo_shape *shape = &l->stage.shape;
	struct ml_scenario_program *server = &l->server, *writer = &l->writer;
	uint32_t writers = demo_lab_incast(shape), spare = demo_lab_spare_host(shape);
	char ports[DEMO_INCAST_MAX * 8] = "", port[16], pace[MB_QUANTITY_MAX];
	struct ml_error e;

	*server = (struct ml_scenario_program){
		.name = "server", .host = {spare}, .hosts = 1, .background = true};
	*writer = (struct ml_scenario_program){
		.name = "writer", .hosts = writers, .background = true};
	for (uint32_t i = 0; i < writers; i++) {
		writer->host[i] = demo_lab_host(shape, i);
		snprintf(port, sizeof(port), " %u", INCAST_PORT + writer->host[i]);
		strcat(ports, port);
	}
	/* Together they exceed the last link by half. */
	mb_quantity_write_rate(pace, shape->pace_bps * DEMO_INCAST_LINK * 3 / 2 / writers);
	snprintf(server->run, sizeof(server->run),
		 INCAST_SETTINGS "for port in%s; do write_bw --port $port & done; wait", pace,
		 ports);
	snprintf(writer->run, sizeof(writer->run),
		 INCAST_SETTINGS "exec write_bw $MRC_LAB_ADDRESS_%u --port $((%u + MRC_LAB_HOST)) "
				 "--min 262144 --max 262144 --ms 60000 --depth 4 --sleep",
		 pace, spare, INCAST_PORT);
	ml_processes_open(&l->incast, l->stage.lab, NULL);
	if (ml_processes_start(&l->incast, server, &e) ||
	    ml_processes_start(&l->incast, writer, &e)) {
		ml_processes_stop(&l->incast);
		return print_lab_error(&e);
	}
	return 0;
}

/* Ends the incast; -1 after a message when part of it ended by itself, which none should. */
static int stop_incast(struct demo_lab *l)
{
	int ended = 0;

	ml_processes_poll(&l->incast);
	for (uint32_t i = 0; i < l->incast.members; i++)
		ended += !l->incast.member[i].pid;
	ml_processes_stop(&l->incast);
	l->incast.members = 0;
	if (ended)
		fprintf(stderr, "mrc demo: a writer of the incast ended early\n");
	return ended ? -1 : 0;
}

/* Adds a fault to all its targets, or clears it there. */
static int change_faults(struct demo_lab *l, const struct demo_fault *fault, bool add)
{
	struct mf_fault f;
	struct ml_error e;

	for (uint32_t i = 0; i < fault->targets; i++)
		if (ml_fault_read(ml_lab_topology(l->stage.lab), fault->target[i], fault->fault, &f,
				  &e) ||
		    (add ? ml_lab_add_fault(l->stage.lab, &f, &e)
			 : ml_lab_clear_fault(l->stage.lab, f.target, f.kind, &e)) < 0)
			return print_lab_error(&e);
	return 0;
}

static int set_fault(struct demo_stage *stage, uint32_t slot, const struct demo_fault *fault,
		     bool on)
{
	struct demo_lab *l = lab_of(stage);
	struct demo_lab_hits *h = &l->hits[slot];
	struct ml_counters sum;

	if (!h->begun && sum_links(l, &sum))
		return -1;
	if (!h->begun)
		h->before = sum.lost;
	h->begun = true;
	if (change_faults(l, fault, on))
		return -1;
	return !fault->incast ? 0 : on ? start_incast(l) : stop_incast(l);
}

/* Looks at the links now and then; when the last packet was is known as well as that. */
static struct demo_hits stage_fault_hits(struct demo_stage *stage, uint32_t slot)
{
	struct demo_lab *l = lab_of(stage);
	struct demo_lab_hits *h = &l->hits[slot];
	uint64_t now_ns = ui_clock_ns();
	struct ml_counters sum;

	if (!h->begun || now_ns < l->looked_ns + DEMO_LAB_LOOK_NS)
		return h->hits;
	l->looked_ns = now_ns;
	/* A switch that rebooted counts from nothing again. */
	if (sum_links(l, &sum) == 0 && sum.lost >= h->before)
		h->hits.data = sum.lost - h->before;
	return h->hits;
}

/* Every connection goes somewhere over the fabric, and what hits it is real. */
static uint32_t tcp_hits(const struct demo_stage *stage, const struct demo_fault *fault,
			 const struct demo_job *tcp, bool *can_feel)
{
	(void)fault;
	*can_feel = true;
	return tcp->processes.members * stage->shape.planes;
}

static void stage_fabric(struct demo_stage *stage, struct ml_counters *sum)
{
	sum_links(lab_of(stage), sum);
}

/* ---- life ---- */

static void close_lab(struct demo_stage *stage)
{
	struct demo_lab *l = lab_of(stage);

	ml_processes_stop(&l->incast);
	ml_lab_close(l->stage.lab);
	l->stage.lab = NULL;
	free(l->counters);
	l->counters = NULL;
}

static const struct demo_stage_ops lab_ops = {
	.begin = stage_begin,
	.end = stage_end,
	.ports = write_ports,
	.set_fault = set_fault,
	.hits = stage_fault_hits,
	.tcp_hits = tcp_hits,
	.fabric = stage_fabric,
	.close = close_lab,
};

static int write_topology(const struct demo_shape *shape, const char *path, struct ml_error *why)
{
	char edge[MB_QUANTITY_MAX], core[MB_QUANTITY_MAX];
	uint64_t link = shape->pace_bps * LINK_OF_PACE;
	FILE *f = fopen(path, "we");

	if (!f)
		return ml_error_set(why, "%s: %s", path, strerror(errno));
	fprintf(f,
		"[topology]\nbase = \"lab\"\nname = \"demo\"\nplanes = %u\nhosts_per_t0 = %u\n"
		"t0s = %u\nt1s = %u\n[links]\nspeed = \"%s\"\n[links.t0_t1]\nspeed = \"%s\"\n",
		shape->planes, demo_hosts_per_t0(shape), DEMO_T0S, shape->paths,
		mb_quantity_write_rate(edge, link), mb_quantity_write_rate(core, 2 * link));
	if (fclose(f))
		return ml_error_set(why, "%s: %s", path, strerror(errno));
	return 0;
}

int demo_lab_open(struct demo_lab *l, const struct demo_shape *shape, const struct demo_rundir *dir,
		  struct ml_error *why)
{
	char path[256];
	struct ml_options options = {
		.name = l->name,
		.topology = path,
		/* Links carry twice what is given here. */
		.pace_bps = shape->pace_bps * LINK_OF_PACE / 2,
		.goes_with_process = true,
	};

	*l = (struct demo_lab){
		.stage = {.ops = &lab_ops, .name = "lab", .tcp_text = l->tcp_text, .shape = *shape},
	};
	snprintf(l->name, sizeof(l->name), "demo%u", (unsigned)getpid());
	snprintf(path, sizeof(path), "%s/demo.toml", dir->path);
	if (write_topology(shape, path, why))
		return -1;
	l->stage.lab = ml_lab_up(&options, why);
	if (!l->stage.lab)
		return -1;
	l->counters = calloc(ml_lab_topology(l->stage.lab)->n_links, sizeof(*l->counters));
	if (!l->counters) {
		close_lab(&l->stage);
		return ml_error_set(why, "no memory");
	}
	l->stage.trims = ml_lab_programs(l->stage.lab, &l->stage.no_trims);
	l->stage.counts = l->stage.trims;
	snprintf(l->tcp_text, sizeof(l->tcp_text),
		 "%u connections to the next rank over plain routes, ECMP over %u planes",
		 shape->planes, shape->planes);
	return 0;
}
