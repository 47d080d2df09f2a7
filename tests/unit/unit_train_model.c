/* SPDX-License-Identifier: BSD-2-Clause */
/* The language model of `train`: gradient, update, and that the same input gives the same bits. */
#include "train_model.h"

#include "support/test.h"

#include <math.h>

#define WEIGHTS (TRAIN_PARAMS_MIN - TRAIN_ROW)

static uint8_t bytes[5000];
static struct train_text text = {.bytes = bytes, .len = sizeof(bytes)};
static struct train_model *model;
static float *vector;

/* A text with structure: bytes that depend on those before, with some noise. */
static int make(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		unsigned last = i ? bytes[i - 1] : 0;

		bytes[i] = (uint8_t)(test_rand_below(4) ? (last * 7 + 3) % 40 + 30
							: 30 + test_rand_below(40));
	}
	model = train_model_create(TRAIN_PARAMS_MIN);
	vector = calloc(TRAIN_PARAMS_MIN, sizeof(float));
	assert_non_null(model);
	assert_non_null(vector);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	train_model_destroy(model);
	free(vector);
	return 0;
}

#define MODEL_TEST(function, name) TEST_WITH(make, drop, function, name)

static double loss_of(size_t first, size_t last)
{
	return train_model_eval(model, &text, first, last) / (double)(last - first);
}

MODEL_TEST(train_model_eval, begins_with_every_byte_equally_likely)
{
	assert_true(fabs(loss_of(TRAIN_CONTEXT, text.len) - 8) < 1e-5);
}

MODEL_TEST(train_model_eval, adds_up_over_parts)
{
	double whole, parts;

	train_model_batch(model, &text, vector, 500, 1, 0, 0);
	train_model_update(model, vector, 500, 0.5f);
	whole = train_model_eval(model, &text, 4, 1000);
	parts = train_model_eval(model, &text, 4, 300) + train_model_eval(model, &text, 300, 1000);
	assert_true(fabs(whole - parts) < 1e-6);
}

MODEL_TEST(train_model_batch, gradient_rows_sum_to_zero)
{
	double sum = 0, magnitude = 0;

	train_model_batch(model, &text, vector, 100, 1, 0, 0);
	for (size_t i = TRAIN_ROW; i < TRAIN_PARAMS_MIN; i++) {
		sum += (double)vector[i];
		magnitude += fabs((double)vector[i]);
	}
	/* Each position adds a probability of 1 and takes 1 away, in each of its rows. */
	assert_true(fabs(sum) < 1e-2);
	assert_true(magnitude > 100);
	assert_true(fabs((double)vector[0] - 800) < 1e-2);
	for (size_t i = 1; i < TRAIN_ROW; i++)
		assert_true(vector[i] == 0);
}

MODEL_TEST(train_model_batch, gradient_is_the_slope_of_the_loss)
{
	const float step = 1.0f / 64;
	struct train_text one = {.bytes = bytes, .len = TRAIN_CONTEXT + 1};
	float *w = model->weight;
	size_t index = bytes[TRAIN_CONTEXT]; /* the target, in the row without context */
	double up, down, slope;

	for (size_t i = 0; i < WEIGHTS; i++)
		w[i] = (float)test_rand_below(1000) / 1000;
	train_model_batch(model, &one, vector, 1, 1, 0, 0);
	w[index] += step;
	up = train_model_eval(model, &one, TRAIN_CONTEXT, TRAIN_CONTEXT + 1);
	w[index] -= 2 * step;
	down = train_model_eval(model, &one, TRAIN_CONTEXT, TRAIN_CONTEXT + 1);
	slope = (up - down) / (2 * (double)step);
	assert_true(fabs(slope - (double)vector[TRAIN_ROW + index]) < 1e-3);
}

MODEL_TEST(train_model_batch, draws_by_seed_step_and_rank)
{
	float *other = calloc(TRAIN_PARAMS_MIN, sizeof(float));
	const size_t size = TRAIN_PARAMS_MIN * sizeof(float);

	assert_non_null(other);
	train_model_batch(model, &text, vector, 50, 1, 2, 3);
	train_model_batch(model, &text, other, 50, 1, 2, 3);
	assert_true(memcmp(vector, other, size) == 0);
	train_model_batch(model, &text, other, 50, 2, 2, 3);
	assert_true(memcmp(vector, other, size) != 0);
	train_model_batch(model, &text, other, 50, 1, 3, 3);
	assert_true(memcmp(vector, other, size) != 0);
	train_model_batch(model, &text, other, 50, 1, 2, 4);
	assert_true(memcmp(vector, other, size) != 0);
	free(other);
}

MODEL_TEST(train_model_update, learns)
{
	double bigram = train_text_bigram_bits(&text);

	for (uint32_t step = 0; step < 30; step++) {
		train_model_batch(model, &text, vector, 400, 1, step, 0);
		train_model_update(model, vector, 400, 0.5f);
	}
	assert_true(loss_of(TRAIN_CONTEXT, text.len) < bigram);
}

MODEL_TEST(train_model_update, leaves_weights_without_gradient_alone)
{
	memset(vector, 0, TRAIN_PARAMS_MIN * sizeof(float));
	vector[TRAIN_ROW + 5] = 4;
	train_model_update(model, vector, 2, 0.5f);
	for (size_t i = 0; i < WEIGHTS; i++)
		assert_true(model->weight[i] == (i == 5 ? -0.5f : 0.0f));
}
