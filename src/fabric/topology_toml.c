/* SPDX-License-Identifier: BSD-2-Clause */
/* topology_toml.c - topology files: a table of keys, and what the few odd ones mean. */
#include "fabric/topology_toml.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/quantity.h"
#include "base/suggest.h"

/* A topology file is a screen of text; what is longer is another kind of file. */
#define FILE_BYTES_MAX 65536u
/* What a fabric without a base has where its file says nothing. */
#define DEFAULT_MTU 4400u
#define DEFAULT_LATENCY_NS 500u
#define DEFAULT_BLOCK 0xfcbbbb00u
#define DEFAULT_ADDRESS_BLOCK 0xfd6d7263u
#define TIME_MAX_NS UINT32_MAX
#define WHY_BYTES MW_DSCP_ERROR_BYTES

enum key_kind {
	KEY_BASE,
	KEY_NAME,
	KEY_COUNT,
	KEY_RATE,
	KEY_TIME,
	KEY_ALL_RATES, /* of every kind of link */
	KEY_ALL_TIMES,
	KEY_BLOCK,
	KEY_PLANES,
	KEY_DESTINATION,
	KEY_OVERSUBSCRIPTION,
	KEY_DSCP,
};

struct key {
	const char *name;
	enum key_kind kind;
	size_t offset; /* of its field in the cfg, for kinds that have one */
};

#define CFG(field) offsetof(struct mf_topology_cfg, field)
#define RADIX(i) (CFG(radix) + (i) * sizeof(uint32_t))
#define LINK(i, field) \
	(CFG(links) + (i) * sizeof(struct mf_link_cfg) + offsetof(struct mf_link_cfg, field))

/* The order is that of enum key_number as far as that goes. */
static const struct key keys[] = {
	{"topology.base", KEY_BASE, 0},
	{"topology.oversubscription", KEY_OVERSUBSCRIPTION, 0},
	{"topology.t1s", KEY_COUNT, CFG(t1s)},
	{"topology.name", KEY_NAME, 0},
	{"topology.planes", KEY_COUNT, CFG(planes)},
	{"topology.tiers", KEY_COUNT, CFG(tiers)},
	{"topology.pods", KEY_COUNT, CFG(pods)},
	{"topology.hosts_per_t0", KEY_COUNT, CFG(hosts_per_t0)},
	{"topology.t0s", KEY_COUNT, CFG(t0s)},
	{"topology.t1_uplinks", KEY_COUNT, CFG(t1_uplinks)},
	{"topology.t0_ports", KEY_COUNT, RADIX(0)},
	{"topology.t1_ports", KEY_COUNT, RADIX(1)},
	{"topology.t2_ports", KEY_COUNT, RADIX(2)},
	{"topology.rails", KEY_COUNT, CFG(rails)},
	{"topology.mtu", KEY_COUNT, CFG(mtu)},
	{"topology.switch_latency", KEY_TIME, CFG(switch_ns)},
	{"topology.address_block", KEY_BLOCK, CFG(address_block)},
	{"topology.dscp", KEY_DSCP, 0},
	{"links.speed", KEY_ALL_RATES, 0},
	{"links.latency", KEY_ALL_TIMES, 0},
	{"links.host_t0.speed", KEY_RATE, LINK(MF_HOST_T0, bit_s)},
	{"links.host_t0.latency", KEY_TIME, LINK(MF_HOST_T0, latency_ns)},
	{"links.t0_t1.speed", KEY_RATE, LINK(MF_T0_T1, bit_s)},
	{"links.t0_t1.latency", KEY_TIME, LINK(MF_T0_T1, latency_ns)},
	{"links.t1_t2.speed", KEY_RATE, LINK(MF_T1_T2, bit_s)},
	{"links.t1_t2.latency", KEY_TIME, LINK(MF_T1_T2, latency_ns)},
	{"usid.block", KEY_BLOCK, CFG(usid.block)},
	{"usid.planes", KEY_PLANES, 0},
	{"usid.destination", KEY_DESTINATION, 0},
};

