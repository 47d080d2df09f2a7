/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs.c - the verbs device as programs look at it: through exported and inline functions,
 * with headers of other sizes than ours, and asking for what is not there.
 */
#include "live/live_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct ibv_context *verbs(void **state)
{
	return ((struct fixture *)*state)->verbs;
}

TEST(ibv_get_device_list, shows_mrc0)
{
	struct ibv_device **list;
	int n = -1;

	list = ibv_get_device_list(&n);
	assert_int_equal(n, 1);
	assert_non_null(list[0]);
	assert_null(list[1]);
	assert_string_equal(ibv_get_device_name(list[0]), "mrc0");
	assert_string_equal(list[0]->ibdev_path, "/sys/class/infiniband/mrc0");
	assert_int_equal(list[0]->node_type, IBV_NODE_CA);
	assert_true(ibv_get_device_guid(list[0]) != 0);
	ibv_free_device_list(list);
	list = ibv_get_device_list(NULL);
	assert_non_null(list);
	ibv_free_device_list(list);
}

TEST(ibv_open_device, foreign_device)
{
	struct ibv_device foreign = {.name = "mlx5_0"};

	errno = 0;
	assert_null(ibv_open_device(&foreign));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_get_device_guid(&foreign), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_query_device, limits)
{
	struct ibv_device_attr attr;
	struct ibv_device_attr_ex ex;
	struct ibv_query_device_ex_input input = {.comp_mask = 1};

	assert_int_equal(ibv_query_device(verbs(state), &attr), 0);
	assert_true(attr.max_qp > 0 && attr.max_qp_wr > 0 && attr.max_sge > 0);
	assert_true(attr.max_cq > 0 && attr.max_cqe > 0 && attr.max_mr > 0 && attr.max_pd > 0);
	assert_int_equal(attr.phys_port_cnt, 1);
	assert_int_equal(attr.atomic_cap, IBV_ATOMIC_HCA);
	assert_true(attr.max_qp_rd_atom > 0 && attr.max_qp_init_rd_atom > 0);
	memset(&ex, 0xff, sizeof(ex));
	assert_int_equal(ibv_query_device_ex(verbs(state), NULL, &ex), 0);
	assert_memory_equal(&ex.orig_attr, &attr, sizeof(attr));
	assert_u_eq(ex.phys_port_cnt_ex, 1);
	assert_u_eq(ex.tso_caps.max_tso, 0);
	assert_int_equal(ibv_query_device_ex(verbs(state), &input, &ex), EINVAL);
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_query_port, roce_port)
{
	struct ibv_port_attr port;

	memset(&port, 0xff, sizeof(port));
	assert_int_equal(ibv_query_port(verbs(state), 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(port.gid_tbl_len, 4);
	assert_true(port.active_mtu >= IBV_MTU_256 && port.active_mtu <= port.max_mtu);
	assert_u_eq(port.max_msg_sz, UINT32_MAX); /* REQ(svc.message-size) */
	assert_int_equal(ibv_query_port(verbs(state), 0, &port), EINVAL);
	assert_int_equal(ibv_query_port(verbs(state), 2, &port), EINVAL);
}

/* Structures of programs with an older or a newer header than ours. */
TEST_WITH(fixture_setup, fixture_teardown, ibv_query_port, structures_of_other_sizes)
{
	struct verbs_context *vctx = verbs_get_ctx(verbs(state));
	struct {
		struct ibv_port_attr attr;
		uint64_t more;
	} newer;
	uint8_t older[sizeof(struct ibv_port_attr)];
	size_t short_bytes = offsetof(struct ibv_port_attr, flags);

	assert_non_null(vctx);
	assert_u_eq(vctx->sz, sizeof(struct verbs_context));
	memset(older, 0xaa, sizeof(older));
	assert_int_equal(vctx->query_port(verbs(state), 1, (struct ibv_port_attr *)(void *)older,
					  short_bytes),
			 0);
	assert_int_equal(older[short_bytes], 0xaa);
	memset(&newer, 0xaa, sizeof(newer));
	assert_int_equal(vctx->query_port(verbs(state), 1, &newer.attr, sizeof(newer)), 0);
	assert_u_eq(newer.more, 0);
	/* the exported function, for programs older than the inline one */
#undef ibv_query_port
	memset(older, 0xaa, sizeof(older));
	assert_int_equal(
		ibv_query_port(verbs(state), 1, (struct _compat_ibv_port_attr *)(void *)older), 0);
	assert_int_equal(older[offsetof(struct ibv_port_attr, port_cap_flags2)], 0xaa);
}

/* The number of the interface that has a GID's IPv4 address. */
static unsigned int interface_of(const union ibv_gid *gid)
{
	struct ifaddrs *all;
	unsigned int found = 0;

	assert_int_equal(getifaddrs(&all), 0);
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		const struct sockaddr_in *in = (const void *)a->ifa_addr;

		if (in && in->sin_family == AF_INET && memcmp(&in->sin_addr, gid->raw + 12, 4) == 0)
			found = if_nametoindex(a->ifa_name);
	}
	freeifaddrs(all);
	return found;
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_query_gid, one_roce_v2_gid)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(verbs(state), 1, 0, &gid), 0);
	assert_bytes_eq(gid.raw, mapped, sizeof(mapped));
	assert_int_equal(ibv_query_gid_ex(verbs(state), 1, 0, &entry, 0), 0);
	assert_bytes_eq(entry.gid.raw, gid.raw, sizeof(gid.raw));
	assert_u_eq(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_u_eq(entry.port_num, 1);
	assert_u_eq(entry.ndev_ifindex, interface_of(&gid));
	assert_int_equal(ibv_query_gid(verbs(state), 1, 4, &gid), -1);
	assert_int_equal(ibv_query_gid(verbs(state), 1, -1, &gid), -1);
	assert_int_equal(ibv_query_gid(verbs(state), 2, 0, &gid), -1);
	assert_int_equal(ibv_query_gid_ex(verbs(state), 1, 4, &entry, 0), EINVAL);
	assert_int_equal(ibv_query_gid_ex(verbs(state), 1, 0, &entry, 1), EOPNOTSUPP);
}

