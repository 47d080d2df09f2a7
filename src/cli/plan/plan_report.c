/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan as tables: see plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "fabric/plan.h"
#include "ui/text.h"

#include <stdio.h>
#include <string.h>

#define CELL 32u

/* A whole number with commas. */
static void write_whole(char out[CELL], double n)
{
	char digits[CELL];
	int len = snprintf(digits, sizeof(digits), "%.0f", n), at = 0;

	for (int i = 0; i < len && at + 2 < (int)CELL; i++) {
		if (i && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}

/* Four digits that count, whole numbers and large ones with commas. */
static void write_number(char out[CELL], double n)
{
	if (n >= 1000 || n == (double)(uint64_t)n)
		write_whole(out, n);
	else
		snprintf(out, CELL, "%.4g", n);
}

static void write_usd(char out[CELL], double n)
{
	char text[UI_UNITS_MAX];

	if (n > 0 && n < 9999.5)
		snprintf(text, sizeof(text), "%.4g", n);
	else
		ui_units_count(text, n);
	snprintf(out, CELL, "%s", text);
}

static void write_watts(char out[CELL], double n)
{
	if (n >= 1e6)
		snprintf(out, CELL, "%.4g MW", n / 1e6);
	else if (n >= 1e4)
		snprintf(out, CELL, "%.4g kW", n / 1e3);
	else
		snprintf(out, CELL, "%.4g W", n);
}

static void write_days(char out[CELL], double days)
{
	if (days <= 0)
		snprintf(out, CELL, "never");
	else if (days < 2)
		snprintf(out, CELL, "%.3g h", days * 24);
	else
		snprintf(out, CELL, "%.4g days", days);
}

static void write_bits(char out[CELL], double bit_s)
{
	if (bit_s >= 1e15)
		snprintf(out, CELL, "%.4g Pb/s", bit_s / 1e15);
	else
		ui_units_bits(out, bit_s);
}

static void write_value(char out[CELL], enum plan_unit unit, double n)
{
	switch (unit) {
	case PLAN_PIECES:
	case PLAN_A_DAY:
		write_number(out, n);
		break;
	case PLAN_SHARE:
		snprintf(out, CELL, "%.4g %%", 100 * n);
		break;
	case PLAN_BITS:
		write_bits(out, n);
		break;
	case PLAN_USD:
		write_usd(out, n);
		break;
	case PLAN_WATTS:
		write_watts(out, n);
		break;
	case PLAN_NS:
		ui_units_time(out, (uint64_t)n);
		break;
	case PLAN_DAYS:
		write_days(out, n);
		break;
	case PLAN_YEARS:
		snprintf(out, CELL, n > 0 ? "%.4g years" : "never", n);
		break;
	}
}

static void put_per_nic(struct ui_table *table, size_t row, const struct plan_figure *own,
			double own_nics, const struct plan_figure *other, double other_nics)
{
	/* So few fail in a day that a NIC's share is told for a year. */
	double times = own->unit == PLAN_A_DAY ? 365 : 1;
	double a = times * own->value / own_nics;
	double b = other ? times * other->value / other_nics : 0;
	char text[CELL];

	if (!own->per_nic)
		return;
	write_value(text, own->unit, a);
	ui_table_cell(table, row, other ? 3 : 2, "%s", text);
	if (!other)
		return;
	write_value(text, own->unit, b);
	ui_table_cell(table, row, 4, "%s", text);
	if (b > 0)
		ui_table_cell(table, row, 5, "%.3f", a / b);
}

static void put_heads(struct ui_table *table, size_t row, const char *section,
		      const struct mf_topology *t, const struct mf_topology *against)
{
	ui_table_cell(table, row, 0, "%s", section);
	if (row)
		return;
	ui_table_cell(table, row, 1, "%s", t->cfg.name);
	ui_table_cell(table, row, against ? 3 : 2, "a NIC");
	if (!against)
		return;
	ui_table_cell(table, row, 2, "%s", against->cfg.name);
	ui_table_cell(table, row, 4, "a NIC");
	ui_table_cell(table, row, 5, "ratio");
}

static void put_figures(struct ui_text *out, const struct mf_topology *t,
			const struct mf_topology *against, const struct mf_rates *r)
{
	struct plan_figures own, other = {0};
	struct ui_table table = {0};
	const char *section = NULL;
	size_t row = 0;
	char text[CELL];

	plan_figures_make(&own, t, r);
	if (against)
		plan_figures_make(&other, against, r);
	for (size_t i = 0; i < own.n; i++) {
		const struct plan_figure *a = &own.figure[i],
					 *b = against ? &other.figure[i] : NULL;

		if (a->value == 0 && (!b || b->value == 0))
			continue;
		if (!section || strcmp(section, a->section) != 0) {
			section = a->section;
			row += row != 0;
			put_heads(&table, row++, section, t, against);
		}
		ui_table_cell(&table, row, 0, "  %s", a->label);
		write_value(text, a->unit, a->value);
		ui_table_cell(&table, row, 1, "%s", text);
		if (b)
			write_value(text, b->unit, b->value);
		if (b)
			ui_table_cell(&table, row, 2, "%s", text);
		put_per_nic(&table, row++, a, t->n_hosts, b, against ? against->n_hosts : 1);
	}
	ui_table_render(&table, out);
}

static void write_share(char out[CELL], const struct mf_plan_loss *loss, double share)
{
	if (!loss->present)
		snprintf(out, CELL, "-");
	else if (loss->cut_off)
		snprintf(out, CELL, "cut off");
	else
		snprintf(out, CELL, "%.3g %%", 100 * share);
}

static void put_loss(struct ui_table *table, size_t row, size_t column,
		     const struct mf_plan_loss *loss)
{
	char text[CELL];

	if (loss->present)
		write_whole(text, (double)loss->nics);
	ui_table_cell(table, row, column, "%s", loss->present ? text : "-");
	write_share(text, loss, loss->bare);
	ui_table_cell(table, row, column + 1, "%s", text);
	write_share(text, loss, loss->held);
	ui_table_cell(table, row, column + 2, "%s", text);
}

static void put_losses(struct ui_text *out, const struct mf_topology *t,
		       const struct mf_topology *against, const struct mf_rates *r)
{
	struct ui_table table = {0};
	size_t row = 2;

	ui_table_cell(&table, 0, 0, "If one fails");
	for (size_t fabric = 0; fabric < (against ? 2u : 1u); fabric++) {
		ui_table_cell(&table, 0, 1 + 3 * fabric,
			      "%s:", fabric ? against->cfg.name : t->cfg.name);
		ui_table_cell(&table, 1, 1 + 3 * fabric, "NICs hit");
		ui_table_cell(&table, 1, 2 + 3 * fabric, "bits lost");
		ui_table_cell(&table, 1, 3 + 3 * fabric, "MRC loses");
	}
	for (int i = 0; i < MF_COMPONENTS; i++) {
		struct mf_plan_loss own = mf_plan_loss(t, r, (enum mf_component)i);
		struct mf_plan_loss other = {0};

		if (against)
			other = mf_plan_loss(against, r, (enum mf_component)i);
		if (!own.present && !other.present)
			continue;
		ui_table_cell(&table, row, 0, "  %s", mf_component_name((enum mf_component)i));
		put_loss(&table, row, 1, &own);
		if (against)
			put_loss(&table, row, 4, &other);
		row++;
	}
	ui_table_render(&table, out);
}

static void put_notes(struct ui_text *out, const struct mf_topology *against)
{
	ui_text_add(out,
		    "\nbits lost: of the bandwidth of each NIC hit. MRC loses: what it comes to "
		    "as all planes are loaded alike\nand the uplinks are full. A job sees a "
		    "failure that leaves a NIC no port.\n");
	if (against)
		ui_text_add(out, "ratio: what a NIC needs here for one there.\n");
	ui_text_add(out,
		    "Prices, watts and rates are inputs: mrc plan --show-rates lists them with "
		    "their sources.\n");
}

/* Takes the blanks off the ends of lines, which empty cells leave. */
static void trim_lines(struct ui_text *text)
{
	size_t at = 0, end = 0;

	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '\n')
			at = end;
		text->data[at++] = text->data[i];
		if (text->data[i] != ' ')
			end = at;
	}
	text->data[at] = '\0';
	text->len = at;
}

void plan_report_write(struct ui_text *out, const struct mf_topology *t,
		       const struct mf_topology *against, const struct mf_rates *r)
{
	put_figures(out, t, against, r);
	ui_text_add(out, "\n");
	put_losses(out, t, against, r);
	put_notes(out, against);
	trim_lines(out);
}

void plan_report_rates(struct ui_text *out, const struct mf_rates *r)
{
	char table[64] = "", value[MF_RATE_TEXT];

	ui_text_add(out, "# Prices, watts, failures and repairs; for mrc plan --rates FILE.\n");
	for (size_t i = 0; i < mf_rates_count(); i++) {
		struct mf_rate_about about = mf_rates_about(r, i, value);
		size_t len = strcspn(about.key, ".");

		if (strncmp(table, about.key, len) != 0 || table[len]) {
			snprintf(table, sizeof(table), "%.*s", (int)len, about.key);
			ui_text_add(out, "\n[%s]\n", table);
		}
		ui_text_add(out, "# %s\n# %s: %s\n", about.what,
			    about.assumed ? "assumed" : "source", about.source);
		ui_text_add(out, "%s = %s\n", about.key + len + 1, value);
	}
}
