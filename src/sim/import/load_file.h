/* SPDX-License-Identifier: BSD-2-Clause */
/* load_file.h - whole files as text, and files in the folder of others. */
#ifndef SOFTMRC_SIM_IMPORT_LOAD_FILE_H
#define SOFTMRC_SIM_IMPORT_LOAD_FILE_H

#include <stddef.h>

#include "sim/import/file_error.h"

/* Connection matrices of 100,000 hosts are some tens of megabytes. */
#define MS_FILE_BYTES_MAX (1u << 30)

/*
 * ms_file_load reads a file; the text ends with a zero byte and is the caller's to free. NULL:
 * *error says why it cannot be read, or that it is no text. Blocks on the file.
 */
char *ms_file_load(const char *path, struct ms_file_error *error);
/*
 * ms_file_sibling_path writes the path of `name` as a file names it that stands at `file`: beside
 * it, unless name is absolute. false: longer than size.
 */
bool ms_file_sibling_path(const char *file, const char *name, char *out, size_t size);

#endif
