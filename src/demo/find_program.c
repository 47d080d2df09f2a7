/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding programs: beside mrc, as in the build tree, or in lib/softmrc/examples as installed.
 */
#include "demo/find_program.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = {
	".",
	"../lib/softmrc/examples",
	"../" SOFTMRC_LIBDIR "/softmrc/examples",
};

int demo_program_find(const char *name, char *path, size_t size)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *dir;

	if (len < 0) {
		fprintf(stderr, "mrc: /proc/self/exe: %s\n", strerror(errno));
		return -1;
	}
	self[len] = '\0';
	dir = dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(path, size, "%s/%s/%s", dir, places[i], name);

		if (n > 0 && (size_t)n < size && access(path, X_OK) == 0)
			return 0;
	}
	fprintf(stderr, "mrc: the program `%s` is not in %s/, nor in %s or %s of it\n", name, dir,
		places[1], places[2]);
	return -1;
}
