/* SPDX-License-Identifier: BSD-2-Clause */
/* One round, over a device that is made up: src/cli/ping/ping.h. */
#include "cli/ping/ping.h"

#include "support/test.h"
#include "unit/ping_fixture.h"

#include <errno.h>

/* Answers all but host two on plane 1; how often it was asked for what. */
static struct {
	int calls, asked, err;
	uint32_t timeout_ns;
} fake;

static int fake_send_wait(void *context, struct mrc_ctl_ep_req *req, int n, uint32_t timeout_ns,
			  struct mrc_ctl_ep_rsp *rsp, int *n_rsp)
{
	assert_ptr_equal(context, &fake);
	fake.calls++;
	fake.asked = n;
	fake.timeout_ns = timeout_ns;
	for (int i = 0; i < n; i++)
		if (req[i].dgid.raw[15] != 2 || req[i].req_ev.port != 2)
			rsp[(*n_rsp)++] = (struct mrc_ctl_ep_rsp){
				.req_id = req[i].req_id, .port = req[i].req_ev.port, .rtt = 1000};
	return fake.err ? fake.err : *n_rsp < n ? ETIMEDOUT : 0;
}

static const struct ping_device device = {
	.context = &fake, .send_wait = fake_send_wait, .format = MRC_CTL_EV_FMT_MODE_UDP};

TEST_WITH(fixture_setup, fixture_teardown, ping_round, all_paths)
{
	fake.err = 0;
	assert_i_eq(ping_round(&device, fixture_hosts, &fixture_paths, 0, false, 77), 0);
	assert_i_eq(fake.asked, 8);
	assert_u_eq(fake.timeout_ns, 77);
	assert_u_eq(ping_figure_host(&fixture_paths, 0).answered, 4);
	assert_u_eq(ping_figure_host(&fixture_paths, 1).answered, 2);
	assert_u_eq(ping_figure_host(&fixture_paths, 1).sent, 4);
	assert_u_eq(fixture_paths.path[0].last_ns, 1000);
	assert_u_eq(fixture_paths.path[5].last_ns, 0);
}

/* After as many rounds as a plane has EVs every path had its turn once. */
TEST_WITH(fixture_setup, fixture_teardown, ping_round, one_a_plane_takes_turns)
{
	fake.err = 0;
	for (uint64_t round = 0; round < 2; round++) {
		assert_i_eq(ping_round(&device, fixture_hosts, &fixture_paths, round, true, 1), 0);
		assert_i_eq(fake.asked, 4);
	}
	for (size_t i = 0; i < fixture_paths.n; i++)
		assert_u_eq(fixture_paths.path[i].figure.sent, 1);
}

TEST_WITH(fixture_setup, fixture_teardown, ping_round, errors_of_the_device)
{
	fake.err = EINVAL;
	assert_i_eq(ping_round(&device, fixture_hosts, &fixture_paths, 0, false, 1), EINVAL);
	assert_u_eq(ping_figure_host(&fixture_paths, 0).answered, 0);
	fake.err = 0;
}

/* Many paths go out in several batches, none of which is too large for the device. */
TEST(ping_round, batches)
{
	static struct mrc_ctl_ev evs[1100];
	struct ping_paths many;

	fake.err = fake.calls = 0;
	for (uint32_t i = 0; i < 1100; i++)
		evs[i] = (struct mrc_ctl_ev){.val = {(uint8_t)i, (uint8_t)(i >> 8)}, .port = 1};
	assert_i_eq(ping_paths_make(&many, 1, evs, 1100, -1, -1), 0);
	assert_i_eq(ping_round(&device, fixture_hosts, &many, 0, false, 1), 0);
	assert_i_eq(fake.calls, 3);
	assert_i_eq(fake.asked, 1100 - 2 * 512);
	assert_u_eq(ping_figure_host(&many, 0).answered, 1100);
	ping_paths_fini(&many);
}
