/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model: see train_model.h. Logits are in units of one bit, so that the softmax is made of
 * powers of two: loss = log2(sum 2^z) - z[target], and its gradient for a logit is the probability
 * minus one at the target. The inner loops are written for the vectoriser and keep their order of
 * additions whatever it does: sums run in eight fixed lanes.
 */
#include "train_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8u
#define ROW_NO_CONTEXT 0u
#define ROW_LAST_BYTE 1u
#define ROWS_DIRECT (ROW_LAST_BYTE + 256u)
/* Keeps Adagrad's first steps finite; small against any gradient that matters. */
#define ADAGRAD_EPSILON 1e-10f

static uint64_t mix_hash(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

struct train_model *train_model_create(size_t params)
{
	struct train_model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->weights = params - TRAIN_ROW;
	m->weight = calloc(m->weights, sizeof(float));
	m->square_sum = calloc(m->weights, sizeof(float));
	if (!m->weight || !m->square_sum) {
		train_model_destroy(m);
		return NULL;
	}
	return m;
}

void train_model_destroy(struct train_model *m)
{
	if (!m)
		return;
	free(m->weight);
	free(m->square_sum);
	free(m);
}

/* Offsets of the rows that speak for the byte at `at`. */
static void find_rows(const struct train_model *m, const uint8_t *at, size_t row[TRAIN_ORDERS])
{
	size_t hashed = m->weights / TRAIN_ROW - ROWS_DIRECT;
	uint64_t context = at[-1];

	row[0] = ROW_NO_CONTEXT;
	row[1] = (ROW_LAST_BYTE + at[-1]) * TRAIN_ROW;
	for (unsigned order = 2; order < TRAIN_ORDERS; order++) {
		context = context << 8 | at[-(int)order];
		row[order] = (ROWS_DIRECT + mix_hash(context | (uint64_t)order << 56) % hashed) *
			     TRAIN_ROW;
	}
}

/*
 * 2^x for -126 <= x <= 0: the nearest integer goes into the exponent, a polynomial covers the
 * remaining -0.5 .. 0.5 to about one part in 10^6. Adding 1.5 * 2^23 rounds to an integer.
 */
static inline float exp2_negative(float x)
{
	const float magic = 12582912.0f;
	float clamped = x < -126.0f ? -126.0f : x;
	float whole = (clamped + magic) - magic;
	float f = clamped - whole;
	float p = 0.00133335581f;
	int32_t bits = ((int32_t)whole + 127) * (1 << 23);
	float scale;

	p = p * f + 0.00961812911f;
	p = p * f + 0.0555041087f;
	p = p * f + 0.240226507f;
	p = p * f + 0.693147181f;
	p = p * f + 1.0f;
	memcpy(&scale, &bits, sizeof(scale));
	return p * scale;
}

static float add_lanes(const float lane[LANES])
{
	return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
	       ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Turns the logits z into 2^(z - max) and returns their sum; *top is the largest logit. */
static float exponentiate(float z[TRAIN_ROW], float *top)
{
	float lane[LANES], max;

	memcpy(lane, z, sizeof(lane));
	for (unsigned i = LANES; i < TRAIN_ROW; i += LANES)
		for (unsigned l = 0; l < LANES; l++)
			lane[l] = z[i + l] > lane[l] ? z[i + l] : lane[l];
	max = lane[0];
	for (unsigned l = 1; l < LANES; l++)
		max = lane[l] > max ? lane[l] : max;
	for (unsigned i = 0; i < TRAIN_ROW; i++)
		z[i] = exp2_negative(z[i] - max);
	memset(lane, 0, sizeof(lane));
	for (unsigned i = 0; i < TRAIN_ROW; i += LANES)
		for (unsigned l = 0; l < LANES; l++)
			lane[l] += z[i + l];
	*top = max;
	return add_lanes(lane);
}

/* The loss at one position in bits; p becomes the probabilities of all bytes. */
static double predict_byte(const struct train_model *m, const size_t row[TRAIN_ORDERS],
			   uint8_t target, float p[TRAIN_ROW])
{
	float sum, top, logit, scale;

	memcpy(p, m->weight + row[0], TRAIN_ROW * sizeof(float));
	for (unsigned order = 1; order < TRAIN_ORDERS; order++) {
		const float *w = m->weight + row[order];

		for (unsigned i = 0; i < TRAIN_ROW; i++)
			p[i] += w[i];
	}
	logit = p[target];
	sum = exponentiate(p, &top);
	scale = 1.0f / sum;
	for (unsigned i = 0; i < TRAIN_ROW; i++)
		p[i] *= scale;
	return log2((double)sum) + (double)top - (double)logit;
}

void train_model_batch(const struct train_model *m, const struct train_text *text, float *vector,
		       uint32_t batch, uint64_t seed, uint32_t step, uint32_t rank)
{
	uint64_t stream = mix_hash(mix_hash(seed) ^ ((uint64_t)step << 32 | rank));
	float *gradient = vector + TRAIN_ROW;
	double bits = 0;

	memset(vector, 0, (TRAIN_ROW + m->weights) * sizeof(float));
	for (uint32_t n = 0; n < batch; n++) {
		size_t at = TRAIN_CONTEXT + mix_hash(stream + n) % (text->len - TRAIN_CONTEXT);
		uint8_t target = text->bytes[at];
		size_t row[TRAIN_ORDERS];
		float p[TRAIN_ROW];

		find_rows(m, text->bytes + at, row);
		bits += predict_byte(m, row, target, p);
		p[target] -= 1.0f;
		for (unsigned order = 0; order < TRAIN_ORDERS; order++) {
			float *g = gradient + row[order];

			for (unsigned i = 0; i < TRAIN_ROW; i++)
				g[i] += p[i];
		}
	}
	vector[0] = (float)bits;
}

void train_model_update(struct train_model *m, const float *vector, double positions, float rate)
{
	const float *restrict gradient = vector + TRAIN_ROW;
	float *restrict weight = m->weight;
	float *restrict square_sum = m->square_sum;
	const float scale = (float)(1.0 / positions);

	for (size_t i = 0; i < m->weights; i++) {
		float g = gradient[i] * scale;

		square_sum[i] += g * g;
		weight[i] -= rate * g / (sqrtf(square_sum[i]) + ADAGRAD_EPSILON);
	}
}

double train_model_eval(const struct train_model *m, const struct train_text *text, size_t first,
			size_t last)
{
	double bits = 0;

	for (size_t at = first; at < last; at++) {
		size_t row[TRAIN_ORDERS];
		float p[TRAIN_ROW];

		find_rows(m, text->bytes + at, row);
		bits += predict_byte(m, row, text->bytes[at], p);
	}
	return bits;
}