/* Programs and recipes for RoCE devices name index 1 or 3. */
TEST_WITH(fixture_setup, fixture_teardown, ibv_query_gid, is_the_same_at_every_index)
{
	struct ibv_gid_entry entry, table[4];
	union ibv_gid first, gid;

	assert_int_equal(ibv_query_gid(verbs(state), 1, 0, &first), 0);
	assert_int_equal(ibv_query_gid_table(verbs(state), table, 4, 0), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ibv_query_gid(verbs(state), 1, i, &gid), 0);
		assert_bytes_eq(gid.raw, first.raw, sizeof(first.raw));
		assert_int_equal(ibv_query_gid_ex(verbs(state), 1, (uint32_t)i, &entry, 0), 0);
		assert_bytes_eq(entry.gid.raw, first.raw, sizeof(first.raw));
		assert_u_eq(table[i].gid_index, (uint32_t)i);
		assert_bytes_eq(table[i].gid.raw, first.raw, sizeof(first.raw));
	}
	assert_int_equal(ibv_query_gid_table(verbs(state), table, 3, 0), -EINVAL);
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_context, is_as_programs_expect)
{
	struct ibv_context *ctx = verbs(state);
	int flags = fcntl(ctx->async_fd, F_GETFL);
	struct ibv_async_event event;

	assert_true(flags >= 0);
	assert_int_equal(ctx->num_comp_vectors, 1);
	assert_string_equal(ibv_get_device_name(ctx->device), "mrc0");
	assert_int_equal(fcntl(ctx->async_fd, F_SETFL, flags | O_NONBLOCK), 0);
	errno = 0;
	assert_int_equal(ibv_get_async_event(ctx, &event), -1);
	assert_int_equal(errno, EAGAIN);
}

