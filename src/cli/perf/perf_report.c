/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines about a measurement: see perf.h. */
#include "cli/perf/perf.h"

#include "cli/gid_text.h"
#include "ui/text.h"

#include <inttypes.h>

static double bits_per_s(uint64_t bytes, const struct perf_figure *f)
{
	return f->ns ? (double)bytes * (double)f->messages * 8e9 / (double)f->ns : 0;
}

static double messages_per_s(const struct perf_figure *f)
{
	return f->ns ? (double)f->messages * 1e9 / (double)f->ns : 0;
}

void perf_row_times(struct perf_row *row, const struct perf_histogram *h)
{
	row->p50_ns = perf_histogram_percentile(h, 50);
	row->p99_ns = perf_histogram_percentile(h, 99);
	row->max_ns = h->max;
}

void perf_report_head(const struct perf_plan *plan, struct ui_text *out)
{
	ui_text_add(out, "%s, %u QP%s, %u in flight on each%s; times are %s\n\n",
		    plan->imm ? "WRITE_WITH_IMM" : "WRITE", plan->qps, plan->qps == 1 ? "" : "s",
		    plan->depth, plan->bidirectional ? ", bidirectional" : "",
		    plan->latency ? "half a round trip of one WRITE_WITH_IMM"
				  : "from post to completion, queueing included");
	ui_text_add(out, "%8s", "SIZE");
	if (plan->bandwidth)
		ui_text_add(out, "  %9s", plan->bidirectional ? "SENT" : "BANDWIDTH");
	if (plan->bandwidth && plan->bidirectional)
		ui_text_add(out, "  %9s", "RECEIVED");
	if (plan->bandwidth)
		ui_text_add(out, "  %6s", "MSG/s");
	ui_text_add(out, "  %7s  %7s  %7s  %5s  %5s  %5s\n", "P50", "P99", "MAX", "RETX", "LOST",
		    "TRIM");
}

static void put_health(const struct perf_health *h, struct ui_text *out)
{
	char text[UI_UNITS_MAX];

	if (!h->known) {
		ui_text_add(out, "  %5s  %5s  %5s\n", "-", "-", "-");
		return;
	}
	ui_text_add(out, "  %5s", ui_units_count(text, (double)h->retransmits));
	ui_text_add(out, "  %5s", ui_units_count(text, (double)h->lost));
	ui_text_add(out, "  %5s\n", ui_units_count(text, (double)h->trimmed));
}

void perf_report_row(const struct perf_plan *plan, const struct perf_row *row, struct ui_text *out)
{
	char text[UI_UNITS_MAX];

	ui_text_add(out, "%8s", ui_units_bytes(text, row->bytes));
	if (plan->bandwidth)
		ui_text_add(out, "  %9s", ui_units_bits(text, bits_per_s(row->bytes, &row->out)));
	if (plan->bandwidth && plan->bidirectional)
		ui_text_add(out, "  %9s", ui_units_bits(text, bits_per_s(row->bytes, &row->in)));
	if (plan->bandwidth)
		ui_text_add(out, "  %6s", ui_units_count(text, messages_per_s(&row->out)));
	ui_text_add(out, "  %7s", ui_units_time(text, row->p50_ns));
	ui_text_add(out, "  %7s", ui_units_time(text, row->p99_ns));
	ui_text_add(out, "  %7s", ui_units_time(text, row->max_ns));
	put_health(&row->health, out);
}

void perf_report_tick(uint64_t bytes, const struct perf_figure *out, uint64_t duration_ns,
		      struct ui_text *text)
{
	char size[UI_UNITS_MAX], bits[UI_UNITS_MAX];
	uint64_t percent = duration_ns ? out->ns * 100 / duration_ns : 100;

	ui_text_add(text, "%8s  %9s  %3" PRIu64 " %%", ui_units_bytes(size, bytes),
		    ui_units_bits(bits, bits_per_s(bytes, out)), percent < 100 ? percent : 100);
}

