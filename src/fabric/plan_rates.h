/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_rates.h - what a plan must be told: prices, watts, how often things fail and how long a
 * repair takes.
 *
 * Every one of them is an input with a default that names its source, or says that it is assumed.
 * docs/design tells how the model uses them.
 */
#ifndef SOFTMRC_FABRIC_PLAN_RATES_H
#define SOFTMRC_FABRIC_PLAN_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What joins a host and its T0. */
enum mf_host_cable {
	MF_HOST_OPTICS = 0, /* a transceiver at each end, and fibre */
	MF_HOST_COPPER,	    /* a copper cable: no transceivers */
};

struct mf_rates {
	/* US dollars apiece. */
	double switch_usd, module_usd, trunk_usd, fibre_usd, copper_usd;
	/* Watts of one at work; a switch without its transceivers. */
	double switch_w, module_w;
	/* Failures of one in a year: needs a repair. A flap does not. */
	double switch_failures, module_failures, nic_failures, link_flaps;
	/* Nanoseconds until what failed is back. */
	uint64_t switch_repair_ns, module_repair_ns;
	/* A transceiver (module): bits a second, and how many links it can be split into. */
	uint64_t module_bit_s, module_lanes;
	enum mf_host_cable host_cable;
};

/* mf_rates_defaults returns the rates that stand where nobody says otherwise. */
struct mf_rates mf_rates_defaults(void);

/*
 * mf_rates_read takes the rates that the text of a TOML file gives into *r; the others stay as they
 * are. false: *error (error_size bytes) says `FILE:LINE: key = value: what is wrong; what is
 * allowed`, and *r is as it was. `file` is the name for that message.
 */
bool mf_rates_read(struct mf_rates *r, const char *file, const char *text, char *error,
		   size_t error_size);

/* What is known of one rate, for tables and files. */
struct mf_rate_about {
	const char *key;  /* "failures.switch" */
	const char *what; /* "failures of a switch in a year" */
	const char *source;
	bool assumed; /* the number is ours; source says why */
};

/* Long enough for every value. */
#define MF_RATE_TEXT 24u

/* mf_rates_count returns how many rates there are. */
size_t mf_rates_count(void);
/*
 * mf_rates_about tells about rate i, below mf_rates_count, and writes its value in r the way that a
 * TOML file has it into value[MF_RATE_TEXT].
 */
struct mf_rate_about mf_rates_about(const struct mf_rates *r, size_t i, char *value);

#endif
