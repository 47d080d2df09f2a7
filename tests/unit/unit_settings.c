/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_settings.c - the configuration file: what it sets, what overrules it, and its errors. */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "host/config/env.h"
#include "support/open_fds.h"

static char settings_path[64];

static int settings_setup(void **state)
{
	(void)state;
	snprintf(settings_path, sizeof(settings_path), "/tmp/softmrc-unit-%d.toml", (int)getpid());
	setenv("MRC_CONFIG", settings_path, 1);
	unsetenv("MRC_EVS");
	return 0;
}

static int settings_teardown(void **state)
{
	(void)state;
	unlink(settings_path);
	unsetenv("MRC_EVS");
	return 0;
}

#define SETTINGS_TEST(name) TEST_WITH(settings_setup, settings_teardown, mh_settings_read, name)

static void settings_write(const char *text, size_t len)
{
	FILE *file = fopen(settings_path, "w");

	assert_non_null(file);
	assert_u_eq(fwrite(text, 1, len, file), len);
	assert_i_eq(fclose(file), 0);
}

static struct mh_env settings_good(const char *text)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	settings_write(text, strlen(text));
	if (mh_env_read(&env, 0, &error))
		fail_msg("%s", error.text);
	return env;
}

/* settings_bad expects an error that begins with file and line and holds `why`. */
static void settings_bad(const char *text, uint32_t line, const char *why)
{
	struct mh_env_error error = {""};
	struct mh_env env;
	char start[100];

	settings_write(text, strlen(text));
	snprintf(start, sizeof(start), "%s:%u: ", settings_path, line);
	if (mh_env_read(&env, 0, &error) != EINVAL)
		fail_msg("\"%s\" was accepted", text);
	if (strncmp(error.text, start, strlen(start)) != 0 || !strstr(error.text, why))
		fail_msg("\"%s\" does not begin with \"%s\" or name \"%s\"", error.text, start,
			 why);
}

SETTINGS_TEST(every_key)
{
	struct mh_env env = settings_good("[ports]\n"
					  "list = [\"fd00::1\", \"fd00:0:1::1\"]\n"
					  "prefix = 48\nmtu = 2048\npace = \"50M\"\n"
					  "rx_buffer = 1_000_000\n"
					  "[paths]\nevs = 16\nev_base = 50000\nprobe_us = 101\n"
					  "ev_format = 'stev'\n"
					  "[congestion]\ncontrol = \"nscc\"\nbase_rtt_us = 7\n"
					  "[timers]\nrto_min_us = 102\ntail_probe_us = 103\n"
					  "reorder_min_us = 104\nreorder_max_us = 105\n"
					  "svc_time = true\n"
					  "[checks]\nicrc = false\n"
					  "[faults]\ntable = \"/tmp/f\"\n"
					  "[statistics]\ndir = \"/tmp/s\"\nkeep = true\n"
					  "[log]\nlevel = \"error\"\nformat = \"time\"\n");

	assert_u_eq(env.n_ports, 2);
	assert_u_eq(env.prefix, 48);
	assert_u_eq(env.mtu, 2048);
	assert_u_eq(env.pace_bps, 50000000);
	assert_u_eq(env.rx_buffer_bytes, 1000000);
	assert_u_eq(env.evs, 16);
	assert_u_eq(env.ev_base, 50000);
	assert_u_eq(env.ev_format, MW_EV_STEV);
	assert_u_eq(env.probe_ns, 101000);
	assert_u_eq(env.cc, MT_CC_NSCC);
	assert_u_eq(env.base_rtt_ns, 7000);
	assert_u_eq(env.rto_min_ns, 102000);
	assert_u_eq(env.tail_probe_ns, 103000);
	assert_u_eq(env.reorder_min_ns, 104000);
	assert_u_eq(env.reorder_max_ns, 105000);
	assert_true(env.svc_time);
	assert_false(env.icrc);
	assert_string_equal(env.faults, "/tmp/f");
	assert_string_equal(env.stats_dir, "/tmp/s");
	assert_true(env.stats_keep);
	assert_int_equal(env.log_level, MRC_LOG_ERROR);
	assert_int_equal(env.log_format, MH_LOG_TIME);
}

