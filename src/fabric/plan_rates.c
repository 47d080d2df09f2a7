/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_rates.c - one table has it all: name, kind, range, default, source. Reading, writing and
 * telling about a rate walk that table. REQ(plan.inputs)
 */
#include "fabric/plan.h"

#include "base/quantity.h"
#include "base/suggest.h"
#include "base/toml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_NS UINT64_C(3600000000000)
#define MINUTE_NS UINT64_C(60000000000)

enum kind {
	KIND_NUMBER, /* double */
	KIND_TIME,   /* uint64_t nanoseconds */
	KIND_RATE,   /* uint64_t bits a second */
	KIND_COUNT,  /* uint64_t */
	KIND_CABLE,  /* enum mf_host_cable */
};

/* Rows of the table: key, member of struct mf_rates, default, is it assumed, what, source. */
#define ROW(key, kind, member, number, whole, assumed, what, source)                           \
	{                                                                                      \
		{key, what, source, assumed}, kind, offsetof(struct mf_rates, member), number, \
			whole                                                                  \
	}
#define NUMBER(key, member, value, ...) ROW(key, KIND_NUMBER, member, value, 0, __VA_ARGS__)
#define WHOLE(key, kind, member, value, ...) ROW(key, kind, member, 0, value, __VA_ARGS__)

static const struct field {
	struct mf_rate_about about;
	enum kind kind;
	size_t at; /* in struct mf_rates */
	double number;
	uint64_t whole;
} fields[] = {
	NUMBER("price.switch", switch_usd, 200000, false, "US dollars for a switch",
	       "LuxOptx, 800G module cost analysis: 150,000 to 250,000 for 64 ports of 800G"),
	NUMBER("price.module", module_usd, 1250, false, "US dollars for a transceiver",
	       "LuxOptx, as above: 1,100 to 1,400 for 800G DR8 by the thousand"),
	NUMBER("price.trunk", trunk_usd, 100, false,
	       "US dollars for the fibre of a link as fast as a transceiver",
	       "LuxOptx, as above: 50 to 150 for an MPO trunk"),
	NUMBER("price.fibre", fibre_usd, 35, false, "US dollars for the fibre of a slower link",
	       "LuxOptx, as above: 20 to 50 for a duplex cable"),
	NUMBER("price.copper", copper_usd, 100, true,
	       "US dollars for a copper cable between NIC and T0",
	       "a round number; nothing uses it unless optics.host_links is copper"),
	NUMBER("watts.switch", switch_w, 913, false, "watts of a switch without transceivers",
	       "IP Infusion on Tomahawk 5: UfiSpace S9321-64E, 913 W typical"),
	NUMBER("watts.module", module_w, 17, false, "watts of a transceiver",
	       "NVIDIA MMS4X00-NS-T, 800G twin-port OSFP: 17 W"),
	NUMBER("failures.switch", switch_failures, 0.081, false, "failures of a switch in a year",
	       "Singh et al., CCR 51(2) 2021: 2 % of 180,000 switches within 3 months"),
	NUMBER("failures.module", module_failures, 0.0034, false,
	       "failures of a transceiver, with its half of the cable, in a year",
	       "Qian et al., Alibaba HPN, SIGCOMM 2024: 0.057 % of NIC-ToR links a month; half for "
	       "each end"),
	NUMBER("failures.nic", nic_failures, 0.0029, false, "failures of a NIC in a year",
	       "Llama 3 Herd of Models, 2024: 7 in 54 days among 16,384"),
	NUMBER("failures.flap", link_flaps, 1.05, true,
	       "flaps of a link in a year, back without a repair",
	       "OpenAI, May 2026: several a minute, millions of links; 4 a minute of 2 million is "
	       "ours"),
	WHOLE("repair.switch", KIND_TIME, switch_repair_ns, 6 * MINUTE_NS, false,
	      "until a switch that failed is back",
	      "Singh et al., as above: half of all failures end within 6 minutes"),
	WHOLE("repair.module", KIND_TIME, module_repair_ns, 24 * HOUR_NS, true,
	      "until a transceiver is replaced",
	      "days, says the SWARM paper, arXiv 2305.13792; one day is ours"),
	WHOLE("optics.module", KIND_RATE, module_bit_s, UINT64_C(800000000000), false,
	      "bits a second of a transceiver",
	      "the module that the comparison in arXiv 2605.04333 counts"),
	WHOLE("optics.lanes", KIND_COUNT, module_lanes, 8, false,
	      "links that a transceiver can be split into", "OSFP has eight lanes"),
	WHOLE("optics.host_links", KIND_CABLE, host_cable, MF_HOST_OPTICS, false,
	      "between NIC and T0: optics or copper",
	      "arXiv 2605.04333 counts optics on every link"),
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))
#define NUMBER_MAX 1e9
#define TIME_MAX_NS (UINT64_C(365) * 24 * HOUR_NS)
#define RATE_MIN UINT64_C(1000000)
#define RATE_MAX UINT64_C(100000000000000)
#define LANES_MAX 64u

static void *rate_field(struct mf_rates *r, const struct field *f)
{
	return (char *)r + f->at;
}

struct mf_rates mf_rates_defaults(void)
{
	struct mf_rates r = {0};

	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];

		if (f->kind == KIND_NUMBER)
			*(double *)rate_field(&r, f) = f->number;
		else if (f->kind == KIND_CABLE)
			*(enum mf_host_cable *)rate_field(&r, f) = (enum mf_host_cable)f->whole;
		else
			*(uint64_t *)rate_field(&r, f) = f->whole;
	}
	return r;
}

