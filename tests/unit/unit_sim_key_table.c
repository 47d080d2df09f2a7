/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_keys.c - values of each kind: what is taken, how wide, and what is said of the rest. */
#include "sim_fixture.h"

#include "sim/scenario/scenario_keys.h"

static const char *const words[] = {"red", "green", NULL};

struct values {
	uint8_t u8, word8;
	uint16_t u16;
	bool truth;
	uint32_t u32, bytes32, time32, share, word;
	uint64_t u64, rate, bytes, time;
	double real;
	char text[8], list[16];
};

#define KEY(name, kind, min, max)                                                   \
	{                                                                           \
#name, MS_KEY_##kind, offsetof(struct values, name),                \
			sizeof(((struct values *)0)->name), min, max, words, "", "" \
	}

static const struct ms_key keys[] = {
	KEY(u8, NUMBER, 1, 9),		 KEY(word8, WORD, 0, 0),
	KEY(u16, NUMBER, 0, 65535),	 KEY(truth, BOOLEAN, 0, 1),
	KEY(u32, NUMBER, 0, UINT32_MAX), KEY(bytes32, BYTES, 0, 1u << 20),
	KEY(time32, TIME, 1, 1000),	 KEY(share, SHARE, 0, MS_SHARE_ONE),
	KEY(word, WORD, 0, 0),		 KEY(u64, NUMBER, 0, UINT64_MAX),
	KEY(rate, RATE, 1, 1000000),	 KEY(bytes, BYTES, 0, UINT64_MAX),
	KEY(time, TIME, 0, 5000),	 KEY(real, REAL, 0, 0),
	KEY(text, TEXT, 0, 8),		 KEY(list, LIST, 0, 16),
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

struct reading {
	struct values *into;
	struct ms_file_error *error;
};

static int on_item(void *ctx, const struct mb_toml_item *item)
{
	struct reading *r = ctx;
	size_t key = ms_key_find(keys, KEYS, item->name, "f", item, r->error);

	return key == KEYS || !ms_key_set(&keys[key], "f", item, r->into, r->error);
}

/* taken reads lines of TOML; what was wrong is in *error. */
static bool taken(const char *text, struct values *into, struct ms_file_error *error)
{
	struct reading r = {into, error};
	const char *why = NULL;
	uint32_t line;

	memset(into, 0, sizeof(*into));
	return mb_toml_read(text, on_item, &r, &line, &why) == 0 && !why;
}

TEST(ms_key_set, every_kind)
{
	struct ms_file_error error = {""};
	struct values v;

	if (!taken("u8 = 9\nword8 = \"green\"\nu16 = 65535\ntruth = true\nu32 = 4294967295\n"
		   "bytes32 = \"64k\"\ntime32 = \"1us\"\nshare = 0.25\nword = \"red\"\n"
		   "u64 = 18446744073709551615\nrate = \"100k\"\nbytes = 77\ntime = \"1.5us\"\n"
		   "real = -2.5\ntext = \"seven77\"\nlist = [\"a\", \"bc\"]\n",
		   &v, &error))
		fail_msg("%s", error.text);
	assert_u_eq(v.u8, 9);
	assert_u_eq(v.word8, 1);
	assert_u_eq(v.u16, 65535);
	assert_true(v.truth);
	assert_u_eq(v.u32, UINT32_MAX);
	assert_u_eq(v.bytes32, 65536);
	assert_u_eq(v.time32, 1000);
	assert_u_eq(v.share, 250000);
	assert_u_eq(v.word, 0);
	assert_u_eq(v.u64, UINT64_MAX);
	assert_u_eq(v.rate, 100000);
	assert_u_eq(v.bytes, 77);
	assert_u_eq(v.time, 1500);
	assert_true(v.real == -2.5);
	assert_string_equal(v.text, "seven77");
	assert_string_equal(v.list, "a,bc");
}

static const struct sim_bad bads[] = {
	{"u8 = 10\n", "f:1: u8 = 10: expected a number from 1 to 9"},
	{"u8 = -1\n", "f:1: u8 = -1: expected a number"},
	{"u8 = 1.5\n", "f:1: u8 = 1.5: expected a number"},
	{"u8 = true\n", "f:1: u8 = true: expected a number"},
	{"truth = 1\n", "f:1: truth = 1: expected true or false"},
	{"word = \"grene\"\n", "f:1: word = grene: did you mean green? expected one of red, green"},
	{"word8 = 1\n", "f:1: word8 = 1: expected one of red, green"},
	{"share = 1.01\n", "f:1: share = 1.01: expected a share such as 0.25, from 0 to 1"},
	{"share = \"0.5\"\n", "f:1: share = 0.5: expected a share"},
	{"rate = \"2M\"\n",
	 "f:1: rate = 2M: expected bits per second such as \"100G\", from 1 to 1M"},
	{"bytes32 = \"2M\"\n", "f:1: bytes32 = 2M: expected bytes such as \"64k\""},
	{"time = 5\n", "f:1: time = 5: expected a time such as \"10us\", from 0 to 5us"},
	{"time = \"6us\"\n", "f:1: time = 6us: expected a time"},
	{"real = \"1\"\n", "f:1: real = 1: expected a number"},
	{"text = \"\"\n", "f:1: text = : expected a text in quotes, of at most 7 bytes"},
	{"text = \"12345678\"\n", "f:1: text = 12345678: expected a text"},
	{"list = \"a\"\n", "f:1: list = a: expected an array of texts"},
	{"list = [1, 2]\n", "f:1: list = 1,2: expected an array of texts"},
	{"tex = \"a\"\n", "f:1: tex: unknown key; did you mean text?"},
	{"completely = 1\n", "f:1: completely: unknown key; there are u8, word8"},
};

TEST(ms_key_set, wrong_values)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct ms_file_error error = {""};
		struct values v;

		if (taken(bads[i].text, &v, &error))
			fail_msg("\"%s\" was taken", bads[i].text);
		if (!strstr(error.text, bads[i].says))
			fail_msg("\"%s\" says nothing of \"%s\"", error.text, bads[i].says);
	}
}
