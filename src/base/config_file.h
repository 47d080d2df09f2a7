/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_file.h - the configuration file (docs/configuration.md), for those that read settings of
 * it: the one that MRC_CONFIG names, else MB_CONFIG_FILE if there is one.
 */
#ifndef SOFTMRC_BASE_CONFIG_FILE_H
#define SOFTMRC_BASE_CONFIG_FILE_H

#define MB_CONFIG_FILE "/etc/softmrc.toml"
/* A file is shorter than this: it is read whole, by threads of programs. */
#define MB_CONFIG_BYTES 16384u
/* Bytes of a path that a setting may give, with the 0 behind it. */
#define MB_CONFIG_PATH 256u

#endif
