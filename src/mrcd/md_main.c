/* SPDX-License-Identifier: BSD-2-Clause */
/* md_main.c - the command line of mrcd. */
#include "mrcd/md_serve.h"

#include <stdio.h>
#include <stdlib.h>

#include "mrcd/md_log.h"
#include "ui/verb.h"

struct options {
	const char *config;
	bool check, version;
};

static const struct ui_flag flags[] = {
	UI_TEXT("--config", options, config, "FILE", "the configuration (/etc/mrcd.toml)"),
	UI_SWITCH("--check", options, check,
		  "only say whether the configuration is right, and end"),
	UI_SWITCH("--version", options, version, "the version"),
};

static const struct ui_verb verb = {
	.name = "mrcd",
	.summary = "the daemon that decides what the MRC processes of a host use",
	.usage = "[FLAG...]",
	.about = "Keeps ports, EV profiles with denied EVs and CC profiles of a device in a store "
		 "that the MRC processes of the host follow, answers mrc ctl and controllers on a "
		 "socket, and Prometheus over HTTP. It stays in the foreground. SIGHUP makes it "
		 "read its configuration again, SIGTERM ends it; what was decided stays in force.",
	.notes = "docs/operation.md has the keys of the configuration and the requests.",
	.exits = "0 good, 1 failed, 2 wrong usage or a wrong configuration",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
};

/* As if the rows were applied to a device about which nothing was decided. */
static int check_rows(const struct md_config *c, const char *path, struct md_config_error *error)
{
	struct mn_state *s = malloc(sizeof(*s));
	struct mn_device d;
	int err = EXIT_FAILURE;

	if (s) {
		mn_state_init(s);
		md_config_device(c, 0, &d);
		err = md_config_apply(c, path, &d, s, error);
	}
	free(s);
	return err;
}

int md_main(int argc, char **argv)
{
	struct options o = {.config = MD_CONFIG_FILE};
	struct md_config config;
	struct md_config_error error = {"no memory"};
	int status = ui_verb_parse(&verb, &o, argc, argv, NULL, 0, NULL), err;

	if (status != UI_FLAGS_OK)
		return status;
	if (o.version) {
		printf("mrcd %s\n", SOFTMRC_VERSION);
		return ui_verb_end(&verb, EXIT_SUCCESS);
	}
	md_log_open(MD_INFO); /* until the configuration says otherwise */
	err = md_config_load(&config, o.config, &error);
	if (!err)
		md_log_open((enum md_level)config.level);
	if (!err && check_rows(&config, o.config, &error)) {
		md_config_free(&config);
		err = EXIT_FAILURE;
	}
	if (err) {
		md_log(MD_ERROR, "config", MD_NOBODY, "%s", error.text);
		return UI_FLAGS_ERROR;
	}
	if (!o.check)
		return md_daemon_run(o.config, &config);
	md_config_free(&config);
	printf("%s: right\n", o.config);
	return ui_verb_end(&verb, EXIT_SUCCESS);
}
