/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing files: see plan_verb.h. One file is open at a time, so that a fabric of any size can be
 * written. */
#include "cli/plan/plan_verb.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/fabric_node.h"
#include "lab/netns.h"
#include "ui/terminal.h"
#include "ui/text.h"

/* Files between two looks at the terminal. */
#define TICK 64u

struct work {
	const struct plan_emit *e;
	const struct mf_topology *t;
	uint64_t files, of, bytes;
	bool tell; /* progress, on a terminal */
};

/* ---- SONiC's YANG modules. REQ(plan.emit.sonic) ---- */

/* Every module that mf_emit_sonic writes data of. */
static const char *const modules[] = {
	"sonic-device_metadata", "sonic-port",	       "sonic-interface",    "sonic-srv6",
	"sonic-static-route",	 "sonic-dscp-tc-map",  "sonic-tc-queue-map", "sonic-trimming",
	"sonic-tc-dscp-map",	 "sonic-port-qos-map", "sonic-buffer-pool",  "sonic-buffer-profile",
	"sonic-buffer-queue",	 "sonic-wred-profile", "sonic-scheduler",    "sonic-queue",
};

#define MODULES (sizeof(modules) / sizeof(modules[0]))

/* 0: yanglint and the modules are there; -1 after a message. */
static int find_yanglint(const char *folder)
{
	static const char *const version[] = {"yanglint", "--version", NULL};
	struct ml_error e;
	char path[PATH_MAX];

	if (ml_proc_run(version, &e)) {
		fprintf(stderr,
			"mrc plan: --yang %s: yanglint is missing, so nothing can be held "
			"against the modules (apt-get install libyang2-tools)\n",
			folder);
		return -1;
	}
	for (size_t i = 0; i < MODULES; i++) {
		snprintf(path, sizeof(path), "%s/%s.yang", folder, modules[i]);
		if (access(path, R_OK) == 0)
			continue;
		fprintf(stderr,
			"mrc plan: --yang %s: %s.yang: %s; want the folder that SONiC "
			"installs as /usr/local/yang-models\n",
			folder, modules[i], strerror(errno));
		return -1;
	}
	return 0;
}

static int run_yanglint(const char *folder, const char *data, struct ml_error *e)
{
	/* yanglint, -p DIR, -t config, modules, data, NULL */
	const char *argv[5 + MODULES + 2] = {"yanglint", "-p", folder, "-t", "config"};
	static char path[MODULES][PATH_MAX];

	for (size_t i = 0; i < MODULES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%s.yang", folder, modules[i]);
		argv[5 + i] = path[i];
	}
	argv[5 + MODULES] = data;
	return ml_proc_run(argv, e);
}

/* Checks one switch: 0 it is valid, or -1 after a message. */
static int check_yang(const char *folder, const struct mf_topology *t, uint32_t node,
		      const struct mf_emit_options *o)
{
	char data[] = "/tmp/softmrc-plan-XXXXXX.json", name[MF_NODE_NAME_BYTES];
	int fd = mkstemps(data, 5), err;
	FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct ml_error e;

	mf_node_name(t, node, name);
	if (!to) {
		fprintf(stderr, "mrc plan: %s: %s\n", data, strerror(errno));
		if (fd >= 0) {
			close(fd);
			unlink(data);
		}
		return -1;
	}
	mf_emit_sonic(to, t, node, o, MF_SONIC_YANG);
	if (fclose(to)) {
		fprintf(stderr, "mrc plan: %s: %s\n", data, strerror(errno));
		err = -1;
	} else if ((err = run_yanglint(folder, data, &e))) {
		fprintf(stderr, "mrc plan: %s is not valid by %s: %s\n", name, folder, e.text);
	}
	unlink(data);
	return err ? -1 : 0;
}

/* ---- files ---- */

static int print_path_error(const char *path, const char *what)
{
	fprintf(stderr, "mrc plan: %s: %s\n", path, what);
	return -1;
}

/* Makes the folders that a path needs; path is written to and restored. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int err;

		*slash = '\0';
		err = mkdir(path, 0777) ? errno : 0;
		if (err && err != EEXIST)
			print_path_error(path, strerror(err));
		*slash = '/';
		if (err && err != EEXIST)
			return -1;
	}
	return 0;
}

static int path_of(const struct work *w, uint32_t node, char path[PATH_MAX])
{
	char place[MF_PATH_BYTES];
	int n;

	if (w->e->format->of == PLAN_OF_FABRIC)
		snprintf(place, sizeof(place), "%s", w->t->cfg.name);
	else
		mf_emit_path(w->t, node, place);
	n = snprintf(path, PATH_MAX, "%s/%s%s", w->e->out, place, w->e->format->suffix);
	/* The name that it has while it is written is longer by 4. */
	return n > 0 && n + 4 < PATH_MAX ? 0 : print_path_error(w->e->out, "too long a path");
}

