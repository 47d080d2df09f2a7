/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files as text: see input.h. */
#include "sim/import/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 65536u

/* read_all reads to the end; NULL with errno. */
static char *read_all(FILE *f, size_t *len)
{
	size_t room = FIRST_BYTES;
	char *text = malloc(room);

	*len = 0;
	while (text) {
		size_t got = fread(text + *len, 1, room - *len, f);
		char *grown;

		*len += got;
		if (*len < room) {
			text[*len] = '\0';
			break;
		}
		room *= 2;
		errno = EFBIG;
		grown = room > MS_FILE_BYTES_MAX ? NULL : realloc(text, room);
		if (!grown)
			free(text);
		text = grown;
	}
	if (text && ferror(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

char *ms_file_load(const char *path, struct ms_file_error *error)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t len;

	errno = f ? 0 : errno;
	if (f)
		text = read_all(f, &len);
	if (!text)
		ms_file_set_error(error, path, 0, "cannot be read: %s", strerror(errno));
	if (f)
		fclose(f);
	if (text && memchr(text, '\0', len)) {
		ms_file_set_error(error, path, 0, "is no text");
		free(text);
		return NULL;
	}
	return text;
}

bool ms_file_sibling_path(const char *file, const char *name, char *out, size_t size)
{
	const char *slash = strrchr(file, '/');
	int folder = slash && name[0] != '/' ? (int)(slash - file) + 1 : 0;

	return snprintf(out, size, "%.*s%s", folder, file, name) < (int)size;
}
