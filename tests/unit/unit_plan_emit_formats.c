/* SPDX-License-Identifier: BSD-2-Clause */
/* What `mrc plan --emit` can write: src/cli/plan/plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "emit_fixture.h"

TEST(plan_format_find, every_format_by_its_name)
{
	const struct plan_format *f;
	size_t n = 0;

	for (; (f = plan_format_at(n)); n++)
		assert_ptr_equal(plan_format_find(f->name, "test"), f);
	assert_u_eq(n, 8);
	assert_null(plan_format_find("sonik", "test"));
}

TEST(plan_format_fits, switches_and_hosts)
{
	struct emit_fixture b;
	uint32_t host, t1;

	fixture_begin(&b, "tiny");
	host = fixture_node(&b, "host0");
	t1 = fixture_node(&b, "plane1.t1-1");
	assert_true(plan_format_fits(plan_format_find("sonic", "test"), &b.t, t1));
	assert_false(plan_format_fits(plan_format_find("sonic", "test"), &b.t, host));
	assert_true(plan_format_fits(plan_format_find("softmrc", "test"), &b.t, host));
	assert_false(plan_format_fits(plan_format_find("softmrc", "test"), &b.t, t1));
	assert_true(plan_format_fits(plan_format_find("iproute", "test"), &b.t, host));
	assert_true(plan_format_fits(plan_format_find("iproute", "test"), &b.t, t1));
	fixture_end(&b);
}

/* What every format writes of every node that it is for: something, whole lines, no error. */
TEST(plan_format_at, writes_something_for_each_node)
{
	struct plan_emission how = {mf_emit_defaults(), "ifb"};
	const struct plan_format *f;

	for (size_t i = 0; (f = plan_format_at(i)); i++) {
		struct emit_fixture b;

		fixture_begin(&b, "tiny");
		for (uint32_t node = 0; node < b.t.n_nodes; node++) {
			if (f->of != PLAN_OF_FABRIC && !plan_format_fits(f, &b.t, node))
				continue;
			f->write(b.to, &b.t, node, &how);
			fixture_text(&b);
			assert_true(b.len > 50);
			assert_int_equal(b.text[b.len - 1], '\n');
			fixture_again(&b);
		}
		fixture_end(&b);
	}
}

/* REQ(plan.emit.iproute) */
TEST(plan_format_at, lists_for_ip_name_the_device_of_sids)
{
	struct plan_emission how = {mf_emit_defaults(), "ifb"};
	struct emit_fixture b;

	fixture_begin(&b, "tiny");
	plan_format_find("iproute", "test")
		->write(b.to, &b.t, fixture_node(&b, "plane0.t0-0"), &how);
	fixture_text(&b);
	assert_u_eq(fixture_count(b.text, "link add sr0 type ifb\n"), 1);
	assert_u_eq(fixture_count(b.text, " encap seg6local action End flavors next-csid "), 1);
	assert_u_eq(fixture_count(b.text, "\nneigh replace "), 4);
	assert_u_eq(fixture_count(b.text, " nud permanent "), 4);
	fixture_end(&b);
}
