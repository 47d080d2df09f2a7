/* SPDX-License-Identifier: BSD-2-Clause */
/* built_parts.h - what a build has or lacks, by the packages that were there when it was made. */
#ifndef SOFTMRC_CLI_BUILT_PARTS_H
#define SOFTMRC_CLI_BUILT_PARTS_H

#include <stdbool.h>

struct cli_built_part {
	const char *name;
	const char *packages; /* of Debian, which a build needs for it */
	const char *without;  /* what does not work where it is missing */
	bool built;
};

#define CLI_BUILT_PARTS 3u

extern const struct cli_built_part cli_built_parts[CLI_BUILT_PARTS];

#endif