SETTINGS_TEST(environment_overrules_the_file)
{
	setenv("MRC_EVS", "5", 1);
	assert_u_eq(settings_good("[paths]\nevs = 16").evs, 5);
	unsetenv("MRC_EVS");
	assert_u_eq(settings_good("[paths]\nevs = 16").evs, 16);
}

SETTINGS_TEST(wrong_values_name_file_line_and_key)
{
	settings_bad("[paths]\n\nevs = 65", 3, "paths.evs = 65: must be a number, 1 to 64");
	settings_bad("[paths]\nevs = -1", 2, "paths.evs = -1: ");
	settings_bad("[paths]\nevs = \"8\"", 2, "whole number, without quotes");
	settings_bad("[ports]\nlist = \"eth0\"", 2, "array of strings");
	settings_bad("[ports]\nlist = [1, 2]", 2, "array of strings");
	settings_bad("[ports]\nlist = []", 2, "1 to 15 characters");
	settings_bad("[ports]\nlist = [\"nosuchif0\"]", 2, "nor an interface");
	settings_bad("[checks]\nicrc = \"on\"", 2, "true or false");
	settings_bad("[faults]\ntable = 1", 2, "in quotes");
	settings_bad("[ports]\npace = true", 2, "\"string\" or a whole number");
	settings_bad("[congestion]\ncontrol = \"tcp\"", 2, "none or nscc");
	settings_bad("[paths]\nevs = 1\nevs = 2", 3, "given before, in line 2");
	settings_bad("[paths]\nevs 8", 2, "= value");
}

SETTINGS_TEST(unknown_keys_name_near_ones)
{
	settings_bad("[paths]\nev = 8", 2, "did you mean paths.evs?");
	settings_bad("[path]\nevs = 8", 2, "did you mean paths.evs?");
	settings_bad("[timers]\nrto_min = 8", 2, "did you mean timers.rto_min_us?");
	settings_bad("colour = \"blue\"", 1, "docs/configuration.md");
}

SETTINGS_TEST(unreadable_files)
{
	struct mh_env_error error;
	static char big[20000];
	struct mh_env env;

	assert_i_eq(mh_env_read(&env, 0, &error), ENOENT);
	assert_non_null(strstr(error.text, "MRC_CONFIG="));
	assert_non_null(strstr(error.text, "No such file"));
	settings_write("a\0b", 3);
	assert_i_eq(mh_env_read(&env, 0, &error), EFBIG);
	assert_non_null(strstr(error.text, "is not a text of less than 16384 bytes"));
	memset(big, '\n', sizeof(big));
	settings_write(big, sizeof(big));
	assert_i_eq(mh_env_read(&env, 0, &error), EFBIG);
	setenv("MRC_CONFIG", "/tmp", 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EISDIR);
	memset(big, '/', MH_PATH_MAX);
	big[MH_PATH_MAX] = '\0';
	setenv("MRC_CONFIG", big, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), ENAMETOOLONG);
	big[MH_PATH_MAX - 1] = '\0';
	setenv("MRC_CONFIG", big, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EISDIR);
}

SETTINGS_TEST(leaves_no_file_open)
{
	uint32_t fds = test_open_fds();

	settings_good("[paths]\nevs = 16");
	assert_u_eq(test_open_fds(), fds);
}

/* Below 2^63, so that a caller can multiply by a unit and compare. */
TEST(mh_settings_digits, up_to_a_bound)
{
	static const char most[] = "9223372036854775799 ", more[] = "9223372036854775800";
	uint64_t number = 0;

	assert_ptr_equal(mh_settings_digits(most, &number), most + 19);
	assert_u_eq(number, UINT64_C(9223372036854775799));
	assert_null(mh_settings_digits(more, &number));
}
