/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * train_text.h - the text that `train` learns, and the yardstick for its loss: how many bits a byte
 * costs someone who knows the byte before it and the text's exact statistics of pairs.
 */
#ifndef EXAMPLES_TRAIN_TEXT_H
#define EXAMPLES_TRAIN_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TRAIN_TEXT_DEFAULT "/usr/share/common-licenses"
#define TRAIN_TEXT_MIN_BYTES 4096u
#define TRAIN_TEXT_MAX_BYTES (1u << 30)

struct train_text {
	uint8_t *bytes;
	size_t len;
	unsigned files;
};

/*
 * train_text_load reads a file, or all regular files of a directory in the order of their names
 * (symbolic links in it are left out: they would repeat a text). Returns 0, or -1 with a message
 * on stderr. train_text_fini frees the bytes.
 */
int train_text_load(struct train_text *text, const char *path);
void train_text_fini(struct train_text *text);

/*
 * train_text_bigram_bits returns the conditional entropy of a byte given the byte before it, in
 * bits, over the text's own len-1 pairs.
 */
double train_text_bigram_bits(const struct train_text *text);

#endif