enum key_number {
	NUMBER_BASE = 0,
	NUMBER_OVERSUBSCRIPTION,
	NUMBER_T1S,
	NUMBER_NAME,
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(KEYS <= MF_TOML_KEYS_MAX, "a line for every key");

static enum mf_item report_bad_value(struct mf_topology_file *f, const struct mb_toml_item *item,
				     const char *why)
{
	snprintf(f->error, sizeof(f->error), "%s:%" PRIu32 ": %s = %.80s: %.240s", f->file,
		 item->line, item->name, item->value, why);
	return MF_ITEM_WRONG;
}

static enum mf_item report_unknown_key(struct mf_topology_file *f, const struct mb_toml_item *item)
{
	const char *near = mb_suggest_in_table(item->name, &keys[0].name, KEYS, sizeof(keys[0]));

	if (item->kind == MB_TOML_ELEMENT)
		snprintf(f->error, sizeof(f->error), "%s:%" PRIu32 ": [[%s]]: a table, so [%s]",
			 f->file, item->line, item->name, item->name);
	else
		snprintf(f->error, sizeof(f->error), "%s:%" PRIu32 ": %s: unknown key%s%s%s",
			 f->file, item->line, item->name, near ? "; did you mean " : "",
			 near ? near : "; docs/fabric.md lists those there are", near ? "?" : "");
	return MF_ITEM_WRONG;
}

/* ---- values ---- */

static const char *take_base(struct mf_topology_file *f, const struct mb_toml_item *item,
			     char why[WHY_BYTES])
{
	const char *near = mb_named_text_near(mf_presets, item->value);

	if (!mb_named_text_find(mf_presets, item->value)) {
		snprintf(why, WHY_BYTES, "unknown preset%s%s%s", near ? "; did you mean " : ": ",
			 near ? near : "tiny, lab, lab8, pod, paper4, threetier or paper",
			 near ? "?" : "");
		return why;
	}
	if (f->first_line != item->line)
		return "a base must be the first key of a topology";
	f->cfg = mf_preset_cfg(item->value);
	return NULL;
}

static const char *take_name(struct mf_topology_file *f, const struct mb_toml_item *item)
{
	size_t len = strlen(item->value);

	if (len == 0 || len > MF_NAME_MAX)
		return "a name has 1 to 31 letters";
	memcpy(f->cfg.name, item->value, len + 1);
	return NULL;
}

static const char *take_count(const struct mb_toml_item *item, uint32_t *field)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(item->value, &end, 10);
	if (item->value[0] == '-' || *end || errno || value > UINT32_MAX)
		return "a whole number, not negative";
	*field = (uint32_t)value;
	return NULL;
}

static const char *take_rate(const struct mb_toml_item *item, uint64_t *field)
{
	if (!mb_quantity_read_rate(item->value, 0, UINT64_MAX, field))
		return MB_QUANTITY_RATE_FORM;
	return NULL;
}

static const char *take_time(const struct mb_toml_item *item, uint32_t *field)
{
	uint64_t ns;

	if (!mb_quantity_read_time(item->value, 0, TIME_MAX_NS, &ns))
		return MB_QUANTITY_TIME_FORM;
	*field = (uint32_t)ns;
	return NULL;
}

/* "fcbb:bb00::/32" */
static const char *take_block(const struct mb_toml_item *item, uint32_t *field)
{
	unsigned high, low;
	int end = 0;

	if (strspn(item->value, "0123456789abcdefABCDEF:/") != strlen(item->value) ||
	    sscanf(item->value, "%4x:%4x::/32%n", &high, &low, &end) != 2 || end == 0 ||
	    item->value[end])
		return "a block of 32 bits, such as fcbb:bb00::/32";
	*field = high << 16 | low;
	return NULL;
}

static const char *take_planes(struct mf_topology_file *f, const struct mb_toml_item *item)
{
	if (strcmp(item->value, "block") == 0)
		f->cfg.usid.planes = MF_PLANE_IN_BLOCK;
	else if (strcmp(item->value, "usid") == 0)
		f->cfg.usid.planes = MF_PLANE_IN_USID;
	else
		return "where the plane is encoded: \"block\" (a block for each) or \"usid\" "
		       "(bits of each uSID)";
	return NULL;
}

