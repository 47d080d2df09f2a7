/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run/run.h"

#include "fabric/topology_toml.h"
#include "fabric/usid.h"
#include "stats_fixture.h"
#include "support/test.h"

#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

static struct run_report report;
static struct mrc_stats_segment *segment;

static int open_report(void **state)
{
	(void)state;
	segment = calloc(1, sizeof(*segment));
	return !segment || run_report_open(&report) ? -1 : 0;
}

static int shut(void **state)
{
	(void)state;
	free(segment);
	run_report_close(&report);
	return 0;
}

#define REPORT_TEST(function, name) TEST_WITH(open_report, shut, function, name)

static void add_event(uint64_t at_ns, uint8_t kind, uint8_t port, uint8_t state, uint8_t cause)
{
	segment->event[segment->events++ % MRC_STATS_EVENTS] =
		(struct mrc_stats_event){.at_ns = report.begin_ns + at_ns,
					 .ev = 0xc0010003,
					 .kind = kind,
					 .port = port,
					 .state = state,
					 .cause = cause};
}

static void write_segment(uint32_t pid)
{
	char path[RUN_REPORT_DIR_MAX + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u" MRC_STATS_SUFFIX, getenv("MRC_STATS_DIR"), pid);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_u_eq(fwrite(segment, sizeof(*segment), 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

/* Two processes; the one that is read first may be the one whose events came last. */
static void write_two(void)
{
	for (uint32_t pid = 1; pid <= 2; pid++) {
		fixture_segment(segment, pid);
		segment->port[1].tx_bytes = 2048;
		add_event(2000000000 * pid, MRC_STATS_EVENT_EV, 1, MRC_STATS_EV_ASSUMED_BAD,
			  MRC_STATS_EV_BY_LOSS);
		add_event(2500000000, MRC_STATS_EVENT_PORT, 1, 1, 0);
		add_event(7000000000 - 1000000000 * pid, MRC_STATS_EVENT_EV, 1, MRC_STATS_EV_GOOD,
			  MRC_STATS_EV_BY_PROBE);
		write_segment(pid);
	}
}

REPORT_TEST(run_report_read, sums_processes_and_orders_events)
{
	write_two();
	assert_int_equal(run_report_read(&report), 0);
	assert_u_eq(report.processes, 2);
	assert_u_eq(report.counter[0].value, 2000000);
	assert_u_eq(report.ports, 2);
	assert_u_eq(report.port[1].tx_bytes, 4096);
	assert_u_eq(report.events, 4);
	for (size_t i = 1; i < report.events; i++)
		assert_true(report.event[i - 1].e.at_ns < report.event[i].e.at_ns);
}

REPORT_TEST(run_report_read, files_that_are_not_whole)
{
	fixture_segment(segment, 1);
	segment->version = MRC_STATS_VERSION + 1;
	write_segment(1);
	assert_int_equal(run_report_read(&report), 0);
	assert_u_eq(report.processes, 0);
	assert_u_eq(report.unreadable, 1);
}

REPORT_TEST(run_report_add, events_beyond_what_is_kept)
{
	fixture_segment(segment, 1);
	for (uint32_t i = 0; i < MRC_STATS_EVENTS + 10; i++)
		add_event(i, MRC_STATS_EVENT_EV, 0, MRC_STATS_EV_GOOD, MRC_STATS_EV_BY_PORT);
	assert_int_equal(run_report_add(&report, segment), 0);
	assert_u_eq(report.events, MRC_STATS_EVENTS);
	assert_u_eq(report.event[0].e.at_ns, report.begin_ns + 10);
}

static char *shown(void)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	run_report_show(&report, "prog", f);
	fclose(f);
	return text;
}

REPORT_TEST(run_report_show, says_when_each_ev_went_and_came)
{
	char *text;

	write_two();
	assert_int_equal(run_report_read(&report), 0);
	text = shown();
	assert_non_null(strstr(text, "2 processes over MRC"));
	assert_non_null(strstr(text, "10 of them again"));
	assert_non_null(strstr(text, "2.000 s  plane 1  EV 0xc0010003 is bad: packets lost\n"));
	assert_non_null(strstr(text, "5.000 s  plane 1  EV 0xc0010003 is good: probes answered\n"));
	free(text);
}

/* Of host0 to host3 of a fabric of two planes, whose fourth T1 of plane 1 the EV chooses. */
REPORT_TEST(run_report_show, calls_evs_by_their_cables)
{
	static struct cli_fabric fabric = {.known = true};
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_error why;
	char *text;

	cfg.t1s = 4;
	assert_true(mf_topology_init(&fabric.t, &cfg, &why));
	fixture_segment(segment, 1);
	mf_address_of_host(&fabric.t, 0, segment->gid);
	add_event(1000000000, MRC_STATS_EVENT_EV, 1, MRC_STATS_EV_ASSUMED_BAD,
		  MRC_STATS_EV_BY_LOSS);
	mf_address_of_host(&fabric.t, 3, segment->event[0].peer);
	assert_int_equal(run_report_add(&report, segment), 0);
	report.fabric = &fabric;
	text = shown();
	assert_non_null(strstr(text, "EV 0xc0010003 is bad: packets lost; plane1.t0-0.u3 - "
				     "plane1.t1-3\n"));
	free(text);
}

/* The program had the folder to itself: what it left there is neither waited for nor followed. */
REPORT_TEST(run_report_read, what_is_no_file_is_counted)
{
	char path[RUN_REPORT_DIR_MAX + 32];

	snprintf(path, sizeof(path), "%s/1" MRC_STATS_SUFFIX, report.dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/2" MRC_STATS_SUFFIX, report.dir);
	assert_int_equal(symlink("/dev/zero", path), 0);
	alarm(60);
	assert_int_equal(run_report_read(&report), 0);
	alarm(0);
	assert_u_eq(report.unreadable, 2);
	assert_u_eq(report.processes, 0);
}

static void add_counter(const char *name, uint64_t value)
{
	struct mrc_stats_counter *c = segment->counter;

	while (c->name[0])
		c++;
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->value = value;
}

REPORT_TEST(run_report_show, datagrams_where_there_were_any)
{
	char *text;

	fixture_segment(segment, 1);
	assert_int_equal(run_report_add(&report, segment), 0);
	text = shown();
	assert_null(strstr(text, "datagrams"));
	free(text);
	add_counter("ud_tx", 2);
	add_counter("ud_tx_bytes", 100);
	add_counter("ud_drop_key", 3);
	add_counter("ud_drop_no_qp", 4);
	write_segment(1);
	assert_int_equal(run_report_read(&report), 0);
	text = shown();
	assert_non_null(strstr(text, "datagrams: sent 100 B, received 0 B, 7 dropped\n"));
	free(text);
}

REPORT_TEST(run_report_show, a_program_that_never_opened_the_device)
{
	char *text;

	assert_int_equal(run_report_read(&report), 0);
	text = shown();
	assert_non_null(strstr(text, "0 processes over MRC\n"));
	assert_null(strstr(text, "sent"));
	free(text);
}

REPORT_TEST(run_report_json, has_all_counters_and_events)
{
	char path[] = "/tmp/softmrc-report-XXXXXX";
	json_int_t bytes = 0;
	json_t *all, *events;

	close(mkstemp(path));
	write_two();
	assert_int_equal(run_report_read(&report), 0);
	assert_int_equal(run_report_json(&report, path), 0);
	all = json_load_file(path, 0, NULL);
	assert_non_null(all);
	assert_int_equal(json_unpack(all, "{s{sI}so}", "counters", "tx_data_bytes", &bytes,
				     "events", &events),
			 0);
	assert_int_equal(bytes, 2000000);
	assert_u_eq(json_array_size(events), 4);
	json_decref(all);
	unlink(path);
	assert_int_equal(run_report_json(&report, "/no/such/folder/file"), ENOENT);
}
