/* SPDX-License-Identifier: BSD-2-Clause */
/* SONiC's YANG modules: see plan_verb.h. REQ(plan.emit.sonic) */
#include "cli/plan/plan_verb.h"

#include "fabric/fabric_node.h"
#include "lab/netns.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every module that mf_emit_sonic writes data of. */
static const char *const modules[] = {
	"sonic-device_metadata", "sonic-port",	       "sonic-interface",    "sonic-srv6",
	"sonic-static-route",	 "sonic-dscp-tc-map",  "sonic-tc-queue-map", "sonic-trimming",
	"sonic-tc-dscp-map",	 "sonic-port-qos-map", "sonic-buffer-pool",  "sonic-buffer-profile",
	"sonic-buffer-queue",	 "sonic-wred-profile", "sonic-scheduler",    "sonic-queue",
};

#define MODULES (sizeof(modules) / sizeof(modules[0]))

int plan_yang_is_available(const char *folder)
{
	static const char *const version[] = {"yanglint", "--version", NULL};
	struct ml_error e;
	char path[PATH_MAX];

	if (ml_proc_run(version, &e)) {
		fprintf(stderr,
			"mrc plan: --yang %s: yanglint is missing, so nothing can be held "
			"against the modules (apt-get install libyang2-tools)\n",
			folder);
		return -1;
	}
	for (size_t i = 0; i < MODULES; i++) {
		snprintf(path, sizeof(path), "%s/%s.yang", folder, modules[i]);
		if (access(path, R_OK) == 0)
			continue;
		fprintf(stderr,
			"mrc plan: --yang %s: %s.yang: %s; want the folder that SONiC "
			"installs as /usr/local/yang-models\n",
			folder, modules[i], strerror(errno));
		return -1;
	}
	return 0;
}

static int run_yanglint(const char *folder, const char *data, struct ml_error *e)
{
	/* yanglint, -p DIR, -t config, modules, data, NULL */
	const char *argv[5 + MODULES + 2] = {"yanglint", "-p", folder, "-t", "config"};
	static char path[MODULES][PATH_MAX];

	for (size_t i = 0; i < MODULES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%s.yang", folder, modules[i]);
		argv[5 + i] = path[i];
	}
	argv[5 + MODULES] = data;
	return ml_proc_run(argv, e);
}

int plan_yang_check(const char *folder, const struct mf_topology *t, uint32_t node,
		    const struct mf_emit_options *o)
{
	char data[] = "/tmp/softmrc-plan-XXXXXX.json", name[MF_NODE_NAME_BYTES];
	int fd = mkstemps(data, 5), err;
	FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct ml_error e;

	mf_node_name(t, node, name);
	if (!to) {
		fprintf(stderr, "mrc plan: %s: %s\n", data, strerror(errno));
		return -1;
	}
	mf_emit_sonic(to, t, node, o, MF_SONIC_YANG);
	if (fclose(to)) {
		fprintf(stderr, "mrc plan: %s: %s\n", data, strerror(errno));
		err = -1;
	} else if ((err = run_yanglint(folder, data, &e))) {
		fprintf(stderr, "mrc plan: %s is not valid by %s: %s\n", name, folder, e.text);
	}
	unlink(data);
	return err ? -1 : 0;
}
