/* SPDX-License-Identifier: BSD-2-Clause */
/* drain_show.c - see drain_show.h. */
#include "cli/lab/drain_show.h"

#include "ui/terminal.h"
#include "ui/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int drain_tell(void *context, const struct drain_seen *seen)
{
	struct drain_telling *telling = context;

	if (isatty(STDERR_FILENO)) {
		fprintf(stderr,
			"\r\033[K%s: %" PRIu32 " of %" PRIu32 " processes follow, %" PRIu64
			" packets cross it",
			telling->name, seen->processes - seen->behind, seen->processes,
			seen->packets);
		telling->told = true;
	}
	return ui_term_caught();
}

void drain_tell_end(struct drain_telling *telling)
{
	if (telling->told)
		fprintf(stderr, "\r\033[K");
	telling->told = false;
}

void drain_show_safe(const char *name, const struct drain_result *r)
{
	char took[UI_UNITS_MAX], quiet[UI_UNITS_MAX];

	printf("%s: safe to take away after %s; nothing has crossed it for %s, %" PRIu32
	       " processes follow, %" PRIu32 " denials on %" PRIu32 " hosts\n",
	       name, ui_units_time(took, r->took_ns), ui_units_time(quiet, r->seen.quiet_ns),
	       r->seen.processes, r->denials, r->hosts);
}

void drain_show_unsafe(const struct ui_verb *verb, const struct ml_lab *lab, const char *name,
		       const struct drain_result *r, const char *then)
{
	const struct drain_seen *s = &r->seen;
	char took[UI_UNITS_MAX], quiet[UI_UNITS_MAX], ends[MF_CABLE_ENDS_BYTES];

	fprintf(stderr, "%s: %s: not safe after %s: ", verb->name, name,
		ui_units_time(took, r->took_ns));
	if (s->behind)
		fprintf(stderr,
			"process %" PRIu32 " (%s) on host%" PRIu32
			" does not go by its host's store (MRC_NODE_DIR); ",
			s->behind_pid, s->behind_command, s->behind_host);
	else if (s->packets)
		fprintf(stderr, "%s still carries packets, MRC's or others'; ",
			mf_link_ends(ml_lab_topology(lab), s->busiest, ends));
	else
		fprintf(stderr, "nothing has crossed it, but only for %s; ",
			ui_units_time(quiet, s->quiet_ns));
	fprintf(stderr, "%s\n", then);
}

json_t *drain_json(const struct ml_lab *lab, const char *name, const struct drain_result *r)
{
	const struct drain_seen *s = &r->seen;
	char ends[MF_CABLE_ENDS_BYTES];
	json_t *all =
		json_pack("{s:i,s:s,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "version", 1, "part", name,
			  "safe", r->safe, "took_ns", (json_int_t)r->took_ns, "quiet_ns",
			  (json_int_t)s->quiet_ns, "hosts", (json_int_t)r->hosts, "denials",
			  (json_int_t)r->denials, "processes", (json_int_t)s->processes, "behind",
			  (json_int_t)s->behind, "packets", (json_int_t)s->packets);

	if (s->packets)
		json_object_set_new(
			all, "cable",
			json_string(mf_link_ends(ml_lab_topology(lab), s->busiest, ends)));
	return all;
}
