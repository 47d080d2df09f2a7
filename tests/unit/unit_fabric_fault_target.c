/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/fault.h"
#include "fabric/topology_toml.h"
#include "support/test.h"

static struct mf_topology t;

static int open_lab(void **state)
{
	char why[MF_TOML_ERROR_BYTES];

	(void)state;
	return mf_topology_open("lab", &t, why) ? 0 : -1;
}

#define NAMES_TEST(function, name) TEST_WITH(open_lab, NULL, function, name)

/* How many ports a name means; its kind in *kind. */
static uint32_t ports_of(const char *name, enum mf_target_kind *kind)
{
	struct mf_target target;
	struct mf_error e;

	if (!mf_target_find(&t, name, &target, &e))
		fail_msg("%s: %s", e.value, e.what);
	*kind = target.kind;
	return target.links;
}

NAMES_TEST(mf_target_find, finds_every_kind)
{
	enum mf_target_kind kind;

	assert_u_eq(ports_of("host3", &kind), 4);
	assert_i_eq(kind, MF_TARGET_HOST);
	assert_u_eq(ports_of("plane1.t0-1", &kind), 6);
	assert_i_eq(kind, MF_TARGET_SWITCH);
	assert_u_eq(ports_of("plane1", &kind), 2 * 6 + 2 * 2);
	assert_i_eq(kind, MF_TARGET_PLANE);
	assert_u_eq(ports_of("plane1.t0-1.host5", &kind), 1);
	assert_i_eq(kind, MF_TARGET_CABLE);
	assert_u_eq(ports_of("plane1.t0-1.transceiver0", &kind), 4);
	assert_i_eq(kind, MF_TARGET_TRANSCEIVER);
	assert_u_eq(ports_of("plane1.t0-1.transceiver1", &kind), 2);
}

NAMES_TEST(mf_target_find, reads_what_is_written_for_every_cable)
{
	struct mf_error e;

	for (uint32_t link = 0; link < t.n_links; link++) {
		char name[MF_LINK_NAME_BYTES], port[MF_LINK_NAME_BYTES];
		struct mf_target a, b;

		mf_link_name(&t, link, port);
		assert_true(mf_target_find(&t, mf_cable_name(&t, link, name), &a, &e));
		assert_true(mf_target_find(&t, port, &b, &e));
		assert_u_eq(mf_target_link(&t, &a, 0), link);
		assert_u_eq(mf_target_link(&t, &b, 0), link);
	}
}

/* The links of a plane are those that its switches send on, each once. */
NAMES_TEST(mf_target_link, has_every_port_of_a_plane_once)
{
	bool seen[1024] = {false};
	struct mf_target target;
	struct mf_error e;
	uint32_t expect = 0;

	assert_true(mf_target_find(&t, "plane2", &target, &e));
	for (uint32_t i = 0; i < target.links; i++) {
		uint32_t link = mf_target_link(&t, &target, i);

		assert_false(seen[link]);
		seen[link] = true;
	}
	for (uint32_t link = 0; link < t.n_links; link++)
		if (mf_link_plane(&t, link) == 2 && mf_link_from(&t, link).node >= t.n_hosts) {
			assert_true(seen[link]);
			expect++;
		}
	assert_u_eq(target.links, expect);
}

NAMES_TEST(mf_target_find, lists_near_names)
{
	struct mf_target target;
	struct mf_error e;

	assert_false(mf_target_find(&t, "plane1.t0-9", &target, &e));
	assert_string_equal(e.value, "plane1.t0-9");
	assert_non_null(strstr(e.what, "no host, switch, cable or plane of this name"));
	assert_non_null(strstr(e.what, "plane1.t0-1"));
	assert_false(mf_target_find(&t, "host3.plan0", &target, &e));
	assert_non_null(strstr(e.what, "did you mean host3.plane0"));
	assert_false(mf_target_find(&t, "plane0.t0-0.transceiver2", &target, &e));
	assert_false(mf_target_find(&t, "host0.transceiver0", &target, &e));
	assert_false(mf_target_find(&t, "plane01", &target, &e));
}
