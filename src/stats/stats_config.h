/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_config.h - private to this module: the folder that the configuration file names. */
#ifndef SOFTMRC_STATS_STATS_CONFIG_H
#define SOFTMRC_STATS_STATS_CONFIG_H

#include "base/config_file.h"

#define STATS_ERROR_MAX (2 * MB_CONFIG_PATH + 128u)

/*
 * stats_config_dir writes statistics.dir of the configuration file, empty where there is no file or
 * no such key in it. Keys of others are theirs to judge. 0, or an errno value, EINVAL for a file
 * that is wrong: then error names file, line and what is allowed.
 */
int stats_config_dir(char dir[MB_CONFIG_PATH], char error[STATS_ERROR_MAX]);

#endif
