/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_scenarios.c - every scenario that is shipped holds: MRC over SRv6 through each of the
 * faults. */
#include "lab/lab.h"
#include "lab/lab_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_file(const char *path)
{
	char command[512];
	int status;

	fixture_able();
	snprintf(command, sizeof(command), "%s lab run %s >&2", test_arg(0), path);
	status = system(command);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: status %d", path, WEXITSTATUS(status));
}

static void play(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.toml", test_arg(1), name);
	run_file(path);
}

/* What seven hosts need to fill a queue of a switch that trims. */
static void need_programs(void)
{
	struct ml_probe probe;

#ifdef __SANITIZE_THREAD__
	test_skip("with ThreadSanitizer seven hosts do not send enough to fill a queue");
#endif
	fixture_able();
	ml_probe_run(&probe);
	if (!probe.ok[ML_FEATURE_BPF])
		test_skip(probe.why[ML_FEATURE_BPF].text);
}

TEST(mrc_scenario, steady)
{
	play("steady");
}

TEST(mrc_scenario, t1_stall)
{
	play("t1-stall");
}

TEST(mrc_scenario, t1_reboot)
{
	play("t1-reboot");
}

TEST(mrc_scenario, nic_port)
{
	play("nic-port");
}

TEST(mrc_scenario, transceiver)
{
	play("transceiver");
}

TEST(mrc_scenario, loss)
{
	play("loss");
}

TEST(mrc_scenario, incast)
{
	need_programs();
	play("incast");
}

/* Writes a text file with a name of its own; path: 64 bytes. */
static void write_file(char *path, const char *end, const char *head, const char *text)
{
	FILE *f;

	snprintf(path, 64, "/tmp/lab_scenarios.%d.%s.toml", (int)getpid(), end);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fprintf(f, "%s%s", head, text) > 0);
	assert_int_equal(fclose(f), 0);
}

/*
 * The same with every number of the default map behind another class: switches must cut by the map
 * of the fabric, and hosts must send and see what was cut by it. REQ(wire.dscp.values)
 */
TEST(mrc_scenario, incast_with_a_dscp_map)
{
	static const char usual[] = "topology = \"lab\"\n";
	char path[256], topology[64], scenario[64], head[128];
	static char text[8192];
	FILE *f;
	char *at;

	need_programs();
	snprintf(path, sizeof(path), "%s/incast.toml", test_arg(1));
	f = fopen(path, "re");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	at = strstr(text, usual);
	assert_non_null(at);
	memset(at, '\n', sizeof(usual) - 1);
	write_file(topology, "topology", "[topology]\nbase = \"lab\"\n",
		   "dscp = \"46,12,16,4,8,0\"\n");
	snprintf(head, sizeof(head), "topology = \"%s\"\n", topology);
	write_file(scenario, "incast", head, text);
	run_file(scenario);
	unlink(scenario);
	unlink(topology);
}
