/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.c - where messages of the libraries go: stderr, or a function of the program's.
 *
 * The process has one sink, for libmrc and the drop-in alike, and it is a global for that reason:
 * messages are made before there is a NIC, and of all NICs alike. Its lock is the last in the order
 * of locks: messages are made under any other one, and nothing is called under it but the program's
 * function.
 */
#include "host/nic.h"
#include "host/platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/printable.h"

/* A line about a setting names a path and a value, the longest there are. */
#define LOG_TEXT_BYTES 1280u
/* 2026-11-26T12:47:57.123456Z, and as much as a year of more digits may take. */
#define LOG_TIME_BYTES 80u
/* Numbers of syslog(3), which the journal reads between < and > at the beginning of a line. */
static const char *const log_level_name[] = {
	[MRC_LOG_ERROR] = "error",
	[MRC_LOG_WARNING] = "warning",
	[MRC_LOG_INFO] = "info",
	[MRC_LOG_DEBUG] = "debug",
};
static const int log_level_syslog[] = {
	[MRC_LOG_ERROR] = 3,
	[MRC_LOG_WARNING] = 4,
	[MRC_LOG_INFO] = 6,
	[MRC_LOG_DEBUG] = 7,
};

struct log_sink {
	pthread_mutex_t lock;
	mrc_log_fn fn; /* NULL: stderr; guarded by the lock, as is the context */
	void *context;
	atomic_int of_program; /* MRC_LOG_CONFIGURED: it leaves the level to the settings */
	atomic_int of_settings;
	atomic_int format; /* enum mh_log_format */
};

static struct log_sink *log_sink(void)
{
	static struct log_sink the_sink = {.lock = PTHREAD_MUTEX_INITIALIZER,
					   .of_program = MRC_LOG_CONFIGURED,
					   .of_settings = MRC_LOG_WARNING};

	return &the_sink;
}

/* This thread is in the program's function: what that makes us say would wait for itself. */
static _Thread_local bool log_inside;

void mh_log_configure(enum mrc_log_level level, enum mh_log_format format)
{
	struct log_sink *s = log_sink();

	atomic_store_explicit(&s->of_settings, (int)level, memory_order_relaxed);
	atomic_store_explicit(&s->format, (int)format, memory_order_relaxed);
}

bool mh_log_wants(enum mrc_log_level level)
{
	const struct log_sink *s = log_sink();
	int most = atomic_load_explicit(&s->of_program, memory_order_relaxed);

	if (most == MRC_LOG_CONFIGURED)
		most = atomic_load_explicit(&s->of_settings, memory_order_relaxed);
	return (int)level <= most;
}

void mh_log_lock(void)
{
	pthread_mutex_lock(&log_sink()->lock);
}

void mh_log_unlock(void)
{
	pthread_mutex_unlock(&log_sink()->lock);
}

static const char *log_time(char text[LOG_TIME_BYTES])
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	snprintf(text, LOG_TIME_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000);
	return text;
}

/* One call of stdio a line, so that lines of several threads stay whole. */
static void log_to_stderr(const struct log_sink *s, enum mrc_log_level level, const char *text)
{
	char time[LOG_TIME_BYTES];

	switch ((enum mh_log_format)atomic_load_explicit(&s->format, memory_order_relaxed)) {
	case MH_LOG_PLAIN:
		fprintf(stderr, "softmrc: %s\n", text);
		return;
	case MH_LOG_TIME:
		fprintf(stderr, "%s softmrc[%ld] %s: %s\n", log_time(time), (long)getpid(),
			log_level_name[level], text);
		return;
	case MH_LOG_JOURNALD:
		fprintf(stderr, "<%d>softmrc: %s\n", log_level_syslog[level], text);
		return;
	}
}

static void log_deliver(enum mrc_log_level level, const char *text)
{
	struct log_sink *s = log_sink();

	if (log_inside) {
		log_to_stderr(s, level, text);
		return;
	}
	mh_log_lock();
	if (s->fn) {
		log_inside = true;
		s->fn(s->context, level, text);
		log_inside = false;
	} else {
		log_to_stderr(s, level, text);
	}
	mh_log_unlock();
}

/*
 * Names of interfaces and devices, paths and values of settings are part of messages. A line break
 * in one would make a second line, which could say anything, and to the journal be of any level.
 */
void mh_log(enum mrc_log_level level, const char *format, ...)
{
	char text[LOG_TEXT_BYTES];
	int cancel_state, code = errno;
	va_list args;

	if (!mh_log_wants(level))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mb_printable(text, sizeof(text));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	log_deliver(level, text);
	pthread_setcancelstate(cancel_state, NULL);
	errno = code;
}

int mh_log_set(enum mrc_log_level level, mrc_log_fn fn, void *context)
{
	struct log_sink *s = log_sink();

	if ((int)level < MRC_LOG_CONFIGURED || (int)level > MRC_LOG_DEBUG)
		return EINVAL;
	mh_log_lock();
	s->fn = fn;
	s->context = context;
	atomic_store_explicit(&s->of_program, (int)level, memory_order_relaxed);
	mh_log_unlock();
	return 0;
}
