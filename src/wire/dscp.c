/* SPDX-License-Identifier: BSD-2-Clause */
/* dscp.c - DSCP numbers and the classes they stand for. */
#include "wire/dscp.h"

#include "base/assert.h"
#include "wire/opcode.h"
#include "wire/text.h"

struct mw_dscp_map mw_dscp_map_default(void)
{
	return (struct mw_dscp_map){.code = {
					    [MW_DSCP_NO_TRIM] = 0,
					    [MW_DSCP_TRIMMABLE] = 4,
					    [MW_DSCP_TRIMMABLE_RETX] = 8,
					    [MW_DSCP_TRIMMED] = 12,
					    [MW_DSCP_TRIMMED_LASTHOP] = 16,
					    [MW_DSCP_CONTROL] = 46,
				    }};
}

/* What a receiver does with a packet depends only on this. */
enum kind { KIND_DATA, KIND_TRIMMED, KIND_CONTROL };

static enum kind kind_of(enum mw_dscp_class cls)
{
	if (cls == MW_DSCP_CONTROL)
		return KIND_CONTROL;
	return mw_dscp_is_trimmed(cls) ? KIND_TRIMMED : KIND_DATA;
}

enum mw_dscp_class mw_dscp_map_check(const struct mw_dscp_map *map)
{
	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++) {
		enum mw_dscp_class first = mw_dscp_decode(map, map->code[cls]);

		if (map->code[cls] > MW_DSCP_MAX || kind_of(first) != kind_of(cls))
			return cls;
	}
	return MW_DSCP_CLASSES;
}

const char *mw_dscp_class_name(enum mw_dscp_class cls)
{
	static const char *const name[MW_DSCP_CLASSES + 1] = {
		[MW_DSCP_NO_TRIM] = "no-trim",
		[MW_DSCP_TRIMMABLE] = "trimmable",
		[MW_DSCP_TRIMMABLE_RETX] = "trimmable-retx",
		[MW_DSCP_TRIMMED] = "trimmed",
		[MW_DSCP_TRIMMED_LASTHOP] = "trimmed-lasthop",
		[MW_DSCP_CONTROL] = "control",
		[MW_DSCP_CLASSES] = "unknown",
	};

	mb_assert((unsigned)cls <= MW_DSCP_CLASSES);
	return name[cls];
}

/* Reads one of the numbers, at most three digits of it; NULL: there is none. */
static const char *read_code(const char *at, uint32_t *code)
{
	const char *digits = at;

	for (*code = 0; *at >= '0' && *at <= '9' && at - digits < 3; at++)
		*code = *code * 10 + (uint32_t)(*at - '0');
	return at == digits ? NULL : at;
}

static bool refuse_text(struct mw_text *why)
{
	mw_text_put(why, "must be six numbers, 0 to 63, with commas between:");
	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++) {
		mw_text_put(why, cls ? ", " : " ");
		mw_text_put(why, mw_dscp_class_name(cls));
	}
	return false;
}

static bool refuse_code(struct mw_text *why, enum mw_dscp_class cls, uint32_t code,
			enum mw_dscp_class other)
{
	mw_text_put(why, mw_dscp_class_name(cls));
	mw_text_put(why, " = ");
	mw_text_put_u(why, code);
	if (other == cls) {
		mw_text_put(why, ": must be 0 to 63");
		return false;
	}
	mw_text_put(why, ", as ");
	mw_text_put(why, mw_dscp_class_name(other));
	mw_text_put(why, ": data (the first three), trimmed (the next two) and control must not "
			 "share a number");
	return false;
}

bool mw_dscp_map_read(const char *text, struct mw_dscp_map *map, char error[MW_DSCP_ERROR_BYTES])
{
	struct mw_dscp_map read;
	enum mw_dscp_class wrong;
	struct mw_text why;

	mw_text_init(&why, error, MW_DSCP_ERROR_BYTES);
	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++) {
		uint32_t code;

		text = read_code(text, &code);
		if (!text || *text++ != (cls + 1 < MW_DSCP_CLASSES ? ',' : '\0'))
			return refuse_text(&why);
		if (code > MW_DSCP_MAX)
			return refuse_code(&why, cls, code, cls);
		read.code[cls] = (uint8_t)code;
	}
	wrong = mw_dscp_map_check(&read);
	if (wrong != MW_DSCP_CLASSES)
		return refuse_code(&why, wrong, read.code[wrong],
				   mw_dscp_decode(&read, read.code[wrong]));
	*map = read;
	return true;
}

void mw_dscp_map_write(const struct mw_dscp_map *map, char out[MW_DSCP_TEXT_BYTES])
{
	struct mw_text t;

	mw_text_init(&t, out, MW_DSCP_TEXT_BYTES);
	for (enum mw_dscp_class cls = 0; cls < MW_DSCP_CLASSES; cls++) {
		mw_text_put(&t, cls ? "," : "");
		mw_text_put_u(&t, map->code[cls]);
	}
}

enum mw_dscp_class mw_dscp_class_of_opcode(uint8_t opcode, bool rtx, bool trimmable)
{
	uint16_t flags = mw_opcode_row(opcode)->flags;

	mb_assert(flags != 0);
	if (opcode == MW_PROBE || opcode == MW_RESPONSE_PROBE)
		return MW_DSCP_NO_TRIM;
	if (!(flags & MW_OP_DATA))
		return MW_DSCP_CONTROL;
	return mw_dscp_class_of_data(rtx, trimmable);
}

uint8_t mw_dscp_encode(const struct mw_dscp_map *map, enum mw_dscp_class cls)
{
	mb_assert((unsigned)cls < MW_DSCP_CLASSES);
	return map->code[cls];
}

enum mw_dscp_class mw_dscp_decode(const struct mw_dscp_map *map, uint8_t dscp)
{
	enum mw_dscp_class cls = 0;

	while (cls < MW_DSCP_CLASSES && map->code[cls] != dscp)
		cls++;
	return cls;
}
