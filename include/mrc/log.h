/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h - what the libraries say, and to whom: messages for people, each of a level.
 *
 * Without this header messages of the levels MRC_LOG_ERROR and MRC_LOG_WARNING are lines on stderr.
 * MRC_LOG (log.level in the configuration file) asks for more or less, and MRC_LOG_FORMAT
 * (log.format) for lines with time and level, or with the prefix that the journal reads. A program
 * that has a log of its own takes messages over with mrc_log_set.
 */
#ifndef MRC_LOG_H
#define MRC_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

enum mrc_log_level {
	MRC_LOG_CONFIGURED = -1, /* for mrc_log_set only: what MRC_LOG says, else WARNING */
	MRC_LOG_OFF = 0,	 /* for mrc_log_set only: nothing */
	MRC_LOG_ERROR = 1,	 /* a call failed, or something ended that does not come back */
	MRC_LOG_WARNING = 2,	 /* it works, but not as it should; also that it does again */
	MRC_LOG_INFO = 3,	 /* openings and their ends */
	MRC_LOG_DEBUG = 4,	 /* each change of an EV or a port of a peer */
};

/*
 * A message: one line of printable ASCII without an end of line, valid during the call. The level
 * is one of MRC_LOG_ERROR to MRC_LOG_DEBUG. Locks of the library may be held, so it must not call
 * any function of softmrc, must not fork, and is to return soon: packets wait for it. One call at a
 * time, from any thread.
 */
typedef void (*mrc_log_fn)(void *context, enum mrc_log_level level, const char *text);

/*
 * mrc_log_set says which messages are made, and calls fn with each; NULL: stderr gets them, as
 * without this call. With a level other than MRC_LOG_CONFIGURED the program decides, and MRC_LOG
 * does not count. When it returns no other thread is inside the function of before, nor will be, so
 * what its context names may be freed. Blocks while such a call lasts. Returns 0, or EINVAL: there
 * is no such level, and nothing has changed. May be called at any time from any thread.
 */
int mrc_log_set(enum mrc_log_level level, mrc_log_fn fn, void *context);

#ifdef __cplusplus
}
#endif

#endif