/* What is not there says so, by whichever way a program asks. */
TEST_WITH(fixture_setup, fixture_teardown, ibv_context, refuses_politely)
{
	struct ibv_context *ctx = verbs(state);
	struct ibv_pd pd = {.context = ctx};
	struct ibv_modify_cq_attr moderate = {.attr_mask = IBV_CQ_ATTR_MODERATE};
	struct ibv_cq cq = {.context = ctx};

	assert_int_equal(ibv_modify_cq(&cq, &moderate), EOPNOTSUPP);
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0), EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_reg_dmabuf_mr(&pd, 0, 1, 0, -1, 0));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void refuse_mr(struct fixture *r, void *addr, size_t length, unsigned int access, int err)
{
	errno = 0;
	assert_null(ibv_reg_mr(r->pd, addr, length, access));
	assert_int_equal(errno, err);
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_reg_mr, refusals)
{
	struct fixture *r = *state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	char *map =
		mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(munmap(map + 2 * page, page), 0);
	assert_int_equal(mprotect(map + page, page, PROT_READ), 0);
	refuse_mr(r, map, 4 * page, 0, EFAULT);		 /* a hole in it */
	refuse_mr(r, map + 2 * page, page, all, EFAULT); /* nothing there */
	refuse_mr(r, map, 2 * page, all, EFAULT);	 /* not writable */
	refuse_mr(r, NULL, page, all, EFAULT);
	refuse_mr(r, map, page, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	refuse_mr(r, map, page, IBV_ACCESS_REMOTE_ATOMIC, EINVAL);
	refuse_mr(r, map, page, all | IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
	refuse_mr(r, map, page, all | IBV_ACCESS_OPTIONAL_FIRST >> 1, EINVAL);
	refuse_mr(r, map, (size_t)-1, all, EINVAL); /* wraps around */
	errno = 0;
	assert_null(ibv_reg_mr(NULL, map, page, all));
	assert_int_equal(errno, EINVAL);
	munmap(map, 4 * page);
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_reg_mr, read_only_memory_can_be_sent)
{
	struct fixture *r = *state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(r->pd, map, page, 0);

	assert_non_null(mr);
	assert_ptr_equal(mr->addr, map);
	assert_u_eq(mr->length, page);
	assert_ptr_equal(mr->pd, r->pd);
	assert_ptr_equal(mr->context, r->verbs);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(map, page);
}

/* A WRITE through an address space of the MR's own. */
TEST_WITH(fixture_setup_connected, fixture_teardown, ibv_reg_mr_iova2, remote_addresses_are_iova)
{
	struct fixture *r = *state;
	uint64_t iova = 0x100000;
	struct ibv_mr *mr = ibv_reg_mr_iova2(r->pd, r->memory + FIXTURE_BYTES, 4096, iova,
					     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						     IBV_ACCESS_RELAXED_ORDERING);
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 500), *bad;

	assert_non_null(mr);
	test_rand_bytes(r->memory, 500);
	wr.wr.rdma.remote_addr = iova + 1000;
	wr.wr.rdma.rkey = mr->rkey;
	assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), 0);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_SUCCESS);
	assert_bytes_eq(r->memory + FIXTURE_BYTES + 1000, r->memory, 500);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* After dereg_mr the key is dead at once. */
TEST_WITH(fixture_setup_connected, fixture_teardown, ibv_dereg_mr, rkey_is_dead)
{
	struct fixture *r = *state;
	struct ibv_mr *mr = ibv_reg_mr(r->pd, r->memory + FIXTURE_BYTES, 4096,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_sge sge;
	struct ibv_send_wr wr = fixture_wr(r, 0, &sge, 10), *bad;

	assert_non_null(mr);
	wr.wr.rdma.rkey = mr->rkey;
	assert_int_equal(ibv_dereg_mr(mr), 0);
	memset(r->memory, 0x77, 10);
	assert_int_equal(mrc_post_send(r->qp[0], &wr, &bad), 0);
	assert_int_equal(fixture_poll(r, 0).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(r->memory[FIXTURE_BYTES], 0);
}

TEST_WITH(fixture_setup, fixture_teardown, ibv_dealloc_pd, busy_while_it_has_an_mr)
{
	struct fixture *r = *state;
	struct ibv_pd *pd = ibv_alloc_pd(r->verbs);
	struct ibv_mr *mr = ibv_reg_mr(pd, r->memory, 10, IBV_ACCESS_LOCAL_WRITE);

	assert_non_null(mr);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_dealloc_pd(NULL), EINVAL);
	assert_int_equal(ibv_dereg_mr(NULL), EINVAL);
	assert_null(ibv_alloc_pd(NULL));
}

TEST(ibv_strings, every_value_has_a_name)
{
	for (int i = IBV_WC_SUCCESS; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++)
		assert_string_not_equal(ibv_wc_status_str((enum ibv_wc_status)i), "unknown");
	for (int i = IBV_EVENT_CQ_ERR; i <= IBV_EVENT_WQ_FATAL; i++)
		assert_string_not_equal(ibv_event_type_str((enum ibv_event_type)i), "unknown");
	for (int i = IBV_PORT_NOP; i <= IBV_PORT_ACTIVE_DEFER; i++)
		assert_string_not_equal(ibv_port_state_str((enum ibv_port_state)i), "unknown");
	for (int i = IBV_NODE_CA; i <= IBV_NODE_UNSPECIFIED; i++)
		assert_string_not_equal(ibv_node_type_str((enum ibv_node_type)i), "unknown");
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status)99), "unknown");
	assert_string_equal(ibv_event_type_str((enum ibv_event_type) - 5), "unknown");
	assert_string_equal(ibv_port_state_str((enum ibv_port_state)6), "unknown");
	assert_string_equal(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
}
