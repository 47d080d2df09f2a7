/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_app.c - what an application posts when, on a carrier that only writes it down. */
#include "support/test.h"

#include "sim/workload/flow_app.h"

#define HOSTS 4u
#define NS UINT64_C(1000) /* ps */

static struct ms_workload *workload;
static struct ms_app app;
static struct ms_app_host host;
static uint32_t begun[32], n_begun;
static uint32_t passed[32]; /* messages, by slot */

static void begin(void *ctx, uint32_t flow, uint64_t now_ps)
{
	(void)now_ps;
	assert_ptr_equal(ctx, &host);
	begun[n_begun++] = flow;
}

static uint32_t progress(const void *ctx, uint32_t slot, uint32_t messages)
{
	assert_ptr_equal(ctx, &host);
	return passed[slot] < messages ? passed[slot] : messages;
}

static void open_app(const struct ms_workload_cfg *cfg, uint32_t n, uint32_t number,
		     struct ms_graph_exec *const play[MS_PARTS_MAX])
{
	char why[MS_WHY_BYTES] = "";

	workload = ms_workload_create(cfg, n, why, NULL);
	assert_string_equal(why, "");
	memset(&app, 0, sizeof(app));
	memset(passed, 0, sizeof(passed));
	ms_app_init(&app, workload, MS_MRC, play);
	app.begin = begin;
	app.progress = progress;
	host = (struct ms_app_host){.host = &host, .number = number};
	n_begun = 0;
}

static int close_app(void **state)
{
	(void)state;
	ms_workload_destroy(workload);
	return 0;
}

#define APP_TEST(function, name) TEST_WITH(NULL, close_app, function, name)

static struct ms_graph_exec *const no_graphs[MS_PARTS_MAX];

static void check_begun(const uint32_t *want, uint32_t n)
{
	assert_u_eq(n_begun, n);
	for (uint32_t i = 0; i < n; i++)
		assert_u_eq(begun[i], want[i]);
	n_begun = 0;
}

/* Host 0 sends at 100, at once, and at 300; host 1 when all of flow 1 is there. */
static const struct ms_list_flow flows[] = {
	{.src = 0, .dst = 1, .bytes = 10, .start_ns = 100},
	{.src = 0, .dst = 1, .bytes = 10},
	{.src = 0, .dst = 2, .bytes = 10, .start_ns = 300},
	{.src = 1, .dst = 2, .bytes = 10, .first_need = 0, .n_needs = 1},
};
static const struct ms_list_need needs[] = {{.flow = 1, .end = MS_RECEIVED}};

static void open_list(uint32_t number)
{
	const struct ms_workload_cfg cfg = {.kind = MS_LIST,
					    .hosts = HOSTS,
					    .hosts_per_t0 = 2,
					    .list = flows,
					    .n_list = 4,
					    .list_needs = needs,
					    .n_list_needs = 1};

	open_app(&cfg, 1, number, no_graphs);
}

/* ---- time ---- */

APP_TEST(ms_app_first_ns, of_each_host)
{
	open_list(0);
	assert_u_eq(ms_app_first_ns(&app, 0), 0);
	assert_u_eq(ms_app_first_ns(&app, 3), UINT64_MAX);
}

APP_TEST(ms_app_begin_due, each_flow_when_its_time_has_come)
{
	open_list(0);
	assert_u_eq(ms_app_next_ns(&app, &host), 0);
	ms_app_begin_due(&app, &host, 0);
	check_begun((const uint32_t[]){1}, 1);
	assert_u_eq(ms_app_next_ns(&app, &host), 100);
	ms_app_begin_due(&app, &host, 100 * NS - 1);
	check_begun(NULL, 0);
	ms_app_begin_due(&app, &host, 100 * NS);
	check_begun((const uint32_t[]){0}, 1);
	ms_app_begin_due(&app, &host, 900 * NS);
	check_begun((const uint32_t[]){2}, 1);
	assert_u_eq(ms_app_next_ns(&app, &host), UINT64_MAX);
}

APP_TEST(ms_app_begin_due, not_what_another_transport_carries)
{
	const struct ms_workload_cfg cfg[2] = {
		{.kind = MS_PERMUTATION,
		 .hosts = HOSTS,
		 .hosts_per_t0 = 2,
		 .bytes = 1,
		 .seed = 1,
		 .transport = MS_ROCE},
		{.kind = MS_PERMUTATION, .hosts = HOSTS, .hosts_per_t0 = 2, .bytes = 1, .seed = 2},
	};

	open_app(cfg, 2, 1, no_graphs);
	ms_app_begin_due(&app, &host, 0);
	check_begun((const uint32_t[]){ms_workload_flow_at(workload, 1, 1)}, 1);
	assert_u_eq(ms_workload_transport(workload, begun[0]), MS_MRC);
}

