/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/topology_preset.h"
#include "lab/lab_names.h"
#include "support/test.h"

static struct mf_topology t;

static int open_lab(void **state)
{
	struct mf_error e;

	(void)state;
	return mf_topology_init(&t, &mf_preset_find("lab")->cfg, &e) ? 0 : -1;
}

#define NAMES_TEST(function, name) TEST_WITH(open_lab, NULL, function, name)

/* How many ports a name means; its kind in *kind. */
static uint32_t ports_of(const char *name, enum ml_target_kind *kind)
{
	struct ml_target target;
	struct ml_error e;
	uint32_t n;

	if (ml_target_find(&t, name, &target, &e))
		fail_msg("%s", e.text);
	*kind = target.kind;
	n = target.links;
	ml_target_fini(&target);
	return n;
}

NAMES_TEST(ml_target_find, finds_every_kind)
{
	enum ml_target_kind kind;

	assert_u_eq(ports_of("host3", &kind), 4);
	assert_i_eq(kind, ML_TARGET_HOST);
	assert_u_eq(ports_of("plane1.t0-1", &kind), 6);
	assert_i_eq(kind, ML_TARGET_SWITCH);
	assert_u_eq(ports_of("plane1", &kind), 2 * 6 + 2 * 2);
	assert_i_eq(kind, ML_TARGET_PLANE);
	assert_u_eq(ports_of("plane1.t0-1.host5", &kind), 1);
	assert_i_eq(kind, ML_TARGET_CABLE);
	assert_u_eq(ports_of("plane1.t0-1.transceiver0", &kind), 4);
	assert_i_eq(kind, ML_TARGET_TRANSCEIVER);
	assert_u_eq(ports_of("plane1.t0-1.transceiver1", &kind), 2);
}

NAMES_TEST(ml_target_find, reads_what_is_written_for_every_cable)
{
	struct ml_error e;

	for (uint32_t link = 0; link < t.n_links; link++) {
		char name[ML_NAME_MAX], port[MF_LINK_NAME_BYTES];
		struct ml_target a, b;

		mf_link_name(&t, link, port);
		assert_i_eq(ml_target_find(&t, ml_name_cable(&t, link, name), &a, &e), 0);
		assert_i_eq(ml_target_find(&t, port, &b, &e), 0);
		assert_u_eq(a.link[0], link);
		assert_u_eq(b.link[0], link);
		ml_target_fini(&a);
		ml_target_fini(&b);
	}
}

NAMES_TEST(ml_target_find, lists_near_names)
{
	struct ml_target target;
	struct ml_error e;

	assert_i_eq(ml_target_find(&t, "plane1.t0-9", &target, &e), -1);
	assert_non_null(
		strstr(e.text, "plane1.t0-9: no host, switch, cable or plane of this name"));
	assert_non_null(strstr(e.text, "plane1.t0-1"));
	assert_i_eq(ml_target_find(&t, "host3.plan0", &target, &e), -1);
	assert_non_null(strstr(e.text, "did you mean host3.plane0"));
}

NAMES_TEST(ml_node_find, takes_no_cables)
{
	struct ml_error e;
	uint32_t node;

	assert_i_eq(ml_node_find(&t, "host7", &node, &e), 0);
	assert_u_eq(node, 7);
	assert_i_eq(ml_node_find(&t, "plane0.t0-0.t1-0", &node, &e), -1);
	assert_i_eq(ml_node_find(&t, "plane0", &node, &e), -1);
}
