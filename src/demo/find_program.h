/* SPDX-License-Identifier: BSD-2-Clause */
/* find_program.h - where the programs are that the demo starts: relative to the mrc binary
 * itself. */
#ifndef SOFTMRC_DEMO_FIND_PROGRAM_H
#define SOFTMRC_DEMO_FIND_PROGRAM_H

#include <stddef.h>

/* demo_program_find writes the path of a program; 0, or -1 after a message with the places
 * tried. */
int demo_program_find(const char *name, char *path, size_t size);

#endif