/* ---- messages ---- */

APP_TEST(ms_app_can_post, when_what_it_needs_has_passed_here)
{
	struct ms_flow f, on;

	open_list(1);
	ms_workload_flow(workload, 3, &f);
	ms_workload_flow(workload, 1, &on);
	assert_false(ms_app_can_post(&app, &host, 3, &f, 0));
	passed[on.dst_slot] = on.messages;
	assert_true(ms_app_can_post(&app, &host, 3, &f, 0));
	assert_u_eq(ms_app_claim_message(&app, 3, 0), 0);
	assert_false(ms_app_can_post(&app, &host, 3, &f, f.messages));
}

APP_TEST(ms_app_message_done, begins_what_waited_for_it)
{
	open_list(1);
	ms_app_message_done(&app, &host, 1, 0, MS_SENT, 0);
	check_begun(NULL, 0);
	ms_app_message_done(&app, &host, 1, 0, MS_RECEIVED, 0);
	check_begun((const uint32_t[]){3}, 1);
}

/* ---- graphs ---- */

/* Host 0 computes for 50 ns and sends; host 1 answers. */
static struct ms_graph *two_ways(void)
{
	struct ms_graph *g = ms_graph_create(HOSTS);
	uint32_t calc = ms_graph_compute(g, 0, 0, 50), there = ms_graph_transfer(g, 0, 1, 0, 8),
		 back = ms_graph_transfer(g, 1, 0, 0, 8);

	assert_true(ms_graph_add_dependency(g, there, calc, MS_SENT) &&
		    ms_graph_add_dependency(g, back, there, MS_RECEIVED));
	assert_true(ms_graph_seal(g, (char[MS_WHY_BYTES]){0}, NULL));
	return g;
}

APP_TEST(ms_app_message_done, a_graph_goes_on)
{
	struct ms_graph *g = two_ways();
	struct ms_graph_exec *play[MS_PARTS_MAX] = {ms_graph_exec_create(g, 100)};
	const struct ms_workload_cfg cfg = {
		.kind = MS_GRAPH, .hosts = HOSTS, .hosts_per_t0 = 2, .graph = g, .start_ns = 100};
	struct ms_flow f;

	open_app(&cfg, 1, 0, play);
	ms_workload_flow(workload, 0, &f);
	assert_u_eq(ms_app_first_ns(&app, 0), 100);
	assert_false(ms_app_can_post(&app, &host, 0, &f, 0));
	ms_app_begin_due(&app, &host, 100 * NS);
	assert_u_eq(ms_app_next_ns(&app, &host), 150);
	n_begun = 0;
	ms_app_begin_due(&app, &host, 150 * NS);
	check_begun((const uint32_t[]){0}, 1);
	assert_true(ms_app_can_post(&app, &host, 0, &f, 0));
	assert_u_eq(ms_app_claim_message(&app, 0, 0), 0);
	host.number = 1;
	ms_app_message_done(&app, &host, 0, 0, MS_RECEIVED, 170 * NS);
	check_begun((const uint32_t[]){1}, 1);
	assert_u_eq(play[0]->times[1].end_ns, 170);
	ms_graph_exec_destroy(play[0]);
	ms_graph_destroy(g);
}

APP_TEST(ms_app_init, graphs_of_another_transport_are_left_alone)
{
	struct ms_graph *g = two_ways();
	struct ms_graph_exec *play[MS_PARTS_MAX] = {ms_graph_exec_create(g, 0)};
	const struct ms_workload_cfg cfg = {.kind = MS_GRAPH,
					    .hosts = HOSTS,
					    .hosts_per_t0 = 2,
					    .graph = g,
					    .transport = MS_ROCE};

	open_app(&cfg, 1, 0, play);
	assert_u_eq(app.plays, 0);
	assert_u_eq(ms_app_first_ns(&app, 0), UINT64_MAX);
	ms_app_begin_due(&app, &host, 0);
	check_begun(NULL, 0);
	ms_graph_exec_destroy(play[0]);
	ms_graph_destroy(g);
}
