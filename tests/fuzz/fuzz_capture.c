/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a capture file, pcap or pcapng, as `mrc dump` may be given one. What is
 * found in it lies within it, and is written as a line and as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/dump/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIRST_PORT 4791u
#define FRAMES_MAX 1000u

/* In memory of exactly this size, so that a read past its end is seen. */
static void check_frame(const struct dump_frame *in)
{
	struct dump_frame frame = *in;
	uint8_t *copy = malloc(frame.len ? frame.len : 1);
	struct ui_text text = {0};
	struct mw_dscp_map dscp = mw_dscp_map_default();
	struct dump_packet p;
	json_t *json;

	mb_assert(copy && frame.len <= DUMP_FRAME_MAX);
	if (frame.len > 0)
		memcpy(copy, frame.ip, frame.len);
	frame.ip = copy;

	if (dump_packet_read(&frame, FIRST_PORT, &dscp, &p)) {
		dump_packet_line(&p, &dscp, &text);
		json = dump_packet_json(&p, &dscp);
		mb_assert(json);
		json_decref(json);
	}
	ui_text_fini(&text);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *from = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
	struct dump_frame frame;
	struct dump_reader r;

	if (!from)
		return 0;
	if (dump_reader_open(&r, from))
		for (uint32_t i = 0; i < FRAMES_MAX && dump_reader_next(&r, &frame); i++)
			if (frame.ip)
				check_frame(&frame);
	mb_assert(memchr(r.error, '\0', sizeof(r.error)));
	dump_reader_close(&r);
	fclose(from);
	return 0;
}
