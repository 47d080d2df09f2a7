/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * train_model.h - a small byte-level language model whose gradient is dense.
 *
 * The logits of the next byte are the sum of one row of 256 weights for each context length 0 ..
 * orders-1: row 0 for no context, a row of its own for each last byte, and hashed rows for longer
 * contexts. Loss is cross-entropy in bits; the optimiser is Adagrad. Everything is computed in one
 * fixed order, so that equal inputs give equal bits.
 *
 * The vector that ranks sum has `params` floats: a ledger of 256 (loss of the batch, the rest
 * zero), then the gradient of params - 256 weights.
 */
#ifndef EXAMPLES_TRAIN_MODEL_H
#define EXAMPLES_TRAIN_MODEL_H

#include "train_text.h"

#include <stddef.h>
#include <stdint.h>

#define TRAIN_ROW 256u
/* The ledger, a row for no context, one for each last byte, and at least as many hashed rows. */
#define TRAIN_PARAMS_MIN (1024u * TRAIN_ROW)
#define TRAIN_PARAMS_MAX (65536u * TRAIN_ROW)
#define TRAIN_ORDERS 5u
/* Bytes of context before the first position that can be predicted. */
#define TRAIN_CONTEXT (TRAIN_ORDERS - 1)

struct train_model {
	size_t weights; /* params - TRAIN_ROW */
	float *weight;
	float *square_sum; /* Adagrad's memory of each gradient's size */
};

/* train_model_create makes a model of zeros (every byte equally likely), or returns NULL. */
struct train_model *train_model_create(size_t params);
void train_model_destroy(struct train_model *m);

/*
 * train_model_batch clears vector and fills it with the summed gradient and loss of `batch`
 * positions, drawn from the text by (seed, step, rank).
 */
void train_model_batch(const struct train_model *m, const struct train_text *text, float *vector,
		       uint32_t batch, uint64_t seed, uint32_t step, uint32_t rank);

/* train_model_update applies a vector that sums `positions` positions, at learning rate `rate`. */
void train_model_update(struct train_model *m, const float *vector, double positions, float rate);

/* train_model_eval returns the loss in bits, summed over the positions first .. last-1. */
double train_model_eval(const struct train_model *m, const struct train_text *text, size_t first,
			size_t last);

#endif