static const char *take_destination(struct mf_topology_file *f, const struct mb_toml_item *item)
{
	if (strcmp(item->value, "downlink") == 0)
		f->cfg.usid.dst = MF_DST_DOWNLINK;
	else if (strcmp(item->value, "host") == 0)
		f->cfg.usid.dst = MF_DST_HOST;
	else
		return "what a destination's uSID counts: \"downlink\" or \"host\"";
	return NULL;
}

static const char *take_oversubscription(struct mf_topology_file *f,
					 const struct mb_toml_item *item)
{
	int end = 0;

	if (strspn(item->value, "0123456789:") != strlen(item->value) ||
	    sscanf(item->value, "%5" SCNu32 ":%5" SCNu32 "%n", &f->over_down, &f->over_up, &end) !=
		    2 ||
	    item->value[end] || f->over_down == 0 || f->over_up == 0)
		return "what T0s receive from below to what they can send up, such as 1:1 or "
		       "2:1, neither 0";
	return NULL;
}

static const char *take_all(struct mf_topology_file *f, const struct mb_toml_item *item, bool rates)
{
	const char *why = NULL;

	for (int i = 0; i < MF_LINK_KINDS && !why; i++)
		why = rates ? take_rate(item, &f->cfg.links[i].bit_s)
			    : take_time(item, &f->cfg.links[i].latency_ns);
	return why;
}

/* Takes a value; NULL, or why not, in `why` or a constant. */
static const char *take_value(struct mf_topology_file *f, const struct key *key,
			      const struct mb_toml_item *item, char why[WHY_BYTES])
{
	void *field = (char *)&f->cfg + key->offset;

	switch (key->kind) {
	case KEY_BASE:
		return take_base(f, item, why);
	case KEY_NAME:
		return take_name(f, item);
	case KEY_COUNT:
		return take_count(item, field);
	case KEY_RATE:
		return take_rate(item, field);
	case KEY_TIME:
		return take_time(item, field);
	case KEY_ALL_RATES:
	case KEY_ALL_TIMES:
		return take_all(f, item, key->kind == KEY_ALL_RATES);
	case KEY_BLOCK:
		return take_block(item, field);
	case KEY_DSCP:
		/* REQ(wire.dscp.values) REQ(wire.dscp.distinct) */
		return mw_dscp_map_read(item->value, &f->cfg.dscp, why) ? NULL : why;
	case KEY_PLANES:
		return take_planes(f, item);
	case KEY_DESTINATION:
		return take_destination(f, item);
	case KEY_OVERSUBSCRIPTION:
		return take_oversubscription(f, item);
	}
	return "has no meaning";
}

/* ---- the file ---- */

static bool in_table(const char *name, const char *table)
{
	size_t len = strlen(table);

	return strncmp(name, table, len) == 0 && (name[len] == '.' || name[len] == 0);
}

void mf_topology_file_begin(struct mf_topology_file *f, const char *file)
{
	*f = (struct mf_topology_file){
		.file = file,
		.cfg =
			{
				.tiers = 2,
				.pods = 1,
				.rails = 1,
				.switch_ns = DEFAULT_LATENCY_NS,
				.mtu = DEFAULT_MTU,
				.usid = {DEFAULT_BLOCK, MF_PLANE_IN_BLOCK, MF_DST_DOWNLINK},
				.address_block = DEFAULT_ADDRESS_BLOCK,
				.dscp = mw_dscp_map_default(),
			},
	};
	for (int i = 0; i < MF_LINK_KINDS; i++)
		f->cfg.links[i].latency_ns = DEFAULT_LATENCY_NS;
}

enum mf_item mf_topology_file_item(struct mf_topology_file *f, const struct mb_toml_item *item)
{
	size_t i = 0;
	enum mb_toml_kind kind;
	char why[WHY_BYTES];
	const char *wrong;

