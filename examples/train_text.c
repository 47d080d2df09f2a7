/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the text and its bigram entropy. With n(a, b) pairs "a then b" among n pairs in all and
 * n(a) pairs that begin with a:  H(b|a) = sum over a, b of n(a,b)/n * log2(n(a) / n(a,b)).
 */
#include "train_text.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int print_error(const char *path, const char *what)
{
	fprintf(stderr, "train: --data %s: %s\n", path, what);
	return -1;
}

static int append_file(struct train_text *text, const char *path, size_t size)
{
	FILE *f;
	uint8_t *grown;
	size_t got;

	if (size > TRAIN_TEXT_MAX_BYTES - text->len)
		return print_error(path, "the text is larger than 1 GiB");
	f = fopen(path, "rb");
	if (!f)
		return print_error(path, strerror(errno));
	grown = realloc(text->bytes, text->len + size + 1);
	if (!grown) {
		fclose(f);
		return print_error(path, "out of memory");
	}
	text->bytes = grown;
	got = fread(text->bytes + text->len, 1, size, f);
	fclose(f);
	if (got != size)
		return print_error(path, "could not be read to its end");
	text->len += size;
	text->files++;
	return 0;
}

static int append_entry(struct train_text *text, const char *folder, const char *name)
{
	char path[4096];
	struct stat st;
	int len = snprintf(path, sizeof(path), "%s/%s", folder, name);

	if (len < 0 || (size_t)len >= sizeof(path))
		return print_error(folder, "a path in this directory is too long");
	if (lstat(path, &st))
		return print_error(path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	return append_file(text, path, (size_t)st.st_size);
}

static int append_folder(struct train_text *text, const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);
	int rc = 0;

	if (n < 0)
		return print_error(folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = append_entry(text, folder, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return rc;
}

int train_text_load(struct train_text *text, const char *path)
{
	struct stat st;
	int rc;

	*text = (struct train_text){0};
	if (stat(path, &st))
		return print_error(path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		rc = append_folder(text, path);
	else if (S_ISREG(st.st_mode))
		rc = append_file(text, path, (size_t)st.st_size);
	else
		return print_error(path, "neither a regular file nor a directory");
	if (!rc && text->len < TRAIN_TEXT_MIN_BYTES)
		rc = print_error(path, "the text is shorter than 4096 bytes");
	if (rc)
		train_text_fini(text);
	return rc;
}

void train_text_fini(struct train_text *text)
{
	free(text->bytes);
	*text = (struct train_text){0};
}

double train_text_bigram_bits(const struct train_text *text)
{
	uint32_t(*pairs)[256];
	double bits = 0;

	if (text->len < 2)
		return 0;
	pairs = calloc(256, sizeof(*pairs));
	if (!pairs)
		return -1;
	for (size_t i = 1; i < text->len; i++)
		pairs[text->bytes[i - 1]][text->bytes[i]]++;
	for (unsigned a = 0; a < 256; a++) {
		double first = 0;

		for (unsigned b = 0; b < 256; b++)
			first += pairs[a][b];
		for (unsigned b = 0; b < 256; b++)
			if (pairs[a][b])
				bits += pairs[a][b] * log2(first / pairs[a][b]);
	}
	free(pairs);
	return bits / (double)(text->len - 1);
}
