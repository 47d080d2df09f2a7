/* SPDX-License-Identifier: BSD-2-Clause */
/* md_log.c - see md_log.h. */
#include "mrcd/md_log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

const char *const md_level_words[] = {"error", "warning", "info", "debug", NULL};

static enum md_level most = MD_INFO;
static bool journal;

/* systemd says which stream is journald's, by device and inode. */
static bool is_journal(void)
{
	const char *given = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;

	if (!given || fstat(STDERR_FILENO, &st))
		return false;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return strcmp(own, given) == 0;
}

void md_log_open(enum md_level level)
{
	most = level;
	journal = is_journal();
}

void md_log(enum md_level level, const char *event, int64_t uid, const char *format, ...)
{
	static const int priority[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};
	char text[1024], who[32] = "";
	va_list args;

	if (level > most)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (journal) {
		sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", priority[level], "MRCD_EVENT=%s",
				event, "MRCD_UID=%lld", (long long)uid, NULL);
		return;
	}
	if (uid != MD_NOBODY)
		snprintf(who, sizeof(who), " uid=%lld", (long long)uid);
	fprintf(stderr, "mrcd: level=%s event=%s%s %s\n", md_level_words[level], event, who, text);
}
