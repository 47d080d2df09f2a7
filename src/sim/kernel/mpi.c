/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi.c - loads the library that speaks MPI; see ranks.h. */
#include "sim/kernel/ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the folder of the program, be it bin/ or a test's: as built, and as installed. */
#define LIBRARY "softmrc/libsoftmrc-mpi.so.1"
static const char *const places[] = {"../lib/" LIBRARY, "../" SOFTMRC_LIBDIR "/" LIBRARY};

#define PLACES (sizeof(places) / sizeof(places[0]))

struct ms_mpi {
	const struct ms_mpi_library *library;
	struct ms_ranks ranks;
};

bool ms_mpi_expected(void)
{
	return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

/* The path of the library at a place, which is named from the folder of the program that runs. */
static bool library_path(const char *place, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size);
	char *slash;

	if (n <= 0 || (size_t)n >= size)
		return false;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + strlen(place) >= size)
		return false;
	snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s", place);
	return true;
}

/* The library is never closed: MPI leaves threads and handlers behind that are its code. */
static const struct ms_mpi_library *load_library(char *why, size_t size)
{
	const struct ms_mpi_library *library = NULL;
	char path[PATH_MAX];
	void *handle = NULL;

	for (size_t i = 0; i < PLACES && !handle; i++) {
		if (!library_path(places[i], path, sizeof(path))) {
			snprintf(why, size, "the folder of this program cannot be read");
			return NULL;
		}
		/* MPI loads parts of itself, which look for its symbols. */
		handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	}
	if (handle)
		library = dlsym(handle, MS_MPI_SYMBOL);
	if (!library)
		snprintf(why, size, "MPI: %s (it is built where libopenmpi-dev is installed)",
			 dlerror());
	return library;
}

struct ms_mpi *ms_mpi_open(char *why, size_t size)
{
	const struct ms_mpi_library *library = load_library(why, size);
	struct ms_mpi *mpi;

	if (!library)
		return NULL;
	mpi = calloc(1, sizeof(*mpi));
	if (!mpi) {
		snprintf(why, size, "no memory");
		return NULL;
	}
	mpi->library = library;
	if (!library->open(&mpi->ranks)) {
		snprintf(why, size, "MPI does not start");
		free(mpi);
		return NULL;
	}
	if (mpi->ranks.ranks > MS_RANKS_MAX) {
		snprintf(why, size, "%u ranks: at most %u", mpi->ranks.ranks, MS_RANKS_MAX);
		ms_mpi_close(mpi);
		return NULL;
	}
	return mpi;
}

const struct ms_ranks *ms_mpi_ranks(const struct ms_mpi *mpi)
{
	return &mpi->ranks;
}

void ms_mpi_close(struct ms_mpi *mpi)
{
	if (!mpi)
		return;
	mpi->library->close(&mpi->ranks);
	free(mpi);
}
