/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices, watts and rates: src/fabric/plan.h. */
#include "fabric/plan.h"

#include "support/test.h"

#include <stdio.h>

/* REQ(plan.inputs) */
TEST(mf_rates_about, every_default_names_its_source)
{
	struct mf_rates r = mf_rates_defaults();
	char value[MF_RATE_TEXT];

	assert_u_eq(mf_rates_count(), 16);
	for (size_t i = 0; i < mf_rates_count(); i++) {
		struct mf_rate_about about = mf_rates_about(&r, i, value);

		assert_true(strlen(about.source) > 10);
		assert_true(strlen(about.what) > 5);
		assert_non_null(strchr(about.key, '.'));
		assert_true(strlen(value) > 0);
	}
}

/* REQ(plan.inputs) */
TEST(mf_rates_read, takes_what_is_given_and_leaves_the_rest)
{
	struct mf_rates r = mf_rates_defaults();
	char error[200];

	assert_true(
		mf_rates_read(&r, "r.toml",
			      "[price]\nswitch = 1.5e5\n[repair]\nmodule = \"2d\"\n"
			      "[optics]\nmodule = \"400G\"\nlanes = 4\nhost_links = \"copper\"\n",
			      error, sizeof(error)));
	assert_true(r.switch_usd == 1.5e5);
	assert_true(r.module_usd == mf_rates_defaults().module_usd);
	assert_u_eq(r.module_repair_ns, UINT64_C(172800000000000));
	assert_u_eq(r.module_bit_s, UINT64_C(400000000000));
	assert_u_eq(r.module_lanes, 4);
	assert_u_eq(r.host_cable, MF_HOST_COPPER);
}

/* What --show-rates prints is what --rates reads. */
TEST(mf_rates_read, reads_what_is_written)
{
	struct mf_rates r = mf_rates_defaults(), back = {0};
	char text[4096] = "", value[MF_RATE_TEXT], error[200];

	r.module_failures = 0.125;
	r.switch_repair_ns = 90 * UINT64_C(1000000000);
	for (size_t i = 0; i < mf_rates_count(); i++) {
		struct mf_rate_about about = mf_rates_about(&r, i, value);
		size_t table = strcspn(about.key, ".");

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "[%.*s]\n%s = %s\n",
			 (int)table, about.key, about.key + table + 1, value);
	}
	assert_true(mf_rates_read(&back, "r.toml", text, error, sizeof(error)));
	assert_memory_equal(&back, &r, sizeof(r));
}

static void refused(const char *text, const char *why)
{
	struct mf_rates r = mf_rates_defaults(), before = r;
	char error[200];

	assert_false(mf_rates_read(&r, "r.toml", text, error, sizeof(error)));
	assert_string_equal(error, why);
	assert_memory_equal(&r, &before, sizeof(r));
}

TEST(mf_rates_read, says_what_is_wrong)
{
	refused("[price]\nswich = 1\n",
		"r.toml:2: price.swich: no such rate; did you mean price.switch");
	refused("[price]\nswitch = 1\nmodule = -1\n",
		"r.toml:3: price.module = -1: want a number from 0 to 1e9");
	refused("[price]\nswitch = \"1\"\n",
		"r.toml:2: price.switch = 1: want a number from 0 to 1e9");
	refused("[price]\nswitch = 1\nswitch = 2\n", "r.toml:3: price.switch: given twice");
	refused("[optics]\nlanes = 2.5\n",
		"r.toml:2: optics.lanes = 2.5: want a whole number from 1 to 64");
	refused("[optics]\nhost_links = \"wood\"\n",
		"r.toml:2: optics.host_links = wood: want \"optics\" or \"copper\"");
	refused("[repair]\nswitch = 6\n", "r.toml:2: repair.switch = 6: want \"a time with ns, us, "
					  "ms, s, m, h or d, such as 1.5us\", at most 365d");
}
