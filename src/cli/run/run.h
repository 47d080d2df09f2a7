/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.h - the parts of mrc run: the device that sysfs shows to libibverbs, the mounts that put it
 * there, and the report of its counters.
 */
#ifndef SOFTMRC_CLI_RUN_RUN_H
#define SOFTMRC_CLI_RUN_RUN_H

#include "cli/fabric_at_hand.h"

#include <mrc/stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stats/stats_files.h"

/*
 * A mount namespace in which folders that are read-only, /dev and /sys/class, have more in
 * them than the kernel put there.
 *
 * Over the folder comes one in memory that holds all its entries, each bound from where it was, and
 * then what is to be added. Only this process and those that it starts see it.
 */

/* What could not be done, and why. */
struct run_view_error {
	char text[200];
};

/*
 * run_view_enter moves this process, which must have one thread, into a mount namespace of its own;
 * without root into a user namespace too, in which it is the user that it was. 0, or -1.
 */
int run_view_enter(struct run_view_error *e);

/* run_view_open makes `folder` one that can be written to, with what is in it; 0, or -1. */
int run_view_open(const char *folder, struct run_view_error *e);

/*
 * What is made is root/path, `path` beginning with a slash, with all folders above it. Others may
 * write in `root`, "" or the folder of a view that is for containers: below it no link is followed,
 * and no file is written that has another name.
 */

/* run_view_file makes a file, or replaces what is in it; 0, or -1. */
int run_view_file(const char *root, const char *path, const char *text, struct run_view_error *e);
/* run_view_node makes a device that is what /dev/null is; it needs CAP_MKNOD. 0, or -1. */
int run_view_node(const char *root, const char *path, struct run_view_error *e);
/* run_view_bind makes a file at path, below an open folder, show what another is; 0, or -1. */
int run_view_bind(const char *path, const char *of, struct run_view_error *e);

/*
 * run_view_copy makes root/folder with the folders and links of `folder`, one of links like
 * /sys/class: mounted over it, it shows the same, and can have more. What is there stays. 0, or -1.
 */
int run_view_copy(const char *folder, const char *root, struct run_view_error *e);

/* What programs read of an RDMA device below /sys and /dev, for mrc0 and others. */

#define RUN_DEVICES_MAX ((int)STATS_DEVICES_MAX)

/* What the files say. */
struct run_device {
	char name[16];
	char uverbs[16]; /* the name of its kernel device: uverbs0, or behind real ones */
	uint8_t gid[16];
	uint64_t guid;
	char interface[16]; /* that has the GID's address; empty: none */
	int n_gids;	    /* indexes of its GID table, which all have that GID */
	bool up;
	double rate_gbps; /* of the port */
};

/*
 * run_device_query opens each device for a moment, notes what it says of itself, and returns how
 * many there are; 0: one has said on stderr why it cannot be opened.
 */
int run_device_query(struct run_device d[RUN_DEVICES_MAX]);

/*
 * run_device_mount_sysfs makes /dev/infiniband/uverbs0, /sys/class/infiniband/mrc0 and
 * /sys/class/infiniband_verbs/uverbs0, and the same of the others, in the view that was entered,
 * together with those of real devices. 0, or -1.
 */
int run_device_mount_sysfs(const struct run_device *d, int n, struct run_view_error *e);
/*
 * run_device_write_sysfs writes the same below a folder, `root`, which is made: sys/class and
 * dev/infiniband of it are for others to mount. It mounts nothing; without CAP_MKNOD a line
 * on stderr says what is to be mounted in place of the nodes. 0, or -1.
 */
int run_device_write_sysfs(const char *root, const struct run_device *d, int n,
			   struct run_view_error *e);

/*
 * run_port_counters_start makes the counters and hw_counters of each device's port, in the view
 * that was entered, and starts a process that keeps them up to date until this one, or what it
 * becomes, has ended: sums over the MRC processes of this user, those that have ended meanwhile
 * too. 0, or -1.
 */
int run_port_counters_start(const struct run_device *d, int n, struct run_view_error *e);

/*
 * What softmrc counted while a program ran, it and all that it started: said when it has ended.
 *
 * Its processes keep their statistics (mrc/stats.h) in a folder of this run alone, which goes when
 * they have been read.
 */

#define RUN_REPORT_DIR_MAX 64u

/* An event of an EV, and the GID of the device that met it. */
struct run_event {
	struct mrc_stats_event e;
	uint8_t gid[16];
};

struct run_report {
	const struct cli_fabric *fabric; /* NULL: EVs have numbers alone */
	char dir[RUN_REPORT_DIR_MAX];
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t processes;	   /* that opened the device */
	uint32_t unreadable;	   /* files that were not whole */
	uint32_t ports;
	struct mrc_stats_counter counter[MRC_STATS_COUNTERS]; /* sums */
	struct {
		uint64_t tx_bytes, rx_bytes;
	} port[MRC_STATS_PORTS]; /* sums */
	struct run_event *event; /* of EVs, in the order of time */
	size_t events, room;
};

/* run_report_open makes the folder and the environment that leads there. 0, or an errno value. */
int run_report_open(struct run_report *r);

/* run_report_add adds what a process showed. 0, or ENOMEM. */
int run_report_add(struct run_report *r, const struct mrc_stats_segment *s);
/* run_report_read adds all processes, and brings their events in order. 0, or an errno value. */
int run_report_read(struct run_report *r);

/* run_report_show writes it for eyes. */
void run_report_show(const struct run_report *r, const char *program, FILE *to);
/* run_report_json writes it for programs. 0, or an errno value. */
int run_report_json(const struct run_report *r, const char *path);

/* run_report_close removes the folder, and frees what was read. */
void run_report_close(struct run_report *r);

#endif
