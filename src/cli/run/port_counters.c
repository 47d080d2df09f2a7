/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port_counters.c - the counters of a port below /sys/class/infiniband: see run.h.
 *
 * The kernel makes such a file new for each reader. Here a process beside the program writes them
 * twice a second from what the MRC processes of this user publish; it sees the same mounts, has
 * nothing else of the program's, and ends with it. It is no child of the program, which may wait
 * for those that it has.
 */
#include "cli/run/run.h"

#include "stats/metrics.h"
#include "stats/stats_reader.h"
#include "ui/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERIOD_MS 500
#define PATH_BYTES 160
/* Rows of the catalogue are fewer. */
#define COUNTERS_MAX 256u

/* Files of which the kernel's documentation says what they count, and what of ours is the same. */
static const struct {
	const char *file, *counter[3];
	uint32_t unit; /* of ours to one of the file's */
} known[] = {
	{"counters/port_xmit_data", {"port_tx_bytes"}, 4},
	{"counters/port_rcv_data", {"port_rx_bytes"}, 4},
	{"counters/port_xmit_packets", {"port_tx_frames"}, 1},
	{"counters/port_rcv_packets", {"port_rx_frames"}, 1},
	{"counters/unicast_xmit_packets", {"port_tx_frames"}, 1},
	{"counters/unicast_rcv_packets", {"port_rx_frames"}, 1},
	{"counters/port_xmit_discards", {"port_tx_refused"}, 1},
	{"counters/port_rcv_errors", {"drop_icrc", "port_rx_unsound", "port_rx_oversize"}, 1},
	{"counters/excessive_buffer_overrun_errors", {"port_rx_overruns"}, 1},
	{"hw_counters/duplicate_request", {"rx_duplicates"}, 1},
	{"hw_counters/local_ack_timeout_err", {"timeouts"}, 1},
	{"hw_counters/np_ecn_marked_roce_packets", {"rx_ecn"}, 1},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

struct writer {
	const struct run_device *device;
	int n;
	struct stats_reader stats;
	uint64_t sum[RUN_DEVICES_MAX][COUNTERS_MAX]; /* by row of the catalogue */
	uint64_t written[RUN_DEVICES_MAX][COUNTERS_MAX + KNOWN];
	bool made;
};

/* What a process added since the last look. One that has ended stays in the sums. */
static void add_process(struct writer *w, const struct stats_process *p)
{
	const struct stats_metric *m;
	uint64_t now, before;

	if (p->device >= (uint32_t)w->n)
		return;
	for (size_t i = 0; i < COUNTERS_MAX && (m = stats_metric(i)); i++) {
		before = 0;
		if (m->bytes || !stats_metric_read(m, p->now, (struct stats_metric_index){0}, &now))
			continue;
		stats_metric_read(m, p->before, (struct stats_metric_index){0}, &before);
		if (now > before)
			w->sum[p->device][i] += now - before;
	}
}

static uint64_t sum_of(const struct writer *w, int device, const char *name)
{
	const struct stats_metric *m;

	for (size_t i = 0; i < COUNTERS_MAX && (m = stats_metric(i)); i++)
		if (strcmp(m->name, name) == 0)
			return w->sum[device][i];
	return 0;
}

/* A sum only grows, so that its text never gets shorter and no reader sees an empty file. */
static int write_number(struct writer *w, int device, size_t slot, const char *file, uint64_t n)
{
	char path[PATH_BYTES], text[24];
	int fd, len, err = 0;

	if (w->made && w->written[device][slot] == n)
		return 0;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s", w->device[device].name,
		 file);
	len = snprintf(text, sizeof(text), "%" PRIu64 "\n", n);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || pwrite(fd, text, (size_t)len, 0) != len)
		err = -1;
	if (fd >= 0)
		close(fd);
	w->written[device][slot] = n;
	return err;
}

static int write_device(struct writer *w, int device)
{
	const struct stats_metric *m;
	char file[PATH_BYTES];
	int err = 0;

	for (size_t i = 0; i < COUNTERS_MAX && (m = stats_metric(i)); i++) {
		if (m->bytes)
			continue;
		snprintf(file, sizeof(file), "hw_counters/%s", m->name);
		err |= write_number(w, device, i, file, w->sum[device][i]);
	}
	for (size_t k = 0; k < KNOWN; k++) {
		uint64_t n = 0;

		for (size_t c = 0; c < 3 && known[k].counter[c]; c++)
			n += sum_of(w, device, known[k].counter[c]);
		err |= write_number(w, device, COUNTERS_MAX + k, known[k].file, n / known[k].unit);
	}
	return err;
}

/* One round. -1 and errno: a file cannot be written. */
static int refresh(struct writer *w)
{
	int err = 0;

	if (stats_reader_read(&w->stats, ui_clock_ns()) == 0)
		for (uint32_t i = 0; i < w->stats.n; i++)
			add_process(w, &w->stats.process[i]);
	for (int i = 0; i < w->n; i++)
		err |= write_device(w, i);
	w->made = true;
	return err;
}

/* ---- the process ---- */

/* Whoever waits for the end of the program's output must not wait for this process. */
static void leave_the_program(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != keep)
			close(fd);
}

static _Noreturn void keep_fresh(struct writer *w, int program)
{
	struct pollfd end = {.fd = program, .events = POLLIN};

	while (poll(&end, 1, PERIOD_MS) == 0)
		refresh(w);
	_exit(0);
}

/* The files are there before the program starts; then one more process goes on with them. */
static _Noreturn void make_and_go_on(struct writer *w, int program)
{
	leave_the_program(program);
	stats_reader_open(&w->stats, NULL, 0);
	if (refresh(w))
		_exit(errno ? errno : EIO);
	switch (fork()) {
	case 0:
		/* The one that it was has the reader's descriptors as well. */
		keep_fresh(w, program);
	case -1:
		_exit(errno);
	default:
		_exit(0);
	}
}

/* The first file of each folder makes the folder; `lifespan` says in ms how old numbers may be. */
static int make_folders(const struct run_device *d, struct run_view_error *e)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/counters/port_xmit_data",
		 d->name);
	if (run_view_file("", path, "0\n", e))
		return -1;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/lifespan",
		 d->name);
	return run_view_file("", path, "500\n", e);
}

int run_port_counters_start(const struct run_device *d, int n, struct run_view_error *e)
{
	struct writer *w = calloc(1, sizeof(*w));
	int program = (int)syscall(SYS_pidfd_open, getpid(), 0), status = ENOMEM << 8, err = 0;
	pid_t pid = -1;

	for (int i = 0; i < n && !err; i++)
		err = make_folders(&d[i], e);
	if (!err && w && program >= 0) {
		w->device = d;
		w->n = n;
		pid = fork();
	}
	if (pid == 0)
		make_and_go_on(w, program);
	if (pid > 0)
		waitpid(pid, &status, 0);
	else if (program < 0)
		status = errno << 8;
	if (program >= 0)
		close(program);
	free(w);
	if (!err && status)
		snprintf(e->text, sizeof(e->text), "counters: %s", strerror(status >> 8 & 0xff));
	return err || status ? -1 : 0;
}
