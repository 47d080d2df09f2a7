/* SPDX-License-Identifier: BSD-2-Clause */
/* read_htsim_topo.c - gathers the numbers of each tier, then sees what fabric they make. */
#include "sim/import/flow_files.h"

#include "base/suggest.h"

#include <inttypes.h>

#define GBPS UINT64_C(1000000000)

enum topo_key {
	TOPO_NODES,
	TOPO_TIERS,
	TOPO_PODSIZE,
	TOPO_TIER,
	TOPO_SPEED,
	TOPO_RADIX_DOWN,
	TOPO_RADIX_UP,
	TOPO_OVERSUBSCRIBED,
	TOPO_BUNDLE,
	TOPO_SWITCH_NS,
	TOPO_LATENCY_NS,
	TOPO_KEYS,
};

static const struct topo_name {
	const char *name;
	uint64_t min, max;
} topo_names[TOPO_KEYS] = {
	{"Nodes", 2, 1u << 24},
	{"Tiers", 2, 3},
	{"Podsize", 1, 1u << 24},
	{"Tier", 0, 2},
	{"Downlink_speed_Gbps", 1, 100000},
	{"Radix_Down", 1, 1u << 24},
	{"Radix_Up", 1, 1u << 24},
	{"Oversubscribed", 1, 1000},
	{"Bundle", 1, 1u << 16},
	{"Switch_Latency_ns", 0, 1000000000},
	{"Downlink_Latency_ns", 0, 1000000000},
};

/* A value and the line that it stands on; line 0: not given. */
struct topo_value {
	uint64_t n;
	uint32_t line;
};

struct topo_reader {
	struct ms_words words;
	struct topo_value head[TOPO_TIER];    /* by key */
	struct topo_value tier[3][TOPO_KEYS]; /* by tier and key; TOPO_TIER: its own line */
	uint32_t now;			      /* tier that is read; 3: the header */
};

static uint64_t topo_get(const struct topo_reader *r, uint32_t tier, enum topo_key key,
			 uint64_t otherwise)
{
	return r->tier[tier][key].line ? r->tier[tier][key].n : otherwise;
}

static bool topo_unknown(struct topo_reader *r)
{
	char text[MS_WORD_BYTES];
	const char *near =
		mb_suggest_in_table(ms_word_copy(&r->words.word[0], text), &topo_names[0].name,
				    TOPO_KEYS, sizeof(topo_names[0]));

	return ms_words_refuse(
		&r->words, "%s: no such key; %s%s%s", text, near ? "did you mean " : "expected ",
		near ? near
		     : "Nodes, Tiers, Podsize, Tier, Downlink_speed_Gbps, Radix_Down, "
		       "Radix_Up, Oversubscribed, Bundle, Switch_Latency_ns or "
		       "Downlink_Latency_ns",
		near ? "?" : "");
}

/* topo_place returns where the value of a key belongs, NULL: not here. */
static struct topo_value *topo_place(struct topo_reader *r, enum topo_key key, uint64_t n)
{
	if (key == TOPO_TIER) {
		r->now = (uint32_t)n;
		return &r->tier[n][TOPO_TIER];
	}
	if (key < TOPO_TIER)
		return r->now == 3 ? &r->head[key] : NULL;
	return r->now < 3 ? &r->tier[r->now][key] : NULL;
}

static bool topo_line(struct topo_reader *r)
{
	char text[MS_WORD_BYTES];
	struct topo_value *place;
	size_t key = 0;
	uint64_t n;

	while (key < TOPO_KEYS && !ms_word_is_nocase(&r->words.word[0], topo_names[key].name))
		key++;
	if (key == TOPO_KEYS)
		return topo_unknown(r);
	ms_words_copy(&r->words, 1, text);
	if (r->words.n != 2 ||
	    !ms_word_u64(&r->words.word[1], topo_names[key].min, topo_names[key].max, &n))
		return ms_words_refuse(
			&r->words, "%s %s: expected one number from %" PRIu64 " to %" PRIu64,
			topo_names[key].name, text, topo_names[key].min, topo_names[key].max);
	place = topo_place(r, (enum topo_key)key, n);
	if (!place)
		return ms_words_refuse(
			&r->words, "%s: appears %s the first Tier", topo_names[key].name,
			key < TOPO_TIER ? "behind; expected before" : "before; expected behind");
	if (place->line)
		return ms_words_refuse(&r->words, "%s %s: was given before, in line %u",
				       topo_names[key].name, text, place->line);
	*place = (struct topo_value){n, r->words.line};
	return true;
}

/* topo_complete refuses a file that leaves something out. */
static bool topo_complete(struct topo_reader *r)
{
	for (int key = 0; key < TOPO_TIER; key++)
		if (!r->head[key].line)
			return ms_file_set_error(r->words.error, r->words.file, 0,
						 "has no line `%s N`", topo_names[key].name);
	for (uint32_t t = 0; t < r->head[TOPO_TIERS].n; t++) {
		static const enum topo_key wanted[] = {TOPO_TIER, TOPO_SPEED, TOPO_RADIX_DOWN,
						       TOPO_LATENCY_NS, TOPO_RADIX_UP};

		for (size_t k = 0; k < MS_COUNT(wanted); k++)
			if (!r->tier[t][wanted[k]].line &&
			    (wanted[k] != TOPO_RADIX_UP || t + 1 < r->head[TOPO_TIERS].n))
				return ms_file_set_error(r->words.error, r->words.file,
							 r->tier[t][TOPO_TIER].line,
							 "tier %u: has no line `%s%s`", t,
							 topo_names[wanted[k]].name,
							 wanted[k] == TOPO_TIER ? "" : " N");
	}
	return true;
}

