/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the device as any program would and looks which ports it chose: statistics tell. What the
 * device says on stderr while it refuses is caught, for it is the best explanation there is.
 */
#include "cli/doctor/doctor.h"
#include "stats/stats_reader.h"

#include <mrc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* RoCEv2's port, where statistics do not tell another. */
#define UDP_FIRST 4791u

/* Runs `open` with stderr in a file; returns its last line in said. */
static struct mrc_context *open_quietly(struct ibv_context **device, char *said, size_t size)
{
	struct ibv_device **list;
	struct mrc_context *context = NULL;
	FILE *catcher = tmpfile();
	int real = dup(STDERR_FILENO);
	char line[240];

	said[0] = '\0';
	if (catcher && real >= 0)
		dup2(fileno(catcher), STDERR_FILENO);
	list = ibv_get_device_list(NULL);
	*device = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (*device)
		context = mrc_create_context(*device, NULL);
	if (!context)
		snprintf(said, size, "cannot be opened: %s", strerror(errno));
	if (list)
		ibv_free_device_list(list);
	if (real >= 0) {
		dup2(real, STDERR_FILENO);
		close(real);
	}
	if (!catcher)
		return context;
	rewind(catcher);
	while (!context && fgets(line, sizeof(line), catcher)) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(said, size, "%s", line);
	}
	fclose(catcher);
	return context;
}

static void note_port(struct doctor_facts *f, const struct mrc_stats_segment *s, uint32_t i,
		      const char *root)
{
	doctor_interface_describe(&f->port[i], s->port[i].address, s->port[i].interface, root);
	f->port[i].wrapped =
		s->carrier == MRC_STATS_CARRIER_RAW41 || s->carrier == MRC_STATS_CARRIER_SRV6_RAW41;
}

static void note_node(struct doctor_facts *f, const struct mrc_stats_node *node)
{
	snprintf(f->node.store, sizeof(f->node.store), "%s", node->store);
	snprintf(f->node.refused, sizeof(f->node.refused), "%s", node->refused);
	snprintf(f->node.writer, sizeof(f->node.writer), "%s", node->writer);
	f->node.generation = node->generation;
	f->node.writer_pid = node->writer_pid;
	f->node.writer_uid = node->writer_uid;
	doctor_facts_hints(&f->node);
}

static void note_ports(struct doctor_facts *f, const char *root)
{
	static struct stats_reader stats;

	stats_reader_open_own(&stats);
	f->statistics = stats_reader_read(&stats, 1) == 0 && stats.n == 1;
	if (f->statistics) {
		const struct mrc_stats_segment *s = stats.process[0].now;

		f->udp_first = (uint16_t)(s->port[0].udp_port - s->port[0].slot);
		f->ports = s->ports < DOCTOR_PORTS_MAX ? s->ports : DOCTOR_PORTS_MAX;
		note_node(f, &s->node);
		f->srv6 = s->carrier >= MRC_STATS_CARRIER_SRV6_UDP;
		for (uint32_t i = 0; i < f->ports; i++)
			note_port(f, s, i, root);
	}
	stats_reader_close(&stats);
}

/* Without statistics the device still tells the address of its first port. */
static void note_first_port(struct doctor_facts *f, struct ibv_context *device, const char *root)
{
	union ibv_gid gid;

	if (ibv_query_gid(device, 1, 0, &gid))
		return;
	f->ports = 1;
	doctor_interface_describe(&f->port[0], gid.raw, "", root);
}

void doctor_facts_device(struct doctor_facts *f, const char *root)
{
	struct ibv_context *device = NULL;
	struct mrc_context *context =
		open_quietly(&device, f->device_error, sizeof(f->device_error));

	f->loopback_up = doctor_interface_loopback_up();
	f->udp_first = UDP_FIRST;
	if (context) {
		note_ports(f, root);
		if (!f->ports)
			note_first_port(f, device, root);
		mrc_destroy_context(context);
	}
	if (device)
		ibv_close_device(device);
}
