/* SPDX-License-Identifier: BSD-2-Clause */
/* The fault script: src/demo/demo.h. */
#include "demo/demo.h"
#include "demo/stage.h"
#include "fabric/topology_toml.h"
#include "ui/text.h"

#include "support/test.h"

static const struct demo_shape usual = {
	.ranks = 8, .planes = 4, .paths = 8, .pace_bps = 50000000, .vector_bytes = 4194304};

static struct demo_script script;
static struct ml_error error;

static int make(const char *names, const struct demo_shape *shape, uint32_t steps)
{
	error.text[0] = '\0';
	return demo_script_make(&script, demo_kinds(false), names, shape, steps, &error);
}

TEST(demo_script_step_ns, is_bandwidth_arithmetic)
{
	/* 2 * 7/8 * 4 MiB * 8 bits over 4 x 50 Mb/s. */
	assert_u_between(demo_script_step_ns(&usual), 293000000, 294000000);
}

TEST(demo_script_make, takes_all_faults_by_default)
{
	assert_int_equal(make(NULL, &usual, 0), 0);
	assert_u_eq(script.n, 7);
	assert_string_equal(script.fault[0].kind, "t1");
	assert_string_equal(script.fault[6].kind, "ports");
}

TEST(demo_script_make, strikes_and_clears_in_order_with_calm_between)
{
	uint32_t last = 1;

	assert_int_equal(make(NULL, &usual, 0), 0);
	for (uint32_t i = 0; i < script.n; i++) {
		assert_true(script.fault[i].strike_step >= last + 3);
		assert_true(script.fault[i].clear_step >= script.fault[i].strike_step + 4);
		last = script.fault[i].clear_step;
	}
	assert_true(script.steps >= last + 3);
}

TEST(demo_script_make, keeps_its_length_in_time_on_a_slower_network)
{
	struct demo_shape slow = usual;
	uint64_t fast_ns;

	slow.pace_bps /= 2;
	assert_int_equal(make(NULL, &usual, 0), 0);
	fast_ns = script.steps * demo_script_step_ns(&usual);
	assert_int_equal(make(NULL, &slow, 0), 0);
	assert_u_between(script.steps * demo_script_step_ns(&slow), fast_ns * 8 / 10,
			 fast_ns * 12 / 10);
}

TEST(demo_script_make, leaves_out_what_the_shape_cannot_survive)
{
	struct demo_shape two = usual, one = usual;

	two.planes = 2;
	one.planes = 1;
	assert_int_equal(make(NULL, &two, 0), 0);
	assert_u_eq(script.n, 6);
	assert_int_equal(make(NULL, &one, 0), 0);
	assert_u_eq(script.n, 4);
}

TEST(demo_script_make, names_what_is_wrong)
{
	struct demo_shape one = usual, bare = usual;

	one.planes = 1;
	bare.planes = bare.paths = 1;
	assert_int_equal(make("t1,plan", &usual, 0), -1);
	assert_string_equal(error.text,
			    "--script plan: no such fault; did you mean plane?; want some "
			    "of t1, plane, loss, flap, port, corrupt, ports");
	assert_int_equal(make("t1,", &usual, 0), -1);
	assert_int_equal(make("plane", &one, 0), -1);
	assert_non_null(strstr(error.text, "--planes 1: the fault `plane`"));
	assert_int_equal(make(NULL, &bare, 0), -1);
	assert_non_null(strstr(error.text, "at least two paths"));
	assert_int_equal(make("loss,loss,loss,loss,loss,loss,loss,loss,loss,loss,loss,loss,loss,"
			      "loss,loss,loss,loss",
			      &usual, 0),
			 -1);
	assert_non_null(strstr(error.text, "at most 16"));
}

TEST(demo_script_make, fits_a_given_number_of_steps)
{
	assert_int_equal(make("t1,plane", &usual, 20), 0);
	assert_u_eq(script.steps, 20);
	assert_true(script.fault[1].clear_step < 20);
	assert_int_equal(make("t1,plane", &usual, 200), 0);
	assert_u_eq(script.steps, 200);
	assert_int_equal(make("t1,plane", &usual, 17), -1);
	assert_string_equal(error.text, "--steps 17: want at least 18 for 2 faults");
}

TEST(demo_script_make, expects_what_bandwidth_is_left)
{
	assert_int_equal(make("plane,ports,t1,loss", &usual, 0), 0);
	assert_u_eq(script.fault[0].slower_num, 4);
	assert_u_eq(script.fault[0].slower_den, 3);
	assert_u_eq(script.fault[1].slower_den, 2);
	assert_u_eq(script.fault[2].slower_num, script.fault[2].slower_den);
	assert_u_eq(script.fault[3].slower_den, 0);
}