static int write_file(struct work *w, uint32_t node)
{
	char path[PATH_MAX], half[PATH_MAX + 4];
	FILE *to;
	long size;
	bool ok;

	if (path_of(w, node, path) || make_folders(path))
		return -1;
	snprintf(half, sizeof(half), "%s.new", path);
	to = fopen(half, "w");
	if (!to)
		return print_path_error(half, strerror(errno));
	w->e->format->write(to, w->t, node, &w->e->how);
	size = ftell(to);
	ok = !fflush(to) && !ferror(to);
	if (fclose(to) || !ok || rename(half, path)) {
		print_path_error(path, strerror(errno));
		unlink(half);
		return -1;
	}
	w->files++;
	w->bytes += size > 0 ? (uint64_t)size : 0;
	return 0;
}

static void tell_progress(const struct work *w, bool last)
{
	char bytes[UI_UNITS_MAX];

	if (!w->tell || (!last && w->files % TICK))
		return;
	fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " files, %s\033[K%s", w->files, w->of,
		ui_units_bytes(bytes, w->bytes), last ? "\r\033[K" : "");
	fflush(stderr);
}

static int check_node(const struct work *w, uint32_t node)
{
	return w->e->yang ? check_yang(w->e->yang, w->t, node, &w->e->how.emit) : 0;
}

static uint64_t count_files(const struct work *w)
{
	uint64_t hosts = w->t->n_hosts, switches = w->t->n_switches;

	switch (w->e->format->of) {
	case PLAN_OF_FABRIC:
		return 1;
	case PLAN_OF_HOSTS:
		return hosts;
	case PLAN_OF_SWITCHES:
		return switches;
	case PLAN_OF_NODES:
		break;
	}
	return hosts + switches;
}

static int write_all(struct work *w)
{
	int err = 0;

	for (uint32_t node = 0; node < w->t->n_nodes && !err; node++) {
		if (w->e->format->of != PLAN_OF_FABRIC &&
		    !plan_format_fits(w->e->format, w->t, node))
			continue;
		err = ui_term_caught() ? -1 : write_file(w, node);
		if (!err)
			err = check_node(w, node);
		tell_progress(w, false);
		if (w->e->format->of == PLAN_OF_FABRIC)
			break;
	}
	tell_progress(w, true);
	if (ui_term_caught())
		fprintf(stderr,
			"mrc plan: interrupted; %" PRIu64 " of %" PRIu64 " files are in %s\n",
			w->files, w->of, w->e->out);
	return err;
}

static int find_node(const struct work *w, uint32_t *node)
{
	struct mf_error error;

	*node = 0;
	if (w->e->format->of == PLAN_OF_FABRIC)
		return 0;
	if (!mf_node_find(w->t, w->e->node, node, &error)) {
		fprintf(stderr, "mrc plan: --node %s: %s\n", w->e->node, error.what);
		return -1;
	}
	if (plan_format_fits(w->e->format, w->t, *node))
		return 0;
	fprintf(stderr, "mrc plan: --node %s: %s is for %s\n", w->e->node, w->e->format->name,
		w->e->format->of == PLAN_OF_HOSTS ? "hosts" : "switches");
	return -1;
}

static int write_one(struct work *w)
{
	uint32_t node;

	if (find_node(w, &node))
		return -1;
	w->of = 1;
	if (w->e->out)
		return write_file(w, node) || check_node(w, node) ? -1 : 0;
	w->e->format->write(stdout, w->t, node, &w->e->how);
	return check_node(w, node);
}

int plan_emit_run(const struct plan_emit *e, const struct mf_topology *t)
{
	struct work w = {.e = e, .t = t, .tell = isatty(STDERR_FILENO)};
	bool one = e->format->of == PLAN_OF_FABRIC ? !e->out : strcmp(e->node, "all") != 0;
	char bytes[UI_UNITS_MAX];
	int err;

	if (!e->out && !one) {
		fprintf(stderr,
			"mrc plan: --emit %s: want --out DIR for all nodes, or one --node\n",
			e->format->name);
		return -1;
	}
	if (e->yang && find_yanglint(e->yang))
		return -1;
	w.of = count_files(&w);
	ui_term_catch();
	err = one ? write_one(&w) : write_all(&w);
	if (e->out && !err)
		printf("%" PRIu64 " file%s in %s, %s%s\n", w.files, w.files == 1 ? "" : "s", e->out,
		       ui_units_bytes(bytes, w.bytes), e->yang ? ", valid by YANG" : "");
	return err;
}
