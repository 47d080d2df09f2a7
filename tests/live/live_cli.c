/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_cli.c - the verbs of `mrc` against each other: what they print, and how they fail.
 *
 * Argument: the program mrc.
 */
#include "live/live_program.h"
#include "support/test.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char port[8];

static int cli_setup(void **state)
{
	(void)state;
	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_EVS", "4", 1);
	setenv("MRC_EV_BASE", "12000", 1); /* what is printed has it */
	/* Several of these tests may run on a machine at once. */
	snprintf(port, sizeof(port), "%ld", 20000 + (long)getpid() % 20000);
	return 0;
}

static int cli_teardown(void **state)
{
	(void)state;
	unsetenv("MRC_PORTS");
	unsetenv("MRC_EVS");
	return 0;
}

#define CLI_TEST(verb, name) TEST_WITH(cli_setup, cli_teardown, mrc_##verb, name)

/* A client calls for ten seconds, in which a server on a busy machine may not have begun. */
static void start_server(struct live_program *p)
{
	START(p, "perf", "--server", "--once", "--port", port);
	live_program_wait_said(p, "waiting for mrc perf HOST");
}

CLI_TEST(perf, measures_every_size)
{
	static struct live_program server, client;
	json_t *json;

	start_server(&server);
	START(&client, "perf", "127.0.0.1", "--port", port, "--min", "1k", "--max", "4k",
	      "--duration", "20ms", "--qps", "2", "--json");
	assert_int_equal(live_program_finish(&client), 0);
	assert_int_equal(live_program_finish(&server), 0);
	json = json_loads(client.said, 0, NULL);
	assert_non_null(json);
	assert_u_eq(json_array_size(json_object_get(json, "sizes")), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *size = json_array_get(json_object_get(json, "sizes"), i);
		json_t *sent = json_object_get(size, "sent");

		assert_i_eq(json_integer_value(json_object_get(size, "bytes")), 1024 << i);
		assert_true(json_integer_value(json_object_get(sent, "messages")) > 0);
	}
	assert_u_eq(json_array_size(json_object_get(json, "planes")), 2);
	json_decref(json);
}

CLI_TEST(perf, immediates_both_ways)
{
	static struct live_program server, client;

	start_server(&server);
	START(&client, "perf", "127.0.0.1", "--port", port, "--size", "512", "--duration", "50ms",
	      "--imm", "--both", "--depth", "8", "--qps", "3");
	assert_int_equal(live_program_finish(&client), 0);
	assert_int_equal(live_program_finish(&server), 0);
	live_program_assert_said(&client,
				 "WRITE_WITH_IMM, 3 QPs, 8 in flight on each, bidirectional");
	live_program_assert_said(&client, "   512 B");
	live_program_assert_said(&client, "EVs now: 24 good");
}

/* The client sleeps, the server polls; with credits of immediates, which are no completions. */
CLI_TEST(perf, sleeps_on_events)
{
	static struct live_program server, client;
	json_t *json;

	start_server(&server);
	START(&client, "perf", "127.0.0.1", "--port", port, "--size", "512", "--duration", "50ms",
	      "--imm", "--both", "--depth", "8", "--qps", "3", "--events", "--json");
	assert_int_equal(live_program_finish(&client), 0);
	assert_int_equal(live_program_finish(&server), 0);
	json = json_loads(client.said, 0, NULL);
	assert_non_null(json);
	assert_true(json_integer_value(json_object_get(json, "cq_events")) > 0);
	json_decref(json);
}

CLI_TEST(perf, both_sleep_on_events)
{
	static struct live_program server, client;

	START(&server, "perf", "--server", "--once", "--port", port, "--events");
	live_program_wait_said(&server, "waiting for mrc perf HOST");
	START(&client, "perf", "127.0.0.1", "--port", port, "--size", "512", "--duration", "20ms",
	      "--events");
	assert_int_equal(live_program_finish(&client), 0);
	assert_int_equal(live_program_finish(&server), 0);
	live_program_assert_said(&client, "\nCQ events: ");
}

CLI_TEST(perf, nobody_there)
{
	static struct live_program client;

	START(&client, "perf", "127.0.0.1", "--port", "1");
	assert_int_equal(live_program_finish(&client), 1);
	live_program_assert_said(&client, "mrc perf: 127.0.0.1, TCP port 1: Connection refused\n");
}

