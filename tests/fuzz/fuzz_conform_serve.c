/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a line for the program beside a target of `mrc conform`, from whoever
 * reaches its TCP port. What is refused is refused with a reason that a terminal can show; what is
 * not is within the memory, the queues and the patience of that program.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "conform/serve_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	mb_assert(*text);
	for (; *text; text++)
		mb_assert(*text >= ' ' && *text <= '~');
}

static void check_request(const struct conform_request *r)
{
	const struct conform_wish *w = &r->wish;

	switch (r->verb) {
	case CONFORM_QP:
		mb_assert(w->qpn <= 0xFFFFFF && w->psn <= 0xFFFFFF && w->peer_psn <= 0xFFFFFF);
		mb_assert(w->mtu >= 256 && w->mtu <= 4096 && w->timeout <= 24);
		break;
	case CONFORM_WRITE:
		mb_assert(r->number[0] <= CONFORM_MEMORY_BYTES);
		break;
	case CONFORM_RECV:
		mb_assert(r->number[0] <= CONFORM_DEPTH);
		break;
	case CONFORM_COMPLETION:
	case CONFORM_RECEIVED:
		mb_assert(r->number[0] <= CONFORM_WAIT_MAX_MS);
		break;
	case CONFORM_MEMORY:
		mb_assert(r->number[1] > 0);
		mb_assert(r->number[1] <= CONFORM_SHOWN_MAX);
		mb_assert((uint64_t)r->number[0] + r->number[1] <= CONFORM_MEMORY_BYTES);
		break;
	case CONFORM_VERBS:
		mb_assert(false && "a verb");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1), why[CONFORM_WHY_MAX] = "";
	struct conform_request r;

	mb_assert(line);
	memcpy(line, data, size);
	line[size] = '\0';
	if (conform_request_read(line, &r, why) == 0)
		check_request(&r);
	else
		check_text(why);
	free(line);
	return 0;
}
