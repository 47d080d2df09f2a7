/* SPDX-License-Identifier: BSD-2-Clause */
/* map_session.h - a lab that is probed for some time by a verb of `mrc map`. */
#ifndef SOFTMRC_CLI_MAP_MAP_SESSION_H
#define SOFTMRC_CLI_MAP_MAP_SESSION_H

#include <sys/stat.h>

#include "cli/map/map_result.h"

/* What all verbs have in common; begins the options of each. */
struct map_session {
	uint64_t for_ns, rate_bit_s; /* 0: as long as the verb wants */
	bool json;
	bool by_clock; /* for_ns is time; else it is rounds too, which late ones take longer for */
	const struct ui_verb *verb;
	struct ml_lab *lab;
	struct stat host0; /* of its namespace: a lab is told from one of the same name by it */
	struct prober *prober;
	struct map_result result;
};

enum { MAP_HEALTHY = 0, MAP_SICK = 1, MAP_USAGE = 2 };

/* Rows of a table of flags that a session takes. */
#define MAP_SESSION_FLAGS(type, how_long)                                                          \
	{"--for",                                                                                  \
	 UI_FLAG_TIME,                                                                             \
	 "TIME",                                                                                   \
	 how_long,                                                                                 \
	 offsetof(struct type, s.for_ns),                                                          \
	 UINT64_C(200000000),                                                                      \
	 UINT64_C(86400000000000)},                                                                \
	{                                                                                          \
		"--rate", UI_FLAG_RATE, "RATE", "what each host may send, in bits a second (10M)", \
			offsetof(struct type, s.rate_bit_s), PROBE_RATE_MIN, PROBE_RATE_MAX        \
	}

/*
 * map_session_open opens a lab by the name that was given, or the only one there is, and its
 * prober. MAP_HEALTHY; else the exit status, after a message. for_ns becomes what a check takes if
 * it was 0.
 */
int map_session_open(struct map_session *s, const struct ui_verb *verb, const char *name);
void map_session_close(struct map_session *s);

/*
 * map_session_run probes and judges until the time is over, the user wants to go, or `each`, which
 * is called after each judgement, says so by true. MAP_HEALTHY; MAP_USAGE after a message, where
 * the lab went down meanwhile.
 */
int map_session_run(struct map_session *s, bool (*each)(struct map_session *s));

/*
 * map_session_refuse_interrupted is for verbs whose status says that all is well: MAP_HEALTHY;
 * MAP_USAGE after a message, where the user ended it before its time.
 */
int map_session_refuse_interrupted(const struct map_session *s);

#endif