static bool store_number(double *out, const char *text)
{
	char *end;
	double n;

	errno = 0;
	n = strtod(text, &end);
	if (errno || *end || end == text || !(n >= 0 && n <= NUMBER_MAX))
		return false;
	*out = n;
	return true;
}

static bool store_count(uint64_t *out, const char *text)
{
	double n;

	if (!store_number(&n, text) || n < 1 || n > LANES_MAX || n != (double)(uint64_t)n)
		return false;
	*out = (uint64_t)n;
	return true;
}

static bool store_cable(enum mf_host_cable *out, const char *text)
{
	if (strcmp(text, "optics") != 0 && strcmp(text, "copper") != 0)
		return false;
	*out = *text == 'o' ? MF_HOST_OPTICS : MF_HOST_COPPER;
	return true;
}

static bool store_rate(struct mf_rates *r, const struct field *f, const struct mb_toml_item *item)
{
	bool number = item->kind == MB_TOML_INTEGER || item->kind == MB_TOML_REAL;

	switch (f->kind) {
	case KIND_NUMBER:
		return number && store_number(rate_field(r, f), item->value);
	case KIND_COUNT:
		return number && store_count(rate_field(r, f), item->value);
	case KIND_TIME:
		return item->kind == MB_TOML_STRING &&
		       mb_quantity_read_time(item->value, 0, TIME_MAX_NS, rate_field(r, f));
	case KIND_RATE:
		return item->kind == MB_TOML_STRING &&
		       mb_quantity_read_rate(item->value, RATE_MIN, RATE_MAX, rate_field(r, f));
	case KIND_CABLE:
		return item->kind == MB_TOML_STRING && store_cable(rate_field(r, f), item->value);
	}
	return false;
}

static const char *allowed_range(enum kind kind)
{
	switch (kind) {
	case KIND_NUMBER:
		return "a number from 0 to 1e9";
	case KIND_COUNT:
		return "a whole number from 1 to 64";
	case KIND_TIME:
		return "\"" MB_QUANTITY_TIME_FORM "\", at most 365d";
	case KIND_RATE:
		return "\"" MB_QUANTITY_RATE_FORM "\"";
	case KIND_CABLE:
		return "\"optics\" or \"copper\"";
	}
	return "";
}

struct reading {
	struct mf_rates rates;
	bool given[FIELDS];
	const char *file;
	char *error;
	size_t error_size;
};

static int unknown_key(const struct reading *read, const struct mb_toml_item *item)
{
	const char *near =
		mb_suggest_in_table(item->name, &fields[0].about.key, FIELDS, sizeof(fields[0]));

	snprintf(read->error, read->error_size, "%s:%u: %s: no such rate; %s%s", read->file,
		 item->line, item->name, near ? "did you mean " : "mrc plan --show-rates lists all",
		 near ? near : "");
	return 1;
}

static int read_rate_item(void *ctx, const struct mb_toml_item *item)
{
	struct reading *read = ctx;

	for (size_t i = 0; i < FIELDS; i++) {
		if (strcmp(fields[i].about.key, item->name) != 0)
			continue;
		if (read->given[i]) {
			snprintf(read->error, read->error_size, "%s:%u: %s: given twice",
				 read->file, item->line, item->name);
			return 1;
		}
		read->given[i] = true;
		if (store_rate(&read->rates, &fields[i], item))
			return 0;
		snprintf(read->error, read->error_size, "%s:%u: %s = %s: want %s", read->file,
			 item->line, item->name, item->value, allowed_range(fields[i].kind));
		return 1;
	}
	return unknown_key(read, item);
}

bool mf_rates_read(struct mf_rates *r, const char *file, const char *text, char *error,
		   size_t error_size)
{
	struct reading read = {.rates = *r, .file = file, .error = error, .error_size = error_size};
	const char *why;
	uint32_t line;
	int err = mb_toml_read(text, read_rate_item, &read, &line, &why);

	if (err == MB_TOML_WRONG)
		snprintf(error, error_size, "%s:%u: %s", file, line, why);
	if (err)
		return false;
	*r = read.rates;
	return true;
}

size_t mf_rates_count(void)
{
	return FIELDS;
}

struct mf_rate_about mf_rates_about(const struct mf_rates *r, size_t i, char *value)
{
	const struct field *f = &fields[i];
	const void *at = (const char *)r + f->at;
	char text[MB_QUANTITY_MAX];

	switch (f->kind) {
	case KIND_NUMBER:
		snprintf(value, MF_RATE_TEXT, "%g", *(const double *)at);
		break;
	case KIND_COUNT:
		snprintf(value, MF_RATE_TEXT, "%u", (unsigned int)*(const uint64_t *)at);
		break;
	case KIND_TIME:
		mb_quantity_write_time(text, *(const uint64_t *)at);
		snprintf(value, MF_RATE_TEXT, "\"%.20s\"", text);
		break;
	case KIND_RATE:
		mb_quantity_write_rate(text, *(const uint64_t *)at);
		snprintf(value, MF_RATE_TEXT, "\"%.20s\"", text);
		break;
	case KIND_CABLE:
		snprintf(value, MF_RATE_TEXT, "\"%s\"",
			 *(const enum mf_host_cable *)at == MF_HOST_OPTICS ? "optics" : "copper");
		break;
	}
	return f->about;
}
