/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_fixture.h - what the tests of the simulator's readers share. */
#ifndef UNIT_SIM_FIXTURE_H
#define UNIT_SIM_FIXTURE_H

#include <string.h>

#include "sim/import/input.h"
#include "support/test.h"

/* A text that a reader must refuse, and a part of what it must say. */
struct sim_bad {
	const char *text, *says;
};

/* sim_said fails unless the message begins with the file's name and has the part in it. */
static inline void sim_said(const struct ms_file_error *error, const char *file, const char *part)
{
	if (strncmp(error->text, file, strlen(file)) != 0 || !strstr(error->text, part))
		fail_msg("\"%s\" says nothing of \"%s\"", error->text, part);
}

#endif
