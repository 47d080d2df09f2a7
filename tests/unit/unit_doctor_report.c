/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings for eyes and programs: src/cli/doctor/doctor.h. */
#include "cli/doctor/doctor.h"

#include "support/test.h"

static struct doctor_findings all;

static void two_findings(void)
{

	all.n = 0;
	doctor_find(&all, DOCTOR_FAIL, "port 0 (eth0)", "it is %s", "down");
	doctor_explain(&all, "this is a reason that is so long that it does not fit into a line of "
			     "seventy columns");
	doctor_fix(&all, "ip link set dev eth0 up");
	doctor_find(&all, DOCTOR_GOOD, "cores", "8");
}

TEST(doctor_show, the_bad_with_reason_and_command)
{
	struct ui_text out = {0};

	two_findings();
	doctor_show(&all, false, false, &out);
	assert_string_equal(
		out.data,
		"failure  port 0 (eth0)         it is down\n"
		"         this is a reason that is so long that it does not fit into a line of\n"
		"         seventy columns\n"
		"         $ ip link set dev eth0 up\n"
		"1 good, 0 notes, 0 warnings, 1 failure (--all shows the good ones)\n");
	ui_text_fini(&out);
}

TEST(doctor_show, the_good_first_and_colours)
{
	struct ui_text out = {0};

	two_findings();
	doctor_show(&all, true, true, &out);
	assert_int_equal(strncmp(out.data, "\033[32mgood    \033[0m cores", 19), 0);
	assert_non_null(strstr(out.data, "\033[31mfailure \033[0m port 0"));
	ui_text_fini(&out);
}

TEST(doctor_json, worst_and_findings)
{
	const char *worst, *fix;
	json_t *json;

	two_findings();
	json = doctor_json(&all);
	assert_i_eq(json_unpack(json, "{s:s,s:[{s:s}]}", "worst", &worst, "findings", "fix", &fix),
		    0);
	assert_string_equal(worst, "failure");
	assert_string_equal(fix, "ip link set dev eth0 up");
	json_decref(json);
}
