/* SPDX-License-Identifier: BSD-2-Clause */
/* demo_options.h - the command line of `mrc demo`. */
#ifndef SOFTMRC_DEMO_DEMO_OPTIONS_H
#define SOFTMRC_DEMO_DEMO_OPTIONS_H

#include "ui/verb.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the demo runs. */
enum demo_on { DEMO_ON_BEST, DEMO_ON_LAB, DEMO_ON_ROOTLESS, DEMO_ON_LOOPBACK };

struct demo_options {
	enum demo_on on;
	const char *place; /* the word that `on` was read from, or NULL */
	uint32_t ranks;	   /* 0: as the machine carries */
	uint32_t planes;
	uint32_t paths;	   /* of a plane, between two neighbours; 0: as many as is usual there */
	uint32_t steps;	   /* 0: as the script needs */
	uint64_t pace_bps; /* of a port; 0: as the machine carries */
	uint64_t seed;
	const char *data;   /* NULL: train's default */
	const char *out;    /* where result.json goes */
	const char *script; /* names of faults with commas between; NULL: all */
	bool no_tcp, plain, json;
};

/* The verb `mrc demo`, for the table of verbs. */
extern const struct ui_verb demo_verb;

/* demo_main is what runs `mrc demo`. */
int demo_main(int argc, char **argv);

/* demo_options_parse fills in defaults and reads argv; prints help and errors itself. */
enum ui_flags_result demo_options_parse(struct demo_options *o, int argc, char **argv);

#endif
