/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_poisson.c - distributions of sizes, and flows drawn from them at random times. */
#include "sim_fixture.h"

#include "sim/import/flow_files.h"
#include "sim/kernel/random.h"

static void cdf_good(struct ms_cdf *cdf, const char *text)
{
	struct ms_file_error error;

	if (!ms_cdf_read(cdf, "f.cdf", text, &error))
		fail_msg("%s", error.text);
}

TEST(ms_cdf_bytes, spreads_evenly_between_points)
{
	struct ms_cdf cdf;

	cdf_good(&cdf, "# size share\n1000 0\n2000 0.5\n10000 1\n");
	assert_u_eq(ms_cdf_bytes(&cdf, 0), 1000);
	assert_u_eq(ms_cdf_bytes(&cdf, MS_CDF_ONE / 4), 1500);
	assert_u_eq(ms_cdf_bytes(&cdf, MS_CDF_ONE / 2), 2000);
	assert_u_eq(ms_cdf_bytes(&cdf, MS_CDF_ONE / 4 * 3), 6000);
	assert_u_eq(ms_cdf_mean(&cdf), 1500 / 2 + 6000 / 2);
}

TEST(ms_cdf_read, percent_and_a_middle_column)
{
	struct ms_cdf cdf;

	cdf_good(&cdf, "100 1 20\n100 1 40\n300 1 100\n");
	assert_u_eq(cdf.point[0].share, MS_CDF_ONE / 5);
	assert_u_eq(ms_cdf_bytes(&cdf, MS_CDF_ONE / 10 * 3), 100);
	assert_u_eq(ms_cdf_bytes(&cdf, MS_CDF_ONE / 10), 100);
	assert_u_eq(ms_cdf_mean(&cdf), (100 * 4 + 200 * 6) / 10);
}

static const struct sim_bad bads[] = {
	{"", "f.cdf: has no line"},
	{"100\n", "f.cdf:1: has 1 words"},
	{"100 0.5\n", "f.cdf:1: the last share is neither 1 nor 100"},
	{"x 1\n", "f.cdf:1: x: expected bytes"},
	{"100 -1\n", "f.cdf:1: -1: expected a share"},
	{"100 0.5\n50 1\n", "f.cdf:2: 50: expected bytes, no less than"},
	{"100 0.5\n200 0.4\n", "f.cdf:2: 0.4: expected a share, no less than"},
	{"100 200\n", "f.cdf:1: 200: expected a share"},
	{"0 1\n", "f.cdf:1: all flows are empty"},
};

TEST(ms_cdf_read, wrong_files)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct ms_file_error error = {""};
		struct ms_cdf cdf;

		if (ms_cdf_read(&cdf, "f.cdf", bads[i].text, &error))
			fail_msg("\"%s\" was taken", bads[i].text);
		sim_said(&error, "f.cdf", bads[i].says);
	}
}

/* Mean and variance of the exponential distribution are 1; 20,000 draws come within 5 %. */
TEST(ms_exponential_unit, is_exponential)
{
	double sum = 0, squares = 0, above = 0;
	struct mb_prng r;

	mb_prng_init(&r, 7);
	for (int i = 0; i < 20000; i++) {
		double x = (double)ms_exponential_unit(&r) / 4294967296.0;

		sum += x;
		squares += x * x;
		above += x > 2;
	}
	assert_u_between((uint64_t)(sum / 20), 950, 1050);
	assert_u_between((uint64_t)(squares / 20), 1850, 2150);
	/* e^-2 of them are above 2. */
	assert_u_between((uint64_t)above, 2500, 2900);
}

static const struct ms_poisson_cfg cfg = {
	.hosts = 8,
	.bit_s = 100000000000,
	.load = MS_LOAD_ONE / 2,
	.start_ns = 5000,
	.for_ns = 10000000,
	.seed = 3,
};

TEST(ms_poisson_flows, carry_the_load)
{
	struct ms_flow_list list = {0};
	struct ms_cdf cdf;
	uint64_t bytes = 0, before = cfg.start_ns;

	cdf_good(&cdf, "1000 0\n9000 1\n");
	assert_true(ms_poisson_flows(&cfg, &cdf, &list));
	for (uint32_t i = 0; i < list.n; i++) {
		assert_true(list.flow[i].src < 8 && list.flow[i].dst < 8);
		assert_true(list.flow[i].src != list.flow[i].dst);
		assert_true(list.flow[i].start_ns >= before);
		before = list.flow[i].start_ns;
		bytes += list.flow[i].bytes;
	}
	/* 8 hosts x 50 Gb/s x 10 ms = 500 MB, in flows of 5000 bytes. */
	assert_u_between(bytes, 490000000, 510000000);
	assert_u_between(list.n, 98000, 102000);
	assert_u_between(ms_poisson_expected(&cfg, &cdf), 99990, 100010);
	assert_true(before < cfg.start_ns + cfg.for_ns);
	ms_flow_list_fini(&list);
}

TEST(ms_poisson_flows, follow_from_the_seed)
{
	struct ms_poisson_cfg other = cfg;
	struct ms_flow_list a = {0}, b = {0}, c = {0};
	struct ms_cdf cdf;

	other.for_ns = 100000;
	cdf_good(&cdf, "1000 0\n9000 1\n");
	assert_true(ms_poisson_flows(&other, &cdf, &a));
	assert_true(ms_poisson_flows(&other, &cdf, &b));
	other.seed++;
	assert_true(ms_poisson_flows(&other, &cdf, &c));
	assert_u_eq(a.n, b.n);
	assert_memory_equal(a.flow, b.flow, a.n * sizeof(*a.flow));
	assert_memory_not_equal(a.flow, c.flow, 10 * sizeof(*a.flow));
	ms_flow_list_fini(&a);
	ms_flow_list_fini(&b);
	ms_flow_list_fini(&c);
}