TEST(demo_script_make, writes_the_rules)
{
	struct mrc_fault_rule rule[DEMO_FAULTS_MAX];
	uint8_t host[16];

	assert_int_equal(make("t1,port,corrupt,flap,ports", &usual, 0), 0);
	for (uint32_t i = 0; i < script.n; i++)
		assert_true(demo_loopback_rule(&usual, &script.fault[i], &rule[i]));
	assert_u_eq(rule[0].kind, MRC_FAULT_DROP);
	assert_u_eq(rule[0].path_modulus, 8);
	assert_u_eq(rule[0].path_mask, 0xf0);
	assert_u_eq(rule[0].chance_ppm, 1000000);
	assert_u_eq(rule[0].direction, MRC_FAULT_ANY);
	demo_loopback_gid(host, 4);
	assert_memory_equal(rule[1].host, host, 16);
	assert_u_eq(rule[1].direction, MRC_FAULT_BOTH);
	assert_u_eq(rule[1].port_mask, 1);
	assert_u_eq(rule[1].path_modulus, 0);
	assert_u_eq(rule[2].kind, MRC_FAULT_CORRUPT);
	assert_u_eq(rule[2].chance_ppm, 10000);
	assert_u_eq(script.fault[3].flap_down_ns, 250000000);
	assert_u_eq(rule[3].path_mask, 1u << 3);
	assert_u_eq(rule[4].port_mask, 1u << 1 | 1u << 2);
	for (uint32_t i = 0; i < script.n; i++)
		assert_true(rule[i].port_mask && rule[i].port_mask < 1u << usual.planes);
}

/* Of every shape that options allow, port drivers can do every fault. */
TEST(demo_script_make, port_drivers_can_do_every_fault)
{
	for (uint32_t planes = 2; planes <= 8; planes++)
		for (uint32_t paths = 1; paths <= 16; paths++)
			for (uint32_t ranks = 2; ranks <= 32; ranks++) {
				struct demo_shape shape = {ranks, planes, paths, 50000000, 4096, 0};

				assert_int_equal(make(NULL, &shape, 0), 0);
				for (uint32_t i = 0; i < script.n; i++) {
					struct mrc_fault_rule rule;

					assert_true(demo_loopback_rule(&shape, &script.fault[i],
								       &rule));
				}
			}
}

TEST(demo_script_make, keeps_texts_within_their_columns)
{
	assert_int_equal(make(NULL, &usual, 0), 0);
	for (uint32_t i = 0; i < script.n; i++) {
		assert_true(ui_text_width(script.fault[i].brief) <= 17);
		assert_true(strlen(script.fault[i].title) < sizeof(script.fault[i].title) - 1);
	}
}

static int make_lab(const char *names, const struct demo_shape *shape)
{
	return demo_script_make(&script, demo_kinds(true), names, shape, 0, &error);
}

TEST(demo_script_make, has_faults_of_its_own_in_the_lab)
{
	struct demo_shape shape = usual;

	shape.paths = 4;
	assert_int_equal(make_lab(NULL, &shape), 0);
	assert_u_eq(script.n, 7); /* switches do not trim */
	assert_int_equal(make_lab("incast", &shape), -1);
	assert_non_null(strstr(error.text, "--script incast: this fault wants switches that trim"));
	shape.trims = true;
	assert_int_equal(make_lab(NULL, &shape), 0);
	assert_u_eq(script.n, 9);
	for (uint32_t i = 0; i < script.n; i++) {
		const struct demo_fault *f = &script.fault[i];

		assert_true(f->targets > 0);
		assert_null(strpbrk(f->title, "{}"));
		assert_true(ui_text_width(f->brief) <= 17);
		assert_true(strlen(f->title) < sizeof(f->title) - 1);
	}
	assert_string_equal(script.fault[0].target[0], "plane0.t1-3");
	assert_string_equal(script.fault[1].target[0], "plane1.t1-0");
	assert_string_equal(script.fault[1].fault, "reboot");
	assert_u_eq(script.fault[8].targets, 4);
	assert_string_equal(script.fault[8].target[3], "host9.e3");
	assert_string_equal(script.fault[8].fault, "slow 100M");
}

/* Every name is one that the lab knows, in a fabric of the demo's shape. */
TEST(demo_script_make, the_lab_knows_the_targets)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("lab");
	struct mf_topology t;
	struct mf_error error_of;

	cfg.radix[0] = cfg.radix[1] = 0;
	cfg.hosts_per_t0 = 5;
	cfg.t1s = 4;
	assert_true(mf_topology_init(&t, &cfg, &error_of));
	assert_int_equal(make_lab(NULL, &(struct demo_shape){8, 4, 4, 50000000, 4194304, true}), 0);
	for (uint32_t i = 0; i < script.n; i++)
		for (uint32_t k = 0; k < script.fault[i].targets; k++) {
			struct mf_fault fault;
			struct mf_error e;

			if (!mf_fault_text(&t, script.fault[i].target[k], script.fault[i].fault,
					   &fault, &e))
				fail_msg("%s: %s", e.value, e.what);
		}
}
