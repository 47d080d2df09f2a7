/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_figure.c - figures: what their files may say, and how claims are judged. */
#include "study/figure.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static struct sim_figure figure;
static struct ms_file_error error;

#define RUN "[[run]]\nname = \"a\"\nscenario = \"permutation\"\n"
#define CLAIM "[[claim]]\ntext = \"t\"\nfigure = \"x\"\nof = \"a\"\n"

static void assert_refused(const char *text, const char *why)
{
	assert_false(sim_figure_parse(&figure, "f.toml", text, &error));
	assert_non_null(strstr(error.text, why));
}

TEST(sim_figure_parse, takes_runs_claims_and_charts)
{
	assert_true(sim_figure_parse(&figure, "f.toml",
				     "title = \"t\"\n" RUN CLAIM "min = 1.5\nfrom = \"2us\"\n"
				     "to = \"3us\"\n[[chart]]\nkind = \"cdf\"\ntitle = \"c\"\n",
				     &error));
	assert_u_eq(figure.n_runs + figure.n_claims + figure.n_charts, 3);
	assert_true(figure.claim[0].min == 1.5 && isinf(figure.claim[0].max));
	assert_u_eq(figure.claim[0].to_ns, 3000);
	assert_string_equal(sim_figure_chart_names[figure.chart[0].kind], "cdf");
}

TEST(sim_figure_parse, names_what_is_wrong_and_where)
{
	assert_refused(RUN "[[claims]]\n", "f.toml:4: claims: unknown table");
	assert_refused(RUN CLAIM "minimum = 2\n", "f.toml:8: claim.minimum");
	assert_refused(RUN "[[claim]]\ntext = \"t\"\nfigure = \"x\"\nof = \"b\"\n",
		       "f.toml:4: claim: there is no run b");
	assert_refused(RUN CLAIM "min = 2\nmax = 1\n", "f.toml:4: claim: expected a min");
	assert_refused(RUN "vary = \"seed\"\n",
		       "f.toml:1: run a: expected both of vary and values");
	assert_refused("title = \"t\"\n", "at least one [[run]]");
	assert_refused("[[run]]\nname = \"a\"\n", "expected a name and a scenario");
}

TEST(sim_figure_parse, members_of_families_are_runs)
{
	assert_true(sim_figure_parse(&figure, "f.toml",
				     RUN "vary = \"seed\"\nvalues = [\"1\", \"2\"]\n"
					 "[[claim]]\ntext = \"t\"\nfigure = \"x\"\nof = \"a/2\"\n",
				     &error));
	assert_refused(RUN "vary = \"seed\"\nvalues = [\"1\"]\n" CLAIM, "there is no run a");
}

static json_t *runs(void)
{
	return json_loads("[{\"name\": \"a\", \"result\": {\"x\": 6, \"history\": {"
			  " \"time_us\": [1, 2, 4], \"g\": [[10, 20, 40]],"
			  " \"links\": {\"p0.t0-0.u1\": [1, 2, 3]}}}},"
			  " {\"name\": \"b\", \"result\": {\"x\": 4, \"y\": 3}}]",
			  0, NULL);
}

static double judged(const char *path, uint64_t from_ns, uint64_t to_ns, enum sim_figure_stat stat)
{
	struct sim_claim c = {.from_ns = from_ns, .to_ns = to_ns, .stat = stat};
	json_t *r = runs();
	double value = NAN;

	snprintf(c.figure, sizeof(c.figure), "%s", path);
	snprintf(c.of, sizeof(c.of), "a");
	if (!sim_figure_claim(&c, r, &value))
		value = NAN;
	json_decref(r);
	return value;
}

TEST(sim_figure_claim, takes_means_by_time_and_extremes_of_whole_intervals)
{
	assert_true(judged("x", 0, 0, SIM_STAT_MEAN) == 6);
	assert_true(judged("g.0", 0, 4000, SIM_STAT_MEAN) == (10 + 20 + 2 * 40) / 4.0);
	assert_true(judged("g.0", 1500, 3000, SIM_STAT_MEAN) == (0.5 * 20 + 40) / 1.5);
	assert_true(judged("g.0", 0, 4000, SIM_STAT_LEAST) == 10);
	assert_true(judged("g.0", 500, 4000, SIM_STAT_LEAST) == 20);
	assert_true(judged("g.0", 0, 3000, SIM_STAT_MOST) == 20);
	assert_true(judged("links.p0.t0-0.u1", 2000, 4000, SIM_STAT_MEAN) == 3);
}

TEST(sim_figure_claim, what_is_not_there_is_no_number)
{
	assert_true(isnan(judged("y", 0, 0, SIM_STAT_MEAN)));
	assert_true(isnan(judged("g.1", 0, 4000, SIM_STAT_MEAN)));
	assert_true(isnan(judged("links.p0.t0-0.u2", 0, 4000, SIM_STAT_MEAN)));
	assert_true(isnan(judged("g.0", 5000, 6000, SIM_STAT_MEAN)));
}

TEST(sim_figure_claim, divides_by_another_run)
{
	struct sim_claim c = {.figure = "x", .of = "a", .than = "b"};
	json_t *r = runs();
	double value;

	assert_true(sim_figure_claim(&c, r, &value) && value == 1.5);
	snprintf(c.over, sizeof(c.over), "y");
	assert_true(sim_figure_claim(&c, r, &value) && value == 2);
	snprintf(c.over, sizeof(c.over), "z");
	assert_false(sim_figure_claim(&c, r, &value));
	json_decref(r);
}

TEST(sim_figure_read, all_that_are_built_in_are_good)
{
	size_t n = 0;

	for (; sim_figure_texts[n].name; n++) {
		assert_true(sim_figure_read(&figure, sim_figure_texts[n].name, &error));
		assert_true(figure.head.title[0] && figure.head.paper[0] && figure.head.setup[0]);
		assert_true(figure.n_claims > 0 && figure.n_charts > 0);
	}
	assert_true(n >= 9);
	assert_false(sim_figure_read(&figure, "99", &error));
	assert_non_null(strstr(error.text, "unknown figure"));
}