CLI_TEST(perf, a_server_that_dies_is_noticed)
{
	static struct live_program server, client;

	start_server(&server);
	START(&client, "perf", "127.0.0.1", "--port", port, "--size", "4k", "--duration", "60s");
	live_program_wait_said(&client, "times are"); /* the head, when both are connected */
	kill(server.pid, SIGKILL);
	assert_int_equal(live_program_finish(&server), -SIGKILL);
	assert_int_equal(live_program_finish(&client), 1);
	live_program_assert_said(&client, "mrc perf: the peer");
}

static bool prints_to_a_full_disk(void)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	return full >= 0 && dup2(full, STDOUT_FILENO) == STDOUT_FILENO;
}

CLI_TEST(verbs, fail_when_what_they_print_has_no_room)
{
	static char *const words[][4] = {
		{"--version"},	    {"help"},	      {"man"},
		{"plan", "--help"}, {"plan", "tiny"}, {"plan", "tiny", "--json"},
		{"sim", "keys"},    {"sim", "list"},  {"conform", "--list"}};
	static struct live_program program;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		live_program_start(&program, (char **)(uintptr_t)words[i], prints_to_a_full_disk);
		assert_int_equal(live_program_finish(&program), 2);
		live_program_assert_said(&program, "mrc: standard output: ");
	}
}

CLI_TEST(top, shows_a_server_by_its_number)
{
	static struct live_program server, top;
	char pid[16];

	START(&server, "perf", "--server", "--port", port);
	/* A server has no device before its first client; this is about a process without one. */
	live_program_wait_said(&server, "waiting for mrc perf HOST");
	snprintf(pid, sizeof(pid), "%ld", (long)server.pid);
	START(&top, "top", "--pid", pid, "--interval", "50ms");
	assert_int_equal(live_program_finish(&top), 1);
	live_program_assert_said(&top, "no MRC process of this number");
	kill(server.pid, SIGTERM);
	assert_int_equal(live_program_finish(&server), 0);
}

CLI_TEST(top, json_of_a_run)
{
	static struct live_program server, client, top;
	json_t *json, *process = NULL;
	size_t i;

	start_server(&server);
	START(&client, "perf", "127.0.0.1", "--port", port, "--size", "4k", "--duration", "300s",
	      "--no-latency");
	live_program_wait_said(&client, "times are");
	START(&top, "top", "--json", "--interval", "100ms");
	assert_int_equal(live_program_finish(&top), 0);
	json = json_loads(top.said, 0, NULL);
	assert_non_null(json);
	json_array_foreach(json_object_get(json, "processes"), i, process)
	{
		if (json_integer_value(json_object_get(process, "pid")) == client.pid)
			break;
	}
	assert_i_eq(json_integer_value(json_object_get(process, "pid")), client.pid);
	assert_u_eq(json_array_size(json_object_get(process, "qps")), 1);
	assert_u_eq(json_array_size(json_object_get(process, "planes")), 2);
	json_decref(json);
	kill(client.pid, SIGKILL);
	kill(server.pid, SIGKILL);
	assert_int_equal(live_program_finish(&client), -SIGKILL);
	assert_int_equal(live_program_finish(&server), -SIGKILL);
}

CLI_TEST(ping, every_path_of_a_listener)
{
	static struct live_program listener, ping;
	json_int_t sent, answered;
	json_t *json, *paths;

	START(&listener, "ping", "--listen");
	live_program_wait_said(&listener, "until interrupted");
	/* From an address of its own, so that stderr stays empty. */
	setenv("MRC_PORTS", "127.0.0.2,127.0.1.2", 1);
	START(&ping, "ping", "127.0.0.1", "--all", "--count", "2", "--interval", "10ms",
	      "--timeout", "4s", "--json");
	assert_int_equal(live_program_finish(&ping), 0);
	json = json_loads(ping.said, 0, NULL);
	assert_non_null(json);
	assert_i_eq(json_unpack(json, "{s:[{s:I,s:I,s:o}]}", "hosts", "sent", &sent, "answered",
				&answered, "paths", &paths),
		    0);
	assert_u_eq(json_array_size(paths), 8);
	assert_i_eq(sent, 16);
	assert_i_eq(answered, 16);
	json_decref(json);
	kill(listener.pid, SIGTERM);
	assert_int_equal(live_program_finish(&listener), 0);
	live_program_assert_said(&listener, "answering at 127.0.0.1 until interrupted");
}

