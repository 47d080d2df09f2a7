/* SPDX-License-Identifier: BSD-2-Clause */
/* train_args.h - the command line of `train`. */
#ifndef EXAMPLES_TRAIN_ARGS_H
#define EXAMPLES_TRAIN_ARGS_H

#include "ring.h"

#include <stdbool.h>
#include <stdint.h>

struct train_args {
	uint32_t rank, ranks;
	enum ring_kind transport;
	const char *rendezvous; /* NULL: not given */
	uint32_t steps;
	uint64_t params; /* floats summed in a step, gradient and ledger */
	uint32_t batch;	 /* positions per rank and step */
	double rate;	 /* of learning */
	uint64_t seed;
	const char *data;
	const char *report; /* NULL: none */
	bool json;
};

enum train_args_result {
	TRAIN_ARGS_RUN,
	TRAIN_ARGS_DONE,  /* --help was printed */
	TRAIN_ARGS_WRONG, /* stderr names flag, value and what is allowed */
};

enum train_args_result train_args_parse(struct train_args *args, int argc, char **argv);

#endif