/* topo_same refuses what this simulator has one of, and the file several. */
static bool topo_same(struct topo_reader *r)
{
	for (uint32_t t = 0; t < r->head[TOPO_TIERS].n; t++) {
		if (topo_get(r, t, TOPO_BUNDLE, 1) != 1)
			return ms_file_set_error(
				r->words.error, r->words.file, r->tier[t][TOPO_BUNDLE].line,
				"Bundle %" PRIu64
				": expected 1, one link between a pair of switches",
				r->tier[t][TOPO_BUNDLE].n);
		if (topo_get(r, t, TOPO_SWITCH_NS, 0) != topo_get(r, 0, TOPO_SWITCH_NS, 0))
			return ms_file_set_error(
				r->words.error, r->words.file, r->tier[t][TOPO_SWITCH_NS].line,
				"Switch_Latency_ns: expected the same in all tiers");
	}
	return true;
}

/* topo_equal refuses one number that must follow from others and does not. */
static bool topo_equal(struct topo_reader *r, uint32_t tier, enum topo_key key, uint64_t must,
		       const char *why)
{
	const struct topo_value *v = key < TOPO_TIER ? &r->head[key] : &r->tier[tier][key];

	if (v->n == must)
		return true;
	return ms_file_set_error(r->words.error, r->words.file, v->line,
				 "%s %" PRIu64 ": expected %" PRIu64 ", %s", topo_names[key].name,
				 v->n, must, why);
}

/* topo_build fills the counts. */
static bool topo_build(struct topo_reader *r, struct mf_topology_cfg *cfg)
{
	uint64_t nodes = r->head[TOPO_NODES].n, pod = r->head[TOPO_PODSIZE].n;
	uint64_t tiers = r->head[TOPO_TIERS].n, down = r->tier[0][TOPO_RADIX_DOWN].n;
	uint64_t up = r->tier[0][TOPO_RADIX_UP].n;

	if (nodes % pod != 0 || pod % down != 0)
		return ms_file_set_error(r->words.error, r->words.file, r->head[TOPO_PODSIZE].line,
					 "Podsize %" PRIu64 ": expected a divisor of Nodes %" PRIu64
					 " and a multiple of Radix_Down %" PRIu64 " of tier 0",
					 pod, nodes, down);
	if (r->tier[0][TOPO_OVERSUBSCRIBED].line &&
	    !topo_equal(r, 0, TOPO_OVERSUBSCRIBED, down / up, "Radix_Down / Radix_Up"))
		return false;
	if (!topo_equal(r, 1, TOPO_RADIX_DOWN, pod / down, "the T0s of a pod"))
		return false;
	if (tiers == 2 &&
	    !topo_equal(r, 0, TOPO_PODSIZE, nodes, "the nodes: two tiers have one pod"))
		return false;
	if (tiers == 3 && !topo_equal(r, 2, TOPO_RADIX_DOWN, nodes / pod, "the number of pods"))
		return false;
	cfg->planes = 1;
	cfg->tiers = (uint32_t)tiers;
	cfg->pods = (uint32_t)(nodes / pod);
	cfg->hosts_per_t0 = (uint32_t)down;
	cfg->t0s = (uint32_t)(pod / down);
	cfg->t1s = (uint32_t)up;
	cfg->t1_uplinks = tiers == 3 ? (uint32_t)r->tier[1][TOPO_RADIX_UP].n : 0;
	cfg->rails = 1;
	cfg->switch_ns = (uint32_t)topo_get(r, 0, TOPO_SWITCH_NS, 0);
	for (uint32_t t = 0; t < 3; t++) {
		cfg->radix[t] = 0;
		cfg->links[t].bit_s = topo_get(r, t, TOPO_SPEED, 100) * GBPS;
		cfg->links[t].latency_ns = (uint32_t)topo_get(r, t, TOPO_LATENCY_NS, 1000);
	}
	return true;
}

bool ms_topo_read(struct mf_topology_cfg *cfg, const char *file, const char *text,
		  struct ms_file_error *error)
{
	struct topo_reader r = {.now = 3};
	struct mf_topology_cfg built = *cfg;
	struct mf_topology whole;
	struct mf_error wrong;

	ms_words_init(&r.words, file, text, ' ', error);
	while (ms_words_next(&r.words))
		if (!topo_line(&r))
			return false;
	if (!topo_complete(&r) || !topo_same(&r) || !topo_build(&r, &built))
		return false;
	if (!mf_topology_init(&whole, &built, &wrong))
		return ms_file_set_error(error, file, 0, "makes a fabric with %s = %s: %s",
					 wrong.field, wrong.value, wrong.what);
	*cfg = built;
	return true;
}