	if (!in_table(item->name, "topology") && !in_table(item->name, "links") &&
	    !in_table(item->name, "usid"))
		return MF_ITEM_FOREIGN;
	while (i < KEYS && strcmp(keys[i].name, item->name) != 0)
		i++;
	if (i == KEYS)
		return report_unknown_key(f, item);
	kind = keys[i].kind == KEY_COUNT ? MB_TOML_INTEGER : MB_TOML_STRING;
	if (item->kind != kind)
		return report_bad_value(f, item,
					kind == MB_TOML_INTEGER
						? "must be a whole number, without quotes"
						: "must be a \"string\", in quotes");
	if (f->lines[i]) {
		snprintf(why, sizeof(why), "was given before, in line %" PRIu32, f->lines[i]);
		return report_bad_value(f, item, why);
	}
	f->lines[i] = item->line;
	if (f->first_line == 0)
		f->first_line = item->line;
	wrong = take_value(f, &keys[i], item, why);
	return wrong ? report_bad_value(f, item, wrong) : MF_ITEM_TAKEN;
}

/* A fabric without a name is called like its file, without folders and ending. */
static void name_by_file(struct mf_topology_file *f)
{
	const char *slash = strrchr(f->file, '/'), *name = slash ? slash + 1 : f->file;
	const char *dot = strrchr(name, '.');
	size_t len = dot && dot != name ? (size_t)(dot - name) : strlen(name);

	if (len > MF_NAME_MAX)
		len = MF_NAME_MAX;
	memcpy(f->cfg.name, name, len);
	f->cfg.name[len] = 0;
}

/* What mf_topology_init found wrong, with the place in the file of the field that is the cause. */
static bool report_field_error(struct mf_topology_file *f, const struct mf_error *e)
{
	uint32_t line = 0;

	for (size_t i = 0; i < KEYS; i++)
		if (strcmp(keys[i].name, e->field) == 0)
			line = f->lines[i];
	if (line)
		snprintf(f->error, sizeof(f->error), "%s:%" PRIu32 ": %s = %s: %s", f->file, line,
			 e->field, e->value, e->what);
	else
		snprintf(f->error, sizeof(f->error), "%s: %s is not given, so %s: %s", f->file,
			 e->field, e->value, e->what);
	return false;
}

/* How many T1s the ratio that is asked for makes; false: none, or no whole number of them. */
static bool oversubscribed_t1s(const struct mf_topology_file *f, uint64_t *t1s)
{
	const struct mf_topology_cfg *c = &f->cfg;
	uint64_t below, uplink;

	if (__builtin_mul_overflow(c->links[MF_HOST_T0].bit_s, f->over_up, &below) ||
	    __builtin_mul_overflow(below, c->hosts_per_t0, &below) ||
	    __builtin_mul_overflow(c->links[MF_T0_T1].bit_s, f->over_down, &uplink) || below == 0 ||
	    uplink == 0 || below % uplink != 0)
		return false;
	*t1s = below / uplink;
	return *t1s <= UINT32_MAX;
}

static bool apply_oversubscription(struct mf_topology_file *f)
{
	const struct mf_topology_cfg *c = &f->cfg;
	struct mf_error e = {.field = "topology.oversubscription"};
	uint64_t t1s;

	snprintf(e.value, sizeof(e.value), "%" PRIu32 ":%" PRIu32, f->over_down, f->over_up);
	if (!oversubscribed_t1s(f, &t1s)) {
		snprintf(e.what, sizeof(e.what),
			 "%" PRIu32 " hosts of %" PRIu64 " bit/s over uplinks of %" PRIu64
			 " bit/s make no whole number of T1s",
			 c->hosts_per_t0, c->links[MF_HOST_T0].bit_s, c->links[MF_T0_T1].bit_s);
		return report_field_error(f, &e);
	}
	if (f->lines[NUMBER_T1S] && c->t1s != t1s) {
		snprintf(e.what, sizeof(e.what),
			 "makes %" PRIu64 " T1s, but t1s says %" PRIu32 ": leave one of them out",
			 t1s, c->t1s);
		return report_field_error(f, &e);
	}
	f->cfg.t1s = (uint32_t)t1s;
	return true;
}

