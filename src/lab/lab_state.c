/* SPDX-License-Identifier: BSD-2-Clause */
/* A lab's file: see lab_state.h. */
#include "lab/lab_state.h"
#include "fabric/topology_toml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 2
#define ID_DIGITS 16
#define PATH_BYTES 96
#define TEXT_MAX (1u << 20)

static char *path_of(const char *name, const char *suffix, char *out)
{
	snprintf(out, PATH_BYTES, ML_STATE_DIR "/%.*s%s", (int)ML_LAB_NAME_MAX, name, suffix);
	return out;
}

int ml_state_name(const char *name, struct ml_error *e)
{
	size_t n = strlen(name);

	if (n && n < ML_LAB_NAME_MAX && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") == n)
		return 0;
	return ml_error_set(e, "%s: no name of a lab; 1 to %u letters a-z and digits", name,
			    ML_LAB_NAME_MAX - 1);
}

/* In what others can write to a file may say anything of a lab, and a link lead anywhere. */
static int check_folder(const char *path, struct ml_error *e)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : ml_error_set(e, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return ml_error_set(
		e, "%s: must be a folder of root that nobody else can write to; remove it", path);
}

static int check_folders(struct ml_error *e)
{
	return check_folder(ML_RUN_DIR, e) || check_folder(ML_STATE_DIR, e) ? -1 : 0;
}

int ml_state_lock(struct ml_error *e)
{
	int fd;

	mkdir(ML_RUN_DIR, 0755);
	mkdir(ML_STATE_DIR, 0755);
	if (check_folders(e))
		return -1;
	fd = open(ML_STATE_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ml_error_set(e, "%s: %s", ML_STATE_DIR, strerror(errno));
	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			close(fd);
			return ml_error_set(e, "locking %s: %s", ML_STATE_DIR, strerror(errno));
		}
	return fd;
}

uint64_t ml_process_since(pid_t pid)
{
	char path[64], text[1024], *rest;
	uint64_t ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	rest = strrchr(text, ')'); /* the name before may hold anything */
	if (rest && (strncmp(rest, ") Z", 3) == 0 || strncmp(rest, ") X", 3) == 0))
		return 0; /* it has ended, and nobody has waited for it */
	for (int field = 2; rest && field < 22; field++)
		rest = strchr(rest + 1, ' ');
	if (rest)
		ticks = strtoull(rest, NULL, 10);
	return ticks;
}

/* ---- in memory ---- */

static char *read_text(const char *path, struct ml_error *e)
{
	FILE *f = fopen(path, "re");
	char *text = f ? calloc(1, TEXT_MAX) : NULL;

	if (!text || (fread(text, 1, TEXT_MAX - 1, f) == 0 && ferror(f))) {
		ml_error_set(e, "%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* From the text if there is one; the text of a file is kept, for the file may change. */
static int find_topology(struct ml_lab *lab, struct ml_error *e)
{
	char why[MF_TOML_ERROR_BYTES];
	const char *what = lab->topology_what;
	bool ok;

	if (!lab->topology_text && strpbrk(what, "/.")) {
		lab->topology_text = read_text(what, e);
		if (!lab->topology_text)
			return -1;
	}
	ok = lab->topology_text ? mf_topology_read(what, lab->topology_text, &lab->t, why)
				: mf_topology_open(what, &lab->t, why);
	if (!ok)
		return ml_error_set(e, "%s", why);
	if (lab->t.n_nodes > ML_NODES_MAX || lab->t.n_links / 2 > ML_CABLES_MAX)
		return ml_error_set(e,
				    "%s: %u hosts and switches, %u cables: too large for one "
				    "machine; a lab has at most %u and %u",
				    what, lab->t.n_nodes, lab->t.n_links / 2, ML_NODES_MAX,
				    ML_CABLES_MAX);
	return 0;
}

struct ml_lab *ml_state_create(const char *name, const char *topology, const char *text,
			       struct ml_error *e)
{
	struct ml_lab *lab = calloc(1, sizeof(*lab));

	if (!lab) {
		ml_error_set(e, "no memory");
		return NULL;
	}
	lab->watchdog = -1;
	snprintf(lab->name, sizeof(lab->name), "%s", name);
	snprintf(lab->prefix, sizeof(lab->prefix), "mrc-%s-", lab->name);
	lab->topology_what = strdup(topology);
	lab->topology_text = text ? strdup(text) : NULL;
	if (!lab->topology_what || (text && !lab->topology_text)) {
		ml_error_set(e, "no memory");
		goto fail;
	}
	if (find_topology(lab, e))
		goto fail;
	lab->port = calloc(lab->t.n_links, sizeof(*lab->port));
	lab->off = calloc(lab->t.n_nodes, sizeof(*lab->off));
	if (!lab->port || !lab->off) {
		ml_error_set(e, "no memory");
		goto fail;
	}
	ml_faults_apply(&lab->t, NULL, 0, lab->port);
	return lab;
fail:
	ml_state_destroy(lab);
	return NULL;
}

void ml_state_destroy(struct ml_lab *lab)
{
	if (!lab)
		return;
	mswq_close(lab->swq);
	free(lab->topology_what);
	free(lab->topology_text);
	free(lab->port);
	free(lab->off);
	free(lab);
}

/* ---- the file ---- */

static json_t *faults_json(const struct ml_lab *lab)
{
	json_t *list = json_array();

	for (size_t i = 0; i < lab->faults; i++) {
		const struct mf_fault *f = &lab->fault[i];

		json_array_append_new(list,
				      json_pack("{ss si si sI ss}", "target", f->target, "kind",
						(int)f->kind, "direction", (int)f->direction,
						"value", (json_int_t)f->value, "other", f->other));
	}
	return list;
}

static json_t *to_json(const struct ml_lab *lab)
{
	json_t *off = json_array();
	char id[24];

	for (uint32_t node = 0; node < lab->t.n_nodes; node++)
		if (lab->off[node])
			json_array_append_new(off, json_integer(node));
	snprintf(id, sizeof(id), "%016" PRIx64, lab->id);
	return json_pack("{si ss ss ss ss* sI si ss sb si sI sI ss so so}", "version", VERSION,
			 "name", lab->name, "id", id, "topology", lab->topology_what, "text",
			 lab->topology_text, "pace", (json_int_t)lab->pace_bps, "mtu",
			 (int)lab->t.cfg.mtu, "sid_device", lab->sid_device, "building",
			 lab->building, "owner", (int)lab->owner, "owner_since",
			 (json_int_t)lab->owner_since, "program", (json_int_t)lab->program,
			 "no_program", lab->no_program, "off", off, "faults", faults_json(lab));
}

int ml_state_write(const struct ml_lab *lab, struct ml_error *e)
{
	char path[PATH_BYTES], part[PATH_BYTES];
	json_t *json = to_json(lab);
	int failed = !json || json_dump_file(json, path_of(lab->name, ".part", part), 0) ||
		     rename(part, path_of(lab->name, ".json", path));

	json_decref(json);
	if (!failed)
		return 0;
	ml_error_set(e, "writing %s/%s.json: %s", ML_STATE_DIR, lab->name, strerror(errno));
	unlink(path_of(lab->name, ".part", part));
	return -1;
}

static int read_fault(json_t *json, struct mf_fault *f)
{
	const char *target, *other;
	int kind, way;
	json_int_t value;

	if (json_unpack(json, "{ss si si sI ss}", "target", &target, "kind", &kind, "direction",
			&way, "value", &value, "other", &other) ||
	    kind < 0 || kind >= MF_FAULT_KINDS || way < 0 || way > MF_DIRECTION_IN || value < 0)
		return -1;
	*f = (struct mf_fault){.kind = (enum mf_fault_kind)kind,
			       .direction = (enum mf_direction)way,
			       .value = (uint64_t)value};
	snprintf(f->target, sizeof(f->target), "%s", target);
	snprintf(f->other, sizeof(f->other), "%s", other);
	return 0;
}

static int read_off(struct ml_lab *lab, json_t *off)
{
	size_t i;
	json_t *item;

	memset(lab->off, 0, lab->t.n_nodes * sizeof(*lab->off));
	json_array_foreach(off, i, item)
	{
		json_int_t node = json_is_integer(item) ? json_integer_value(item) : -1;

		if (node < 0 || node >= lab->t.n_nodes)
			return -1;
		lab->off[node] = true;
	}
	return 0;
}

static int read_lists(struct ml_lab *lab, json_t *off, json_t *faults)
{
	struct mf_target target;
	struct mf_error why;
	size_t i;
	json_t *item;

	if (!json_is_array(off) || !json_is_array(faults) || read_off(lab, off))
		return -1;
	lab->faults = 0;
	json_array_foreach(faults, i, item)
	{
		if (i >= ML_FAULTS_MAX || read_fault(item, &lab->fault[i]) ||
		    !mf_target_find(&lab->t, lab->fault[i].target, &target, &why))
			return -1;
		lab->faults++;
	}
	ml_faults_apply(&lab->t, lab->fault, lab->faults, lab->port);
	return 0;
}

/* What a lab's file says besides numbers and lists: each has a form of its own. */
static bool words_ok(const char *id, const char *sid_device)
{
	return strlen(id) == ID_DIGITS && strspn(id, "0123456789abcdef") == ID_DIGITS &&
	       ml_probe_knows_sid_device(sid_device);
}

static struct ml_lab *from_json(json_t *json, const char *file, struct ml_error *e)
{
	const char *name, *id, *topology, *text = NULL, *sid_device, *no_program;
	json_int_t pace, program, since;
	json_t *off, *faults;
	int version, building, owner, mtu;
	struct ml_lab *lab;

	if (json_unpack(json, "{si ss ss ss s?s sI si ss sb si sI sI ss so so}", "version",
			&version, "name", &name, "id", &id, "topology", &topology, "text", &text,
			"pace", &pace, "mtu", &mtu, "sid_device", &sid_device, "building",
			&building, "owner", &owner, "owner_since", &since, "program", &program,
			"no_program", &no_program, "off", &off, "faults", &faults) ||
	    version != VERSION || strcmp(name, file) != 0 || !words_ok(id, sid_device) ||
	    since < 0 ||
	    (pace != 0 &&
	     (pace < (json_int_t)ML_PACE_MIN_BPS || pace > (json_int_t)ML_PACE_MAX_BPS)) ||
	    mtu < (int)MF_MTU_MIN || mtu > (int)MF_MTU_MAX || program < 0 || program > UINT32_MAX) {
		ml_error_set(e, "not a lab of this version of softmrc");
		return NULL;
	}
	lab = ml_state_create(name, topology, text, e);
	if (!lab)
		return NULL;
	lab->pace_bps = (uint64_t)pace;
	lab->t.cfg.mtu = (uint32_t)mtu;
	lab->building = building;
	lab->owner = owner;
	lab->owner_since = (uint64_t)since;
	lab->id = strtoull(id, NULL, 16);
	lab->program = (uint32_t)program;
	snprintf(lab->sid_device, sizeof(lab->sid_device), "%s", sid_device);
	snprintf(lab->no_program, sizeof(lab->no_program), "%s", no_program);
	if (read_lists(lab, off, faults)) {
		ml_error_set(e, "its faults, or the list of switches that are off, cannot be read");
		ml_state_destroy(lab);
		return NULL;
	}
	return lab;
}

struct ml_lab *ml_state_read(const char *name, bool *missing, struct ml_error *e)
{
	char path[PATH_BYTES];
	json_error_t error;
	struct ml_lab *lab = NULL;
	json_t *json;

	*missing = false;
	if (check_folders(e))
		return NULL;
	json = json_load_file(path_of(name, ".json", path), 0, &error);
	*missing = !json && access(path, F_OK) != 0;
	if (json)
		lab = from_json(json, name, e);
	else if (!*missing)
		ml_error_set(e, "line %d: %s", error.line, error.text);
	if (!lab && !*missing) {
		struct ml_error why = *e;

		ml_error_set(e, "%s: %.200s; mrc lab down %s removes the lab", path, why.text,
			     name);
	}
	json_decref(json);
	return lab;
}

int ml_state_reload(struct ml_lab *lab, struct ml_error *e)
{
	char path[PATH_BYTES];
	json_t *json = json_load_file(path_of(lab->name, ".json", path), 0, NULL);
	json_t *off = json_object_get(json, "off"), *faults = json_object_get(json, "faults");
	int failed = !off || !faults || read_lists(lab, off, faults);

	json_decref(json);
	return failed ? ml_error_set(e, "%s: the lab is gone", path) : 0;
}

/*
 * The files of its hosts, and their folders, which hold files alone; of a link in the place of
 * either only the link goes.
 */
static void remove_folder(int at, const char *path, int depth)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		    unlinkat(fd, name, 0) != 0 && depth > 0)
			remove_folder(fd, name, depth - 1);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (unlinkat(at, path, AT_REMOVEDIR) != 0)
		unlinkat(at, path, 0);
}

void ml_state_remove(const char *name)
{
	char path[PATH_BYTES];

	remove_folder(AT_FDCWD, path_of(name, "", path), 1);
	unlink(path_of(name, ".part", path));
	unlink(path_of(name, ".json", path));
}
