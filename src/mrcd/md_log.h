/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_log.h - mrcd's log: to journald, with fields, where stderr is journald's; else lines of
 * key=value on stderr.
 */
#ifndef SOFTMRC_MRCD_MD_LOG_H
#define SOFTMRC_MRCD_MD_LOG_H

#include <stdint.h>

/* Where store and socket are unless the file says otherwise. */
#define MD_DIR_DEFAULT "/run/softmrc/node"

enum md_level {
	MD_ERROR,
	MD_WARNING,
	MD_INFO,
	MD_DEBUG,
};

extern const char *const md_level_words[];

/* md_log_open sets what is written: up to a level. Before it, all up to MD_INFO is. */
void md_log_open(enum md_level level);
/*
 * md_log writes an entry; `event` is a word for machines, uid of who asked for it, or MD_NOBODY.
 */
__attribute__((format(printf, 4, 5))) void md_log(enum md_level level, const char *event,
						  int64_t uid, const char *format, ...);
/* Of no user. */
#define MD_NOBODY (-1)

#endif