bool mf_topology_file_build(struct mf_topology_file *f, struct mf_topology *t)
{
	struct mf_error e;

	if (!f->lines[NUMBER_NAME])
		name_by_file(f);
	if (f->lines[NUMBER_OVERSUBSCRIPTION] && !apply_oversubscription(f))
		return false;
	return mf_topology_init(t, &f->cfg, &e) || report_field_error(f, &e);
}

static int read_item(void *ctx, const struct mb_toml_item *item)
{
	struct mf_topology_file *f = ctx;
	enum mf_item taken = mf_topology_file_item(f, item);

	return taken == MF_ITEM_FOREIGN ? (int)report_unknown_key(f, item) : (int)taken;
}

bool mf_topology_read(const char *file, const char *text, struct mf_topology *t,
		      char error[MF_TOML_ERROR_BYTES])
{
	struct mf_topology_file f;
	const char *why;
	uint32_t line;
	bool good = false;

	mf_topology_file_begin(&f, file);
	if (mb_toml_read(text, read_item, &f, &line, &why) == MB_TOML_WRONG)
		snprintf(f.error, sizeof(f.error), "%s:%" PRIu32 ": %s", file, line, why);
	else if (f.error[0] == 0)
		good = mf_topology_file_build(&f, t);
	if (!good)
		memcpy(error, f.error, sizeof(f.error));
	return good;
}

/* What the file says, as a base for changes: mf_topology_init would fill in what it leaves open.
 * REQ(topo.sizes) */
struct mf_topology_cfg mf_preset_cfg(const char *name)
{
	const struct mb_named_text *preset = mb_named_text_find(mf_presets, name);
	struct mf_topology_file f;
	const char *why;
	uint32_t line;

	mb_assert(preset);
	mf_topology_file_begin(&f, name);
	mb_assert(mb_toml_read(preset->text, read_item, &f, &line, &why) != MB_TOML_WRONG);
	mb_assert(f.error[0] == 0);
	name_by_file(&f);
	return f.cfg;
}

static bool open_preset(const char *name, struct mf_topology *t, char error[MF_TOML_ERROR_BYTES])
{
	const struct mb_named_text *preset = mb_named_text_find(mf_presets, name);
	const char *near = mb_named_text_near(mf_presets, name);

	if (preset)
		return mf_topology_read(name, preset->text, t, error);
	snprintf(error, MF_TOML_ERROR_BYTES,
		 "topology \"%.60s\": unknown preset%s%s; presets are tiny, lab, lab8, "
		 "pod, "
		 "paper4, threetier and paper, a file is called by a path with a dot or a slash",
		 name, near ? "; did you mean " : "", near ? near : "");
	return false;
}

bool mf_topology_open(const char *what, struct mf_topology *t, char error[MF_TOML_ERROR_BYTES])
{
	char *text;
	size_t len;
	bool good = false;
	FILE *file;

	if (!strpbrk(what, "./"))
		return open_preset(what, t, error);
	file = fopen(what, "re");
	text = malloc(FILE_BYTES_MAX + 1);
	errno = file ? ENOMEM : errno;
	if (!file || !text) {
		snprintf(error, MF_TOML_ERROR_BYTES, "%.200s: %s", what, strerror(errno));
		goto out;
	}
	len = fread(text, 1, FILE_BYTES_MAX + 1, file);
	if (ferror(file)) {
		snprintf(error, MF_TOML_ERROR_BYTES, "%.200s: cannot be read", what);
	} else if (len > FILE_BYTES_MAX || memchr(text, 0, len)) {
		snprintf(error, MF_TOML_ERROR_BYTES, "%.200s: not a text of at most %u bytes", what,
			 FILE_BYTES_MAX);
	} else {
		text[len] = 0;
		good = mf_topology_read(what, text, t, error);
	}
out:
	free(text);
	if (file)
		fclose(file);
	return good;
}
