/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_scenarios.c - every scenario that is shipped holds: MRC over SRv6 through each of the
 * faults. */
#include "lab/lab.h"
#include "lab/lab_fixture.h"

#include <stdio.h>
#include <sys/wait.h>

static void play(const char *name)
{
	char command[512];
	int status;

	fixture_able();
	snprintf(command, sizeof(command), "%s lab run %s/%s.toml >&2", test_arg(0), test_arg(1),
		 name);
	status = system(command);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("%s: status %d", name, WEXITSTATUS(status));
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
	struct ml_probe probe;

	fixture_able();
	ml_probe_run(&probe);
	if (!probe.ok[ML_FEATURE_BPF])
		test_skip(probe.why[ML_FEATURE_BPF].text);
	play("incast");
}
