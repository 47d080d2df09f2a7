/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_error.h - what is wrong with an input file, in one line: FILE:LINE: what is wrong; what is
 * allowed. Every reader of a file stops at the first error and hands back nothing.
 */
#ifndef SOFTMRC_SIM_IMPORT_FILE_ERROR_H
#define SOFTMRC_SIM_IMPORT_FILE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#define MS_FILE_ERROR_BYTES 640u

struct ms_file_error {
	char text[MS_FILE_ERROR_BYTES];
};

/*
 * ms_file_set_error writes the message; line 0 stands for the file as a whole. Returns false, so
 * that a reader can end with it.
 */
__attribute__((format(printf, 4, 5))) bool ms_file_set_error(struct ms_file_error *error,
							     const char *file, uint32_t line,
							     const char *format, ...);
/* ms_file_set_no_memory is the same for a file that was too large for the memory there is. */
bool ms_file_set_no_memory(struct ms_file_error *error, const char *file);

#endif
