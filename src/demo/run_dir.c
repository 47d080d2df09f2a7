/* SPDX-License-Identifier: BSD-2-Clause */
/* The demo's private directory: see stage.h. */
#include "demo/stage.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a UNIX socket below it must fit into 108 bytes. */
#define BASE_MAX_BYTES 60u
#define OPEN_FOLDERS 16

int demo_rundir_create(struct demo_rundir *d)
{
	const char *base = secure_getenv("TMPDIR");

	if (!base || !*base)
		base = "/tmp";
	if (strlen(base) > BASE_MAX_BYTES) {
		fprintf(stderr, "mrc demo: TMPDIR=%s: want a path of at most %u bytes\n", base,
			BASE_MAX_BYTES);
		d->path[0] = '\0';
		return -1;
	}
	snprintf(d->path, sizeof(d->path), "%s/mrc-demo-XXXXXX", base);
	if (mkdtemp(d->path))
		return 0;
	fprintf(stderr, "mrc demo: directory %s: %s\n", d->path, strerror(errno));
	d->path[0] = '\0';
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	if (remove(path))
		fprintf(stderr, "mrc demo: cannot remove %s: %s\n", path, strerror(errno));
	return 0;
}

void demo_rundir_remove(struct demo_rundir *d)
{
	if (d->path[0])
		nftw(d->path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
	d->path[0] = '\0';
}

int demo_rundir_sub(const struct demo_rundir *d, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", d->path, name);
	if (mkdir(path, 0700) == 0)
		return 0;
	fprintf(stderr, "mrc demo: directory %s: %s\n", path, strerror(errno));
	return -1;
}
