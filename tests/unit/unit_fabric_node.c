/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes by number and by place. */
#include "fabric_fixture.h"

#include "fabric/fabric_node.h"

static void assert_dense(const struct mf_topology *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		assert_u_eq(mf_node_number(t, mf_node_at(t, i)), i);
}

TEST(mf_node_at, inverse_of_number)
{
	const char *const names[] = {"tiny", "lab", "lab8", "pod", "paper", "threetier", "small3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct mf_topology t = fabric(names[i]);

		assert_dense(&t);
	}
}

TEST(mf_node_at, hosts_first_then_plane_by_plane)
{
	struct mf_topology t = fabric("small3");
	struct mf_node last = mf_node_at(&t, t.n_nodes - 1), t1 = mf_node_at(&t, 30 + 33 + 6);

	assert_u_eq(mf_node_at(&t, 29).tier, MF_HOST);
	assert_u_eq(mf_node_at(&t, 30).tier, MF_T0);
	assert_u_eq(t1.tier, MF_T1);
	assert_u_eq(t1.plane, 1);
	assert_u_eq(t1.index, 0);
	assert_u_eq(last.tier, MF_T2);
	assert_u_eq(last.index, 17);
}

TEST(mf_host_t0, counts_hosts)
{
	struct mf_topology t = fabric("small3");

	assert_u_eq(mf_host_t0(&t, 14), 2);
	assert_u_eq(mf_host_downlink(&t, 14), 4);
	assert_u_eq(mf_t0_pod(&t, 3), 1);
	assert_u_eq(mf_t1_pod(&t, 8), 2);
}

TEST(mf_node_ports, down_and_up)
{
	struct mf_topology t = fabric("small3");

	assert_u_eq(mf_node_ports(&t, MF_HOST), 2);
	assert_u_eq(mf_node_ports(&t, MF_T0), 5 + 3);
	assert_u_eq(mf_node_ports(&t, MF_T1), 2 + 6);
	assert_u_eq(mf_node_ports(&t, MF_T2), 3);
	assert_u_eq(mf_node_downlinks(&t, MF_HOST), 0);
	assert_u_eq(mf_node_downlinks(&t, MF_T1), 2);
	assert_u_eq(mf_node_downlinks(&t, MF_T2), 3);
}