CLI_TEST(ping, nobody_answers)
{
	static struct live_program ping;

	START(&ping, "ping", "127.0.0.77", "--count", "1", "--timeout", "50ms");
	assert_int_equal(live_program_finish(&ping), 1);
	live_program_assert_said(&ping, "127.0.0.77: round 1 plane 1 EV 12000  no answer\n");
	live_program_assert_said(&ping, "mrc ping: 127.0.0.77: no answer.");
}

/* What a device captured is what it sent. */
CLI_TEST(dump, reads_the_capture_of_a_device)
{
	static struct live_program p;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/live_cli_%d.pcapng", (int)getpid());
	setenv("MRC_CAPTURE", path, 1);
	START(&p, "ping", "127.0.0.77", "--count", "1", "--timeout", "50ms");
	assert_int_equal(live_program_finish(&p), 1);
	unsetenv("MRC_CAPTURE");
	START(&p, "dump", path, "--count", "1");
	assert_int_equal(live_program_finish(&p), 0);
	live_program_assert_said(
		&p, "127.0.0.1 > 127.0.0.77, port 4791, ev 0x2ee0, control not-ect: EP_REQUEST, ");
	live_program_assert_said(&p, "op ev-probe");
	START(&p, "dump", "--dscp", "46,4,8,12,16,0", path);
	assert_int_equal(live_program_finish(&p), 0);
	live_program_assert_said(&p, "ev 0x2ee0, no-trim not-ect: EP_REQUEST, ");
	START(&p, "dump", "--dscp", "0,4,8,12,16,99", path);
	assert_int_equal(live_program_finish(&p), 2);
	live_program_assert_said(&p,
				 "mrc dump: --dscp 0,4,8,12,16,99: control = 99: must be 0 to 63");
	unlink(path);
	START(&p, "dump", path);
	assert_int_equal(live_program_finish(&p), 1);
	live_program_assert_said(&p, "No such file or directory");
	START(&p, "dump", "/proc/self/cmdline");
	assert_int_equal(live_program_finish(&p), 1);
	live_program_assert_said(&p,
				 "mrc dump: /proc/self/cmdline: byte 4: neither pcap nor pcapng");
	START(&p, "dump");
	assert_int_equal(live_program_finish(&p), 2);
	live_program_assert_said(&p, "want a capture FILE");
}

CLI_TEST(ping, wrong_words)
{
	static struct live_program ping;

	START(&ping, "ping");
	assert_int_equal(live_program_finish(&ping), 2);
	live_program_assert_said(&ping, "want a HOST to ask, or --listen");
	START(&ping, "ping", "127.0.0.1", "--plane", "9");
	assert_int_equal(live_program_finish(&ping), 1);
	live_program_assert_said(&ping,
				 "no such path: this device has planes 0 to 1, EVs up to 12003");
}

CLI_TEST(doctor, tells_all_as_json)
{
	static struct live_program doctor;
	const char *worst;
	json_t *json;
	int status;

	START(&doctor, "doctor", "--json");
	status = live_program_finish(&doctor);
	json = json_loads(doctor.said, 0, NULL);
	assert_non_null(json);
	assert_i_eq(json_unpack(json, "{s:s}", "worst", &worst), 0);
	assert_int_equal(status, strcmp(worst, "failure") == 0	 ? 1
				 : strcmp(worst, "warning") == 0 ? 3
								 : 0);
	assert_true(json_array_size(json_object_get(json, "findings")) > 10);
	json_decref(json);
}

CLI_TEST(doctor, a_wrong_setting)
{
	static struct live_program doctor;

	setenv("MRC_EVS", "65", 1);
	START(&doctor, "doctor");
	assert_int_equal(live_program_finish(&doctor), 1);
	live_program_assert_said(&doctor, "MRC_EVS=65");
}

CLI_TEST(cli, unknown_words_are_named)
{
	static struct live_program p;

	START(&p, "prf");
	assert_int_equal(live_program_finish(&p), 2);
	assert_string_equal(p.said, "mrc: prf: no such verb; did you mean perf?\n");
	START(&p, "top", "--intervall", "1s");
	assert_int_equal(live_program_finish(&p), 2);
	live_program_assert_said(&p, "did you mean --interval?");
}