static void put_planes(const struct perf_health *all, struct ui_text *out)
{
	struct ui_table t = {.left = 1u << 1 | 1u << 2};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < all->planes; i++)
		sum += all->sent[i] + all->received[i];
	ui_table_head(&t, "PLANE|ADDRESS||SHARE|SENT|RECEIVED");
	for (uint32_t i = 0; i < all->planes; i++) {
		char text[UI_UNITS_MAX], address[CLI_PORT_MAX];
		uint64_t own = all->sent[i] + all->received[i];

		ui_table_cell(&t, i + 1, 0, "%u", i);
		ui_table_cell(&t, i + 1, 1, "%s",
			      cli_address_port(address, all->address[i], all->interface[i]));
		ui_table_cell(&t, i + 1, 2, "%s", all->up[i] ? "up" : "DOWN");
		ui_table_cell(&t, i + 1, 3, "%.1f %%", sum ? (double)own * 100 / (double)sum : 0.0);
		ui_table_cell(&t, i + 1, 4, "%s", ui_units_bytes(text, all->sent[i]));
		ui_table_cell(&t, i + 1, 5, "%s", ui_units_bytes(text, all->received[i]));
	}
	ui_table_render(&t, out);
}

void perf_report_tail(const struct perf_health *all, struct ui_text *out)
{
	if (!all->known) {
		ui_text_add(out, "\nplanes, EVs and losses are not known: no statistics of this "
				 "process (MRC_STATS_DIR)\n");
		return;
	}
	ui_text_add(out, "\n");
	put_planes(all, out);
	ui_text_add(
		out,
		"\nEVs now: %u good, %u skipped once (ECN or trim), %u assumed bad, %u denied\n",
		all->evs_good, all->evs_skip, all->evs_bad, all->evs_denied);
	ui_text_add(out,
		    "packets: %" PRIu64 " retransmitted, %" PRIu64 " lost, %" PRIu64
		    " trimmed, %" PRIu64 " dropped by full sockets; %" PRIu64 " timeouts\n",
		    all->retransmits, all->lost, all->trimmed, all->drops, all->timeouts);
}

static json_t *health_json(const struct perf_health *h)
{
	if (!h->known)
		return json_null();
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "retransmits", (json_int_t)h->retransmits, "lost",
			 (json_int_t)h->lost, "trimmed", (json_int_t)h->trimmed, "timeouts",
			 (json_int_t)h->timeouts, "socket_drops", (json_int_t)h->drops);
}

static json_t *figure_json(uint64_t bytes, const struct perf_figure *f)
{
	return json_pack("{s:I,s:I,s:f,s:f}", "messages", (json_int_t)f->messages, "ns",
			 (json_int_t)f->ns, "bits_per_s", bits_per_s(bytes, f), "messages_per_s",
			 messages_per_s(f));
}

static json_t *row_json(const struct perf_plan *plan, const struct perf_row *row)
{
	json_t *json =
		json_pack("{s:I,s:{s:s,s:I,s:I,s:I},s:o}", "bytes", (json_int_t)row->bytes,
			  "time_ns", "of", plan->latency ? "half_round_trip" : "post_to_completion",
			  "p50", (json_int_t)row->p50_ns, "p99", (json_int_t)row->p99_ns, "max",
			  (json_int_t)row->max_ns, "packets", health_json(&row->health));

	if (plan->bandwidth)
		json_object_set_new(json, "sent", figure_json(row->bytes, &row->out));
	if (plan->bandwidth && plan->bidirectional)
		json_object_set_new(json, "received", figure_json(row->bytes, &row->in));
	return json;
}

static json_t *planes_json(const struct perf_health *all)
{
	json_t *planes = json_array();

	for (uint32_t i = 0; i < all->planes; i++) {
		char address[CLI_PORT_MAX];

		json_array_append_new(
			planes,
			json_pack("{s:i,s:s,s:b,s:I,s:I}", "plane", (int)i, "address",
				  cli_address_port(address, all->address[i], all->interface[i]),
				  "up", all->up[i], "sent_bytes", (json_int_t)all->sent[i],
				  "received_bytes", (json_int_t)all->received[i]));
	}
	return planes;
}

json_t *perf_report_json(const struct perf_plan *plan, const char *peer, const struct perf_row *row,
			 size_t rows, const struct perf_health *all)
{
	json_t *sizes = json_array();

	for (size_t i = 0; i < rows; i++)
		json_array_append_new(sizes, row_json(plan, &row[i]));
	return json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:{s:i,s:i,s:i,s:i}}", "version", 1, "peer",
			 peer, "plan", perf_plan_json(plan), "sizes", sizes, "packets",
			 health_json(all), "planes", planes_json(all), "evs", "good",
			 (int)all->evs_good, "skip", (int)all->evs_skip, "bad", (int)all->evs_bad,
			 "denied", (int)all->evs_denied);
}
